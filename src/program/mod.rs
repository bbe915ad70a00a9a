//! The program database over one version of a tree: its source files, what their macros are, who includes whom.

pub mod facts;
mod includes;

use std::sync::Arc;

use crate::lang::c::macros::MacroTable;
use crate::lang::facts::{Include, LexFacts};
use crate::repo::{BlobId, RepoPath};

use includes::Includes;

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
    pub fn new(files: Vec<SourceFile>) -> Self {
        let macros = MacroTable::learn(files.iter().flat_map(|file| &file.lex.macros));
        let includes = Includes::new(&files);
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
        self.includes
            .meant(includer.as_bytes(), &include.path, include.quoted)
    }

    /// Everything that an `#include` in some file brings in; nothing when no file of the tree is meant.
    #[must_use]
    pub fn included(&self, includer: &RepoPath, include: &Include) -> Vec<usize> {
        self.includes
            .included(includer.as_bytes(), &include.path, include.quoted)
    }
}
