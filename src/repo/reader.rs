//! The bytes of blobs, for many threads at once.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::failure::{failed, failed_file, failure};
use super::open::Start;
use super::work_tree::take_in;
use super::{BlobId, RepoPath, Repository};
use crate::error::{Error, Result};

/// What a thread needs to open a reader of its own.
#[derive(Debug, Clone)]
pub struct Readers {
    start: Start,
    on_disk: Arc<FxHashMap<BlobId, RepoPath>>,
}

/// Reads blobs; belongs to one thread at a time.
pub struct BlobReader {
    git: git2::Repository,
    top: Option<PathBuf>,
    on_disk: Arc<FxHashMap<BlobId, RepoPath>>,
}

impl Repository {
    /// Readers for all versions resolved so far: take them after [`Repository::resolve`].
    #[must_use]
    pub fn readers(&self) -> Readers {
        Readers {
            start: self.start.clone(),
            on_disk: Arc::new(self.on_disk.borrow().clone()),
        }
    }

    /// One reader, for a caller without threads.
    pub fn reader(&self) -> Result<BlobReader> {
        self.readers().open()
    }
}

impl Readers {
    pub fn open(&self) -> Result<BlobReader> {
        let git = self.start.open()?;
        Ok(BlobReader {
            top: git.workdir().map(PathBuf::from),
            git,
            on_disk: Arc::clone(&self.on_disk),
        })
    }
}

impl BlobReader {
    /// The content of a file or the target of a symbolic link, from the object database or the working tree.
    ///
    /// A file that was edited after its version was resolved is an error: its id belongs to other bytes.
    pub fn read(&self, id: BlobId) -> Result<Vec<u8>> {
        let Some(path) = self.on_disk.get(&id) else {
            return self.stored(id).map_err(|error| cannot_read(id, &error));
        };
        if let Some(bytes) = self.unchanged(id, path) {
            return Ok(bytes);
        }
        self.stored(id).map_err(|_| {
            failure(format!("'{path}' changed while it was being read"))
                .hint("run the command again")
        })
    }

    /// A file of the working tree as it is on disk, tracked or not.
    pub fn read_work_file(&self, path: &RepoPath) -> Result<Vec<u8>> {
        let Some(top) = &self.top else {
            return Err(failure(format!(
                "cannot read '{path}': the repository is bare"
            )));
        };
        std::fs::read(path.under(top))
            .map_err(|error| failed_file(&format!("read '{path}'"), &error))
    }

    fn stored(&self, id: BlobId) -> std::result::Result<Vec<u8>, git2::Error> {
        Ok(self.git.odb()?.read(id.oid())?.data().to_vec())
    }

    fn unchanged(&self, id: BlobId, path: &RepoPath) -> Option<Vec<u8>> {
        let top = self.top.as_ref()?;
        let now = take_in(&self.git, &path.under(top)).ok()?;
        if now.id != id {
            return None;
        }
        match now.bytes_left_out {
            false => self.stored(id).ok(),
            true => std::fs::read(path.under(top)).ok(),
        }
    }
}

fn cannot_read(id: BlobId, error: &git2::Error) -> Error {
    if error.code() != git2::ErrorCode::NotFound {
        return failed(&format!("read blob {id}"), error);
    }
    failure(format!("blob {id} is missing from the object database"))
        .hint("a partial clone leaves blobs behind; clone without '--filter'")
}
