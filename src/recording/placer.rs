//! From what a compiler names to what the tree has: files by their paths in the copy, functions by name and place.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::copies::{self, Made, Origin};
use super::uncounted;
use crate::digest::Name;
use crate::lang::c::{Granularity, file_facts};
use crate::lang::facts::{Entity, FileFacts, Kind};
use crate::program::Program;
use crate::repo::RepoPath;
use crate::trace::FunctionId;
use crate::trace::text::{LineStarts, Text};

/// The source files of a version, as compilers and traces know them.
pub struct Placer {
    tree: PathBuf,
    /// The tree without symbolic links on the way to it.
    real_tree: PathBuf,
    /// The work tree of which the tree is a copy: builds may know it by its own path.
    original: Option<PathBuf>,
    program: Program,
    /// All files of the repository, sources or not.
    tracked: BTreeSet<RepoPath>,
    /// Read before tests run, which are watched for what they open.
    texts: FxHashMap<RepoPath, Arc<[u8]>>,
    files: Mutex<FxHashMap<RepoPath, Option<Arc<PlacedFile>>>>,
    places: Mutex<FxHashMap<PathBuf, Place>>,
    lengths: OnceLock<FxHashMap<u64, Vec<RepoPath>>>,
    defined: Mutex<FxHashMap<String, Arc<[FunctionId]>>>,
}

/// What a path that a compiler was given is to the tree.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// A source file of the tree, or a copy of just that one.
    File(Arc<PlacedFile>),
    /// The build made it, or it is a system's header.
    Made(Arc<Made>),
}

/// A file of the tree with its facts.
#[derive(Debug)]
pub(super) struct PlacedFile {
    pub(super) path: RepoPath,
    pub(super) bytes: Arc<[u8]>,
    lines: LineStarts,
    facts: FileFacts,
}

