//! A version: a commit, or the working tree as it was when it was looked at.

use std::fmt;

use super::{CommitId, TreeId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    Commit {
        commit: CommitId,
        tree: TreeId,
    },
    /// Everything git would see: staged, unstaged and untracked files, but not the ignored ones.
    WorkTree {
        /// The tree that a commit of all of it would have.
        tree: TreeId,
    },
}

impl Version {
    #[must_use]
    pub fn tree(&self) -> TreeId {
        match self {
            Version::Commit { tree, .. } | Version::WorkTree { tree } => *tree,
        }
    }

    /// As programs name it.
    #[must_use]
    pub fn id(&self) -> String {
        self.commit()
            .map_or_else(|| "working tree".to_owned(), |commit| commit.to_string())
    }

    #[must_use]
    pub fn commit(&self) -> Option<CommitId> {
        match self {
            Version::Commit { commit, .. } => Some(*commit),
            Version::WorkTree { .. } => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::Commit { commit, .. } => formatter.write_str(&commit.to_string()[..7]),
            Version::WorkTree { .. } => formatter.write_str("working tree"),
        }
    }
}
