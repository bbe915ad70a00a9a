//! The fingerprint of toolchain and environment: a trace says nothing about another compiler or other libraries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::{linked_below, loaded_by};
use crate::coverage::llvm::binary;
use crate::masquerade::Backend;

/// Variables that change what a build makes.
const VARIABLES: [&str; 6] = ["CC", "CXX", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LD_PRELOAD"];

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
    let own = linked_below(folders);
    let loaded = loaded_by(&own, &own).into_iter();
    let is_system = |name: &String| !own.iter().any(|path| path.ends_with(name));
    loaded
        .filter(|(name, _)| is_system(name))
        .map(|(name, place)| {
            let bytes = place.and_then(|place| std::fs::read(place).ok());
            let id = bytes.and_then(|bytes| binary::build_id(&bytes).ok());
            let hex = |id: Vec<u8>| id.iter().map(|byte| format!("{byte:02x}")).collect();
            (name, id.map_or_else(|| "not found".to_owned(), hex))
        })
        .collect()
}
