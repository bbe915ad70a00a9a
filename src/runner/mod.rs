//! Runners: how a project's tests are built, listed and run one at a time.

mod ask;
pub mod automake;
mod build;
pub mod cargo;
pub mod command;
mod complaints;
pub mod ctest;
mod definition;
mod descendants;
mod detect;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod follow;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "follow/elsewhere.rs"]
pub mod follow;
pub mod interrupt;
mod launch;
pub mod make;
mod makefile;
pub mod meson;
pub mod needs;
pub mod pool;
pub mod process;
mod room;
mod saves;
pub mod schedule;
mod shell;
mod survivors;
pub mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Result;
use crate::masquerade::Backend;
use crate::repo::RepoPath;

pub use build::{Extent, build};
pub use command::commands;
pub use definition::Definition;
pub use detect::{detect, fitting};
pub use interrupt::Interrupt;
pub use launch::{Expected, Judge, Launch, Outcome};
pub use needs::Needs;
pub use pool::run as run_one;
pub use pool::{Finished, Limits, Run, run_all};
pub use room::left_on_disk;
pub use saves::Saves;
pub use survivors::end_survivors;

/// Every runner, in the order in which they are tried on a project that names none.
static RUNNERS: [&dyn Runner; 6] = [
    &ctest::Ctest,
    &meson::Meson,
    &automake::Automake,
    &cargo::Cargo,
    &make::Make,
    &command::ByCommand,
];

/// How long a test may take when neither it nor the configuration says so: what CTest allows.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1500);

/// What runners need for themselves in a build folder. Tests look at it only through their runner, and all that it says is in their
/// definitions.
pub const OWN_FOLDER: &str = ".git-rts";

/// Where a project is built: a copy of its tree that is ours, and a build folder beside it.
#[derive(Debug, Clone)]
pub struct Site {
    pub tree: PathBuf,
    pub build: PathBuf,
    /// Set, or not set, for everything that builds, lists or runs, over what we inherited.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// How many processes a build may use.
    pub jobs: usize,
}

/// What the configuration says about building and testing.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The runner's name; without one it is detected.
    pub runner: Option<String>,
    /// Options for the project's configuration (cmake, configure, meson setup), as a shell reads them.
    pub configure: Option<String>,
    /// Takes the place of the runner's own way to build.
    pub build: Option<String>,
    /// Prints a test a line (runner `command`).
    pub list: Option<String>,
    /// Runs the test that takes the place of `{test}` (runner `command`).
    pub run: Option<String>,
    /// For tests that do not have a limit of their own.
    pub timeout: Option<Duration>,
}

/// A command that configures or builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// For people: "configure", "build".
    pub what: &'static str,
    pub command: Vec<OsString>,
    pub folder: PathBuf,
}

/// One unit that can be run alone.
#[derive(Debug, Clone)]
pub struct Test {
    /// No two tests of a listing have the same.
    pub name: String,
    /// What is compared between versions, the same on every machine.
    pub definition: Definition,
    /// How it is run here.
    pub launch: Launch,
    /// What must run before it, and what must not run beside it.
    pub needs: Needs,
}

impl Test {
    /// A command that runs at the top of the tree, with nothing more to be said of it.
    fn at_the_top(
        name: String,
        command: Vec<OsString>,
        judge: Judge,
        (site, settings): (&Site, &Settings),
        places: &definition::Places,
    ) -> Self {
        Test {
            definition: Definition {
                command: command.iter().map(|word| places.general(word)).collect(),
                working_directory: "{tree}".to_owned(),
                ..Definition::default()
            },
            launch: Launch {
                command,
                environment: site.environment.clone(),
                folder: site.tree.clone(),
                timeout: settings.timeout.or(Some(DEFAULT_TIMEOUT)),
                judge,
                ..Launch::default()
            },
            needs: Needs {
                name: name.clone(),
                ..Needs::default()
            },
            name,
        }
    }
}

/// A way to build a project and to list its tests. Everything else about a test is data of the test.
pub trait Runner: Send + Sync {
    fn name(&self) -> &'static str;

    /// Why a tree looks as if its tests were run this way, if it does.
    fn evidence(&self, tree: &std::path::Path) -> Option<String>;

    /// The programs without which a tree can neither be built nor its tests be listed.
    fn tools(&self, tree: &std::path::Path) -> Vec<&'static str>;

    /// The back end that its builds bring along; none where compilers of C are to count.
    fn backend(&self) -> Option<Backend> {
        None
    }

    /// Whether its builds take in every change of a file with this path, so that nothing needs to be built from nothing.
    fn takes_in(&self, _path: &RepoPath) -> bool {
        false
    }

    /// Takes away from a build folder what was made of the tree, for these changes, and answers whether the rest may stay.
    fn clears(
        &self,
        _build: &std::path::Path,
        _tree: &std::path::Path,
        _changed: &[&RepoPath],
    ) -> bool {
        false
    }

    /// Whether a build, given what it said, may have failed for what an earlier one left. If so, that is gone now.
    fn forgets(&self, _site: &Site, _said: &str) -> bool {
        false
    }

    /// What is switched off in a site that was configured, and may bring tests.
    fn switched_off(&self, _site: &Site) -> Vec<String> {
        Vec::new()
    }

    /// The commands that configure and build, in order, as the site is now.
    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step>;

    /// The tests of a site that was built.
    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>>;
}

/// Gives a second test of the same name another one, so that names identify.
fn with_names_of_their_own(tests: &mut [Test]) {
    names_of_their_own(tests.iter_mut().map(|test| &mut test.name));
}

fn names_of_their_own<'a>(names: impl IntoIterator<Item = &'a mut String>) {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for name in names {
        let mut count = *seen
            .entry(name.clone())
            .and_modify(|count| *count += 1)
            .or_insert(1);
        if count > 1 {
            let stem = name.clone();
            while seen.contains_key(name) {
                *name = format!("{stem} #{count}");
                count += 1;
            }
            seen.insert(name.clone(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_the_same_name_are_told_apart() {
        let test = |name: &str| Test {
            name: name.to_owned(),
            definition: Definition::default(),
            launch: Launch::default(),
            needs: Needs::default(),
        };
        let mut tests = ["a", "b", "a", "a #2", "a"].map(test);
        with_names_of_their_own(&mut tests);
        let names: std::collections::BTreeSet<_> = tests.iter().map(|test| &test.name).collect();
        assert_eq!(names.len(), 5, "{names:?}");
        assert!(names.contains(&"a".to_owned()) && names.contains(&"a #2".to_owned()));
    }
}
