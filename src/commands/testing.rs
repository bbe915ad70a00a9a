//! What `record` and `run` share: from a finished test to its record.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::config::Config;
use crate::difference::all_facts;
use crate::emit::loudness;
use crate::emit::progress::Meanwhile;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{
    About, Experience, Experiences, Kept, Outcome, Recording, TestRecord, VersionKey, Written,
};
use crate::lang::c;
use crate::objects::Contents;
use crate::order::Parameters;
use crate::order::estimate::Durations;
use crate::order::owed::Debt;
use crate::order::smoothed::Happened;
use crate::program::closure::Closure;
use crate::recording::fingerprint::{fingerprint, remember};
use crate::recording::products::Products;
use crate::recording::{Done, Placer, Recorder, Session, add_silent};
use crate::repo::Repository;
use crate::runner::needs::{constraints, predecessors};
use crate::runner::{self, Extent, Interrupt, Test};
use crate::selection::Latest;
use crate::trace::{FunctionId, Trace};

/// A flaky test that has passed so often in a row is believed again.
const FORGIVEN_AFTER: u32 = 10;

/// Gets a build ready; answers also why the back end is not the better one.
pub(super) fn setup(
    repository: &Repository,
    config: &Config,
    interrupt: Arc<Interrupt>,
) -> Result<(Session, Option<String>)> {
    needs_work_tree(repository)?;
    let build_jobs = std::thread::available_parallelism().map_or(1, usize::from);
    Session::open(repository, config, build_jobs, interrupt)
}

/// There is something to build.
pub(super) fn needs_work_tree(repository: &Repository) -> Result<()> {
    match repository.workdir() {
        Some(_) => Ok(()),
        None => Err(Error::new("a bare repository has no work tree to build")
            .hint("run it in a clone or a worktree")
            .exit_code(ExitCode::Repository)),
    }
}

/// Builds the work tree; once more from nothing, if the build passed over something that changed.
pub(super) fn build(
    repository: &Repository,
    config: &Config,
    interrupt: &Arc<Interrupt>,
) -> Result<(Session, Option<String>)> {
    let (session, reason) = setup(repository, config, Arc::clone(interrupt))?;
    let anew = session.anew.as_deref().map(say_anew);
    if session.build(Extent::All)? {
        return Ok((session, reason));
    }
    drop((session, anew));
    let _anew = say_anew("the build passed over something that changed");
    let (session, reason) = setup(repository, config, Arc::clone(interrupt))?;
    session.build(Extent::All)?;
    Ok((session, reason))
}

/// Tells who waits why a build takes longer than others.
fn say_anew(why: &str) -> Meanwhile {
    let what = format!("building anew with counters: {why}");
    if loudness::is_verbose() {
        notice!("{what}");
    }
    Meanwhile::show(&what)
}

/// Says what people should know about a record that was kept; what it cost, if it is in the database.
pub(super) fn report_kept(kept: Kept) -> Option<Written> {
    match kept {
        Kept::Written { written, notices } => {
            for notice in notices {
                anstream::eprintln!("warning: {notice}");
            }
            Some(written)
        }
        Kept::InInbox(path) => {
            notice!(
                "another process uses the history; this record waits for it in '{}'",
                path.display()
            );
            None
        }
    }
}

/// A project without tests is more often one whose tests are switched off.
pub(super) fn no_tests(session: &Session) -> Error {
    let error = Error::new("the project has no tests");
    let switches = session.switched_off();
    if let Some(first) = switches.first() {
        return error.hint(format!(
            "switched off are {}; under [build] in '.git-rts.toml' write 'configure = \"-D{first}=ON\"', say",
            switches.join(", ")
        ));
    }
    error
        .hint("is testing switched off in its configuration? 'build.configure' in '.git-rts.toml' takes options")
        .hint("with the runner 'command', 'tests.list' has to print a test a line")
}

/// Says which tests will always be selected, and why.
pub(super) fn report_doubts<'a>(tests: impl IntoIterator<Item = &'a TestRecord>) {
    let mut doubts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // What is owed is selected until it has run, and told elsewhere.
    for test in tests.into_iter().filter(|test| test.owed.is_none()) {
        if let Some(doubt) = test.doubt.as_deref() {
            doubts.entry(doubt).or_default().push(&test.name);
        }
    }
    for (doubt, names) in doubts {
        match &names[..] {
            [name] => notice!("'{name}' will always be selected: {doubt}"),
            [name, ..] => notice!(
                "{} tests, such as '{name}', will always be selected, for each of them: {doubt}",
                names.len()
            ),
            [] => {}
        }
    }
}

pub(super) fn waiting(process: Option<u32>) {
    match process {
        Some(id) => notice!("waiting for process {id}, which uses the history"),
        None => notice!("waiting for another process, which uses the history"),
    }
}

