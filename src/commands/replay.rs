//! `git rts replay`: what selection would have done over the commits of a range, beside running everything.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::commands::rehearsal::Rehearsal;
use crate::commands::trial::{Bench, interrupted, milliseconds, step, trial};
use crate::commands::values::at_least_one;
use crate::commands::verdict::{Pages, verdict};
use crate::config::{Config, FILE};
use crate::digest;
use crate::emit::plan_text::count;
use crate::emit::progress::{Meanwhile, Progress, span};
use crate::emit::trust::Deed;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::lang::c;
use crate::recording::time_plainly;
use crate::repo::{Repository, Version};
use crate::runner::Interrupt;
use crate::trust::Trial;

/// Go through past commits, and compare what would have been selected with running everything
///
/// In a clone of its own, below `.git/rts`, every commit of RANGE is built, tests are selected, and all of them run. A test that ends in another way than before and was skipped is missed: none should be. Your work tree, index, branches and histories stay as they are. When it is interrupted, the same command goes on where it was.
///
/// Only first parents are followed. Commits that have no settings of their own get those of the work tree. Exits with 102 if a test was missed.
#[derive(Debug, Args)]
pub struct Replay {
    /// The commits, such as HEAD~30..HEAD; without an end, up to HEAD
    #[arg(value_name = "RANGE")]
    range: String,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    jobs: NonZeroUsize,
    /// Also time a build with nothing of ours in it and all of its tests at every commit, to compare with
    #[arg(long)]
    plain: bool,
    /// Forget what an interrupted replay of the same range left, and begin again
    #[arg(long)]
    restart: bool,
    #[command(flatten)]
    pages: Pages,
}

pub(super) fn run(arguments: &Replay) -> Result<()> {
    let repository = Repository::discover()?;
    let range = match arguments.range.contains("..") {
        true => arguments.range.clone(),
        false => format!("{}..HEAD", arguments.range),
    };
    let (base, head) = repository.resolve(Some(&range), None)?;
    let commits = repository.first_parents(base, head)?;
    if commits.is_empty() {
        return Err(Error::new(format!("there is no commit in '{range}'"))
            .hint("the range goes from an ancestor to its descendant, such as 'HEAD~30..HEAD'")
            .exit_code(ExitCode::Usage));
    }
    arguments.pages.check()?;
    let interrupt = Interrupt::on_signals()?;
    let mut rehearsal = Rehearsal::open(&repository, "replay")?;
    let notes = Notes::open(&repository, (base, head), arguments)?;
    let mut trials = notes.read()?;
    trials.truncate(commits.len());
    notice!("replaying {}", count(commits.len(), "commit"));
    if !trials.is_empty() {
        notice!(
            "{} known from an earlier replay",
            count(trials.len(), "commit")
        );
    }
    let mut replaying = Replaying {
        rehearsal: &mut rehearsal,
        interrupt: &interrupt,
        jobs: arguments.jobs,
        is_timed_plainly: arguments.plain,
    };
    if trials.len() < commits.len() {
        let from = match trials.len() {
            0 => (base, String::new()),
            known => commits[known - 1].clone(),
        };
        // Where nothing builds, the next commit that does selects everything, as it would have.
        let recording = Meanwhile::show(&format!("building and recording {}", from.0));
        let first = replaying.begin(from, trials.is_empty())?;
        drop(recording);
        let left = commits.len() - trials.len();
        notice!(
            "{} to go, at most about {}",
            count(left, "commit"),
            span(first * left as u32)
        );
    }
    let mut progress = Progress::new("replaying", commits.len() - trials.len());
    for (version, subject) in &commits[trials.len()..] {
        let trial = replaying.try_commit(*version, subject)?;
        notes.add(&trial)?;
        step(&mut progress, &format!("{version} {subject}"), &trial);
        trials.push(trial);
    }
    progress.finish();
    rehearsal.finish()?;
    verdict(&arguments.pages, Deed::Replay { range }, &trials)
}

/// A replay under way.
struct Replaying<'a> {
    rehearsal: &'a mut Rehearsal,
    interrupt: &'a Arc<Interrupt>,
    jobs: NonZeroUsize,
    is_timed_plainly: bool,
}

