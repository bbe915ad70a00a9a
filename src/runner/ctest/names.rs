//! The names of the tests in somebody's own build folder, in the order of CTest's numbers.

use std::path::Path;

use super::super::ask::ask;
use super::super::{Site, names_of_their_own, shell};
use super::listing;
use crate::error::{Error, Result};

/// Asks CTest. The names are those that a listing of ours would have.
pub fn names_in(build: &Path) -> Result<Vec<String>> {
    if !build.join("CTestTestfile.cmake").is_file() {
        return Err(
            Error::new(format!("'{}' is no build with tests", build.display()))
                .hint("name the folder in which 'ctest' runs your tests: '--test-dir DIR'"),
        );
    }
    let site = Site {
        tree: build.to_owned(),
        build: build.to_owned(),
        environment: Vec::new(),
        jobs: 1,
    };
    let command = shell::words(["ctest".as_ref(), "--show-only=json-v1".as_ref()]);
    let listed = listing::parse(&ask(&site, build, &command, "")?)?;
    let mut names: Vec<String> = listed.into_iter().map(|test| test.name).collect();
    names_of_their_own(&mut names);
    Ok(names)
}
