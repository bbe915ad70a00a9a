//! Which programs and libraries that a test entered write what they count, and whether each of them did.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::coverage::llvm::binary::{self, Voice};
use crate::runner::follow::Seen;

/// What is known of the files that tests entered: most tests enter the same ones.
#[derive(Default)]
pub(super) struct Voices {
    known: Mutex<FxHashMap<PathBuf, Arc<Voice>>>,
}

impl Voices {
    fn of(&self, path: &Path) -> Arc<Voice> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return known.clone();
        }
        let voice = Arc::new(binary::voice(path));
        lock().insert(path.to_owned(), voice.clone());
        voice
    }

    /// Whether a file counts, and writes what it counted.
    pub(super) fn tells(&self, path: &Path) -> bool {
        matches!(*self.of(path), Voice::Tells { .. })
    }

    /// Those that count in vain, as procedural macros do.
    pub(super) fn mute(&self, entered: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let is_mute = |path: &&PathBuf| *self.of(path) == Voice::Mute;
        entered.iter().filter(is_mute).cloned().collect()
    }

    /// Why what was counted may not be all, given the builds by whose ids something was written. Where two of them write to one
    /// file, the runtime keeps what one of them counted, or takes it for the other's.
    pub(super) fn doubt<T>(&self, seen: &Seen, written: &BTreeMap<Vec<u8>, T>) -> Option<String> {
        let entered = seen.entered.iter();
        let voices: Vec<(&PathBuf, Arc<Voice>)> =
            entered.map(|path| (path, self.of(path))).collect();
        let mut telling: Vec<(&PathBuf, &Vec<u8>, &[u64; 2])> = Vec::new();
        for (path, voice) in &voices {
            let Voice::Tells { id, files } = &**voice else {
                continue;
            };
            let name = path.file_name().unwrap_or_default().display();
            // Of what is read every byte counts, and perhaps it is not executed.
            if !written.contains_key(id) && !seen.read.contains(*path) {
                return Some(format!("'{name}' ran, and did not write what it counted"));
            }
            let is_other = |other: &&(&PathBuf, &Vec<u8>, &[u64; 2])| other.1 != id;
            let mut others = telling.iter().filter(is_other);
            let shared = others.find(|(_, _, other)| other.iter().zip(files).any(|(a, b)| a == b));
            if let Some((other, ..)) = shared {
                let other = other.file_name().unwrap_or_default().display();
                return Some(format!(
                    "'{other}' and '{name}' look alike, and would count in one file in one process"
                ));
            }
            telling.push((path, id, files));
        }
        None
    }
}
