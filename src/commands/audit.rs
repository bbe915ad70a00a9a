//! `git rts audit`: small mistakes are put into the code, and every test that notices one must have been selected.

mod switched;

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;

use crate::commands::audit::switched::Panel;
use crate::commands::built::Built;
use crate::commands::history::open;
use crate::commands::rehearsal::Rehearsal;
use crate::commands::test_files::holds_tests;
use crate::commands::testing::build;
use crate::commands::trial::{Bench, interrupted, step, trial};
use crate::commands::values::at_least_one;
use crate::commands::verdict::{Pages, verdict};
use crate::config::{Config, NameGlob, duration};
use crate::difference::{facts_source, source_files};
use crate::emit::plan_text::count;
use crate::emit::progress::{Meanwhile, Progress, span};
use crate::emit::trust::Deed;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Recording, VersionKey};
use crate::lang::c::{Granularity, Mutant, mutants};
use crate::order::draw::Draw;
use crate::query::compiled::Compiled;
use crate::query::executed::functions;
use crate::query::past;
use crate::repo::{RepoPath, Repository, Version};
use crate::runner::Interrupt;
use crate::trust::{Observed, Times, Trial};

/// Of the sample so much is built one by one, if there is so much that cannot be built at once.
const ALONE_SHARE: usize = 10;
const ALONE_AT_LEAST: usize = 20;

/// So often the version itself is tested again before a mutant is said to be missed.
const RUNS_WITHOUT: usize = 3;

/// Put small mistakes into the code, and check that every test that notices one is selected
///
/// In a clone of its own, below `.git/rts`, HEAD is built and recorded. Then operators, constants, conditions and statements are changed as people mistype them. Most of these mutants are built all at once, and switched on one after the other; of the rest, at most a tenth of the sample is built one by one. For each, tests are selected, and all of those run that reach it. What tests execute comes first, and functions that the build does not compile are left out. Mutants that no test notices are listed, too: there a test is missing. Your work tree stays as it is.
///
/// Exits with 102 if a test noticed a mutant and was not selected.
#[derive(Debug, Args)]
pub struct Audit {
    /// Only mutants of these files, as patterns [default: all that the build compiles, without those that have the word 'test' or 'tests' in their path]
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// How many mutants are tried
    #[arg(short = 'n', long, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    mutants: NonZeroUsize,
    /// Stop after a time, such as 10min
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// Which mutants are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    jobs: NonZeroUsize,
    #[command(flatten)]
    pages: Pages,
}

pub(super) fn run(arguments: &Audit) -> Result<()> {
    let repository = Repository::discover()?;
    let globs = arguments.files.iter().map(|text| NameGlob::new(text));
    let globs = globs.collect::<Result<Vec<_>>>()?;
    let budget = arguments.budget.as_deref().map(duration).transpose();
    let budget = budget.map_err(|error| error.exit_code(ExitCode::Usage))?;
    arguments.pages.check()?;
    let head = repository.commit("HEAD")?;
    let config = Config::read(&repository)?;
    let sources = source_files(&repository, &config, &head)?.sources;
    let mut paths = sources.iter().map(|file| &file.path);
    if !globs.is_empty() && !paths.any(|path| globs.iter().any(|glob| glob.is_match_path(path))) {
        return Err(nothing_to_mutate());
    }
    let interrupt = Interrupt::on_signals()?;
    let mut rehearsal = Rehearsal::open(&repository, "audit")?;
    rehearsal.check_out(head)?;
    let bench = Bench {
        interrupt: &interrupt,
        jobs: arguments.jobs,
        is_kept: true,
        is_hasty: false,
    };
    notice!("recording {head}");
    let recording = Meanwhile::show("building with counters, and running every test");
    let names = (head.id(), String::new());
    let base = trial(&rehearsal.repository, head, &bench, names)?;
    drop(recording);
    if let Some(obstacle) = base.obstacle {
        return Err(Error::new(format!("{head} cannot be tested: {obstacle}"))
            .exit_code(ExitCode::BuildFailed));
    }
    let recording = recorded(&rehearsal.repository, head)?;
    let mut found = found(&rehearsal, head, &recording, &globs)?;
    let all = found.len();
    if all == 0 {
        return Err(nothing_to_mutate());
    }
    arrange(&mut found, &recording, arguments.seed);
    found.truncate(arguments.mutants.get());
    if budget.is_none() {
        // All of them will be tried: those of one file behind each other have less to build.
        found.sort_by(|one, other| one.place().cmp(&other.place()));
    }
    let bench = Bench {
        is_kept: false,
        is_hasty: true,
        ..bench
    };
    let sample = Sample {
        rehearsal: &rehearsal,
        head,
        bench: &bench,
        found: &found,
        all,
        base: &base,
        started: Instant::now(),
        budget,
    };
    let trials = sample.trials(&recording)?;
    rehearsal.finish()?;
    let version = head.id();
    verdict(&arguments.pages, Deed::Audit { version }, &trials)?;
    match interrupt.is_requested() {
        true => Err(interrupted().hint("what is told is what was tried until then")),
        false => Ok(()),
    }
}

