//! The definition witness: the test is the same in both listings, whatever file changed.

use super::{Certificate, Certified, Way, Witness};

/// The definitions of one test, encoded by its runner: as it was recorded, and as the head lists it.
#[derive(Debug, Clone, Copy)]
pub struct Definitions<'a> {
    pub recorded: Option<&'a [u8]>,
    pub listed: Option<&'a [u8]>,
}

impl Definitions<'_> {
    #[must_use]
    pub fn are_the_same(&self) -> bool {
        self.recorded.is_some() && self.recorded == self.listed
    }
}

/// Speaks for every file, once the tests of the head are listed.
#[must_use]
pub fn testify<'a>(tests: impl IntoIterator<Item = Definitions<'a>>) -> Certificate {
    let same = tests.into_iter().map(|test| test.are_the_same());
    Certificate {
        way: Way::Defines,
        witness: Witness::Definition,
        evidence: "its command, environment, working directory and properties are the same"
            .to_owned(),
        tests: Certified::Those(same.collect()),
    }
}
