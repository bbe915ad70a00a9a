//! The formats in which `select` and `run` list tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::commands::output::print_raw;
use crate::commands::values::at_least_one;
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::list::{
    cargo_test, ctest, github, gtest, known_names, lines, make, meson, nextest, unrun,
};
use crate::emit::plan_json::plan_json;
use crate::emit::plan_text::count;
use crate::emit::reasons::Teller;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::recording::settings;
use crate::repo::Repository;
use crate::runner::ctest::names_in;
use crate::runner::{Definition, detect};
use crate::selection::Selection;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A test a line
    Plain,
    /// Each test ends with a NUL, for 'xargs -0'
    Null,
    /// Every test with its reasons or its certificate, for programs
    Json,
    /// For 'ctest -I FILE', any version, however long; needs '--test-dir'
    Ctest,
    /// For 'ctest -R'
    CtestRegex,
    /// For 'ctest --tests-from-file' of CMake 3.29 and newer
    CtestFile,
    /// A CTestTestfile.cmake for an empty folder, in which 'ctest -I FILE', with the FILE of '--format ctest', runs the tests in our order; needs '--test-dir'
    CtestTestfile,
    /// For each folder a line: the folder, and the words for TESTS of its Makefile
    Automake,
    /// Words on one line, for 'make check TESTS="..."'
    Make,
    /// Arguments for 'meson test', one a line
    Meson,
    /// For '--gtest_filter='
    Gtest,
    /// An expression for 'cargo nextest run -E'
    Nextest,
    /// Arguments for 'cargo test', a line for each call
    CargoTest,
    /// The tests that are not to run, as JUnit XML
    Junit,
    /// A matrix for jobs of GitHub Actions, each with a 'shard' for 'git rts run --shard'
    GithubMatrix,
    /// The tests that are not to run, as TAP
    Tap,
}

impl Format {
    /// As people write it.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether a tool runs what is on the list, and nobody reads what is said beside it.
    fn is_for_tools(self) -> bool {
        self.reader("").is_some()
    }

    /// What the tool takes for every test that it finds, if there is such a word.
    fn everything(self) -> Option<&'static str> {
        match self {
            Format::CtestRegex => Some("."),
            Format::Gtest => Some("*"),
            Format::Nextest => Some("all()"),
            _ => None,
        }
    }

    /// The tool that reads the list, if there is one, and whether it can know tests that are run in this way.
    fn reader(self, runner: &str) -> Option<(&'static str, bool)> {
        // Whose tests commands of the project's own list and run, they know.
        let is = |names: &[&str]| runner == "command" || names.contains(&runner);
        match self {
            Format::Ctest | Format::CtestRegex | Format::CtestFile | Format::CtestTestfile => {
                Some(("CTest", is(&["ctest"])))
            }
            Format::Automake | Format::Make => Some(("make", is(&["automake", "make"]))),
            Format::Meson => Some(("Meson", is(&["meson"]))),
            Format::Gtest => Some(("GoogleTest", runner != "cargo")),
            Format::Nextest | Format::CargoTest => Some(("cargo", runner == "cargo")),
            Format::Plain
            | Format::Null
            | Format::Json
            | Format::Junit
            | Format::GithubMatrix
            | Format::Tap => None,
        }
    }
}

/// How tests are listed.
#[derive(Debug, Args)]
pub(super) struct Listing {
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    pub format: Format,
    /// A CMake build of your own: only its tests are listed, and those that are new there
    #[arg(long, value_name = "DIR")]
    test_dir: Option<PathBuf>,
    /// The most parts for '--format github-matrix'
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    parts: std::num::NonZeroUsize,
}

impl Listing {
    /// Says what is wrong with the wishes before anything is done.
    pub(super) fn check(&self, repository: &Repository, config: &Config) -> Result<()> {
        if let Some(top) = repository.workdir().filter(|_| self.format.is_for_tools()) {
            let runner = detect(top, &settings(config))?.name();
            if let Some((tool, false)) = self.format.reader(runner) {
                return Err(Error::new(format!(
                    "the tests of this project are run by '{runner}', and {tool} knows none of them"
                ))
                .hint(format!("'--format {}' lists them", for_runner(runner)))
                .exit_code(ExitCode::Usage));
            }
        }
        let needs_build = matches!(self.format, Format::Ctest | Format::CtestTestfile);
        if needs_build && self.test_dir.is_none() {
            return Err(
                Error::new("tests are numbered by their build, and nobody says which")
                    .hint("name it: '--test-dir build'")
                    .exit_code(ExitCode::Usage),
            );
        }
        Ok(())
    }

