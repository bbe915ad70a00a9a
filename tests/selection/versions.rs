//! Which version is compared with which, and whose traces are believed: branches, ranges, uncommitted work, chains of runs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::test_repo::TestRepo;

const SETTINGS: &str = "[build]\ncommand = \"cc -w -o prog *.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat tests\"\nrun = \"test \\\"$BROKEN\\\" != {test} && ./prog {test}\"\n[files]\nignore = [\"tests\", \"notes\"]\n";
const MAIN: &str = "int add(int, int);\nint sub(int, int);\nint mul(int, int);\nint main(int count, char **name) {\n  switch (name[1][0]) {\n  case 'a':\n    return add(1, 2) == 0;\n  case 's':\n    return sub(1, 2) == 0;\n  }\n  return mul(1, 2) == 0;\n}\n";

/// A function of a library, in a file of its own.
fn source(name: &str, returned: &str) -> String {
    format!("int {name}(int a, int b) {{\n  return {returned};\n}}\n")
}

/// A program with three tests, recorded.
fn recorded() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".git-rts.toml", SETTINGS);
    repo.write("main.c", MAIN);
    repo.write("tests", "add\nsub\nmul\n");
    repo.write("add.c", source("add", "a + b"));
    repo.write("sub.c", source("sub", "a - b"));
    repo.write("mul.c", source("mul", "a * b"));
    repo.commit_all();
    record(&repo);
    repo
}

#[track_caller]
fn record(repo: &TestRepo) {
    let output = repo.rts(&["record"]);
    assert!(output.status.success(), "{output:?}");
}

/// Runs what is selected; answers whether all passed.
#[track_caller]
fn run(repo: &TestRepo, arguments: &[&str]) -> bool {
    let output = repo.rts(&[&["run"], arguments].concat());
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 100)), "{output:?}");
    code == Some(0)
}

fn change(repo: &TestRepo, name: &str, returned: &str) -> String {
    repo.write(format!("{name}.c"), source(name, returned));
    repo.commit_all()
}

#[track_caller]
fn document(repo: &TestRepo, versions: &[&str]) -> Value {
    repo.json(&[&["select"], versions, &["--format", "json"]].concat())
}

/// The selected tests, in the order of their names.
#[track_caller]
fn selected(repo: &TestRepo, versions: &[&str]) -> Vec<String> {
    let document = document(repo, versions);
    let tests = document["tests"].as_array().unwrap().iter();
    let selected = tests.filter(|test| test["selected"] == Value::Bool(true));
    let names: BTreeSet<String> = selected
        .map(|test| test["name"].as_str().unwrap().to_owned())
        .collect();
    names.into_iter().collect()
}

#[test]
fn nothing_changed_selects_nobody() {
    let repo = recorded();
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
}

#[test]
fn staged_unstaged_and_untracked_work_counts() {
    let repo = recorded();
    repo.write("add.c", source("add", "b + a"));
    repo.git(&["add", "add.c"]);
    assert_eq!(selected(&repo, &["HEAD"]), ["add"]);
    repo.write("sub.c", source("sub", "-b + a"));
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "sub"]);
    // A file that git does not know yet is compiled like any other.
    repo.git(&["rm", "--quiet", "--cached", "mul.c"]);
    repo.write("mul.c", source("mul", "b * a"));
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "mul", "sub"]);
    // What is only staged is not what is compiled.
    repo.git(&["reset", "--quiet", "--hard"]);
    repo.write("add.c", source("add", "b + a"));
    repo.git(&["add", "add.c"]);
    repo.write("add.c", source("add", "a + b"));
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
}

#[test]
fn ranges_are_compared_as_git_reads_them() {
    let repo = recorded();
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    let topic = change(&repo, "add", "b + a");
    repo.git(&["checkout", "--quiet", "main"]);
    let main = change(&repo, "sub", "-b + a");
    record(&repo);
    assert_eq!(selected(&repo, &[&format!("{base}..{topic}")]), ["add"]);
    assert_eq!(selected(&repo, &[&base, &topic]), ["add"]);
    // Two dots compare with the other branch, three with where they parted.
    let two = format!("{main}..{topic}");
    assert_eq!(selected(&repo, &[&two]), ["add", "sub"]);
    let three = format!("{main}...{topic}");
    assert_eq!(selected(&repo, &[&three]), ["add"]);
}

#[test]
fn a_branch_is_compared_with_where_it_left_its_upstream() {
    let repo = recorded();
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.git(&["branch", "--quiet", "--set-upstream-to=main"]);
    change(&repo, "add", "b + a");
    change(&repo, "mul", "b * a");
    repo.git(&["checkout", "--quiet", "main"]);
    change(&repo, "sub", "-b + a");
    repo.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(selected(&repo, &[]), ["add", "mul"]);
    // Once the other branch is merged in, its change is here, too.
    repo.git(&["merge", "--quiet", "--no-edit", "main"]);
    let since_before = selected(&repo, &["HEAD^1~2"]);
    assert_eq!(since_before, ["add", "mul", "sub"]);
}

