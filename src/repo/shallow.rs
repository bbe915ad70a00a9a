//! Shallow clones: where history was cut off, and how to say so.

use git2::Oid;
use rustc_hash::FxHashSet;

use super::Repository;
use super::failure::{failed_file, failure};
use crate::error::{Error, Result};

impl Repository {
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        // In doubt shallow: an unreadable border is no reason to trust the history.
        self.shallow_border()
            .map_or(true, |border| !border.is_empty())
    }

    /// The commits whose parents were left behind.
    ///
    /// libgit2 looks for this file in a linked worktree's own directory, where it never is.
    pub(super) fn shallow_border(&self) -> Result<FxHashSet<Oid>> {
        let file = self.git.commondir().join("shallow");
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(text
                .lines()
                .filter_map(|line| Oid::from_str(line).ok())
                .collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(FxHashSet::default()),
            Err(error) => Err(failed_file(&format!("read '{}'", file.display()), &error)),
        }
    }
}

pub(super) fn too_shallow(message: &str) -> Error {
    failure(format!("{message}: this clone is shallow"))
        .hint("run 'git fetch --unshallow', or fetch with a greater '--depth'")
}
