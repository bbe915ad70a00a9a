//! Whether selection can be trusted: shadow mode, the canary, `trust`, `replay` and `audit`, and the proof that each of them notices a selection that is wrong.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use test_repo::TestRepo;

const PROGRAM: &str = "#include <stdio.h>\n#include <unistd.h>\nstatic int one(int x)\n{\n    return x + 1;\n}\nstatic int two(int x)\n{\n    return x + 2;\n}\nint unused(int x)\n{\n    return x - 3;\n}\n\
    int main(int argc, char **argv)\n{\n    if (argc > 2 && unlink(argv[2]) == 0)\n        return 1;\n    switch (argv[1][0]) {\n    case 'o': return one(argc) != argc + 1;\n    case 't': return two(argc) != argc + 2;\n    }\n    return 0;\n}\n";

const MISSED: i32 = 102;

/// The tests `one` and `two` call a function each, `shaky` fails when a file outside of the tree is there, and takes it away.
fn settings(repo: &TestRepo) -> String {
    format!(
        "[build]\ncommand = \"cc -w -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one two shaky\"\n\
         run = \"./prog {{test}} {}\"\n",
        mood(repo).display()
    )
}

fn mood(repo: &TestRepo) -> PathBuf {
    repo.top().parent().unwrap().join("mood")
}

fn project() -> TestRepo {
    let repo = TestRepo::new();
    let settings = settings(&repo);
    repo.commit(&[(".git-rts.toml", &settings), ("prog.c", PROGRAM)]);
    repo
}

fn edit(repo: &TestRepo, old: &str, new: &str) {
    let text = fs::read_to_string(repo.top().join("prog.c")).unwrap();
    assert!(text.contains(old), "{old}");
    repo.write("prog.c", text.replacen(old, new, 1));
}

