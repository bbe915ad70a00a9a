//! The runner `make`: a plain Makefile with a target `check` or `test`.

use std::path::Path;

use super::definition::Places;
use super::makefile::{self, Makefile};
use super::{Judge, Runner, Settings, Site, Step, Test, ask, shell};
use crate::error::{Error, Result};

/// The targets that run tests, in the order in which they are looked for.
const TARGETS: [&str; 2] = ["check", "test"];

pub struct Make;

impl Runner for Make {
    fn name(&self) -> &'static str {
        "make"
    }

    fn evidence(&self, tree: &Path) -> Option<String> {
        let file = makefile::find(tree)?;
        let text = std::fs::read(&file).ok()?;
        let text = String::from_utf8_lossy(&text);
        let target = text.lines().find_map(rule_for_tests)?;
        let name = file.file_name()?.display();
        Some(format!("'{name}' has a target '{target}'"))
    }

    fn tools(&self, _: &Path) -> Vec<&'static str> {
        vec!["make"]
    }

    fn build(&self, site: &Site, settings: &Settings) -> Vec<Step> {
        let step = |command| Step {
            what: "build",
            command,
            folder: site.tree.clone(),
        };
        if let Some(command) = &settings.build {
            return vec![step(shell::run(command))];
        }
        let mut steps = vec![step(makefile::build(site, []))];
        let programs = programs(site);
        if !programs.is_empty() {
            let mut command = makefile::build(site, []);
            command.extend(programs.into_iter().map(Into::into));
            steps.push(step(command));
        }
        steps
    }

    fn list(&self, site: &Site, settings: &Settings) -> Result<Vec<Test>> {
        let makefile = Makefile::read(site, &site.tree, &["TESTS"])?;
        let target = TARGETS
            .into_iter()
            .find(|target| makefile.has_target(target))
            .or_else(|| target_by_default(site, &makefile))
            .ok_or_else(|| {
                Error::new("the Makefile has no target 'check' or 'test'")
                    .hint("say in '.git-rts.toml' under [tests] how tests are listed and run: runner = \"command\", list = ..., run = ...")
            })?;
        let places = Places::of(site);
        let words = makefile.words("TESTS");
        let mut tests: Vec<Test> = if words.is_empty() {
            vec![test(target, target, &[], site, settings, &places)]
        } else {
            let of_word = |word: &String| {
                let name = places.within(word).unwrap_or_else(|| word.clone());
                let only = format!("TESTS={word}");
                test(&name, target, &[only], site, settings, &places)
            };
            words.iter().map(of_word).collect()
        };
        super::with_names_of_their_own(&mut tests);
        Ok(tests)
    }
}

/// The tests that the target for tests makes before it runs them, of sources of their own: what is compiled while tests run would be
/// no part of the build. Others may be words for running something.
fn programs(site: &Site) -> Vec<String> {
    let Ok(makefile) = Makefile::read(site, &site.tree, &["TESTS"]) else {
        return Vec::new();
    };
    let target = TARGETS.iter().find(|target| makefile.has_target(target));
    let first = target.map_or(&[][..], |target| makefile.prerequisites(target));
    let phony = makefile.prerequisites(".PHONY");
    let has_source = |test: &&String| {
        let sources = ["c", "cc", "cpp", "cxx"].map(|ending| format!("{test}.{ending}"));
        sources
            .iter()
            .any(|source| site.tree.join(source).is_file())
    };
    let tests = makefile.words("TESTS").iter();
    let tests = tests.filter(|test| first.contains(test) && !phony.contains(test));
    tests.filter(has_source).cloned().collect()
}

/// The target of those that run tests for which a line of a Makefile begins a rule.
fn rule_for_tests(line: &str) -> Option<&str> {
    let (targets, rest) = line.split_once(':')?;
    if line.starts_with(['\t', '#']) || rest.starts_with('=') || rest.starts_with(":=") {
        return None;
    }
    let mut targets = targets.split_ascii_whitespace();
    targets.find(|target| TARGETS.contains(target))
}

/// A target that has no rule but that `.DEFAULT` passes on to another Makefile.
fn target_by_default(site: &Site, makefile: &Makefile) -> Option<&'static str> {
    let works = |target: &&str| {
        let command = makefile::make(["-n".into(), target.into()]);
        ask::answer(site, &site.tree, &command, "").is_ok_and(|answer| answer.status.success())
    };
    TARGETS
        .into_iter()
        .find(|target| makefile.has_target(".DEFAULT") && works(target))
}

fn test(
    name: &str,
    target: &str,
    arguments: &[String],
    site: &Site,
    settings: &Settings,
    places: &Places,
) -> Test {
    let mut command = makefile::make([target.into()]);
    command.extend(arguments.iter().map(Into::into));
    let judge = Judge::default();
    Test::at_the_top(name.to_owned(), command, judge, (site, settings), places)
}
