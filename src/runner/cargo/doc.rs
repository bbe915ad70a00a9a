//! Tests in documentation: one test for each library, because rustdoc compiles and runs all of them in one go.

use std::ffi::{OsStr, OsString};

use super::super::ask::answer;
use super::super::definition::Places;
use super::super::{Judge, Settings, Site, Test};
use super::documented::Memory;
use super::invocation::Documented;
use super::names::DOC;

/// In the place of rustdoc: cargo makes what documentation is compiled with, and nobody compiles it.
const NOBODY: [&str; 2] = ["--config", "build.rustdoc='true'"];
const LIST: [&str; 2] = ["--", "--list"];

/// A test for each library whose documentation holds tests.
pub(super) fn tests(
    documented: &[Documented],
    mut memory: Memory,
    (site, settings): (&Site, &Settings),
    places: &Places,
) -> Vec<Test> {
    let mut tests = Vec::new();
    for one in documented {
        let library = package(one);
        let holds_tests = match memory.holds_tests(&library) {
            Some(known) => {
                // What the test reads is made now, so that it can be compared; who cannot be made tells so as a test.
                let making = command(one, site, settings, &[&NOBODY[..], &LIST].concat());
                let made = answer(site, &site.tree, &making, "");
                known || !made.is_ok_and(|made| made.status.success())
            }
            None => {
                let question = command(one, site, settings, &LIST);
                let found = !is_without_tests(site, &question);
                memory.note(library, found);
                found
            }
        };
        if holds_tests {
            let name = format!("{} {DOC}", one.package);
            let command = command(one, site, settings, &[]);
            let judge = Judge::default();
            let mut test = Test::at_the_top(name, command, judge, (site, settings), places);
            // cargo takes a lock on its folder.
            test.needs.alone = true;
            tests.push(test);
        }
    }
    memory.keep();
    tests
}

/// How cargo calls it: a package of the same name may come from elsewhere, in another version.
fn package(one: &Documented) -> String {
    format!("file://{}#{}", one.folder.display(), one.package)
}

fn command(one: &Documented, site: &Site, settings: &Settings, more: &[&str]) -> Vec<OsString> {
    let package = package(one);
    let mut words = vec![DOC, "-p", &package];
    words.extend(more);
    let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
    super::test_of(site, settings, &words)
}

/// Whether rustdoc says that there are none; where it says nothing, it will when they run.
fn is_without_tests(site: &Site, question: &[OsString]) -> bool {
    answer(site, &site.tree, question, "").is_ok_and(|said| {
        let printed = String::from_utf8_lossy(&said.stdout);
        said.status.success() && printed.lines().any(|line| line.starts_with("0 tests,"))
    })
}
