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
    /// Files of the tree into which it did not look, though it asked about them or executed them.
    pub asked: BTreeSet<RepoPath>,
    /// Looked for in the tree, and not there.
    pub missing: BTreeSet<RepoPath>,
    /// Folders of the tree whose entries it read.
    pub listed: BTreeSet<RepoPath>,
    /// Looked at or for, and not of the tree: what the build made, or could. By places in the workshop.
    pub made: BTreeSet<RepoPath>,
    /// Those of them whose content it read, and did not only execute.
    pub made_read: BTreeSet<RepoPath>,
    /// Those of them that it never named: links lead to them.
    pub made_behind: BTreeSet<RepoPath>,
    /// Folders in which it read what the build put there.
    pub made_listed: BTreeSet<RepoPath>,
}

impl Looked {
    /// What two tests looked at together; of both only so much is known as of either.
    #[must_use]
    pub fn and(mut self, other: Looked) -> Self {
        let read = [&self, &other].map(Looked::read).concat();
        let read: BTreeSet<RepoPath> = read.into_iter().collect();
        self.touched.extend(other.touched);
        self.beyond = self.beyond.zip(other.beyond).map(|(mut own, more)| {
            let named: BTreeSet<RepoPath> = own.named().chain(more.named()).cloned().collect();
            // Who looks into a file knows more than who asks about it.
            own.asked.extend(more.asked);
            own.asked.retain(|path| !read.contains(path));
            own.missing.extend(more.missing);
            own.listed.extend(more.listed);
            own.made_behind.extend(more.made_behind);
            own.made_behind.retain(|place| !named.contains(place));
            own.made.extend(more.made);
            own.made_read.extend(more.made_read);
            own.made_listed.extend(more.made_listed);
            own
        });
        self
    }
}

impl Looked {
    /// Whether it is known not to have looked into a file that it asked about.
    #[must_use]
    pub fn only_asked_about(&self, path: &RepoPath) -> bool {
        let beyond = self.beyond.as_ref();
        beyond.is_some_and(|beyond| beyond.asked.contains(path))
    }

    /// The files of the tree into which it looked.
    fn read(&self) -> Vec<RepoPath> {
        let asked = self.beyond.as_ref().map(|beyond| &beyond.asked);
        let touched = self.touched.iter();
        let read = touched.filter(|path| asked.is_none_or(|asked| !asked.contains(*path)));
        read.cloned().collect()
    }
}

impl Beyond {
    /// What it looked at or for in the build under its own name.
    fn named(&self) -> impl Iterator<Item = &RepoPath> {
        self.made.difference(&self.made_behind)
    }

    /// Each of the sets, in one order, for whoever keeps them.
    pub(super) fn sets(&self) -> [&BTreeSet<RepoPath>; 7] {
        [
            &self.asked,
            &self.missing,
            &self.listed,
            &self.made,
            &self.made_read,
            &self.made_behind,
            &self.made_listed,
        ]
    }

    pub(super) fn from_sets(sets: [BTreeSet<RepoPath>; 7]) -> Self {
        let [
            asked,
            missing,
            listed,
            made,
            made_read,
            made_behind,
            made_listed,
        ] = sets;
        Beyond {
            asked,
            missing,
            listed,
            made,
            made_read,
            made_behind,
            made_listed,
        }
    }
}
