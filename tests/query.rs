//! Questions about a history: what a change would cost, what no test reaches, what nothing mentions; through the binary.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::collections::BTreeSet;
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use test_repo::TestRepo;

const MAIN: &str = r#"#include "incl.h"
int main(int argc, char **argv)
{
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'd': return dagprint(argc);
    case 'e': return exprint(argc);
    case 'l': return levprint(argc);
    }
    return 0;
}
"#;

const INCL: &str = r#"#include "incl.h"
#include "limit.h"
static int deep = DEPTH;
static int lost(int x)
{
    return lost(x - 1);
}
int dagprint(int x)
{
    if (x > 5)
        return N_LEVPRINT;
    return stprint(x);
}
int exprint(int x)
{
    return x > DEPTH;
}
int levprint(int x)
{
    return stprint(x) + (deep > 9);
}
int stprint(int x)
{
    return x < 0;
}
int t_delete(int x)
{
    return t_free(x) + LIMIT;
}
int t_free(int x)
{
    return x;
}
int named_by_the_build(void)
{
    return 0;
}
#ifdef NEVER
int elsewhere(void)
{
    return 1;
}
#endif
"#;

const HEADER: &str = "#ifndef INCL_H\n#define INCL_H\n#define N_LEVPRINT 4\n#define DEPTH 9\n\
    int dagprint(int x);\nint exprint(int x);\nint levprint(int x);\nint stprint(int x);\n#endif\n";

const CONFIG: &str = "[build]\ncommand = \"cc -Wno-implicit-function-declaration -o incl main.c incl.c\"\n\
    [tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' dag exp lev none\"\nrun = \"./incl {test}\"\n";

fn project() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&[
        (".git-rts.toml", CONFIG),
        ("main.c", MAIN),
        ("incl.c", INCL),
        ("incl.h", HEADER),
        ("symbols.map", "{ global: named_by_the_build; };\n"),
        ("ChangeLog", "t_delete is new\n"),
        ("limit.h", "#define LIMIT 7\n"),
    ]);
    let output = repo.rts(&["run"]);
    assert!(output.status.success(), "{}", said(&output));
    repo
}

