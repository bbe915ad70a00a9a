//! Settings: whether they can be read, are spelt as somebody reads them, and match something.

use std::path::Path;

use super::check::{Check, some_of};
use crate::config::{Config, FILE, misspelt};
use crate::emit::plan_text::count;
use crate::repo::{FileEntry, RepoPath, Repository};

/// The file, which was read.
pub(super) fn file(top: &Path) -> Check {
    match top.join(FILE).exists() {
        true => Check::ok("settings", format!("'{FILE}' is valid")),
        false => Check::ok("settings", format!("no '{FILE}', and none is needed")),
    }
}

pub(super) fn in_git(repository: &Repository) -> Check {
    let found = match misspelt::in_git(repository) {
        Ok(found) => found,
        Err(error) => return Check::failed("git config", &error),
    };
    if found.is_empty() {
        return Check::ok("git config", "every 'rts.*' is known");
    }
    let names: Vec<String> = found.iter().map(|name| name.name.clone()).collect();
    let hints = found.iter().map(|name| match &name.meant {
        Some(meant) => format!("'{}' is perhaps '{meant}'", name.name),
        None => format!("'git config --unset {}' removes it", name.name),
    });
    let hints: Vec<String> = hints.collect();
    let says = format!("nobody reads {}", some_of(&names));
    Check::fail("git config", says, hints.join("; "))
}

/// Patterns that match neither a file nor a test that is known.
pub(super) fn patterns(
    config: &Config,
    files: Option<&[FileEntry]>,
    tests: Option<&[String]>,
) -> Check {
    let paths: Option<Vec<RepoPath>> =
        files.map(|files| files.iter().map(|file| file.path.clone()).collect());
    let names: Option<Vec<&str>> = tests.map(|tests| tests.iter().map(String::as_str).collect());
    let mut idle = Vec::new();
    if let Some(paths) = &paths {
        idle.extend(config.idle_for_files(paths));
    }
    if let Some(names) = &names {
        idle.extend(config.idle_for_tests(names));
    }
    let told: Vec<String> = idle
        .iter()
        .map(|(setting, pattern)| format!("{setting}: {pattern}"))
        .collect();
    match (told.len(), &names) {
        (0, Some(_)) => Check::ok("patterns", "each matches something"),
        (0, None) => Check::ok(
            "patterns",
            "each of files matches something; tests are not known yet",
        ),
        (number, _) => Check::warn(
            "patterns",
            format!("{} nothing: {}", matches(number), some_of(&told)),
            "correct or remove what is no longer true",
        ),
    }
}

fn matches(number: usize) -> String {
    let verb = if number == 1 { "matches" } else { "match" };
    format!("{} {verb}", count(number, "pattern"))
}
