//! Tests that cannot be trusted to do the same again, and projects of which nothing was recorded.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use test_repo::TestRepo;

/// The test `mood` goes one way or the other by a file outside the tree; `calm` goes neither. Nobody calls `idle`.
fn project(settings: &str) -> TestRepo {
    let repo = TestRepo::new();
    let mood = repo.top().parent().unwrap().join("mood");
    let config = format!(
        "[build]\ncommand = \"cc -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' mood calm\"\n\
         run = \"./prog {{test}} '{}'\"\n{settings}",
        mood.display()
    );
    let prog = "#include <unistd.h>\nstatic int happy(void)\n{\n    return 0;\n}\nstatic int sad(void)\n{\n    return 0;\n}\n\
        static int angry(void)\n{\n    return 0;\n}\nint idle(void)\n{\n    return 0;\n}\n\
        int main(int argc, char **argv)\n{\n    if (argv[1][0] == 'c')\n        return 0;\n    if (access(argv[2], F_OK))\n        return sad();\n    if (argc > 9)\n        return angry();\n    return happy();\n}\n";
    repo.commit(&[(".git-rts.toml", &config), ("prog.c", prog)]);
    repo
}

fn selected(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let output = repo.rts(&[&["select", "--order", "listed"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

/// Makes a function return something else.
fn change(repo: &TestRepo, function: &str) {
    repo.git(&["checkout", "--quiet", "--", "."]);
    let text = std::fs::read_to_string(repo.top().join("prog.c")).unwrap();
    let old = format!("int {function}(void)\n{{\n    return 0;");
    assert!(text.contains(&old));
    let new = format!("int {function}(void)\n{{\n    return 1;");
    repo.write("prog.c", text.replacen(&old, &new, 1));
}

#[track_caller]
fn run(repo: &TestRepo) {
    let output = repo.rts(&["run", "--all"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
}

#[test]
fn a_test_that_does_different_things_on_one_tree_counts_for_all_that_it_can_reach() {
    let repo = project("");
    run(&repo);
    run(&repo);
    // It was sad twice: what it did not do does not count.
    change(&repo, "happy");
    assert_eq!(selected(&repo, &[]), Vec::<String>::new());
    repo.git(&["checkout", "--quiet", "--", "."]);
    std::fs::write(repo.top().parent().unwrap().join("mood"), "").unwrap();
    run(&repo);
    for function in ["happy", "sad", "angry"] {
        change(&repo, function);
        assert_eq!(selected(&repo, &[]), ["mood"], "{function}");
    }
    change(&repo, "idle");
    assert_eq!(selected(&repo, &[]), Vec::<String>::new());
}

#[test]
fn a_test_that_is_said_to_vary_counts_for_all_that_it_can_reach_from_the_first_run_on() {
    let repo = project("nondeterministic = [\"m*\"]\n");
    run(&repo);
    run(&repo);
    for (function, expected) in [
        ("happy", &["mood"][..]),
        ("angry", &["mood"]),
        ("idle", &[]),
    ] {
        change(&repo, function);
        assert_eq!(selected(&repo, &[]), expected, "{function}");
    }
}

#[test]
fn coverage_says_what_counts_as_reached_because_tests_vary() {
    let repo = project("nondeterministic = [\"mood\"]\n");
    run(&repo);
    let output = repo.rts(&["coverage", "function"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(output.stdout, b"prog.c:14: function idle\n", "{said}");
    assert!(said.contains("4 of 5 functions entered"), "{said}");
    let vary =
        "1 test varies: what it could reach counts as reached; the others reach 1 function and ";
    assert!(said.contains(vary), "{said}");
    let told = repo.json(&["coverage", "--format", "json"]);
    assert_eq!(told["varying_tests"], 1);
    assert_eq!(told["entered_by_others"], 1);
}

#[test]
fn a_test_that_was_seen_to_vary_later_is_not_skipped_by_an_older_trace() {
    let repo = project("");
    run(&repo);
    change(&repo, "idle");
    repo.commit_all();
    run(&repo);
    std::fs::write(repo.top().parent().unwrap().join("mood"), "").unwrap();
    run(&repo);
    // At the base it was sad once, and nobody knew that it varies.
    change(&repo, "angry");
    assert_eq!(selected(&repo, &["HEAD~1"]), ["mood"]);
}

#[test]
fn a_varying_test_that_is_skipped_stays_as_wide_as_it_was() {
    let repo = project("nondeterministic = [\"m*\"]\n");
    run(&repo);
    change(&repo, "idle");
    repo.commit_all();
    assert!(repo.rts(&["run", "HEAD~1"]).status.success());
    change(&repo, "angry");
    assert_eq!(selected(&repo, &[]), ["mood"]);
}

#[test]
fn without_any_recording_what_a_main_can_reach_is_selected() {
    let repo = project("");
    assert_eq!(selected(&repo, &["--static"]), Vec::<String>::new());
    change(&repo, "angry");
    assert_eq!(selected(&repo, &["--static"]), ["mood", "calm"]);
    change(&repo, "idle");
    assert_eq!(selected(&repo, &["--static"]), Vec::<String>::new());
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"].as_array().unwrap().len(), 0);
}
