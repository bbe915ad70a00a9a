//! Code that counts and has nobody to write what it counted, as procedural macros hold it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::coverage::llvm::binary;

/// What is known of the programs and libraries that tests entered: most tests enter the same ones.
#[derive(Default)]
pub(super) struct Mute {
    known: Mutex<FxHashMap<PathBuf, bool>>,
}

impl Mute {
    /// Those that count in vain.
    pub(super) fn among(&self, entered: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let is_mute = |path: &&PathBuf| {
            let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = lock().get(*path) {
                return *known;
            }
            let is_mute = binary::is_mute_at(path);
            lock().insert((*path).clone(), is_mute);
            is_mute
        };
        entered.iter().filter(is_mute).cloned().collect()
    }
}
