//! What a change of a workspace selects: each way in which it reaches a test, and nobody whom it does not reach.

use crate::{Workspace, names};

const FILES: [(&str, &str); 12] = [
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"base\", \"macros\", \"user\"]\nresolver = \"2\"\n",
    ),
    (".gitignore", "target\n"),
    (".cargo/config.toml", "[env]\nGREETING = \"hello\"\n"),
    (
        "base/Cargo.toml",
        "[package]\nname = \"base\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\ndefault = []\nloud = []\n",
    ),
    (
        "base/build.rs",
        r#"fn main() {
    println!("cargo:rerun-if-changed=kind.txt");
    let lines = std::fs::read_to_string("src/lib.rs").unwrap().matches("pub fn").count();
    println!("cargo:rustc-env=LINES={lines}");
    let kind = std::fs::read_to_string("kind.txt").unwrap();
    let hidden = std::fs::read_to_string("hidden.txt").unwrap();
    println!("cargo:rustc-env=KIND={}", kind.trim());
    println!("cargo:rustc-env=HIDDEN={}", hidden.trim());
}
"#,
    ),
    ("base/kind.txt", "round\n"),
    ("base/hidden.txt", "deep\n"),
    ("base/src/words.txt", "one\ntwo\n"),
    (
        "base/src/lib.rs",
        r#"pub const LIMIT: usize = 3;
pub fn twice(x: i32) -> i32 { x + x }
pub fn half(x: i32) -> i32 { x >> 1 }
pub fn first<T: Copy>(items: &[T]) -> Option<T> { items.iter().copied().next() }
pub fn words() -> usize { include_str!("words.txt").lines().count() }
pub fn kind() -> &'static str { env!("KIND") }
pub fn lines() -> &'static str { env!("LINES") }
pub fn hidden() -> &'static str { env!("HIDDEN") }
pub fn volume() -> i32 { if cfg!(feature = "loud") { 2 } else { 1 } }
#[derive(Clone, PartialEq)]
pub struct Pair { pub left: i32, pub right: i32 }
pub trait Shape { fn sides(&self) -> i32; }
pub struct Square;
impl Shape for Square { fn sides(&self) -> i32 { 4 } }
pub fn shape() -> Box<dyn Shape> { Box::new(Square) }
"#,
    ),
    (
        "macros/Cargo.toml",
        "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
    ),
    (
        "macros/src/lib.rs",
        "#[proc_macro]\npub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \"42\".parse().unwrap()\n}\n",
    ),
    ("user/data.txt", "data\n"),
];

const MANIFEST: &str = "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nbase = { path = \"../base\" }\nmacros = { path = \"../macros\" }\n";

const USER: &str = r#"#![cfg(test)]
#[test]
fn limit() { assert!(base::half(9) > base::LIMIT as i32) }
#[test]
fn twice() { assert!(base::twice(2) > 3) }
#[test]
fn half() { assert!(base::half(2) < 3) }
#[test]
fn first() { assert!(base::first(&[1, 2]).is_some()) }
#[test]
fn words() { assert!(base::words() > 1) }
#[test]
fn kind() { assert!(base::kind().len() > 2) }
#[test]
fn hidden() { assert!(base::hidden().len() > 2) }
#[test]
fn lines() { assert!(base::lines().len() < 3) }
#[test]
fn volume() { assert!(base::volume() > 0) }
#[test]
fn answer() { assert!(std::env::args().count() < macros::answer!()) }
#[test]
fn data() { assert!(std::fs::read("data.txt").is_ok()) }
#[test]
fn greeting() { assert!(std::env::var("GREETING").is_ok()) }
#[test]
fn pairs() { let pair = base::Pair { left: 1, right: 2 }; assert!(pair.clone() == pair) }
#[test]
fn shapes() { assert!(base::shape().sides() > 2) }
#[test]
fn plain() {}
"#;

fn workspace() -> Workspace {
    let more = [("user/Cargo.toml", MANIFEST), ("user/src/lib.rs", USER)];
    Workspace::recorded(&[&FILES[..], &more].concat())
}

/// A change: a file, what is replaced in it, and the tests that it selects, all of them in `user`.
type Change = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

#[track_caller]
fn select_exactly(workspace: &Workspace, changes: &[Change]) {
    for (path, from, to, tests) in changes {
        workspace.change(path, from, to);
        let tests = tests.iter().map(|test| format!("user {test}"));
        assert_eq!(workspace.would_run(), tests.collect(), "{path}: {from}");
        workspace.restore();
    }
}

