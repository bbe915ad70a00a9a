//! The runner `cargo`: cargo builds, and says how it would run each test binary; these list their tests, and we run each alone.

pub mod dep_info;
mod doc;
mod documented;
mod harness;
mod healed;
mod invocation;
mod names;
mod scripts;
mod spared;
pub mod told;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use self::documented::Memory;
use super::definition::Places;
use super::{Runner, Settings, Site, Step, Test, shell};
use crate::error::Result;
use crate::masquerade::Backend;
use crate::repo::RepoPath;

/// Options by which people choose targets: cargo then tests these alone, and no documentation.
const CHOOSING: [&str; 10] = [
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--example",
    "--examples",
    "--bench",
    "--benches",
    "--all-targets",
];

pub struct Cargo;

impl Runner for Cargo {
    fn name(&self) -> &'static str {
        "cargo"
    }

    fn evidence(&self, tree: &Path) -> Option<String> {
        let is_there = tree.join("Cargo.toml").is_file();
        is_there.then(|| "'Cargo.toml' is there".to_owned())
    }

    fn tools(&self, _: &Path) -> Vec<&'static str> {
        vec!["cargo", "rustc"]
    }

    fn backend(&self) -> Option<Backend> {
        Some(Backend::Rustc)
    }

    fn takes_in(&self, path: &RepoPath) -> bool {
        // rustc tells cargo every source that it read; what scripts read does not matter, because they run again.
        let name = path.file_name();
        name.ends_with(b".rs") || name == b"Cargo.lock"
    }

    fn clears(&self, build: &Path, tree: &Path, changed: &[&RepoPath]) -> bool {
        let is_ours = !changed.iter().any(|path| spared::reaches_others(path));
        is_ours && !spared::tells_others(tree) && spared::clear(build, tree).is_ok()
    }

    fn forgets(&self, site: &Site, said: &str) -> bool {
        healed::empty(&site.build, said)
    }

    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let jobs = format!("-j{}", site.jobs.max(1));
        let command = match &settings.build {
            Some(command) => shell::run(command),
            None => test(site, settings, &["--no-run".as_ref(), jobs.as_ref()]),
        };
        let step = |command| Step {
            what: "build",
            command,
            folder: site.tree.clone(),
        };
        let outdated = scripts::outdated(site);
        let forget = (!outdated.is_empty()).then(|| {
            let words = ["rm", "-f", "--"].map(OsString::from).into_iter();
            step(words.chain(outdated.into_iter().map(Into::into)).collect())
        });
        forget.into_iter().chain([step(command)]).collect()
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        healed::forget(&site.build);
        let places = Places::of(site);
        let rustc = invocation::rustc(site)?;
        let (invocations, documented) = invocation::all(site, settings, &rustc)?;
        let mut tests = Vec::new();
        for invocation in &invocations {
            tests.extend(harness::tests(invocation, (site, settings), &places)?);
        }
        if !chooses_targets(settings) {
            let memory = Memory::of(site, &rustc);
            tests.extend(doc::tests(&documented, memory, (site, settings), &places));
        }
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

/// Whether the settings of the project choose among the targets.
fn chooses_targets(settings: &Settings) -> bool {
    let options = settings.configure.as_deref().unwrap_or_default();
    // What is behind it is for the tests, which have options of the same names.
    let words = options.split_whitespace();
    let mut words = words.take_while(|word| *word != "--");
    words.any(|word| {
        let word = word.trim_matches(['\'', '"']);
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        CHOOSING.contains(&name)
    })
}

/// `cargo test` for the whole workspace.
fn test(site: &Site, settings: &Settings, words: &[&OsStr]) -> Vec<OsString> {
    let whole = [&[OsStr::new("--workspace")], words].concat();
    test_of(site, settings, &whole)
}

/// `cargo test` in the folder of the site, with what the settings of the project say; words behind `--` are for the tests.
fn test_of(site: &Site, settings: &Settings, words: &[&OsStr]) -> Vec<OsString> {
    let owned = |words: &[&OsStr]| -> Vec<OsString> {
        words.iter().map(|word| (*word).to_owned()).collect()
    };
    let end = words.iter().position(|word| *word == "--");
    let (words, for_tests) = words.split_at(end.unwrap_or(words.len()));
    let mut command: Vec<OsString> = ["cargo", "test", "--target-dir"].map(Into::into).to_vec();
    command.push(site.build.clone().into());
    // A project may want what is between elsewhere, where we do not look. Others take the setting for one that they do not know.
    if let Some(build) = site.build.to_str().filter(|build| !build.contains('\'')) {
        command.extend([
            "--config".into(),
            format!("build.build-dir='{build}'").into(),
        ]);
    }
    command.extend(owned(words));
    let options = settings.configure.as_deref();
    match (options, for_tests) {
        (_, []) => shell::with_options(command, options),
        (None, _) => [command, owned(for_tests)].concat(),
        (Some(options), _) => {
            let for_tests: Vec<String> = for_tests
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let options = format!("{options} {}", for_tests.join(" "));
            shell::with_options(command, Some(&options))
        }
    }
}
