//! The ancestors of a commit, the nearest first.

use git2::Sort;

use super::failure::failed;
use super::{CommitId, Repository, TreeId, Version};
use crate::error::Result;

impl Repository {
    /// Asks about a commit and its ancestors, nearest first, until one is accepted or `most` were asked about.
    ///
    /// Beyond the border of a shallow clone there is nothing to ask about.
    pub fn nearest<T>(
        &self,
        from: CommitId,
        most: usize,
        mut accept: impl FnMut(Version) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let cannot = |error: git2::Error| failed("walk the ancestors of a commit", &error);
        let mut walk = self.git.revwalk().map_err(cannot)?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)
            .map_err(cannot)?;
        walk.push(from.oid()).map_err(cannot)?;
        for id in walk.take(most) {
            // The parents of a commit at the border are not here.
            let Ok(id) = id else {
                break;
            };
            let commit = self.git.find_commit(id).map_err(cannot)?;
            let version = Version::Commit {
                commit: CommitId::of(id),
                tree: TreeId::of(commit.tree_id()),
            };
            if let Some(accepted) = accept(version)? {
                return Ok(Some(accepted));
            }
        }
        Ok(None)
    }
}
