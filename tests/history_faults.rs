//! Histories under fire: processes that are killed, that come all at once, disks that are full or read-only, files that are damaged.
//!
//! Children are this test program itself, started with the name of an ignored test.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git_rts::history::{Histories, Kept, PATIENCE, Recording, keep};

mod history_sample;

use history_sample::{Likeness, Suite, hash, version};

fn open(folder: &Path) -> Histories {
    Histories::open(folder, PATIENCE, &mut |_| ()).unwrap()
}

/// A small suite that is another one for each number, and yet shares most with its neighbours.
fn recording(number: u64) -> Recording {
    let mut suite = Suite::new(12, 120, Likeness::Features);
    for change in 0..number % 50 {
        suite.changes.insert(hash(&[change]) % 120, change);
    }
    suite.recording(version(number), number)
}

/// Panics unless the history is there and exactly what was written.
fn assert_whole(histories: &Histories, number: u64) {
    let history = histories.find(version(number)).unwrap();
    let history = history.unwrap_or_else(|| panic!("history {number} is missing"));
    assert_same(&history.to_recording().unwrap(), &recording(number), number);
}

fn assert_same(read: &Recording, written: &Recording, number: u64) {
    assert!(read == written, "history {number} is not what was written");
}

/// Whatever a damaged database still tells is true.
fn assert_no_lie(histories: &Histories, numbers: std::ops::Range<u64>) -> usize {
    let mut whole = 0;
    for number in numbers {
        let Ok(Some(history)) = histories.find(version(number)) else {
            continue;
        };
        let _ = history.functions_in(&[Suite::file_of(25)]);
        if let Ok(read) = history.to_recording() {
            assert_same(&read, &recording(number), number);
            whole += 1;
        }
    }
    whole
}

fn child(task: &str, folder: &Path, argument: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("child_{task}"))
        .env("HISTORY_FOLDER", folder)
        .env("HISTORY_ARGUMENT", argument.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What this process was started for; nothing, if it is not a child.
fn told() -> Option<(PathBuf, u64)> {
    let folder = std::env::var_os("HISTORY_FOLDER")?;
    let argument = std::env::var("HISTORY_ARGUMENT").ok()?.parse().ok()?;
    Some((folder.into(), argument))
}

#[test]
#[ignore = "a child of other tests"]
fn child_writes_in_a_loop() {
    let Some((folder, start)) = told() else {
        return;
    };
    for number in start.. {
        // Opened anew each time, as the program does it; so opening is interrupted as well.
        open(&folder)
            .write(version(number), &recording(number))
            .unwrap();
        println!("written {number}");
    }
}

#[test]
#[ignore = "a child of other tests"]
fn child_keeps_one() {
    let Some((folder, number)) = told() else {
        return;
    };
    let patience = Duration::from_millis(hash(&[number]) % 300);
    keep(
        &folder,
        version(number),
        &recording(number),
        patience,
        &mut |_| (),
    )
    .unwrap();
}

#[test]
#[ignore = "a child of other tests"]
fn child_cleans_up_in_a_loop() {
    let Some((folder, start)) = told() else {
        return;
    };
    for round in start.. {
        open(&folder).gc(&mut |_| true).unwrap();
        println!("written {round}");
    }
}

/// Histories that share nothing.
fn unshared(number: u64, functions: u64) -> Recording {
    let suite = Suite {
        seed: number,
        ..Suite::new(40, functions, Likeness::None)
    };
    suite.recording(version(number), number)
}

#[test]
#[ignore = "a child of other tests"]
fn child_fills_the_disk() {
    let Some((folder, functions)) = told() else {
        return;
    };
    for number in 0.. {
        let recording = unshared(number, functions);
        match keep(&folder, version(number), &recording, PATIENCE, &mut |_| ()) {
            Ok(_) => println!("written {number}"),
            Err(error) => {
                println!("error {error}");
                for hint in error.hints {
                    println!("hint {hint}");
                }
                return;
            }
        }
    }
}

#[test]
#[ignore = "a child of other tests"]
fn child_reads_without_writing() {
    let Some((folder, number)) = told() else {
        return;
    };
    let mut histories = open(&folder);
    assert_whole(&histories, number);
    let refused = histories.write(version(99), &recording(99)).unwrap_err();
    println!("error {refused}");
}

/// The numbers that a child reported as written; kills it after a while.
fn killed_after(mut child: Child, pause: Duration) -> Vec<u64> {
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines
            .filter_map(|line| line.split("written ").nth(1)?.parse().ok())
            .collect()
    });
    std::thread::sleep(pause);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.code().is_none(), "the child ended by itself");
    reader.join().unwrap()
}