fn nothing_to_mutate() -> Error {
    Error::new("there is nothing to mutate").hint(
        "do the patterns name C files of HEAD that the build compiles? Files of tests must be named",
    )
}

fn cannot_change(file: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot change '{}': {error}", file.display()))
}

/// The mutants that were drawn, and what they are tried with.
struct Sample<'a> {
    rehearsal: &'a Rehearsal,
    head: Version,
    bench: &'a Bench<'a>,
    found: &'a [Found],
    /// How many there are to draw from.
    all: usize,
    /// The trial of the version without any.
    base: &'a Trial,
    started: Instant,
    budget: Option<Duration>,
}

impl Sample<'_> {
    /// Tries as many as there is time for, until somebody stops it: first those that were built at once, then the others.
    fn trials(&self, recording: &Recording) -> Result<Vec<Trial>> {
        let mut trials = Vec::new();
        let mut progress = Progress::new("auditing", self.found.len());
        let mut suspects = Vec::new();
        let at_once = self.at_once(recording, &mut suspects, &mut |tried| {
            note(&mut trials, &mut progress, tried);
        })?;
        let mut unsteady = BTreeSet::new();
        for (place, suspect) in suspects {
            let mut tried = self.confirmed(&self.found[place], suspect)?;
            self.set_apart(&mut tried, &mut unsteady)?;
            note(&mut trials, &mut progress, tried);
        }
        let others = (1..).zip(self.found);
        let others = others.filter(|(number, _)| !at_once.contains(number));
        let others: Vec<&Found> = others.map(|(_, one)| one).collect();
        for one in spread(&others, self.alone_of(others.len())) {
            if self.is_over() {
                break;
            }
            match self.alone(one) {
                Err(error) if error.exit_code == ExitCode::Interrupted => break,
                tried => {
                    let mut tried = tried?;
                    self.set_apart(&mut tried, &mut unsteady)?;
                    note(&mut trials, &mut progress, tried);
                }
            }
        }
        progress.finish();
        Ok(trials)
    }

    /// How many of so many mutants are built alone: where no time is set, that must not take most of it.
    fn alone_of(&self, others: usize) -> usize {
        match self.budget {
            Some(_) => others,
            None => others.min(ALONE_AT_LEAST.max(self.found.len() / ALONE_SHARE)),
        }
    }

    fn is_over(&self) -> bool {
        let is_late = |budget| self.started.elapsed() >= budget;
        self.budget.is_some_and(is_late) || self.bench.interrupt.is_requested()
    }

    /// Tries the mutants that can be built at once; answers their numbers.
    fn at_once(
        &self,
        recording: &Recording,
        suspects: &mut Vec<(usize, Trial)>,
        note: &mut dyn FnMut(Trial),
    ) -> Result<BTreeSet<usize>> {
        let repository = &self.rehearsal.repository;
        let config = Config::read(repository)?;
        let building = Meanwhile::show("building mutants, and running every test");
        let started = Instant::now();
        let (session, _) = build(repository, &config, self.bench.interrupt)?;
        // Nothing changed: so much it takes whatever changes.
        let building_again = started.elapsed();
        let tests = session.list()?;
        let placer = session.placer(repository, &config)?;
        let recorder = session.recorder(&placer);
        let recorder = recorder.as_ref();
        let built = Built::new(repository, &config, &session, &tests, &placer, recorder)?;
        let together = (&config, &session);
        let panel = switched::panel(self.rehearsal, together, recording, &tests, self.found);
        drop(building);
        let panel = match panel {
            Err(error) if error.exit_code == ExitCode::Interrupted => return Ok(BTreeSet::new()),
            panel => panel?,
        };
        let started = Instant::now();
        switched::select(&built, self.head)?;
        self.announce(panel.as_ref(), building_again, started.elapsed());
        let Some(panel) = panel else {
            return Ok(BTreeSet::new());
        };
        for (place, one) in self.found.iter().enumerate() {
            let number = place + 1;
            if !panel.numbers.contains(&number) {
                continue;
            }
            if self.is_over() {
                break;
            }
            let with = (&built, self.rehearsal);
            match panel.trial(with, self.head, self.bench, (number, one)) {
                Err(error) if error.exit_code == ExitCode::Interrupted => break,
                tried => match tried? {
                    tried if tried.stories.is_empty() => note(tried),
                    suspect => suspects.push((place, suspect)),
                },
            }
        }
        Ok(panel.numbers)
    }

    /// Says what is about to be tried, and about how long that takes, given how long it takes to build and to select where nothing
    /// changed.
    fn announce(&self, panel: Option<&Panel>, building: Duration, selecting: Duration) {
        let at_once = panel.map_or(0, |panel| panel.numbers.len());
        let others = self.found.len() - at_once;
        let alone = self.alone_of(others);
        let times = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let Times { analysis, all, .. } = self.base.times;
        // Where something changed, it takes about twice as long.
        let one = 2 * building + Duration::from_millis(analysis + all);
        let tests = panel.map(|panel| panel.estimate(self.bench.jobs.get()));
        let tests = tests.unwrap_or_default();
        let estimate = tests.max(2 * selecting * times(at_once)) + one * times(alone);
        notice!(
            "trying {} of {} mutants with {} ({}), about {}",
            self.found.len(),
            self.all,
            count(self.base.tests.len(), "test"),
            switched::shares(at_once, alone, others),
            span(self.budget.map_or(estimate, |budget| budget.min(estimate)))
        );
    }

    /// Builds a mutant alone that a test missed which was built at once. Where a program's way depends on where things are in its
    /// memory, it goes other ways in that build than in the one that was recorded, and nobody selected wrongly.
    fn confirmed(&self, one: &Found, suspect: Trial) -> Result<Trial> {
        // Whatever time was given: nobody is told of a miss that is none.
        if self.bench.interrupt.is_requested() {
            return Ok(suspect);
        }
        match self.alone(one) {
            Err(error) if error.exit_code == ExitCode::Interrupted => Ok(suspect),
            Err(error) => Err(error),
            Ok(tried) if tried.obstacle.is_some() => Ok(suspect),
            Ok(tried) => Ok(Trial {
                reaching: suspect.reaching,
                ..tried
            }),
        }
    }

    /// Takes tests for flaky that a mutant seems to be missed by and that go other ways without any mutant, by a random seed for
    /// instance: what they did when they were recorded says nothing of what they do the next time. Those that were found are kept.
    fn set_apart(&self, tried: &mut Trial, unsteady: &mut BTreeSet<String>) -> Result<()> {
        let missed: Vec<String> = tried.stories.keys().cloned().collect();
        for _ in 0..RUNS_WITHOUT {
            if missed.iter().all(|name| unsteady.contains(name)) {
                break;
            }
            let names = (self.head.id(), String::new());
            let again = match trial(&self.rehearsal.repository, self.head, self.bench, names) {
                Err(error) if error.exit_code == ExitCode::Interrupted => break,
                again => again?,
            };
            let is_unsteady = |test: &&Observed| test.moved == Some(true) || test.flaky;
            let moved = again.tests.iter().filter(is_unsteady);
            unsteady.extend(moved.map(|test| test.name.clone()));
        }
        for test in &mut tried.tests {
            if unsteady.contains(&test.name) && tried.stories.remove(&test.name).is_some() {
                test.flaky = true;
            }
        }
        Ok(())
    }

    /// Builds one mutant and tries it.
    fn alone(&self, one: &Found) -> Result<Trial> {
        one.tried_in(self.rehearsal.folder(), |title| {
            let names = (one.name(), title);
            trial(&self.rehearsal.repository, self.head, self.bench, names)
        })
    }
}

