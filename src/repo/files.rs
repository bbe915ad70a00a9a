//! Every file of a version, read from its tree without a checkout.

use git2::{FileMode, Tree};

use super::failure::failed;
use super::{BlobId, RepoPath, Repository, Version};
use crate::error::Result;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    pub path: RepoPath,
    pub id: BlobId,
    pub kind: FileKind,
    pub executable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    File,
    /// Its content is the path it points to.
    Symlink,
    /// Named, not entered: it has no content here.
    Submodule,
}

impl Repository {
    /// The files of a version, in the byte order of their paths.
    pub fn files(&self, version: &Version) -> Result<Vec<FileEntry>> {
        let mut files = Vec::new();
        self.git
            .find_tree(version.tree().oid())
            .and_then(|tree| collect(&self.git, &tree, &mut Vec::new(), &mut files))
            .map_err(|error| failed(&format!("list the files of '{version}'"), &error))?;
        Ok(files)
    }
}

/// Not `Tree::walk`, which cannot name a directory that is not UTF-8.
fn collect(
    git: &git2::Repository,
    tree: &Tree<'_>,
    prefix: &mut Vec<u8>,
    files: &mut Vec<FileEntry>,
) -> std::result::Result<(), git2::Error> {
    for entry in tree {
        let above = prefix.len();
        prefix.extend_from_slice(entry.name_bytes());
        let mode = entry.filemode();
        if mode == i32::from(FileMode::Tree) {
            prefix.push(b'/');
            collect(git, &git.find_tree(entry.id())?, prefix, files)?;
        } else {
            files.push(FileEntry {
                path: RepoPath::new(&prefix[..]),
                id: BlobId::of(entry.id()),
                kind: kind(mode),
                executable: mode == i32::from(FileMode::BlobExecutable),
            });
        }
        prefix.truncate(above);
    }
    Ok(())
}

fn kind(mode: i32) -> FileKind {
    if mode == i32::from(FileMode::Link) {
        FileKind::Symlink
    } else if mode == i32::from(FileMode::Commit) {
        FileKind::Submodule
    } else {
        FileKind::File
    }
}

/// One side of a difference; a side that does not exist has no entry.
pub(super) fn entry_of(file: &git2::DiffFile<'_>) -> Option<FileEntry> {
    let path = file.path_bytes()?;
    let mode = i32::from(file.mode());
    if mode == i32::from(FileMode::Unreadable) {
        return None;
    }
    Some(FileEntry {
        path: RepoPath::new(path),
        id: BlobId::of(file.id()),
        kind: kind(mode),
        executable: mode == i32::from(FileMode::BlobExecutable),
    })
}
