//! The tests of a workspace: every one by itself, named as nextest names them, in the surroundings that cargo gives them.

use crate::{Workspace, names};

const MANIFEST: &str = r#"[package]
name = "every"
version = "1.2.3"
edition = "2021"
[[example]]
name = "shown"
test = true
[[test]]
name = "own"
harness = false
[[bench]]
name = "timed"
test = true
"#;

const LIB: &str = r#"//! ```
//! assert_eq!(every::one(), 1);
//! ```
pub fn one() -> i32 { 1 }
#[cfg(test)]
mod tests {
    #[test]
    fn unit() { assert_eq!(super::one(), 1) }
    #[test]
    #[ignore]
    fn slow() { panic!() }
    #[test]
    #[should_panic(expected = "zero")]
    fn panics() { panic!("zero") }
}
"#;

const SURROUNDINGS: &str = r#"#[test]
fn surroundings() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(std::env::var_os("CARGO_MANIFEST_DIR").unwrap(), here);
    assert_eq!(std::env::var("CARGO_PKG_VERSION").unwrap(), "1.2.3");
    assert_eq!(std::env::var("SAID").unwrap(), "by the script");
    let made = std::env::var_os("OUT_DIR").unwrap();
    assert_eq!(std::fs::read(std::path::Path::new(&made).join("made")).unwrap(), b"made");
    assert!(std::fs::metadata("Cargo.toml").is_ok());
}
#[test]
fn program() {
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_every")).output().unwrap();
    assert_eq!(said.stdout, b"1\n");
}
#[test]
fn forgotten() {
    // A program that nobody tells where to count.
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_every"));
    assert!(program.env_clear().status().unwrap().success());
}
"#;

fn workspace() -> Workspace {
    Workspace::recorded(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIB),
        (
            "src/main.rs",
            "fn main() { println!(\"{}\", every::one()) }\n#[test]\nfn of_program() {}\n",
        ),
        (
            "build.rs",
            "fn main() {\n    println!(\"cargo:rustc-env=SAID=by the script\");\n    let made = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(std::path::Path::new(&made).join(\"made\"), \"made\").unwrap();\n}\n",
        ),
        ("tests/around.rs", SURROUNDINGS),
        (
            "tests/own.rs",
            "fn main() { assert_eq!(every::one(), 1) }\n",
        ),
        (
            "examples/shown.rs",
            "fn main() {}\n#[test]\nfn of_example() {}\n",
        ),
        ("benches/timed.rs", "#[test]\nfn of_bench() {}\n"),
    ])
}

#[test]
fn every_test_of_a_package_is_listed_and_recorded() {
    let workspace = workspace();
    let (printed, said) = workspace.rts(&["record", "-v"]);
    let told = format!("{printed}{said}");
    let went = |word: &str| -> std::collections::BTreeSet<String> {
        let lines = told.lines().filter_map(|line| line.strip_prefix(word));
        let names = lines.filter_map(|line| Some(line.trim().rsplit_once(" (")?.0.to_owned()));
        names.collect()
    };
    let passed = [
        "every tests::unit",
        "every tests::panics",
        "every::bin/every of_program",
        "every::around surroundings",
        "every::around program",
        "every::around forgotten",
        "every::own",
        "every::example/shown of_example",
        "every::bench/timed of_bench",
        "every --doc",
    ];
    assert_eq!(went("PASS "), names(&passed), "{told}");
    assert_eq!(went("SKIP "), names(&["every tests::slow"]), "{told}");
    // Who runs a program without its environment is noticed. Documentation runs none of the programs that cargo asks about.
    workspace
        .repo
        .git(&["commit", "--quiet", "--allow-empty", "-m", "same"]);
    assert_eq!(workspace.would_run(), names(&["every::around forgotten"]));
    // A program that a test starts counts for the test; documentation is compiled from the library.
    workspace.change("src/lib.rs", "{ 1 }", "{ 2 - 1 }");
    let selected = workspace.would_run();
    for name in [
        "every tests::unit",
        "every::around program",
        "every::own",
        "every --doc",
    ] {
        assert!(selected.contains(name), "{name}: {selected:?}");
    }
    for name in [
        "every tests::panics",
        "every::around surroundings",
        "every::bin/every of_program",
    ] {
        assert!(!selected.contains(name), "{name}: {selected:?}");
    }
}

