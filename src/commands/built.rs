//! A project that was built: from its tests to the plan, the run, and the history that is left of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::{Duration, Instant};

use crate::commands::haste::hurry;
use crate::commands::history::name_of;
use crate::commands::results::{Results, failure, tell};
use crate::commands::testing::{
    about, add_build, add_experience, add_predecessors, earlier, owe, record_of, remember_runs,
    version_of, waiting, widen,
};
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::progress::Progress;
use crate::emit::reasons::Teller;
use crate::error::Result;
use crate::history::{self, About, BeyondTrace, Recording, TestRecord, VersionKey};
use crate::objects::Contents;
use crate::order::owed::Debt;
use crate::recording::products::Products;
use crate::recording::{Placer, Recorder, Session};
use crate::repo::{Repository, Version};
use crate::runner::needs::{Constraints, constraints, with_needed};
use crate::runner::{Limits, Outcome, Test};
use crate::select::Reason;
use crate::selection::{
    self, Arrangement, Question, Selection, Wishes, Witnesses, arrange, carry, owed_elsewhere,
    selection,
};
use crate::trace::{FunctionId, Trace};

/// So many reasons are kept for a test that is owed.
pub(super) const REASONS_OWED: usize = 3;

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
pub(super) struct Built<'a> {
    pub(super) repository: &'a Repository,
    config: &'a Config,
    pub(super) session: &'a Session,
    pub(super) tests: &'a [Test],
    recorder: &'a dyn Recorder,
    about: About,
    contents: Contents,
    products: Products,
    pub(super) version: VersionKey,
    /// What was known of this version before.
    before: Option<Recording>,
}

/// How tests are to run.
pub(super) struct How<'a> {
    /// Arguments to add to the command of every test.
    pub(super) extra: &'a [OsString],
    pub(super) limits: Limits,
    /// Skipped tests that run all the same, behind the others.
    pub(super) controls: Vec<usize>,
    /// Whoever takes many times as long as ever before is not waited for.
    pub(super) is_hasty: bool,
    /// People are told how it goes.
    pub(super) is_told: bool,
}

