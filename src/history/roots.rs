//! Roots: for each commit and each tree the few bytes that make a history of its objects. What has no root is not there.

use serde::{Deserialize, Serialize};

use super::compiled::CompiledPages;
use super::database::{Trouble, guarded};
use super::objects::{ObjectId, decode, encode};
use super::record::VersionKey;
use super::tests_by_number::TestPages;
use crate::repo::{CommitId, TreeId};

/// The top of one history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Root {
    pub(super) version: VersionKey,
    pub(super) created: u64,
    pub(super) front_end: u32,
    pub(super) partial: bool,
    pub(super) test_count: u32,
    pub(super) fingerprint: ObjectId,
    pub(super) uncounted: ObjectId,
    pub(super) opened_by_build: ObjectId,
    pub(super) made: ObjectId,
    pub(super) compiled: CompiledPages,
    pub(super) outside: ObjectId,
    pub(super) executed_by_build: ObjectId,
    pub(super) session: u64,
    pub(super) tests: TestPages,
    pub(super) functions: ObjectId,
    /// The bytes of its objects, and of those that only came with it.
    pub(super) size: u64,
    pub(super) added: u64,
}

impl Root {
    /// The same history, whatever it cost to write it.
    pub(super) fn same_content(&self, other: &Root) -> bool {
        let Root { added, .. } = *self;
        *self
            == Root {
                added,
                ..other.clone()
            }
    }
}

#[derive(Clone)]
pub(super) struct Roots {
    tree: sled::Tree,
}

fn of_commit(commit: CommitId) -> Vec<u8> {
    [b"c", commit.0.as_slice()].concat()
}

fn of_tree(tree: TreeId) -> Vec<u8> {
    [b"t", tree.0.as_slice()].concat()
}

impl Roots {
    pub(super) fn new(tree: sled::Tree) -> Self {
        Roots { tree }
    }

    pub(super) fn is_empty(&self) -> Result<bool, Trouble> {
        guarded(|| Ok(self.tree.is_empty()))
    }

    /// The history of the commit, or one of the same tree.
    pub(super) fn find(&self, version: VersionKey) -> Result<Option<Root>, Trouble> {
        if let Some(commit) = version.commit {
            let root = self.get(&of_commit(commit))?;
            if root.is_some() {
                return Ok(root);
            }
        }
        self.get(&of_tree(version.tree))
    }

    /// The history of exactly this version.
    pub(super) fn exact(&self, version: VersionKey) -> Result<Option<Root>, Trouble> {
        Ok(self.find(version)?.filter(|root| root.version == version))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Root>, Trouble> {
        match guarded(|| self.tree.get(key))? {
            None => Ok(None),
            Some(bytes) => unseal(key, &bytes).map(Some),
        }
    }

    /// Makes a history visible, under its commit and its tree at once.
    pub(super) fn insert(&self, root: &Root) -> Result<(), Trouble> {
        let mut batch = sled::Batch::default();
        if let Some(commit) = root.version.commit {
            let key = of_commit(commit);
            batch.insert(key.as_slice(), seal(&key, root)?);
        }
        let key = of_tree(root.version.tree);
        batch.insert(key.as_slice(), seal(&key, root)?);
        guarded(|| self.tree.apply_batch(batch))
    }

    /// Every version's history once, the newest first, and how many roots cannot be read.
    pub(super) fn all(&self) -> Result<(Vec<Root>, usize), Trouble> {
        let entries: Vec<_> = guarded(|| self.tree.iter().collect::<sled::Result<_>>())?;
        let mut roots: Vec<Root> = Vec::new();
        let mut unreadable = 0;
        for (key, bytes) in &entries {
            match unseal(key, bytes) {
                Ok(root) => roots.push(root),
                Err(_) => unreadable += 1,
            }
        }
        roots.sort_by_key(|root| (std::cmp::Reverse(root.created), root.version));
        let mut seen = std::collections::BTreeSet::new();
        roots.retain(|root| seen.insert(root.version));
        Ok((roots, unreadable))
    }
}

/// The bytes of a root under a key, so that a root is never taken for another's.
fn seal(key: &[u8], root: &Root) -> Result<Vec<u8>, Trouble> {
    let mut bytes = encode(root)?;
    let digest = ObjectId::of(&[key, &bytes].concat());
    bytes.extend(digest.0);
    Ok(bytes)
}

fn unseal(key: &[u8], bytes: &[u8]) -> Result<Root, Trouble> {
    let damaged = || Trouble::Damage("a root is not what it was".to_owned());
    let (bytes, digest) = bytes.split_last_chunk::<16>().ok_or_else(damaged)?;
    if ObjectId::of(&[key, bytes].concat()).0 != *digest {
        return Err(damaged());
    }
    decode(bytes)
}