fn commit(repo: &TestRepo, old: &str, new: &str) {
    edit(repo, old, new);
    repo.commit_all();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn passes(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    said(output)
}

/// The binary with what the source witness doubts dropped.
fn wrong(repo: &TestRepo, arguments: &[&str]) -> Output {
    let mut command = repo.rts_command();
    command.env("GIT_RTS_OVERLOOK_DANGERS", "1");
    command.args(arguments).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

fn trust(repo: &TestRepo) -> Value {
    document(&repo.rts(&["trust", "--format", "json"]))
}

/// All that a user can see of a repository: refs, index, work tree and worktrees.
fn state(repo: &TestRepo) -> String {
    let asked = [
        &["for-each-ref"][..],
        &["status", "--porcelain"],
        &["ls-files", "--stage"],
        &["worktree", "list", "--porcelain"],
        &["symbolic-ref", "HEAD"],
    ];
    asked.map(|arguments| repo.git(arguments)).join("\n")
}

#[test]
fn in_shadow_mode_everything_runs_and_the_selection_is_only_compared() {
    let repo = project();
    passes(&repo.rts(&["run"]));
    repo.git(&["config", "rts.mode", "shadow"]);
    commit(&repo, "x + 2", "x + 4 - 2");
    let said = passes(&repo.rts(&["run", "HEAD~1"]));
    assert!(
        said.contains("3 passed, 2 of them to check the selection"),
        "{said}"
    );
    let trust = trust(&repo);
    assert_eq!(trust["mode"], "shadow");
    assert_eq!(
        (&trust["skipped"], &trust["checked"]),
        (&2.into(), &2.into())
    );
    assert_eq!(
        (&trust["missed"], &trust["changes"]),
        (&0.into(), &2.into())
    );
    assert_eq!(trust["is_time_to_enforce"], false);
    // What ran is known from this very version.
    let shown = repo.json(&["history", "show", "one", "--format", "json"]);
    let text = shown.to_string();
    let head = repo.git(&["rev-parse", "--short=7", "HEAD"]);
    assert!(text.contains(&head), "{text}");
}

#[test]
fn what_the_canary_finds_is_loud_and_selects_everything_until_it_is_acknowledged() {
    let repo = project();
    passes(&repo.rts(&["run"]));
    repo.git(&["config", "rts.canary", "100%"]);
    commit(&repo, "x + 2", "x + 3");
    let output = wrong(&repo, &["run", "HEAD~1"]);
    let loud = said(&output);
    assert_eq!(output.status.code(), Some(MISSED), "{loud}");
    assert!(
        loud.contains("MISS two: it was skipped, and it fails"),
        "{loud}"
    );
    let record = repo.rts(&["trust", "--format", "json"]);
    assert_eq!(record.status.code(), Some(MISSED));
    let record = document(&record);
    assert_eq!(record["missed"], 1);
    let miss = &record["open"][0]["miss"];
    assert_eq!(
        (&miss["test"], &miss["outcome"]),
        (&"two".into(), &"failed".into())
    );
    assert!(miss["certificate"].to_string().contains("prog.c"), "{miss}");
    let doctor = repo.rts(&["doctor"]);
    let checks = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(checks.contains("'two' was skipped wrongly"), "{checks}");
    // Nothing changed since, and yet everything is selected.
    commit(&repo, "x + 3", "x + 2");
    let output = repo.rts(&["select", "HEAD"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    assert!(
        said(&output).contains("'two' was skipped wrongly"),
        "{}",
        said(&output)
    );
    passes(&repo.rts(&["trust", "--acknowledge", "it was a proof"]));
    passes(&repo.rts(&["trust"]));
    passes(&repo.rts(&["run", "HEAD~1"]));
    let output = repo.rts(&["select", "HEAD"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn a_flaky_test_that_the_canary_meets_is_no_miss() {
    let repo = project();
    passes(&repo.rts(&["run"]));
    repo.git(&["config", "rts.canary", "100%"]);
    // Nothing is selected, so whoever comes first is a control, and fails once.
    commit(&repo, "x - 3", "x - 4");
    fs::write(mood(&repo), "").unwrap();
    let output = repo.rts(&["run", "HEAD~1"]);
    let told = said(&output);
    assert!(told.contains("is flaky"), "{told}");
    assert_eq!(output.status.code(), Some(0), "{told}");
    let trust = trust(&repo);
    assert_eq!((&trust["missed"], &trust["flaky"]), (&0.into(), &1.into()));
}

#[test]
fn a_damaged_record_is_told_and_costs_nothing_else() {
    let repo = project();
    passes(&repo.rts(&["run"]));
    let runs = repo.top().join(".git/rts/trust/runs");
    let mut text = fs::read(&runs).unwrap();
    text.extend(b"{\xff\n");
    fs::write(&runs, text).unwrap();
    let output = repo.rts(&["trust"]);
    assert!(passes(&output).contains("1 line of the record cannot be read"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("changes  1"));
    let misses = repo.top().join(".git/rts/trust/misses");
    fs::create_dir_all(&misses).unwrap();
    fs::write(misses.join("1-2.json"), "{").unwrap();
    assert_eq!(repo.rts(&["trust"]).status.code(), Some(MISSED));
    let output = repo.rts(&["select", "HEAD"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
}

/// A project whose third version does not build and whose fourth breaks the test `two`, with settings that no version has.
fn past() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&[("prog.c", PROGRAM)]);
    commit(&repo, "x + 1", "x + 4 - 3");
    commit(&repo, "static int one(", "static int one((");
    commit(&repo, "static int one((", "static int one(");
    commit(&repo, "x + 2", "x + 3");
    commit(&repo, "x - 3", "x - 4");
    let settings = settings(&repo);
    repo.write(".git-rts.toml", settings);
    repo
}

#[test]
fn a_replay_misses_nothing_names_what_does_not_build_and_leaves_everything_as_it_was() {
    let repo = past();
    let _ = repo.rts(&["run"]);
    let (before, histories) = (state(&repo), repo.json(&["history", "--format", "json"]));
    let page = repo.top().parent().unwrap().join("page.html");
    let output = repo.rts(&[
        "replay",
        "HEAD~5..HEAD",
        "--format",
        "json",
        "--html",
        page.to_str().unwrap(),
    ]);
    let told = passes(&output);
    let replay = document(&output);
    let trials = replay["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 5, "{told}");
    let selected = |trial: &Value| -> Vec<String> {
        let tests = trial["tests"].as_array().unwrap().iter();
        let mut names: Vec<String> = tests
            .filter(|test| test["selected"] == true)
            .map(|test| test["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(selected(&trials[0]), ["one"]);
    assert!(trials[1]["obstacle"].is_string(), "{}", trials[1]);
    assert_eq!(selected(&trials[2]), Vec::<String>::new());
    assert_eq!(selected(&trials[3]), ["two"]);
    // It failed, so it stays selected.
    assert_eq!(selected(&trials[4]), ["two"]);
    let score = &replay["score"];
    assert_eq!(
        (&score["tests_noticing"], &score["tests_noticing_selected"]),
        (&1.into(), &1.into())
    );
    assert_eq!(score["strayed"].as_array().unwrap().len(), 0, "{score}");
    assert!(fs::read_to_string(page).unwrap().contains("<html"));
    assert_eq!(state(&repo), before);
    assert_eq!(repo.json(&["history", "--format", "json"]), histories);
    assert!(!repo.top().join(".git/rts/replay/clone").exists());
    // What is known is told again without a build.
    let again = repo.rts(&["replay", "HEAD~5..HEAD", "--format", "json"]);
    assert!(passes(&again).contains("5 commits known"));
    let mut told_again = document(&again);
    told_again["written"] = replay["written"].clone();
    assert_eq!(told_again, replay);
}

#[test]
fn a_replay_has_the_submodules_of_the_work_tree_as_each_version_wants_them() {
    let repo = project();
    let library = repo.top().join("../library");
    let at = library.to_str().unwrap();
    repo.git(&["init", "--quiet", at]);
    fs::write(library.join("l.h"), "#define ONE 1\n").unwrap();
    repo.git(&["-C", at, "add", "l.h"]);
    repo.git(&["-C", at, "commit", "--quiet", "-m", "with a header"]);
    let allow = "protocol.file.allow=always";
    repo.git(&["-c", allow, "submodule", "--quiet", "add", at, "library"]);
    let asked = "#if __has_include(\"library/l.h\")\n#include \"library/l.h\"\n#else\n#define ONE 2\n#endif\n";
    edit(
        &repo,
        "#include <stdio.h>",
        &format!("{asked}#include <stdio.h>"),
    );
    commit(&repo, "x + 1", "x + ONE");
    // What went from the submodule must not be left in the copy that is built.
    repo.git(&["-C", "library", "rm", "--quiet", "l.h"]);
    repo.git(&["-C", "library", "commit", "--quiet", "-m", "without"]);
    repo.commit_all();
    let before = state(&repo);
    let output = repo.rts(&["replay", "HEAD~1", "--format", "json"]);
    passes(&output);
    let score = &document(&output)["score"];
    assert_eq!(score["changes_noticed"], 1, "{score}");
    assert_eq!(score["tests_noticing_selected"], 1, "{score}");
    assert_eq!(state(&repo), before);
}

#[test]
fn a_test_that_goes_other_ways_without_a_mutant_is_not_missed_by_an_audit() {
    let repo = TestRepo::new();
    let mood = mood(&repo);
    // The first time it goes one way, and the other from then on.
    let program = format!(
        "#include <fcntl.h>\n#include <unistd.h>\nint early(int x)\n{{\n    return x + 1;\n}}\nint late(int x)\n{{\n    return x + 1;\n}}\n\
         int main(void)\n{{\n    if (access(\"{0}\", F_OK) == 0)\n        return late(1) != 2;\n    close(creat(\"{0}\", 0600));\n    return early(1) != 2;\n}}\n",
        mood.display()
    );
    let settings = "[build]\ncommand = \"cc -w -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"echo once\"\nrun = \"./prog {test}\"\n";
    repo.commit(&[(".git-rts.toml", settings), ("prog.c", &program)]);
    let output = repo.rts(&["audit", "--format", "json"]);
    passes(&output);
    let score = &document(&output)["score"];
    assert_eq!(score["flaky"][0], "once", "{score}");
    assert_eq!(score["changes_missed"], 0, "{score}");
}

#[test]
fn a_replay_can_be_timed_beside_a_build_with_nothing_of_ours_in_it() {
    let repo = past();
    let compilers = repo.top().parent().unwrap().join("compilers");
    let noted = format!("command -v cc >>{}; cc -w", compilers.display());
    repo.write(
        ".git-rts.toml",
        settings(&repo).replacen("cc -w", &noted, 1),
    );
    let output = repo.rts(&["replay", "HEAD~1", "--plain", "--format", "json"]);
    passes(&output);
    let replay = document(&output);
    let plain = &replay["trials"][0]["milliseconds"]["plain"];
    assert!(plain.as_u64().unwrap() > 0, "{replay}");
    let beside = &replay["score"]["time_beside_plain"];
    assert!(beside["median"].as_f64().unwrap() > 0.0, "{replay}");
    let used = fs::read_to_string(compilers).unwrap();
    // The commit that it begins with and the other one, each with our compilers and then without.
    let ours: Vec<bool> = used.lines().map(|cc| cc.contains("/.git/rts/")).collect();
    assert_eq!(ours, [true, false, true, false], "{used}");
}

#[test]
fn a_replay_notices_a_selection_that_is_wrong() {
    let repo = past();
    let output = wrong(&repo, &["replay", "HEAD~5", "--format", "json"]);
    assert_eq!(output.status.code(), Some(MISSED), "{}", said(&output));
    let replay = document(&output);
    let missed = &replay["score"]["missed"];
    // Nothing of what a control does is kept, so the next commit misses it again.
    let commits = ["HEAD~1", "HEAD"].map(|commit| repo.git(&["rev-parse", commit]));
    let each = commits.map(|commit| serde_json::json!({ "change": commit, "test": "two" }));
    assert_eq!(missed, &serde_json::json!(each));
    let story = replay["trials"][3]["stories"]["two"].as_str().unwrap();
    assert!(story.contains("prog.c"), "{story}");
}

#[test]
fn an_interrupted_replay_goes_on_where_it_was() {
    let repo = past();
    let settings = settings(&repo).replace("./prog", "sleep 0.4; ./prog");
    repo.write(".git-rts.toml", settings);
    let before = state(&repo);
    let mut command = repo.rts_command();
    command.args(["replay", "HEAD~5..HEAD"]);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let notes = |repo: &TestRepo| -> usize {
        let files = fs::read_dir(repo.top().join(".git/rts/replay"));
        let files = files.into_iter().flatten().flatten();
        let texts = files.filter(|file| file.path().is_file());
        let texts = texts.map(|file| fs::read_to_string(file.path()).unwrap_or_default());
        texts.map(|text| text.lines().count()).max().unwrap_or(0)
    };
    let started = Instant::now();
    while notes(&repo) < 2 {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "it never got so far"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(
        repo.command("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let clone = repo.top().join(".git/rts/replay/clone");
    let left: Vec<_> = fs::read_dir(&clone).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only its histories are left: {left:?}");
    assert!(!clone.join(".git/rts/build").exists());
    assert_eq!(state(&repo), before);
    let known = notes(&repo);
    assert!((2..5).contains(&known), "{known}");
    let output = repo.rts(&["replay", "HEAD~5..HEAD", "--format", "json"]);
    let told = passes(&output);
    assert!(told.contains(&format!("{known} commits known")), "{told}");
    assert_eq!(document(&output)["trials"].as_array().unwrap().len(), 5);
}

#[test]
fn an_audit_misses_nothing_and_lists_what_no_test_notices() {
    let repo = project();
    let before = state(&repo);
    let output = repo.rts(&["audit", "-n", "40", "--seed", "1", "--format", "json"]);
    passes(&output);
    let audit = document(&output);
    let score = &audit["score"];
    assert!(score["changes_noticed"].as_u64().unwrap() >= 5, "{score}");
    assert_eq!(score["missed"].as_array().unwrap().len(), 0);
    assert!(
        score["test_runs_selected"].as_u64() < score["test_runs"].as_u64(),
        "{score}"
    );
    let trials = audit["trials"].as_array().unwrap().iter();
    let survivors: Vec<&Value> = trials.filter(|trial| trial["noticing"] == 0).collect();
    assert!(
        survivors
            .iter()
            .any(|one| one.to_string().contains("unused")),
        "{survivors:?}"
    );
    assert_eq!(state(&repo), before);
    assert!(!repo.top().join(".git/rts/audit/clone").exists());
}

#[test]
fn an_audit_mutates_what_is_compiled_and_not_the_tests() {
    let repo = TestRepo::new();
    let settings = settings(&repo).replace(" prog.c", " prog.c test_prog.c");
    let program = format!(
        "{PROGRAM}#ifdef OTHER_SYSTEM\nint elsewhere(int x)\n{{\n    return x + 18;\n}}\n#endif\n"
    );
    repo.commit(&[
        (".git-rts.toml", &settings),
        ("prog.c", &program),
        (
            "other.c",
            "int other = 19;\nint of_another_system(void)\n{\n    return other + 20;\n}\n",
        ),
        (
            "test_prog.c",
            "int checked(int x)\n{\n    return x + 21;\n}\n",
        ),
    ]);
    let mutated = |arguments: &[&str]| {
        let arguments = [&["audit", "-n", "1000", "--format", "json"], arguments].concat();
        let output = repo.rts(&arguments);
        passes(&output);
        let trials = document(&output)["trials"].clone();
        let trials = trials.as_array().unwrap().iter();
        let changed = trials.map(|trial| format!("{} {}", trial["change"], trial["title"]));
        changed.collect::<Vec<_>>().join("\n")
    };
    let all = mutated(&[]);
    for line in ["x + 1;", "x + 2;", "x - 3;"] {
        assert!(all.contains(line), "'{line}' in {all}");
    }
    for line in ["x + 18", "= 19", "other + 20", "x + 21"] {
        assert!(!all.contains(line), "'{line}' in {all}");
    }
    let named = mutated(&["test_*.c"]);
    assert!(named.contains("x + 21"), "{named}");
    let output = repo.rts(&["audit", "other.c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("nothing to mutate"),
        "{}",
        said(&output)
    );
}

#[test]
fn an_audit_notices_a_selection_that_is_wrong() {
    let repo = project();
    let output = wrong(&repo, &["audit", "-n", "12", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(MISSED), "{}", said(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("prog.c:"), "{told}");
}

#[test]
fn what_cannot_be_replayed_or_audited_is_told_with_a_hint() {
    let repo = project();
    let output = repo.rts(&["replay", "HEAD..HEAD"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("hint:"));
    let output = repo.rts(&["audit", "*.nothing"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("hint:"));
    repo.write("prog.c", "int main(");
    repo.commit_all();
    let output = repo.rts(&["audit"]);
    assert_eq!(output.status.code(), Some(101), "{}", said(&output));
    repo.git(&["config", "rts.canary", "often"]);
    let output = repo.rts(&["run"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("such as '1%'"));
}