    /// Whether there is a build that can be asked for its tests.
    pub(super) fn knows_tests(&self) -> bool {
        self.test_dir.is_some()
    }

    /// Prints the tests that are to run.
    pub(super) fn print(&self, repository: &Repository, selection: &Selection) -> Result<()> {
        let plan = &selection.plan;
        let names = plan.order.iter().map(|place| &plan.tests[*place].name);
        let mut chosen: Vec<&str> = names.map(String::as_str).collect();
        let mut all: BTreeSet<&str> = plan.tests.iter().map(|test| test.name.as_str()).collect();
        let listed = match &self.test_dir {
            Some(folder) => names_in(folder)?,
            None => Vec::new(),
        };
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        if self.test_dir.is_some() {
            numbers.extend(listed.iter().map(String::as_str).zip(1..));
            let known = chosen.len();
            chosen.retain(|name| numbers.contains_key(name));
            if chosen.len() < known {
                let missing = count(known - chosen.len(), "selected test");
                let missing = format!("{missing} not in this build");
                // One that the head has no more is not known to be gone before it is built.
                if selection.may_lack.is_none() {
                    return Err(Error::new(missing).hint(
                        "bring it up to date, or configure it as 'build.configure' in '.git-rts.toml' says",
                    ));
                }
                anstream::eprintln!("warning: {missing}");
            }
            if let Some(why) = &selection.may_lack {
                notice!("{why}: a test that it adds is on the list if this build is up to date");
            }
            // What nobody has run is not safe to skip.
            let new = listed.iter().map(String::as_str);
            let new: Vec<&str> = new.filter(|name| !all.contains(name)).collect();
            if !new.is_empty() {
                notice!("{} in this build", count(new.len(), "new test"));
            }
            chosen.splice(0..0, new);
            all.extend(numbers.keys());
        }
        if let Some(why) = selection
            .may_lack
            .as_ref()
            .filter(|_| self.test_dir.is_none())
        {
            let has_no_limit = plan.order.len() == plan.selected().count();
            if let Some(text) = self.format.everything().filter(|_| has_no_limit) {
                notice!("every test, also those that may be new: {why}");
                return print_raw(&format!("{text}\n"));
            }
            self.say_incomplete(why, selection.everything.is_some())?;
        }
        let known = || known_names(&chosen, &all);
        let text = match self.format {
            Format::Plain => lines::plain(&chosen)?,
            Format::Null => lines::null(&chosen)?,
            Format::Json => {
                let teller = Teller::new(selection, &mut Texts::new(repository)?)?;
                format!("{}\n", plan_json(selection, &teller))
            }
            Format::Ctest => {
                let numbers = chosen.iter().filter_map(|name| numbers.get(name));
                ctest::numbers(&numbers.copied().collect::<Vec<_>>())
            }
            Format::CtestRegex => ctest::regex(&known())?,
            Format::CtestFile => ctest::file(&known())?,
            Format::CtestTestfile => ctest::testfile(&self.build()?, &known())?,
            Format::Automake => folders(selection, &chosen)?,
            Format::Make => make::words(&known())?,
            Format::Meson => meson::arguments(&known())?,
            Format::Gtest => {
                let tests = plan.tests.iter();
                let defined: BTreeMap<&str, &[u8]> = tests
                    .map(|test| (test.name.as_str(), test.definition.as_slice()))
                    .collect();
                let filter = |name| defined.get(name).and_then(|test| filter_of(test));
                let called = known().into_iter().map(|name| (name, filter(name)));
                // Of what only the build at hand knows, CTest tells a name of its own.
                gtest::filter(&called.collect::<Vec<_>>(), self.test_dir.is_some())?
            }
            Format::Nextest => {
                let told = nextest::expression(&chosen)?;
                for package in told.documented {
                    anstream::eprintln!(
                        "warning: nextest does not run documentation; run 'cargo test --doc -p {package}', too"
                    );
                }
                for binary in told.harnessed {
                    let words = cargo_test::target(binary);
                    anstream::eprintln!(
                        "warning: '{binary}' has a harness of its own, of which nextest runs what it lists; if that is nothing, run 'cargo test {words}', too"
                    );
                }
                told.text
            }
            Format::CargoTest => cargo_test::lines(&chosen)?,
            Format::Junit => unrun::as_junit(&unrun(selection)),
            Format::GithubMatrix => github::matrix(chosen.len(), self.parts.get()),
            Format::Tap => unrun::as_tap(&unrun(selection)),
        };
        print_raw(&text)
    }

