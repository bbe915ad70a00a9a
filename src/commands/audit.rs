//! `git rts audit`: small mistakes are put into the code, and every test that notices one must have been selected.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use clap::Args;

use crate::commands::rehearsal::Rehearsal;
use crate::commands::testing::waiting;
use crate::commands::trial::{Bench, interrupted, trial};
use crate::commands::verdict::{Pages, verdict};
use crate::config::{Config, NameGlob, duration};
use crate::difference::{facts_source, source_files};
use crate::emit::plan_text::count;
use crate::emit::progress::{Meanwhile, Progress, span};
use crate::emit::trust::Deed;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Histories, PATIENCE, Recording, VersionKey};
use crate::lang::c::{Granularity, Mutant, mutants};
use crate::order::draw::Draw;
use crate::repo::{RepoPath, Repository, Version};
use crate::runner::Interrupt;
use crate::trust::Trial;

/// Put small mistakes into the code, and check that every test that notices one is selected
///
/// In a clone of its own, below `.git/rts`, HEAD is built and recorded. Then, one after the other, operators, constants, conditions and statements are changed as people mistype them; each mutant is built, tests are selected, and all of them run. What tests execute comes first. Mutants that no test notices are listed, too: there a test is missing. Your work tree stays as it is.
///
/// Exits with 102 if a test noticed a mutant and was not selected.
#[derive(Debug, Args)]
pub struct Audit {
    /// Only mutants of these files, as patterns [default: all that the build reads]
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// How many mutants are tried
    #[arg(short = 'n', long, value_name = "N", default_value = "100")]
    mutants: NonZeroUsize,
    /// Stop after a time, such as 10min
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// Which mutants are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1")]
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
    let started = Instant::now();
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
    notice!(
        "trying {} of {all} mutants with {}, at most about {}",
        found.len(),
        count(base.tests.len(), "test"),
        span(budget.unwrap_or_else(|| started.elapsed() * found.len() as u32))
    );
    let bench = Bench {
        is_kept: false,
        is_hasty: true,
        ..bench
    };
    let trials = tried(&rehearsal, head, &bench, &found, budget)?;
    rehearsal.finish()?;
    let version = head.id();
    verdict(&arguments.pages, Deed::Audit { version }, &trials)?;
    match interrupt.is_requested() {
        true => Err(interrupted().hint("what is told is what was tried until then")),
        false => Ok(()),
    }
}

fn nothing_to_mutate() -> Error {
    Error::new("there is nothing to mutate").hint("do the patterns name C files of HEAD?")
}

/// Tries one mutant after the other, until there is no time left or somebody stops it.
fn tried(
    rehearsal: &Rehearsal,
    head: Version,
    bench: &Bench<'_>,
    found: &[Found],
    budget: Option<Duration>,
) -> Result<Vec<Trial>> {
    let started = Instant::now();
    let mut progress = Progress::new("auditing", found.len());
    let mut trials = Vec::new();
    for one in found {
        let is_over = budget.is_some_and(|budget| started.elapsed() >= budget);
        if is_over || bench.interrupt.is_requested() {
            break;
        }
        let file = one.path.under(rehearsal.folder());
        let cannot = |error| Error::new(format!("cannot change '{}': {error}", file.display()));
        let source = fs::read(&file).map_err(cannot)?;
        fs::write(&file, one.mutant.apply(&source)).map_err(cannot)?;
        let names = (one.name(), one.mutant.diff(&source));
        let tried = trial(&rehearsal.repository, head, bench, names);
        fs::write(&file, &source).map_err(cannot)?;
        let tried = match tried {
            Err(error) if error.exit_code == ExitCode::Interrupted => break,
            tried => tried?,
        };
        progress.step(tried.stories.is_empty(), &one.name());
        trials.push(tried);
    }
    progress.finish();
    Ok(trials)
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
    let histories = Histories::open(&repository.create_rts_dir()?, PATIENCE, &mut waiting)?;
    let key = VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    };
    match histories.find(key)? {
        Some(history) => history.to_recording(),
        None => Err(Error::new(format!("nothing was recorded of {version}"))),
    }
}

/// All mutants of the files that the build reads.
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
    let mut found = Vec::new();
    for file in &tree.sources {
        let is_wanted = match globs {
            [] => opened.is_none_or(|opened| opened.contains(&file.path)),
            globs => globs.iter().any(|glob| glob.is_match_path(&file.path)),
        };
        if !is_wanted {
            continue;
        }
        let path = file.path.under(rehearsal.folder());
        let source = fs::read(&path)
            .map_err(|error| Error::new(format!("cannot read '{}': {error}", path.display())))?;
        let own = mutants(&source, &program.macros).into_iter();
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
