//! The runner `ctest`: CMake projects. CTest lists; we run what it lists, without a CTest for each test.

mod environment;
mod listing;
mod names;
mod switches;
mod through;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ask::ask;
use super::definition::Places;
use super::{
    DEFAULT_TIMEOUT, Definition, Expected, Judge, Launch, Needs, Runner, Settings, Site, Step,
    Test, shell,
};
use crate::error::Result;
use listing::{Listed, Properties};
pub use names::names_in;

pub struct Ctest;

impl Runner for Ctest {
    fn name(&self) -> &'static str {
        "ctest"
    }

    fn evidence(&self, tree: &Path) -> Option<String> {
        let is_there = tree.join("CMakeLists.txt").is_file();
        let file = is_there.then(|| declaring_tests(tree, 0)).flatten()?;
        let file = file.strip_prefix(tree).unwrap_or(&file);
        Some(format!("'{}' declares tests", file.display()))
    }

    fn tools(&self, _: &Path) -> Vec<&'static str> {
        vec!["cmake", "ctest"]
    }

    fn switched_off(&self, site: &Site) -> Vec<String> {
        switches::switched_off(&site.build)
    }

    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let (tree, build) = (site.tree.as_os_str(), site.build.as_os_str());
        let configure = shell::words([
            "cmake".as_ref(),
            "-S".as_ref(),
            tree,
            "-B".as_ref(),
            build,
            "-DBUILD_TESTING=ON".as_ref(),
            // Each message is a call of cmake, which takes longer than an object that is taken over.
            "-DCMAKE_RULE_MESSAGES=OFF".as_ref(),
        ]);
        let jobs = format!("-j{}", site.jobs.max(1));
        let make = match &settings.build {
            Some(command) => shell::run(command),
            None => shell::words(["cmake".as_ref(), "--build".as_ref(), build, jobs.as_ref()]),
        };
        vec![
            Step {
                what: "configure",
                command: shell::with_options(configure, settings.configure.as_deref()),
                folder: site.tree.clone(),
            },
            Step {
                what: "build",
                command: make,
                folder: site.build.clone(),
            },
        ]
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        let command = shell::words(["ctest".as_ref(), "--show-only=json-v1".as_ref()]);
        let listed = listing::parse(&ask(site, &site.build, &command, "")?)?;
        let places = Places::of(site);
        let allowed = settings.timeout.or_else(|| configured_timeout(site));
        let mut tests = Vec::with_capacity(listed.len());
        for (index, listed) in listed.into_iter().enumerate() {
            // CTest counts from one.
            tests.push(test(listed, index + 1, site, allowed, &places)?);
        }
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

fn test(
    listed: Listed,
    number: usize,
    site: &Site,
    allowed: Option<Duration>,
    places: &Places,
) -> Result<Test> {
    let Listed {
        name,
        command,
        properties,
    } = listed;
    let folder = properties
        .working_directory
        .clone()
        .map_or_else(|| site.build.clone(), Into::into);
    let definition = Definition {
        command: command
            .iter()
            .flatten()
            .map(|word| places.general(word))
            .collect(),
        environment: environment::named(&properties.environment)
            .map(|(name, value)| (name.to_owned(), places.general(value)))
            .collect(),
        working_directory: places.general(&folder),
        properties: properties
            .texts
            .iter()
            .map(|(name, text)| (name.clone(), places.general(text)))
            .collect(),
    };
    let timeout = match properties.timeout {
        Some(own) => Some(own).filter(|own| !own.is_zero()),
        None => allowed.or(Some(DEFAULT_TIMEOUT)),
    };
    let mut launch = Launch {
        environment: site.environment.clone(),
        folder,
        timeout,
        required_files: properties.required_files.iter().map(Into::into).collect(),
        judge: Judge::Exit {
            skip: properties.skip_code.into_iter().collect(),
            skip_texts: properties.skip_texts.clone(),
            expected: if properties.will_fail {
                Expected::Failure
            } else {
                Expected::Success
            },
            always_failure: Vec::new(),
        },
        ..Launch::default()
    };
    // CTest sets it for every test.
    launch
        .environment
        .push(("CTEST_INTERACTIVE_DEBUG_MODE".into(), Some("1".into())));
    launch.is_disabled = properties.disabled;
    launch.prepares = !properties.sets_up.is_empty();
    match command {
        None => launch.unavailable = Some("its program was not built".to_owned()),
        Some(command) => {
            launch.command = command.into_iter().map(Into::into).collect();
            let changes = environment::changes(&properties, &launch.environment);
            match changes {
                Some(changes) if !properties.is_beyond_us => launch.environment.extend(changes),
                _ if launch.is_disabled => {}
                _ => through::ctest(&mut launch, number, site)?,
            }
        }
    }
    Ok(Test {
        definition,
        launch,
        needs: needs(&name, properties),
        name,
    })
}

fn needs(name: &str, properties: Properties) -> Needs {
    Needs {
        name: name.to_owned(),
        after: properties.depends,
        sets_up: properties.sets_up,
        requires: properties.requires,
        cleans_up: properties.cleans_up,
        locks: properties.locks,
        alone: properties.alone,
        processors: properties.processors,
    }
}

/// A CMake file in the tree, not too deep, that switches tests on.
fn declaring_tests(folder: &Path, depth: usize) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && !name.starts_with('.') && depth < 3 {
            folders.push(entry.path());
        } else if kind.is_file() && (name == "CMakeLists.txt" || name.ends_with(".cmake")) {
            let text = std::fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
            let text: String = text.split_ascii_whitespace().collect();
            if ["enable_testing(", "add_test(", "include(ctest)"]
                .iter()
                .any(|call| text.contains(call))
            {
                return Some(entry.path());
            }
        }
    }
    folders
        .iter()
        .find_map(|folder| declaring_tests(folder, depth + 1))
}

/// What the project allows a test that has no limit of its own.
fn configured_timeout(site: &Site) -> Option<Duration> {
    let text = std::fs::read_to_string(site.build.join("DartConfiguration.tcl")).ok()?;
    let seconds = text
        .lines()
        .find_map(|line| line.strip_prefix("TimeOut:"))?;
    let seconds: u64 = seconds.trim().parse().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}
