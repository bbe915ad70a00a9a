//! Paths as git keeps them: bytes, relative to the top of the repository, with `/` between the parts.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path in the repository. It need not be UTF-8; its display is for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        RepoPath(bytes.into())
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The last part of the path.
    #[must_use]
    pub fn file_name(&self) -> &[u8] {
        let start = self
            .0
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |slash| slash + 1);
        &self.0[start..]
    }

    /// What stands behind the last dot of its name; empty, if there is none.
    #[must_use]
    pub fn extension(&self) -> &[u8] {
        let name = self.file_name();
        let dot = name.iter().rposition(|byte| *byte == b'.');
        dot.map_or(&[], |dot| &name[dot + 1..])
    }

    /// The folders around it, the nearest first, without the top.
    pub fn ancestors(&self) -> impl Iterator<Item = RepoPath> {
        let slashes = self.0.iter().enumerate().rev();
        let slashes = slashes.filter(|(_, byte)| **byte == b'/');
        slashes.map(|(end, _)| RepoPath(self.0[..end].to_vec()))
    }

    /// What is called `name` in this folder; the top has an empty path.
    #[must_use]
    pub fn join(&self, name: &[u8]) -> RepoPath {
        let mut path = self.0.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name);
        RepoPath(path)
    }

    /// The path by which the entries of a folder are known, which no file has.
    #[must_use]
    pub fn entries(&self) -> RepoPath {
        let mut path = self.0.clone();
        path.push(b'/');
        RepoPath(path)
    }

    /// The file in a working tree whose top is `top`.
    #[must_use]
    pub fn under(&self, top: &Path) -> PathBuf {
        top.join(to_path(&self.0))
    }
}

#[cfg(unix)]
fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Elsewhere git stores names as UTF-8, so nothing is lost.
#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}
