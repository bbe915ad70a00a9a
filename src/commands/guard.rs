//! What hooks that guard do: a commit goes through if every test that it can affect has passed, as far as the budget goes.
//!
//! What is tested is the commit, not what happens to lie in the work tree. Where the two are the same, tests run there; otherwise in a worktree of our own, beside the history, which the next time has only little to build.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::commands::built::REASONS_OWED;
use crate::commands::history::open;
use crate::commands::own_tree::OwnTree;
use crate::commands::testing::{now, report_kept, waiting};
use crate::config::{Config, FILE, Setting, duration};
use crate::emit::edges::Texts;
use crate::emit::plan_text::count;
use crate::emit::reasons::Teller;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Outcome, PATIENCE, TestRecord, VersionKey, keep};
use crate::hooks::LOCAL_VARIABLES;
use crate::order::owed::Debt;
use crate::repo::{CommitId, FileEntry, Repository, Version};
use crate::runner::{self, Settings};
use crate::select::Reason;
use crate::selection::{Latest, Question, Selection, Witnesses, selection};

/// Set to anything but 0, it lets everything through, and what has not passed is owed.
pub(super) const SKIP: &str = "GIT_RTS_SKIP";

/// What is guarded, in words and numbers.
pub(super) struct Guard {
    /// For people: "push", "commit".
    pub what: &'static str,
    /// How to do it all the same.
    pub all_the_same: &'static str,
    /// How long tests may run, as it is written; nothing is no limit.
    pub budget: Option<String>,
    /// The variable of git's configuration that says so.
    variable: String,
}

impl Guard {
    /// A guard whose budget git's configuration may set.
    pub(super) fn new(
        repository: &Repository,
        (what, all_the_same): (&'static str, &'static str),
        setting: &Setting,
    ) -> Result<Self> {
        let variable = format!("rts.{}", setting.git.unwrap_or_default());
        let set = repository.config_list(&variable)?.pop();
        let budget = set.unwrap_or_else(|| setting.value.to_owned());
        let budget = match budget.as_str() {
            "none" => None,
            text => {
                let time = duration(text).map_err(|error| {
                    Error::new(format!("'{variable}' cannot be '{text}': {error}"))
                        .hint("it is a time, such as '2min', or 'none'")
                })?;
                if time.is_zero() {
                    return Err(
                        Error::new(format!("'{variable}' leaves no time for any test"))
                            .hint("'git rts hook uninstall' removes the hook"),
                    );
                }
                Some(format!("{}ms", time.as_millis()))
            }
        };
        Ok(Guard {
            what,
            all_the_same,
            budget,
            variable,
        })
    }

    /// Lets a commit through or fails. What is yet to be committed will be another commit, and people know it by other words.
    pub(super) fn check(
        &self,
        repository: &Repository,
        version: Version,
        yet_to_be: Option<&str>,
    ) -> Result<()> {
        let name = yet_to_be.map_or_else(|| version.to_string(), str::to_owned);
        let name = name.as_str();
        let here = repository.work_tree()?;
        let mut known = None;
        // Another configuration than the commit's must not say what may be skipped.
        if has_same_settings(repository, here, version)? {
            let selection = select(repository, version)?;
            let untested = untested(&selection);
            if untested.is_empty() && selection.everything.is_none() {
                notice!("git rts: {name} affects no test that has not passed");
                return Ok(());
            }
            known = Some((selection, untested));
        }
        if is_set(SKIP) {
            let commit = version.commit().filter(|_| yet_to_be.is_none());
            let elsewhere = commit.filter(|commit| !repository.contains(here, *commit));
            let elsewhere = elsewhere.map_or_else(String::new, |_| format!(" {version}"));
            return skip(repository, (name, &elsewhere), commit, known);
        }
        let known = known.as_ref();
        let unmended = known.map_or_else(BTreeSet::new, |(selection, untested)| {
            unmended(selection, untested)
        });
        let failing = failing(repository, version, &unmended);
        let failing = failing.map_err(|error| error.hint(self.way_out()))?;
        self.run(repository, here, (version, name))?;
        self.has_seen_pass(repository, here, (version, name), &failing)
    }

