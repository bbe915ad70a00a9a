//! Places on disk: the working tree, and the folder in which `git rts` keeps its own files.

use std::path::{Path, PathBuf};

use super::Repository;
use super::failure::failed_file;
use crate::error::Result;

impl Repository {
    /// The top of the working tree; a bare repository has none.
    #[must_use]
    pub fn workdir(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// `rts` in the common git directory, which all worktrees share. It need not exist.
    #[must_use]
    pub fn rts_dir(&self) -> PathBuf {
        self.git.commondir().join("rts")
    }

    /// What the work tree is called among all worktrees of the repository; `main` for the first.
    #[must_use]
    pub fn worktree_name(&self) -> PathBuf {
        let own = self.git.is_worktree().then(|| self.git.path().file_name());
        own.flatten().map_or_else(
            || PathBuf::from("main"),
            |name| PathBuf::from("worktrees").join(name),
        )
    }

    /// The same folder, made if it is not there.
    pub fn create_rts_dir(&self) -> Result<PathBuf> {
        let dir = self.rts_dir();
        std::fs::create_dir_all(&dir)
            .map_err(|error| failed_file(&format!("create '{}'", dir.display()), &error))?;
        Ok(dir)
    }
}
