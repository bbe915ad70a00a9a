//! `git rts run`: build, select, run what is selected, and keep what each test did.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use clap::Args;

use crate::commands::output::print;
use crate::commands::select::{names, say};
use crate::commands::testing::{
    about, add_experience, add_predecessors, build, earlier, no_tests, not_run, record_of,
    report_doubts, report_kept, version_of, waiting, widen,
};
use crate::config::Config;
use crate::emit::junit::{self, Case, junit};
use crate::emit::plan_text::count;
use crate::emit::progress::{Meanwhile, Progress, span};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{self, About, PATIENCE, Recording, VersionKey, keep};
use crate::recording::{Done, Recorder, Session};
use crate::repo::Repository;
use crate::runner::needs::{constraints, with_fixtures};
use crate::runner::{Limits, Outcome, Test};
use crate::select::Reason;
use crate::selection::{Question, Selection, carry, selection};
use crate::trace::Trace;

/// So much of what a failed test printed last is shown.
const LINES_TOLD: usize = 3;

const FAILED: Style = AnsiColor::Red.on_default().bold();

/// Build, run the tests that a change can affect, and keep what they did
///
/// Compares the work tree with BASE, selects as `git rts select` does, and also tests that are new or defined in another way. After the run this version has a complete history: tests that ran have new traces, the others keep theirs. Exits with 100 if a test failed, with 101 if the project could not be built.
#[derive(Debug, Args)]
pub struct Run {
    /// The version to compare with: any revision [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// Run all tests, whatever changed
    #[arg(long)]
    all: bool,
    /// Build, then print the tests that would run, one a line
    #[arg(long)]
    dry_run: bool,
    /// Stop at the first failure; what is left stays selected
    #[arg(long)]
    fail_fast: bool,
    /// Stop after N failures
    #[arg(long, value_name = "N", conflicts_with = "fail_fast")]
    max_fail: Option<NonZeroUsize>,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Keep nothing of this run
    #[arg(long)]
    no_record: bool,
    /// Arguments to add to the command of every test; what it does with them is not kept
    #[arg(last = true, value_name = "ARGUMENT")]
    extra: Vec<std::ffi::OsString>,
}

pub(super) fn run(arguments: &Run) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    // First what can fail at once.
    if let Some(range) = arguments.base.as_deref().filter(|base| base.contains("..")) {
        return Err(Error::new(format!(
            "'{range}' is a range, but the work tree is what runs"
        ))
        .hint("name the base alone")
        .exit_code(ExitCode::Usage));
    }
    let (base, _) = repository.resolve(arguments.base.as_deref(), None)?;
    let building = Meanwhile::show("building with counters");
    let (session, reason) = build(&repository, &config)?;
    let tests = session.list()?;
    drop(building);
    if let Some(reason) = reason {
        anstream::eprintln!("recording with gcov, because {reason}");
    }
    if tests.is_empty() {
        return Err(no_tests());
    }
    let placer = session.placer(&repository, &config)?;
    let recorder = session.recorder(&placer);
    let about = about(&repository, &config, &session, &placer, recorder.as_ref());
    let question = Question {
        base,
        head: session.version,
        listing: Some(&tests),
        fingerprint: Some(&about.fingerprint),
        all: arguments.all,
    };
    let mut selection = selection(&repository, &config, &question, true, &mut waiting)?;
    add_needed(&mut selection, &tests);
    say(&selection);
    if arguments.dry_run {
        return print(&names(&selection));
    }
    let version = version_of(&repository, &session);
    let built = Built {
        repository: &repository,
        config: &config,
        version,
        // Read before tests run: nobody who has the database then can cost us what they did.
        before: earlier(&repository, version, &about)?,
        session: &session,
        tests: &tests,
        recorder: recorder.as_ref(),
        about,
    };
    let mut results = built.execute(arguments, &selection);
    if !arguments.no_record && arguments.extra.is_empty() {
        let recording = built.history(&mut results, selection)?;
        let kept = keep(
            &repository.create_rts_dir()?,
            built.version,
            &recording,
            PATIENCE,
            &mut waiting,
        )?;
        report_kept(kept);
        let ran = recording.tests().iter();
        report_doubts(ran.filter(|test| {
            test.ran_on == built.version && test.outcome != history::Outcome::NotRun
        }));
    }
    if let Some(file) = &arguments.junit {
        write_junit(file, &session, &tests, &results)?;
    }
    results.report()
}

