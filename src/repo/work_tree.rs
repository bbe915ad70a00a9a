//! The working tree as a git tree that exists only in memory.
//!
//! The index knows by its stat data which files are unchanged; only the others are read. What git would commit after `git add --all` is what the tree holds, so that it has the same id as the commit will have.
//!
//! But for what a compiler left: objects, libraries and programs that nobody tracks are no part of it. A copy of them would be taken
//! for up to date.

use std::collections::BTreeSet;
use std::path::Path;

use git2::{Delta, DiffOptions, FileMode, Index, IndexEntry, IndexTime, ObjectType, Oid};

use super::compiled::is_compiled;
use super::failure::{failed, failed_file, failure};
use super::open::write_to_memory;
use super::{BlobId, RepoPath, Repository, TreeId, Version};
use crate::error::Result;

impl Repository {
    /// The working tree as it is now. Taken again after a change, it is another version.
    pub fn work_tree(&self) -> Result<Version> {
        let snapshot = take_snapshot(&self.git, self.index_edited.replace(true))?;
        self.on_disk.borrow_mut().extend(snapshot.on_disk);
        *self.untracked.borrow_mut() = snapshot.untracked;
        *self.left_out.borrow_mut() = snapshot.left_out;
        Ok(Version::WorkTree {
            tree: TreeId::of(snapshot.tree),
        })
    }

    /// Whether git does not know a file of the work tree that was looked at last.
    #[must_use]
    pub fn is_untracked(&self, path: &RepoPath) -> bool {
        self.untracked.borrow().contains(path)
    }

    /// The compiled files of the work tree that was looked at last which git does not know: no part of that version.
    #[must_use]
    pub fn left_out(&self) -> BTreeSet<RepoPath> {
        self.left_out.borrow().clone()
    }
}

struct Snapshot {
    tree: Oid,
    /// The files whose content had to be read.
    on_disk: Vec<(BlobId, RepoPath)>,
    untracked: BTreeSet<RepoPath>,
    left_out: BTreeSet<RepoPath>,
}

/// `afresh`: the index in memory was edited by a former snapshot, so only the one on disk counts.
fn take_snapshot(git: &git2::Repository, afresh: bool) -> Result<Snapshot> {
    let Some(top) = git.workdir() else {
        return Err(failure("a bare repository has no working tree")
            .hint("name the head: 'git rts diff <base> <head>'"));
    };
    let mut index = git
        .index()
        .map_err(|error| failed("read the index", &error))?;
    index
        .read(afresh)
        .map_err(|error| failed("read the index", &error))?;
    refuse_conflicts(&index)?;

    let mut left_out = BTreeSet::new();
    let edits = edits(git, top, &index, &mut left_out)
        .map_err(|error| failed("compare the working tree with the index", &error))?;
    let cannot_keep = |path: &RepoPath, error: &git2::Error| {
        failed(&format!("take in '{path}'"), error)
            .hint("is it a file that belongs in '.gitignore'?")
    };
    // First the removals: a directory may have become a file.
    for edit in edits.iter().filter(|edit| edit.mode.is_none()) {
        index
            .remove(&edit.path.under(Path::new("")), 0)
            .map_err(|error| cannot_keep(&edit.path, &error))?;
    }
    let mut on_disk = Vec::new();
    for edit in &edits {
        let Some(mode) = edit.mode else { continue };
        let file = edit.path.under(top);
        let (id, mode) = if matches!(mode, FileMode::Commit | FileMode::Tree) {
            let Some(id) = state_of_submodule(&file)? else {
                continue;
            };
            (id, FileMode::Commit)
        } else {
            let id = take_in(git, &file)
                .map_err(|error| failed_file(&format!("read '{}'", edit.path), &error))?
                .id;
            on_disk.push((id, edit.path.clone()));
            (id.oid(), mode)
        };
        index
            .add(&index_entry(&edit.path, id, mode))
            .map_err(|error| cannot_keep(&edit.path, &error))?;
    }
    let tree = index
        .write_tree()
        .map_err(|error| failed("make a tree of the working tree", &error))?;
    let untracked = edits.into_iter().filter(|edit| edit.is_untracked);
    Ok(Snapshot {
        tree,
        on_disk,
        untracked: untracked.map(|edit| edit.path).collect(),
        left_out,
    })
}

