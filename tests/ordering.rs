//! Orders, budgets, debts, techniques and shards, through the binary.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::collections::BTreeSet;
use std::process::Output;

use test_repo::TestRepo;

const TESTS: [&str; 5] = ["a", "b", "c", "d", "slow"];

/// Each test calls a function of its own; all call `shared`.
fn project() -> TestRepo {
    let repo = TestRepo::new();
    let mut prog =
        String::from("#include <unistd.h>\nstatic int shared(int x)\n{\n    return x + 0;\n}\n");
    for test in TESTS {
        let rest = if test == "slow" {
            "    usleep(400000);\n"
        } else {
            ""
        };
        prog += &format!("static int f_{test}(int x)\n{{\n{rest}    return shared(x) != 0;\n}}\n");
    }
    prog += "int main(int argc, char **argv)\n{\n    switch (argv[1][0]) {\n";
    for test in TESTS {
        let letter = &test[..1];
        prog += &format!("    case '{letter}': return f_{test}(argc - 2);\n");
    }
    prog += "    }\n    return 9;\n}\n";
    let list = TESTS.join(" ");
    let config = format!(
        "[build]\ncommand = \"cc -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' {list}\"\nrun = \"./prog {{test}}\"\n"
    );
    repo.commit(&[(".git-rts.toml", &config), ("prog.c", &prog)]);
    runs(&repo, &[]);
    repo
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn runs(repo: &TestRepo, arguments: &[&str]) -> String {
    let output = repo.rts(&[&["run"], arguments].concat());
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    said
}

#[track_caller]
fn selected(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let output = repo.rts(&[&["select"], arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

fn owed(repo: &TestRepo) -> BTreeSet<String> {
    let all = repo.json(&["owed", "--format", "json"]);
    let all = all["owed"].as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn edit(repo: &TestRepo, old: &str, new: &str) {
    let text = std::fs::read_to_string(repo.top().join("prog.c")).unwrap();
    assert!(text.contains(old), "{old}");
    repo.write("prog.c", text.replacen(old, new, 1));
    repo.commit_all();
}

#[test]
fn what_does_not_fit_and_did_not_pass_is_told() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 1;");
    let failed = repo.rts(&["run", "HEAD~1"]);
    assert_eq!(failed.status.code(), Some(100), "{}", said(&failed));
    let words = "; 4 more do not fit, 4 of which did not pass last time; base";
    let limited = repo.rts(&["run", "--limit", "1", "HEAD~1"]);
    assert!(said(&limited).contains(words), "{}", said(&limited));
}

#[test]
fn files_are_counted_from_where_something_is_known() {
    let repo = project();
    let known = repo.git(&["rev-parse", "--short", "HEAD"]);
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    repo.write("data.txt", "");
    repo.commit_all();
    let output = repo.rts(&["select", "HEAD~1"]);
    let said = said(&output);
    let words = format!("; 2 files changed since {}\n", known.trim());
    assert!(said.contains(&words), "{said}");
}

#[test]
fn what_does_not_fit_is_owed_until_it_has_run() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    let said = runs(&repo, &["--limit", "2", "HEAD~1"]);
    assert!(
        said.contains("2 passed, 3 owed, 0 skipped safely"),
        "{said}"
    );
    let left = owed(&repo);
    assert_eq!(left.len(), 3);
    // Nothing changed since, and still they are selected.
    let again: BTreeSet<String> = selected(&repo, &["HEAD"]).into_iter().collect();
    assert_eq!(again, left);
    let story = repo.rts(&["why", left.first().unwrap()]);
    let story = String::from_utf8(story.stdout).unwrap();
    assert!(story.contains("it is owed since"), "{story}");
    // Another change selects one that has paid; the old debts come first.
    let paid: Vec<&str> = TESTS
        .into_iter()
        .filter(|test| !left.contains(*test))
        .collect();
    let function = format!("f_{}(int x)\n{{\n", paid[0]);
    edit(&repo, &function, &format!("{function}    x = x + 0;\n"));
    assert_eq!(selected(&repo, &["HEAD~1"]).len(), 4);
    runs(&repo, &["--limit", "3", "HEAD~1"]);
    assert_eq!(owed(&repo), set(&[paid[0]]));
    // A run with a base far behind must not forget it, and one without a limit pays it.
    assert!(selected(&repo, &["HEAD~2"]).contains(&paid[0].to_owned()));
    runs(&repo, &[]);
    assert!(owed(&repo).is_empty());
    assert_eq!(selected(&repo, &["HEAD"]), Vec::<String>::new());
    let nothing = repo.rts(&["owed"]);
    assert!(self::said(&nothing).contains("nothing is owed"));
}

#[test]
fn a_debt_of_the_base_that_was_paid_keeps_nobody_else_from_running() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    runs(&repo, &["--budget", "1ms", "HEAD~1"]);
    assert_eq!(owed(&repo).len(), TESTS.len());
    // The base owes all of them; one a run, everybody has his turn, and the failure is found.
    edit(&repo, "f_d(int x)\n{\n", "f_d(int x)\n{\n    x = x + 1;\n");
    let mut codes = Vec::new();
    for turn in 0..TESTS.len() {
        let run = repo.rts(&["run", "--limit", "1", "HEAD~1"]);
        codes.push(run.status.code().unwrap());
        // Who passed has his place in the sum.
        let passed = codes[..turn].iter().filter(|code| **code == 0).count();
        let told = format!("{passed} passed here before");
        assert!(passed == 0 || said(&run).contains(&told), "{}", said(&run));
    }
    assert!(codes.contains(&100), "{codes:?}");
}

#[test]
fn a_failure_among_the_owed_is_found_later() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 1;");
    let first = repo.rts(&["run", "--limit", "1", "HEAD~1"]);
    assert_eq!(first.status.code(), Some(100), "{}", said(&first));
    assert_eq!(owed(&repo).len(), 4);
    let rest = repo.rts(&["run"]);
    // Who failed is selected again, too.
    assert!(said(&rest).contains("5 failed"), "{}", said(&rest));
    assert!(owed(&repo).is_empty());
}

#[test]
fn a_budget_holds_by_the_estimate_and_tells_what_can_never_fit() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    let said = runs(&repo, &["--budget", "300ms", "HEAD~1"]);
    assert!(
        said.contains("'slow' can never run within this limit"),
        "{said}"
    );
    assert!(said.contains("1 owed"), "{said}");
    assert!(!said.contains("not executed by any test"), "{said}");
    assert_eq!(owed(&repo), set(&["slow"]));
    runs(&repo, &["--budget", "1min"]);
    assert!(owed(&repo).is_empty());
    edit(&repo, "usleep(400000);", "usleep(400001);");
    let said = runs(&repo, &["--budget", "300ms", "HEAD~1"]);
    assert!(
        said.contains("changed and not executed by any test that ran: f_slow in prog.c"),
        "{said}"
    );
}