/// The version that is built: the commit if the work tree is as it was committed, else the tree alone.
pub(super) fn version_of(repository: &Repository, session: &Session) -> VersionKey {
    let tree = session.version.tree();
    let head = repository.commit("HEAD").ok();
    let commit = head
        .filter(|head| head.tree() == tree)
        .and_then(|head| head.commit());
    VersionKey { commit, tree }
}

/// What holds for everything that a session records.
pub(super) fn about(
    repository: &Repository,
    config: &Config,
    session: &Session,
    placer: &Placer,
    recorder: &dyn Recorder,
    contents: &Contents,
) -> About {
    let folders = session.folders();
    let fingerprint = fingerprint(
        session.runner(),
        &session.backend,
        config,
        repository,
        &folders,
    );
    remember(
        &repository.rts_dir(),
        &fingerprint,
        &session.backend,
        &folders,
    );
    let mut uncounted = recorder.uncounted(&|path| session.brought_into(path, contents));
    add_silent(&mut uncounted, contents, placer);
    About {
        fingerprint,
        uncounted,
        opened_by_build: session.opened_by_build(),
        made: session.made_facts(placer, config),
        outside: session.outside(),
        executed_by_build: session.executed_by_build(recorder),
        session: 0,
        partial: false,
        front_end: c::VERSION,
        created: milliseconds(),
    }
}

/// Adds what the build made to what tests did with it, when all of them have run.
pub(super) fn add_build(recording: &mut Recording, contents: Contents, products: &Products) {
    recording.compiled = products.compiled(contents, recording.tests());
    recording.note_readers_of_code();
}

/// In seconds since 1970.
pub(super) fn now() -> u64 {
    milliseconds() / 1000
}

fn milliseconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_millis() as u64)
}

/// What is already known of the version, if it was recorded in the same way.
pub(super) fn earlier(
    repository: &Repository,
    version: VersionKey,
    about: &About,
) -> Result<Option<Recording>> {
    let histories = super::history::open(repository)?;
    let Some(history) = histories.find(version)? else {
        return Ok(None);
    };
    // What cannot be read is as good as not there.
    let known = history.to_recording().ok();
    Ok(known.filter(|known| {
        known.about.fingerprint == about.fingerprint && known.about.front_end == about.front_end
    }))
}

/// How a test ended, as histories keep it.
pub(super) fn outcome_of(outcome: &runner::Outcome) -> Outcome {
    match outcome {
        runner::Outcome::Passed => Outcome::Passed,
        runner::Outcome::Failed { .. } => Outcome::Failed,
        runner::Outcome::Skipped => Outcome::Skipped,
        runner::Outcome::TimedOut => Outcome::TimedOut,
        runner::Outcome::Crashed { .. } => Outcome::Crashed,
        runner::Outcome::NotRun(_) => Outcome::NotRun,
    }
}

pub(super) fn record_of(test: &Test, done: Done, ran_on: VersionKey) -> (TestRecord, Trace) {
    let Done { finished, recorded } = done;
    let outcome = outcome_of(&finished.outcome);
    let not_run = match finished.outcome {
        runner::Outcome::NotRun(reason) => Some(reason),
        _ => None,
    };
    let record = TestRecord {
        outcome,
        milliseconds: finished.duration.as_millis() as u64,
        binaries: recorded.binaries,
        unplaced: recorded.unplaced,
        looked: recorded.looked,
        doubt: not_run.or(recorded.doubt),
        ..TestRecord::unknown(&test.name, test.definition.encoded(), ran_on)
    };
    (record, recorded.trace)
}

/// Keeps tests selected that were selected and did not run. Their traces stay: they tell which of them is worth the most.
pub(super) fn owe(recording: &mut Recording, unrun: &[(&Test, Debt)], version: VersionKey) {
    for (test, debt) in unrun {
        let definition = test.definition.encoded();
        if recording.record(&test.name).is_none() {
            let record = TestRecord::unknown(&test.name, definition.clone(), version);
            recording.add(record, Trace::default());
        }
        if let Some(record) = recording.record_mut(&test.name) {
            // A failure is not forgotten because the test did not run again.
            if record.outcome.is_fine() {
                record.outcome = Outcome::NotRun;
            }
            record.definition = definition;
            record.doubt = Some("it was selected and has not run since".to_owned());
            record.owed = Some(Debt::joined(record.owed.take(), debt.clone()));
        }
    }
}

