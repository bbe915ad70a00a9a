//! Objects: bytes under the digest of their content, shared by all histories that hold them.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::database::{Trouble, guarded};
use crate::digest;

/// The digest of an object's bytes, by which others refer to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct ObjectId(pub(super) [u8; 16]);

impl ObjectId {
    pub(super) fn of(bytes: &[u8]) -> Self {
        ObjectId(digest::content(bytes).to_be_bytes())
    }
}

impl std::fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:032x}", u128::from_be_bytes(self.0))
    }
}

pub(super) type Ids = HashSet<ObjectId, FxBuildHasher>;

/// Where objects are looked up. Every read is checked against the digest, so what comes back is what was written.
#[derive(Clone)]
pub(super) struct Objects {
    tree: sled::Tree,
}

impl Objects {
    pub(super) fn new(tree: sled::Tree) -> Self {
        Objects { tree }
    }

    pub(super) fn bytes(&self, id: ObjectId) -> Result<sled::IVec, Trouble> {
        let bytes = guarded(|| self.tree.get(id.0))?;
        let bytes = bytes.ok_or_else(|| Trouble::Damage(format!("object {id:?} is missing")))?;
        if ObjectId::of(&bytes) != id {
            return Err(Trouble::Damage(format!("object {id:?} is not what it was")));
        }
        Ok(bytes)
    }

    pub(super) fn read<T: DeserializeOwned>(&self, id: ObjectId) -> Result<T, Trouble> {
        decode(&self.bytes(id)?)
    }

    pub(super) fn is_empty(&self) -> Result<bool, Trouble> {
        guarded(|| Ok(self.tree.is_empty()))
    }

    pub(super) fn len(&self) -> Result<usize, Trouble> {
        guarded(|| Ok(self.tree.len()))
    }

    pub(super) fn writer(&self) -> Writer<'_> {
        Writer {
            tree: &self.tree,
            all: Ids::default(),
            size: 0,
            added: 0,
        }
    }
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Trouble> {
    postcard::from_bytes(bytes)
        .map_err(|error| Trouble::Damage(format!("an object cannot be decoded: {error}")))
}

pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Trouble> {
    postcard::to_stdvec(value)
        .map_err(|error| Trouble::Damage(format!("an object cannot be encoded: {error}")))
}

/// Adds the objects of one history.
pub(super) struct Writer<'a> {
    tree: &'a sled::Tree,
    all: Ids,
    /// The bytes of all objects of this history, and of those that were not there before.
    pub(super) size: u64,
    pub(super) added: u64,
}

impl Writer<'_> {
    pub(super) fn write<T: Serialize>(&mut self, value: &T) -> Result<ObjectId, Trouble> {
        self.put(&encode(value)?)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<ObjectId, Trouble> {
        let id = ObjectId::of(bytes);
        if !self.all.insert(id) {
            return Ok(id);
        }
        let length = (id.0.len() + bytes.len()) as u64;
        self.size += length;
        // An object that is there but damaged is written again: so a new record heals what it shares with older ones.
        let there = guarded(|| self.tree.get(id.0))?;
        if there.is_none_or(|there| there != bytes) {
            guarded(|| self.tree.insert(id.0, bytes))?;
            self.added += length;
        }
        Ok(id)
    }
}
