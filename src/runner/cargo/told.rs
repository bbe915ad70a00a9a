//! What cargo is told from outside of the tree: by settings above it and of the user, and by variables.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::digest::Digest;

/// Where things are made, which we say ourselves.
const PLACE: &str = "CARGO_TARGET_DIR";

/// Over the settings in the folders above some place and of the user; nothing, if there are none.
pub fn settings<'f>(above: impl IntoIterator<Item = &'f Path>) -> Option<u64> {
    let of_user = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let of_user = of_user.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let above = above.into_iter().map(|folder| folder.join(".cargo"));
    let mut digest = Digest::new();
    let mut is_any = false;
    for folder in above.chain(of_user) {
        for name in ["config", "config.toml"] {
            let Ok(said) = fs::read(folder.join(name)) else {
                continue;
            };
            is_any = true;
            digest.absorb_bytes(&said);
        }
    }
    is_any.then(|| digest.finish())
}

/// The variables by which one target of several is told something (`CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTDOCFLAGS`).
pub fn variables_of_targets() -> impl Iterator<Item = (OsString, OsString)> {
    let variables = std::env::vars_os();
    variables.filter(|(name, _)| name.as_bytes().starts_with(b"CARGO_TARGET_") && name != PLACE)
}

/// Adds all variables that are for cargo or rustc.
pub(super) fn absorb_variables(digest: &mut Digest) {
    let is_of_rust = |name: &OsStr| {
        let name = name.as_bytes();
        name.starts_with(b"CARGO") || name.starts_with(b"RUST")
    };
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    variables.retain(|(name, _)| is_of_rust(name));
    variables.sort();
    for (name, value) in variables {
        digest.absorb_bytes(name.as_bytes());
        digest.absorb_bytes(value.as_bytes());
    }
}
