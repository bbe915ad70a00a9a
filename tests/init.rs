//! `git rts init` as a newcomer meets it: what it says, what it writes, and what it leaves alone.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use git_rts::config::SETTINGS;

use test_repo::TestRepo;

const FILE: &str = ".git-rts.toml";
const MAKEFILE: (&str, &str) = ("Makefile", "all:\ncheck:\n\ttrue\n");
const MESON: (&str, &str) = ("meson.build", "project('x', 'c')\n");

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[track_caller]
fn init(repo: &TestRepo, arguments: &[&str]) -> String {
    let output = init_in(repo, &repo.top(), arguments);
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

fn init_in(repo: &TestRepo, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = repo.rts_command();
    command.current_dir(folder).stdin(Stdio::null());
    command.arg("init").args(arguments).output().unwrap()
}

fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{word}' in {text}");
    }
}

/// Every file below a folder, with its content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(everything(&path)),
            false => {
                let _ = found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_project_is_looked_at_and_only_the_file_is_added() {
    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE]);
    let before = everything(&repo.top());
    let told = init(&repo, &[]);
    has(
        &told,
        &[
            "runner    make: 'Makefile' has a target 'check'",
            "known after the first 'git rts run'",
            "compiler  ",
            "coverage  ",
            "'.git-rts.toml' is written",
            "hint: 'git rts hook install pre-push'",
        ],
    );
    let mut after = everything(&repo.top());
    let written = after.remove(&repo.top().join(FILE)).unwrap();
    assert_eq!(before, after);
    // What was detected stays detected.
    let written = String::from_utf8(written).unwrap();
    has(&written, &["#runner = "]);
    let shown = repo.rts(&["diff", "HEAD"]);
    assert!(shown.status.success(), "{}", said(&shown));
}

#[test]
fn the_file_and_the_page_name_every_setting() {
    let repo = TestRepo::new();
    init(&repo, &[]);
    let written = fs::read_to_string(repo.top().join(FILE)).unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    for setting in &SETTINGS {
        if let Some((table, name)) = setting.place {
            let line = format!("#{name} = {}", setting.value);
            has(&written, &[&format!("[{table}]"), &line]);
            has(&page, &[&format!("[{table}]"), &format!("\n{name} = ")]);
        }
        if let Some(name) = setting.git {
            has(&page, &[&format!("`rts.{name}`")]);
        }
        if setting.place.is_none() {
            has(&written, &[&format!("rts.{}", setting.git.unwrap())]);
        }
    }
}

#[test]
fn a_file_that_is_there_is_left_alone_and_the_rest_is_told_all_the_same() {
    let repo = TestRepo::new();
    let text = "[tests]\nrunner = \"make\"\n";
    repo.commit(&[MAKEFILE, MESON, (FILE, text)]);
    let said = init(&repo, &[]);
    has(
        &said,
        &[
            "runner    make: the configuration says so",
            "or meson: 'meson.build' is there",
            "is there, and left as it is",
        ],
    );
    assert_eq!(fs::read_to_string(repo.top().join(FILE)).unwrap(), text);
    // Also one that leads nowhere is somebody's.
    fs::remove_file(repo.top().join(FILE)).unwrap();
    std::os::unix::fs::symlink("nowhere", repo.top().join(FILE)).unwrap();
    has(&init(&repo, &[]), &["left as it is"]);
    assert!(!repo.top().join("nowhere").exists());
}

#[test]
fn of_several_runners_the_one_that_is_taken_is_written_down() {
    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE, MESON]);
    let said = init(&repo, &[]);
    has(
        &said,
        &[
            "runner    meson: 'meson.build' is there",
            "or make: 'Makefile' has a target 'check'; 'runner = \"make\"'",
        ],
    );
    let written = fs::read_to_string(repo.top().join(FILE)).unwrap();
    has(&written, &["\nrunner = \"meson\""]);
    let found = repo.json(&["init", "--format", "json"]);
    assert_eq!(found["runner"]["name"], "meson", "{found:#}");
    assert_eq!(found["other_runners"][0]["name"], "make", "{found:#}");
    assert_eq!(found["wrote_settings"], false, "{found:#}");
    assert_eq!(found["tests"], serde_json::Value::Null, "{found:#}");
}

