//! What following tests costs: `cargo bench --bench follow`.
//!
//! The same suites of processes, run plainly, with inotify beside them, followed, and under `strace` (which uses ptrace) where it
//! is there. The ways take turns, and the best time of each counts. A compiler must be there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use git_rts::repo::RepoPath;
use git_rts::runner::follow::Follow;
use git_rts::runner::watch::{Readers, Watch};
use git_rts::runner::{Interrupt, Launch, Run, pool};

const ROUNDS: usize = 7;

/// A program that does next to nothing, and one that works for about a tenth of a second and reads a few files.
const SHORT: &str = "int main(void) { return 0; }";
const LONG: &str = r#"
#include <stdio.h>
#include <time.h>
int main(void) {
    unsigned long sum = 0;
    for (int round = 0; round < 20; round++) {
        FILE *file = fopen("data", "r");
        if (file) fclose(file);
        while (clock() < (round + 1) * CLOCKS_PER_SEC / 200) sum++;
    }
    return sum == 0;
}
"#;

/// What a test of a suite of scripts looks like.
const SCRIPT: &str = "#!/bin/sh\nset -e\ntest -f data\ncp data copy\ngrep -q 1 copy\nsed s/1/2/ data >other\nif cmp -s data other; then exit 1; fi\nrm -f copy other\n";

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plainly,
    Inotify,
    Followed,
    Strace,
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path().canonicalize().expect("it is there");
    std::fs::write(top.join("data"), "1\n").expect("there is room");
    std::fs::write(top.join("script"), SCRIPT).expect("there is room");
    compile(&top, "short", SHORT);
    compile(&top, "long", LONG);
    let has_strace = Command::new("strace").arg("-V").output().is_ok();
    println!("| suite | plainly | inotify | followed | strace -f |");
    println!("|---|---|---|---|---|");
    for (name, command, count) in [
        ("200 x short program", vec!["./short"], 200),
        ("200 x shell script", vec!["/bin/sh", "script"], 200),
        ("20 x 100 ms program", vec!["./long"], 20),
    ] {
        let mut best = [Duration::MAX; 4];
        for round in 0..ROUNDS {
            for (way, best) in [Way::Plainly, Way::Inotify, Way::Followed, Way::Strace]
                .into_iter()
                .zip(&mut best)
            {
                // It is slow enough to be measured at once.
                if way != Way::Strace || (has_strace && round == 0) {
                    *best = (*best).min(time(&top, &command, count, way));
                }
            }
        }
        let [plain, others @ ..] = best;
        let plain = plain.as_secs_f64();
        let each = 1000.0 * plain / f64::from(count);
        let cells = others.map(|time| match time {
            Duration::MAX => "-".to_owned(),
            time => format!("{:.2}", time.as_secs_f64() / plain),
        });
        println!("| {name} | {each:.2} ms each | {} |", cells.join(" | "));
    }
}

/// How long a suite takes, one test after the other, on a thread of its own: a filter stays where it is.
fn time(top: &Path, command: &[&str], count: i32, way: Way) -> Duration {
    let interrupt = Interrupt::new();
    let tracer: &[&str] = match way {
        Way::Strace => &["strace", "-f", "-e", "trace=file", "-o", "/dev/null"],
        _ => &[],
    };
    let run = Run {
        launch: Launch {
            command: tracer.iter().chain(command).map(OsString::from).collect(),
            folder: top.to_owned(),
            ..Launch::default()
        },
        // Removed before each run, so it must be ours.
        log: top.join("log"),
    };
    let files = ["data", "script"].map(|name| RepoPath::new(name.as_bytes().to_vec()));
    let watch = (way == Way::Inotify).then(|| Watch::over(top, &BTreeSet::from(files)));
    let watch = watch.flatten();
    let readers = Readers::new(watch.as_ref());
    let follow = (way == Way::Followed).then(|| Follow::below(&[top]));
    let work = || {
        let begin = Instant::now();
        for test in 0..count as usize {
            readers.start(test);
            if let Some(follow) = &follow {
                follow.start(test);
            }
            let finished = pool::run(&run, &interrupt);
            assert!(finished.outcome.has_passed(), "{:?}", finished.outcome);
            if let Some(follow) = &follow {
                let seen = follow.end(test, false).expect("it can be followed");
                assert!(!seen.touched.is_empty());
            }
            let _ = readers.end(test);
        }
        begin.elapsed()
    };
    std::thread::scope(|scope| scope.spawn(work).join().expect("it does not panic"))
}

fn compile(top: &Path, name: &str, source: &str) {
    let file = top.join(format!("{name}.c"));
    std::fs::write(&file, source).expect("there is room");
    let status = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(top.join(name))
        .arg(file)
        .status()
        .expect("there is a compiler");
    assert!(status.success());
}
