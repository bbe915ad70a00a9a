//! Opening a repository, from the environment as git does or from a path.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

use git2::RepositoryOpenFlags;
use rustc_hash::FxHashMap;

use super::failure::{cannot_open, failed};
use super::{BlobId, RepoPath};
use crate::error::Result;

/// An open repository. It belongs to one thread; see [`Repository::readers`] for the others.
pub struct Repository {
    pub(super) git: git2::Repository,
    pub(super) start: Start,
    /// Whether a snapshot left its traces in the index in memory.
    pub(super) index_edited: Cell<bool>,
    /// Contents of the working tree that no object of the repository may hold, and where they lie.
    pub(super) on_disk: RefCell<FxHashMap<BlobId, RepoPath>>,
    /// The files of the work tree that git does not know.
    pub(super) untracked: RefCell<BTreeSet<RepoPath>>,
    pub(super) left_out: RefCell<BTreeSet<RepoPath>>,
}

/// Where the search for the repository began: a further handle is opened the same way.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// The current directory, `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE` and their like.
    Environment,
    Path(PathBuf),
}

impl Repository {
    /// The repository that git itself would use here.
    pub fn discover() -> Result<Self> {
        Self::from(Start::Environment)
    }

    /// The repository at `path` or above it, whatever the environment says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from(Start::Path(path.as_ref().to_path_buf()))
    }

    fn from(start: Start) -> Result<Self> {
        Ok(Repository {
            git: start.open()?,
            start,
            index_edited: Cell::new(false),
            on_disk: RefCell::default(),
            untracked: RefCell::default(),
            left_out: RefCell::default(),
        })
    }
}

impl Start {
    pub(super) fn open(&self) -> Result<git2::Repository> {
        trust_stored_objects();
        let git = match self {
            Start::Environment => git2::Repository::open_from_env(),
            Start::Path(path) => {
                let nowhere: [&str; 0] = [];
                git2::Repository::open_ext(path, RepositoryOpenFlags::empty(), nowhere)
            }
        }
        .map_err(|error| cannot_open(&error))?;
        write_to_memory(&git).map_err(|error| failed("open the object database", &error))?;
        Ok(git)
    }
}

/// Hashing each object again on reading it took 76 ms instead of 28 for the C files of libgit2 (12 MB); a damaged repository is for `git fsck` to find. Nor does every object that a tree in memory names have to be looked up.
fn trust_stored_objects() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        git2::opts::strict_hash_verification(false);
        git2::opts::strict_object_creation(false);
    });
}

/// Objects made through this handle go to memory and die with it.
pub(super) fn write_to_memory(git: &git2::Repository) -> std::result::Result<(), git2::Error> {
    const BEFORE_LOOSE_AND_PACKED: i32 = 1000;
    git.odb()?
        .add_new_mempack_backend(BEFORE_LOOSE_AND_PACKED)?;
    Ok(())
}
