//! Selected tests as lists that other tools read: each names exactly these tests, and none where there are none.

pub mod cargo_test;
pub mod ctest;
pub mod github;
pub mod gtest;
pub mod lines;
pub mod make;
pub mod meson;
pub mod nextest;
pub mod unrun;

use std::collections::BTreeSet;

use crate::error::{Error, Result};

/// The names by which a tool may know tests that were listed: of several tests of one name, we call the second `name #2`.
///
/// A tool that goes by names then runs all of that name, which is safe. The name itself stays on the list, because a test may really be called so.
#[must_use]
pub fn known_names<'a>(chosen: &[&'a str], all: &BTreeSet<&str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let known = chosen.iter().flat_map(|name| {
        let stem = name.rsplit_once(" #").filter(|(stem, number)| {
            all.contains(stem) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        [Some(*name), stem.map(|(stem, _)| stem)]
    });
    known.flatten().filter(|name| seen.insert(*name)).collect()
}

/// That a tool cannot be told of a test. To leave it out would be to skip it.
fn cannot_name(name: &str, what: &str) -> Error {
    Error::new(format!("{what}, as in '{}'", name.escape_debug()))
        .hint("'git rts run' runs such tests, and '--format null' lists them")
}

/// Refuses names with a letter that the list cannot hold.
fn without<'a>(names: &[&'a str], letters: &[char], what: &str) -> Result<Vec<&'a str>> {
    match names.iter().find(|name| name.contains(letters)) {
        Some(name) => Err(cannot_name(name, what)),
        None => Ok(names.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_test_of_a_name_goes_by_that_name_too() {
        let all = BTreeSet::from(["a", "a #2", "b #2", "c"]);
        let known = known_names(&["a #2", "b #2", "a", "c"], &all);
        assert_eq!(known, ["a #2", "a", "b #2", "c"]);
    }
}