impl<'a> Built<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        config: &'a Config,
        session: &'a Session,
        tests: &'a [Test],
        placer: &Placer,
        recorder: &'a dyn Recorder,
    ) -> Result<Self> {
        let contents = session.contents();
        let about = about(repository, config, session, placer, recorder, &contents);
        let version = version_of(repository, session);
        Ok(Built {
            repository,
            config,
            // Read before tests run: nobody who has the database then can cost us what they did.
            before: earlier(repository, version, &about)?,
            contents,
            products: session.products(),
            session,
            tests,
            recorder,
            about,
            version,
        })
    }

    /// The tests that can behave differently than at the base, and those without which they cannot run.
    pub(super) fn select(
        &self,
        base: Version,
        all: bool,
        witnesses: Witnesses,
    ) -> Result<Selection> {
        self.select_at(self.session.version, base, all, witnesses)
    }

    /// The same for a version that was not built, as if it had been: its build would have made the same things.
    pub(super) fn select_at(
        &self,
        head: Version,
        base: Version,
        all: bool,
        witnesses: Witnesses,
    ) -> Result<Selection> {
        let question = Question {
            base,
            head,
            listing: Some(self.tests),
            fingerprint: Some(&self.about.fingerprint),
            built: Some(selection::Built {
                contents: &self.contents,
                products: &self.products,
                about: &self.about,
            }),
            all,
            witnesses,
        };
        let (repository, config) = (self.repository, self.config);
        let mut selection = selection(repository, config, &question, true, &mut waiting)?;
        add_needed(&mut selection, self.tests);
        Ok(selection)
    }

    /// Puts the selected tests in order, as far as they are to run.
    pub(super) fn arrange(
        &self,
        selection: &mut Selection,
        wishes: &Wishes,
    ) -> Result<Arrangement> {
        let constraints = constraints(self.tests);
        let needs = |place| needed_by(self.tests, &constraints, place);
        arrange(selection, wishes, &needs)
    }

    /// Some tests, and those without which they cannot run.
    pub(super) fn with_needed(&self, places: &BTreeSet<usize>) -> BTreeSet<usize> {
        with_needed(self.tests, &constraints(self.tests), places)
    }

    /// Runs the selected tests, and the controls behind them.
    pub(super) fn execute(&self, how: &How<'_>, selection: &Selection) -> Results {
        let plan = &selection.plan;
        let mut chosen = plan.order.clone();
        let left: BTreeSet<usize> = chosen.iter().copied().collect();
        let left = plan.selected().filter(|place| !left.contains(place));
        let left: BTreeSet<usize> = left.collect();
        let passed_before = left.iter().filter(|place| plan.tests[**place].ran_here);
        let passed_before = passed_before.count();
        let controls = chosen.len()..chosen.len() + how.controls.len();
        chosen.extend(&how.controls);
        let skipped = (0..self.tests.len())
            .filter(|place| !plan.tests[*place].is_selected() && !how.controls.contains(place));
        let (saved, _) = plan.time_of(skipped.clone());
        let mut results = Results {
            done: vec![None; chosen.len()],
            recording: Recording::default(),
            control_recording: Recording::default(),
            saved: Duration::from_millis(saved),
            skipped: skipped.count(),
            passed_before,
            left,
            owed: Vec::new(),
            uncrossed: Vec::new(),
            is_interrupted: false,
            controls,
            flaky: BTreeSet::new(),
            missed: Vec::new(),
            took_selected: Duration::ZERO,
            took: Duration::ZERO,
            chosen,
        };
        self.run(how, selection, &mut results);
        results.is_interrupted = self.session.interrupt.is_requested();
        results
    }

    /// Runs what is chosen, and notes how each test went.
    fn run(&self, how: &How<'_>, selection: &Selection, results: &mut Results) {
        let session = self.session;
        let chosen = results.chosen.clone();
        let tests: Vec<Test> = chosen
            .iter()
            .map(|place| self.prepared(how, selection, *place))
            .collect();
        let mut progress = how.is_told.then(|| Progress::new("running", tests.len()));
        let running: Vec<&Test> = tests.iter().collect();
        let started = Instant::now();
        session.run(&running, how.limits, self.recorder, |index, done| {
            let test = running[index];
            let outcome = done.finished.outcome.clone();
            let was_interrupted =
                session.interrupt.is_requested() && matches!(outcome, Outcome::NotRun(_));
            if was_interrupted {
                return;
            }
            if let Some(progress) = &mut progress {
                if outcome.is_fine() {
                    tell(progress, test, &done.finished);
                } else {
                    progress.pause();
                    anstream::eprintln!("{}", failure(session, test, &done));
                }
                progress.step(outcome.is_fine(), &test.name);
            }
            results.done[index] = Some((outcome, done.finished.duration));
            let (record, trace) = record_of(test, done, self.version);
            match results.controls.contains(&index) {
                true => results.control_recording.add(record, trace),
                false => {
                    results.recording.add(record, trace);
                    results.took_selected = started.elapsed();
                }
            }
        });
        results.took = started.elapsed();
        if let Some(progress) = progress {
            progress.finish();
        }
    }

    /// A test as it is to run.
    fn prepared(&self, how: &How<'_>, selection: &Selection, place: usize) -> Test {
        let mut test = self.tests[place].clone();
        test.launch.command.extend(how.extra.iter().cloned());
        let known = selection.plan.tests[place].milliseconds;
        if let Some(known) = known.filter(|_| how.is_hasty) {
            hurry(&mut test.launch, Duration::from_millis(known));
        }
        test
    }

    /// Runs one test again and tells how it ended.
    pub(super) fn again(
        &self,
        how: &How<'_>,
        selection: &Selection,
        place: usize,
    ) -> history::Outcome {
        let test = self.prepared(how, selection, place);
        let mut outcome = history::Outcome::NotRun;
        let alone = Limits {
            jobs: 1,
            failures: None,
        };
        // Whoever it needs comes along.
        let needed = needed_by(self.tests, &constraints(self.tests), place).into_iter();
        let needed: Vec<Test> = needed
            .map(|place| self.prepared(how, selection, place))
            .collect();
        let running: Vec<&Test> = needed.iter().chain([&test]).collect();
        self.session
            .run(&running, alone, self.recorder, |index, done| {
                if index == needed.len() {
                    outcome = record_of(&test, done, self.version).0.outcome;
                }
            });
        outcome
    }

    /// Notes what tests left in the build, when all of them have run.
    pub(super) fn note_left(&self) {
        self.products.note_left();
    }

    /// The history of this version: the new records, and the others carried over. A selected test that did not run stays selected.
    pub(super) fn history(&self, results: &mut Results, selection: Selection) -> Result<Recording> {
        let mut new = std::mem::take(&mut results.recording);
        let counted = self.recorder.counted();
        remember_runs(
            &mut new,
            counted.len(),
            (&selection.latest, selection.baseline.is_some()),
            &self.config.parameters,
        );
        let (unrun, again) = self.unrun(results, &selection)?;
        let session = selection.latest.session + 1;
        let Selection {
            head,
            difference,
            known,
            mut rewritten,
            versioned,
            ..
        } = selection;
        let mut recording = known.clone().unwrap_or_default();
        if let Some(difference) = &difference {
            let carry = carry(difference);
            let losing = recording.losing(&carry, &counted.iter().collect());
            rewritten.extend(losing.into_iter().map(|name| (name, None)));
            recording.carry(&carry);
        }
        let tests = self.tests.iter();
        let ran: Vec<&Test> = tests
            .filter(|test| new.record(&test.name).is_some())
            .collect();
        let listed: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        recording.retain(|test| listed.contains(test.name.as_str()));
        rewritten.retain(|name, _| new.record(name).is_none());
        Self::rewrite(&mut recording, &rewritten);
        recording.rename_looked(&|looked| versioned.rename(looked));
        let elsewhere = owed_elsewhere(self.repository, head, recording.tests());
        recording.replace(&new);
        recording.replace(&again);
        recording.let_through(elsewhere);
        owe(&mut recording, &unrun, self.version);
        recording.about = self.about.clone();
        recording.about.session = session;
        add_predecessors(&mut recording, self.tests);
        let (before, known) = (self.before.as_ref(), known.as_ref());
        add_experience(&mut recording, &ran, before, known, self.config);
        for name in &results.flaky {
            if let Some(record) = recording.record_mut(name) {
                record.flaky = Some(0);
            }
        }
        widen(
            self.repository,
            self.config,
            self.session,
            &mut recording,
            &ran,
        )?;
        recording.about.partial = recording.tests().len() < self.tests.len();
        recording.know(counted);
        add_build(&mut recording, self.contents.clone(), &self.products);
        Ok(recording)
    }

    /// Whoever executes the same code, written in another way, may cross any edge of what is.
    fn rewrite(recording: &mut Recording, rewritten: &BTreeMap<String, Option<Vec<FunctionId>>>) {
        for (name, functions) in rewritten {
            match functions {
                Some(functions) => recording.widen(name, functions),
                None => {
                    if let Some(record) = recording.record_mut(name) {
                        record.beyond_trace = Some(BeyondTrace::Rewritten);
                    }
                }
            }
        }
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
                at: self.about.created / 1000,
                reasons: told
                    .take(REASONS_OWED)
                    .map(|reason| teller.tell(reason).text)
                    .collect(),
                until_built: false,
            };
            Debt::joined(plan.tests[place].owed.clone(), new)
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
