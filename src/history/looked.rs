//! What a test looked at when it ran: in the tree, and in what the build made.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::repo::RepoPath;

/// What a test looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// Files of the tree that it opened; with `beyond` also those whose state it asked for, and folders.
    pub touched: BTreeSet<RepoPath>,
    /// Nothing, where only what is opened is seen.
    pub beyond: Option<Beyond>,
}

/// What only shows where every question of a process is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// Looked for in the tree, and not there.
    pub missing: BTreeSet<RepoPath>,
    /// Folders of the tree whose entries it read.
    pub listed: BTreeSet<RepoPath>,
    /// Looked at or for, and not of the tree: what the build made, or could. By places in the workshop.
    pub made: BTreeSet<RepoPath>,
    /// Those of them whose content it read, and did not only execute.
    pub made_read: BTreeSet<RepoPath>,
    /// Folders in which it read what the build put there.
    pub made_listed: BTreeSet<RepoPath>,
}

impl Looked {
    /// What two tests looked at together; of both only so much is known as of either.
    #[must_use]
    pub fn and(mut self, other: Looked) -> Self {
        self.touched.extend(other.touched);
        self.beyond = self.beyond.zip(other.beyond).map(|(mut own, more)| {
            own.missing.extend(more.missing);
            own.listed.extend(more.listed);
            own.made.extend(more.made);
            own.made_read.extend(more.made_read);
            own.made_listed.extend(more.made_listed);
            own
        });
        self
    }
}

impl Beyond {
    /// Each of the sets, in one order, for whoever keeps them.
    pub(super) fn sets(&self) -> [&BTreeSet<RepoPath>; 5] {
        [
            &self.missing,
            &self.listed,
            &self.made,
            &self.made_read,
            &self.made_listed,
        ]
    }

    pub(super) fn from_sets(sets: [BTreeSet<RepoPath>; 5]) -> Self {
        let [missing, listed, made, made_read, made_listed] = sets;
        Beyond {
            missing,
            listed,
            made,
            made_read,
            made_listed,
        }
    }
}
