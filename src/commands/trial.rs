//! One trial: what lies in a work tree is built, the selected tests run and then all the others, and the two are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::commands::built::{Built, How};
use crate::commands::controls::{self, observed};
use crate::commands::results::{Results, telling_lines};
use crate::commands::testing::{build, report_kept, waiting};
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::loudness;
use crate::emit::plan_text::{story, warnings};
use crate::emit::progress::Progress;
use crate::emit::reasons::Teller;
use crate::emit::trust_text::steps;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{PATIENCE, keep};
use crate::repo::{Repository, Version};
use crate::runner::needs::constraints;
use crate::runner::{Interrupt, Limits};
use crate::select::Planned;
use crate::selection::{Selection, Wishes, Witnesses, carry};
use crate::trust::{Observed, Times, Trial};
use crate::workshop::Workshop;

/// How trials are made.
pub(super) struct Bench<'a> {
    pub(super) interrupt: &'a Arc<Interrupt>,
    pub(super) jobs: NonZeroUsize,
    /// The history that a run would have left is kept, so that the next trial builds on it.
    pub(super) is_kept: bool,
    /// Tests that take many times as long as ever before are not waited for.
    pub(super) is_hasty: bool,
}

/// Tries what lies in the work tree of a repository against a base.
pub(super) fn trial(
    repository: &Repository,
    base: Version,
    bench: &Bench<'_>,
    (change, title): (String, String),
) -> Result<Trial> {
    let config = Config::read(repository)?;
    let started = Instant::now();
    let session = match build(repository, &config, bench.interrupt) {
        Ok((session, _)) => session,
        Err(error) if error.exit_code == ExitCode::BuildFailed => {
            let obstacle = format!("does not build: {}", error.message);
            return Ok(Trial::stopped(change, title, obstacle));
        }
        Err(error) => return Err(error),
    };
    let built_in = started.elapsed();
    let started = Instant::now();
    let tests = match session.list() {
        Ok(tests) if tests.is_empty() => {
            return Ok(Trial::stopped(change, title, "has no tests".to_owned()));
        }
        Ok(tests) => tests,
        Err(error) => {
            let obstacle = format!("does not list its tests: {}", error.message);
            return Ok(Trial::stopped(change, title, obstacle));
        }
    };
    let placer = session.placer(repository, &config)?;
    let recorder = session.recorder(&placer);
    let recorder = recorder.as_ref();
    let built = Built::new(repository, &config, &session, &tests, &placer, recorder)?;
    let mut selection = built.select(base, false, Witnesses::ALL)?;
    built.arrange(&mut selection, &Wishes::all(&config))?;
    let analysed_in = started.elapsed();
    let how = How {
        extra: &[],
        limits: Limits {
            jobs: bench.jobs.get(),
            failures: None,
        },
        controls: controls::drawn(&built, &selection, 1.0, None),
        is_hasty: bench.is_hasty,
        is_told: false,
    };
    let mut results = built.execute(&how, &selection);
    controls::judge(&built, &how, &selection, &mut results);
    if session.interrupt.is_requested() {
        return Err(interrupted());
    }
    built.note_left();
    let trial = Trial {
        obstacle: None,
        everything: everything(&built, &selection)?,
        times: Times {
            build: milliseconds(built_in),
            analysis: milliseconds(analysed_in),
            selected: milliseconds(results.took_selected),
            all: milliseconds(results.took),
            plain: None,
        },
        tests: compared(&built, &selection, &results),
        stories: stories(repository, &selection, &results.missed, &session.workshop)?,
        ..Trial::stopped(change, title, String::new())
    };
    if bench.is_kept {
        let version = built.version;
        let recording = built.history(&mut results, selection)?;
        let rts = repository.create_rts_dir()?;
        report_kept(keep(&rts, version, &recording, PATIENCE, &mut waiting)?);
    }
    Ok(trial)
}

/// One more trial is done: those who want to know of each are told how it and its tests went.
pub(super) fn step(progress: &mut Progress, name: &str, trial: &Trial) {
    if loudness::is_verbose() {
        progress.pause();
        anstream::eprint!("{}", steps(name, trial));
    }
    progress.step(trial.stories.is_empty(), name);
}

pub(super) fn interrupted() -> Error {
    Error::new("interrupted").exit_code(ExitCode::Interrupted)
}

pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What every test did, and whether that is something else than what it did before, carried over to this version.
fn compared(built: &Built<'_>, selection: &Selection, results: &Results) -> Vec<Observed> {
    let mut all = observed(selection, results);
    let (Some(known), Some(difference)) = (&selection.known, &selection.difference) else {
        return all;
    };
    let mut carried = known.clone();
    carried.carry(&carry(difference));
    let mut belied = carried.belied_by(&results.recording);
    belied.extend(carried.belied_by(&results.control_recording));
    let constraints = constraints(built.tests);
    let waits: BTreeSet<&str> = (0..built.tests.len())
        .filter(|place| !constraints.tests[*place].after.is_empty())
        .map(|place| built.tests[place].name.as_str())
        .collect();
    for test in &mut all {
        let name = test.name.as_str();
        let record = known.record(name);
        // Traces that were widened, or that hold what others did, are not those of one run.
        let is_its_own = record.is_some_and(|record| !record.varies) && !waits.contains(name);
        if is_its_own {
            test.moved = Some(belied.contains(name));
        }
    }
    all
}

/// Why every test is selected, if so: the one reason, or the first of those that most have.
pub(super) fn everything(built: &Built<'_>, selection: &Selection) -> Result<Option<String>> {
    let tests = &selection.plan.tests;
    if selection.everything.is_some() || !tests.iter().all(Planned::is_selected) {
        return Ok(selection.everything.clone());
    }
    if let Some(file) = warnings(selection).into_iter().next() {
        return Ok(Some(file));
    }
    let teller = Teller::new(selection, &mut Texts::new(built.repository)?)?;
    let first = tests.iter().find_map(|test| test.reasons.first());
    Ok(first.map(|reason| teller.tell(reason).text))
}

/// Of each test that was missed, why it was skipped and what it printed.
pub(super) fn stories(
    repository: &Repository,
    selection: &Selection,
    missed: &[usize],
    workshop: &Workshop,
) -> Result<BTreeMap<String, String>> {
    if missed.is_empty() {
        return Ok(BTreeMap::new());
    }
    let teller = Teller::new(selection, &mut Texts::new(repository)?)?;
    let stories = missed.iter().map(|place| {
        let name = &selection.plan.tests[*place].name;
        let mut text = anstream::adapter::strip_str(&story(selection, &teller, *place)).to_string();
        for line in telling_lines(workshop, name) {
            text.push_str("| ");
            text.push_str(&line);
            text.push('\n');
        }
        (name.clone(), text)
    });
    Ok(stories.collect())
}
