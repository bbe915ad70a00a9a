//! The ancestors of a commit, the nearest first.

use git2::Sort;

use super::failure::failed;
use super::{CommitId, Repository, TreeId, Version};
use crate::error::Result;

impl Repository {
    /// Whether a commit is here, wherever it leads.
    #[must_use]
    pub fn has(&self, commit: CommitId) -> bool {
        self.git.find_commit(commit.oid()).is_ok()
    }

    /// Whether a commit is among those that led to a version. One that is not here is not.
    #[must_use]
    pub fn contains(&self, version: Version, commit: CommitId) -> bool {
        let head = || self.git.head().ok()?.peel_to_commit().ok();
        let tip = version.commit().map(CommitId::oid);
        let tip = tip.or_else(|| Some(head()?.id()));
        tip.is_some_and(|tip| {
            let commit = commit.oid();
            tip == commit || self.git.graph_descendant_of(tip, commit).unwrap_or(false)
        })
    }

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

    /// The commits that lead from a base to a head, each with its subject, the oldest first, without the base: along first parents, as a branch grew.
    pub fn first_parents(&self, base: Version, head: Version) -> Result<Vec<(Version, String)>> {
        let cannot = |error: git2::Error| failed("walk the commits of a range", &error);
        let mut walk = self.git.revwalk().map_err(cannot)?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)
            .map_err(cannot)?;
        walk.simplify_first_parent().map_err(cannot)?;
        if let Some(head) = head.commit() {
            walk.push(head.oid()).map_err(cannot)?;
        }
        if let Some(base) = base.commit() {
            walk.hide(base.oid()).map_err(cannot)?;
        }
        let commits = walk.map(|id| {
            let commit = self.git.find_commit(id.map_err(cannot)?).map_err(cannot)?;
            let version = Version::Commit {
                commit: CommitId::of(commit.id()),
                tree: TreeId::of(commit.tree_id()),
            };
            let subject = commit.summary_bytes().unwrap_or_default();
            Ok((version, String::from_utf8_lossy(subject).into_owned()))
        });
        commits.collect()
    }
}