    fn run(
        &self,
        repository: &Repository,
        here: Version,
        (version, name): (Version, &str),
    ) -> Result<()> {
        let top = repository.workdir().map(Path::to_path_buf);
        let own;
        let folder = match top.filter(|_| here.tree() == version.tree()) {
            Some(top) => top,
            None => {
                let at = OwnTree::at(repository, version);
                own = at.map_err(|error| error.hint(self.way_out()))?;
                own.folder.clone()
            }
        };
        let is_settled = folder.join(FILE).exists();
        if !is_settled
            && !repository.is_related(version)
            && runner::detect(&folder, &Settings::default()).is_err()
        {
            notice!("git rts: {name} holds no tests, and has no commit in common with HEAD");
            return Ok(());
        }
        notice!("git rts: testing {name}; {SKIP}=1 skips it");
        let mut run = Command::new(this_program()?);
        run.args(["run", &version.id()]).current_dir(&folder);
        run.args(self.budget.iter().map(|time| format!("--budget={time}")));
        for variable in LOCAL_VARIABLES {
            run.env_remove(variable);
        }
        let status = run
            .status()
            .map_err(|error| Error::new(format!("cannot run 'git rts': {error}")))?;
        let code = status.code();
        let is = |wanted: ExitCode| code == Some(wanted as i32);
        let why = match code {
            Some(0) => return Ok(()),
            _ if is(ExitCode::TestsFailed) => format!("tests fail in {name}"),
            _ if is(ExitCode::Missed) => format!("a test that was skipped fails in {name}"),
            _ if is(ExitCode::BuildFailed) => format!("{name} cannot be built"),
            _ if is(ExitCode::Interrupted) => format!("testing {name} was interrupted"),
            _ => format!("{name} cannot be tested"),
        };
        let error = Error::new(format!("the {} is stopped: {why}", self.what));
        Err(error.hint(self.way_out()))
    }

    /// Stops where tests that failed before did not fit.
    fn has_seen_pass(
        &self,
        repository: &Repository,
        here: Version,
        (version, name): (Version, &str),
        failing: &BTreeSet<String>,
    ) -> Result<()> {
        if failing.is_empty() {
            return Ok(());
        }
        let histories = open(repository).map_err(|error| error.hint(self.way_out()))?;
        let now = Latest::read(repository, &histories, version)?.tests;
        let is_unseen = |name: &&String| {
            let test = now.get(name.as_str());
            test.is_some_and(|test| !test.outcome.is_fine())
        };
        let unseen: Vec<&String> = failing.iter().filter(is_unseen).collect();
        let Some(first) = unseen.first() else {
            return Ok(());
        };
        let others = match unseen.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let mut error = Error::new(format!(
            "the {} is stopped: '{first}'{others} failed with what is in {name}, and did not fit into the budget",
            self.what
        ));
        if here.tree() == version.tree() {
            error = error.hint("'git rts run' runs what failed, however long it takes");
        }
        Err(error
            .hint(format!(
                "'git config {} none' gives tests all the time here",
                self.variable
            ))
            .hint(self.way_out()))
    }

    fn way_out(&self) -> String {
        format!(
            "'{SKIP}=1 {}' does it all the same, and what has not passed stays selected",
            self.all_the_same
        )
    }
}

