//! The files witness: a file that nobody looked at has not been read, and what was not opened when everything was built is not compiled in.
//!
//! A file that comes is noticed by who looked for it and did not find it, or read its folder; one that goes by who looked at it, or
//! read its folder. Where only what is opened is seen, the witness speaks of files whose content changed, and of no others.

use std::collections::BTreeSet;

use super::{Certificate, Certified, ChangedFile, Way, Witness};
use crate::history::{Beyond, Looked};
use crate::repo::RepoPath;

/// What was looked at when the base version was recorded; nothing where that is not known.
pub struct Opened<'a> {
    pub by_build: Option<&'a BTreeSet<RepoPath>>,
    /// For each candidate.
    pub by_tests: Vec<Option<&'a Looked>>,
    /// The folders of both versions.
    pub folders: Folders,
}

/// The folders of two versions, by their paths.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    pub before: BTreeSet<RepoPath>,
    pub after: BTreeSet<RepoPath>,
}

/// What the witness says about a changed file.
#[must_use]
pub fn testify(file: &ChangedFile, opened: &Opened<'_>) -> Vec<Certificate> {
    let mut certificates = Vec::new();
    let mut certify = |way, evidence: &str, tests| {
        certificates.push(Certificate {
            way,
            witness: Witness::Files,
            evidence: evidence.to_owned(),
            tests,
        });
    };
    let is_unopened = |opened: &BTreeSet<RepoPath>| !opened.contains(&file.path);
    if file.is_only_modified && opened.by_build.is_some_and(is_unopened) {
        let evidence = "nothing opened it when the project was built and its tests were listed";
        certify(Way::CompiledIn, evidence, Certified::All);
        certify(Way::Defines, evidence, Certified::All);
    }
    let is_clear = |looked: &Looked| match (&looked.beyond, file.is_only_modified) {
        (_, true) => !looked.touched.contains(&file.path),
        (Some(beyond), false) => !notices(looked, beyond, file, &opened.folders),
        (None, false) => false,
    };
    let tests = opened.by_tests.iter();
    let clear: Vec<bool> = tests.map(|looked| looked.is_some_and(is_clear)).collect();
    if clear.contains(&true) {
        let evidence = match file.is_only_modified {
            true => "neither it nor a process that it started looked at it",
            false => {
                "neither it nor a process that it started looked at it or for it, or into its folder"
            }
        };
        certify(Way::Read, evidence, Certified::Those(clear));
    }
    certificates
}

/// Whether a test can notice that a file came, went, or became something else.
fn notices(looked: &Looked, beyond: &Beyond, file: &ChangedFile, folders: &Folders) -> bool {
    let went = file.moved_from.iter().chain([&file.path]);
    let came = [&file.path];
    went.clone().any(|path| {
        let gone = changed_folders(path, &folders.after);
        let is_touched = at_or_below(&looked.touched, path);
        is_touched
            || gone.iter().any(|folder| looked.touched.contains(folder))
            || is_listed(beyond, path, &gone)
    }) || came.into_iter().any(|path| {
        let new = changed_folders(path, &folders.before);
        at_or_below(&beyond.missing, path)
            || new.iter().any(|folder| beyond.missing.contains(folder))
            || is_listed(beyond, path, &new)
    })
}

/// The folders around a path that another version does not have.
fn changed_folders(path: &RepoPath, others: &BTreeSet<RepoPath>) -> Vec<RepoPath> {
    path.ancestors()
        .take_while(|folder| !others.contains(folder))
        .collect()
}

/// Whether a test read the entries of the folder in which something came or went.
fn is_listed(beyond: &Beyond, path: &RepoPath, changed: &[RepoPath]) -> bool {
    let top = changed.last().unwrap_or(path);
    let within = top.ancestors().next();
    let within = within.unwrap_or_else(|| RepoPath::new(Vec::new()));
    beyond.listed.contains(&within) || changed.iter().any(|folder| beyond.listed.contains(folder))
}

