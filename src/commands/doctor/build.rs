//! The last build in the workshop: whether it succeeded, and whether its programs really count.

use std::collections::BTreeSet;

use super::check::{Check, some_of};
use crate::config::Config;
use crate::recording::{counting, failure_of_build, settings};
use crate::repo::{FileEntry, Repository};
use crate::runner::detect;
use crate::workshop::Workshop;

pub(super) fn check(
    repository: &Repository,
    config: &Config,
    files: Option<&[FileEntry]>,
) -> Check {
    let workshop = Workshop::of(repository);
    // What is there is left over from an earlier build, or half of one.
    if let Some(why) = failure_of_build(&workshop) {
        return failed(repository, &workshop, &why);
    }
    let tracked: BTreeSet<_> = files
        .unwrap_or_default()
        .iter()
        .map(|file| file.path.under(&workshop.tree))
        .collect();
    let folders = [workshop.tree.as_path(), workshop.build.as_path()];
    let found = counting(&folders, |path| !tracked.contains(path));
    let all = found.with + found.without.len();
    let without: Vec<String> = found
        .without
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let hint = "let the build call the compiler by its name (cc, gcc, clang), not by its path";
    let told = some_of(&without);
    match (found.with, without.len()) {
        (0, 0) => Check::ok("build", "nothing is built yet"),
        (1, 0) => Check::ok("build", "the one binary of the last build has counters"),
        (_, 0) => Check::ok(
            "build",
            format!("all {all} binaries of the last build have counters"),
        ),
        (with, _) if with > 0 && is_of_cargo(repository, config) => Check::ok(
            "build",
            format!(
                "{with} of {all} binaries of the last build have counters; build scripts and macros need none"
            ),
        ),
        (0, _) => {
            let says = format!("nothing in the last build has counters: {told}");
            Check::fail("build", says, hint)
        }
        (_, number) => {
            let says =
                format!("{number} of {all} binaries of the last build have no counters: {told}");
            Check::warn("build", says, hint)
        }
    }
}

/// Whether some binaries are executed by the build alone, as cargo has it.
fn is_of_cargo(repository: &Repository, config: &Config) -> bool {
    let runner = repository
        .workdir()
        .map(|top| detect(top, &settings(config)));
    runner.is_some_and(|runner| runner.is_ok_and(|runner| runner.backend().is_some()))
}

/// A build that failed fails again if nothing changed.
fn failed(repository: &Repository, workshop: &Workshop, why: &str) -> Check {
    let differences = workshop.differences(repository);
    let log = workshop.build_log();
    let printed = format!("all it printed is in '{}'", log.display());
    match differences.is_ok_and(|differences| !differences.is_empty()) {
        true => {
            let says = format!("the last build failed, and the work tree has changed since: {why}");
            let hint = format!("'git rts run' builds again; {printed}");
            Check::warn("build", says, hint)
        }
        false => {
            let says = format!("the last build failed, so nothing can be tested: {why}");
            let hint = format!("{printed}; 'git rts run' builds again");
            Check::fail("build", says, hint)
        }
    }
}