#[test]
fn orders_are_permutations_and_the_default_begins_with_what_failed() {
    let repo = project();
    edit(&repo, "return f_d(argc - 2);", "return f_d(argc - 2) + 1;");
    assert_eq!(repo.rts(&["run", "HEAD~1"]).status.code(), Some(100));
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    let all = set(&TESTS);
    for order in [
        "history", "lru", "faults", "coverage", "fastest", "random", "listed",
    ] {
        let names = selected(&repo, &["HEAD~1", "--order", order]);
        assert_eq!(names.len(), TESTS.len(), "{order}");
        assert_eq!(
            names.iter().cloned().collect::<BTreeSet<_>>(),
            all,
            "{order}"
        );
        match order {
            "history" | "faults" => assert_eq!(names[0], "d", "{order}"),
            "fastest" => assert_eq!(names[4], "slow"),
            "listed" => assert_eq!(names, TESTS),
            _ => {}
        }
    }
    let drawn = |seed: &str| selected(&repo, &["HEAD~1", "--order", "random", "--seed", seed]);
    assert_eq!(drawn("7"), drawn("7"));
    assert!((0..20).any(|seed| drawn(&seed.to_string()) != drawn("7")));
    repo.git(&["config", "rts.order", "listed"]);
    assert_eq!(selected(&repo, &["HEAD~1"]), TESTS);
    let plan = repo.json(&["select", "HEAD~1", "--format", "json", "--limit", "2"]);
    let ranks = plan["tests"].as_array().unwrap().iter();
    let ranks: Vec<Option<u64>> = ranks.map(|test| test["rank"].as_u64()).collect();
    assert_eq!(ranks.iter().flatten().sum::<u64>(), 3);
}

