//! The runner `meson`: Meson lists; we run what it lists, unless only `meson test` can judge it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::ask::ask;
use super::definition::Places;
use super::{
    Definition, Expected, Judge, Launch, Needs, Outcome, Runner, Settings, Site, Step, Test, shell,
};
use crate::error::{Error, Result};

/// What `meson test` allows a test that does not say; a setting of ours takes its place.
const DEFAULT_SECONDS: i64 = 30;

/// Prints the tests as `meson test` knows them: `meson introspect` does not tell which are expected to fail, nor how a value is added to a variable.
const LIST: &str = include_str!("meson_list.py");

pub struct Meson;

impl Runner for Meson {
    fn name(&self) -> &'static str {
        "meson"
    }

    fn evidence(&self, tree: &Path) -> Option<String> {
        let is_there = tree.join("meson.build").is_file();
        is_there.then(|| "'meson.build' is there".to_owned())
    }

    fn tools(&self, _: &Path) -> Vec<&'static str> {
        vec!["meson"]
    }

    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let mut steps = Vec::new();
        // Once set up, a build notices by itself when it must be done again.
        if !site.build.join("build.ninja").is_file() {
            let setup = shell::words([
                "meson".as_ref(),
                "setup".as_ref(),
                site.build.as_os_str(),
                site.tree.as_os_str(),
            ]);
            steps.push(Step {
                what: "configure",
                command: shell::with_options(setup, settings.configure.as_deref()),
                folder: site.tree.clone(),
            });
        }
        let jobs = format!("-j{}", site.jobs.max(1));
        steps.push(Step {
            what: "build",
            command: match &settings.build {
                Some(command) => shell::run(command),
                None => shell::words(["meson".as_ref(), "compile".as_ref(), jobs.as_ref()]),
            },
            folder: site.build.clone(),
        });
        steps
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        let words = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<_>>();
        let exact = ask(
            site,
            &site.build,
            &words(&["meson", "runpython", "-c", LIST]),
            "",
        );
        // Where Meson keeps its tests in another way, `meson test` must run them.
        let printed = match exact {
            Ok(printed) => printed,
            Err(_) => ask(
                site,
                &site.build,
                &words(&["meson", "introspect", "--tests"]),
                "",
            )?,
        };
        let listed: Vec<Listed> = serde_json::from_str(&String::from_utf8_lossy(&printed))
            .map_err(|error| Error::new(format!("cannot read meson's list of tests: {error}")))?;
        let places = Places::of(site);
        let mut tests: Vec<Test> = listed
            .into_iter()
            .enumerate()
            .map(|(index, listed)| test(listed, index, site, settings, &places))
            .collect();
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    cmd: Vec<String>,
    /// What it asks for, whatever the machine has set already.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// What that changes here; none is to unset.
    #[serde(default)]
    changes: BTreeMap<String, Option<String>>,
    workdir: Option<String>,
    timeout: Option<i64>,
    #[serde(default)]
    suite: Vec<String>,
    #[serde(default = "yes")]
    is_parallel: bool,
    #[serde(default)]
    protocol: String,
    /// Known only from the exact list, like the next.
    expects_failure: Option<bool>,
    #[serde(default)]
    is_beyond_us: bool,
}

fn yes() -> bool {
    true
}