fn refuse_conflicts(index: &Index) -> Result<()> {
    if !index.has_conflicts() {
        return Ok(());
    }
    let conflicts = index
        .conflicts()
        .map_err(|error| failed("read the index", &error))?;
    let mut paths: Vec<RepoPath> = conflicts
        .filter_map(|conflict| {
            let conflict = conflict.ok()?;
            let side = conflict.our.or(conflict.their).or(conflict.ancestor)?;
            Some(RepoPath::new(side.path))
        })
        .collect();
    paths.sort();
    paths.dedup();
    let message = match paths.as_slice() {
        [path] => format!("'{path}' is unmerged"),
        [path, others @ ..] => format!("'{path}' and {} other files are unmerged", others.len()),
        [] => "the index has unmerged files".to_owned(),
    };
    Err(failure(message)
        .hint("resolve the conflicts, then run 'git add' on the files")
        .hint("'diff', 'select' and 'why' compare commits meanwhile: 'git rts select BASE HEAD'"))
}

/// A file that differs from the index; without a mode it is gone.
struct Edit {
    path: RepoPath,
    mode: Option<FileMode>,
    is_untracked: bool,
}

fn edits(
    git: &git2::Repository,
    top: &Path,
    index: &Index,
    left_out: &mut BTreeSet<RepoPath>,
) -> std::result::Result<Vec<Edit>, git2::Error> {
    let mut options = DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_typechange(true)
        .skip_binary_check(true);
    let diff = git.diff_index_to_workdir(Some(index), Some(&mut options))?;
    let edits = diff.deltas().filter_map(|delta| {
        let (file, gone) = match delta.status() {
            Delta::Unmodified | Delta::Ignored => return None,
            Delta::Deleted => (delta.old_file(), true),
            _ => (delta.new_file(), false),
        };
        // A repository within this one is named as a directory: "inner/".
        let path = file.path_bytes()?;
        let path = RepoPath::new(path.strip_suffix(b"/").unwrap_or(path));
        if gone && is_left_out_of_checkout(index, &path) {
            return None;
        }
        let is_untracked = delta.status() == Delta::Untracked;
        if is_untracked && is_compiled(&path.under(top)) {
            left_out.insert(path);
            return None;
        }
        Some(Edit {
            path,
            mode: (!gone).then(|| file.mode()),
            is_untracked,
        })
    });
    Ok(edits.collect())
}

/// In a sparse checkout a file that is not there has not been removed.
fn is_left_out_of_checkout(index: &Index, path: &RepoPath) -> bool {
    const SKIP_WORKTREE: u16 = 1 << 14;
    index
        .get_path(&path.under(Path::new("")), 0)
        .is_some_and(|entry| entry.flags_extended & SKIP_WORKTREE != 0)
}

/// The commit a submodule stands at; with uncommitted work in it, the tree of that work. `None` if it is not checked out.
fn state_of_submodule(path: &Path) -> Result<Option<Oid>> {
    let Ok(git) = git2::Repository::open(path) else {
        return Ok(None);
    };
    write_to_memory(&git).map_err(|error| failed("open a submodule", &error))?;
    let tree = take_snapshot(&git, false)?.tree;
    let head = git.head().and_then(|head| head.peel_to_commit()).ok();
    Ok(Some(
        head.filter(|head| head.tree_id() == tree)
            .map_or(tree, |head| head.id()),
    ))
}

fn index_entry(path: &RepoPath, id: Oid, mode: FileMode) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode: u32::from(mode),
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}

pub(super) struct TakenIn {
    pub(super) id: BlobId,
    /// The file is so large that only its id was taken.
    pub(super) bytes_left_out: bool,
}

/// Larger files are hashed in passing, and as they are: without the filters that would need them in memory.
const LARGEST_HELD: u64 = 64 << 20;

/// Makes a file a blob in memory, through the same filters as `git add` (line ends, `ident`).
pub(super) fn take_in(git: &git2::Repository, file: &Path) -> std::io::Result<TakenIn> {
    let data = std::fs::symlink_metadata(file)?;
    let (id, bytes_left_out) = if data.is_symlink() {
        let target = std::fs::read_link(file)?;
        (git.blob(target.as_os_str().as_encoded_bytes()), false)
    } else if data.len() > LARGEST_HELD {
        (Oid::hash_file(ObjectType::Blob, file), true)
    } else {
        // A filter can refuse (`core.safecrlf`); then the bytes are taken as they are.
        match git.blob_path(file) {
            Err(_) => (git.blob(&std::fs::read(file)?), false),
            id => (id, false),
        }
    };
    let id = id.map_err(std::io::Error::other)?;
    Ok(TakenIn {
        id: BlobId::of(id),
        bytes_left_out,
    })
}
