//! A rehearsal: a clone of our own below the `rts` folder, with a work tree, histories and a workshop that are nobody else's.
//!
//! Whatever is tried there leaves the user's work tree, index, branches and histories as they are. Objects are borrowed, not copied.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::commands::own_tree::git;
use crate::commands::submodules;
use crate::config::FILE;
use crate::error::{Error, Result};
use crate::repo::{Repository, Version};

/// A clone for as long as this is held. What is left behind when it is dropped is small: its histories, for whoever goes on.
pub(super) struct Rehearsal {
    folder: PathBuf,
    pub(super) repository: Repository,
    /// The user's work tree.
    user: Option<PathBuf>,
    /// The user's settings, for versions that have none.
    settings: Option<Vec<u8>>,
    _lock: File,
}

impl Rehearsal {
    /// The clone of a name, made if it is not there.
    pub(super) fn open(repository: &Repository, name: &str) -> Result<Self> {
        let root = repository.create_rts_dir()?.join(name);
        fs::create_dir_all(&root).map_err(|error| cannot("create", &root, &error))?;
        let lock = lock(&root, name)?;
        let folder = root.join("clone");
        if Repository::open(&folder).is_err() || !folder.join(".git").exists() {
            remove(&folder)?;
            let from = repository.rts_dir();
            let from = from
                .parent()
                .unwrap_or(&root)
                .to_string_lossy()
                .into_owned();
            let to = folder.to_string_lossy().into_owned();
            git(
                &root,
                &["clone", "--quiet", "--shared", "--no-checkout", &from, &to],
            )?;
        }
        copy_settings(repository, &folder)?;
        let user = repository.workdir().map(Path::to_owned);
        let settings = user.as_ref();
        let settings = settings.and_then(|top| fs::read(top.join(FILE)).ok());
        Ok(Rehearsal {
            repository: Repository::open(&folder)?,
            folder,
            user,
            settings,
            _lock: lock,
        })
    }

    /// The work tree of the clone.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the work tree equal to a commit, with the user's settings where it has none of its own.
    pub(super) fn check_out(&mut self, version: Version) -> Result<()> {
        let own = self.folder.join(FILE);
        let _ = fs::remove_file(&own);
        let id = version.id();
        let checkout = ["checkout", "--quiet", "--force", "--detach", &id];
        git(&self.folder, &checkout)?;
        git(&self.folder, &["clean", "--quiet", "-ffd"])?;
        // What a handle has read of the work tree is that of another version.
        self.repository = Repository::open(&self.folder)?;
        let files = self.repository.files(&version)?;
        submodules::bring(self.user.as_deref(), &self.repository, &version)?;
        let has_own = files
            .iter()
            .any(|file| file.path.as_bytes() == FILE.as_bytes());
        if let Some(settings) = self.settings.as_ref().filter(|_| !has_own) {
            fs::write(&own, settings).map_err(|error| cannot("write", &own, &error))?;
        }
        Ok(())
    }

    /// Takes everything away, for those who will not go on.
    pub(super) fn finish(self) -> Result<()> {
        remove(&self.folder)
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name() != ".git" {
                let _ = remove(&entry.path());
            }
        }
        let _ = remove(&self.repository.rts_dir().join("build"));
    }
}

/// What git's configuration of the repository says to us counts in the clone, too; settings that no version tracks are no change of it.
fn copy_settings(repository: &Repository, folder: &Path) -> Result<()> {
    let top = repository.rts_dir();
    let from = top.parent().unwrap_or(&top);
    let set = git(
        from,
        &["config", "--local", "-z", "--get-regexp", r"^rts\."],
    );
    // Without any, git fails.
    let set = set.unwrap_or_default();
    let _ = git(folder, &["config", "--local", "--remove-section", "rts"]);
    for entry in set.split('\0').filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        git(folder, &["config", "--local", "--add", name, value])?;
    }
    let exclude = folder.join(".git").join("info").join("exclude");
    let write = || {
        fs::create_dir_all(exclude.parent().unwrap_or(folder))?;
        fs::write(&exclude, format!("/{FILE}\n"))
    };
    write().map_err(|error| cannot("write", &exclude, &error))
}

fn lock(root: &Path, name: &str) -> Result<File> {
    let path = root.join("lock");
    let file = File::create(&path).map_err(|error| cannot("create", &path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(format!(
            "another 'git rts {name}' is at work in this repository"
        ))
        .hint("wait until it has ended")),
        Err(TryLockError::Error(error)) => Err(cannot("lock", &path, &error)),
    }
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(|error| cannot("remove", path, &error))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot {what} '{}': {error}", path.display()))
}
