//! A file that comes or goes has everything built anew that is made of the tree, and nothing that comes from elsewhere.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Workspace, names};

/// Writes down what it finds, and never clears what it wrote before.
const SCRIPT: &str = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR").unwrap());
    for word in std::fs::read_dir("words").unwrap() {
        std::fs::write(out.join(word.unwrap().file_name()), "").unwrap();
    }
    let words = std::fs::read_dir(&out).unwrap().count();
    std::fs::write(out.with_file_name("count"), words.to_string()).unwrap();
}
"#;

/// Where a library was made, and when.
fn made(workspace: &Workspace, name: &str) -> Vec<(PathBuf, SystemTime)> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut found = Vec::new();
    below(&workspace.repo.top().join(".git/rts/build"), &mut found);
    found.retain(|path| {
        let file = path.file_name().unwrap().to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    });
    let time = |path: PathBuf| {
        let time = path.metadata().unwrap().modified().unwrap();
        (path, time)
    };
    found.into_iter().map(time).collect()
}

#[test]
fn what_is_not_made_of_the_tree_is_not_made_again() {
    let room = tempfile::tempdir().unwrap();
    let other = room.path().join("other");
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    std::fs::create_dir_all(other.join("src")).unwrap();
    let text = format!("{}[workspace]\n", manifest("other"));
    std::fs::write(other.join("Cargo.toml"), text).unwrap();
    std::fs::write(
        other.join("src/lib.rs"),
        "pub fn version() -> &'static str { env!(\"CARGO_PKG_VERSION\") }\n",
    )
    .unwrap();
    let dependency = format!("[dependencies]\nother = {{ path = {other:?} }}\n");
    let own = format!("{}{dependency}", manifest("own"));
    let workspace = Workspace::recorded(&[
        ("Cargo.toml", &own),
        (".gitignore", "target\n"),
        ("build.rs", SCRIPT),
        ("words/one", ""),
        ("words/two", ""),
        (
            "src/lib.rs",
            "pub fn words() -> u32 { include!(concat!(env!(\"OUT_DIR\"), \"/../count\")) }\n#[test]\nfn of_words() { assert!(words() > 1) }\n#[test]\nfn of_others() { assert_eq!(other::version(), \"0.1.0\") }\n",
        ),
        ("tests/gone.rs", "#[test]\nfn goes() {}\n"),
    ]);
    let before = made(&workspace, "other");
    assert!(!before.is_empty());
    let own = made(&workspace, "own");
    // A new file, a test that is gone, and a word that is only counted by a build from nothing.
    workspace
        .repo
        .write("src/more.rs", "#[test]\nfn new() {}\n");
    workspace.change("src/lib.rs", "\"0.1.0\") }", "\"0.1.0\") }\nmod more;");
    std::fs::remove_file(workspace.repo.top().join("tests/gone.rs")).unwrap();
    std::fs::remove_file(workspace.repo.top().join("words/two")).unwrap();
    workspace.repo.commit_all();
    let (printed, _) = workspace.rts(&["run", "HEAD~1", "--dry-run"]);
    let selected = printed.lines().map(str::to_owned).collect();
    assert_eq!(names(&["own more::new", "own of_words"]), selected);
    let failing = workspace
        .command(env!("CARGO_BIN_EXE_git-rts"))
        .args(["run", "HEAD~1"])
        .output()
        .unwrap();
    // One word is left, as where nothing was built before.
    assert_eq!(failing.status.code(), Some(100), "{failing:?}");
    assert_eq!(made(&workspace, "other"), before);
    assert_ne!(made(&workspace, "own"), own);
    // Variables reach everything.
    workspace
        .repo
        .write(".cargo/config.toml", "[env]\nX = \"1\"\n");
    workspace.rts(&["run", "HEAD", "--dry-run"]);
    assert_ne!(made(&workspace, "other"), before);
}