/// What became of the selected tests.
struct Results {
    /// Places of the tests that were to run, in order.
    chosen: Vec<usize>,
    /// Of those, how each went; nothing if it did not start.
    done: Vec<Option<(Outcome, Duration)>>,
    recording: Recording,
    elapsed: Duration,
    /// How long the skipped tests last took.
    saved: Duration,
    skipped: usize,
    is_interrupted: bool,
}

/// What selected tests cannot run without is selected, too.
fn add_needed(selection: &mut Selection, tests: &[Test]) {
    let selected: BTreeSet<usize> = selection.plan.selected().collect();
    let constraints = constraints(tests);
    let mut all = with_fixtures(tests, &selected);
    let mut waiting: Vec<usize> = all.iter().copied().collect();
    while let Some(test) = waiting.pop() {
        let earlier = constraints.tests[test].after.iter().copied();
        waiting.extend(earlier.filter(|earlier| all.insert(*earlier)));
    }
    for place in all.difference(&selected) {
        let needs = |test: &usize| {
            constraints.tests[*test].after.contains(place)
                || constraints.tests[*place].after.contains(test)
        };
        let by = all.iter().find(|test| needs(test)).unwrap_or(place);
        let reason = Reason::Needed(tests[*by].name.clone());
        selection.plan.tests[*place].reasons.push(reason);
    }
}

/// A project that was built.
struct Built<'a> {
    repository: &'a Repository,
    config: &'a Config,
    session: &'a Session,
    tests: &'a [Test],
    recorder: &'a dyn Recorder,
    about: About,
    version: VersionKey,
    /// What was known of this version before.
    before: Option<Recording>,
}

impl Built<'_> {
    /// Runs the selected tests.
    fn execute(&self, arguments: &Run, selection: &Selection) -> Results {
        let (session, tests) = (self.session, self.tests);
        let plan = &selection.plan;
        let chosen: Vec<usize> = plan.selected().collect();
        let with_extra: Vec<Test> = chosen
            .iter()
            .map(|place| {
                let mut test = tests[*place].clone();
                test.launch.command.extend(arguments.extra.iter().cloned());
                test
            })
            .collect();
        let skipped = (0..tests.len()).filter(|place| !plan.tests[*place].is_selected());
        let (saved, _) = plan.time_of(skipped.clone());
        let mut results = Results {
            done: vec![None; chosen.len()],
            recording: Recording::default(),
            elapsed: Duration::ZERO,
            saved: Duration::from_millis(saved),
            skipped: skipped.count(),
            is_interrupted: false,
            chosen,
        };
        let limits = Limits {
            jobs: arguments.jobs.get(),
            failures: if arguments.fail_fast {
                Some(1)
            } else {
                arguments.max_fail.map(NonZeroUsize::get)
            },
        };
        let mut progress = Progress::new("running", with_extra.len());
        let started = Instant::now();
        let running: Vec<&Test> = with_extra.iter().collect();
        session.run(&running, limits, self.recorder, |index, done| {
            let test = running[index];
            let outcome = done.finished.outcome.clone();
            let was_interrupted =
                session.interrupt.is_requested() && matches!(outcome, Outcome::NotRun(_));
            if was_interrupted {
                return;
            }
            if !outcome.is_fine() {
                progress.pause();
                anstream::eprintln!("{}", failure(session, test, &done));
            }
            progress.step(outcome.is_fine(), &test.name);
            results.done[index] = Some((outcome, done.finished.duration));
            let (record, trace) = record_of(test, done, self.version);
            results.recording.add(record, trace);
        });
        progress.finish();
        results.elapsed = started.elapsed();
        results.is_interrupted = session.interrupt.is_requested();
        results
    }

    /// The history of this version: the new records, and the others carried over. A selected test that did not run stays selected.
    fn history(&self, results: &mut Results, selection: Selection) -> Result<Recording> {
        let mut new = std::mem::take(&mut results.recording);
        let Selection {
            difference, known, ..
        } = selection;
        let mut recording = known.clone().unwrap_or_default();
        if let Some(difference) = &difference {
            recording.carry(&carry(difference));
        }
        let chosen = results.chosen.iter().map(|place| &self.tests[*place]);
        let ran: Vec<&Test> = chosen.collect();
        for (test, done) in ran.iter().zip(&results.done) {
            if done.is_none() {
                let last = recording.record(&test.name);
                let record = not_run(test, last, self.version);
                new.add(record, Trace::default());
            }
        }
        let listed: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        recording.retain(|test| listed.contains(test.name.as_str()));
        recording.replace(&new);
        recording.about = self.about.clone();
        add_predecessors(&mut recording, self.tests);
        let (before, known) = (self.before.as_ref(), known.as_ref());
        add_experience(&mut recording, &ran, before, known, self.config);
        widen(
            self.repository,
            self.config,
            self.session,
            &mut recording,
            &ran,
        )?;
        recording.about.partial = recording.tests().len() < self.tests.len();
        recording.know(self.recorder.counted());
        Ok(recording)
    }
}

