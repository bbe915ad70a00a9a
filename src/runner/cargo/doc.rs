//! Tests in documentation: one test for each library, because rustdoc compiles and runs all of them in one go.

use std::ffi::{OsStr, OsString};

use super::super::ask::answer;
use super::super::definition::Places;
use super::super::{Judge, Settings, Site, Test};
use super::invocation::Documented;
use super::names::DOC;

/// A test for each library whose documentation holds tests.
pub(super) fn tests(
    documented: &[Documented],
    (site, settings): (&Site, &Settings),
    places: &Places,
) -> Vec<Test> {
    let with_tests = documented
        .iter()
        .filter(|one| !is_without_tests(one, site, settings));
    let test = |one: &Documented| {
        let name = format!("{} {DOC}", one.package);
        let command = command(one, site, settings, &[]);
        let mut test = Test::at_the_top(name, command, Judge::default(), (site, settings), places);
        // cargo takes a lock on its folder.
        test.needs.alone = true;
        test
    };
    with_tests.map(test).collect()
}

fn command(one: &Documented, site: &Site, settings: &Settings, more: &[&str]) -> Vec<OsString> {
    // A package of the same name may come from elsewhere, in another version.
    let package = format!("file://{}#{}", one.folder.display(), one.package);
    let mut words = vec![DOC, "-p", &package];
    words.extend(more);
    let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
    super::test_of(site, settings, &words)
}

/// Whether rustdoc says that there are none; where it says nothing, it will when they run.
fn is_without_tests(one: &Documented, site: &Site, settings: &Settings) -> bool {
    let command = command(one, site, settings, &["--", "--list"]);
    answer(site, &site.tree, &command, "").is_ok_and(|said| {
        let printed = String::from_utf8_lossy(&said.stdout);
        said.status.success() && printed.lines().any(|line| line.starts_with("0 tests,"))
    })
}
