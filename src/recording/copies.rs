//! Files that the build made: copies of sources, under their names or others, and what was put together from several.
//!
//! What is executed there counts for the functions of the tree that it may have come from, each as a whole.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::Placer;
use super::placer::PlacedFile;
use crate::lang::facts::FileFacts;
use crate::trace::FunctionId;

/// A file outside the tree that functions were compiled from.
#[derive(Debug)]
pub(super) struct Made {
    /// Nothing, if the build has removed it again.
    bytes: Option<Vec<u8>>,
    facts: OnceLock<FileFacts>,
    /// It is in our folders: the build made it, not the system.
    pub(super) is_ours: bool,
    /// Files of the tree that it may be a copy of.
    originals: Vec<Arc<PlacedFile>>,
}

impl Made {
    /// What stands for its code in a trace, wherever that came from.
    pub(super) fn mark(&self) -> Option<FunctionId> {
        self.is_ours.then(FunctionId::made)
    }

    /// What the functions on some lines may have come from.
    pub(super) fn originals_of(
        &self,
        placer: &Placer,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<FunctionId> {
        let Some(bytes) = &self.bytes else {
            // Nobody knows what stood on those lines.
            let files = self.originals.iter();
            return files.flat_map(|file| all_functions(file)).collect();
        };
        let facts = self.facts.get_or_init(|| placer.facts(bytes));
        let mut found = Vec::new();
        for function in facts.entities.iter().filter(|entity| entity.body.is_some()) {
            if (function.span.line..=function.end_line).any(&is_wanted) {
                found.extend(self.originals_named(placer, &function.name));
            }
        }
        found
    }

    /// What a function on a line may have come from, which the compiler knows by this name: a macro may have renamed it.
    pub(super) fn originals_at(&self, placer: &Placer, line: u32, symbol: &str) -> Vec<FunctionId> {
        let mut found = self.originals_of(placer, |own| own == line);
        if found.is_empty() {
            found = self.originals_named(placer, symbol);
        }
        found
    }

    /// What a function of this name may have come from.
    fn originals_named(&self, placer: &Placer, name: &str) -> Vec<FunctionId> {
        if self.originals.is_empty() {
            return placer.defining(name).to_vec();
        }
        let named: Vec<FunctionId> = self
            .originals
            .iter()
            .flat_map(|file| all_functions(file))
            .filter(|function| function.name == name)
            .collect();
        if !named.is_empty() {
            return named;
        }
        // Changed on its way, or made by a macro: it may have been any of them.
        let files = self.originals.iter();
        files.flat_map(|file| all_functions(file)).collect()
    }
}

fn all_functions(file: &PlacedFile) -> impl Iterator<Item = FunctionId> {
    file.functions().map(|function| file.id_of(function))
}

/// Where a path outside the tree leads to.
pub(super) enum Origin {
    /// It is the same, byte for byte, as this file and no other.
    Same(Arc<PlacedFile>),
    Made(Made),
}

/// Compares a file outside the tree with those inside.
pub(super) fn origin(placer: &Placer, path: &Path) -> Origin {
    let bytes = std::fs::read(path).ok();
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mut originals: Vec<Arc<PlacedFile>> = placer
        .paths()
        .filter(|path| path.file_name() == name)
        .filter_map(|path| placer.file(path))
        .collect();
    if let Some(bytes) = bytes.as_ref().filter(|bytes| !bytes.is_empty()) {
        let same_length = placer.of_length(bytes.len() as u64).iter();
        let mut same: Vec<Arc<PlacedFile>> = same_length
            .filter_map(|path| placer.file(path))
            .filter(|file| *file.bytes == **bytes)
            .collect();
        if same.len() > 1 && same.iter().any(|file| file.path.file_name() == name) {
            same.retain(|file| file.path.file_name() == name);
        }
        if same.len() == 1 {
            return Origin::Same(same.remove(0));
        }
        if !same.is_empty() {
            originals = same;
        }
    }
    Origin::Made(Made {
        bytes,
        facts: OnceLock::new(),
        is_ours: placer.is_ours(path),
        originals,
    })
}
