//! Which programs and libraries of a build have counters at all.

use std::fs;
use std::path::{Path, PathBuf};

use super::binaries::linked_below;
use super::uncounted::is_trial;
use crate::coverage::llvm::binary;
use crate::masquerade::mark;

/// What the last build made.
#[derive(Debug, Default)]
pub struct Counting {
    pub with: usize,
    /// Those that have none.
    pub without: Vec<PathBuf>,
}

/// Looks at the binaries below some folders, but for those that are not the build's own.
#[must_use]
pub fn counting(folders: &[&Path], is_own: impl Fn(&Path) -> bool) -> Counting {
    let mut found = Counting::default();
    for path in linked_below(folders) {
        if is_trial(&path, folders.iter().copied()) || !is_own(&path) {
            continue;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        match binary::has_counters(&bytes) || mark::is_counting(&bytes) {
            true => found.with += 1,
            false => found.without.push(path),
        }
    }
    found.without.sort();
    found
}