#[test]
fn tests_that_ran_before_anything_was_committed_are_counted() {
    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE]);
    init(&repo, &[]);
    let run = repo.rts(&["run"]);
    assert!(run.status.success(), "{}", said(&run));
    // Neither HEAD nor what is there now has run.
    repo.write("notes", "more\n");
    let told = init(&repo, &[]);
    has(&told, &["tests     1 test\n"]);
    assert!(!told.contains("next: "), "{told}");
}

#[test]
fn without_a_runner_it_says_how_tests_are_told() {
    let (empty, other) = (TestRepo::new(), TestRepo::new());
    other.commit(&[("Makefile", "all:\n"), ("a.c", "int a;\n")]);
    for repo in [empty, other] {
        let said = init(&repo, &[]);
        has(&said, &["runner    none", "runner = \"command\"", "{test}"]);
        assert!(!said.contains("next: "), "{said}");
        let again = repo.json(&["init", "--format", "json"]);
        assert_eq!(again["runner"], serde_json::Value::Null);
    }
}

#[test]
fn the_file_is_at_the_top_of_whichever_work_tree_it_is() {
    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE, ("src/deep/a.c", "int a;\n")]);
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    let other = repo.top().join("../other");
    let output = init_in(&repo, &other.join("src/deep"), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(other.join(FILE).exists() && !repo.top().join(FILE).exists());
    let output = init_in(&repo, &repo.top().join("src"), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(repo.top().join(FILE).exists() && !repo.top().join("src").join(FILE).exists());
}

#[test]
fn a_bare_repository_and_no_repository_are_errors_with_a_hint() {
    let repo = TestRepo::empty_folder();
    repo.git(&["init", "--quiet", "--bare"]);
    for repo in [repo, TestRepo::empty_folder()] {
        let output = init_in(&repo, &repo.top(), &[]);
        assert_eq!(output.status.code(), Some(128), "{}", said(&output));
        has(&said(&output), &["error: ", "hint: "]);
        assert!(!repo.top().join(FILE).exists());
    }
}

#[test]
fn a_misspelt_setting_is_an_error_that_says_what_was_meant() {
    let repo = TestRepo::new();
    repo.commit(&[(FILE, "[tests]\nruner = \"make\"\n")]);
    let output = init_in(&repo, &repo.top(), &[]);
    assert_eq!(output.status.code(), Some(1));
    has(
        &said(&output),
        &["line 2", "'tests.runer' is perhaps 'tests.runner'"],
    );
}

#[test]
fn the_hook_comes_when_it_is_asked_for_and_keeps_what_was_there() {
    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE]);
    let told = init(&repo, &["--hook", "pre-push"]);
    has(&told, &["pre-push is installed"]);
    assert!(!told.contains("hint: 'git rts hook"), "{told}");
    has(&init(&repo, &[]), &["the pre-push hook is installed"]);

    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE]);
    let own = "#!/bin/sh\nexit 3\n";
    repo.write(".git/hooks/pre-push", own);
    init(&repo, &[]);
    let there = fs::read_to_string(repo.top().join(".git/hooks/pre-push")).unwrap();
    assert_eq!(there, own);
    has(&init(&repo, &["--hook", "pre-push"]), &["runs first"]);
    let moved = repo.top().join(".git/hooks/pre-push.before-rts");
    assert_eq!(fs::read_to_string(moved).unwrap(), own);

    let repo = TestRepo::new();
    repo.commit(&[MAKEFILE, ("lefthook.yml", "")]);
    has(&init(&repo, &[]), &["lefthook manages the hooks here"]);
    let output = init_in(&repo, &repo.top(), &["--hook", "pre-push"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(!repo.top().join(".git/hooks/pre-push").exists());
}

#[test]
fn at_a_terminal_it_asks_and_only_yes_is_yes() {
    for (answer, is_installed) in [("y\n", true), ("\n", false), ("no\n", false)] {
        let repo = TestRepo::new();
        repo.commit(&[MAKEFILE]);
        let command = format!("{} init", env!("CARGO_BIN_EXE_git-rts"));
        let mut script = repo.command("script");
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        // Held to the end: a terminal that is closed says no.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        has(&said(&output), &["[y/N]"]);
        assert!(output.status.success(), "{}", said(&output));
        let hook = repo.top().join(".git/hooks/pre-push");
        assert_eq!(hook.exists(), is_installed, "{answer:?}");
    }
}
