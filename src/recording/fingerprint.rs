//! The fingerprint of toolchain and environment: a trace says nothing about another compiler or other libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::linked_below;
use crate::coverage::llvm::binary;
use crate::masquerade::Backend;

/// Variables that change what a build makes.
const VARIABLES: [&str; 6] = ["CC", "CXX", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LD_PRELOAD"];

/// Where the dynamic linker looks when nobody tells it otherwise.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib",
    "/lib",
];

/// What a recording depends on besides the tree, by name.
#[must_use]
pub fn fingerprint(
    backend: &Backend,
    variables: &[String],
    folders: &[&Path],
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    found.insert("backend".to_owned(), backend.name().to_owned());
    let compiler = match backend {
        Backend::Llvm { clang } => clang.clone(),
        Backend::Gcov => PathBuf::from("cc"),
    };
    found.insert("compiler".to_owned(), version_of(&compiler));
    for (name, id) in libraries(folders) {
        found.insert(format!("library {name}"), id);
    }
    let named = variables.iter().map(String::as_str);
    for name in VARIABLES.into_iter().chain(named) {
        if let Some(value) = std::env::var_os(name) {
            found.insert(
                format!("variable {name}"),
                value.to_string_lossy().into_owned(),
            );
        }
    }
    found
}

/// The first line that a compiler says about itself.
fn version_of(compiler: &Path) -> String {
    let output = Command::new(compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let first = text
        .ok()
        .and_then(|text| text.lines().next().map(str::to_owned));
    first.unwrap_or_else(|| "unknown".to_owned())
}

/// The system libraries that the binaries of a build load, directly or not, with their build ids.
fn libraries(folders: &[&Path]) -> BTreeMap<String, String> {
    let mut waiting: Vec<PathBuf> = linked_below(folders);
    let own: BTreeSet<_> = waiting
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_owned()))
        .collect();
    let mut found = BTreeMap::new();
    while let Some(path) = waiting.pop() {
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        for name in binary::needed(&bytes).unwrap_or_default() {
            if own.contains(std::ffi::OsStr::new(&name)) || found.contains_key(&name) {
                continue;
            }
            let places = LIBRARY_FOLDERS
                .iter()
                .map(|folder| Path::new(folder).join(&name));
            let Some(place) = places.into_iter().find(|place| place.is_file()) else {
                found.insert(name, "not found".to_owned());
                continue;
            };
            let id = std::fs::read(&place)
                .ok()
                .and_then(|bytes| binary::build_id(&bytes).ok())
                .unwrap_or_default();
            let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            found.insert(name, id);
            waiting.push(place);
        }
    }
    found
}
