//! The runner `command`: two commands of the configuration list tests and run one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ask::ask;
use super::definition::Places;
use super::{Judge, Runner, Settings, Site, Step, Test, shell};
use crate::error::{Error, Result};

/// Where the name goes in the command that runs a test.
const PLACE: &str = "{test}";

pub struct ByCommand;

impl Runner for ByCommand {
    fn name(&self) -> &'static str {
        "command"
    }

    /// Only the configuration can ask for it.
    fn evidence(&self, _: &Path) -> Option<String> {
        None
    }

    fn tools(&self, _: &Path) -> Vec<&'static str> {
        vec!["sh"]
    }

    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let command = settings.build.iter().map(|command| Step {
            what: "build",
            command: shell::run(command),
            folder: site.tree.clone(),
        });
        command.collect()
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        let (list, run) = commands(settings)?;
        let printed = ask(site, &site.tree, &shell::run(list), "")
            .map_err(|error| error.hint("it is 'tests.list', which prints a test a line"))?;
        let places = Places::of(site);
        let mut seen = BTreeSet::new();
        let names = printed
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            // A test that is named twice is still one test.
            .filter(|name| !name.is_empty() && seen.insert(*name));
        let mut tests: Vec<Test> = names
            .map(|name| test(OsStr::from_bytes(name), run, site, settings, &places))
            .collect();
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

/// The commands that list the tests and run one.
pub fn commands(settings: &Settings) -> Result<(&str, &str)> {
    let (Some(list), Some(run)) = (&settings.list, &settings.run) else {
        return Err(
            Error::new("the runner 'command' needs to know how tests are listed and run")
                .hint("set both 'list' and 'run' under [tests] in '.git-rts.toml'"),
        );
    };
    if !run.contains(PLACE) {
        return Err(Error::new(format!(
            "the command '{run}' does not say which test to run"
        ))
        .hint("write {test} where the name of the test goes"));
    }
    Ok((list, run))
}

fn test(name: &OsStr, run: &str, site: &Site, settings: &Settings, places: &Places) -> Test {
    let quoted = shell::quote(name);
    let mut text = OsString::new();
    for (index, part) in run.split(PLACE).enumerate() {
        if index > 0 {
            text.push(&quoted);
        }
        text.push(part);
    }
    let command = shell::run(text);
    let name = name.to_string_lossy().into_owned();
    Test::at_the_top(name, command, Judge::gnu(), (site, settings), places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(list: &str, run: &str) -> Result<Vec<Test>> {
        let folder = tempfile::tempdir().expect("there is room");
        let site = Site {
            tree: folder.path().to_owned(),
            build: folder.path().join("build"),
            environment: Vec::new(),
            jobs: 1,
        };
        let settings = Settings {
            list: Some(list.to_owned()),
            run: Some(run.to_owned()),
            ..Settings::default()
        };
        ByCommand.list(&site, &settings)
    }

    #[test]
    fn odd_names_reach_the_shell_unharmed() {
        let names = ["two words", "it's", "naïve", "$HOME", "--flag", "a\\b"];
        let text = names.map(|name| {
            shell::quote(name.as_ref())
                .into_string()
                .expect("it is text")
        });
        let tests = list(
            &format!("printf '%s\\n' {}; echo; echo 'two words'", text.join(" ")),
            "printf %s {test}",
        )
        .expect("it prints");
        let found: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(found, names);
        for test in &tests {
            let output = std::process::Command::new(&test.launch.command[0])
                .args(&test.launch.command[1..])
                .output()
                .expect("there is a shell");
            assert_eq!(output.stdout, test.name.as_bytes());
        }
    }

    #[test]
    fn a_run_without_a_place_for_the_name_is_refused() {
        let error = list("echo a", "make check").expect_err("it would run everything");
        assert!(error.hints[0].contains("{test}"));
    }

    #[test]
    fn a_list_that_fails_is_an_error_with_its_last_words() {
        let error = list("echo oh no >&2; exit 3", "x {test}").expect_err("it fails");
        assert!(
            error.message.contains("3") && error.hints[0] == "oh no",
            "{error:?}"
        );
    }
}
