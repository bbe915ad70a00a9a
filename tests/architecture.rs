//! The house rules that a machine can check: each foreign crate has one keeper, files say what they are for.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where each dependency may be named.
const KEEPERS: [(&str, &[&str]); 26] = [
    ("anstream", &["src/commands", "src/main.rs"]),
    ("anstyle", &["src/commands", "src/emit", "src/main.rs"]),
    ("cargo_metadata", &["src/runner/cargo"]),
    ("clap", &["src/commands", "src/main.rs"]),
    ("clap_complete", &["src/commands/completions.rs"]),
    ("clap_mangen", &["src/commands/man_pages.rs"]),
    ("cpp_demangle", &["src/objects"]),
    ("flate2", &["src/coverage/llvm"]),
    ("git2", &["src/repo"]),
    ("globset", &["src/config"]),
    ("libc", &["src/runner/follow"]),
    ("md5", &["src/coverage/llvm"]),
    // Two rooms read ELF files: one for maps of counters, the other for code.
    ("object", &["src/coverage/llvm", "src/objects"]),
    ("petgraph", &["src/program"]),
    ("postcard", &["src/history", "src/masquerade"]),
    ("rustc-demangle", &["src/objects"]),
    ("rustc-hash", &["src"]),
    ("rustix", &["src/runner"]),
    ("serde", &["src"]),
    (
        "serde_json",
        &[
            "src/commands",
            "src/emit",
            "src/history/ledger.rs",
            "src/runner",
        ],
    ),
    ("signal-hook", &["src/runner/interrupt.rs"]),
    ("sled", &["src/history"]),
    ("toml", &["src/config"]),
    ("tree-sitter", &["src/lang"]),
    ("tree-sitter-c", &["src/lang"]),
    ("git-rts", &["src/main.rs"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    sources(&top.join("src"), &mut found);
    assert!(found.len() > 20, "the sources were not found");
    found
        .into_iter()
        .map(|path| {
            let name = path
                .strip_prefix(top)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn dependencies() -> Vec<String> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let package = &metadata.packages[0];
    let normal = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == cargo_metadata::DependencyKind::Normal);
    normal.map(|dependency| dependency.name.clone()).collect()
}

#[test]
fn every_foreign_crate_has_a_keeper() {
    let keepers: BTreeMap<&str, &[&str]> = KEEPERS.into_iter().collect();
    for dependency in dependencies() {
        assert!(
            keepers.contains_key(dependency.as_str()),
            "'{dependency}' has no keeper"
        );
    }
}

#[test]
fn no_room_uses_a_crate_that_another_keeps() {
    for (file, text) in all_sources() {
        for (name, rooms) in KEEPERS {
            let name = name.replace('-', "_");
            let used = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .any(|line| {
                    line.contains(&format!("{name}::")) && !line.contains(&format!("_{name}::"))
                });
            let allowed = rooms.iter().any(|room| file.starts_with(room));
            assert!(!used || allowed, "{file} uses {name}");
        }
    }
}

#[test]
fn one_small_file_may_be_unsafe() {
    for (file, text) in all_sources() {
        let allows = text.contains("unsafe_code");
        let is_kernel = file == "src/runner/follow/kernel.rs";
        assert_eq!(allows, is_kernel, "{file}");
        let blocks = text.matches("unsafe {").count();
        let reasons = text.matches("// SAFETY: ").count();
        assert!(blocks <= reasons, "{file} does not say why it is safe");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (file, text) in all_sources() {
        assert!(
            text.starts_with("//! "),
            "{file} does not begin with its purpose"
        );
    }
}

#[test]
fn the_pure_rooms_are_pure() {
    for (file, text) in all_sources().iter().filter(|(file, _)| {
        [
            "compare", "order", "select/", "simulate", "trace", "witness",
        ]
        .iter()
        .any(|room| file.starts_with(&format!("src/{room}")))
    }) {
        for forbidden in [
            "std::fs",
            "std::process",
            "std::time",
            "std::env",
            "std::thread",
        ] {
            assert!(!text.contains(forbidden), "{file} uses {forbidden}");
        }
    }
}
