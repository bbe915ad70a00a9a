//! `git rts run`: build, select, run what is selected, and keep what each test did.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::commands::formats::{Format, Listing};
use crate::commands::history::name_of;
use crate::commands::ordering::{Ordering, say_arrangement};
use crate::commands::output::print_raw;
use crate::commands::results::{Results, cases, failure, tell, write_junit};
use crate::commands::select::say;
use crate::commands::testing::{
    about, add_build, add_experience, add_predecessors, build, earlier, no_tests, owe, record_of,
    remember_runs, report_doubts, report_kept, version_of, waiting, widen,
};
use crate::commands::witnesses::ChosenWitnesses;
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::junit::junit;
use crate::emit::list::unrun::tap;
use crate::emit::progress::{Meanwhile, Progress};
use crate::emit::reasons::Teller;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{self, About, PATIENCE, Recording, TestRecord, VersionKey, keep};
use crate::objects::Contents;
use crate::order::owed::Debt;
use crate::recording::products::Products;
use crate::recording::{Recorder, Session};
use crate::repo::Repository;
use crate::runner::needs::{Constraints, constraints, with_needed};
use crate::runner::{Interrupt, Limits, Outcome, Test};
use crate::select::Reason;
use crate::selection::{self, Question, Selection, arrange, carry, selection};
use crate::trace::Trace;

/// So many reasons are kept for a test that is owed.
const REASONS_OWED: usize = 3;

/// Why the trace of a test is no longer that of its source.
const REWRITTEN: &str =
    "its source was written in another way since it ran, with the same compiled code";

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
    /// Build, then print the tests that would run
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
    #[command(flatten)]
    witnesses: ChosenWitnesses,
    #[command(flatten)]
    ordering: Ordering,
    #[command(flatten)]
    listing: Listing,
    /// Arguments to add to the command of every test; what it does with them is not kept
    #[arg(last = true, value_name = "ARGUMENT")]
    extra: Vec<std::ffi::OsString>,
}

impl Run {
    /// Where the results are written to.
    pub(super) fn written(&self) -> Option<&Path> {
        self.junit.as_deref()
    }
}

pub(super) fn run(arguments: &Run) -> Result<()> {
    run_until(arguments, &Interrupt::on_signals()?)
}