#[test]
fn shards_are_disjoint_and_complete_and_keep_nothing() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    let mut seen = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let part = selected(&repo, &["HEAD~1", "--shard", shard]);
        assert!(!part.is_empty(), "{shard}");
        seen.extend(part);
    }
    seen.sort();
    assert_eq!(seen, TESTS);
    runs(&repo, &["--shard", "1/3", "HEAD~1"]);
    assert_eq!(selected(&repo, &["HEAD"]).len(), TESTS.len());
    assert!(owed(&repo).is_empty());
    let auto = repo
        .rts_command()
        .args(["select", "HEAD~1", "--shard", "auto"])
        .envs([
            ("GITLAB_CI", "true"),
            ("CI_NODE_INDEX", "2"),
            ("CI_NODE_TOTAL", "3"),
        ])
        .output()
        .unwrap();
    let auto = String::from_utf8(auto.stdout).unwrap();
    let second = selected(&repo, &["HEAD~1", "--shard", "2/3"]);
    assert_eq!(auto.lines().collect::<Vec<_>>(), second);
}

#[test]
fn techniques_of_the_paper_warn_and_owe_what_they_leave_out() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    let said = runs(&repo, &["--technique", "minimize", "HEAD~1"]);
    assert!(said.contains("warning: the technique 'minimize'"), "{said}");
    // One test crosses the one dangerous edge.
    assert!(said.contains("1 passed, 4 owed"), "{said}");
    let said = runs(&repo, &["--technique", "safe-random", "--limit", "40%"]);
    assert!(said.contains("2 passed, 2 owed"), "{said}");
    let said = runs(&repo, &["--technique", "random", "--limit", "100%"]);
    assert!(said.contains("5 passed"), "{said}");
    assert!(owed(&repo).is_empty());
    let said = runs(&repo, &["--technique", "lru", "--limit", "1"]);
    assert!(said.contains("1 passed, 4 skipped safely"), "{said}");
    let said = runs(&repo, &["--technique", "all"]);
    assert!(
        said.contains("5 passed") && !said.contains("warning"),
        "{said}"
    );
}

#[test]
fn a_fixture_goes_with_its_tests_or_not_at_all() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n\
             foreach(t up one two alone)\nadd_test(NAME ${t} COMMAND p ${t})\nendforeach()\n\
             set_tests_properties(up PROPERTIES FIXTURES_SETUP f)\n\
             set_tests_properties(one two PROPERTIES FIXTURES_REQUIRED f)\n",
        ),
        ("p.c", "int main(void)\n{\n    return 0;\n}\n"),
    ]);
    runs(&repo, &[]);
    repo.write(
        "p.c",
        "int main(void)\n{\n    int x = 0;\n    return x;\n}\n",
    );
    repo.commit_all();
    let dry = |arguments: &[&str]| -> BTreeSet<String> {
        let output = repo.rts(&[&["run", "--dry-run", "HEAD~1"], arguments].concat());
        assert!(output.status.success(), "{}", said(&output));
        let names = String::from_utf8(output.stdout).unwrap();
        names.lines().map(str::to_owned).collect()
    };
    for shard in ["1/2", "2/2"] {
        let part = dry(&["--shard", shard]);
        let expected = if part.contains("up") {
            set(&["up", "one", "two"])
        } else {
            set(&["alone"])
        };
        assert_eq!(part, expected);
    }
    for limit in ["1", "2", "3"] {
        let part = dry(&["--limit", limit]);
        let needs = part.contains("one") || part.contains("two");
        assert!(part.contains("up") || !needs, "{limit}: {part:?}");
    }
}

