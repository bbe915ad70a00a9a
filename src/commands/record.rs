//! `git rts record`: build with counters, run every test alone, and keep what each of them did.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};

use crate::commands::history::name_of;
use crate::config::{Config, WantedBackend};
use crate::emit::progress::{Meanwhile, Progress, size, span};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{
    About, Histories, Kept, Outcome, PATIENCE, Recording, TestRecord, VersionKey, keep,
};
use crate::lang::c;
use crate::masquerade::Backend;
use crate::recording::{Done, Session, fingerprint};
use crate::repo::Repository;
use crate::runner::needs::{constraints, with_fixtures};
use crate::runner::{self, Interrupt, Test};
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
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    jobs: usize,
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
    let interrupt = Interrupt::on_signals()?;
    let build_jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let (session, reason) = Session::open(&repository, &config, build_jobs, interrupt)?;
    announce(&session, reason.as_deref());
    let started = Instant::now();
    let building = Meanwhile::show("building with counters");
    session.build()?;
    let built = started.elapsed();
    let tests = session.list()?;
    drop(building);
    let chosen = chosen(&tests, &arguments.tests)?;
    let version = version_of(&repository, &session)?;
    let placer = session.placer(&repository, &config)?;
    let recorder = session.recorder(&placer);
    let about = About {
        fingerprint: fingerprint(&session.backend, &config.environment, &session.folders()),
        partial: false,
        front_end: c::VERSION,
        created: now(),
    };
    let mut recording = before(&repository, version, about.clone(), &tests, &chosen)?;
    let mut tally = Tally::default();
    let mut progress = Progress::new("recording", chosen.len());
    let started = Instant::now();
    let not_started = session.run(&chosen, arguments.jobs, recorder.as_ref(), |index, done| {
        let test = chosen[index];
        progress.step(is_fine(&done.finished.outcome), &test.name);
        if session.interrupt.is_requested()
            && matches!(done.finished.outcome, runner::Outcome::NotRun(_))
        {
            return tally.interrupted += 1;
        }
        let (record, trace) = record_of(test, done, version);
        tally.count(&record);
        recording.add(record, trace);
    });
    progress.finish();
    if !not_started.is_empty() || tally.interrupted > 0 {
        recording = over(
            before(&repository, version, about, &tests, &[])?,
            &recording,
        );
    }
    add_predecessors(&mut recording, &tests);
    recording.about.partial = recording.tests().len() < tests.len();
    recording.know(recorder.counted());
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

fn announce(session: &Session, reason: Option<&str>) {
    let how = match &session.backend {
        Backend::Llvm { clang } => format!("back end llvm ({})", clang.display()),
        Backend::Gcov => "back end gcov".to_owned(),
    };
    let why = reason.map_or_else(String::new, |reason| format!(", because {reason}"));
    anstream::eprintln!("runner {}, {how}{why}", session.runner.name());
}

fn waiting(process: Option<u32>) {
    match process {
        Some(id) => anstream::eprintln!("waiting for process {id}, which uses the history"),
        None => anstream::eprintln!("waiting for another process, which uses the history"),
    }
}

/// The tests that were asked for; all if none was.
fn chosen<'a>(tests: &'a [Test], names: &[String]) -> Result<Vec<&'a Test>> {
    for name in names {
        if !tests.iter().any(|test| test.name == *name) {
            let near = tests
                .iter()
                .map(|test| &test.name)
                .find(|other| other.contains(name.as_str()));
            let error = Error::new(format!("there is no test '{name}'"));
            return Err(match near {
                Some(near) => error.hint(format!("there is a test '{near}'")),
                None => error.hint("'git rts history show' lists the tests that are known"),
            });
        }
    }
    if tests.is_empty() {
        return Err(Error::new("the project has no tests")
            .hint("is testing switched off in its configuration? 'build.configure' in '.git-rts.toml' takes options"));
    }
    let asked = (0..tests.len()).filter(|at| names.is_empty() || names.contains(&tests[*at].name));
    // What a test needs to be set up comes along.
    let chosen = with_fixtures(tests, &asked.collect());
    Ok(chosen.into_iter().map(|at| &tests[at]).collect())
}

/// A test that waits for others may depend on what they did: their traces count for it, and their doubts.
fn add_predecessors(recording: &mut Recording, tests: &[Test]) {
    let constraints = constraints(tests);
    for (index, test) in tests.iter().enumerate() {
        let mut before = constraints.tests[index].after.clone();
        let mut waiting: Vec<usize> = before.iter().copied().collect();
        while let Some(earlier) = waiting.pop() {
            let further = constraints.tests[earlier].after.iter().copied();
            waiting.extend(further.filter(|further| before.insert(*further)));
        }
        before.remove(&index);
        let find = |name: &str| recording.tests().iter().find(|test| test.name == name);
        let Some(mut record) = find(&test.name).filter(|_| !before.is_empty()).cloned() else {
            continue;
        };
        let mut trace = recording.trace_of(&test.name).unwrap_or_default();
        for earlier in before.into_iter().map(|earlier| &tests[earlier].name) {
            let more = recording.trace_of(earlier).unwrap_or_default();
            trace.functions.extend(more.functions);
            let doubt = match find(earlier) {
                Some(earlier) => earlier.doubt.clone(),
                None => Some("it was not recorded".to_owned()),
            };
            let inherited = doubt.map(|doubt| format!("it waits for '{earlier}': {doubt}"));
            record.doubt = record.doubt.or(inherited);
        }
        recording.add(record, trace);
    }
}