#[test]
fn nothing_that_was_written_is_lost_when_a_writer_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut written: Vec<u64> = Vec::new();
    let rounds = 200;
    for round in 0..rounds {
        let start = written.last().map_or(0, |last| last + 1);
        let child = child("writes_in_a_loop", folder.path(), start)
            .spawn()
            .unwrap();
        let pause = Duration::from_micros(hash(&[round, 1]) % 70_000);
        written.extend(killed_after(child, pause));
        let histories = open(folder.path());
        assert!(histories.notices.is_empty(), "{:?}", histories.notices);
        // All now and then, the latest always: to read thousands each time would take minutes.
        let from = if round % 50 == 49 {
            0
        } else {
            written.len().saturating_sub(4)
        };
        for number in &written[from..] {
            assert_whole(&histories, *number);
        }
        // The one that was under way is whole or absent.
        let next = written.last().map_or(0, |last| last + 1);
        if histories.find(version(next)).unwrap().is_some() {
            assert_whole(&histories, next);
        }
    }
    assert!(written.len() > 20, "only {} were written", written.len());
}

#[test]
fn nothing_is_lost_when_a_cleaner_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut histories = open(folder.path());
    for number in 0..6 {
        histories
            .write(version(number), &recording(number))
            .unwrap();
    }
    drop(histories);
    let mut rounds = 0;
    for round in 0..40 {
        let child = child("cleans_up_in_a_loop", folder.path(), 0)
            .spawn()
            .unwrap();
        let pause = Duration::from_micros(hash(&[round, 2]) % 120_000);
        rounds += killed_after(child, pause).len();
        let histories = open(folder.path());
        assert!(histories.notices.is_empty(), "{:?}", histories.notices);
        for number in 0..6 {
            assert_whole(&histories, number);
        }
    }
    assert!(rounds > 5, "only {rounds} rounds");
}

#[test]
fn sixteen_processes_at_once_all_keep_their_records() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..16)
        .map(|number| child("keeps_one", folder.path(), number).spawn().unwrap())
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let histories = open(folder.path());
    assert!(histories.notices.is_empty(), "{:?}", histories.notices);
    for number in 0..16 {
        assert_whole(&histories, number);
    }
}

#[test]
fn who_waits_long_is_told_for_whom() {
    let folder = tempfile::tempdir().unwrap();
    let holder = open(folder.path());
    let mut told = Vec::new();
    let refused = Histories::open(folder.path(), Duration::from_millis(900), &mut |process| {
        told.push(process);
    });
    let error = refused.map(|_| ()).unwrap_err();
    assert!(error.message.contains("another process"), "{error}");
    assert!(!error.hints.is_empty());
    assert_eq!(told, [Some(std::process::id())]);
    drop(holder);
}

#[test]
fn a_damaged_record_in_the_inbox_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let holder = open(folder.path());
    for number in 0..3 {
        let kept = keep(
            folder.path(),
            version(number),
            &recording(number),
            Duration::ZERO,
            &mut |_| (),
        );
        let Kept::InInbox(path) = kept.unwrap() else {
            panic!("the database was free");
        };
        let mut bytes = std::fs::read(&path).unwrap();
        match number {
            0 => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 4;
                std::fs::write(&path, bytes).unwrap();
            }
            1 => std::fs::write(&path, &bytes[..bytes.len() / 3]).unwrap(),
            _ => {}
        }
    }
    drop(holder);
    let histories = open(folder.path());
    assert_eq!(histories.notices.len(), 2, "{:?}", histories.notices);
    assert!(histories.find(version(0)).unwrap().is_none());
    assert!(histories.find(version(1)).unwrap().is_none());
    assert_whole(&histories, 2);
    drop(histories);
    assert!(open(folder.path()).notices.is_empty());
}