#[test]
fn wrong_wishes_are_refused_with_a_hint() {
    let repo = project();
    for (wrong, hint) in [
        (&["--order", "luck"][..], "history"),
        (&["--shard", "6/5"], "there are only 5"),
        (&["--shard", "auto"], "'--shard 2/5'"),
        (&["--budget", "40"], "--limit"),
        (&["--limit", "90s"], "--budget"),
        (&["--limit", "0"], "no room"),
        (&["--technique", "lru"], "--limit 25%"),
        (&["--shard", "1/2", "--limit", "1"], "could not be owed"),
    ] {
        let output = repo.rts(&[&["select"], wrong].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {said}");
        assert!(said.contains(hint), "{wrong:?}: {said}");
    }
    let both = repo.rts(&["run", "--all", "--limit", "2"]);
    assert_eq!(both.status.code(), Some(2), "{}", said(&both));
}

/// A branch whose upstream is the version that was recorded first.
fn branch(repo: &TestRepo) {
    repo.git(&["branch", "up"]);
    repo.git(&["branch", "--quiet", "--set-upstream-to", "up"]);
}

#[test]
fn debts_are_paid_on_a_branch_whose_base_stays_behind() {
    let repo = project();
    branch(&repo);
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    edit(&repo, "return f_d(argc - 2);", "return f_d(argc - 2) + 1;");
    // Who has run well on this tree is not owed again; who failed is. So everybody has run after a few turns.
    for turn in 1.. {
        let output = repo.rts(&["run", "--limit", "1"]);
        assert!(turn <= 8, "{}", said(&output));
        let left = owed(&repo);
        if left.is_empty() || left == set(&["d"]) {
            break;
        }
    }
    let about = repo.json(&["history", "show", "d", "--format", "json"]);
    assert_eq!(about["outcome"], "failed", "{about}");
}

#[test]
fn a_test_that_came_with_the_branch_is_selected_without_a_build() {
    let repo = project();
    let config = "[build]\ncommand = \"cc -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat names\"\nrun = \"./prog {test}\"\n";
    repo.write(".git-rts.toml", config);
    repo.write("names", "a\nb\n");
    repo.commit_all();
    runs(&repo, &[]);
    branch(&repo);
    repo.write("names", "a\nb\nextra\n");
    edit(
        &repo,
        "    return 9;",
        "    if (argv[1][0] == 'e')\n        return shared(0);\n    return 9;",
    );
    runs(&repo, &[]);
    let names = selected(&repo, &[]);
    assert!(names.contains(&"extra".to_owned()), "{names:?}");
}

#[test]
fn a_failure_is_not_forgotten_because_the_test_did_not_run_again() {
    let repo = project();
    let flag = repo.top().parent().unwrap().join("flag");
    let config = std::fs::read_to_string(repo.top().join(".git-rts.toml")).unwrap();
    let flaky = format!(
        "./prog {{test}} && test ! -e {} || test {{test}} != d",
        flag.display()
    );
    repo.write(".git-rts.toml", config.replace("./prog {test}", &flaky));
    repo.commit_all();
    runs(&repo, &[]);
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    std::fs::write(&flag, "").unwrap();
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    std::fs::remove_file(&flag).unwrap();
    repo.rts(&["run", "--technique", "lru", "--limit", "1"]);
    runs(&repo, &[]);
    let story = repo.rts(&["why", "d"]);
    let story = String::from_utf8(story.stdout).unwrap();
    assert!(story.contains("flaky"), "{story}");
}

#[test]
fn recording_one_test_otherwise_keeps_the_others_selected() {
    let repo = project();
    edit(&repo, "return x + 0;", "return x + 0 + 0;");
    runs(&repo, &["--limit", "1", "HEAD~1"]);
    let before = owed(&repo);
    assert_eq!(before.len(), 4);
    let paid = TESTS
        .into_iter()
        .find(|test| !before.contains(*test))
        .unwrap();
    let recorded = repo
        .rts_command()
        .args(["record", paid])
        .env("CFLAGS", "-O1")
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", said(&recorded));
    assert_eq!(owed(&repo), before);
    let here = repo
        .rts_command()
        .args(["select", "HEAD"])
        .env("CFLAGS", "-O1")
        .output()
        .unwrap();
    let here = String::from_utf8(here.stdout).unwrap();
    let here: BTreeSet<String> = here.lines().map(str::to_owned).collect();
    assert!(here.is_superset(&before), "{here:?}");
}

#[test]
fn what_a_test_waits_for_comes_along() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n\
             add_test(NAME writes COMMAND p w)\nadd_test(NAME reads COMMAND p r)\n\
             set_tests_properties(reads PROPERTIES DEPENDS writes)\n",
        ),
        (
            "p.c",
            "#include <stdio.h>\nint value(void)\n{\n    return 42;\n}\nint main(int argc, char **argv)\n{\n    int read = 0;\n\
             \x20   FILE *file = fopen(\"value\", argv[1]);\n    if (argv[1][0] == 'w')\n        return fprintf(file, \"%d\", value()) < 0;\n\
             \x20   return fscanf(file, \"%d\", &read) != 1 || read != 42;\n}\n",
        ),
    ]);
    runs(&repo, &[]);
    let text = std::fs::read_to_string(repo.top().join("p.c")).unwrap();
    repo.write("p.c", text.replace("return 42;", "return 43;"));
    repo.commit_all();
    // It must not pass with what an earlier version wrote.
    let said = said(&repo.rts(&["record", "reads"]));
    assert!(said.contains("1 failed"), "{said}");
    let drawn = |seed: u32| {
        let draw = ["--technique", "random", "--limit", "1", "--seed"];
        let seed = seed.to_string();
        let output = repo.rts(&[&["run", "--dry-run"], &draw[..], &[&seed]].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let draws: BTreeSet<String> = (0..12).map(drawn).collect();
    let both = |text: &String| text.contains("reads") && text.contains("writes");
    assert!(draws.iter().any(both), "{draws:?}");
    assert!(
        draws
            .iter()
            .all(|text| both(text) || !text.contains("reads")),
        "{draws:?}"
    );
}

#[test]
fn minimization_leaves_out_nobody_whom_no_edge_selects() {
    let repo = project();
    std::fs::remove_dir_all(repo.top().join(".git/rts/history")).unwrap();
    let said = runs(&repo, &["--technique", "minimize"]);
    assert!(said.contains("5 passed"), "{said}");
}

#[test]
fn how_long_a_test_took_in_another_environment_says_nothing() {
    let repo = TestRepo::new();
    let config = "[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"sh one.sh {test}\"\nenvironment = [\"SLOW\"]\n";
    repo.commit(&[
        (".git-rts.toml", config),
        ("one.sh", "test -z \"$SLOW\" || sleep 1\n"),
    ]);
    let run = |arguments: &[&str], slow: &str| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_git-rts"));
        let output = command.args(arguments).env("SLOW", slow).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    run(&["run"], "yes");
    let slow = run(&["run", "--all", "--dry-run"], "yes");
    assert!(slow.contains("about 1."), "{slow}");
    run(&["run"], "");
    let quick = run(&["run", "--all", "--dry-run"], "");
    assert!(quick.contains(" ms"), "{quick}");
}
