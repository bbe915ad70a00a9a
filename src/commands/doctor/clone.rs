//! What a clone brings with it that makes selections larger than they need be.

use super::check::{Check, some_of};
use crate::emit::plan_text::count;
use crate::repo::{FileEntry, FileKind, Repository};

/// Beyond the border of a shallow clone no history can be found.
pub(super) fn depth(repository: &Repository) -> Check {
    match repository.is_shallow() {
        false => Check::ok("clone", "it has all its commits"),
        true => Check::warn(
            "clone",
            "it is shallow: the base of a change, or its history, may be missing, and then everything is selected",
            "run 'git fetch --unshallow'; in CI, ask for the whole history ('fetch-depth: 0', 'GIT_DEPTH: 0')",
        ),
    }
}

/// Submodules, and files that git passes through a program.
pub(super) fn contents(repository: &Repository, files: &[FileEntry]) -> [Check; 2] {
    let paths = |of: &dyn Fn(&&FileEntry) -> bool| -> Vec<String> {
        let files = files.iter().filter(of);
        files.map(|file| file.path.to_string()).collect()
    };
    let submodules = paths(&|file| file.kind == FileKind::Submodule);
    let modules = match submodules.len() {
        0 => Check::ok("submodules", "none"),
        number => Check::warn(
            "submodules",
            format!(
                "{} ({}): a change in one may affect every test",
                count(number, "submodule"),
                some_of(&submodules)
            ),
            "if no test needs them, name them in 'files.ignore'",
        ),
    };
    let filtered = repository.filtered(files);
    let filters = match filtered.first() {
        None => Check::ok("filters", "no file passes through a program of git's"),
        Some((_, filter)) => {
            let names: Vec<String> = filtered.iter().map(|(path, _)| path.to_string()).collect();
            Check::warn(
                "filters",
                format!(
                    "filter '{filter}' ({}) is not run: such files look changed when they are touched",
                    some_of(&names)
                ),
                "if no test reads them, name them in 'files.ignore'",
            )
        }
    };
    [modules, filters]
}
