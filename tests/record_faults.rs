//! `git rts record` under fire: killed at any moment, without room on the disk, with counters that are damaged.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod test_repo;

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use test_repo::TestRepo;

const BACKENDS: [&str; 2] = ["llvm", "gcov"];

/// A program, and tests that each run it in a way of their own.
fn project(tests: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    let mut files = vec![
        (
            "build.sh".to_owned(),
            "set -e\ncc -c f.c\nsleep 0.1\ncc -c p.c\ncc -o p p.o f.o\n".to_owned(),
        ),
        (
            "f.c".to_owned(),
            "int f(int x) {\n  return x ? 0 : 1;\n}\n".to_owned(),
        ),
        (
            "p.c".to_owned(),
            "int f(int);\nint main(void) {\n  return f(1);\n}\n".to_owned(),
        ),
    ];
    let names: Vec<&str> = tests.iter().map(|(name, _)| *name).collect();
    files.push((
        ".git-rts.toml".to_owned(),
        format!(
            "[build]\ncommand = \"sh build.sh\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' {}\"\nrun = \"sh {{test}}\"\n",
            names.join(" ")
        ),
    ));
    files.extend(
        tests
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
    );
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    repo.commit(&files);
    repo
}

#[track_caller]
fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[track_caller]
fn records(repo: &TestRepo, backend: &str) -> String {
    let output = repo.rts(&["record", "--backend", backend]);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    said
}

fn about(repo: &TestRepo, test: &str) -> Value {
    repo.json(&["history", "show", test, "--format", "json"])
}

/// The test did what it does, and all of it is known.
#[track_caller]
fn is_whole(repo: &TestRepo, test: &str) {
    let shown = about(repo, test);
    let functions = shown["functions"].as_array().unwrap().iter();
    let names: Vec<&str> = functions.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["f", "main"], "{shown}");
    assert_eq!(shown["doubt"], Value::Null);
    assert_eq!(shown["outcome"], "passed");
}

/// Runs `record` through a shell that prepares for it.
fn record_after(repo: &TestRepo, before: &[&str], setup: &str, backend: &str) -> Output {
    let own = repo.rts_command();
    let words: Vec<&str> = [before, &["sh", "-c"]].concat();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .arg(format!("set -e; {setup}\nexec \"$0\" \"$@\""))
        .arg(own.get_program())
        .args(["record", "--backend", backend])
        .current_dir(repo.top());
    for (key, value) in own.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.output().unwrap()
}

const OWN_MOUNTS: [&str; 4] = ["unshare", "--user", "--map-root-user", "--mount"];

