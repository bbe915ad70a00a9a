//! What stands in for the witnesses that cannot speak: assumptions, which are printed.

use super::files::Opened;
use super::{Certificate, Certified, ChangedFile, FileClass, Way, Witness};
use crate::history::Looked;

/// C sources are for compilers.
pub const SOURCES_ARE_NOT_READ: &str = "C sources and headers are read by compilers, not by tests or by programs that make other sources";
/// The same of Rust, which cargo asks about.
pub const ASKED_IS_NOT_READ: &str =
    "who only asks about a source of Rust that the build compiles does so to learn how old it is";
/// Without a build nobody knows the tests of the head.
pub const SOURCES_DEFINE_NO_TESTS: &str = "C sources and headers do not say which tests there are";
/// Of what is outside of the tree only that is seen which is compiled.
pub const OUTSIDE_IS_COMPILED: &str = "headers outside of the tree are read by compilers alone";
/// The paper's own.
pub const CONTROLLED: &str =
    "a test that executes the same code in the same environment behaves the same";

/// How the tests of a head are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// They were listed.
    ByItself,
    /// They are those of the base; whether C of the tree includes the file is known.
    AtTheBase { is_included: bool },
}

/// What is assumed of a changed file.
#[must_use]
pub fn testify(file: &ChangedFile, listed: Listed, opened: &Opened<'_>) -> Vec<Certificate> {
    let assumed = |way, evidence: &str, tests| Certificate {
        way,
        witness: Witness::Assumption,
        evidence: evidence.to_owned(),
        tests,
    };
    if file.class == FileClass::Outside {
        return [Way::Read, Way::Defines]
            .map(|way| assumed(way, OUTSIDE_IS_COMPILED, Certified::All))
            .to_vec();
    }
    if file.class != FileClass::Source {
        let asked = asked_about_rust(file, opened).into_iter();
        return asked
            .map(|tests| assumed(Way::Read, ASKED_IS_NOT_READ, tests))
            .collect();
    }
    // Where it can be seen who looks at a file, nothing need be assumed; and who was seen to open one that is gone reads sources.
    let places = || file.moved_from.iter().chain([&file.path]);
    let tests = opened.by_tests.iter().map(|looked| match looked {
        None => true,
        // A build tool that a test calls asks how old sources are.
        Some(looked) if file.is_only_modified => looked.only_asked_about(&file.path),
        Some(looked) if looked.beyond.is_some() => false,
        Some(looked) => !places().any(|place| looked.touched.contains(place)),
    });
    let tests = Certified::Those(tests.collect());
    let mut certificates = vec![assumed(Way::Read, SOURCES_ARE_NOT_READ, tests)];
    // Others that may hold C, such as 'Makefile.inc', may be anything.
    let is_c = |name: &[u8]| name.ends_with(b".c") || name.ends_with(b".h");
    if let Listed::AtTheBase { is_included } = listed
        && (is_included || is_c(file.path.file_name()))
    {
        certificates.push(assumed(
            Way::Defines,
            SOURCES_DEFINE_NO_TESTS,
            Certified::All,
        ));
    }
    certificates
}

/// Who only asked about a source of Rust of which the build was made: cargo asks about those of all packages.
fn asked_about_rust(file: &ChangedFile, opened: &Opened<'_>) -> Option<Certified> {
    let is_compiled = opened
        .by_build
        .is_some_and(|by_build| by_build.contains(&file.path));
    let is_rust = file.path.file_name().ends_with(b".rs");
    if !(is_rust && is_compiled && file.is_only_modified && file.class == FileClass::Other) {
        return None;
    }
    let asked =
        |looked: &Option<&Looked>| looked.is_some_and(|looked| looked.only_asked_about(&file.path));
    let asked: Vec<bool> = opened.by_tests.iter().map(asked).collect();
    asked.contains(&true).then_some(Certified::Those(asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Beyond;
    use crate::repo::RepoPath;
    use crate::witness::files::Folders;

    #[test]
    fn who_was_seen_to_read_a_source_is_not_assumed_not_to() {
        let looked = |path: &str| Looked {
            touched: [RepoPath::new(path.as_bytes())].into(),
            beyond: None,
        };
        let (own, other) = (looked("a.c"), looked("b.c"));
        let opened = Opened {
            by_build: None,
            by_tests: vec![Some(&own), Some(&other), None],
            folders: Folders::default(),
        };
        let readers = |is_only_modified, moved_from: Option<&str>| {
            let file = ChangedFile {
                path: RepoPath::new(*b"a.c"),
                moved_from: moved_from.map(|path| RepoPath::new(path.as_bytes())),
                class: FileClass::Source,
                is_only_modified,
            };
            let all = testify(&file, Listed::ByItself, &opened);
            [0, 1, 2].map(|test| {
                all.iter()
                    .any(|one| one.way == Way::Read && one.tests.contains(test))
            })
        };
        // Of a modified file the files witness speaks for those who are known.
        assert_eq!(readers(true, None), [false, false, true]);
        assert_eq!(readers(false, None), [false, true, true]);
        assert_eq!(readers(false, Some("b.c")), [false, false, true]);
    }

    #[test]
    fn only_what_is_certainly_c_defines_no_tests() {
        let opened = Opened {
            by_build: None,
            by_tests: Vec::new(),
            folders: Folders::default(),
        };
        let is_assumed = |name: &str, is_included| {
            let file = ChangedFile {
                path: RepoPath::new(name.as_bytes()),
                moved_from: None,
                class: FileClass::Source,
                is_only_modified: true,
            };
            let all = testify(&file, Listed::AtTheBase { is_included }, &opened);
            all.iter().any(|one| one.way == Way::Defines)
        };
        assert!(is_assumed("a.c", false) && is_assumed("a.h", false));
        assert!(is_assumed("table.inc", true) && !is_assumed("Makefile.inc", false));
    }

    #[test]
    fn who_asks_how_old_a_source_of_rust_is_does_not_read_it() {
        let path = |path: &str| RepoPath::new(path.as_bytes());
        let looked = |is_asked: bool| Looked {
            touched: [path("src/lib.rs"), path("data.txt")].into(),
            beyond: Some(Beyond {
                asked: match is_asked {
                    true => [path("src/lib.rs"), path("data.txt")].into(),
                    false => [].into(),
                },
                ..Beyond::default()
            }),
        };
        let (asked, read) = (looked(true), looked(false));
        let by_build = [path("src/lib.rs")].into();
        let who = |name: &str, is_only_modified, by_build| {
            let opened = Opened {
                by_build,
                by_tests: vec![Some(&asked), Some(&read), None],
                folders: Folders::default(),
            };
            let file = ChangedFile {
                path: path(name),
                moved_from: None,
                class: FileClass::Other,
                is_only_modified,
            };
            let all = testify(&file, Listed::ByItself, &opened);
            [0, 1, 2].map(|test| all.iter().any(|one| one.tests.contains(test)))
        };
        assert_eq!(
            who("src/lib.rs", true, Some(&by_build)),
            [true, false, false]
        );
        assert_eq!(who("src/lib.rs", false, Some(&by_build)), [false; 3]);
        assert_eq!(who("src/lib.rs", true, None), [false; 3]);
        assert_eq!(who("data.txt", true, Some(&by_build)), [false; 3]);
    }
}