/// Whether a set has a path, or one below it: a file may have become a folder.
fn at_or_below(set: &BTreeSet<RepoPath>, path: &RepoPath) -> bool {
    let below = path.entries();
    set.contains(path)
        || set
            .range(below.clone()..)
            .next()
            .is_some_and(|first| first.as_bytes().starts_with(below.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::FileClass;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn paths(texts: &[&str]) -> BTreeSet<RepoPath> {
        texts.iter().map(|text| path(text)).collect()
    }

    fn changed(file: &str, moved_from: Option<&str>, is_only_modified: bool) -> ChangedFile {
        ChangedFile {
            path: path(file),
            moved_from: moved_from.map(path),
            class: FileClass::Other,
            is_only_modified,
        }
    }

    fn opener(texts: &[&str]) -> Looked {
        Looked {
            touched: paths(texts),
            beyond: None,
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
        let (data, other) = (opener(&["data"]), opener(&["other"]));
        let (build_other, build_data) = (paths(&["other"]), paths(&["data"]));
        let opened = |by_build| Opened {
            by_build,
            by_tests: vec![Some(&data), Some(&other), None],
            folders: Folders::default(),
        };
        let file = changed("data", None, true);
        let found = testify(&file, &opened(Some(&build_other)));
        assert_eq!(ways(&found, 0), [Way::CompiledIn, Way::Defines]);
        assert_eq!(ways(&found, 1), [Way::CompiledIn, Way::Defines, Way::Read]);
        assert_eq!(ways(&found, 2), [Way::CompiledIn, Way::Defines]);
        for by_build in [Some(&build_data), None] {
            assert_eq!(ways(&testify(&file, &opened(by_build)), 1), [Way::Read]);
        }
    }

    #[test]
    fn where_only_what_is_opened_is_seen_files_may_come_and_go_unnoticed() {
        let (nothing, build) = (opener(&[]), paths(&[]));
        let opened = Opened {
            by_build: Some(&build),
            by_tests: vec![Some(&nothing)],
            folders: Folders::default(),
        };
        assert_eq!(testify(&changed("data", None, false), &opened), []);
    }

    /// Whether a test that looked so is certified for a file that came, went or moved.
    fn is_clear(looked: [&[&str]; 3], file: &ChangedFile, before: &[&str], after: &[&str]) -> bool {
        let [touched, missing, listed] = looked.map(paths);
        let looked = Looked {
            touched,
            beyond: Some(Beyond {
                missing,
                listed,
                ..Beyond::default()
            }),
        };
        let opened = Opened {
            by_build: None,
            by_tests: vec![Some(&looked)],
            folders: Folders {
                before: paths(before),
                after: paths(after),
            },
        };
        ways(&testify(file, &opened), 0) == [Way::Read]
    }

    #[test]
    fn a_file_that_comes_is_noticed_by_who_looked_for_it_or_into_its_folder() {
        let file = changed("d/e/new", None, false);
        let (before, after) = (&["d"][..], &["d", "d/e"][..]);
        let clear = |looked| is_clear(looked, &file, before, after);
        assert!(clear([&["d", "d/other"], &["d/x", "e"], &["", "other"]]));
        assert!(!clear([&[], &["d/e/new"], &[]]));
        // The folder came with it.
        assert!(!clear([&[], &["d/e"], &[]]));
        assert!(!clear([&[], &[], &["d"]]));
        // It may be a folder itself, behind a link.
        assert!(!clear([&[], &["d/e/new/x"], &[]]));
    }

    #[test]
    fn a_file_that_goes_is_noticed_by_who_looked_at_it_or_into_its_folder() {
        let file = changed("d/e/old", None, false);
        let clear = |looked, after: &[&str]| is_clear(looked, &file, &["d", "d/e"], after);
        assert!(clear([&["d/e"], &[], &["d"]], &["d", "d/e"]));
        assert!(!clear([&["d/e/old"], &[], &[]], &["d", "d/e"]));
        assert!(!clear([&[], &[], &["d/e"]], &["d", "d/e"]));
        // Its folder goes with it.
        assert!(!clear([&["d/e"], &[], &[]], &["d"]));
        assert!(!clear([&[], &[], &["d"]], &["d"]));
    }

    #[test]
    fn a_file_that_moves_is_noticed_at_both_ends() {
        let file = changed("new/x", Some("old/x"), false);
        let clear = |looked| is_clear(looked, &file, &["old"], &["new"]);
        assert!(clear([&["other"], &["new/y"], &["other"]]));
        assert!(!clear([&["old/x"], &[], &[]]));
        assert!(!clear([&[], &["new/x"], &[]]));
        assert!(!clear([&[], &[], &[""]]));
    }
}