#[test]
fn what_changed_between_the_history_and_the_base_is_not_lost() {
    let repo = recorded();
    change(&repo, "add", "b + a");
    change(&repo, "sub", "-b + a");
    change(&repo, "mul", "b * a");
    // The base has no history: its grandparent's is compared with the head.
    assert_eq!(selected(&repo, &["HEAD~1"]), ["add", "mul", "sub"]);
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "mul", "sub"]);
}

#[test]
fn without_a_history_everything_is_selected() {
    let repo = TestRepo::new();
    repo.write(".git-rts.toml", SETTINGS);
    repo.write("tests", "add\nsub\nmul\n");
    repo.write("main.c", MAIN);
    for name in ["add", "sub", "mul"] {
        repo.write(format!("{name}.c"), source(name, "a + b"));
    }
    repo.commit_all();
    // An empty list would be taken for "nothing to run".
    let output = repo.rts(&["select", "HEAD"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let output = repo.rts(&["run", "HEAD", "--dry-run", "--order", "listed"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "add\nsub\nmul\n",
        "{output:?}"
    );
}

#[test]
fn a_history_that_no_ancestor_has_clears_nobody() {
    let repo = recorded();
    repo.git(&["checkout", "--quiet", "--orphan", "other"]);
    repo.write("add.c", source("add", "b + a"));
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "mul", "sub"]);
}

#[test]
fn the_same_tree_has_the_same_history() {
    let repo = recorded();
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["commit", "--quiet", "--amend", "--message", "better words"]);
    assert_ne!(repo.git(&["rev-parse", "HEAD"]), base);
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
    // An amended change is compared with what it was made of.
    change(&repo, "add", "b + a");
    repo.write("sub.c", source("sub", "-b + a"));
    repo.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    assert_eq!(selected(&repo, &["HEAD~1"]), ["add", "sub"]);
}

#[test]
fn a_detached_head_is_a_version_like_any_other() {
    let repo = recorded();
    repo.git(&["checkout", "--quiet", "--detach"]);
    change(&repo, "add", "b + a");
    assert_eq!(selected(&repo, &["HEAD~1"]), ["add"]);
    assert!(run(&repo, &["HEAD~1"]));
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
}

#[test]
fn a_failed_test_stays_selected_until_it_passes() {
    let repo = recorded();
    change(&repo, "add", "0 * (a + b)");
    assert!(!run(&repo, &["HEAD~1"]));
    assert_eq!(selected(&repo, &["HEAD"]), ["add"]);
    // A change elsewhere does not make it pass.
    change(&repo, "sub", "-b + a");
    assert_eq!(selected(&repo, &["HEAD~1"]), ["add", "sub"]);
    assert!(!run(&repo, &["HEAD~1"]));
    assert_eq!(selected(&repo, &["HEAD"]), ["add"]);
    change(&repo, "add", "a + b");
    assert!(run(&repo, &["HEAD~1"]));
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
}

#[test]
fn a_failure_is_told_with_the_version_in_which_it_was() {
    let repo = recorded();
    let why = || String::from_utf8(repo.rts(&["why", "add", "HEAD"]).stdout).unwrap();
    let commit = change(&repo, "add", "0 * (a + b)");
    assert!(!run(&repo, &["HEAD~1"]));
    change(&repo, "sub", "-b + a");
    let told = why();
    let wanted = format!("last time: failed in {}\n", &commit[..7]);
    assert!(told.contains(&wanted), "{told}");
    repo.write("add.c", source("add", "a * 0"));
    assert!(!run(&repo, &["HEAD"]));
    let told = why();
    assert!(told.contains("failed in uncommitted work\n"), "{told}");
}

#[test]
fn a_test_that_was_stopped_before_it_began_stays_selected() {
    let repo = recorded();
    change(&repo, "add", "0 * (a + b)");
    change(&repo, "sub", "-b + a");
    assert!(!run(&repo, &["HEAD~2", "--fail-fast", "--order", "listed"]));
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "sub"]);
}

#[test]
fn traces_are_carried_along_a_chain_of_runs() {
    let repo = recorded();
    change(&repo, "add", "b + a");
    assert!(run(&repo, &["HEAD~1"]));
    // Of the tests that did not run, the traces came along.
    repo.git(&["mv", "sub.c", "minus.c"]);
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD~1"]), [""; 0]);
    assert!(run(&repo, &["HEAD~1"]));
    repo.write("minus.c", source("sub", "-b + a"));
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD~1"]), ["sub"]);
    assert!(run(&repo, &["HEAD~1"]));
    let twice = source("mul", "a * b").replace("return", "if (a < 0)\n    return 1;\n  return");
    repo.write("mul.c", &twice);
    repo.commit_all();
    assert!(run(&repo, &["HEAD~1"]));
    repo.write("mul.c", twice.replace("return 1", "return 2"));
    repo.commit_all();
    // It ran the new version, and did not take that way.
    assert_eq!(selected(&repo, &["HEAD~1"]), [""; 0]);
    repo.write("mul.c", twice.replace("a * b", "b * a"));
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD~2"]), ["mul"]);
}

