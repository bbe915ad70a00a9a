//! `git rts doctor`: each check shown where all is right and where it is not.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use test_repo::TestRepo;

const SOURCE: &str = "#include <string.h>\nstatic int twice(int x)\n{\n    return x * 2;\n}\nint main(int argc, char **argv)\n{\n    return argc < 2 || twice(!strcmp(argv[1], \"never\"));\n}\n";

/// The settings of a program with three tests.
fn settings(build: &str, more: &str) -> String {
    format!(
        "[build]\ncommand = \"{build}\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one two three\"\nrun = \"./prog {{test}}\"\n{more}"
    )
}

fn project(build: &str, more: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&[
        (".git-rts.toml", &settings(build, more)),
        (".gitignore", "prog\nother\n"),
        ("p.c", SOURCE),
    ]);
    repo
}

fn recorded(build: &str, more: &str) -> TestRepo {
    let repo = project(build, more);
    succeeds(&repo.rts(&["run"]));
    repo
}

#[track_caller]
fn succeeds(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The checks, by name; fails if the exit code does not agree with them.
#[track_caller]
fn examined(command: &mut Command) -> BTreeMap<String, Value> {
    let output = command
        .args(["doctor", "--format", "json"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["version"], 1);
    let checks = document["checks"].as_array().unwrap();
    let has_failed = checks.iter().any(|check| check["status"] == "fail");
    let code = Some(i32::from(has_failed));
    assert_eq!(output.status.code(), code, "{document:#}");
    let checks = checks.iter();
    let named = checks.map(|check| (check["name"].as_str().unwrap().to_owned(), check.clone()));
    named.collect()
}

/// One check has this status and says these words, in its line or its hint.
#[track_caller]
fn is(repo: &TestRepo, name: &str, status: &str, words: &[&str]) {
    tells(&examined(&mut repo.rts_command()), name, status, words);
}

#[track_caller]
fn tells(checks: &BTreeMap<String, Value>, name: &str, status: &str, words: &[&str]) {
    let check = checks
        .get(name)
        .unwrap_or_else(|| panic!("no check '{name}': {checks:#?}"));
    assert_eq!(check["status"], status, "{check:#}");
    assert_eq!(check["hint"].is_null(), status == "ok", "{check:#}");
    let said = format!("{} {}", check["says"], check["hint"]);
    for word in words {
        assert!(said.contains(word), "'{word}' in {said}");
    }
}

/// Every file below a folder that is not a lock, with its content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything(&path));
        } else if path.file_name().unwrap() != "lock" {
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}

#[test]
fn where_all_is_right_it_says_so_and_changes_nothing() {
    let repo = recorded(
        "cc -o prog p.c",
        "always = [\"one\"]\n[files]\nignore = [\"*.c\"]\n",
    );
    succeeds(&repo.rts(&["hook", "install", "pre-push"]));
    let before = everything(&repo.top());
    let checks = examined(&mut repo.rts_command());
    assert_eq!(everything(&repo.top()), before);
    // Whether there is much room, clang or a new kernel is the machine's business.
    for name in checks.keys() {
        if !["disk", "compiler", "following"].contains(&name.as_str()) {
            tells(&checks, name, "ok", &[]);
        }
    }
    tells(&checks, "git", "ok", &["git version"]);
    tells(&checks, "runner", "ok", &["command"]);
    tells(&checks, "build", "ok", &["the one binary", "has counters"]);
    tells(&checks, "history", "ok", &["1 history", "3 tests"]);
    tells(&checks, "patterns", "ok", &["each matches something"]);
    tells(&checks, "hooks", "ok", &["pre-push installed"]);
    assert!(checks["disk"]["says"].as_str().unwrap().contains("left"));
    let text = repo.rts(&["doctor"]);
    succeeds(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.contains("hint: "));
    assert_eq!(lines.clone().count(), checks.len(), "{text}");
    for line in lines {
        assert!(
            line.starts_with("ok  ") || line.starts_with("warn"),
            "{line}"
        );
    }
}

#[test]
fn a_build_that_failed_is_told_until_one_succeeds() {
    let repo = project("cc -o prog p.c", "");
    let breaks = || repo.write("p.c", SOURCE.replace("x * 2", "x *"));
    let build = |code| {
        let run = repo.rts(&["run"]);
        assert_eq!(run.status.code(), Some(code));
    };
    breaks();
    build(101);
    // It left no binaries, which is not the same as never having been built.
    let words = ["the last build failed", "'cc -o prog p.c'", "build.log"];
    is(&repo, "build", "fail", &words);
    repo.write("p.c", SOURCE);
    is(&repo, "build", "warn", &["changed since", "'git rts run'"]);
    build(0);
    is(&repo, "build", "ok", &["the one binary"]);
    // The binary of the build before is still there.
    breaks();
    build(101);
    is(&repo, "build", "fail", &words);
}

#[test]
fn places_in_which_nothing_can_be_tested_fail() {
    let repo = TestRepo::empty_folder();
    is(&repo, "repository", "fail", &["not a git repository"]);
    let output = repo.rts(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\nfail  repository"), "{text}");
    assert!(text.contains("hint: run 'git rts' inside"), "{text}");

    repo.git(&["init", "--quiet", "--bare"]);
    is(
        &repo,
        "work tree",
        "fail",
        &["bare", "a clone or a worktree"],
    );

    let repo = TestRepo::empty_folder();
    repo.git(&["init", "--quiet", "--object-format=sha256"]);
    is(&repo, "repository", "fail", &["SHA-256"]);
}

#[test]
fn an_empty_repository_lacks_only_tests_and_a_history() {
    let repo = TestRepo::new();
    let checks = examined(&mut repo.rts_command());
    tells(&checks, "work tree", "ok", &["0 files"]);
    tells(
        &checks,
        "runner",
        "fail",
        &["no tests were found", "run = "],
    );
    tells(&checks, "history", "warn", &["none yet", "git rts run"]);
    tells(&checks, "build", "ok", &["nothing is built yet"]);
    tells(&checks, "settings", "ok", &["none is needed"]);
    assert!(!repo.top().join(".git/rts").exists());
}

#[test]
fn an_unmerged_work_tree_fails() {
    let repo = project("cc -o prog p.c", "");
    repo.git(&["switch", "--quiet", "--create", "other"]);
    repo.write("p.c", "int one;\n");
    repo.commit_all();
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("p.c", "int two;\n");
    repo.commit_all();
    let merged = repo
        .command("git")
        .args(["merge", "other"])
        .output()
        .unwrap();
    assert!(!merged.status.success());
    is(
        &repo,
        "work tree",
        "fail",
        &["'p.c' is unmerged", "git add"],
    );
}

#[test]
fn what_makes_selections_large_is_told() {
    let repo = project("cc -o prog p.c", "");
    let checks = examined(&mut repo.rts_command());
    for name in ["clone", "submodules", "filters"] {
        tells(&checks, name, "ok", &[]);
    }
    repo.commit_all();
    let url = format!("file://{}", repo.top().display());
    repo.git(&["clone", "--quiet", "--depth", "1", &url, "../shallow"]);
    let shallow = repo.top().join("../shallow");
    let checks = examined(repo.rts_command().current_dir(shallow));
    tells(&checks, "clone", "warn", &["shallow", "--unshallow"]);

    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &url,
        "lib",
    ]);
    repo.write(".gitattributes", "*.bin filter=lfs\n");
    repo.write("data/x.bin", "x");
    let checks = examined(&mut repo.rts_command());
    tells(
        &checks,
        "submodules",
        "warn",
        &["1 submodule", "'lib'", "files.ignore"],
    );
    tells(&checks, "filters", "warn", &["'lfs'", "'data/x.bin'"]);
}

