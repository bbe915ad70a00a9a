//! The binary as its users meet it: exit codes, messages, strange repositories and strange sources.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Output;

use serde_json::Value;

use test_repo::{TestRepo, edges};

const BASE: &str = "int f(int x) {\n  if (x)\n    return 1;\n  return 2;\n}\n";
const HEAD: &str = "int f(int x) {\n  if (x)\n    return 3;\n  return 2;\n}\n";
const DANGER: &str = "f: x -T-> return 1;";

/// With a change of one edge between HEAD~ and HEAD.
fn changed_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", BASE)]);
    repo.commit(&[("a.c", HEAD)]);
    repo
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn fails(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    assert_eq!(stdout(output), "");
    assert!(stderr(output).contains("error: "), "{}", stderr(output));
    for word in words {
        assert!(
            stderr(output).contains(word),
            "'{word}' in {}",
            stderr(output)
        );
    }
}

/// Exactly the one edge of [`changed_repo`] is in danger.
#[track_caller]
fn finds_the_danger(document: &Value) {
    assert_eq!(
        edges(document).into_iter().collect::<Vec<_>>(),
        [DANGER],
        "{document:#}"
    );
}

// Exit codes and messages

#[test]
fn settings_reach_no_test_by_themselves() {
    let repo = changed_repo();
    repo.commit(&[(".git-rts.toml", "# Nothing.\n"), ("data.txt", "")]);
    let output = repo.rts(&["diff", "HEAD~", "HEAD"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let line = |of: &str| {
        told.split(of)
            .nth(1)
            .and_then(|behind| behind.lines().nth(1))
    };
    assert!(
        line(".git-rts.toml")
            .unwrap()
            .ends_with("settings of git rts"),
        "{told}"
    );
    assert!(
        line("data.txt").unwrap().ends_with("may reach every test"),
        "{told}"
    );
}

#[test]
fn success_is_code_0_with_data_on_stdout() {
    let output = changed_repo().rts(&["diff", "HEAD~", "HEAD"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("return 1;"));
    let output = changed_repo().rts(&["diff", "HEAD~", "HEAD", "--format", "ttdiff"]);
    assert_eq!(stdout(&output), "function;a.c;f\n");
}

#[test]
fn outside_a_repository_is_code_128() {
    for arguments in [&["diff"][..], &["graph", "f"], &["survey"]] {
        fails(
            &TestRepo::empty_folder().rts(arguments),
            128,
            &["repository", "hint: "],
        );
    }
}

#[test]
fn an_unknown_revision_is_code_128() {
    fails(
        &changed_repo().rts(&["diff", "no-such-branch"]),
        128,
        &["'no-such-branch'", "hint: "],
    );
}

#[test]
fn wrong_usage_is_code_2() {
    for arguments in [
        &["diff", "--format", "xml"][..],
        &["no-such-verb"],
        &["graph"],
        &["diff", "--no-such-option"],
        &[],
    ] {
        let output = changed_repo().rts(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn an_unknown_function_is_code_1_with_a_hint() {
    fails(
        &changed_repo().rts(&["graph", "nobody", "HEAD~", "HEAD"]),
        1,
        &["'nobody'", "hint: "],
    );
}

#[test]
fn a_function_in_two_files_must_be_told_apart() {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", BASE), ("b.c", BASE)]);
    repo.commit(&[("a.c", HEAD), ("b.c", BASE)]);
    fails(
        &repo.rts(&["graph", "f", "HEAD~", "HEAD"]),
        1,
        &["'f'", "2 files", "hint: ", ":f'"],
    );
    let output = repo.rts(&["graph", "a.c:f", "HEAD~", "HEAD"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_bad_configuration_is_an_error_with_a_hint() {
    let repo = changed_repo();
    for text in ["[files]\nsuorces = []\n", "[files\n", "files = 3\n"] {
        repo.write(".git-rts.toml", text);
        fails(
            &repo.rts(&["diff", "HEAD~", "HEAD"]),
            1,
            &["'.git-rts.toml'", "hint: "],
        );
    }
    repo.write(".git-rts.toml", "[files]\nsources = [\"[\"]\n");
    fails(&repo.rts(&["diff", "HEAD~", "HEAD"]), 1, &["'['"]);
}

#[test]
fn help_mentions_every_verb_and_the_exit_codes() {
    let output = changed_repo().rts(&["-h"]);
    assert_eq!(output.status.code(), Some(0));
    for word in ["diff", "graph", "survey", "Exit codes"] {
        assert!(stdout(&output).contains(word), "{word}");
    }
}

#[test]
fn colours_are_for_terminals_and_who_asks_for_them() {
    const ESCAPE: &str = "\u{1b}[";
    let repo = changed_repo();
    let plain = repo.rts(&["diff", "HEAD~", "HEAD"]);
    assert!(!stdout(&plain).contains(ESCAPE));
    let coloured = repo.rts(&["--color", "always", "diff", "HEAD~", "HEAD"]);
    assert!(stdout(&coloured).contains(ESCAPE));
    let never = repo.rts(&["--color", "never", "diff", "HEAD~", "HEAD"]);
    assert_eq!(stdout(&never), stdout(&plain));
    let without = repo
        .rts_command()
        .env("NO_COLOR", "1")
        .args(["diff", "HEAD~", "HEAD"])
        .output()
        .unwrap();
    assert_eq!(stdout(&without), stdout(&plain));
    let refused = repo
        .rts_command()
        .env("NO_COLOR", "1")
        .args(["diff", "nowhere"])
        .output()
        .unwrap();
    assert!(!stderr(&refused).contains(ESCAPE));
    let red = repo.rts(&["--color", "always", "diff", "nowhere"]);
    assert!(stderr(&red).contains(ESCAPE));
}

// Repositories

#[test]
fn a_path_that_is_no_text_is_still_compared() {
    let repo = TestRepo::new();
    let name = OsStr::from_bytes(b"caf\xe9.c");
    repo.write(name, BASE);
    repo.commit_all();
    repo.write(name, HEAD);
    repo.commit_all();
    finds_the_danger(&repo.diff_json("HEAD~", "HEAD"));
    assert!(repo.rts(&["diff", "HEAD~", "HEAD"]).status.success());
}

#[test]
fn a_binary_source_stops_nobody() {
    let repo = TestRepo::new();
    let bytes: Vec<u8> = (0..=255u8).cycle().take(100_000).collect();
    repo.write("a.c", BASE);
    repo.write("b.c", &bytes);
    repo.commit_all();
    repo.write("a.c", HEAD);
    repo.write("b.c", [b"\0\0\0", &bytes[..]].concat());
    repo.commit_all();
    let document = repo.diff_json("HEAD~", "HEAD");
    assert!(edges(&document).contains(DANGER), "{document:#}");
}

#[test]
fn an_empty_repository_has_nothing_to_compare_with() {
    let repo = TestRepo::new();
    let output = repo.rts(&["diff", "HEAD"]);
    fails(&output, 128, &[]);
    let output = repo.rts(&["survey"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_bare_repository_compares_commits() {
    let repo = changed_repo();
    repo.git(&["clone", "--quiet", "--bare", ".", "bare.git"]);
    let output = repo
        .rts_command()
        .current_dir(repo.top().join("bare.git"))
        .args(["diff", "HEAD~", "HEAD", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn the_working_tree_counts_with_staged_unstaged_and_untracked_files() {
    let staged = BASE.replace("f(", "staged(");
    let unstaged = BASE.replace("f(", "unstaged(");
    let user =
        "int fresh(int);\nint user(int x) {\n  if (x)\n    return fresh(x);\n  return 2;\n}\n";
    let repo = TestRepo::new();
    repo.commit(&[
        ("s.c", &staged),
        ("u.c", &unstaged),
        ("v.c", user),
        ("w.c", BASE),
    ]);
    repo.write("s.c", staged.replace("return 1", "return 3"));
    repo.git(&["add", "s.c"]);
    repo.write("u.c", unstaged.replace("return 2", "return 4"));
    repo.write("new.c", "int fresh(int x) { return x; }\n");
    let document = repo.json(&["diff", "HEAD", "--format", "json"]);
    assert_eq!(
        edges(&document).into_iter().collect::<Vec<_>>(),
        [
            "staged: x -T-> return 1;",
            "unstaged: x -F-> return 2;",
            "user: x -T-> return fresh(x);",
        ]
    );
    assert_eq!(document["head"], "working tree");
    // Looking leaves the index and the tree as they were.
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "M  s.c\n M u.c\n?? new.c"
    );
}

// Strange sources

/// A change in the last function of a file is found whatever stands before it, and nobody crashes.
#[track_caller]
fn survives(strange: &str) {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", &format!("{strange}{BASE}"))]);
    repo.commit(&[("a.c", &format!("{strange}{HEAD}"))]);
    finds_the_danger(&repo.diff_json("HEAD~", "HEAD"));
    // The strange part itself changes.
    repo.commit(&[("a.c", &format!("{}{HEAD}", strange.replace("7;", "8;")))]);
    let document = repo.diff_json("HEAD~", "HEAD");
    let found = edges(&document);
    assert!(
        !found.is_empty() && found.iter().all(|edge| edge.starts_with("deep: ")),
        "{found:?}"
    );
    assert!(repo.rts(&["survey", "HEAD"]).status.success());
}

fn braces(levels: usize) -> String {
    format!(
        "int deep(int x) {{ {} x = 7; {} return x; }}\n",
        "{".repeat(levels),
        "}".repeat(levels)
    )
}

fn parentheses(levels: usize) -> String {
    format!(
        "int deep(int x) {{ return {} x {} + 7; }}\n",
        "(".repeat(levels),
        ")".repeat(levels)
    )
}

fn else_ifs(levels: usize) -> String {
    let links: String = (0..levels)
        .map(|at| format!("if (x == {at}) x++; else "))
        .collect();
    format!("int deep(int x) {{ {links} x = 7; return x; }}\n")
}

fn ifs(levels: usize) -> String {
    format!(
        "int deep(int x) {{ {} x = 7; return x; }}\n",
        "if (x) ".repeat(levels)
    )
}

fn ands(levels: usize) -> String {
    format!(
        "int deep(int x) {{ if (x {}) x = 7; return x; }}\n",
        "&& x ".repeat(levels)
    )
}

fn choices(levels: usize) -> String {
    format!(
        "int deep(int x) {{ return {} 7; }}\n",
        "x ? 1 : ".repeat(levels)
    )
}

fn conditionals(levels: usize) -> String {
    format!(
        "int deep(int x) {{\n{} x = 7;\n{} return x; }}\n",
        "#if A\n".repeat(levels),
        "#endif\n".repeat(levels)
    )
}

const SHAPES: [fn(usize) -> String; 6] = [braces, parentheses, else_ifs, ifs, ands, choices];

#[test]
fn nesting_of_64_levels_is_understood() {
    for shape in SHAPES
        .into_iter()
        .chain([conditionals as fn(usize) -> String])
    {
        let text = shape(64);
        survives(&text);
        let repo = TestRepo::new();
        repo.commit(&[("a.c", &text)]);
        let survey = repo.json(&["survey", "HEAD", "--format", "json"]);
        assert!(!survey.to_string().contains("nested"), "{survey:#}");
    }
}

#[test]
fn nesting_of_20_000_levels_crashes_nobody() {
    for shape in SHAPES {
        survives(&shape(20_000));
    }
}

#[test]
fn nesting_of_1_000_conditionals_stops_nobody() {
    survives(&conditionals(1_000));
}

#[test]
fn a_line_of_5_megabytes_stops_nobody() {
    let numbers = "12, ".repeat(5 << 18);
    let statements = "x += 1; ".repeat(1_000);
    survives(&format!(
        "static int table[] = {{ {numbers} }}; int deep(int x) {{ {statements} x = 7; return x; }} "
    ));
}

#[test]
fn unbalanced_sources_stop_nobody() {
    for strange in [
        "}}}\n",
        "int broken( {\n}\n",
        "#if A\n",
        "\"unterminated\n",
        "/* unterminated ",
        "#define\n",
        "#include\n",
        "'",
    ] {
        let repo = TestRepo::new();
        repo.commit(&[("a.c", BASE), ("b.c", strange)]);
        repo.commit(&[("a.c", HEAD), ("b.c", &format!("{strange}{strange}"))]);
        let document = repo.diff_json("HEAD~", "HEAD");
        assert!(edges(&document).contains(DANGER), "{strange}: {document:#}");
    }
}

// Pictures

/// Tags pair, attributes are quoted, nothing is left bare that XML wants escaped.
#[track_caller]
fn is_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        assert_references(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->").expect("a comment ends") + 3..];
            continue;
        }
        let end = tag_end(rest);
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('?') || tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim()), "{tag}");
        } else {
            assert_references(tag);
            let name = tag.split([' ', '\n', '/']).next().unwrap();
            assert!(
                name.chars().all(|letter| letter.is_ascii_alphanumeric()),
                "{tag}"
            );
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(rest.trim().is_empty() && open.is_empty(), "{open:?} {rest}");
}

/// The closing bracket of a tag, outside its quotes.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (Some(_), '<') => panic!("a bare < in an attribute: {text}"),
            _ => {}
        }
    }
    panic!("a tag does not end: {text}");
}

fn assert_references(text: &str) {
    for (at, _) in text.match_indices('&') {
        let name = text[at + 1..].split(';').next().unwrap();
        let known = ["amp", "lt", "gt", "quot", "apos"].contains(&name)
            || name
                .strip_prefix('#')
                .is_some_and(|digits| !digits.is_empty());
        assert!(known, "a bare & in {text}");
    }
    assert!(
        !text
            .chars()
            .any(|letter| letter.is_control() && !"\n\t\r".contains(letter)),
        "a control character in {text:?}"
    );
}

#[test]
fn a_graph_is_a_well_formed_picture() {
    let odd = "int f(int x, char *s) {\n  if (x < 3 && s[0] != '\"')\n    return \"<&>\\\"\u{1}\u{e9}\"[x];\n  switch (x) { case 1: return 1; default: x++; }\n  while (x-- > 0) s++;\n  return 2;\n}\n";
    let repo = TestRepo::new();
    repo.commit(&[("a.c", odd)]);
    repo.commit(&[("a.c", &odd.replace("return 1", "return 3"))]);
    let output = repo.rts(&["graph", "f", "HEAD~", "HEAD"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let svg = stdout(&output);
    assert!(svg.contains("<svg"));
    is_well_formed(svg);
    assert!(
        repo.rts(&["graph", "f", "HEAD~", "HEAD", "-o", "f.svg"])
            .status
            .success()
    );
    assert_eq!(fs::read_to_string(repo.top().join("f.svg")).unwrap(), svg);
}

#[test]
fn a_graph_can_be_text_for_graphviz() {
    let output = changed_repo().rts(&["graph", "f", "HEAD~", "HEAD", "--format", "dot"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let dot = stdout(&output);
    assert!(dot.starts_with("digraph"), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{dot}");
    assert!(
        dot.contains("return 1;") && dot.contains("return 3;"),
        "{dot}"
    );
}

// The cache

/// The files below a folder, in order.
fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_cache_never_changes_the_answer() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [Damage; 5] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| vec![0xff; bytes.len()],
        |bytes| vec![0; bytes.len()],
        |bytes| {
            let mut bytes = bytes.to_vec();
            for at in (0..bytes.len()).step_by(97) {
                bytes[at] ^= 0x55;
            }
            bytes
        },
    ];
    let mut warned = 0;
    for damage in damages {
        let repo = changed_repo();
        finds_the_danger(&repo.diff_json("HEAD~", "HEAD"));
        let files = files_below(&repo.top().join(".git/rts/facts"));
        assert!(!files.is_empty());
        for file in files {
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, damage(&bytes)).unwrap();
        }
        let output = repo.rts(&["diff", "HEAD~", "HEAD", "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        warned += usize::from(stderr(&output).contains("warning: "));
        finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
        finds_the_danger(&repo.diff_json("HEAD~", "HEAD"));
    }
    assert!(warned > 0, "no damage was reported");
}

#[test]
fn a_damaged_file_of_the_cache_never_changes_the_answer() {
    let count = {
        let repo = changed_repo();
        repo.diff_json("HEAD~", "HEAD");
        files_below(&repo.top().join(".git/rts/facts")).len()
    };
    for index in 0..count {
        let repo = changed_repo();
        repo.diff_json("HEAD~", "HEAD");
        let files = files_below(&repo.top().join(".git/rts/facts"));
        let Some(file) = files.get(index) else {
            continue;
        };
        fs::write(file, b"nonsense").unwrap();
        let output = repo.rts(&["diff", "HEAD~", "HEAD", "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn many_processes_at_once_all_succeed() {
    let repo = changed_repo();
    let running: Vec<_> = (0..8)
        .map(|_| {
            repo.rts_command()
                .args(["diff", "HEAD~", "HEAD", "--format", "json"])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn without_a_place_for_the_cache_the_answer_is_the_same_with_a_warning() {
    // A file where the folder should be: the same for every user, root too.
    let repo = changed_repo();
    repo.write(".git/rts", "in the way");
    let output = repo.rts(&["diff", "HEAD~", "HEAD", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: "), "{}", stderr(&output));
    finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn a_file_in_place_of_the_facts_stops_nobody() {
    let repo = changed_repo();
    repo.write(".git/rts/facts", "in the way");
    let output = repo.rts(&["diff", "HEAD~", "HEAD", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    finds_the_danger(&serde_json::from_slice(&output.stdout).unwrap());
}