/// Tests that ran remember it, each beside what it remembered before. How long they took before says nothing in another environment.
pub(super) fn remember_runs(
    ran: &mut Recording,
    counted: usize,
    (latest, is_comparable): (&Latest, bool),
    parameters: &Parameters,
) {
    let coverage = ran.coverage(counted);
    let mut experiences = Experiences::new();
    for (record, coverage) in ran.tests().iter().zip(coverage) {
        let happened = match record.outcome {
            // Something that it needs was missing: nothing is learnt.
            Outcome::NotRun => continue,
            outcome if outcome.is_fine() => Happened::Passed,
            _ => Happened::Failed,
        };
        let before = latest.experiences.get(&record.name).cloned();
        let mut before = before.unwrap_or_default();
        if !is_comparable {
            before.durations = Durations::default();
        }
        let missed = latest.session.saturating_sub(before.session);
        let missed = u32::try_from(missed).unwrap_or(u32::MAX);
        let missed = if before.session == 0 { 0 } else { missed };
        let memory = before.memory.after_missed(missed, &parameters.alphas);
        let experience = Experience {
            durations: before.durations.after(record.milliseconds),
            memory: memory.after(happened, Some(coverage), &parameters.alphas),
            session: latest.session + 1,
        };
        experiences.insert(record.name.clone(), experience);
    }
    ran.experiences = experiences;
}

/// A test that waits for others may depend on what they did: their traces count for it, and their doubts.
pub(super) fn add_predecessors(recording: &mut Recording, tests: &[Test]) {
    let constraints = constraints(tests);
    for (index, test) in tests.iter().enumerate() {
        let before = predecessors(&constraints, index);
        let record = recording.record(&test.name).cloned();
        let Some(mut record) = record.filter(|_| !before.is_empty()) else {
            continue;
        };
        let mut trace = recording.trace_of(&test.name).unwrap_or_default();
        for earlier in before.into_iter().map(|earlier| &tests[earlier].name) {
            let more = recording.trace_of(earlier).unwrap_or_default();
            trace.functions.extend(more.functions);
            let others = recording.record(earlier);
            let looked = others.and_then(|other| other.looked.clone());
            record.looked = record.looked.zip(looked).map(|(own, more)| own.and(more));
            let doubt = match others {
                Some(earlier) => earlier.doubt.clone(),
                None => Some("it was not recorded".to_owned()),
            };
            let inherited = doubt.map(|doubt| format!("it waits for '{earlier}': {doubt}"));
            record.doubt = record.doubt.or(inherited);
        }
        recording.add(record, trace);
    }
}

/// The trace of a test that does not always do the same is widened by everything that it could reach (TestTube, section 5).
pub(super) fn widen(
    repository: &Repository,
    config: &Config,
    session: &Session,
    recording: &mut Recording,
    ran: &[&Test],
) -> Result<()> {
    let varies = |name: &str| {
        let record = recording.record(name);
        record.is_some_and(|record| record.varies) || config.is_nondeterministic(name)
    };
    let names = ran.iter().map(|test| test.name.as_str());
    let varying: Vec<&str> = names.filter(|name| varies(name)).collect();
    if varying.is_empty() {
        return Ok(());
    }
    let facts = all_facts(repository, config, &session.version)?;
    let closure = Closure::new(&facts);
    for name in varying {
        let Some(trace) = recording.trace_of(name) else {
            continue;
        };
        let entered: Vec<FunctionId> = trace.functions.into_iter().map(|(id, _)| id).collect();
        recording.widen(name, &closure.from(&entered));
    }
    Ok(())
}

/// Compares what tests did with what they did before: on the same tree a difference is their own doing.
///
/// `before` is what was known of the same tree, `known` what was known when they were chosen.
pub(super) fn add_experience(
    recording: &mut Recording,
    ran: &[&Test],
    before: Option<&Recording>,
    known: Option<&Recording>,
    config: &Config,
) {
    let digests = |recording: &Recording| -> BTreeMap<String, u64> {
        let names = recording.tests().iter().map(|test| test.name.clone());
        names.zip(recording.digests()).collect()
    };
    let (then, now) = match before {
        Some(before) => (digests(before), digests(recording)),
        None => (BTreeMap::new(), BTreeMap::new()),
    };
    for test in ran {
        let name = &test.name;
        let Some(record) = recording.record_mut(name) else {
            continue;
        };
        let same_tree = before
            .and_then(|before| before.record(name))
            .filter(|earlier| {
                earlier.ran_on.tree == record.ran_on.tree
                    && earlier.outcome != Outcome::NotRun
                    && earlier.definition == record.definition
            });
        let memories = [same_tree, known.and_then(|known| known.record(name))];
        let memories = || memories.into_iter().flatten();
        record.varies = memories().any(|memory| memory.varies);
        let flaky = memories().filter_map(|memory| memory.flaky).min();
        record.flaky = match (flaky, record.outcome) {
            (Some(times), Outcome::Passed) => {
                Some(times + 1).filter(|times| *times < FORGIVEN_AFTER)
            }
            (Some(_), _) => Some(0),
            (None, _) => None,
        };
        if let Some(earlier) = same_tree.filter(|_| record.outcome != Outcome::NotRun) {
            if earlier.outcome != record.outcome {
                record.flaky = Some(0);
            } else if !earlier.varies
                && !config.is_nondeterministic(name)
                && then.get(name) != now.get(name)
            {
                record.varies = true;
            }
        }
    }
}
