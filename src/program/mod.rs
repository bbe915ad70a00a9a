//! The program database over one version of a tree: its source files, what their macros are, who includes whom.

pub mod closure;
pub mod facts;
mod includes;
mod links;

use std::sync::Arc;

use crate::lang::c::macros::MacroTable;
use crate::lang::facts::{Include, LexFacts};
use crate::repo::{BlobId, FileEntry, RepoPath};

use includes::Includes;
pub use links::Link;

/// The files of one version of a tree, by what they are to a reader of C.
#[derive(Debug, Default)]
pub struct Tree {
    /// Their names say that they hold C.
    pub sources: Vec<FileEntry>,
    /// They hold C if a source includes them.
    pub others: Vec<FileEntry>,
    pub links: Vec<FileEntry>,
}

/// A source file of the tree.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub path: RepoPath,
    pub id: BlobId,
    pub lex: Arc<LexFacts>,
}

#[derive(Debug)]
pub struct Program {
    pub files: Vec<SourceFile>,
    pub macros: MacroTable,
    includes: Includes,
}

impl Program {
    #[must_use]
    pub fn new(files: Vec<SourceFile>, links: &[Link]) -> Self {
        let macros = MacroTable::learn(files.iter().flat_map(|file| &file.lex.macros));
        let includes = Includes::new(&files, links);
        Program {
            files,
            macros,
            includes,
        }
    }

    #[must_use]
    pub fn find(&self, path: &RepoPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok()
    }

    /// The file itself and everything that includes it, directly or not.
    #[must_use]
    pub fn includers(&self, file: usize) -> Vec<usize> {
        self.includes.includers(file)
    }

    /// The files that an `#include` in some file may mean.
    #[must_use]
    pub fn meant(&self, includer: &RepoPath, include: &Include) -> Vec<usize> {
        let index = self.find(includer).unwrap_or(usize::MAX);
        self.includes.meant(includer.as_bytes(), index, include)
    }

    /// Everything that an `#include` in some file brings in; nothing when no file of the tree is meant.
    #[must_use]
    pub fn included(&self, includer: &RepoPath, include: &Include) -> Vec<usize> {
        let index = self.find(includer).unwrap_or(usize::MAX);
        self.includes.included(includer.as_bytes(), index, include)
    }

    /// Further paths under which a file can be included: through symbolic links.
    #[must_use]
    pub fn aliases(&self, file: usize) -> Vec<RepoPath> {
        let paths = self.includes.aliases(file).iter();
        paths.map(|path| RepoPath::new(path.clone())).collect()
    }

    /// Includes whose path macros make and that may mean a file.
    pub fn computed_includes(&self, file: usize) -> impl Iterator<Item = &Include> {
        self.files
            .iter()
            .flat_map(|other| {
                other
                    .lex
                    .includes
                    .iter()
                    .map(move |include| (other, include))
            })
            .filter(|(_, include)| include.is_computed)
            .filter(move |(other, include)| self.meant(&other.path, include).contains(&file))
            .map(|(_, include)| include)
    }
}