/// A project that nobody changes.
fn shared() -> &'static TestRepo {
    static PROJECT: OnceLock<TestRepo> = OnceLock::new();
    PROJECT.get_or_init(project)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn lines(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let output = repo.rts(arguments);
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn strings(value: &Value) -> BTreeSet<&str> {
    let all = value.as_array().unwrap().iter();
    all.map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn a_change_of_a_function_would_select_those_who_enter_it() {
    let found = lines(shared(), &["impact", "function *print file=incl.c"]);
    assert_eq!(
        found,
        [
            "function;incl.c;dagprint;dag",
            "function;incl.c;exprint;exp",
            "function;incl.c;levprint;lev",
            "function;incl.c;stprint;dag",
            "function;incl.c;stprint;lev",
        ]
    );
}

#[test]
fn a_change_of_a_macro_would_select_those_who_reach_its_uses() {
    let all = ["impact", "macro N_LEVPRINT", "macro DEPTH"];
    let found = lines(shared(), &all);
    // Nobody gets to the one; the other is also the initial value of a variable.
    assert_eq!(found, ["macro;incl.h;DEPTH;exp", "macro;incl.h;DEPTH;lev"]);
    let document = shared().json(&[&all[..], &["--format", "json"]].concat());
    assert_eq!(strings(&document["tests"]), BTreeSet::from(["exp", "lev"]));
    assert_eq!(document["entities"].as_array().unwrap().len(), 2);
    assert_eq!(document["known_tests"], 4);
}

#[test]
fn what_would_be_selected_is_selected_once_it_changes() {
    let repo = project();
    for (pattern, from, to) in [
        ("function stprint", "return x < 0;", "return x < 0 + 0;"),
        (
            "variable deep",
            "static int deep",
            "static volatile int deep",
        ),
    ] {
        let supposed = lines(&repo, &["impact", "--tests", pattern]);
        repo.write("incl.c", INCL.replace(from, to));
        let mut selected = lines(&repo, &["select"]);
        selected.sort();
        assert_eq!(supposed, selected, "{pattern}");
        repo.write("incl.c", INCL);
    }
    let supposed = lines(&repo, &["impact", "--tests", "macro", "DEPTH"]);
    repo.write("incl.h", HEADER.replace("DEPTH 9", "DEPTH 8"));
    let mut selected = lines(&repo, &["select"]);
    selected.sort();
    assert_eq!(supposed, selected);
}

#[test]
fn a_file_stands_for_all_that_is_in_it() {
    for word in ["file incl.c", "incl.c"] {
        let found = lines(shared(), &["impact", "--tests", word]);
        assert_eq!(found, ["dag", "exp", "lev"], "{word}");
        assert_eq!(lines(shared(), &["coverage", word]).len(), 5, "{word}");
        assert_eq!(lines(shared(), &["dead", word]).len(), 4, "{word}");
    }
    assert!(lines(shared(), &["dead", "limit.h"]).is_empty());
    let none = shared().rts(&["impact", "file ChangeLog"]);
    assert!(none.status.success() && none.stdout.is_empty());
    assert!(
        said(&none).contains("1 of them reached by no test"),
        "{}",
        said(&none)
    );
}

#[test]
fn without_a_history_or_a_match_there_is_a_hint() {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", "int f(void) { return 1; }\n")]);
    for arguments in [&["impact", "f"][..], &["coverage"]] {
        let output = repo.rts(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("error: there is no history yet\nhint: 'git rts run'"),
            "{}",
            said(&output)
        );
    }
    for verb in [
        &["impact"][..],
        &["coverage"],
        &["coverage", "--format", "lcov"],
        &["dead"],
    ] {
        let output = shared().rts(&[verb, &["function *prnt"]].concat());
        assert_eq!(output.status.code(), Some(1), "{verb:?}");
        assert!(output.stdout.is_empty(), "{verb:?}");
        assert!(
            said(&output).contains("matches 'function *prnt'"),
            "{}",
            said(&output)
        );
    }
    let output = shared().rts(&["impact", "function dagprint", "function *prnt"]);
    assert!(output.status.success(), "{}", said(&output));
    let warning = "warning: nothing in ";
    assert!(said(&output).contains(warning), "{}", said(&output));
    let output = shared().rts(&["impact", "function a b c"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn verbs_that_read_c_say_so_where_there_is_none() {
    let repo = TestRepo::new();
    let settings = "[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"true {test}\"\n";
    repo.commit(&[(".git-rts.toml", settings), ("lib.rs", "pub fn mul() {}\n")]);
    let recorded = repo.rts(&["run"]);
    assert!(recorded.status.success(), "{}", said(&recorded));
    for arguments in [
        &["coverage"][..],
        &["survey"],
        &["dead"],
        &["graph", "mul"],
        &["impact", "mul"],
    ] {
        let output = repo.rts(arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("this verb reads C only"), "{said}");
        assert!(said.contains("hint:"), "{said}");
    }
}

#[test]
fn what_no_test_reaches_is_named_by_file_and_line() {
    let found = lines(shared(), &["coverage"]);
    assert_eq!(
        found,
        [
            "incl.c:4: function lost",
            "incl.c:11: edge in dagprint: 'x > 5' -T-> 'return N_LEVPRINT;'",
            "incl.c:26: function t_delete",
            "incl.c:30: function t_free",
            "incl.c:34: function named_by_the_build",
            "incl.h:3: macro N_LEVPRINT",
            "limit.h:1: macro LIMIT",
            "main.c:4: edge in main: 'argc > 1' -F-> '0'",
        ]
    );
    let functions = lines(shared(), &["coverage", "function -"]);
    assert_eq!(functions.len(), 4);
    let edges = lines(shared(), &["coverage", "edge dag*"]);
    assert_eq!(edges.len(), 1);
}

#[test]
fn the_current_change_comes_first() {
    let repo = project();
    let text = INCL.replace("return N_LEVPRINT;", "return N_LEVPRINT + 1;");
    let text = text.replace("return x < 0;", "return x < 0 + 0;");
    repo.write(
        "incl.c",
        format!("{text}int fresh(void)\n{{\n    return 0;\n}}\n"),
    );
    let output = repo.rts(&["coverage"]);
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        printed.starts_with("change: incl.c:11: edge in dagprint: 'x > 5' -T->"),
        "{printed}"
    );
    let words = said(&output);
    assert!(
        words.contains("this change has 2 dangerous edges, 1 is crossed by no test"),
        "{words}"
    );
    assert!(
        words.contains("no test has run on 1 new function yet"),
        "{words}"
    );
    let output = repo.rts(&["run"]);
    assert!(output.status.success(), "{}", said(&output));
    let found = lines(&repo, &["coverage", "--change"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("change: incl.c:") && found[1].ends_with("function fresh"));
    let document = repo.json(&["coverage", "--change", "--format", "json"]);
    assert_eq!(document["change"]["dangerous_edges"], 2);
    assert_eq!(document["change"]["unreached"].as_array().unwrap().len(), 2);
}

#[test]
fn lcov_reads_the_tracefile() {
    let output = shared().rts(&["coverage", "--format", "lcov"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "SF:incl.c",
        "FN:8,dagprint",
        "FNDA:1,dagprint",
        "FNDA:2,stprint",
        "FNDA:0,t_free",
        "DA:11,0",
        "DA:12,1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(!text.contains("elsewhere"), "{text}");
    let file = shared().top().join(".git/coverage.info");
    std::fs::write(&file, text).unwrap();
    let run = Command::new("lcov")
        .arg("--summary")
        .arg(&file)
        .args(["--rc", "lcov_branch_coverage=1"])
        .current_dir(shared().top())
        .output()
        .unwrap();
    let printed = format!("{}{}", String::from_utf8_lossy(&run.stdout), said(&run));
    assert!(run.status.success(), "{printed}");
    assert!(printed.contains("(5 of 9 functions)"), "{printed}");
}

#[test]
fn dead_is_what_nothing_alive_mentions() {
    let found = lines(shared(), &["dead"]);
    assert_eq!(
        found,
        [
            "incl.c:4: function lost",
            "incl.c:26: function t_delete",
            "incl.c:30: function t_free",
            "incl.c:39: function elsewhere"
        ]
    );
    let all = lines(shared(), &["dead", "macro", "--exported"]);
    assert_eq!(all, ["limit.h:1: macro LIMIT"]);
    let document = shared().json(&["dead", "--format", "json", "function t_*"]);
    let dead = document["dead"].as_array().unwrap();
    assert_eq!(dead[0]["because"], "nothing mentions it");
    assert_eq!(dead[1]["because"], "only what is dead mentions it");
}