/// Keeps in mind what was let through without a test: in the history that it was compared with, so that every version with the commit which comes from there has the debt.
fn skip(
    repository: &Repository,
    (name, elsewhere): (&str, &str),
    commit: Option<CommitId>,
    known: Option<(Selection, Vec<usize>)>,
) -> Result<()> {
    let owed = known.and_then(|(selection, untested)| {
        let baseline = selection.baseline?;
        let recording = selection.known.clone()?;
        Some((selection, untested, baseline, recording))
    });
    let Some((selection, untested, baseline, mut recording)) = owed else {
        // Whatever is compared next has no history of this, so that nothing can be skipped.
        notice!("git rts: {name} is let through; what it affects stays selected");
        return Ok(());
    };
    let teller = Teller::new(&selection, &mut Texts::new(repository)?)?;
    for place in &untested {
        let test = &selection.plan.tests[*place];
        let Some(record) = recording.record_mut(&test.name) else {
            // A test that has no record is new, and selected until it has one.
            continue;
        };
        let told = test.reasons.iter();
        let told = told.filter(|reason| !matches!(reason, Reason::Owed(_)));
        let new = Debt {
            since: name.to_owned(),
            at: now(),
            reasons: told
                .take(REASONS_OWED)
                .map(|reason| teller.tell(reason).text)
                .collect(),
            until_built: test.reasons.iter().all(is_settled_by_a_build),
        };
        let debt = Debt::joined(test.owed.clone(), new);
        match commit {
            Some(commit) => {
                record.let_through.insert(commit, debt);
            }
            None => record.owed = Some(debt),
        }
    }
    let key = VersionKey {
        commit: baseline.commit(),
        tree: baseline.tree(),
    };
    let rts = repository.create_rts_dir()?;
    report_kept(keep(&rts, key, &recording, PATIENCE, &mut waiting)?);
    notice!(
        "git rts: {name} is let through; {} owed ('git rts owed{elsewhere}')",
        count(untested.len(), "test")
    );
    Ok(())
}

/// The tests that are known to fail at a version: they failed there, or before it and nothing mended them.
fn failing(
    repository: &Repository,
    version: Version,
    unmended: &BTreeSet<String>,
) -> Result<BTreeSet<String>> {
    let known = Latest::read(repository, &open(repository)?, version)?.tests;
    let fails = |test: &Arc<TestRecord>| {
        let is_bad = !test.outcome.is_fine() && test.outcome != Outcome::NotRun;
        is_bad && (test.ran_on.tree == version.tree() || unmended.contains(&test.name))
    };
    let failing = known.into_values().filter(fails);
    Ok(failing.map(|test| test.name.clone()).collect())
}

/// The tests that failed, and that nothing has changed since which could mend them.
fn unmended(selection: &Selection, untested: &[usize]) -> BTreeSet<String> {
    let tests = untested.iter().map(|place| &selection.plan.tests[*place]);
    let unmended = tests.filter(|test| {
        let mut reasons = test.reasons.iter();
        reasons.all(|reason| match reason {
            Reason::NotPassed(outcome, _) => *outcome != Outcome::NotRun,
            Reason::Owed(_) | Reason::Flaky | Reason::Pinned | Reason::Doubt(_) => true,
            _ => false,
        })
    });
    unmended.map(|test| test.name.clone()).collect()
}

/// Whether a test is selected only because nothing was built: nobody could tell whether a file reaches it.
fn is_settled_by_a_build(reason: &Reason) -> bool {
    match reason {
        Reason::File { .. } => true,
        Reason::Owed(debt) => debt.until_built,
        _ => false,
    }
}

/// What is not known to pass at a commit: the difference is from the nearest version with a history, whatever the remote has.
fn select(repository: &Repository, version: Version) -> Result<Selection> {
    let config = Config::read(repository)?;
    let question = Question {
        base: version,
        head: version,
        listing: None,
        fingerprint: None,
        built: None,
        all: false,
        witnesses: Witnesses::ALL,
    };
    selection(repository, &config, &question, is_set(SKIP), &mut waiting)
}

/// The places of the selected tests, without those that ran well on this very tree.
fn untested(selection: &Selection) -> Vec<usize> {
    let plan = &selection.plan;
    let selected = plan.selected();
    selected
        .filter(|place| !plan.tests[*place].ran_here)
        .collect()
}

fn has_same_settings(repository: &Repository, one: Version, other: Version) -> Result<bool> {
    let settings = |version| -> Result<Option<FileEntry>> {
        let mut files = repository.files(&version)?.into_iter();
        Ok(files.find(|file| file.path.as_bytes() == FILE.as_bytes()))
    };
    Ok(one.tree() == other.tree() || settings(one)? == settings(other)?)
}

/// Whether a variable is set to something.
pub(super) fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

pub(super) fn this_program() -> Result<PathBuf> {
    std::env::current_exe()
        .map_err(|error| Error::new(format!("cannot find this program: {error}")))
}
