//! Where we are: git, the repository, and its work tree.

use std::process::Command;

use super::check::Check;
use crate::commands::own_tree::answer;
use crate::emit::plan_text::count;
use crate::repo::{FileEntry, Repository};

pub(super) fn git() -> Check {
    let arguments = ["--version"];
    match answer(Command::new("git").args(arguments), &arguments) {
        Ok(version) => Check::ok("git", version),
        Err(error) => Check::fail("git", error.message, "install git; hooks call it"),
    }
}

pub(super) fn repository(repository: &Repository) -> Check {
    let rts = repository.rts_dir();
    let folder = rts.parent().unwrap_or(&rts);
    Check::ok("repository", format!("'{}'", folder.display()))
}

pub(super) fn bare() -> Check {
    Check::fail(
        "work tree",
        "a bare repository has no work tree to build",
        "run it in a clone or a worktree",
    )
}

/// Whether the work tree can be read, and its files.
pub(super) fn work_tree(repository: &Repository) -> (Check, Option<Vec<FileEntry>>) {
    let version = repository.work_tree();
    match version.and_then(|version| repository.files(&version)) {
        Ok(files) => {
            let says = count(files.len(), "file");
            (Check::ok("work tree", says), Some(files))
        }
        Err(error) => (Check::failed("work tree", &error), None),
    }
}