/// So many of some things, from all over them.
fn spread<'a, T>(things: &[&'a T], count: usize) -> impl Iterator<Item = &'a T> {
    let chosen: Vec<&T> = (0..count)
        .filter_map(|at| things.get(at * things.len() / count).copied())
        .collect();
    chosen.into_iter()
}

fn note(trials: &mut Vec<Trial>, progress: &mut Progress, tried: Trial) {
    step(progress, &tried.change, &tried);
    trials.push(tried);
}

/// A mutant and its file.
struct Found {
    path: RepoPath,
    mutant: Mutant,
}

impl Found {
    fn place(&self) -> (&RepoPath, usize) {
        (&self.path, self.mutant.range.start)
    }

    /// Puts the mutant into a work tree for as long as it is tried; what it changes is its title.
    fn tried_in(
        &self,
        folder: &Path,
        tried: impl FnOnce(String) -> Result<Trial>,
    ) -> Result<Trial> {
        let file = self.path.under(folder);
        let source = fs::read(&file).map_err(|error| cannot_change(&file, &error))?;
        let mutated = self.mutant.apply(&source);
        fs::write(&file, mutated).map_err(|error| cannot_change(&file, &error))?;
        let tried = tried(self.mutant.diff(&source));
        fs::write(&file, &source).map_err(|error| cannot_change(&file, &error))?;
        tried
    }

