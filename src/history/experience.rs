//! What is remembered of the runs of a test, for the order of tests: of no version, and not needed for any history.
//!
//! Each run changes it, so it is written over: kept with every history, it would outweigh what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::database::{Trouble, guarded};
use super::objects::encode;
use crate::order::estimate::Durations;
use crate::order::smoothed::Memory;

/// What a test's runs so far say about the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    pub durations: Durations,
    pub memory: Memory,
    /// The session in which it last ran.
    pub session: u64,
}

/// By the tests' names.
pub type Experiences = BTreeMap<String, Experience>;

pub(super) fn write(tree: &sled::Tree, experiences: &Experiences) -> Result<(), Trouble> {
    let mut batch = sled::Batch::default();
    for (name, experience) in experiences {
        batch.insert(name.as_bytes(), encode(experience)?);
    }
    guarded(|| tree.apply_batch(batch))
}

/// All that can be read: what is lost costs an order, and nothing else.
pub(super) fn read(tree: &sled::Tree) -> Experiences {
    let entries = guarded(|| Ok(tree.iter().filter_map(Result::ok).collect::<Vec<_>>()));
    let entries = entries.unwrap_or_default().into_iter();
    entries
        .filter_map(|(name, bytes)| {
            let name = String::from_utf8(name.to_vec()).ok()?;
            Some((name, postcard::from_bytes(&bytes).ok()?))
        })
        .collect()
}