/// The run of those who are told of interrupts by somebody else.
pub(super) fn run_until(arguments: &Run, interrupt: &Arc<Interrupt>) -> Result<()> {
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
    arguments.listing.check()?;
    let reports = [Format::Plain, Format::Junit, Format::Tap];
    let lists = arguments.listing.knows_tests() || !reports.contains(&arguments.listing.format);
    if lists && !arguments.dry_run {
        return Err(Error::new("this lists tests; it tells nothing of a run")
            .hint("add '--dry-run' to list what would run; '--format junit' and '--format tap' tell how tests went")
            .exit_code(ExitCode::Usage));
    }
    let wishes = arguments.ordering.wishes(&config, arguments.jobs.get())?;
    if arguments.all && !wishes.limits.is_empty() {
        return Err(Error::new("'--all' leaves no room for a limit")
            .hint("'--technique all' orders all tests and runs those that fit")
            .exit_code(ExitCode::Usage));
    }
    let (base, _) = match repository.resolve(arguments.base.as_deref(), None) {
        // Whatever has a history is what counts in the end; a clone without a past selects everything.
        Err(_) if arguments.base.is_none() && repository.is_shallow() => {
            notice!("this clone is shallow, so HEAD is what it is compared with");
            repository.resolve(Some("HEAD"), None)?
        }
        resolved => resolved?,
    };
    let building = Meanwhile::show("building with counters");
    let (session, reason) = build(&repository, &config, interrupt)?;
    let tests = session.list()?;
    drop(building);
    if let Some(reason) = reason {
        notice!("recording with gcov, because {reason}");
    }
    if tests.is_empty() {
        return Err(no_tests());
    }
    let placer = session.placer(&repository, &config)?;
    let recorder = session.recorder(&placer);
    let about = about(&repository, &config, &session, &placer, recorder.as_ref());
    let (contents, products) = (session.contents(), session.products());
    let question = Question {
        base,
        head: session.version,
        listing: Some(&tests),
        fingerprint: Some(&about.fingerprint),
        built: Some(selection::Built {
            contents: &contents,
            products: &products,
            about: &about,
        }),
        all: arguments.all,
        witnesses: arguments.witnesses.chosen(),
    };
    let mut selection = selection(&repository, &config, &question, true, &mut waiting)?;
    add_needed(&mut selection, &tests);
    let constraints = constraints(&tests);
    let needs = |place| needed_by(&tests, &constraints, place);
    let arrangement = arrange(&mut selection, &wishes, &needs)?;
    say(&selection);
    say_arrangement(&selection, &wishes, &arrangement);
    arguments.witnesses.say(&selection);
    let is_kept =
        !arguments.no_record && arguments.extra.is_empty() && !arguments.ordering.is_shard();
    if !is_kept && !selection.plan.owed.is_empty() {
        anstream::eprintln!(
            "warning: nothing is kept of this run, so what does not fit is not owed"
        );
    }
    if arguments.dry_run {
        return arguments.listing.print(&repository, &selection);
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
        contents: &contents,
        products: &products,
    };
    let mut results = built.execute(arguments, &selection);
    products.note_left();
    // A shard is a part of a run: what it saw is not the history of this version.
    if is_kept {
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
    let sentences = results.sentences();
    let cases = cases(&session, &tests, &results, &sentences);
    let written = match &arguments.junit {
        Some(file) => write_junit(file, &cases),
        None => Ok(()),
    };
    let printed = match arguments.listing.format {
        Format::Junit => print_raw(&junit(&cases)),
        Format::Tap => {
            let results = cases.iter().map(|case| (case.name, case.result));
            print_raw(&tap(&results.collect::<Vec<_>>()))
        }
        _ => Ok(()),
    };
    results.report()?;
    written.and(printed)
}

/// What selected tests cannot run without is selected, too.
fn add_needed(selection: &mut Selection, tests: &[Test]) {
    let selected: BTreeSet<usize> = selection.plan.selected().collect();
    let constraints = constraints(tests);
    let all = with_needed(tests, &constraints, &selected);
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

/// Without which others a test cannot run.
fn needed_by(tests: &[Test], constraints: &Constraints, place: usize) -> Vec<usize> {
    let needs = &tests[place].needs;
    if needs.requires.is_empty() && constraints.tests[place].after.is_empty() {
        return Vec::new();
    }
    let all = with_needed(tests, constraints, &BTreeSet::from([place]));
    all.into_iter().filter(|other| *other != place).collect()
}

/// A project that was built.
struct Built<'a> {
    repository: &'a Repository,
    config: &'a Config,
    session: &'a Session,
    tests: &'a [Test],
    recorder: &'a dyn Recorder,
    about: About,
    contents: &'a Contents,
    products: &'a Products,
    version: VersionKey,
    /// What was known of this version before.
    before: Option<Recording>,
}

impl Built<'_> {
    /// Runs the selected tests.
    fn execute(&self, arguments: &Run, selection: &Selection) -> Results {
        let (session, tests) = (self.session, self.tests);
        let plan = &selection.plan;
        let chosen = plan.order.clone();
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
        let runs: BTreeSet<usize> = chosen.iter().copied().collect();
        let mut results = Results {
            done: vec![None; chosen.len()],
            recording: Recording::default(),
            saved: Duration::from_millis(saved),
            skipped: skipped.count(),
            left: plan
                .selected()
                .filter(|place| !runs.contains(place))
                .collect(),
            owed: Vec::new(),
            uncrossed: Vec::new(),
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
        let running: Vec<&Test> = with_extra.iter().collect();
        session.run(&running, limits, self.recorder, |index, done| {
            let test = running[index];
            let outcome = done.finished.outcome.clone();
            let was_interrupted =
                session.interrupt.is_requested() && matches!(outcome, Outcome::NotRun(_));
            if was_interrupted {
                return;
            }
            if outcome.is_fine() {
                tell(&mut progress, test, &done.finished);
            } else {
                progress.pause();
                anstream::eprintln!("{}", failure(session, test, &done));
            }
            progress.step(outcome.is_fine(), &test.name);
            results.done[index] = Some((outcome, done.finished.duration));
            let (record, trace) = record_of(test, done, self.version);
            results.recording.add(record, trace);
        });
        progress.finish();
        results.is_interrupted = session.interrupt.is_requested();
        results
    }

    /// The history of this version: the new records, and the others carried over. A selected test that did not run stays selected.
    fn history(&self, results: &mut Results, selection: Selection) -> Result<Recording> {
        let mut new = std::mem::take(&mut results.recording);
        let counted = self.recorder.counted();
        remember_runs(
            &mut new,
            counted.len(),
            &selection.latest,
            &self.config.parameters,
        );
        let (unrun, again) = self.unrun(results, &selection)?;
        let session = selection.latest.session + 1;
        let Selection {
            difference,
            known,
            mut rewritten,
            versioned,
            ..
        } = selection;
        let mut recording = known.clone().unwrap_or_default();
        if let Some(difference) = &difference {
            let carry = carry(difference);
            rewritten.extend(recording.losing(&carry, &counted.iter().collect()));
            recording.carry(&carry);
        }
        let chosen = results.chosen.iter().zip(&results.done);
        let chosen = chosen.filter(|(_, done)| done.is_some());
        let ran: Vec<&Test> = chosen.map(|(place, _)| &self.tests[*place]).collect();
        let listed: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        recording.retain(|test| listed.contains(test.name.as_str()));
        for name in &rewritten {
            if let Some(record) = recording.record_mut(name) {
                record.beyond_trace = Some(REWRITTEN.to_owned());
            }
        }
        recording.rename_looked(&|looked| versioned.rename(looked));
        recording.replace(&new);
        recording.replace(&again);
        owe(&mut recording, &unrun, self.version);
        recording.about = self.about.clone();
        recording.about.session = session;
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
        recording.know(counted);
        add_build(&mut recording, self.contents.clone(), self.products);
        Ok(recording)
    }

    /// The selected tests that did not run, each with what it owes; and what is known of those that ran on this very tree before.
    fn unrun(
        &self,
        results: &mut Results,
        selection: &Selection,
    ) -> Result<(Vec<(&Test, Debt)>, Recording)> {
        let plan = &selection.plan;
        let done = results.chosen.iter().zip(&results.done);
        let done = done.filter(|(_, done)| done.is_some());
        let ran: BTreeSet<usize> = done.map(|(place, _)| *place).collect();
        // Who is only there for others comes again with them.
        let is_wanted = |place: &usize| {
            let mut reasons = plan.tests[*place].reasons.iter();
            reasons.any(|reason| !matches!(reason, Reason::Needed(_) | Reason::Drawn(_)))
        };
        let left = plan.selected().filter(|place| !ran.contains(place));
        let mut left: BTreeSet<usize> = left.filter(is_wanted).collect();
        let mut again = Recording::default();
        left.retain(|place| {
            let test = &self.tests[*place];
            let Some((record, trace)) = self.ran_before(test) else {
                return true;
            };
            let is_fine = record.outcome.is_fine();
            again.add(record, trace);
            !is_fine
        });
        if left.is_empty() {
            return Ok((Vec::new(), again));
        }
        let teller = Teller::new(selection, &mut Texts::new(self.repository)?)?;
        let debt = |place: usize| {
            let told = plan.tests[place].reasons.iter();
            let told = told.filter(|reason| !matches!(reason, Reason::Owed(_)));
            let new = Debt {
                since: name_of(self.version),
                at: self.about.created,
                reasons: told
                    .take(REASONS_OWED)
                    .map(|reason| teller.tell(reason).text)
                    .collect(),
            };
            match plan.tests[place].owed.clone() {
                Some(earlier) => earlier.and(new),
                None => new,
            }
        };
        let names = left.iter().map(|place| plan.tests[*place].name.clone());
        results.owed = names.collect();
        let dangers = |place: &usize| {
            let reasons = plan.tests[*place].reasons.iter();
            let hits = reasons.filter_map(|reason| match reason {
                Reason::Danger(hit) => Some(hit.danger),
                _ => None,
            });
            hits.collect::<BTreeSet<usize>>()
        };
        let met: BTreeSet<usize> = ran.iter().flat_map(dangers).collect();
        let missed: BTreeSet<usize> = left.iter().flat_map(dangers).collect();
        results.uncrossed = missed
            .difference(&met)
            .map(|danger| {
                let danger = &selection.source.dangers[*danger];
                match danger.name.as_str() {
                    "" => danger.file.to_string(),
                    name => format!("{name} in {}", danger.file),
                }
            })
            .collect();
        let unrun = left.iter().map(|place| (&self.tests[*place], debt(*place)));
        Ok((unrun.collect(), again))
    }

    /// What is known of a test that ran to its end on this very tree.
    fn ran_before(&self, test: &Test) -> Option<(TestRecord, Trace)> {
        let before = self.before.as_ref()?;
        let record = before.record(&test.name)?;
        let is_of_this_tree = record.ran_on.tree == self.version.tree
            && record.outcome != history::Outcome::NotRun
            && record.definition == test.definition.encoded();
        match is_of_this_tree {
            true => Some((record.clone(), before.trace_of(&test.name)?)),
            false => None,
        }
    }
}
