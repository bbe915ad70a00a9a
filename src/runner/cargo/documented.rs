//! What is remembered of libraries' documentation: to say whether it holds tests, rustdoc may have to compile all of them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::Site;
use crate::digest::Digest;

/// In the build's own folder: what is built from nothing is asked from nothing.
const FILE: &str = "documented.json";

/// For each library the state of the tree in which its documentation held no tests; nothing, if it was seen to hold some.
pub(super) struct Memory {
    file: PathBuf,
    now: u64,
    known: BTreeMap<String, Option<u64>>,
}

impl Memory {
    /// What is remembered at a site, given what rustc says of itself.
    pub(super) fn of(site: &Site, rustc: &str) -> Self {
        let file = site.build.join(FILE);
        let mut now = Digest::new();
        now.absorb_bytes(rustc.as_bytes());
        absorb(&mut now, &site.tree);
        absorb_settings(&mut now, &site.tree);
        let read = fs::read(&file).ok();
        let known = read.and_then(|text| serde_json::from_slice(&text).ok());
        Memory {
            file,
            now: now.finish(),
            known: known.unwrap_or_default(),
        }
    }

    /// Whether a library's documentation holds tests. One that held some is taken to hold some still: there is nothing in a test too
    /// many. One that held none may hold some as soon as anything is different.
    pub(super) fn holds_tests(&self, library: &str) -> Option<bool> {
        match self.known.get(library)? {
            None => Some(true),
            Some(then) => (*then == self.now).then_some(false),
        }
    }

    pub(super) fn note(&mut self, library: String, holds_tests: bool) {
        let then = (!holds_tests).then_some(self.now);
        self.known.insert(library, then);
    }

    pub(super) fn keep(&self) {
        // What is not kept is asked again.
        if let Ok(text) = serde_json::to_vec(&self.known) {
            let _ = fs::write(&self.file, text);
        }
    }
}

/// What cargo and rustdoc are told besides: by variables, and by settings above the tree and of the user.
fn absorb_settings(digest: &mut Digest, tree: &Path) {
    let is_of_rust = |name: &OsStr| {
        let name = name.as_bytes();
        name.starts_with(b"CARGO") || name.starts_with(b"RUST")
    };
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    variables.retain(|(name, _)| is_of_rust(name));
    variables.sort();
    for (name, value) in variables {
        digest.absorb_bytes(name.as_bytes());
        digest.absorb_bytes(value.as_bytes());
    }
    let of_user = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let of_user = of_user.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let above = tree.ancestors().map(|folder| folder.join(".cargo"));
    for folder in above.chain(of_user) {
        for name in ["config", "config.toml"] {
            digest.absorb_bytes(&fs::read(folder.join(name)).unwrap_or_default());
        }
    }
}

/// Whatever is in a folder, by its name, its mode and when it was last changed.
fn absorb(digest: &mut Digest, folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        digest.absorb_bytes(path.as_os_str().as_bytes());
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        digest.absorb(u64::from(metadata.mode()));
        if metadata.is_dir() {
            absorb(digest, &path);
        } else {
            digest.absorb(metadata.len());
            digest.absorb(metadata.mtime() as u64);
            digest.absorb(metadata.mtime_nsec() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unchanged_tree_is_known_to_have_no_tests() {
        let room = tempfile::tempdir().expect("there is room");
        let site = Site {
            tree: room.path().join("tree"),
            build: room.path().join("build"),
            environment: Vec::new(),
            jobs: 1,
        };
        fs::create_dir_all(site.tree.join("src")).expect("there is room");
        fs::create_dir_all(&site.build).expect("there is room");
        let source = site.tree.join("src/lib.rs");
        fs::write(&source, "").expect("there is room");
        let asked = |rustc: &str| {
            let memory = Memory::of(&site, rustc);
            ["one", "two", "new"].map(|library| memory.holds_tests(library))
        };
        let mut memory = Memory::of(&site, "1.0");
        memory.note("one".to_owned(), true);
        memory.note("two".to_owned(), false);
        memory.keep();
        assert_eq!(asked("1.0"), [Some(true), Some(false), None]);
        assert_eq!(asked("1.1"), [Some(true), None, None]);
        fs::write(&source, "/// More.").expect("there is room");
        assert_eq!(asked("1.0"), [Some(true), None, None]);
        fs::write(site.build.join(FILE), "{").expect("there is room");
        assert_eq!(asked("1.0"), [None; 3]);
    }
}
