//! What changed between two versions, file by file.

use git2::{Delta, Diff, DiffFindOptions, DiffOptions};

use super::failure::failed;
use super::files::entry_of;
use super::{FileEntry, FileKind, Repository, Version};
use crate::error::Result;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub old: Option<FileEntry>,
    pub new: Option<FileEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Added,
    Removed,
    /// The content or the executable bit.
    Modified,
    /// Moved, and perhaps modified too.
    Renamed,
    /// A file became a symbolic link or a submodule, or the reverse.
    TypeChanged,
}

/// Beyond this many pairs only files moved without a change count as renamed, since contents are compared pair by pair.
const PAIRS_TO_COMPARE: usize = 40_000;

impl Repository {
    /// The changes that lead from `base` to `head`, in the order of their paths.
    pub fn changes(&self, base: &Version, head: &Version) -> Result<Vec<Change>> {
        if base.tree() == head.tree() {
            return Ok(Vec::new());
        }
        self.compare(base, head)
            .map_err(|error| failed(&format!("compare '{base}' with '{head}'"), &error))
    }

    fn compare(
        &self,
        base: &Version,
        head: &Version,
    ) -> std::result::Result<Vec<Change>, git2::Error> {
        let old = self.git.find_tree(base.tree().oid())?;
        let new = self.git.find_tree(head.tree().oid())?;
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let mut diff = self
            .git
            .diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))?;
        self.find_renames(&mut diff)?;
        Ok(diff.deltas().map(|delta| change(&delta)).collect())
    }

    fn find_renames(&self, diff: &mut Diff<'_>) -> std::result::Result<(), git2::Error> {
        let count = |status| {
            diff.deltas()
                .filter(|delta| delta.status() == status)
                .count()
        };
        let pairs = count(Delta::Added) * count(Delta::Deleted);
        if pairs == 0 {
            return Ok(());
        }
        let mut options = DiffFindOptions::new();
        options
            .renames(true)
            .exact_match_only(pairs > PAIRS_TO_COMPARE || self.lacks_content(diff)?);
        diff.find_similar(Some(&mut options))
    }

    /// libgit2 gives up on a content it cannot load: a huge file that was not taken into memory, or a blob that a partial clone left behind.
    fn lacks_content(&self, diff: &Diff<'_>) -> std::result::Result<bool, git2::Error> {
        let database = self.git.odb()?;
        let is_missing =
            |file: &FileEntry| file.kind != FileKind::Submodule && !database.exists(file.id.oid());
        Ok(diff.deltas().any(|delta| match delta.status() {
            Delta::Added => entry_of(&delta.new_file()).as_ref().is_some_and(is_missing),
            Delta::Deleted => entry_of(&delta.old_file()).as_ref().is_some_and(is_missing),
            _ => false,
        }))
    }
}

fn change(delta: &git2::DiffDelta<'_>) -> Change {
    let kind = match delta.status() {
        Delta::Added => ChangeKind::Added,
        Delta::Deleted => ChangeKind::Removed,
        Delta::Renamed => ChangeKind::Renamed,
        Delta::Typechange => ChangeKind::TypeChanged,
        // Between two trees nothing else is left, and what is not known counts as modified.
        _ => ChangeKind::Modified,
    };
    Change {
        kind,
        // libgit2 gives an added file an old side of the same path.
        old: (kind != ChangeKind::Added)
            .then(|| entry_of(&delta.old_file()))
            .flatten(),
        new: (kind != ChangeKind::Removed)
            .then(|| entry_of(&delta.new_file()))
            .flatten(),
    }
}
