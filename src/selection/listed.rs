//! Which tests a head has that nobody built: those of the nearest version on the way that was recorded, unless a file has changed since that may define others.

use std::collections::BTreeSet;

use super::{Selection, baseline};
use crate::config::Config;
use crate::error::Result;
use crate::history::{Histories, VersionKey};
use crate::recording::fingerprint;
use crate::repo::{RepoPath, Repository, Version};
use crate::select::{Plan, TestifiedFile};
use crate::witness::{FileClass, Way};

/// Why the head may have tests that are not in the plan.
pub(super) fn may_lack(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    selection: &Selection,
) -> Result<Option<String>> {
    let files = selection.plan.files.iter();
    let mut defining: Vec<&TestifiedFile> = files.filter(|file| may_define_tests(file)).collect();
    if !defining.is_empty()
        && let Some(known) = listed(repository, config, histories, selection.head)?
        && knows_all_of(&known.tests, &selection.plan)
    {
        let changes = repository.changes(&known.version, &selection.head)?;
        let sides = changes.into_iter().flat_map(|one| [one.old, one.new]);
        let changed: BTreeSet<RepoPath> = sides.flatten().map(|file| file.path).collect();
        let told: BTreeSet<&RepoPath> = selection.plan.files.iter().flat_map(sides_of).collect();
        // What is as it was at the base, and was otherwise in between, nobody has looked at.
        if changed.iter().all(|path| told.contains(path)) {
            defining.retain(|file| {
                let is_of_the_tree = file.file.class != FileClass::Outside;
                !is_of_the_tree || sides_of(file).any(|path| changed.contains(path))
            });
        }
    }
    // Of several the one to name; hidden files seldom define a test.
    let named = defining
        .into_iter()
        .min_by_key(|file| file.file.path.file_name().starts_with(b"."));
    Ok(named.map(|file| format!("'{}' changed", file.file.path)))
}

fn sides_of(file: &TestifiedFile) -> impl Iterator<Item = &RepoPath> {
    [&file.file.path].into_iter().chain(&file.file.moved_from)
}

/// Whether nobody certifies that a file defines no test.
fn may_define_tests(file: &TestifiedFile) -> bool {
    let mut certificates = file.certificates.iter();
    let is_certified = certificates.any(|certificate| certificate.way == Way::Defines);
    // A build that makes a test of every source of a folder has another one.
    let is_another_source = file.file.class == FileClass::Source
        && !file.file.is_only_modified
        && !file.file.path.file_name().ends_with(b".h");
    !is_certified || is_another_source
}

/// A version whose tests were all listed.
struct Listed {
    version: Version,
    tests: BTreeSet<String>,
}

/// The nearest one on the way to the head, if it was built as the head would be.
fn listed(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    head: Version,
) -> Result<Option<Listed>> {
    let Some(history) = baseline::latest(repository, histories, head)? else {
        return Ok(None);
    };
    // What cannot be read is as good as not there.
    let (Ok(about), Ok(tests)) = (history.about(), history.tests()) else {
        return Ok(None);
    };
    let recorded = &about.fingerprint;
    let other = fingerprint::difference_without_build(recorded, config, repository);
    if about.partial || other.is_some() {
        return Ok(None);
    }
    let VersionKey { commit, tree } = history.version();
    let version = match commit {
        Some(commit) => Version::Commit { commit, tree },
        None => Version::WorkTree { tree },
    };
    let tests = tests.into_values().map(|test| test.name);
    Ok(Some(Listed {
        version,
        tests: tests.collect(),
    }))
}

/// One of the plan that was no test there is no test at the head, and no tool knows it.
fn knows_all_of(tests: &BTreeSet<String>, plan: &Plan) -> bool {
    plan.tests.iter().all(|test| tests.contains(&test.name))
}