#[test]
fn settings_that_nobody_reads_are_found_with_the_nearest_name() {
    let repo = project("cc -o prog p.c", "");
    repo.git(&["config", "rts.prePushBudget", "5min"]);
    let checks = examined(&mut repo.rts_command());
    tells(&checks, "git config", "ok", &[]);
    tells(&checks, "settings", "ok", &["is valid"]);
    repo.git(&["config", "rts.prePushBugdet", "5min"]);
    repo.git(&["config", "rts.colour.scheme", "x"]);
    is(
        &repo,
        "git config",
        "fail",
        &[
            "'rts.prepushbugdet' is perhaps 'rts.prePushBudget'",
            "--unset rts.colour.scheme",
        ],
    );
    repo.write(".git-rts.toml", "[tests]\nalwyas = []\n");
    is(
        &repo,
        "settings",
        "fail",
        &["line 2", "'tests.alwyas' is perhaps 'tests.always'"],
    );
    repo.write(".git-rts.toml", "[tests\n");
    is(&repo, "settings", "fail", &["line 1"]);
}

#[test]
fn patterns_that_match_nothing_are_told() {
    let more = "always = [\"o*\", \"gone*\"]\n[files]\nglobal = [\"ci/**\"]\nignore = [\"*.c\"]\n";
    let repo = project("cc -o prog p.c", more);
    // Without a history, tests are not known.
    is(
        &repo,
        "patterns",
        "warn",
        &["1 pattern matches nothing", "'files.global: ci/**'"],
    );
    succeeds(&repo.rts(&["run"]));
    is(
        &repo,
        "patterns",
        "warn",
        &[
            "2 patterns match nothing",
            "'tests.always: gone*'",
            "'files.global: ci/**'",
        ],
    );
}

