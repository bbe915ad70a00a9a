//! The files of a build: programs and libraries, by the ids that the linker gave them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::coverage::llvm::binary;

/// Programs and libraries by their build ids.
#[must_use]
pub(super) fn by_id(folders: &[&Path]) -> FxHashMap<Vec<u8>, PathBuf> {
    let mut found = FxHashMap::default();
    for path in linked_below(folders) {
        let bytes = fs::read(&path).ok();
        let id = bytes.and_then(|bytes| binary::build_id(&bytes).ok());
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            found.insert(id, path);
        }
    }
    found
}

/// Programs and libraries below some folders.
pub(super) fn linked_below(folders: &[&Path]) -> Vec<PathBuf> {
    let mut found = files_below(folders);
    found.retain(|path| is_linked(path));
    found
}

/// All files below some folders, links not followed.
pub(super) fn files_below(folders: &[&Path]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// Whether a file is an ELF program or shared library, by its first bytes.
fn is_linked(path: &Path) -> bool {
    let mut head = [0u8; 18];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    // The type stands behind the identification: 2 is a program, 3 a library or a program that can be moved.
    read.is_ok() && head.starts_with(b"\x7fELF") && matches!(head[16], 2 | 3)
}
