//! The lists for nextest, run by nextest: tests/run installs it.

use std::collections::BTreeSet;

use crate::{Workspace, names};

const LIB: &str = r#"pub fn one() -> i32 { 1 }
pub fn two() -> i32 { 2 }
/// ```
/// assert_eq!(every::one(), 1);
/// ```
pub mod shown {}
#[cfg(test)]
mod tests {
    #[test]
    fn one() { assert_eq!(super::one(), 1) }
    #[test]
    fn one_more() { assert_eq!(super::one() + 1, 2) }
    #[test]
    fn two() { assert_eq!(super::two(), 2) }
    #[test]
    #[ignore]
    fn slow() { assert_eq!(super::one(), 1) }
}
"#;

const MANIFEST: &str = r#"[workspace]
members = ["other"]
[package]
name = "every"
version = "1.2.3"
edition = "2021"
[[example]]
name = "shown"
test = true
[[test]]
name = "own"
harness = false
"#;

/// What nextest ran and what it said, given the words of the README.
fn by_nextest(workspace: &Workspace, expression: &str) -> (BTreeSet<String>, String) {
    let mut command = workspace.command("cargo");
    let words = ["nextest", "run", "--color=never", "--status-level=pass"];
    command.args(words).args(["--no-tests=pass", "--workspace"]);
    let output = command.args(["-E", expression.trim()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    // As in `PASS [   0.003s] (1/2) every tests::one`.
    let passed = said
        .lines()
        .filter_map(|line| line.trim().strip_prefix("PASS ["));
    let named = passed.filter_map(|line| Some(line.split_once(']')?.1.trim()));
    let named = named.map(|name| match name.starts_with('(') {
        true => name.split_once(')').map_or(name, |(_, name)| name.trim()),
        false => name,
    });
    (named.map(str::to_owned).collect(), said)
}

#[test]
fn nextest_runs_the_tests_that_are_selected_and_no_others() {
    let workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIB),
        (
            "tests/around.rs",
            "#[test]\nfn one() { assert_eq!(every::one(), 1) }\n#[test]\nfn two() { assert_eq!(every::two(), 2) }\n",
        ),
        (
            "tests/own.rs",
            "fn main() { assert_eq!(every::one(), 1) }\n",
        ),
        (
            "examples/shown.rs",
            "fn main() {}\n#[test]\nfn one() { assert_eq!(every::one(), 1) }\n",
        ),
        (
            "src/main.rs",
            "fn main() {}\n#[test]\nfn one() { assert_eq!(every::one(), 1) }\n#[test]\nfn none() {}\n",
        ),
        (
            "other/Cargo.toml",
            "[package]\nname = \"other\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[dependencies]\nevery = { path = \"..\" }\n",
        ),
        (
            "other/src/lib.rs",
            "#[test]\nfn one() { assert_eq!(every::one(), 1) }\n#[test]\nfn two() { assert_eq!(every::two(), 2) }\n",
        ),
    ]);
    let list = || workspace.rts(&["run", "HEAD", "--dry-run", "--format", "nextest"]);
    let (nothing, _) = list();
    assert_eq!(by_nextest(&workspace, &nothing).0, names(&[]), "{nothing}");
    workspace.change("src/lib.rs", "{ 1 }", "{ 2 - 1 }");
    let selected = workspace.would_run();
    let (expression, said) = list();
    let (ran, told) = by_nextest(&workspace, &expression);
    // These two nextest cannot run, and the words beside the list say so.
    let beyond = names(&["every --doc", "every::own"]);
    assert!(selected.is_superset(&beyond), "{selected:?}");
    assert_eq!(
        ran,
        selected.difference(&beyond).cloned().collect(),
        "{told}"
    );
    let expected = [
        "every tests::one",
        "every tests::one_more",
        "every::around one",
        "every::bin/every one",
        "every::example/shown one",
        "other one",
    ];
    assert_eq!(ran, names(&expected));
    assert!(said.contains("'cargo test --doc -p every', too"), "{said}");
    assert!(
        said.contains("'cargo test -p every --test own', too"),
        "{said}"
    );
}
