//! What hooks that guard do: a commit goes through if every test that it can affect has passed, as far as the budget goes.
//!
//! What is tested is the commit, not what happens to lie in the work tree. Where the two are the same, tests run there; otherwise in a worktree of our own, beside the history, which the next time has only little to build.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::testing::{now, report_kept, waiting};
use crate::config::{Config, FILE, duration};
use crate::emit::edges::Texts;
use crate::emit::plan_text::count;
use crate::emit::reasons::Teller;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{PATIENCE, VersionKey, keep};
use crate::hooks::LOCAL_VARIABLES;
use crate::order::owed::Debt;
use crate::repo::{FileEntry, FileKind, Repository, Version};
use crate::selection::{Question, Selection, Witnesses, selection};

/// The worktree in which commits are tested that are not what lies in the work tree.
const FOLDER: &str = "pushed";

/// Set to anything but 0, it lets everything through, and what has not passed is owed.
const SKIP: &str = "GIT_RTS_SKIP";

/// How many reasons are kept for a test that is owed.
const REASONS_OWED: usize = 3;

/// What is guarded, in words and numbers.
pub(super) struct Guard {
    /// For people: "push", "commit".
    pub what: &'static str,
    /// How to do it all the same.
    pub all_the_same: &'static str,
    /// How long tests may run, as it is written; nothing is no limit.
    pub budget: Option<String>,
}

impl Guard {
    /// A guard whose budget git's configuration may set.
    pub(super) fn new(
        repository: &Repository,
        (what, all_the_same): (&'static str, &'static str),
        (variable, default): (&str, &str),
    ) -> Result<Self> {
        let set = repository.config_list(variable)?.pop();
        let budget = set.unwrap_or_else(|| default.to_owned());
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
        })
    }

    /// Lets a commit through, or fails.
    pub(super) fn check(&self, repository: &Repository, version: Version) -> Result<()> {
        let here = repository.work_tree()?;
        let mut known = None;
        // Another configuration than the commit's must not say what may be skipped.
        if has_same_settings(repository, here, version)? {
            let selection = select(repository, version)?;
            let untested = untested(&selection);
            if untested.is_empty() && selection.everything.is_none() {
                anstream::eprintln!("git rts: {version} affects no test that has not passed");
                return Ok(());
            }
            known = Some((selection, untested));
        }
        if is_set(SKIP) {
            return self.skip(repository, version, known);
        }
        self.run(repository, here, version)
    }

    fn run(&self, repository: &Repository, here: Version, version: Version) -> Result<()> {
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
        anstream::eprintln!(
            "git rts: testing {version} before the {}; {SKIP}=1 skips it",
            self.what
        );
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
            _ if is(ExitCode::TestsFailed) => "tests fail",
            _ if is(ExitCode::BuildFailed) => "it cannot be built",
            _ if is(ExitCode::Interrupted) => "testing was interrupted",
            _ => "it cannot be tested",
        };
        let error = Error::new(format!("no {} of {version}: {why}", self.what));
        let error = match is(ExitCode::TestsFailed) {
            true => error.hint("mend it, or see 'git rts why TEST'"),
            false => error,
        };
        Err(error.hint(self.way_out()))
    }

    fn way_out(&self) -> String {
        format!(
            "'{SKIP}=1 {}' does it all the same, and what has not passed is owed",
            self.all_the_same
        )
    }

    /// Keeps in mind what was let through without a test: in the history that it was compared with, so that everything which comes from there has the debt.
    fn skip(
        &self,
        repository: &Repository,
        version: Version,
        known: Option<(Selection, Vec<usize>)>,
    ) -> Result<()> {
        let owed = known.and_then(|(selection, untested)| {
            let baseline = selection.baseline?;
            let recording = selection.known.clone()?;
            Some((selection, untested, baseline, recording))
        });
        let Some((selection, untested, baseline, mut recording)) = owed else {
            // Whatever is compared next has no history of this, so that nothing can be skipped.
            anstream::eprintln!(
                "git rts: {version} was not tested; what it affects stays selected"
            );
            return Ok(());
        };
        let teller = Teller::new(&selection, &mut Texts::new(repository)?)?;
        for place in &untested {
            let test = &selection.plan.tests[*place];
            let Some(record) = recording.record_mut(&test.name) else {
                // A test that has no record is new, and selected until it has one.
                continue;
            };
            let told = test.reasons.iter().take(REASONS_OWED);
            let debt = Debt {
                since: version.to_string(),
                at: now(),
                reasons: told.map(|reason| teller.tell(reason).text).collect(),
            };
            record.owed = Some(match record.owed.take() {
                Some(earlier) => earlier.and(debt),
                None => debt,
            });
        }
        let key = VersionKey {
            commit: baseline.commit(),
            tree: baseline.tree(),
        };
        let rts = repository.create_rts_dir()?;
        report_kept(keep(&rts, key, &recording, PATIENCE, &mut waiting)?);
        anstream::eprintln!(
            "git rts: {version} was not tested; {} owed ('git rts owed')",
            count(untested.len(), "test")
        );
        Ok(())
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

/// A worktree of our own that is at a commit, for as long as this is held.
struct OwnTree {
    folder: PathBuf,
    _lock: File,
}

impl OwnTree {
    fn at(repository: &Repository, version: Version) -> Result<Self> {
        let files = repository.files(&version)?;
        if files.iter().any(|file| file.kind == FileKind::Submodule) {
            return Err(Error::new(format!(
                "{version} has submodules, and the work tree that has them is not at {version}"
            ))
            .hint("check it out without further changes, so that it can be tested there"));
        }
        let rts = repository.create_rts_dir()?;
        let folder = rts.join(FOLDER);
        let path = rts.join("pushed.lock");
        let cannot = |error| Error::new(format!("cannot lock '{}': {error}", path.display()));
        let lock = File::create(&path).map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        let id = version.id();
        let name = folder.to_string_lossy();
        let is_there = folder.join(".git").exists();
        let checkout = ["checkout", "--quiet", "--force", "--detach", &id];
        if !is_there || git(&folder, &checkout).is_err() {
            remove(repository)?;
            let add = [
                "worktree", "add", "--quiet", "--force", "--detach", &name, &id,
            ];
            git(&rts, &add)?;
        }
        // What a build or a test left there is no part of the commit.
        git(&folder, &["clean", "--quiet", "-ffd"])?;
        Ok(OwnTree {
            folder,
            _lock: lock,
        })
    }
}

/// Takes the worktree away, if there is one.
pub(super) fn remove(repository: &Repository) -> Result<()> {
    let rts = repository.rts_dir();
    let folder = rts.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| {
            Error::new(format!("cannot remove '{}': {error}", folder.display()))
        })?;
        git(&rts, &["worktree", "prune"])?;
    }
    Ok(())
}

/// Runs git in a folder, without the hooks and variables of whoever calls us.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    git.args(["-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(folder);
    for variable in LOCAL_VARIABLES {
        git.env_remove(variable);
    }
    answer(&mut git, arguments)
}

/// What git prints when it succeeds.
pub(super) fn answer(git: &mut Command, arguments: &[&str]) -> Result<String> {
    let output = git
        .output()
        .map_err(|error| Error::new(format!("cannot run git: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = Error::new(format!("'git {}' failed", arguments.join(" ")));
        return Err(said.lines().rev().take(3).fold(error, Error::hint));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim_end_matches('\n').to_owned())
}
