//! The runner `automake`: Autotools projects, whose Makefiles name tests in $(TESTS) and report in `.trs` files.

mod recipes;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::definition::Places;
use super::makefile::{self, Makefile};
use super::{
    DEFAULT_TIMEOUT, Definition, Judge, Launch, Needs, Outcome, Runner, Settings, Site, Step, Test,
    shell,
};
use crate::error::{Error, Result};
use recipes::Recipes;

/// Scripts that make `configure`, where a project has one.
const BOOTSTRAPS: [&str; 5] = [
    "autogen.sh",
    "bootstrap",
    "bootstrap.sh",
    "buildconf",
    "autogen",
];

/// What the Makefiles are asked for: the tests, the folders below, and what changes how tests are run.
const VARIABLES: [&str; 11] = [
    "SHELL",
    "SUBDIRS",
    "TESTS",
    "TEST_LOGS",
    "XFAIL_TESTS",
    "TESTS_ENVIRONMENT",
    "AM_TESTS_ENVIRONMENT",
    "LOG_COMPILER",
    "AM_LOG_FLAGS",
    "LOG_FLAGS",
    "TEST_EXTENSIONS",
];

pub struct Automake;

impl Runner for Automake {
    fn name(&self) -> &'static str {
        "automake"
    }

    fn evidence(&self, tree: &Path) -> Option<String> {
        let mut names = ["configure.ac", "configure.in"].into_iter();
        let configured = names.find(|name| tree.join(name).is_file())?;
        let is_there = tree.join("Makefile.am").is_file();
        is_there.then(|| format!("'{configured}' and 'Makefile.am' are there"))
    }

    fn tools(&self, tree: &Path) -> Vec<&'static str> {
        match tree.join("configure").is_file() {
            true => vec!["make"],
            false => vec!["autoreconf", "automake", "make"],
        }
    }

    /// In the tree, which is a copy and ours: every project can be built there, but not every one elsewhere.
    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let tree = &site.tree;
        let step = |what, command| Step {
            what,
            command,
            folder: tree.clone(),
        };
        let mut steps = Vec::new();
        if !tree.join("configure").is_file() {
            let script = BOOTSTRAPS.iter().find(|name| tree.join(name).is_file());
            steps.push(step(
                "prepare",
                match script {
                    // Many would go on to run `configure`, without the options; some want other words to work at all.
                    Some(script) => shell::run(format!(
                        "NOCONFIGURE=1 ./{script} && [ -f configure ] || exec autoreconf -fi"
                    )),
                    None => shell::words(["autoreconf".as_ref(), "-fi".as_ref()]),
                },
            ));
        }
        // Once configured, make itself notices when it must be done again.
        if !tree.join("config.status").is_file() {
            let configure = vec![OsString::from("./configure")];
            steps.push(step(
                "configure",
                shell::with_options(configure, settings.configure.as_deref()),
            ));
        }
        steps.push(step(
            "build",
            match &settings.build {
                Some(command) => shell::run(command),
                None => makefile::build(site, []),
            },
        ));
        steps.push(step(
            "build the tests of",
            makefile::build(site, ["check", "TESTS="]),
        ));
        steps
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        let mut tests = Vec::new();
        folder(site, settings, Path::new(""), &mut tests)?;
        if tests.is_empty() {
            return Err(Error::new("no Makefile has a test in $(TESTS)")
                .hint("say in '.git-rts.toml' under [tests] how tests are listed and run: runner = \"command\", list = ..., run = ..."));
        }
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

/// Adds the tests of a folder and of those below it, in the order in which make visits them.
fn folder(site: &Site, settings: &Settings, path: &Path, tests: &mut Vec<Test>) -> Result<()> {
    let makefile = Makefile::read(site, &site.tree.join(path), &VARIABLES)?;
    let below = makefile.words("SUBDIRS");
    // Without a "." among them, the folders below come first.
    for name in below.iter().filter(|_| !below.contains(&".".to_owned())) {
        enter(site, settings, path, name, tests)?;
    }
    tests.extend(of_makefile(site, settings, path, &makefile)?);
    for name in below.iter().filter(|_| below.contains(&".".to_owned())) {
        enter(site, settings, path, name, tests)?;
    }
    Ok(())
}

fn enter(
    site: &Site,
    settings: &Settings,
    path: &Path,
    name: &str,
    tests: &mut Vec<Test>,
) -> Result<()> {
    let below = path.join(name);
    if name == "." || makefile::find(&site.tree.join(&below)).is_none() {
        return Ok(());
    }
    folder(site, settings, &below, tests)
}

