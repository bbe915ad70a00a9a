//! The repository: two versions, their files, what changed between them, and the bytes of a blob.
//!
//! This room is the only keeper of `git2`. Nothing in it writes to the repository's objects, index or refs: the working tree becomes a git tree in memory, so that every version is a tree and is read the same way.

mod ancestors;
mod changes;
mod compiled;
mod config;
mod failure;
mod files;
mod filters;
mod id;
mod ignored;
mod merge_base;
mod open;
mod path;
mod place;
mod reachable;
mod reader;
mod remote;
mod resolve;
mod shallow;
mod version;
mod work_tree;

pub use changes::{Change, ChangeKind};
pub use compiled::is_compiled;
pub use files::{FileEntry, FileKind};
pub use id::{BlobId, CommitId, TreeId};
pub use open::Repository;
pub use path::RepoPath;
pub use reader::{BlobReader, Readers};
pub use version::Version;