#[test]
fn a_run_tells_of_settings_that_do_nothing() {
    let repo = project("cc -o prog p.c", "always = [\"o*\", \"gone*\"]\n");
    repo.git(&["config", "rts.prePushBugdet", "5min"]);
    let output = repo.rts(&["run"]);
    succeeds(&output);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let warnings: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("warning: no"))
        .collect();
    assert_eq!(
        warnings,
        [
            "warning: nobody reads 'rts.prepushbugdet' of git's configuration; 'rts.prePushBudget' perhaps",
            "warning: no test is called 'gone*', as 'tests.always' says",
        ],
        "{said}"
    );
}

/// A folder with some of the programs of the machine, to be the PATH.
fn only(repo: &TestRepo, programs: &[&str]) -> PathBuf {
    let folder = repo.top().join("../bin");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for program in programs {
        let mut places = std::env::split_paths(&path).map(|place| place.join(program));
        let place = places.find(|place| place.is_file()).unwrap();
        symlink(place, folder.join(program)).unwrap();
    }
    folder
}

fn script(file: PathBuf, text: &str) {
    fs::write(&file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_tools_of_the_runner_must_be_there() {
    let repo = TestRepo::new();
    let makefile = ("Makefile", "check:\n\ttrue\n");
    repo.commit(&[makefile]);
    is(
        &repo,
        "runner",
        "ok",
        &["make: 'Makefile' has a target 'check'", "GNU Make"],
    );
    let path = only(&repo, &["git", "sh", "cc", "as", "ld"]);
    let checks = examined(repo.rts_command().env("PATH", path));
    tells(
        &checks,
        "runner",
        "fail",
        &["'make' was not found", "install 'make'"],
    );
    repo.commit(&[makefile, ("meson.build", "")]);
    is(
        &repo,
        "runner",
        "warn",
        &["meson", "make would fit", "runner = \\\"meson\\\""],
    );
    repo.commit(&[(
        ".git-rts.toml",
        "[tests]\nrunner = \"command\"\nlist = \"true\"\n",
    )]);
    is(&repo, "runner", "fail", &["listed and run"]);
    repo.commit(&[(".git-rts.toml", "[tests]\nrunner = \"maven\"\n")]);
    is(&repo, "runner", "fail", &["no runner 'maven'", "ctest"]);
}

#[test]
fn compilers_are_tried_and_not_believed() {
    let repo = project("cc -o prog p.c", "");
    let checks = examined(&mut repo.rts_command());
    tells(&checks, "compiler", "ok", &["clang", "back end llvm"]);
    tells(&checks, "counters", "ok", &["counts"]);

    let path = only(&repo, &["git", "sh", "cc", "as", "ld"]);
    let checks = examined(repo.rts_command().env("PATH", &path));
    tells(
        &checks,
        "compiler",
        "warn",
        &["back end gcov", "no 'clang'", "install clang"],
    );
    tells(&checks, "counters", "ok", &["counts"]);

    // A compiler that drops the flags makes programs that run, and count nothing.
    let real = fs::read_link(path.join("cc")).unwrap();
    fs::remove_file(path.join("cc")).unwrap();
    let text = format!(
        "#!/bin/sh\nfor word; do shift; [ \"$word\" = --coverage ] || set -- \"$@\" \"$word\"; done\nexec {} \"$@\"\n",
        real.display()
    );
    script(path.join("cc"), &text);
    let checks = examined(repo.rts_command().env("PATH", &path));
    tells(
        &checks,
        "counters",
        "fail",
        &["no counters", "cc --coverage"],
    );

    // One that cannot make a program that counts, where it is asked for.
    script(
        path.join("clang"),
        "#!/bin/sh\necho 'error: no runtime' >&2\nexit 1\n",
    );
    repo.git(&["config", "rts.backend", "llvm"]);
    let checks = examined(repo.rts_command().env("PATH", &path));
    tells(&checks, "compiler", "fail", &["no runtime", "gcov"]);

    repo.git(&["config", "--unset", "rts.backend"]);
    let path = only(&repo, &["git", "sh"]);
    let checks = examined(repo.rts_command().env("PATH", path));
    tells(
        &checks,
        "compiler",
        "fail",
        &["neither 'clang' nor 'cc'", "install"],
    );
}

#[test]
fn where_tests_cannot_be_followed_it_is_told() {
    let repo = TestRepo::new();
    let top = repo.top();
    let (out, program) = (top.join("../out.json"), env!("CARGO_BIN_EXE_git-rts"));
    // Who is followed cannot follow others: the kernel allows one.
    let run = format!(
        "cd '{}' && echo {{test}} && '{program}' doctor --format json > '{}' || true",
        top.display(),
        out.display()
    );
    let text = format!(
        "[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"{run}\"\ntimeout = \"60s\"\n"
    );
    repo.commit(&[(".git-rts.toml", &text)]);
    succeeds(&repo.rts(&["run"]));
    let inside: Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    let checks = inside["checks"].as_array().unwrap().iter();
    let checks = checks.map(|check| (check["name"].as_str().unwrap().to_owned(), check.clone()));
    let checks: BTreeMap<String, Value> = checks.collect();
    tells(
        &checks,
        "following",
        "warn",
        &["only files that tests open"],
    );
    is(&repo, "following", "ok", &["is seen"]);
}

#[test]
fn a_budget_that_cannot_be_is_told_before_a_push_is() {
    let repo = recorded("cc -o prog p.c", "");
    repo.git(&["config", "rts.prePushBudget", "soon"]);
    let checks = examined(&mut repo.rts_command());
    tells(
        &checks,
        "hooks",
        "fail",
        &["'rts.prePushBudget' cannot be 'soon'"],
    );
}

#[test]
fn what_was_compiled_past_our_compilers_is_found() {
    let cc = "/usr/bin/cc";
    assert!(Path::new(cc).exists());
    let repo = recorded(&format!("cc -o prog p.c && {cc} -o other p.c"), "");
    let checks = examined(&mut repo.rts_command());
    tells(
        &checks,
        "build",
        "warn",
        &["1 of 2 binaries", "'other'", "by its name"],
    );
    tells(
        &checks,
        "history",
        "warn",
        &["without counters", "by its name"],
    );
    let repo = recorded(&format!("{cc} -o prog p.c"), "");
    is(
        &repo,
        "build",
        "fail",
        &["nothing in the last build has counters", "'prog'"],
    );
}

#[test]
fn a_history_that_cannot_be_used_is_told_with_what_differs() {
    let repo = recorded("cc -o prog p.c", "");
    is(&repo, "history", "ok", &["1 history", "the nearest is of"]);
    let checks = examined(repo.rts_command().env("CFLAGS", "-O3"));
    tells(
        &checks,
        "history",
        "warn",
        &["CFLAGS", "-O3", "git rts run"],
    );

    // Another process has the database.
    let lock = File::options()
        .write(true)
        .open(repo.top().join(".git/rts/history/lock"))
        .unwrap();
    lock.lock().unwrap();
    is(&repo, "history", "warn", &["another process"]);
    drop(lock);

    let history = repo.top().join(".git/rts/history");
    let database = history.join("db-1/db");
    let size = fs::metadata(&database).unwrap().len() as usize;
    fs::write(&database, vec![0x5a; size]).unwrap();
    let before = everything(&history);
    is(&repo, "history", "fail", &["git rts run"]);
    assert_eq!(everything(&history), before);
}

#[test]
fn a_history_without_some_tests_is_told() {
    let repo = project("cc -o prog p.c", "");
    succeeds(&repo.rts(&["record", "one"]));
    is(&repo, "history", "warn", &["not all"]);
}

#[test]
fn debts_are_told() {
    let repo = recorded("cc -o prog p.c", "");
    is(&repo, "debts", "ok", &["nothing is owed"]);
    repo.write("p.c", SOURCE.replace("x * 2", "x * 3"));
    succeeds(&repo.rts(&["run", "--limit", "1"]));
    is(&repo, "debts", "warn", &["2 tests owed", "git rts owed"]);
}

#[test]
fn a_hook_that_git_does_not_run_fails() {
    let repo = project("cc -o prog p.c", "");
    is(&repo, "hooks", "ok", &["none is installed"]);
    succeeds(&repo.rts(&["hook", "install", "pre-push"]));
    is(&repo, "hooks", "ok", &["pre-push installed"]);
    let hook = repo.top().join(".git/hooks/pre-push");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap();
    is(
        &repo,
        "hooks",
        "fail",
        &["git does not run 'pre-push'", "hook install pre-push"],
    );
    succeeds(&repo.rts(&["hook", "install", "pre-push"]));
    is(&repo, "hooks", "ok", &["pre-push installed"]);
}
