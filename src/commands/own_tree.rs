//! A worktree of our own, below the `rts` folder, for commits that are not what lies in the work tree.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::submodules;
use crate::error::{Error, Result};
use crate::hooks::LOCAL_VARIABLES;
use crate::repo::{Repository, Version};

/// Its name in the `rts` folder, and among the worktrees of the repository.
const FOLDER: &str = "pushed";

/// A worktree of our own that is at a commit, for as long as this is held.
pub(super) struct OwnTree {
    pub folder: PathBuf,
    _lock: File,
}

impl OwnTree {
    pub(super) fn at(repository: &Repository, version: Version) -> Result<Self> {
        let rts = repository.create_rts_dir()?;
        let folder = rts.join(FOLDER);
        let path = rts.join("pushed.lock");
        let cannot = |error| Error::new(format!("cannot lock '{}': {error}", path.display()));
        let lock = File::create(&path).map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        let id = version.id();
        let name = folder.to_string_lossy();
        let is_there = folder.join(".git").exists();
        let checkout = ["checkout", "--quiet", "--force", "--detach", &id];
        if !is_there || git(&folder, &checkout).is_err() {
            remove(repository)?;
            let add = [
                "worktree", "add", "--quiet", "--force", "--detach", &name, &id,
            ];
            git(&rts, &add)?;
        }
        // What a build or a test left there is no part of the commit.
        git(&folder, &["clean", "--quiet", "-ffd"])?;
        let ours = Repository::open(&folder)?;
        submodules::bring(repository.workdir(), &ours, &version).map_err(|error| {
            error.hint("check it out without further changes, so that it can be tested there")
        })?;
        Ok(OwnTree {
            folder,
            _lock: lock,
        })
    }
}

/// Whether this is the worktree of our own, which nobody else looks into.
pub(super) fn is_own(repository: &Repository) -> bool {
    let own = repository.rts_dir().join(FOLDER).canonicalize();
    let here = repository.workdir().map(Path::canonicalize);
    matches!((own, here), (Ok(own), Some(Ok(here))) if own == here)
}

/// Takes the worktree away, if there is one.
pub(super) fn remove(repository: &Repository) -> Result<()> {
    let rts = repository.rts_dir();
    let folder = rts.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| {
            Error::new(format!("cannot remove '{}': {error}", folder.display()))
        })?;
        git(&rts, &["worktree", "prune"])?;
    }
    Ok(())
}

/// Runs git in a folder, without the hooks and variables of whoever calls us.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    git.args(["-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(folder);
    for variable in LOCAL_VARIABLES {
        git.env_remove(variable);
    }
    answer(&mut git, arguments)
}

/// What git prints when it succeeds.
pub(super) fn answer(git: &mut Command, arguments: &[&str]) -> Result<String> {
    let output = git
        .output()
        .map_err(|error| Error::new(format!("cannot run git: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = Error::new(format!("'git {}' failed", arguments.join(" ")));
        return Err(said.lines().rev().take(3).fold(error, Error::hint));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim_end_matches('\n').to_owned())
}
