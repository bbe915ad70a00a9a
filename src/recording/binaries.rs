//! The files of a build: programs and libraries, by the ids that the linker gave them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::coverage::llvm::binary::{self, Imports};

/// Programs and libraries by their build ids.
#[must_use]
pub(super) fn by_id(folders: &[&Path]) -> FxHashMap<Vec<u8>, PathBuf> {
    let mut found = FxHashMap::default();
    for path in linked_below(folders) {
        let id = binary::build_id_of(&path);
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            found.entry(id).or_insert(path);
        }
    }
    found
}

/// Where the dynamic linker looks when nobody tells it otherwise.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib",
    "/lib",
];

/// The libraries that some binaries load, directly or not, by name: those of the build itself, then the system's; without a
/// place those that are nowhere.
pub(super) fn loaded_by(
    binaries: &[PathBuf],
    own: &[PathBuf],
) -> BTreeMap<String, Option<PathBuf>> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<PathBuf> = binaries.to_vec();
    while let Some(path) = waiting.pop() {
        for name in binary::needed_by(&path).unwrap_or_default() {
            if found.contains_key(&name) {
                continue;
            }
            let in_build = own.iter().find(|path| path.ends_with(&name)).cloned();
            let in_system = || {
                let mut places = LIBRARY_FOLDERS
                    .iter()
                    .map(|folder| Path::new(folder).join(&name));
                places.find(|place| place.is_file())
            };
            let place = in_build.or_else(in_system);
            waiting.extend(place.clone());
            found.insert(name, place);
        }
    }
    found
}

/// What a binary may do, itself or through a library that it loads: a library may fork or start a thread for its caller.
pub(super) fn may_do((path, bytes): (&Path, Option<&[u8]>), own: &[PathBuf]) -> Imports {
    // What cannot be read may do anything.
    let imports_of = |bytes: Option<&[u8]>| {
        let imports = bytes.and_then(|bytes| binary::imports(bytes).ok());
        imports.unwrap_or(Imports::ANYTHING)
    };
    let imports = |path: &Path| imports_of(fs::read(path).ok().as_deref());
    loaded_by(&[path.to_owned()], own)
        .values()
        .map(|place| place.as_deref().map_or(Imports::ANYTHING, imports))
        .fold(imports_of(bytes), Imports::and)
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