/// The version that is recorded: the commit if the work tree is as it was committed, else the tree alone.
fn version_of(repository: &Repository, session: &Session) -> Result<VersionKey> {
    let tree = session.version.tree();
    let head = repository.commit("HEAD").ok();
    let commit = head
        .filter(|head| head.tree() == tree)
        .and_then(|head| head.commit());
    Ok(VersionKey { commit, tree })
}

/// What is known of the version before: when only some tests are recorded, the others stay.
fn before(
    repository: &Repository,
    version: VersionKey,
    about: About,
    tests: &[Test],
    chosen: &[&Test],
) -> Result<Recording> {
    if chosen.len() == tests.len() {
        return Ok(Recording::new(about));
    }
    let histories = Histories::open(&repository.create_rts_dir()?, PATIENCE, &mut waiting)?;
    let known = match histories.find(version)? {
        Some(history) => history.to_recording()?,
        None => Recording::new(about.clone()),
    };
    let is_comparable =
        known.about.fingerprint == about.fingerprint && known.about.front_end == about.front_end;
    let mut recording = if is_comparable {
        known
    } else {
        Recording::new(about.clone())
    };
    let listed: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    let gone: Vec<String> = recording
        .tests()
        .iter()
        .map(|test| test.name.clone())
        .filter(|name| !listed.contains(name.as_str()))
        .collect();
    recording.forget(&gone.iter().map(String::as_str).collect());
    recording.about = about;
    Ok(recording)
}

/// What was recorded before, with the new records in place of the old.
fn over(mut known: Recording, new: &Recording) -> Recording {
    for test in new.tests() {
        let trace = new.trace_of(&test.name).unwrap_or_default();
        known.add(test.clone(), trace);
    }
    known
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

fn is_fine(outcome: &runner::Outcome) -> bool {
    matches!(outcome, runner::Outcome::Passed | runner::Outcome::Skipped)
}

fn record_of(test: &Test, done: Done, ran_on: VersionKey) -> (TestRecord, Trace) {
    let Done { finished, recorded } = done;
    let (outcome, not_run) = match finished.outcome {
        runner::Outcome::Passed => (Outcome::Passed, None),
        runner::Outcome::Failed { .. } => (Outcome::Failed, None),
        runner::Outcome::Skipped => (Outcome::Skipped, None),
        runner::Outcome::TimedOut => (Outcome::TimedOut, None),
        runner::Outcome::Crashed { .. } => (Outcome::Crashed, None),
        runner::Outcome::NotRun(reason) => (Outcome::NotRun, Some(reason)),
    };
    let record = TestRecord {
        name: test.name.clone(),
        outcome,
        milliseconds: finished.duration.as_millis() as u64,
        definition: serde_json::to_vec(&test.definition).unwrap_or_default(),
        binaries: recorded.binaries,
        unplaced: recorded.unplaced,
        doubt: not_run.or(recorded.doubt),
        ran_on,
    };
    (record, recorded.trace)
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
    anstream::eprintln!(
        "{} {}: {}",
        tally.tests,
        if tally.tests == 1 { "test" } else { "tests" },
        outcomes.join(", ")
    );
    for test in recording.tests() {
        if !matches!(test.outcome, Outcome::Passed | Outcome::Skipped) {
            anstream::eprintln!(
                "  {} {}: {}",
                test.outcome.word(),
                test.name,
                session.log_of(&test.name).display()
            );
        }
    }
    let mut doubts: BTreeMap<&str, usize> = BTreeMap::new();
    for doubt in recording
        .tests()
        .iter()
        .filter_map(|test| test.doubt.as_deref())
    {
        *doubts.entry(doubt).or_default() += 1;
    }
    for (doubt, count) in doubts {
        anstream::eprintln!("{count} will always be selected: {doubt}");
    }
    anstream::eprintln!(
        "built in {}, ran in {} ({} of tests)",
        span(built),
        span(ran),
        span(Duration::from_millis(tally.milliseconds))
    );
    match kept {
        Kept::Written { written, notices } => {
            for notice in notices {
                anstream::eprintln!("warning: {notice}");
            }
            anstream::eprintln!(
                "history of {} kept: {}, {} of it new",
                name_of(version),
                size(written.size),
                size(written.added)
            );
        }
        Kept::InInbox(path) => anstream::eprintln!(
            "another process uses the history; this record waits for it in '{}'",
            path.display()
        ),
    }
}
