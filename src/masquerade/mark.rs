//! The mark by which processes tell that gcc's counters were lost: a small object in everything that gcc links.
//!
//! What it does, and why, stands in `mark.c`.

use std::fs;
use std::path::Path;

pub(super) const SOURCE: &str = include_str!("mark.c");

/// The variable that tells processes where to leave their marks.
pub const VARIABLE: &str = "GIT_RTS_MARKS_IN";

/// How the names of the marks begin that tell of a process whose counters are not written.
const RUNNING: &str = "running-";

/// How the names of the marks begin that tell of a process which became another program.
const BECAME: &str = "became-";

/// Whether a binary has the object in it.
#[must_use]
pub fn is_in(binary: &[u8]) -> bool {
    contains(binary, VARIABLE.as_bytes())
}

/// Whether a binary has counters of gcc: it names the files to write them to.
#[must_use]
pub fn is_counting(binary: &[u8]) -> bool {
    contains(binary, b".gcda\0")
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// What the marks in the folder of a test tell once it has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Programs whose counters were not written, or not all of them.
    pub lost: Vec<String>,
    /// A program became another in the middle of a function: the sums of its counters are wrong.
    pub became_another: bool,
}

/// Reads the marks in a folder.
#[must_use]
pub fn left_in(folder: &Path) -> Left {
    let mut left = Left::default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        left.became_another |= name.starts_with(BECAME);
        if name.starts_with(RUNNING) {
            let program = fs::read_link(entry.path()).unwrap_or_default();
            left.lost.push(program.to_string_lossy().into_owned());
        }
    }
    left.lost.sort();
    left.lost.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_and_its_reader_agree_on_names() {
        assert!(SOURCE.contains(&format!("\"{VARIABLE}\"")));
        for kind in [RUNNING, BECAME] {
            assert!(SOURCE.contains(&format!("\"{}\"", kind.trim_end_matches('-'))));
        }
    }
}
