//! Which tests a head has that nobody built: those of the nearest version on the way that was recorded, unless a file has changed since that may define others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::candidates::class;
use super::{Selection, baseline};
use crate::config::Config;
use crate::error::Result;
use crate::history::{Histories, VersionKey};
use crate::recording::fingerprint;
use crate::repo::{RepoPath, Repository, Version};
use crate::select::{Plan, TestifiedFile};
use crate::witness::files::{Folders, Opened};
use crate::witness::{ChangedFile, FileClass, Way, assumption, files, rules};

/// Why the head may have tests that are not in the plan.
pub(super) fn may_lack(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    selection: &Selection,
) -> Result<Option<String>> {
    let plan = &selection.plan;
    let mut defining: Vec<&TestifiedFile> = plan.files.iter().collect();
    defining.retain(|file| may_define_tests(file));
    if defining.is_empty() {
        return Ok(None);
    }
    let known = listed(repository, config, histories, selection.head)?;
    if let Some(known) = known.filter(|known| knows_all_of(&known.tests, plan)) {
        let changes = repository.changes(&known.version, &selection.head)?;
        let since = changes.iter().filter_map(|change| {
            let file = ChangedFile::of(change, |path| class(config, path))?;
            Some(testified_since(file, &known))
        });
        let since: Vec<TestifiedFile> = since.filter(may_define_tests).collect();
        return Ok(told(since.iter()));
    }
    Ok(told(defining.into_iter()))
}

/// Of several the one to name; hidden files seldom define a test.
fn told<'f>(defining: impl Iterator<Item = &'f TestifiedFile>) -> Option<String> {
    let named = defining.min_by_key(|file| file.file.path.file_name().starts_with(b"."));
    named.map(|file| format!("'{}' changed", file.file.path))
}

/// What can be said of a file that changed since tests were listed: what was opened then counts, and not what the base opened.
fn testified_since(file: ChangedFile, known: &Listed) -> TestifiedFile {
    let opened = Opened {
        by_build: known.opened_by_build.as_ref(),
        by_tests: Vec::new(),
        folders: Folders::default(),
    };
    // Who includes it nobody has looked up.
    let assumed = assumption::Listed::AtTheBase { is_included: false };
    let certificates = rules::testify(file.class).into_iter();
    let certificates = certificates
        .chain(files::testify(&file, &opened))
        .chain(assumption::testify(&file, assumed, &opened));
    // Of what the project says to be everybody's, nobody else speaks.
    let certificates = certificates.filter(|_| file.class != FileClass::Global);
    TestifiedFile {
        certificates: certificates.map(Arc::new).collect(),
        file,
    }
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
    /// The files that were opened to build it and to list its tests.
    opened_by_build: Option<BTreeSet<RepoPath>>,
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
        opened_by_build: about.opened_by_build,
    }))
}

/// One of the plan that was no test there is no test at the head, and no tool knows it.
fn knows_all_of(tests: &BTreeSet<String>, plan: &Plan) -> bool {
    plan.tests.iter().all(|test| tests.contains(&test.name))
}
