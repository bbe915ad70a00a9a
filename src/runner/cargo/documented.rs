//! What is remembered of libraries' documentation: to say whether it holds tests, rustdoc may have to compile all of them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::Site;
use super::told;
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
        absorb_sources(&mut now, &site.build, &site.tree);
        now.absorb(told::settings(site.tree.ancestors()).unwrap_or_default());
        told::absorb_variables(&mut now);
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

/// What rustc says it read, with variables: of what is below a build folder, and of what is outside of the tree.
fn absorb_sources(digest: &mut Digest, build: &Path, tree: &Path) {
    for path in entries(build) {
        if path.is_dir() && !path.is_symlink() {
            absorb_sources(digest, &path, tree);
        } else if path.extension().is_some_and(|ending| ending == "d") {
            let list = fs::read(&path).unwrap_or_default();
            digest.absorb_bytes(&list);
            for source in sources(&list).map(|source| tree.join(source)) {
                // What is in the tree is known, unless a link leads from there.
                if !source.starts_with(tree) {
                    absorb_looks(digest, fs::metadata(&source));
                }
            }
        }
    }
}

/// The sources in a list for make, which has a line of its own for each, with nothing behind the colon.
fn sources(list: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = list.split(|byte| *byte == b'\n');
    let names = lines.filter_map(|line| line.strip_suffix(b":"));
    names.map(|name| {
        let name = String::from_utf8_lossy(name).replace("\\ ", " ");
        PathBuf::from(name)
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn absorb_looks(digest: &mut Digest, looks: std::io::Result<fs::Metadata>) {
    let Ok(metadata) = looks else {
        return digest.absorb(0);
    };
    digest.absorb(u64::from(metadata.mode()));
    if !metadata.is_dir() {
        digest.absorb(metadata.len());
        digest.absorb(metadata.mtime() as u64);
        digest.absorb(metadata.mtime_nsec() as u64);
    }
}

/// Whatever is in a folder, by its name, its mode and when it was last changed; of links also where they lead.
fn absorb(digest: &mut Digest, folder: &Path) {
    for path in entries(folder) {
        digest.absorb_bytes(path.as_os_str().as_bytes());
        absorb_looks(digest, fs::symlink_metadata(&path));
        if path.is_symlink() {
            absorb_looks(digest, fs::metadata(&path));
        } else if path.is_dir() {
            absorb(digest, &path);
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
        // What rustc reads may lie outside.
        let outside = room.path().join("out side.md");
        fs::write(&outside, "").expect("there is room");
        let list = format!("x: src/lib.rs\n\nsrc/lib.rs:\n{}:\n", outside.display());
        let list = list.replace("out side", "out\\ side");
        fs::create_dir_all(site.build.join("debug/deps")).expect("there is room");
        fs::write(site.build.join("debug/deps/x.d"), list).expect("there is room");
        std::os::unix::fs::symlink(&outside, site.tree.join("linked")).expect("there is room");
        let keep = || {
            let mut memory = Memory::of(&site, "1.0");
            memory.note("two".to_owned(), false);
            memory.keep();
        };
        keep();
        assert_eq!(asked("1.0"), [Some(true), Some(false), None]);
        fs::write(&outside, "more").expect("there is room");
        assert_eq!(asked("1.0"), [Some(true), None, None]);
        fs::remove_file(site.tree.join("linked")).expect("it is there");
        keep();
        fs::write(&outside, "and more").expect("there is room");
        assert_eq!(asked("1.0"), [Some(true), None, None]);
        keep();
        fs::write(&source, "/// More.").expect("there is room");
        assert_eq!(asked("1.0"), [Some(true), None, None]);
        fs::write(site.build.join(FILE), "{").expect("there is room");
        assert_eq!(asked("1.0"), [None; 3]);
    }
}