impl Replaying<'_> {
    /// Gets the history that the first commit is compared with; answers how long that took.
    fn begin(&mut self, (version, subject): (Version, String), is_first: bool) -> Result<Duration> {
        let started = Instant::now();
        let base = self.try_commit(version, &subject)?;
        match base.obstacle.filter(|_| is_first) {
            Some(obstacle) => Err(
                Error::new(format!("{version} cannot be tested: {obstacle}"))
                    .hint("begin the range at a commit that builds")
                    .exit_code(ExitCode::BuildFailed),
            ),
            None => Ok(started.elapsed()),
        }
    }

    fn try_commit(&mut self, version: Version, subject: &str) -> Result<Trial> {
        if self.interrupt.is_requested() {
            return Err(interrupted());
        }
        let names = (version.id(), subject.to_owned());
        if let Err(error) = self.rehearsal.check_out(version) {
            let obstacle = format!("cannot be checked out: {}", error.message);
            return Ok(Trial::stopped(names.0, names.1, obstacle));
        }
        let bench = Bench {
            interrupt: self.interrupt,
            jobs: self.jobs,
            is_kept: true,
            is_hasty: false,
        };
        let repository = &self.rehearsal.repository;
        let tried = trial(repository, version, &bench, names).and_then(|mut trial| {
            if self.is_timed_plainly && trial.obstacle.is_none() {
                trial.times.plain = self.time_plainly(version)?;
            }
            Ok(trial)
        });
        tried.map_err(|error| match error.exit_code {
            ExitCode::Interrupted => error.hint("the same command goes on where it was"),
            _ => error,
        })
    }

    /// How long it takes without us; nothing, if it does not build so.
    fn time_plainly(&self, version: Version) -> Result<Option<u64>> {
        let repository = &self.rehearsal.repository;
        let config = Config::read(repository)?;
        let took = time_plainly(repository, &config, self.jobs.get(), self.interrupt);
        if self.interrupt.is_requested() {
            return Err(interrupted());
        }
        match took {
            Ok(took) => Ok(Some(milliseconds(took))),
            Err(error) if error.exit_code == ExitCode::BuildFailed => {
                notice!(
                    "{version} builds with counters, and not without: {}",
                    error.message
                );
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// What is known of a range, a line a commit, so that an interrupted replay can go on.
struct Notes {
    path: PathBuf,
}

impl Notes {
    /// The notes of a range, for as long as neither this program nor the settings are others.
    fn open(
        repository: &Repository,
        (base, head): (Version, Version),
        arguments: &Replay,
    ) -> Result<Self> {
        let folder = repository.create_rts_dir()?.join("replay");
        let settings = repository
            .workdir()
            .and_then(|top| fs::read(top.join(FILE)).ok());
        let mut digest = digest::Digest::new();
        for part in [&base.id(), &head.id(), env!("CARGO_PKG_VERSION")] {
            digest.absorb_bytes(part.as_bytes());
        }
        digest.absorb(u64::from(c::VERSION));
        digest.absorb(u64::from(arguments.plain));
        for name in repository.config_names("rts.")? {
            for value in repository.config_list(&name)? {
                digest.absorb_bytes(format!("{name}={value}").as_bytes());
            }
        }
        digest.absorb_bytes(&settings.unwrap_or_default());
        let notes = Notes {
            path: folder.join(format!("{:016x}", digest.finish())),
        };
        if arguments.restart {
            notes.write("")?;
        }
        Ok(notes)
    }

    /// What is known; behind a line that was not written to its end there is nothing.
    fn read(&self) -> Result<Vec<Trial>> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str);
        let trials: Vec<Trial> = lines.map_while(std::result::Result::ok).collect();
        let mut whole = String::new();
        for trial in &trials {
            whole.push_str(&line(trial)?);
        }
        self.write(&whole)?;
        Ok(trials)
    }

    fn write(&self, text: &str) -> Result<()> {
        fs::write(&self.path, text).map_err(|error| self.cannot(&error))
    }

    fn add(&self, trial: &Trial) -> Result<()> {
        let mut file = OpenOptions::new();
        let file = file.append(true).create(true).open(&self.path);
        let line = line(trial)?;
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| self.cannot(&error))
    }

    fn cannot(&self, error: &std::io::Error) -> Error {
        Error::new(format!("cannot write '{}': {error}", self.path.display()))
    }
}

fn line(trial: &Trial) -> Result<String> {
    let json = serde_json::to_string(trial)
        .map_err(|error| Error::new(format!("cannot note a trial: {error}")))?;
    Ok(format!("{json}\n"))
}
