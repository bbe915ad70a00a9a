//! What stands in for the witnesses that cannot speak: assumptions, which are printed.

use super::{Certificate, Certified, FileClass, Way, Witness};

/// C sources are for compilers.
pub const SOURCES_ARE_NOT_READ: &str = "C sources and headers are read by compilers, not by tests or by programs that make other sources";
/// Without a build nobody knows the tests of the head.
pub const SOURCES_DEFINE_NO_TESTS: &str = "C sources and headers do not say which tests there are";
/// The paper's own.
pub const CONTROLLED: &str =
    "a test that executes the same code in the same environment behaves the same";

/// What is assumed of a changed file; `is_listed` tells that the tests of the head are known.
#[must_use]
pub fn testify(class: FileClass, is_listed: bool) -> Vec<Certificate> {
    if class != FileClass::Source {
        return Vec::new();
    }
    let assumed = |way, evidence: &str| Certificate {
        way,
        witness: Witness::Assumption,
        evidence: evidence.to_owned(),
        tests: Certified::All,
    };
    let mut certificates = vec![assumed(Way::Read, SOURCES_ARE_NOT_READ)];
    if !is_listed {
        certificates.push(assumed(Way::Defines, SOURCES_DEFINE_NO_TESTS));
    }
    certificates
}