fn test(listed: Listed, index: usize, site: &Site, settings: &Settings, places: &Places) -> Test {
    let folder = listed
        .workdir
        .as_ref()
        .map_or_else(|| site.build.clone(), Into::into);
    let timeout = match (listed.timeout, settings.timeout) {
        (None | Some(DEFAULT_SECONDS), Some(setting)) => Some(setting),
        // Meson means by it that there is no limit.
        (Some(..=0), _) => None,
        (seconds, _) => {
            let seconds = seconds.unwrap_or(DEFAULT_SECONDS);
            Some(Duration::from_secs(seconds.unsigned_abs()))
        }
    };
    let definition = Definition {
        command: listed.cmd.iter().map(|word| places.general(word)).collect(),
        environment: listed
            .env
            .iter()
            .map(|(name, value)| (name.clone(), places.general(value)))
            .collect(),
        working_directory: places.general(&folder),
        properties: [
            ("protocol", listed.protocol.clone()),
            ("suite", listed.suite.join(" ")),
            ("timeout", format!("{:?}", listed.timeout)),
            ("is_parallel", listed.is_parallel.to_string()),
            ("expects_failure", format!("{:?}", listed.expects_failure)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect(),
    };
    let mut launch = Launch {
        command: listed.cmd.iter().map(Into::into).collect(),
        environment: site.environment.clone(),
        folder,
        timeout,
        ..Launch::default()
    };
    match listed.expects_failure {
        Some(expects_failure) if listed.protocol == "exitcode" && !listed.is_beyond_us => {
            let values = listed.changes.into_iter();
            launch
                .environment
                .extend(values.map(|(name, value)| (name.into(), value.map(Into::into))));
            // `meson test` sets it for every test.
            launch
                .environment
                .push(("MESON_TEST_ITERATION".into(), Some("1".into())));
            launch.judge = Judge::Exit {
                skip: vec![77],
                skip_texts: Vec::new(),
                expected: if expects_failure {
                    Expected::FailureOrCrash
                } else {
                    Expected::Success
                },
                always_failure: vec![99],
            };
        }
        _ => through_meson(&mut launch, &listed.name, index, site),
    }
    Test {
        definition,
        launch,
        needs: Needs {
            name: listed.name.clone(),
            alone: !listed.is_parallel,
            ..Needs::default()
        },
        name: listed.name,
    }
}

/// Makes the launch one of `meson test` for this test.
fn through_meson(launch: &mut Launch, name: &str, index: usize, site: &Site) {
    // Each has logs of its own, because several run at once.
    let log = format!("--logbase=git-rts-{index}");
    launch.command = [
        "meson",
        "test",
        "--no-rebuild",
        "--verbose",
        &log,
        "--",
        name,
    ]
    .iter()
    .map(Into::into)
    .collect();
    launch.folder.clone_from(&site.build);
    // Otherwise a random value.
    launch
        .environment
        .push(("MALLOC_PERTURB_".into(), Some("0".into())));
    // Meson stops the test; should it not, we do.
    launch.timeout = launch
        .timeout
        .map(|timeout| timeout + Duration::from_secs(10));
    launch.judge = Judge::Report {
        file: None,
        read: outcome,
    };
}

/// Reads the counts at the end of what `meson test` prints.
fn outcome(printed: &str, code: i32) -> Outcome {
    let count = |label: &str| -> usize {
        let lines = printed.lines().rev();
        let mut counts = lines.filter_map(|line| line.strip_prefix(label)?.trim().parse().ok());
        counts.next().unwrap_or(0)
    };
    if count("Timeout:") > 0 {
        Outcome::TimedOut
    } else if code != 0 || count("Fail:") > 0 || count("Unexpected Pass:") > 0 {
        Outcome::Failed { code }
    } else if count("Ok:") > 0 || count("Expected Fail:") > 0 {
        Outcome::Passed
    } else if count("Skipped:") > 0 {
        Outcome::Skipped
    } else {
        Outcome::NotRun("meson did not say how it went".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ok: usize, fail: usize, skipped: usize, timeout: usize) -> String {
        format!(
            "1/1 x  OK 0.01s\n\nOk:                 {ok}   \nExpected Fail:      0   \nFail:               {fail}   \nUnexpected Pass:    0   \nSkipped:            {skipped}   \nTimeout:            {timeout}   \n"
        )
    }

    #[test]
    fn the_counts_tell_the_outcome() {
        assert_eq!(outcome(&counts(1, 0, 0, 0), 0), Outcome::Passed);
        assert_eq!(outcome(&counts(0, 1, 0, 0), 1), Outcome::Failed { code: 1 });
        assert_eq!(outcome(&counts(0, 0, 1, 0), 0), Outcome::Skipped);
        assert_eq!(outcome(&counts(0, 0, 0, 1), 1), Outcome::TimedOut);
        assert!(matches!(outcome("", 0), Outcome::NotRun(_)));
    }

    /// As printed by Meson 1.0.
    const INTROSPECTED: &str = r#"[{"cmd": ["/s/build/t", "a b"], "env": {"A": "1"}, "name": "one",
        "workdir": null, "timeout": 30, "suite": ["p"], "is_parallel": false, "priority": 0,
        "protocol": "exitcode", "depends": []}]"#;

    fn one(text: &str, settings: &Settings) -> Test {
        let mut listed: Vec<Listed> = serde_json::from_str(text).expect("it is Meson's own");
        let site = Site {
            tree: "/s/tree".into(),
            build: "/s/build".into(),
            environment: Vec::new(),
            jobs: 1,
        };
        test(listed.remove(0), 0, &site, settings, &Places::of(&site))
    }

    #[test]
    fn without_the_exact_list_meson_runs_the_test() {
        let test = one(INTROSPECTED, &Settings::default());
        assert_eq!(test.launch.command[0], "meson");
        assert_eq!(test.definition.command, ["{build}/t", "a b"]);
        assert!(test.needs.alone);
        assert_eq!(test.launch.timeout, Some(Duration::from_secs(40)));
    }

    #[test]
    fn with_the_exact_list_we_run_it() {
        let text = INTROSPECTED.replace("\"depends\"", "\"expects_failure\": true, \"depends\"");
        let minute = Settings {
            timeout: Some(Duration::from_secs(60)),
            ..Settings::default()
        };
        let test = one(&text, &minute);
        assert_eq!(test.launch.command[0], "/s/build/t");
        assert_eq!(test.launch.timeout, Some(Duration::from_secs(60)));
        assert!(matches!(
            test.launch.judge,
            Judge::Exit {
                expected: Expected::FailureOrCrash,
                ..
            }
        ));
        let tap = one(&text.replace("exitcode", "tap"), &minute);
        assert_eq!(tap.launch.command[0], "meson");
    }
}