    fn name(&self) -> String {
        let Mutant {
            line, kind, name, ..
        } = &self.mutant;
        let path = &self.path;
        match name.as_str() {
            "" => format!("{path}:{line}: {kind}"),
            name => format!("{path}:{line}: {kind} in {name}"),
        }
    }
}

/// What was recorded of a version.
fn recorded(repository: &Repository, version: Version) -> Result<Recording> {
    let histories = open(repository)?;
    let key = VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    };
    match histories.find(key)? {
        Some(history) => history.to_recording(),
        None => Err(Error::new(format!("nothing was recorded of {version}"))),
    }
}

/// All mutants of what the build compiles, without those of the tests themselves unless they are named.
fn found(
    rehearsal: &Rehearsal,
    version: Version,
    recording: &Recording,
    globs: &[NameGlob],
) -> Result<Vec<Found>> {
    let repository = &rehearsal.repository;
    let config = Config::read(repository)?;
    let tree = source_files(repository, &config, &version)?;
    let program = facts_source(repository, Granularity::Expression).program(&tree)?;
    let opened = recording.about.opened_by_build.as_ref();
    let past = past(repository, &open(repository)?, Some(&version.id()))?;
    let same = past.entities(repository, &config)?;
    let functions = functions(same.facts(), &past.functions, &past.about.uncounted);
    let compiled = Compiled::new(&functions);
    let mut found = Vec::new();
    for file in &tree.sources {
        let is_wanted = match globs {
            [] => {
                let is_opened = opened.is_none_or(|opened| opened.contains(&file.path));
                is_opened && !holds_tests(&file.path)
            }
            globs => globs.iter().any(|glob| glob.is_match_path(&file.path)),
        };
        if !is_wanted {
            continue;
        }
        let path = file.path.under(rehearsal.folder());
        let source = fs::read(&path)
            .map_err(|error| Error::new(format!("cannot read '{}': {error}", path.display())))?;
        let own = mutants(&source, &program.macros).into_iter();
        let own = own.filter(|mutant| compiled.has(&file.path, mutant.range.start));
        found.extend(own.map(|mutant| Found {
            path: file.path.clone(),
            mutant,
        }));
    }
    Ok(found)
}

/// Puts mutants in an order that the seed decides, what no test executes behind the others.
fn arrange(found: &mut [Found], recording: &Recording, seed: u64) {
    let names: BTreeSet<String> = found.iter().map(|one| one.mutant.name.clone()).collect();
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let entering = recording.entering(&names);
    Draw::new(seed).shuffle(found);
    // What has no counters may be executed by anybody.
    found.sort_by_key(|one| {
        let tests = entering.get(one.mutant.name.as_str());
        tests.is_some_and(BTreeSet::is_empty)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_many_is_from_all_over_them() {
        let numbers: Vec<u32> = (0..10).collect();
        let all: Vec<&u32> = numbers.iter().collect();
        let spread = |count| spread(&all, count).copied().collect::<Vec<_>>();
        assert_eq!(spread(3), [0, 3, 6]);
        assert_eq!(spread(10), numbers);
        assert_eq!(spread(0), Vec::<u32>::new());
    }
}