impl PlacedFile {
    pub(super) fn text(&self) -> Text<'_> {
        Text::new(&self.bytes, &self.lines)
    }

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
        let texts = program.files.iter().filter_map(|file| {
            let bytes = std::fs::read(file.path.under(tree)).ok()?;
            Some((file.path.clone(), bytes.into()))
        });
        Placer {
            texts: texts.collect(),
            tree: tree.to_owned(),
            real_tree: tree.canonicalize().unwrap_or_else(|_| tree.to_owned()),
            original: None,
            program,
            tracked: BTreeSet::new(),
            files: Mutex::default(),
            places: Mutex::default(),
            lengths: OnceLock::new(),
            defined: Mutex::default(),
        }
    }

    /// Tells also which files are not made by the build, and where they were copied from.
    #[must_use]
    pub fn knowing(mut self, tracked: BTreeSet<RepoPath>, original: Option<PathBuf>) -> Self {
        self.tracked = tracked;
        self.original = original;
        self
    }

    /// Whether a path in the copy is a file of the repository.
    pub(super) fn is_tracked(&self, path: &Path) -> bool {
        let relative = path.strip_prefix(&self.tree);
        relative.is_ok_and(|path| {
            let path = RepoPath::new(path.as_os_str().as_encoded_bytes());
            self.tracked.contains(&path)
        })
    }

    /// Whether a path is in the tree or beside it, where projects are built, and not there to try out a compiler.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        let mut workshops = self.workshops();
        !self.is_trial(path) && workshops.any(|top| path.starts_with(top))
    }

    /// Whether a build system made a file to try out a compiler.
    pub(super) fn is_trial(&self, path: &Path) -> bool {
        uncounted::is_trial(path, self.workshops())
    }

    /// The folder of the workshop, as it is called and as it is.
    fn workshops(&self) -> impl Iterator<Item = &Path> {
        [&self.tree, &self.real_tree]
            .into_iter()
            .filter_map(|tree| tree.parent())
    }

    /// Whether a source is the one by which Meson sees whether a compiler works: what is executed of it is nothing of the project.
    pub(super) fn is_check_of_meson(&self, source: &Path) -> bool {
        let folder = source.parent().and_then(Path::file_name);
        let name = source.file_name().unwrap_or_default().as_encoded_bytes();
        folder.is_some_and(|folder| folder == uncounted::MESON_PRIVATE)
            && name.starts_with(b"sanitycheck")
            && !self.is_tracked(source)
    }

    /// The place of a path that a compiler was given.
    pub(super) fn place(&self, path: &Path) -> Place {
        let lock = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return known.clone();
        }
        let place = match self.in_tree(path) {
            Some(file) => Place::File(file),
            None => match copies::origin(self, path) {
                Origin::Same(file) => Place::File(file),
                Origin::Made(made) => Place::Made(Arc::new(made)),
            },
        };
        lock().entry(path.to_owned()).or_insert(place).clone()
    }

    /// The file of the tree that a path leads to, through symbolic links or by its name alone.
    fn in_tree(&self, path: &Path) -> Option<Arc<PlacedFile>> {
        let real = path.canonicalize().ok();
        let real = real.as_deref().map(|path| (path, &self.real_tree));
        let plain = without_dots(path);
        let original = self.original.as_ref();
        let plain = [Some(&self.tree), original]
            .into_iter()
            .flatten()
            .map(|tree| (plain.as_path(), tree));
        let mut ways = real.into_iter().chain(plain);
        ways.find_map(|(path, tree)| {
            let relative = path.strip_prefix(tree).ok()?;
            self.file(&RepoPath::new(relative.as_os_str().as_encoded_bytes()))
        })
    }

    /// The source files of the tree.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.program.files.iter().map(|file| &file.path)
    }

    /// The last parts of all paths that the sources include.
    pub(super) fn included_names(&self) -> BTreeSet<&[u8]> {
        let includes = self
            .program
            .files
            .iter()
            .flat_map(|file| &file.lex.includes);
        let last = includes.filter_map(|include| include.path.rsplit('/').next());
        last.map(str::as_bytes).collect()
    }

    /// The source files of so many bytes.
    pub(super) fn of_length(&self, length: u64) -> &[RepoPath] {
        let by_length = self.lengths.get_or_init(|| {
            let mut found: FxHashMap<u64, Vec<RepoPath>> = FxHashMap::default();
            for path in self.paths() {
                if let Ok(metadata) = path.under(&self.tree).metadata() {
                    found.entry(metadata.len()).or_default().push(path.clone());
                }
            }
            found
        });
        by_length.get(&length).map_or(&[], Vec::as_slice)
    }

    /// What a text says, read as C with the macros of the tree.
    pub(super) fn facts(&self, bytes: &[u8]) -> FileFacts {
        file_facts(bytes, &self.program.macros, Granularity::Expression)
    }

    /// Whether some source of the tree mentions a name.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let name = Name::of(name.as_bytes());
        let mut files = self.program.files.iter();
        files.any(|file| file.lex.names.contains(name))
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

    /// Whether the tree has a source of this name in some folder.
    pub(super) fn has_source(&self, name: &str) -> bool {
        let mut files = self.program.files.iter();
        files.any(|file| file.path.file_name() == name.as_bytes())
    }

    /// The functions of this name in the tree.
    pub(super) fn defining(&self, name: &str) -> Arc<[FunctionId]> {
        let lock = || self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(name) {
            return known.clone();
        }
        let hash = Name::of(name.as_bytes());
        let files = self.program.files.iter();
        let mentioning = files.filter(|file| file.lex.names.contains(hash));
        let mut found = Vec::new();
        for file in mentioning.filter_map(|file| self.file(&file.path)) {
            let named = file.functions().filter(|function| function.name == name);
            found.extend(named.map(|function| file.id_of(function)));
        }
        lock()
            .entry(name.to_owned())
            .or_insert_with(|| found.into())
            .clone()
    }

    /// The files of the tree that some file is or includes, or that stand on the way.
    pub(super) fn read_by(&self, is_compiled: impl Fn(&RepoPath) -> bool) -> Vec<RepoPath> {
        let files = self.program.files.iter().enumerate();
        let read = files.filter(|(index, _)| {
            let includers = self.program.includers(*index).into_iter();
            let mut all = includers.chain([*index]);
            all.any(|file| is_compiled(&self.program.files[file].path))
        });
        read.map(|(_, file)| file.path.clone()).collect()
    }

    fn read(&self, path: &RepoPath) -> Option<PlacedFile> {
        let bytes = self.texts.get(path)?.clone();
        // Not through the cache, which another process may need while tests run.
        let facts = self.facts(&bytes);
        Some(PlacedFile {
            path: path.clone(),
            lines: LineStarts::of(&bytes),
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