#[test]
fn a_change_of_code_selects_who_executes_what_is_compiled_from_it() {
    let workspace = workspace();
    assert_eq!(workspace.would_run(), names(&[]));
    let base = "base/src/lib.rs";
    select_exactly(
        &workspace,
        &[
            (base, "x + x", "x * 2", &["twice"]),
            // A constant and a generic function are compiled into another crate.
            (base, "LIMIT: usize = 3", "LIMIT: usize = 4", &["limit"]),
            (base, "copied().next()", "copied().last()", &["first"]),
            // What is derived does not count, nor does what is called through a table.
            (base, "{ pub left: i32,", "{ pub left: i64,", &["pairs"]),
            (base, "-> i32 { 4 }", "-> i32 { 5 }", &["shapes"]),
            // A comment behind everything is nothing.
            (
                base,
                "Box::new(Square) }\n",
                "Box::new(Square) }\n// So.\n",
                &[],
            ),
            ("macros/src/lib.rs", "42", "43", &["answer"]),
            ("base/src/words.txt", "two", "three", &["words"]),
            ("base/kind.txt", "round", "square", &["kind"]),
            ("base/build.rs", "kind.trim()", "kind.len()", &["kind"]),
            // Of these the build script does not tell cargo.
            ("base/hidden.txt", "deep", "deeper", &["hidden"]),
            (
                base,
                "\n#[derive",
                " pub fn unused() {}\n#[derive",
                &["lines"],
            ),
            ("user/data.txt", "data", "other", &["data"]),
        ],
    );
    // Built in another folder, it is the same.
    let other = workspace
        .repo
        .top()
        .with_file_name("a folder with a longer name");
    let words = ["worktree", "add", "--quiet", "--detach"];
    workspace
        .repo
        .git(&[&words[..], &[other.to_str().unwrap()]].concat());
    let mut there = workspace.command(env!("CARGO_BIN_EXE_git-rts"));
    let there = there.current_dir(&other).args(["run", "HEAD", "--dry-run"]);
    let there = there.output().unwrap();
    assert!(
        there.status.success() && there.stdout.is_empty(),
        "{there:?}"
    );
    // Without a build nobody knows what becomes of Rust.
    workspace.change(base, "x + x", "x * 2");
    let (printed, said) = workspace.rts(&["select", "HEAD"]);
    assert_eq!(printed.lines().count(), 15, "{said}");
    assert!(said.contains("git rts run"), "{said}");
    // What was run is known, and what was skipped is known from before.
    let (_, said) = workspace.rts(&["run", "HEAD"]);
    assert!(said.contains("1 passed, 14 skipped safely"), "{said}");
    let (_, said) = workspace.rts(&["why", "user half", "HEAD"]);
    assert!(!said.contains("error"), "{said}");
    workspace.repo.commit_all();
    assert_eq!(workspace.would_run(), names(&[]));
    select_exactly(&workspace, &[(base, "x >> 1", "x / 2", &["half", "limit"])]);
}

#[test]
fn a_change_of_how_it_is_built_selects_whom_it_reaches() {
    let mut workspace = workspace();
    let all = |tests: &str| -> std::collections::BTreeSet<String> {
        tests
            .split(' ')
            .map(|test| format!("user {test}"))
            .collect()
    };
    let includes = |workspace: &Workspace, tests: &str| {
        let selected = workspace.would_run();
        assert!(selected.is_superset(&all(tests)), "{selected:?}");
    };
    // A new test is nothing to the others, though all begin with the same table.
    workspace.change(
        "user/src/lib.rs",
        "fn plain() {}\n",
        "fn plain() {}\n#[test]\nfn fresh() {}\n",
    );
    assert_eq!(workspace.would_run(), all("fresh"));
    workspace.restore();
    workspace.change(
        "user/src/lib.rs",
        "fn plain() {}",
        "#[should_panic]\nfn plain() {}",
    );
    assert_eq!(workspace.would_run(), all("plain"));
    workspace.restore();
    workspace.change("base/Cargo.toml", "default = []", "default = [\"loud\"]");
    includes(&workspace, "volume");
    workspace.restore();
    workspace.change(".cargo/config.toml", "hello", "good morning");
    includes(&workspace, "greeting");
    workspace.restore();
    workspace.repo.write(
        ".cargo/config.toml",
        "[env]\nGREETING = \"hello\"\n[build]\nrustflags = [\"-Copt-level=1\"]\n",
    );
    includes(&workspace, "twice half first pairs");
    workspace.restore();
    workspace.change("user/Cargo.toml", "0.1.0", "0.2.0");
    includes(&workspace, "plain");
    workspace.restore();
    // A file of locks that says the same.
    workspace.repo.write("Cargo.lock", {
        let text = std::fs::read_to_string(workspace.repo.top().join("Cargo.lock")).unwrap();
        format!("{text}# So.\n")
    });
    assert_eq!(workspace.would_run(), names(&[]));
    workspace.restore();
    workspace.variables.push(("RUSTFLAGS", "-Copt-level=1"));
    let (_, said) = workspace.rts(&["run", "HEAD", "--dry-run"]);
    assert!(said.contains("variable RUSTFLAGS was unset"), "{said}");
}