fn of_makefile(
    site: &Site,
    settings: &Settings,
    path: &Path,
    makefile: &Makefile,
) -> Result<Vec<Test>> {
    let words = makefile.words("TESTS");
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let recipes = Recipes::read(site, &site.tree.join(path), makefile);
    let of_extensions = match recipes {
        // A recipe has it all.
        Some(_) => Makefile::default(),
        None => of_extensions(site, path, makefile)?,
    };
    let folder = Folder {
        places: Places::of(site),
        recipes,
        of_extensions,
        path,
        makefile,
    };
    let test = |(index, word): (usize, &String)| folder.test(index, word, site, settings);
    Ok(words.iter().enumerate().map(test).collect())
}

/// The variables that say how tests with a certain extension are run.
fn of_extensions(site: &Site, path: &Path, makefile: &Makefile) -> Result<Makefile> {
    let mut names = Vec::new();
    for extension in makefile.words("TEST_EXTENSIONS") {
        let name = extension.trim_start_matches('.').to_uppercase();
        for (before, after) in [
            ("", "LOG_COMPILER"),
            ("AM_", "LOG_FLAGS"),
            ("", "LOG_FLAGS"),
        ] {
            names.push(format!("{before}{name}_{after}"));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Makefile::read(site, &site.tree.join(path), &names)
}

/// A folder with tests.
struct Folder<'a> {
    places: Places,
    path: &'a Path,
    makefile: &'a Makefile,
    recipes: Option<Recipes>,
    of_extensions: Makefile,
}

impl Folder<'_> {
    fn test(&self, index: usize, word: &str, site: &Site, settings: &Settings) -> Test {
        let folder = site.tree.join(self.path);
        let name = self.name(word);
        let log = self.log(index);
        let mut environment = site.environment.clone();
        let exported = self.recipes.iter().flat_map(|recipes| &recipes.environment);
        let mut properties = self.properties(word);
        let recipe = log.zip(self.recipes.as_ref());
        let command = match recipe.and_then(|(log, recipes)| recipes.command(log)) {
            Some(command) => command,
            None => self.make(index, word),
        };
        if let Some((log, recipes)) = recipe {
            let recipe = recipes.definition(log).unwrap_or_default();
            properties.insert("recipe".to_owned(), self.places.general(recipe));
        }
        let printed_to = log.map(|log| folder.join(log));
        let judge = match log {
            Some(log) => Judge::Report {
                file: Some(folder.join(PathBuf::from(log).with_extension("trs"))),
                read: of_report,
            },
            None => Judge::Report {
                file: None,
                read: of_output,
            },
        };
        environment.extend(exported.clone().cloned());
        let exported = exported.filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let exported = exported.map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            (name, self.places.general(value))
        });
        Test {
            definition: Definition {
                command: vec![self.places.general(word)],
                environment: exported.collect(),
                working_directory: self.places.general(&folder),
                properties,
            },
            launch: Launch {
                command,
                environment,
                folder,
                timeout: settings.timeout.or(Some(DEFAULT_TIMEOUT)),
                printed_to,
                judge,
                ..Launch::default()
            },
            needs: Needs {
                name: name.clone(),
                after: log.map(|log| self.before(log)).unwrap_or_default(),
                ..Needs::default()
            },
            name,
        }
    }

    fn name(&self, word: &str) -> String {
        let word = word.strip_prefix("./").unwrap_or(word);
        let within = self.places.within(word);
        within.unwrap_or_else(|| self.path.join(word).to_string_lossy().into_owned())
    }

    /// The log of a test of the parallel harness.
    fn log(&self, index: usize) -> Option<&str> {
        let logs = self.makefile.words("TEST_LOGS");
        let is_parallel = logs.len() == self.makefile.words("TESTS").len();
        logs.get(index).filter(|_| is_parallel).map(String::as_str)
    }

    /// The tests whose logs a log is made after.
    fn before(&self, log: &str) -> Vec<String> {
        let logs = self.makefile.words("TEST_LOGS");
        let tests = self.makefile.words("TESTS");
        let wanted = self.makefile.prerequisites(log);
        let pairs = logs
            .iter()
            .zip(tests)
            .filter(|(log, _)| wanted.contains(log));
        pairs.map(|(_, word)| self.name(word)).collect()
    }

    /// The way to run a test through its harness.
    fn make(&self, index: usize, word: &str) -> Vec<OsString> {
        // The harness has a target of its own; `check` would also build, and run what else a project hooks in.
        let target = if self.makefile.has_target("check-TESTS") {
            "check-TESTS"
        } else {
            "check"
        };
        let mut command = makefile::make([target.into(), format!("TESTS={word}").into()]);
        if self.log(index).is_some() {
            // Each run has a summary of its own, because several run at once.
            command.push(format!("TEST_SUITE_LOG=git-rts-{index}.log").into());
        }
        command
    }

    /// What decides how a test is run, apart from the recipe.
    fn properties(&self, word: &str) -> BTreeMap<String, String> {
        let of_others = ["SHELL", "SUBDIRS", "TESTS", "TEST_LOGS", "XFAIL_TESTS"];
        let mut properties: BTreeMap<String, String> = self
            .makefile
            .values()
            .chain(self.of_extensions.values())
            .filter(|(name, _)| !of_others.contains(name))
            .map(|(name, value)| (name.to_owned(), self.places.general(value)))
            .collect();
        let fails = self.makefile.words("XFAIL_TESTS");
        if fails.iter().any(|other| other == word) {
            properties.insert("XFAIL".to_owned(), "yes".to_owned());
        }
        properties
    }
}

