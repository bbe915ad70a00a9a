//! What of the work tree is no part of any version: what git ignores, and git's own folder.

use std::path::Path;

use super::{RepoPath, Repository};

impl Repository {
    /// Whether nothing at or below a path belongs to a version. In doubt it does.
    #[must_use]
    pub fn is_outside(&self, path: &RepoPath) -> bool {
        let is_git = |path: &Path| {
            let own = [self.git.path(), self.git.commondir()];
            own.iter().any(|own| path.starts_with(own))
        };
        let in_git = path.file_name() == b".git"
            || self
                .git
                .workdir()
                .is_some_and(|top| is_git(&path.under(top)));
        in_git || self.is_ignored(path)
    }

    /// What is tracked counts, whatever the rules say.
    fn is_ignored(&self, path: &RepoPath) -> bool {
        let relative = path.under(Path::new(""));
        if !self.git.is_path_ignored(&relative).unwrap_or(false) {
            return false;
        }
        let tracks = |index: &git2::Index| {
            index.get_path(&relative, 0).is_some()
                || index
                    .find_prefix(path.entries().under(Path::new("")))
                    .is_ok()
        };
        let index = self.git.index().and_then(|mut index| {
            index.read(false)?;
            Ok(index)
        });
        index.is_ok_and(|index| !tracks(&index))
    }
}
