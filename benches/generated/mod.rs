//! Generated projects with a history of any size, and what a command costs in them.

#![allow(dead_code, reason = "each benchmark needs a part of it")]

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
use tempfile::TempDir;

const FUNCTIONS: usize = 100;
/// What `source` makes of each function.
pub(crate) const LINES_A_FILE: usize = 7 * FUNCTIONS;
/// Each test enters all functions of so many files.
const FILES_A_TEST: usize = 5;
/// Each command is timed this often, and the best time counts.
const RUNS: usize = 5;

/// A repository of so many files, with the history of so many tests, and then a commit that changes a function in some files.
pub(crate) fn project(files: usize, tests: usize, changed: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path();
    run(top, "git", &["init", "--quiet"]);
    let write = |file: usize, is_changed| {
        let name = format!("f{file}.c");
        std::fs::write(top.join(name), source(file, is_changed)).expect("there is room");
    };
    (0..files).for_each(|file| write(file, false));
    commit(top);
    record(top, tests, files);
    (0..changed).for_each(|file| write(file, true));
    commit(top);
    folder
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
fn record(top: &Path, tests: usize, all: usize) {
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
        let files = (0..FILES_A_TEST).map(|step| (test * 7 + step) % all);
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

pub(crate) fn commit(top: &Path) {
    run(top, "git", &["add", "--all"]);
    let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    let what = ["commit", "--quiet", "--message", "version"];
    run(top, "git", &[&who[..], &what].concat());
}

pub(crate) fn run(top: &Path, program: &str, arguments: &[&str]) -> String {
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

pub(crate) fn best(top: &Path, program: &str, arguments: &[&str]) -> Duration {
    let once = || {
        let begin = Instant::now();
        run(top, program, arguments);
        begin.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}

/// The peak memory of a selection, in MB.
pub(crate) fn peak(top: &Path, rts: &str) -> String {
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