#[test]
fn an_older_record_in_the_inbox_does_not_replace_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = open(folder.path());
    let mut old = recording(3);
    old.about.created = 1;
    keep(folder.path(), version(3), &old, Duration::ZERO, &mut |_| ()).unwrap();
    holder.write(version(3), &recording(3)).unwrap();
    drop(holder);
    let histories = open(folder.path());
    assert_whole(&histories, 3);
    assert_eq!(
        std::fs::read_dir(folder.path().join("inbox"))
            .unwrap()
            .count(),
        0
    );
}

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_under(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn copy_of(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    files_under(folder, &mut files);
    for file in files {
        let to = copy.path().join(file.strip_prefix(folder).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(file, to).unwrap();
    }
    copy
}

/// A database with a few histories, as several runs of the program leave it.
fn grown() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4 {
        open(folder.path())
            .write(version(number), &recording(number))
            .unwrap();
    }
    folder
}

#[test]
fn damaged_files_never_panic_and_never_lie() {
    let original = grown();
    let started = Instant::now();
    let (mut rounds, mut whole, mut set_aside) = (0u64, 0, 0);
    // A loaded machine does fewer rounds, but some it does.
    while rounds < 150 && (rounds < 40 || started.elapsed() < Duration::from_secs(8)) {
        let folder = copy_of(original.path());
        let mut files = Vec::new();
        files_under(folder.path(), &mut files);
        files.retain(|file| file.file_name().is_some_and(|name| name != "lock"));
        files.sort();
        let random = |what: u64| hash(&[rounds, what, 3]);
        // The log has nearly everything; it is hit most.
        let log = files.iter().position(|file| file.ends_with("db")).unwrap();
        let file = &files[if random(1).is_multiple_of(3) {
            random(2) as usize % files.len()
        } else {
            log
        }];
        let mut bytes = std::fs::read(file).unwrap();
        // The end of the log is room for later.
        let used = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(1, |last| last + 1);
        match random(4) % 4 {
            0 => bytes.truncate(random(5) as usize % used),
            1 => {
                let from = random(5) as usize % used;
                let to = (from + random(6) as usize % 5000).min(used);
                bytes[from..to].fill(random(7) as u8);
            }
            _ => {
                for flip in 0..=random(8) % 20 {
                    let at = hash(&[rounds, flip, 9]) as usize % used;
                    bytes[at] ^= 1 << (random(10) % 8);
                }
            }
        }
        std::fs::write(file, bytes).unwrap();
        let mut histories = open(folder.path());
        set_aside += usize::from(!histories.notices.is_empty());
        whole += assert_no_lie(&histories, 0..4);
        // What was damaged can be recorded again.
        histories.write(version(2), &recording(2)).unwrap();
        assert_whole(&histories, 2);
        drop(histories);
        let histories = open(folder.path());
        assert_whole(&histories, 2);
        assert_no_lie(&histories, 0..4);
        rounds += 1;
    }
    println!(
        "{rounds} rounds: {whole} of {} histories were still whole, {set_aside} databases were set aside",
        rounds * 4
    );
    assert!(
        whole > 0,
        "nothing ever survived: the test damages too much"
    );
}

#[test]
fn a_missing_snapshot_or_folder_costs_nothing_or_everything_but_no_panic() {
    let original = grown();
    let folder = copy_of(original.path());
    let mut files = Vec::new();
    files_under(folder.path(), &mut files);
    for snapshot in files
        .iter()
        .filter(|file| file.to_string_lossy().contains("snap."))
    {
        std::fs::remove_file(snapshot).unwrap();
    }
    assert_eq!(assert_no_lie(&open(folder.path()), 0..4), 4);

    let folder = copy_of(original.path());
    std::fs::remove_dir_all(folder.path().join("history")).unwrap();
    assert!(open(folder.path()).list().unwrap().is_empty());
}

/// Whether this machine lets us mount in a namespace of our own.
fn may_mount() -> bool {
    let tried = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "true"])
        .stderr(Stdio::null())
        .status();
    let possible = tried.is_ok_and(|status| status.success());
    if !possible {
        eprintln!(
            "this machine allows no mount namespaces: only limits and permissions are tested"
        );
    }
    possible
}

/// Runs a child through a shell that prepares for it; `$0` and `$@` are the child.
fn prepared(child: &Command, before: &[&str], setup: &str) -> std::process::Output {
    let words: Vec<&str> = [before, &["sh", "-c"]].concat();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .arg(format!("set -e; {setup}\nexec \"$0\" \"$@\""))
        .arg(child.get_program())
        .args(child.get_args());
    for (key, value) in child.get_envs() {
        command.env(key, value.unwrap_or_default());
    }
    command.output().unwrap()
}

