//! Where a call of a compiler or a linker is made, what lies below the workshop there, and how it looks.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::arguments::files_given;
use super::headers::Told;
use crate::digest;

/// A file, from the folder of the workshop if it is below that: people move their repositories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place(pub(super) Vec<u8>);

impl Place {
    #[must_use]
    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(OsStr::from_bytes(&self.0))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// How a file looks; nothing, if it is not there.
#[must_use]
pub fn looks(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| looks_of(&metadata))
}

fn looks_of(metadata: &Metadata) -> u64 {
    let mut digest = digest::Digest::new();
    digest.absorb(metadata.ino());
    digest.absorb(metadata.size());
    digest.absorb(metadata.mtime().cast_unsigned());
    digest.absorb(metadata.mtime_nsec().cast_unsigned());
    digest.finish()
}

/// Where a call is made, and what lies below the workshop there.
pub(super) struct Surroundings {
    here: PathBuf,
    root: PathBuf,
    /// What is ours comes anew with each session, and is nobody's input.
    own: PathBuf,
    /// Folders by their real paths: most headers share a few.
    real: HashMap<PathBuf, PathBuf>,
}

impl Surroundings {
    pub(super) fn of(folder: &Path) -> Self {
        let root = folder.parent().unwrap_or(folder);
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Surroundings {
            here: std::env::current_dir().unwrap_or_default(),
            own: root.join(folder.file_name().unwrap_or_default()),
            root,
            real: HashMap::new(),
        }
    }

    /// Over arguments, without the place of the workshop in them.
    pub(super) fn digest(&self, arguments: &[OsString]) -> u64 {
        let root = self.root.to_string_lossy();
        let mut digest = digest::Digest::new();
        for argument in arguments {
            // By a letter that no argument holds: what is below a folder of that name is something else.
            let plain = argument.to_string_lossy().replace(&*root, "\0");
            digest.absorb_bytes(plain.as_bytes());
        }
        digest.finish()
    }

    /// Whether a path is below the workshop, as it is called.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.absolute(path).starts_with(&self.root)
    }

    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        self.here.join(path)
    }

    /// A file by its real path.
    pub(super) fn real_file(&mut self, path: &Path) -> PathBuf {
        let path = self.here.join(path);
        if path.is_symlink() {
            return path.canonicalize().unwrap_or(path);
        }
        let folder = path.parent().map(|folder| self.real(folder));
        match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path,
        }
    }

    /// What was read, in these places.
    pub(super) fn told(&self, read: &[Place]) -> Told {
        Told {
            paths: read.iter().map(|place| place.below(&self.root)).collect(),
            is_whole: true,
        }
    }

    /// The folder in which the call is made.
    pub(super) fn here(&self) -> Place {
        self.place(Path::new(""))
    }

    /// All that a call reads below the workshop.
    pub(super) fn all_read(&mut self, arguments: &[OsString], told: &Told) -> Vec<(Place, u64)> {
        let given = files_given(arguments);
        let paths = given.iter().chain(&told.paths);
        let mut read: Vec<_> = paths.filter_map(|path| self.read(path)).collect();
        read.sort();
        read.dedup();
        read
    }

    /// As it was called, so that whoever looks again follows the same links.
    pub(super) fn place(&self, path: &Path) -> Place {
        let path = self.here.join(path);
        let inner = path.strip_prefix(&self.root).unwrap_or(&path);
        Place(inner.as_os_str().to_owned().into_vec())
    }

    /// A product by its real folder: it may be called in another way the next time.
    pub(super) fn made(&mut self, path: &Path) -> Place {
        let path = self.here.join(path);
        let folder = path.parent().map(|folder| self.real(folder));
        match (folder, path.file_name()) {
            (Some(folder), Some(name)) => self.place(&folder.join(name)),
            _ => self.place(&path),
        }
    }

    /// A file with its looks, if it lies below the workshop.
    pub(super) fn read(&mut self, path: &Path) -> Option<(Place, u64)> {
        let path = self.here.join(path);
        let metadata = fs::symlink_metadata(&path).ok()?;
        if metadata.is_symlink() {
            let real = path.canonicalize().ok()?;
            let looks = looks(&real)?;
            let is_below = real.starts_with(&self.root) || path.starts_with(&self.root);
            return is_below.then(|| (self.place(&path), looks));
        }
        let folder = self.real(path.parent()?);
        let is_below = folder.starts_with(&self.root) && folder != self.own;
        (is_below && metadata.is_file()).then(|| (self.place(&path), looks_of(&metadata)))
    }

    fn real(&mut self, folder: &Path) -> PathBuf {
        if let Some(real) = self.real.get(folder) {
            return real.clone();
        }
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.real.insert(folder.to_owned(), real.clone());
        real
    }
}
