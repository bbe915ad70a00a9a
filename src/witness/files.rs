//! The files witness: a file that nobody opened has not been read, and what was not read when everything was built is not compiled in.
//!
//! It speaks of files whose content changed. Who looks for a file that is not there, or only at its size, is not seen: of files that come, go or move the witness knows nothing.

use std::collections::BTreeSet;

use super::{Certificate, Certified, ChangedFile, Way, Witness};
use crate::repo::RepoPath;

/// What was opened when the base version was recorded; nothing where that is not known.
pub struct Opened<'a> {
    pub by_build: Option<&'a BTreeSet<RepoPath>>,
    /// For each candidate.
    pub by_tests: Vec<Option<&'a BTreeSet<RepoPath>>>,
}

/// What the witness says about a changed file.
#[must_use]
pub fn testify(file: &ChangedFile, opened: &Opened<'_>) -> Vec<Certificate> {
    if !file.is_only_modified {
        return Vec::new();
    }
    let mut certificates = Vec::new();
    let mut certify = |way, evidence: &str, tests| {
        certificates.push(Certificate {
            way,
            witness: Witness::Files,
            evidence: evidence.to_owned(),
            tests,
        });
    };
    let is_untouched = |opened: &BTreeSet<RepoPath>| !opened.contains(&file.path);
    if opened.by_build.is_some_and(is_untouched) {
        let evidence = "nothing opened it when the project was built and its tests were listed";
        certify(Way::CompiledIn, evidence, Certified::All);
        certify(Way::Defines, evidence, Certified::All);
    }
    let tests = opened.by_tests.iter();
    let untouched: Vec<bool> = tests
        .map(|opened| opened.is_some_and(is_untouched))
        .collect();
    if untouched.contains(&true) {
        let evidence = "neither it nor a process that it started opened it";
        certify(Way::Read, evidence, Certified::Those(untouched));
    }
    certificates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::FileClass;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn changed(is_only_modified: bool) -> ChangedFile {
        ChangedFile {
            path: path("data"),
            moved_from: None,
            class: FileClass::Other,
            is_only_modified,
        }
    }

    fn ways(certificates: &[Certificate], test: usize) -> Vec<Way> {
        let own = certificates.iter();
        own.filter(|certificate| certificate.tests.contains(test))
            .map(|certificate| certificate.way)
            .collect()
    }

    #[test]
    fn only_who_did_not_open_it_is_certified() {
        let (data, other) = ([path("data")].into(), [path("other")].into());
        let opened = Opened {
            by_build: Some(&other),
            by_tests: vec![Some(&data), Some(&other), None],
        };
        let found = testify(&changed(true), &opened);
        assert_eq!(ways(&found, 0), [Way::CompiledIn, Way::Defines]);
        assert_eq!(ways(&found, 1), [Way::CompiledIn, Way::Defines, Way::Read]);
        assert_eq!(ways(&found, 2), [Way::CompiledIn, Way::Defines]);
        let opened = Opened {
            by_build: Some(&data),
            ..opened
        };
        assert_eq!(ways(&testify(&changed(true), &opened), 1), [Way::Read]);
        let opened = Opened {
            by_build: None,
            ..opened
        };
        assert_eq!(ways(&testify(&changed(true), &opened), 1), [Way::Read]);
    }

    #[test]
    fn of_files_that_come_or_go_it_says_nothing() {
        let nothing = BTreeSet::new();
        let opened = Opened {
            by_build: Some(&nothing),
            by_tests: vec![Some(&nothing)],
        };
        assert_eq!(testify(&changed(false), &opened), []);
    }
}