/// Whether this machine lets us mount in a namespace of our own. What needs it is tested by limits as well.
fn may_mount() -> bool {
    let tried = Command::new(OWN_MOUNTS[0])
        .args(&OWN_MOUNTS[1..])
        .arg("true")
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

#[test]
fn a_test_whose_counters_find_no_room_is_in_doubt() {
    let limited = "trap '' XFSZ\nulimit -f 0\n./p\n";
    for backend in BACKENDS {
        let repo = project(&[
            ("limited", limited),
            ("half", "./p\ntrap '' XFSZ\nulimit -f 0\n./p\n"),
            ("free", "./p\n"),
        ]);
        records(&repo, backend);
        is_whole(&repo, "free");
        for test in ["limited", "half"] {
            let shown = about(&repo, test);
            let is_known = shown["outcome"] == "passed" && shown["doubt"] == Value::Null;
            assert!(!is_known, "{backend} {test}: {shown}");
        }
    }
}

#[test]
fn a_process_that_may_not_write_its_counters_is_noticed() {
    // Root may write everywhere, so it becomes somebody else.
    let elsewhere = "d=$(mktemp -d); chmod 755 $d; cp p $d/p; ./p\n\
        if [ $(id -u) = 0 ]; then\n  (cd / && setpriv --reuid 65534 --clear-groups $d/p)\n\
        else\n  own=${LLVM_PROFILE_FILE:+$(dirname $LLVM_PROFILE_FILE)}\n  own=${own:-$GIT_RTS_MARKS_IN}\n\
        chmod a-w $own; $d/p; chmod u+w $own\nfi\nrm -r $d\n";
    for backend in BACKENDS {
        let repo = project(&[("elsewhere", elsewhere), ("free", "./p\n")]);
        records(&repo, backend);
        is_whole(&repo, "free");
        let shown = about(&repo, "elsewhere");
        assert_eq!(shown["outcome"], "passed", "{backend}: {shown}");
        let doubt = shown["doubt"].to_string();
        assert!(
            doubt.contains("could not write its counters"),
            "{backend}: {doubt}"
        );
    }
}

#[test]
fn a_disk_that_is_full_of_counters_puts_tests_in_doubt() {
    // Where it cannot be mounted, the test above limits the files.
    for backend in BACKENDS.into_iter().filter(|_| may_mount()) {
        for size in [
            "size=4k",
            "size=8k",
            "size=1m,nr_inodes=4",
            "size=1m,nr_inodes=5",
        ] {
            let thrice = "./p\n./p\n./p\n";
            let repo = project(&[("one", thrice), ("two", thrice)]);
            let profiles = repo.top().join(".git/rts/build/main/profiles");
            std::fs::create_dir_all(&profiles).unwrap();
            let setup = format!("mount -t tmpfs -o {size} tmpfs '{}'", profiles.display());
            let output = record_after(&repo, &OWN_MOUNTS, &setup, backend);
            let said = said(&output);
            assert!(output.status.success(), "{said}");
            for test in ["one", "two"] {
                let shown = about(&repo, test);
                let is_known = shown["outcome"] == "passed" && shown["doubt"] == Value::Null;
                assert!(!is_known, "{backend} {size} {test}: {shown}");
            }
            // With room again, all is well.
            records(&repo, backend);
            is_whole(&repo, "one");
        }
    }
}

#[test]
fn a_history_that_finds_no_room_is_an_error_and_the_one_before_stays() {
    let repo = project(&[("one", "./p\n")]);
    let before = repo.git(&["rev-parse", "HEAD"]);
    records(&repo, "gcov");
    repo.write("note.txt", "another version\n");
    repo.commit_all();
    let history = repo.top().join(".git/rts/history");
    // The program and its counters fit, the database does not.
    let mut faults = vec![(
        &[][..],
        "trap '' XFSZ; ulimit -f 128".to_owned(),
        "files may not become larger",
    )];
    if may_mount() {
        let mount = format!("mount -t tmpfs -o size=8k tmpfs '{}'", history.display());
        faults.push((&OWN_MOUNTS[..], mount, "the disk is full"));
    }
    for (before_shell, setup, words) in faults {
        let output = record_after(&repo, before_shell, &setup, "gcov");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{setup}: {said}");
        assert!(
            said.contains(words) && said.contains("hint: make room"),
            "{said}"
        );
        let listed = repo.json(&["history", "--format", "json"]);
        assert_eq!(listed["histories"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(
            listed["histories"][0]["commit"],
            before.as_str(),
            "{listed}"
        );
    }
    records(&repo, "gcov");
    is_whole(&repo, "one");
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"].as_array().unwrap().len(), 2);
}

#[test]
fn a_record_that_is_killed_at_any_moment_leaves_nothing_half_done() {
    let slow = "./p\nsleep 0.1\n./p\n";
    let repo = project(&[("one", slow), ("two", slow)]);
    let moments = [0, 20, 60, 120, 200, 260, 320, 400, 460, 520, 600, 700, 900];
    let mut killed = 0;
    for (round, moment) in moments.into_iter().enumerate() {
        let backend = BACKENDS[round % 2];
        // Another version each time: its history must not be there until it is whole.
        repo.write(
            "f.c",
            format!("int f(int x) {{\n  return x ? 0 : {};\n}}\n", round + 2),
        );
        repo.commit_all();
        let mut child = repo
            .rts_command()
            .args(["record", "--backend", backend])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(moment));
        let had_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += usize::from(!had_ended);
        let output = repo.rts(&["history", "--format", "json"]);
        assert_eq!(said(&output), "", "damage is told");
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let head = repo.git(&["rev-parse", "HEAD"]);
        for history in listed["histories"].as_array().unwrap() {
            if history["commit"] == head.as_str() {
                assert_eq!(history["partial"], false, "{moment}: {listed}");
                is_whole(&repo, "one");
                is_whole(&repo, "two");
            }
        }
        // At once: what the killed one started may still be running.
        records(&repo, backend);
        is_whole(&repo, "one");
        is_whole(&repo, "two");
    }
    assert!(killed > 5, "only {killed} were killed");
}

#[test]
fn what_a_killed_record_started_does_not_disturb_the_next() {
    let repo = project(&[("one", "./p\n")]);
    repo.write(
        "build.sh",
        "set -e\nhere=$(pwd)\n[ -e ../slow ] && sleep 2 && echo broken > $here/p.c\ncc -o p p.c f.c\n",
    );
    repo.commit_all();
    let slow = repo.top().join(".git/rts/build/main/slow");
    std::fs::create_dir_all(slow.parent().unwrap()).unwrap();
    std::fs::write(&slow, "").unwrap();
    let mut child = repo
        .rts_command()
        .arg("record")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = repo.top().join(".git/rts/build/main/logs/build.log");
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("build.sh")) {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(slow).unwrap();
    records(&repo, "auto");
    std::thread::sleep(Duration::from_millis(2500));
    let source = repo.top().join(".git/rts/build/main/tree/p.c");
    assert!(std::fs::read_to_string(source).unwrap().contains("main"));
}

#[test]
fn damaged_counters_are_a_doubt() {
    // A test that does to its counters what a bad disk does.
    let damage = |how: &str| {
        format!(
            "./p\nfor file in $(find $(dirname \"$LLVM_PROFILE_FILE\") \"$GCOV_PREFIX\" -name '*.profraw' -o -name '*.gcda'); do\n{how}\ndone\n"
        )
    };
    let tests = [
        ("cut", damage("truncate -s -9 $file")),
        ("empty", damage("truncate -s 0 $file")),
        (
            "magic",
            damage("printf x | dd of=$file bs=1 seek=1 conv=notrunc 2>/dev/null"),
        ),
        (
            "version",
            // One more than it was: gcc's stamp is made of the time and may hold any byte.
            damage(
                "byte=$(od -An -tu1 -j9 -N1 $file)\nprintf \"\\\\$(printf %03o $(((byte + 1) % 256)))\" | dd of=$file bs=1 seek=9 conv=notrunc 2>/dev/null",
            ),
        ),
        ("noise", damage("head -c 2000 /dev/urandom > $file")),
    ];
    let tests: Vec<(&str, &str)> = tests
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    for backend in BACKENDS {
        let repo = project(&tests);
        records(&repo, backend);
        for (test, _) in &tests {
            let shown = about(&repo, test);
            assert_eq!(shown["outcome"], "passed", "{backend} {test}: {shown}");
            assert_ne!(shown["doubt"], Value::Null, "{backend} {test}: {shown}");
        }
    }
}

#[test]
fn whoever_first_meets_a_damaged_history_is_told() {
    for arguments in [&["run", "HEAD"][..], &["select", "HEAD"]] {
        let repo = project(&[("one", "./p")]);
        records(&repo, "auto");
        let mut waiting = vec![repo.top().join(".git/rts/history")];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.file_name().is_none_or(|name| name != "lock") {
                    let file = std::fs::File::options().write(true).open(path).unwrap();
                    file.set_len(file.metadata().unwrap().len().min(20))
                        .unwrap();
                }
            }
        }
        let output = repo.rts(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("the history was damaged"),
            "{arguments:?}: {said}"
        );
    }
}
