//! The words of all files of a tree that are not read as C: build files, assembler, scripts and lists may name what C defines.

use rustc_hash::FxHashSet;

use super::dead::words;
use crate::digest::Name;
use crate::error::Result;
use crate::repo::{FileEntry, RepoPath, Repository};
use crate::workers;

/// What is written for people names much that nobody uses.
const PROSE: [&str; 11] = [
    "md", "rst", "adoc", "html", "tex", "texi", "pdf", "po", "svg", "log", "csv",
];
const PROSE_NAMES: [&str; 8] = [
    "readme",
    "changelog",
    "changes",
    "news",
    "authors",
    "copying",
    "license",
    "todo",
];

/// So many bytes tell whether a file is text, as git has it.
const LOOKED_AT: usize = 8000;

/// Reads the words of some files, without those for people and those that are no text.
pub fn words_outside(repository: &Repository, files: &[FileEntry]) -> Result<FxHashSet<Name>> {
    let files: Vec<&FileEntry> = files.iter().filter(|file| !is_prose(&file.path)).collect();
    let readers = repository.readers();
    let found = workers::map(
        &files,
        || readers.open(),
        |reader, file| {
            let text = reader.read(file.id)?;
            let beginning = &text[..text.len().min(LOOKED_AT)];
            Ok(match beginning.contains(&0) {
                true => FxHashSet::default(),
                false => words(&text).collect(),
            })
        },
    )?;
    Ok(found.into_iter().flatten().collect())
}

fn is_prose(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let stem = name.split('.').next().unwrap_or_default();
    // A page of the manual: `printf.3`.
    let is_manual = extension.len() == 1 && extension.bytes().all(|byte| byte.is_ascii_digit());
    PROSE.contains(&extension) || PROSE_NAMES.contains(&stem) || is_manual
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_for_people_is_no_use() {
        let is = |path: &str| is_prose(&RepoPath::new(path.as_bytes()));
        assert!(is("README") && is("ChangeLog.old") && is("doc/a.md") && is("man/f.3"));
        assert!(!is("CMakeLists.txt") && !is("a.S") && !is("lib.map") && !is("Makefile"));
    }
}