#[test]
fn targets_that_are_chosen_are_the_only_ones() {
    let workspace = workspace();
    let choose = |words: &str| workspace.repo.git(&["config", "rts.configure", words]);
    let library = [
        "every tests::unit",
        "every tests::panics",
        "every tests::slow",
    ];
    choose("--lib");
    assert_eq!(workspace.would_run(), names(&library));
    workspace.rts(&["run"]);
    workspace.change("src/lib.rs", "{ 1 }", "{ 2 - 1 }");
    assert_eq!(workspace.would_run(), names(&["every tests::unit"]));
    choose("--bin=every --test 'around'");
    let others = [
        "every::bin/every of_program",
        "every::around surroundings",
        "every::around program",
        "every::around forgotten",
    ];
    assert_eq!(workspace.would_run(), names(&others));
    // Options of the tests choose none.
    choose("-- --test");
    assert!(workspace.would_run().contains("every --doc"));
}

#[test]
fn the_affected_tests_are_lists_for_cargo_and_nextest() {
    let workspace = workspace();
    workspace.change("src/lib.rs", "{ 1 }", "{ 2 - 1 }");
    let (printed, _) = workspace.rts(&["run", "HEAD", "--dry-run", "--format", "cargo-test"]);
    let lines: std::collections::BTreeSet<&str> = printed.lines().collect();
    assert!(
        lines.contains("-p every --lib -- --exact tests::unit"),
        "{printed}"
    );
    assert!(lines.contains("-p every --test own"), "{printed}");
    assert!(lines.contains("-p every --doc"), "{printed}");
    let (printed, said) = workspace.rts(&["run", "HEAD", "--dry-run", "--format", "nextest"]);
    assert!(
        printed.contains("binary_id(=every) & test(=tests::unit)"),
        "{printed}"
    );
    assert!(printed.contains("binary_id(=every::own)"), "{printed}");
    assert!(
        !printed.contains("doc") && said.contains("cargo test --doc"),
        "{printed}{said}"
    );
}

#[test]
fn the_line_of_the_readme_makes_every_call_and_tells_of_failures() {
    let readme = include_str!("../../README.md").lines();
    let mut lines = readme.filter(|line| line.contains("--format cargo-test)"));
    let line = lines.next().unwrap();
    // The first reads what is behind the list, if it can.
    let reads = "use std::io::Read;\n#[test]\nfn reads() {\n    let mut text = String::new();\n    std::io::stdin().read_to_string(&mut text).unwrap();\n    assert_eq!(s::f(), s::f());\n}\n";
    let mut workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"s\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub fn f() -> i32 { 1 }\n"),
        ("tests/a.rs", reads),
        (
            "tests/b.rs",
            "#[test]\nfn notices() { assert_eq!(s::f(), 1) }\n",
        ),
        (
            "tests/c.rs",
            "#[test]\nfn passes() { assert_ne!(s::f(), 7) }\n",
        ),
    ]);
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_git-rts"));
    let path = std::env::var("PATH").unwrap();
    workspace.path = Some(format!("{}:{path}", own.parent().unwrap().display()));
    let run = || {
        let output = workspace.command("sh").args(["-c", line]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    assert_eq!(run(), (true, String::new()), "{line}");
    workspace.change("src/lib.rs", "{ 1 }", "{ 2 }");
    let (is_success, said) = run();
    assert!(!is_success, "{said}");
    for test in ["reads ... ok", "notices ... FAILED", "passes ... ok"] {
        assert!(said.contains(test), "{test}: {said}");
    }
    workspace.change("src/lib.rs", "{ 2 }", "{ ! }");
    assert!(!run().0, "what cannot be built is no empty list");
}