#[test]
fn a_lock_that_names_another_version_selects_who_executes_it() {
    let version = |number: &str, first: &str| {
        let manifest =
            format!("[package]\nname = \"parts\"\nversion = \"{number}\"\nedition = \"2021\"\n");
        let code = format!("pub fn first() -> i32 {{ {first} }}\npub fn second() -> i32 {{ 2 }}\n");
        [
            (format!("vendor/parts-{number}/Cargo.toml"), manifest),
            (format!("vendor/parts-{number}/src/lib.rs"), code),
            (
                format!("vendor/parts-{number}/.cargo-checksum.json"),
                "{\"files\":{},\"package\":null}\n".to_owned(),
            ),
        ]
    };
    let (old, new) = (version("1.0.0", "1"), version("1.1.0", "1 + 10"));
    let vendored = old.iter().chain(&new);
    let mut files: Vec<(&str, &str)> = vendored
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    files.extend([
        (".cargo/config.toml", "[source.crates-io]\nreplace-with = \"ours\"\n[source.ours]\ndirectory = \"vendor\"\n"),
        (".gitignore", "target\n"),
        ("Cargo.toml", "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nparts = \"1\"\n[workspace]\nmembers = [\"parts\"]\n"),
        // Another package of the name that a dependency has.
        ("parts/Cargo.toml", "[package]\nname = \"parts\"\nversion = \"2.0.0\"\nedition = \"2021\"\n"),
        ("parts/src/lib.rs", "/// ```\n/// assert_eq!(parts::own(), 1);\n/// ```\npub fn own() -> i32 { 1 }\n"),
        ("src/lib.rs", "#[test]\nfn first() { assert!(parts::first() > 0) }\n#[test]\nfn second() { assert!(parts::second() > 0) }\n#[test]\nfn plain() {}\n"),
    ]);
    let workspace = Workspace::recorded(&files);
    let (printed, _) = workspace.rts(&["history", "show"]);
    assert!(printed.contains("parts --doc"), "{printed}");
    // The newest was taken at first.
    workspace.change("Cargo.lock", "1.1.0", "1.0.0");
    let selected = workspace.would_run();
    assert!(selected.contains("user first"), "{selected:?}");
    workspace.rts(&["run", "HEAD"]);
    workspace.repo.commit_all();
    assert_eq!(workspace.would_run(), names(&[]));
    workspace.change("Cargo.lock", "1.0.0", "1.1.0");
    assert!(workspace.would_run().contains("user first"));
}

#[test]
fn a_toolchain_that_the_project_names_is_another_environment() {
    use std::os::unix::fs::PermissionsExt;
    let mut workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2021\"\n",
        ),
        (".gitignore", "target\n"),
        ("rust-toolchain.toml", "# The default.\n"),
        ("src/lib.rs", "#[test]\nfn one() {}\n"),
    ]);
    workspace.change("rust-toolchain.toml", "default", "default again");
    assert_eq!(workspace.would_run(), names(&[]));
    // As rustup does: the file decides which compiler answers.
    let bin = workspace.repo.top().with_file_name("bin");
    std::fs::create_dir(&bin).unwrap();
    let rustc = bin.join("rustc");
    let path = std::env::var("PATH").unwrap();
    std::fs::write(
        &rustc,
        format!(
            "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in *--version*) grep -q other rust-toolchain.toml && exec echo 'rustc 9.9.9 (other)';; esac\nexec rustc \"$@\"\n"
        ),
    )
    .unwrap();
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).unwrap();
    workspace.path = Some(format!("{}:{path}", bin.display()));
    workspace.change("rust-toolchain.toml", "default", "other");
    let (printed, said) = workspace.rts(&["run", "HEAD", "--dry-run"]);
    assert_eq!(printed, "p one\n", "{said}");
    assert!(said.contains("9.9.9"), "{said}");
}