#[test]
fn uncommitted_work_that_ran_is_remembered_once_it_is_committed() {
    let repo = recorded();
    repo.write("add.c", source("add", "b + a"));
    assert!(run(&repo, &["HEAD"]));
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD"]), [""; 0]);
    change(&repo, "mul", "b * a");
    assert_eq!(selected(&repo, &["HEAD~1"]), ["mul"]);
}

#[test]
fn uncommitted_work_that_ran_is_shown_with_all_its_runs() {
    let repo = recorded();
    let first = repo.git(&["rev-parse", "HEAD"]);
    let show = || repo.json(&["history", "show", "add", "--format", "json"]);
    let versions = |shown: &Value| -> Vec<String> {
        let runs = shown["runs"].as_array().unwrap().iter();
        runs.map(|run| run["version"].as_str().unwrap().to_owned())
            .collect()
    };
    repo.write("add.c", source("add", "0 * (a + b)"));
    assert!(!run(&repo, &["HEAD"]));
    let shown = show();
    assert_eq!(shown["outcome"], "failed");
    let runs = versions(&shown);
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs[0].ends_with("(uncommitted)"), "{runs:?}");
    // It passes, and need not run again once it is committed.
    repo.write("add.c", source("add", "b + a"));
    assert!(run(&repo, &["HEAD"]));
    let second = repo.commit_all();
    assert!(run(&repo, &["HEAD"]));
    let shown = show();
    assert_eq!(shown["outcome"], "passed");
    let runs = versions(&shown);
    assert_eq!(runs.len(), 3, "{runs:?}");
    assert_eq!(
        (&runs[0], &runs[2]),
        (&second[..7].to_owned(), &first[..7].to_owned())
    );
}

#[test]
fn a_removed_test_is_forgotten_and_a_new_one_is_found() {
    let repo = recorded();
    repo.write("tests", "add\nsub\nmore\n");
    repo.commit_all();
    let output = repo.rts(&["run", "HEAD~1", "--dry-run"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "more\n");
    assert!(run(&repo, &["HEAD~1"]));
    change(&repo, "mul", "b * a");
    assert_eq!(selected(&repo, &["HEAD~1"]), ["more"]);
}

#[test]
fn another_environment_selects_everything() {
    let repo = recorded();
    let with_flags = |arguments: &[&str]| {
        let mut command = repo.rts_command();
        let output = command.env("CFLAGS", "-O3").args(arguments).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    };
    assert_eq!(
        with_flags(&["select", "HEAD", "--order", "listed"]),
        "add\nsub\nmul\n"
    );
}

#[test]
fn a_test_that_failed_at_the_head_is_selected_whatever_the_base() {
    let repo = recorded();
    repo.write("notes", "nothing that a test reads\n");
    repo.commit_all();
    // It fails for a reason that is not in the tree.
    let mut broken = repo.rts_command();
    broken.env("BROKEN", "mul").args(["run", "--all", "HEAD~1"]);
    assert_eq!(broken.output().unwrap().status.code(), Some(100));
    assert_eq!(selected(&repo, &["HEAD"]), ["mul"]);
    assert_eq!(selected(&repo, &["HEAD~1"]), ["mul"]);
}

#[test]
fn another_way_to_build_in_gits_configuration_selects_everything() {
    let repo = recorded();
    repo.git(&["config", "rts.build", "cc -w -DNDEBUG -o prog *.c"]);
    assert_eq!(selected(&repo, &["HEAD"]), ["add", "mul", "sub"]);
}

#[test]
fn recording_some_tests_first_does_not_hide_the_others() {
    let repo = TestRepo::new();
    repo.write(".git-rts.toml", SETTINGS);
    repo.write("tests", "add\nsub\nmul\n");
    repo.write("main.c", MAIN);
    for name in ["add", "sub", "mul"] {
        repo.write(format!("{name}.c"), source(name, "a + b"));
    }
    repo.commit_all();
    let output = repo.rts(&["record", "add"]);
    assert!(output.status.success(), "{output:?}");
    let output = repo.rts(&["run", "HEAD", "--dry-run", "--order", "listed"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sub\nmul\n");
}

#[test]
fn in_a_clone_without_a_past_head_is_compared_with() {
    let repo = recorded();
    let url = format!("file://{}", repo.top().display());
    repo.git(&["clone", "--quiet", "--depth", "1", &url, "../shallow"]);
    let rts = |arguments: &[&str]| {
        let shallow = repo.top().join("../shallow");
        let mut command = repo.rts_command();
        let output = command.current_dir(shallow).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    rts(&["run"]);
    std::fs::write(
        repo.top().join("../shallow/add.c"),
        source("add", "b + a + 0"),
    )
    .unwrap();
    assert_eq!(rts(&["select"]), "add\n");
    assert!(rts(&["why", "add"]).contains("add is selected"));
    assert!(rts(&["why", "sub"]).contains("sub"));
}