fn failure(session: &Session, test: &Test, done: &Done) -> String {
    let log = session.log_of(&test.name);
    let mut text = format!(
        "{FAILED}FAIL{FAILED:#} {} ({}): {}\n     {}",
        test.name,
        span(done.finished.duration),
        done.finished.outcome.sentence(),
        log.display()
    );
    let printed = fs::read(&log).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LINES_TOLD)) {
        text.push_str("\n     | ");
        text.extend(line.chars().filter(|letter| !letter.is_control()).take(160));
    }
    text
}

fn write_junit(file: &PathBuf, session: &Session, tests: &[Test], results: &Results) -> Result<()> {
    let sentences: Vec<String> = results
        .done
        .iter()
        .map(|done| match done {
            Some((outcome, _)) => outcome.sentence(),
            None => "not run: the run was stopped before it".to_owned(),
        })
        .collect();
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (place, test) in tests.iter().enumerate() {
        let chosen = results.chosen.iter().position(|chosen| *chosen == place);
        let (result, duration) = match chosen.map(|at| (&results.done[at], &sentences[at])) {
            None => (
                junit::Result::Skipped("the change cannot affect it"),
                Duration::ZERO,
            ),
            Some((Some((Outcome::Passed, duration)), _)) => (junit::Result::Passed, *duration),
            Some((Some((Outcome::Skipped, duration)), why)) => {
                (junit::Result::Skipped(why), *duration)
            }
            Some((Some((_, duration)), why)) => (junit::Result::Failed(why), *duration),
            Some((None, why)) => (junit::Result::Skipped(why), Duration::ZERO),
        };
        let output = match result {
            junit::Result::Failed(_) => {
                let bytes = fs::read(session.log_of(&test.name)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => String::new(),
        };
        cases.push(Case {
            name: &test.name,
            duration,
            result,
            output,
        });
    }
    fs::write(file, junit(&cases))
        .map_err(|error| Error::new(format!("cannot write '{}': {error}", file.display())))
}

impl Results {
    /// Sums up, and fails if a test did.
    fn report(&self) -> Result<()> {
        let ended = |is: fn(&Outcome) -> bool| {
            let all = self.done.iter().flatten();
            all.filter(|(outcome, _)| is(outcome)).count()
        };
        let failed = ended(|outcome| !outcome.is_fine());
        let unstarted = self.done.iter().filter(|done| done.is_none()).count();
        let mut parts = vec![format!("{} passed", ended(Outcome::has_passed))];
        for (number, what) in [
            (
                ended(|outcome| *outcome == Outcome::Skipped),
                "skipped by itself",
            ),
            (failed, "failed"),
            (unstarted, "not run"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        anstream::eprintln!(
            "{}, {} skipped safely; ran {}, saved about {}",
            parts.join(", "),
            self.skipped,
            span(self.elapsed),
            span(self.saved)
        );
        if self.is_interrupted {
            return Err(Error::new(format!(
                "interrupted; {} not run, which stays selected",
                count(unstarted, "test")
            ))
            .exit_code(ExitCode::Interrupted));
        }
        if failed > 0 {
            return Err(Error::new(format!("{} failed", count(failed, "test")))
                .hint("'git rts why TEST' tells why a test was selected")
                .exit_code(ExitCode::TestsFailed));
        }
        Ok(())
    }
}
