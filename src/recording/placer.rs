//! From what a compiler names to what the tree has: files by their paths in the copy, functions by name and place.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::digest::Name;
use crate::lang::c::{Granularity, file_facts};
use crate::lang::facts::{Entity, FileFacts, Kind};
use crate::program::Program;
use crate::repo::RepoPath;
use crate::trace::FunctionId;

/// The source files of a version, as compilers and traces know them.
pub struct Placer {
    tree: PathBuf,
    program: Program,
    files: Mutex<FxHashMap<RepoPath, Option<Arc<PlacedFile>>>>,
    defined: Mutex<FxHashMap<String, bool>>,
}

/// A file of the tree with its facts.
#[derive(Debug)]
pub(super) struct PlacedFile {
    pub(super) path: RepoPath,
    pub(super) bytes: Vec<u8>,
    facts: FileFacts,
}

impl PlacedFile {
    /// The functions that are defined in the file.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Entity> {
        let entities = self.facts.entities.iter();
        entities.filter(|entity| entity.kind == Kind::Function && entity.body.is_some())
    }

    pub(super) fn id_of(&self, function: &Entity) -> FunctionId {
        FunctionId {
            file: self.path.clone(),
            name: function.name.clone(),
            graph: function.graph(),
        }
    }
}

impl Placer {
    /// Over a copy of the tree whose sources are known.
    #[must_use]
    pub fn new(tree: &Path, program: Program) -> Self {
        Placer {
            tree: tree.to_owned(),
            program,
            files: Mutex::default(),
            defined: Mutex::default(),
        }
    }

    /// The place in the tree of a path that a compiler was given; none for what the build made and for system headers.
    pub(super) fn path(&self, path: &Path) -> Option<RepoPath> {
        let path = without_dots(path);
        let relative = path.strip_prefix(&self.tree).ok()?;
        Some(RepoPath::new(relative.as_os_str().as_encoded_bytes()))
    }

    /// A source file by its path in the tree; none if it is not read as C.
    pub(super) fn file(&self, path: &RepoPath) -> Option<Arc<PlacedFile>> {
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return known.clone();
        }
        let placed = self.read(path).map(Arc::new);
        lock().entry(path.clone()).or_insert(placed).clone()
    }

    /// Whether the tree defines a function of this name.
    pub(super) fn defines(&self, name: &str) -> bool {
        let lock = || self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(name) {
            return *known;
        }
        let hash = Name::of(name.as_bytes());
        let mut files = self.program.files.iter();
        let defined = files.any(|file| {
            file.lex.names.contains(hash)
                && self
                    .file(&file.path)
                    .is_some_and(|file| file.functions().any(|function| function.name == name))
        });
        lock().insert(name.to_owned(), defined);
        defined
    }

    fn read(&self, path: &RepoPath) -> Option<PlacedFile> {
        self.program.find(path)?;
        // Not through the cache, which another process may need while tests run.
        let bytes = std::fs::read(path.under(&self.tree)).ok()?;
        let facts = file_facts(&bytes, &self.program.macros, Granularity::Expression);
        Some(PlacedFile {
            path: path.clone(),
            bytes,
            facts,
        })
    }
}

/// The path without `.` and `..`, as far as names alone can tell.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(
            without_dots(Path::new("/a/b/../c/./d.c")),
            Path::new("/a/c/d.c")
        );
    }
}