    /// Says that tests may be missing which only a build knows. A tool that would pass over them gets no list.
    fn say_incomplete(&self, why: &str, is_said: bool) -> Result<()> {
        let name = self.format.name();
        let hint = match self.format {
            Format::CtestFile => {
                "name a build that knows them, '--test-dir build', or let 'git rts run' make one"
                    .to_owned()
            }
            _ => format!(
                "'git rts run --dry-run --format {name}' builds and lists them; once that file is committed and 'git rts run' has run, 'git rts select HEAD' knows them"
            ),
        };
        if self.format.is_for_tools() {
            let what = format!("{why}, and tests that are new are known only to a build");
            return Err(Error::new(what).hint(hint));
        }
        if !is_said {
            anstream::eprintln!("warning: {why}: if that adds tests, they are not on this list");
        }
        Ok(())
    }

    /// The build as CTest finds it from anywhere.
    fn build(&self) -> Result<String> {
        let folder = self.test_dir.clone().unwrap_or_default();
        let cannot = |what: &str| {
            let folder = folder.display();
            Error::new(format!("cannot tell where '{folder}' is: {what}"))
        };
        let whole = folder
            .canonicalize()
            .map_err(|error| cannot(&error.to_string()))?;
        let text = whole.into_os_string().into_string();
        text.map_err(|_| cannot("its path is not UTF-8"))
    }
}

/// The format that the tool of a runner reads.
fn for_runner(runner: &str) -> &'static str {
    match runner {
        "ctest" => "ctest --test-dir build",
        "automake" => "automake",
        "make" => "make",
        "meson" => "meson",
        "cargo" => "nextest' or '--format cargo-test",
        _ => "plain",
    }
}

/// The tests that are not to run, and why.
fn unrun(selection: &Selection) -> Vec<(&str, &'static str)> {
    let plan = &selection.plan;
    let runs: BTreeSet<usize> = plan.order.iter().copied().collect();
    let tests = plan.tests.iter().enumerate();
    let others = tests.filter(|(place, _)| !runs.contains(place));
    let why = |is_selected| match is_selected {
        true => "selected, but not to run now",
        false => "the change cannot affect it",
    };
    others
        .map(|(_, test)| (test.name.as_str(), why(test.is_selected())))
        .collect()
}

/// The filter with which a program of GoogleTest runs a test alone, if that is how it is defined.
fn filter_of(definition: &[u8]) -> Option<String> {
    let definition = Definition::decoded(definition)?;
    let mut words = definition.command.iter();
    words.find_map(|word| word.strip_prefix("--gtest_filter=").map(str::to_owned))
}

/// The tests by the folders of their Makefiles, as these name them.
fn folders(selection: &Selection, chosen: &[&str]) -> Result<String> {
    let tests = chosen.iter().map(|name| {
        let record = selection.latest.tests.get(*name);
        let definition = record.and_then(|record| Definition::decoded(&record.definition));
        let place = definition.and_then(|definition| {
            let folder = definition.working_directory.strip_prefix("{tree}")?;
            let folder = folder.trim_matches('/').to_owned();
            let mut command = definition.command.iter();
            let word = match definition.command.as_slice() {
                // Automake's tests are defined by the word itself.
                [word] => word,
                _ => command.find_map(|word| word.strip_prefix("TESTS="))?,
            };
            let own = format!("{}/", definition.working_directory);
            Some((folder, word.strip_prefix(&own).unwrap_or(word).to_owned()))
        });
        match place {
            Some((folder, word)) if folder.is_empty() => (".".to_owned(), word),
            Some(place) => place,
            None => (".".to_owned(), (*name).to_owned()),
        }
    });
    let tests: Vec<(String, String)> = tests.collect();
    let tests = tests.iter();
    let tests: Vec<(&str, &str)> = tests
        .map(|(folder, word)| (folder.as_str(), word.as_str()))
        .collect();
    make::folders(&tests)
}