#[test]
fn what_rustc_kept_may_be_damaged() {
    let workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (".gitignore", "target\n"),
        (
            "src/lib.rs",
            "mod kept;\npub fn one() -> i32 { 1 }\n#[test]\nfn of_one() { assert!(one() > 0) }\n#[test]\nfn of_kept() { assert!(kept::two() > 1) }\n",
        ),
        ("src/kept.rs", "pub fn two() -> i32 { 2 }\n"),
        (
            "tests/user.rs",
            "#[test]\nfn of_two() { assert!(own::one() > 0) }\n",
        ),
    ]);
    let incremental = "build/main/out/debug/incremental";
    let kept = workspace.repo.top().join(".git/rts").join(incremental);
    let mut damaged = 0;
    let sessions = std::fs::read_dir(&kept).unwrap().flat_map(|one| {
        let folder = one.unwrap().path();
        std::fs::read_dir(folder).unwrap()
    });
    for session in sessions.map(|session| session.unwrap().path()) {
        for file in std::fs::read_dir(&session).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "o") {
                std::fs::write(file, "").unwrap();
                damaged += 1;
            }
        }
    }
    assert!(damaged > 0);
    workspace.change("src/lib.rs", "{ 1 }", "{ 3 }");
    let (printed, said) = workspace.rts(&["run", "HEAD"]);
    assert!(said.contains("passed"), "{printed}{said}");
    // A mistake of ours stays one.
    workspace.change("src/lib.rs", "{ 3 }", "{ gone() }");
    let failing = workspace
        .command(env!("CARGO_BIN_EXE_git-rts"))
        .args(["run", "HEAD"])
        .output()
        .unwrap();
    assert_eq!(failing.status.code(), Some(101), "{failing:?}");
}

#[test]
fn documentation_that_compiles_leaves_nothing_to_be_built_again() {
    let workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"base\", \"user\"]\nresolver = \"2\"\n",
        ),
        (".gitignore", "target\n"),
        (
            "base/Cargo.toml",
            "[package]\nname = \"base\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("base/src/lib.rs", "pub fn one() -> i32 { 1 }\n"),
        (
            "user/Cargo.toml",
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nbase = { path = \"../base\" }\n",
        ),
        (
            "user/src/lib.rs",
            "/// ```\n/// assert!(user::two() > base::one());\n/// ```\npub fn two() -> i32 { base::one() + 1 }\n",
        ),
    ]);
    let before = made(&workspace, "base");
    assert!(!before.is_empty());
    workspace.change("user/src/lib.rs", "base::one() + 1", "base::one() + 2");
    let (printed, _) = workspace.rts(&["run", "HEAD"]);
    assert!(printed.is_empty(), "{printed}");
    assert_eq!(made(&workspace, "base"), before);
    // Who had no tests in its documentation is asked again.
    workspace.change(
        "base/src/lib.rs",
        "pub fn",
        "/// ```\n/// assert!(base::one() > 0);\n/// ```\npub fn",
    );
    let new = names(&["base --doc"]);
    assert!(workspace.would_run().is_superset(&new));
    assert!(workspace.would_run().is_superset(&new));
}

#[test]
fn documentation_that_loads_a_macro_is_selected_by_what_the_macro_is_made_of() {
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"words\", \"macros\", \"user\", \"other\"]\nresolver = \"2\"\n",
        ),
        (".gitignore", "target\n"),
        ("words/Cargo.toml", &package("words", "")),
        (
            "words/src/lib.rs",
            "pub fn answer() -> String { let parts = [4, 2]; parts.iter().map(i32::to_string).collect() }\n",
        ),
        (
            "macros/Cargo.toml",
            &package(
                "macros",
                "[lib]\nproc-macro = true\n[dependencies]\nwords = { path = \"../words\" }\n",
            ),
        ),
        (
            "macros/src/lib.rs",
            "#[proc_macro]\npub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream { words::answer().parse().unwrap() }\n",
        ),
        (
            "user/Cargo.toml",
            &package(
                "user",
                "[dependencies]\nmacros = { path = \"../macros\" }\n",
            ),
        ),
        (
            "user/src/lib.rs",
            "pub use macros::answer;\n/// ```\n/// assert_eq!(user::answer!(), 42);\n/// ```\npub fn documented() {}\n",
        ),
        ("other/Cargo.toml", &package("other", "")),
        (
            "other/src/lib.rs",
            "pub fn one() -> i32 { 1 }\n#[test]\nfn own() { assert!(one() > 0) }\n",
        ),
    ]);
    assert!(workspace.would_run().is_empty());
    workspace.change("other/src/lib.rs", "{ 1 }", "{ 2 }");
    assert_eq!(workspace.would_run(), names(&["other own"]));
    workspace.restore();
    // Everything of the tree is made again, and the same comes out.
    workspace.repo.write("README", "");
    assert!(workspace.would_run().is_empty());
    workspace.restore();
    workspace.change("words/src/lib.rs", "[4, 2]", "[4, 3]");
    assert_eq!(workspace.would_run(), names(&["user --doc"]));
}
