//! What a selection costs: `cargo bench --bench select`.
//!
//! A generated project of 20,000 functions with a history of up to 10,000 tests; `git rts select HEAD~1` with a warm cache beside
//! `ctest -N` on as many tests and `git diff --stat HEAD~1`, in one run. CTest and GNU time must be there.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use git_rts::config::Config;
use git_rts::difference::all_facts;
use git_rts::history::{About, Looked, Outcome, PATIENCE, Recording, TestRecord, VersionKey, keep};
use git_rts::lang::c;
use git_rts::lang::facts::FileFacts;
use git_rts::repo::{RepoPath, Repository};
use git_rts::trace::{Crossed, FunctionId, Trace};

const FILES: usize = 200;
const FUNCTIONS: usize = 100;
/// Each test enters all functions of so many files.
const FILES_A_TEST: usize = 5;
/// Each command is timed this often, and the best time counts.
const RUNS: usize = 5;

fn main() {
    println!(
        "| tests | changed functions | selected | `git rts select` | `ctest -N` | ratio | `git diff --stat` | ratio | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for tests in [1_000, 10_000] {
        for changed in [1, 10, 100] {
            println!("{}", line(tests, changed));
        }
    }
}

fn line(tests: usize, changed: usize) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path();
    run(top, "git", &["init", "--quiet"]);
    for file in 0..FILES {
        let name = format!("f{file}.c");
        std::fs::write(top.join(name), source(file, false)).expect("there is room");
    }
    commit(top);
    record(top, tests);
    for file in 0..changed {
        let name = format!("f{file}.c");
        std::fs::write(top.join(name), source(file, true)).expect("there is room");
    }
    commit(top);
    let listing: String = (0..tests).fold(String::new(), |mut text, test| {
        let _ = writeln!(text, "add_test(test_{test} \"/bin/true\" \"{test}\")");
        text
    });
    let other = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(other.path().join("CTestTestfile.cmake"), listing).expect("there is room");
    let rts = env!("CARGO_BIN_EXE_git-rts");
    let selected = run(top, rts, &["select", "HEAD~1"]).lines().count();
    let select = best(top, rts, &["select", "HEAD~1"]);
    let ctest = best(other.path(), "ctest", &["-N"]);
    let diff = best(top, "git", &["diff", "--stat", "HEAD~1"]);
    let ratio = |other: Duration| select.as_secs_f64() / other.as_secs_f64();
    format!(
        "| {tests} | {changed} | {selected} | {:.0} ms | {:.0} ms | {:.2} | {:.0} ms | {:.2} | {} |",
        select.as_secs_f64() * 1e3,
        ctest.as_secs_f64() * 1e3,
        ratio(ctest),
        diff.as_secs_f64() * 1e3,
        ratio(diff),
        peak(top, rts)
    )
}

fn source(file: usize, is_changed: bool) -> String {
    let mut text = String::new();
    for function in 0..FUNCTIONS {
        let bound = if is_changed && function == 0 { 4 } else { 3 };
        let _ = writeln!(
            text,
            "int f{file}_{function}(int x)\n{{\n    if (x > {bound})\n        return x + {function};\n    return x * 2;\n}}\n"
        );
    }
    text
}

/// Writes a history in which test `n` entered the functions of a few files.
fn record(top: &Path, tests: usize) {
    let repository = Repository::open(top).expect("the repository was just made");
    let config = Config::read(&repository).expect("there is no configuration");
    let version = repository.commit("HEAD").expect("there is a commit");
    let facts = all_facts(&repository, &config, &version).expect("the sources can be read");
    let ids: Vec<Vec<FunctionId>> = facts.iter().map(functions).collect();
    let key = VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    };
    let mut recording = Recording::new(About {
        front_end: c::VERSION,
        created: 1,
        ..About::default()
    });
    for test in 0..tests {
        let files = (0..FILES_A_TEST).map(|step| (test * 7 + step) % FILES);
        let crossed = Crossed::Edges((0..4).collect());
        let entered = files.flat_map(|file| &ids[file]);
        let functions = entered.map(|id| (id.clone(), crossed.clone())).collect();
        recording.add(passed(test, key), Trace { functions });
    }
    recording.know(ids.into_iter().flatten());
    let rts = repository.create_rts_dir().expect("there is room");
    keep(&rts, key, &recording, PATIENCE, &mut |_| {}).expect("there is room");
}

fn functions((path, facts): &(RepoPath, Arc<FileFacts>)) -> Vec<FunctionId> {
    let defined = facts.entities.iter().filter(|entity| entity.body.is_some());
    let id = |entity: &git_rts::lang::facts::Entity| FunctionId {
        file: path.clone(),
        name: entity.name.clone(),
        graph: entity.graph(),
    };
    defined.map(id).collect()
}

fn passed(test: usize, ran_on: VersionKey) -> TestRecord {
    let definition = format!("run test_{test}").into_bytes();
    TestRecord {
        outcome: Outcome::Passed,
        milliseconds: 20,
        binaries: vec!["program".to_owned()],
        looked: Some(Looked::default()),
        ..TestRecord::unknown(&format!("test_{test}"), definition, ran_on)
    }
}

fn commit(top: &Path) {
    run(top, "git", &["add", "--all"]);
    let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    let what = ["commit", "--quiet", "--message", "version"];
    run(top, "git", &[&who[..], &what].concat());
}

fn run(top: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        // Cargo sets it, and another environment than the recorded one would select everything.
        .env_remove("LD_LIBRARY_PATH")
        .current_dir(top)
        .stdin(Stdio::null())
        .output()
        .expect("the program is installed");
    assert!(output.status.success(), "{program} {arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn best(top: &Path, program: &str, arguments: &[&str]) -> Duration {
    let once = || {
        let begin = Instant::now();
        run(top, program, arguments);
        begin.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}

/// The peak memory of a selection, in MB.
fn peak(top: &Path, rts: &str) -> String {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M", rts, "select", "HEAD~1"])
        .env_remove("LD_LIBRARY_PATH")
        .current_dir(top)
        .output()
        .expect("GNU time is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    let kilobytes: u64 = text.lines().last().unwrap_or_default().parse().unwrap_or(0);
    format!("{}", kilobytes / 1000)
}