const OWN_MOUNTS: [&str; 4] = ["unshare", "--user", "--map-root-user", "--mount"];

/// What a child did that filled the disk, checked against what is left in a folder.
fn assert_nothing_lost(output: &std::process::Output, after: &Path, functions: u64, words: &str) {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let written: Vec<u64> = text
        .lines()
        .filter_map(|line| line.split("written ").nth(1)?.parse().ok())
        .collect();
    assert!(text.contains(&format!(" history: {words}")), "{text}");
    assert!(text.contains("hint make room on the disk"), "{text}");
    assert!(!written.is_empty(), "{text}");
    let mut histories = open(after);
    assert!(histories.notices.is_empty(), "{:?}", histories.notices);
    for number in &written {
        let history = histories.find(version(*number)).unwrap().unwrap();
        let read = history.to_recording().unwrap();
        assert_same(&read, &unshared(*number, functions), *number);
    }
    // The one that failed is not there, or it is whole; and with room it can be written.
    let failed = written.len() as u64;
    let expected = unshared(failed, functions);
    for _ in 0..2 {
        if let Some(history) = histories.find(version(failed)).unwrap() {
            assert_same(&history.to_recording().unwrap(), &expected, failed);
        }
        histories.write(version(failed), &expected).unwrap();
    }
    assert_eq!(histories.list().unwrap().len(), written.len() + 1);
}

/// Small histories fill the disk when the database is opened, large ones while they are written.
const SMALL_DISKS: [(u64, u64); 2] = [(1200, 400), (2600, 4000)];

#[test]
fn a_full_disk_says_what_to_do_and_loses_nothing() {
    // Where it cannot be mounted, the next test fills one by a limit.
    for (kilobytes, functions) in SMALL_DISKS.into_iter().filter(|_| may_mount()) {
        let folder = tempfile::tempdir().unwrap();
        let after = tempfile::tempdir().unwrap();
        let child = child("fills_the_disk", folder.path(), functions);
        // The small disk goes away with the namespace, so what is on it is copied before.
        let setup = format!(
            "mount -t tmpfs -o size={kilobytes}k tmpfs '{0}'; \
             \"$0\" \"$@\" || exit 1; cp -r '{0}/.' '{1}'; exit 0",
            folder.path().display(),
            after.path().display()
        );
        let output = prepared(&child, &OWN_MOUNTS, &setup);
        assert_nothing_lost(&output, after.path(), functions, "the disk is full");
    }
}

#[test]
fn a_limit_on_files_says_what_to_do_and_loses_nothing() {
    for (kilobytes, functions) in SMALL_DISKS {
        let folder = tempfile::tempdir().unwrap();
        let child = child("fills_the_disk", folder.path(), functions);
        // In blocks of 512 bytes. Who ignores the signal gets an error, as from a full disk.
        let setup = format!("trap '' XFSZ; ulimit -f {}", kilobytes * 2);
        let output = prepared(&child, &[], &setup);
        let words = "files may not become larger";
        assert_nothing_lost(&output, folder.path(), functions, words);
    }
}

/// A folder with one history, and how a child that may only read it goes on.
fn assert_readable(before: &[&str], setup: impl Fn(&Path) -> String) {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path())
        .write(version(1), &recording(1))
        .unwrap();
    let child = child("reads_without_writing", folder.path(), 1);
    let output = prepared(&child, before, &setup(folder.path()));
    // Whatever the setup took away, the folder must be removable.
    let again = Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(folder.path())
        .status();
    assert!(again.unwrap().success());
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("error cannot write the history: its folder is read-only"),
        "{text}"
    );
}

#[test]
fn a_read_only_repository_can_be_read() {
    // Where it cannot be mounted, the next test takes the permission away.
    if may_mount() {
        assert_readable(&OWN_MOUNTS, |folder| {
            format!(
                "mount --bind '{0}' '{0}'; mount -o remount,bind,ro '{0}'",
                folder.display()
            )
        });
    }
}

#[test]
fn a_repository_that_is_somebody_elses_can_be_read() {
    let id = Command::new("id").arg("-u").output().unwrap();
    // Root may write everywhere, unless it gives that up.
    let before: &[&str] = if id.stdout.starts_with(b"0\n") {
        &["setpriv", "--bounding-set", "-dac_override"]
    } else {
        &[]
    };
    assert_readable(before, |folder| {
        format!("chmod -R a-w '{}'", folder.display())
    });
}
