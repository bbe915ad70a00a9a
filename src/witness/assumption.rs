//! What stands in for the witnesses that cannot speak: assumptions, which are printed.

use super::{Certificate, Certified, ChangedFile, FileClass, Way, Witness};

/// C sources are for compilers.
pub const SOURCES_ARE_NOT_READ: &str = "C sources and headers are read by compilers, not by tests or by programs that make other sources";
/// Without a build nobody knows the tests of the head.
pub const SOURCES_DEFINE_NO_TESTS: &str = "C sources and headers do not say which tests there are";
/// The paper's own.
pub const CONTROLLED: &str =
    "a test that executes the same code in the same environment behaves the same";

/// What is assumed of a changed file; `is_listed` tells that the tests of the head are known, `unseen` which tests read nobody
/// knows what.
#[must_use]
pub fn testify(file: &ChangedFile, is_listed: bool, unseen: &[bool]) -> Vec<Certificate> {
    if file.class != FileClass::Source {
        return Vec::new();
    }
    let assumed = |way, evidence: &str, tests| Certificate {
        way,
        witness: Witness::Assumption,
        evidence: evidence.to_owned(),
        tests,
    };
    // Where it can be seen who opens a file, nothing need be assumed.
    let tests = match file.is_only_modified {
        true => Certified::Those(unseen.to_vec()),
        false => Certified::All,
    };
    let mut certificates = vec![assumed(Way::Read, SOURCES_ARE_NOT_READ, tests)];
    if !is_listed {
        certificates.push(assumed(
            Way::Defines,
            SOURCES_DEFINE_NO_TESTS,
            Certified::All,
        ));
    }
    certificates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::RepoPath;

    #[test]
    fn who_was_seen_to_read_a_source_is_not_assumed_not_to() {
        let file = |is_only_modified| ChangedFile {
            path: RepoPath::new(*b"a.c"),
            moved_from: None,
            class: FileClass::Source,
            is_only_modified,
        };
        let read = |file: &ChangedFile, test: usize| {
            let all = testify(file, true, &[false, true]);
            all.iter()
                .any(|one| one.way == Way::Read && one.tests.contains(test))
        };
        assert!(!read(&file(true), 0) && read(&file(true), 1));
        assert!(read(&file(false), 0));
    }
}
