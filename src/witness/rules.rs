//! The rules witness: the project's configuration says that some files affect no test.

use super::{Certificate, Certified, FileClass, Way, Witness};

/// What the rules say about a changed file: of an ignored one, everything.
#[must_use]
pub fn testify(class: FileClass) -> Vec<Certificate> {
    if class != FileClass::Ignored {
        return Vec::new();
    }
    let certificate = |way| Certificate {
        way,
        witness: Witness::Rules,
        evidence: "'files.ignore' says that it affects no test".to_owned(),
        tests: Certified::All,
    };
    Way::ALL.map(certificate).to_vec()
}
