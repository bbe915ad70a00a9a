//! `git rts record`: build with counters, run every test alone, and keep what each of them did.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::commands::history::{name_of, open};
use crate::commands::results::tell;
use crate::commands::testing::{
    about, add_build, add_experience, add_predecessors, build, earlier, no_tests, record_of,
    remember_runs, report_doubts, report_kept, version_of, waiting, widen,
};
use crate::commands::values::at_least_one;
use crate::commands::why::no_test;
use crate::config::{Config, WantedBackend};
use crate::emit::progress::{Meanwhile, Progress, size, span};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Kept, Outcome, PATIENCE, Recording, TestRecord, VersionKey, keep};
use crate::masquerade::Backend;
use crate::recording::Session;
use crate::repo::Repository;
use crate::runner::needs::{constraints, with_needed};
use crate::runner::{self, Interrupt, Limits, Test};
use crate::selection::{Latest, owed_elsewhere};
use crate::trace::Trace;

/// Run every test alone and keep what each of them executed
///
/// Builds a copy of the work tree with instrumentation (your own build stays as it is), runs the tests one by one, and stores for this version which functions and which edges of their control-flow graphs each test crossed, its outcome and its duration. `git rts history` shows what is stored.
///
/// Works without a change to the project for CMake with CTest, Autotools, Meson and plain Makefiles; any other project says in `.git-rts.toml` how its tests are listed and run.
#[derive(Debug, Args)]
pub struct Record {
    /// Record only these tests, and keep what is known of the others
    #[arg(value_name = "TEST")]
    tests: Vec<String>,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    jobs: NonZeroUsize,
    /// How programs are made to count; `auto` takes llvm if clang is there
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BackendName {
    Auto,
    Llvm,
    Gcov,
}

pub(super) fn run(arguments: &Record) -> Result<()> {
    let repository = Repository::discover()?;
    let mut config = Config::read(&repository)?;
    config.backend = match arguments.backend {
        None => config.backend,
        Some(BackendName::Auto) => WantedBackend::Auto,
        Some(BackendName::Llvm) => WantedBackend::Llvm,
        Some(BackendName::Gcov) => WantedBackend::Gcov,
    };
    let started = Instant::now();
    let building = Meanwhile::show("building with counters");
    let (session, reason) = build(&repository, &config, &Interrupt::on_signals()?)?;
    drop(building);
    announce(&session, reason.as_deref());
    let built = started.elapsed();
    let tests = session.list()?;
    let chosen = chosen(&session, &tests, &arguments.tests)?;
    let version = version_of(&repository, &session);
    let placer = session.placer(&repository, &config)?;
    let recorder = session.recorder(&placer);
    let (contents, products) = (session.contents(), session.products());
    let recorder = recorder.as_ref();
    let about = about(&repository, &config, &session, &placer, recorder, &contents);
    let before = earlier(&repository, version, &about)?;
    let latest = Latest::read(&repository, &open(&repository)?, session.version)?;
    let is_all = chosen.len() == tests.len();
    let mut recording = Recording::new(about);
    let mut tally = Tally::default();
    let mut progress = Progress::new("recording", chosen.len());
    let started = Instant::now();
    let limits = Limits {
        jobs: arguments.jobs.get(),
        failures: None,
    };
    let not_started = session.run(&chosen, limits, recorder, |index, done| {
        let test = chosen[index];
        progress.step(done.finished.outcome.is_fine(), &test.name);
        if session.interrupt.is_requested()
            && matches!(done.finished.outcome, runner::Outcome::NotRun(_))
        {
            return tally.interrupted += 1;
        }
        tell(&mut progress, test, &done.finished);
        let (record, trace) = record_of(test, done, version);
        tally.count(&record);
        recording.add(record, trace);
    });
    progress.finish();
    products.note_left();
    let counted = recorder.counted();
    remember_runs(
        &mut recording,
        counted.len(),
        (&latest, true),
        &config.parameters,
    );
    recording.about.session = latest.session + 1;
    let has_run = |test: &&&Test| recording.record(&test.name).is_some();
    let ran: Vec<&Test> = chosen.iter().filter(has_run).copied().collect();
    let is_stopped = !not_started.is_empty() || tally.interrupted > 0;
    if let Some(before) = before.as_ref().filter(|_| is_stopped || !is_all) {
        // What was not recorded now stays as it was.
        let listed: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        let mut known = before.clone();
        known.retain(|test| listed.contains(test.name.as_str()));
        known.replace(&recording);
        known.about = recording.about;
        recording = known;
    }
    add_predecessors(&mut recording, &tests);
    add_experience(&mut recording, &ran, before.as_ref(), None, &config);
    widen(&repository, &config, &session, &mut recording, &ran)?;
    recording.about.partial = recording.tests().len() < tests.len();
    add_unknown(&mut recording, &tests, &latest, version);
    let known = latest.tests.values().map(Arc::as_ref);
    recording.let_through(owed_elsewhere(&repository, session.version, known));
    recording.know(counted);
    add_build(&mut recording, contents, &products);
    let ran = started.elapsed();
    let kept = keep(
        &repository.create_rts_dir()?,
        version,
        &recording,
        PATIENCE,
        &mut waiting,
    )?;
    summarise(&session, version, &tally, &recording, (built, ran), kept);
    if session.interrupt.is_requested() {
        return Err(Error::new(format!(
            "interrupted; what {} of {} tests did is kept",
            tally.tests,
            chosen.len()
        ))
        .exit_code(ExitCode::Interrupted));
    }
    Ok(())
}

/// Why a test of which only the name is known is always selected.
const NOT_RECORDED: &str = "it was not recorded";

/// The tests that were not recorded are known by name, and stay selected.
fn add_unknown(recording: &mut Recording, tests: &[Test], latest: &Latest, version: VersionKey) {
    for test in tests {
        if recording.record(&test.name).is_none() {
            let before = latest.tests.get(&test.name);
            let record = TestRecord {
                doubt: Some(NOT_RECORDED.to_owned()),
                owed: before.and_then(|before| before.owed.clone()),
                ..TestRecord::unknown(&test.name, test.definition.encoded(), version)
            };
            recording.add(record, Trace::default());
        }
    }
}

fn announce(session: &Session, reason: Option<&str>) {
    let how = match &session.backend {
        Backend::Llvm { clang } => format!("back end llvm ({})", clang.display()),
        Backend::Gcov | Backend::Rustc => format!("back end {}", session.backend.name()),
    };
    let why = reason.map_or_else(String::new, |reason| format!(", because {reason}"));
    notice!("runner {}, {how}{why}", session.runner.name());
}

/// The tests that were asked for; all if none was.
fn chosen<'a>(session: &Session, tests: &'a [Test], names: &[String]) -> Result<Vec<&'a Test>> {
    for name in names {
        if !tests.iter().any(|test| test.name == *name) {
            return Err(no_test(name, tests.iter().map(|test| test.name.as_str())));
        }
    }
    if tests.is_empty() {
        return Err(no_tests(session));
    }
    let asked = (0..tests.len()).filter(|at| names.is_empty() || names.contains(&tests[*at].name));
    // What a test needs, and waits for, comes along.
    let chosen = with_needed(tests, &constraints(tests), &asked.collect());
    Ok(chosen.into_iter().map(|at| &tests[at]).collect())
}