/// Reads the `.trs` file of the parallel harness.
fn of_report(text: &str, code: i32) -> Outcome {
    let results = |field: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(field));
        lines
            .filter_map(|rest| rest.split_ascii_whitespace().next())
            .collect::<Vec<_>>()
    };
    let of_test = results(":global-test-result:");
    let of_test = if of_test.is_empty() {
        results(":test-result:")
    } else {
        of_test
    };
    of_words(&of_test, code)
}

/// Reads what the serial harness prints: `PASS: name`.
fn of_output(text: &str, code: i32) -> Outcome {
    let results: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(result, _)| result)
        .filter(|result| is_result(result))
        .collect();
    of_words(&results, code)
}

fn is_result(word: &str) -> bool {
    matches!(word, "PASS" | "FAIL" | "SKIP" | "XFAIL" | "XPASS" | "ERROR")
}

/// A test that reports several results is as good as the worst of them.
fn of_words(results: &[&str], code: i32) -> Outcome {
    let some = |wanted: &[&str]| results.iter().any(|result| wanted.contains(result));
    if some(&["FAIL", "XPASS", "ERROR"]) {
        // The harness may end well although the test did not.
        Outcome::Failed {
            code: if code == 0 { 1 } else { code },
        }
    } else if some(&["PASS", "XFAIL"]) {
        Outcome::Passed
    } else if some(&["SKIP"]) {
        Outcome::Skipped
    } else if code == 0 {
        Outcome::NotRun("the harness did not say how it went".to_owned())
    } else {
        Outcome::Failed { code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let report = |result: &str| {
            format!(
                ":test-result: {result}\n:global-test-result: {result}\n:recheck: no\n:copy-in-global-log: no\n"
            )
        };
        assert_eq!(of_report(&report("PASS"), 0), Outcome::Passed);
        assert_eq!(of_report(&report("XFAIL"), 0), Outcome::Passed);
        assert_eq!(of_report(&report("SKIP"), 0), Outcome::Skipped);
        for bad in ["FAIL", "XPASS", "ERROR"] {
            assert_eq!(of_report(&report(bad), 2), Outcome::Failed { code: 2 });
            assert_eq!(of_report(&report(bad), 0), Outcome::Failed { code: 1 });
        }
    }

    #[test]
    fn one_bad_result_among_many_fails() {
        let tap = ":test-result: PASS 1\n:test-result: FAIL 2 - why\n:test-result: SKIP 3\n";
        assert_eq!(of_report(tap, 2), Outcome::Failed { code: 2 });
        assert_eq!(
            of_report(":test-result: PASS 1\n:test-result: SKIP 2\n", 0),
            Outcome::Passed
        );
    }

    #[test]
    fn the_serial_harness_is_read_from_what_it_prints() {
        assert_eq!(
            of_output("hello: x\nPASS: a\n====\nAll 1 tests passed\n", 0),
            Outcome::Passed
        );
        assert_eq!(of_output("SKIP: a\n", 0), Outcome::Skipped);
        assert_eq!(of_output("FAIL: a\n", 2), Outcome::Failed { code: 2 });
    }

    #[test]
    fn without_a_word_nothing_is_claimed() {
        assert!(matches!(of_report("", 0), Outcome::NotRun(_)));
        assert_eq!(of_report("", 2), Outcome::Failed { code: 2 });
    }
}
