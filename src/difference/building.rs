//! What is known of how two versions are built: a file that neither build opened is in nothing that was built.

use std::collections::BTreeSet;

use crate::lang::facts::MadeFacts;
use crate::repo::{Change, RepoPath};

/// What is known of how two versions are built.
#[derive(Debug, Clone, Copy, Default)]
pub struct Building<'a> {
    /// What the build of the base made: names pass also through that.
    pub made: &'a [MadeFacts],
    /// The files of the tree that were opened to build each of them, and those at which tests looked, which may build something
    /// themselves; nothing, where that is not known.
    pub opened: Option<[&'a BTreeSet<RepoPath>; 3]>,
}

impl Building<'_> {
    /// Whether a file may be in what was built.
    pub(super) fn may_have_read(&self, path: &RepoPath) -> bool {
        self.opened
            .is_none_or(|all| all.iter().any(|opened| opened.contains(path)))
    }

    /// Whether a change may be in what was built. What comes or goes may show by its name alone.
    pub(super) fn may_take_in(&self, change: &Change) -> bool {
        match (&change.old, &change.new) {
            (Some(old), Some(new)) if old.path == new.path => self.may_have_read(&new.path),
            _ => true,
        }
    }
}