#[derive(Debug, Default)]
struct Tally {
    tests: usize,
    interrupted: usize,
    outcomes: BTreeMap<Outcome, usize>,
    milliseconds: u64,
}

impl Tally {
    fn count(&mut self, record: &TestRecord) {
        self.tests += 1;
        *self.outcomes.entry(record.outcome).or_default() += 1;
        self.milliseconds += record.milliseconds;
    }
}

fn summarise(
    session: &Session,
    version: VersionKey,
    tally: &Tally,
    recording: &Recording,
    (built, ran): (Duration, Duration),
    kept: Kept,
) {
    let outcomes: Vec<String> = tally
        .outcomes
        .iter()
        .map(|(outcome, count)| format!("{count} {}", outcome.word()))
        .collect();
    notice!(
        "{} {}: {}",
        tally.tests,
        if tally.tests == 1 { "test" } else { "tests" },
        outcomes.join(", ")
    );
    for test in recording.tests() {
        let is_known = test.doubt.as_deref() != Some(NOT_RECORDED);
        if is_known && !test.outcome.is_fine() {
            anstream::eprintln!(
                "  {} {}: {}",
                test.outcome.word(),
                test.name,
                session.log_of(&test.name).display()
            );
        }
    }
    report_doubts(recording.tests());
    notice!(
        "built in {}, ran in {} ({} of tests)",
        span(built),
        span(ran),
        span(Duration::from_millis(tally.milliseconds))
    );
    if let Some(written) = report_kept(kept) {
        notice!(
            "history of {} kept: {}, {} of it new",
            name_of(version),
            size(written.size),
            size(written.added)
        );
    }
}
