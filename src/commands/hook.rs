//! `git rts hook`: installs hooks of git that test what a push or a commit can affect, and is what they call.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::commands::guard::{Guard, SKIP, is_set, this_program};
use crate::commands::output::print;
use crate::commands::own_tree::{self, answer};
use crate::config::{PRE_COMMIT_BUDGET, PRE_PUSH_BUDGET};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Histories, VersionKey};
use crate::hooks::{Hook, HookFolder, Installed, manager, pushed};
use crate::repo::{CommitId, Repository, Version};

/// So far back a history is looked for after a checkout.
const FARTHEST: usize = 1000;

/// Install, remove and show hooks that test what a push or a commit can affect
///
/// pre-push tests every commit that the remote does not have yet, within 'rts.prePushBudget' (2 minutes); pre-commit what is about to be committed, within 'rts.preCommitBudget' (30 seconds). Both test the commit itself, whatever else lies in the work tree, and let it go at once if it affects no test that has not passed. GIT_RTS_SKIP=1 skips them, and what was not run is owed. post-merge and post-checkout say in one line when no version on the way has a history.
#[derive(Debug, Args)]
pub struct Hooks {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Install a hook; one that is already there is kept and runs first
    ///
    /// pre-push tests what is pushed, pre-commit what is about to be committed; post-merge and post-checkout only say in one line when no version on the way has a history.
    Install {
        hook: Name,
        /// Also where another program manages hooks, or where they are shared with other repositories
        #[arg(long)]
        force: bool,
    },
    /// Remove a hook and put back what was there before
    Uninstall { hook: Name },
    /// Show which hooks are installed
    Status,
    /// What the installed hook calls
    Run {
        hook: Name,
        /// What git gives to the hook
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Name {
    PrePush,
    PreCommit,
    PostMerge,
    PostCheckout,
}

impl Name {
    pub(super) fn hook(self) -> Hook {
        match self {
            Name::PrePush => Hook::PrePush,
            Name::PreCommit => Hook::PreCommit,
            Name::PostMerge => Hook::PostMerge,
            Name::PostCheckout => Hook::PostCheckout,
        }
    }
}

pub(super) fn run(arguments: &Hooks) -> Result<()> {
    match &arguments.action {
        Action::Install { hook, force } => install(hook.hook(), *force),
        Action::Uninstall { hook } => uninstall(hook.hook()),
        Action::Status => status(),
        Action::Run { hook, arguments } => match hook.hook() {
            Hook::PrePush => unless_skipped(pre_push(arguments)),
            Hook::PreCommit => unless_skipped(pre_commit()),
            Hook::PostMerge => {
                after("HEAD");
                Ok(())
            }
            Hook::PostCheckout => {
                post_checkout(arguments);
                Ok(())
            }
        },
    }
}

/// Installs a hook, with what was there before it.
pub(super) fn install(hook: Hook, force: bool) -> Result<()> {
    let repository = Repository::discover()?;
    let folder = folder(&repository)?;
    if let Some(manager) = manager_of(&repository, &folder).filter(|_| !force) {
        print(&manager.lines(hook))?;
        return Err(Error::new(format!(
            "{} manages the hooks here, so none was installed",
            manager.name()
        ))
        .hint(format!("add the lines above to '{}'", manager.file(hook))));
    }
    if !force && !is_own(&repository, &folder.0) {
        return Err(Error::new(format!(
            "the hooks in '{}' are not of this repository alone",
            folder.0.display()
        ))
        .hint("'core.hooksPath' names it; '--force' installs the hook there for all of them"));
    }
    let name = hook.name();
    match folder.install(hook, &this_program()?)? {
        Installed::Alone => notice!("{name} is installed"),
        Installed::Again => notice!("{name} was installed, and is up to date"),
        Installed::Behind(before) => notice!(
            "{name} is installed; what was there runs first, from '{}'",
            before.display()
        ),
    }
    let git = repository.rts_dir();
    if !git.parent().is_some_and(|git| is_in(&folder.0, git)) {
        notice!(
            "hint: '{}' is part of the work tree; let git ignore the hook there",
            folder.0.display()
        );
    }
    Ok(())
}

fn uninstall(hook: Hook) -> Result<()> {
    let repository = Repository::discover()?;
    let was_ours = folder(&repository)?.uninstall(hook)?;
    if matches!(hook, Hook::PrePush | Hook::PreCommit) {
        own_tree::remove(&repository)?;
    }
    notice!(
        "{} {}",
        hook.name(),
        if was_ours {
            "is removed"
        } else {
            "was not installed"
        }
    );
    Ok(())
}

fn status() -> Result<()> {
    let repository = Repository::discover()?;
    let folder = folder(&repository)?;
    let mut text = String::new();
    for hook in Hook::ALL {
        text += &format!("{:<14} {}\n", hook.name(), folder.state(hook).words());
    }
    print(&text)?;
    if let Some(manager) = manager_of(&repository, &folder) {
        notice!("{} manages the hooks here", manager.name());
    }
    Ok(())
}

/// Where git looks for the hooks of this repository.
pub(super) fn folder(repository: &Repository) -> Result<HookFolder> {
    let arguments = ["rev-parse", "--git-path", "hooks"];
    // From the top, because versions of git differ in what the answer is relative to elsewhere.
    let top = repository.workdir().unwrap_or(Path::new("."));
    let mut git = Command::new("git");
    let path = answer(git.args(arguments).current_dir(top), &arguments)?;
    Ok(HookFolder(top.join(path)))
}

pub(super) fn manager_of(
    repository: &Repository,
    folder: &HookFolder,
) -> Option<crate::hooks::Manager> {
    manager(repository.workdir()?, &folder.0)
}

/// Whether a folder belongs to the repository: to its git directory or its work tree.
fn is_own(repository: &Repository, folder: &Path) -> bool {
    let common = repository.rts_dir();
    let own = [common.parent(), repository.workdir()];
    own.into_iter().flatten().any(|own| is_in(folder, own))
}

fn is_in(folder: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        // The last part need not exist yet.
        let above = path.ancestors().find_map(|above| above.canonicalize().ok());
        above.unwrap_or_else(|| path.to_path_buf())
    };
    whole(folder).starts_with(whole(other))
}

/// Whoever wants out gets out, whatever is wrong.
fn unless_skipped(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if is_set(SKIP) => {
            anstream::eprintln!("warning: nothing was tested, and that is not kept: {error}");
            Ok(())
        }
        other => other,
    }
}

/// Tests what is pushed.
fn pre_push(arguments: &[String]) -> Result<()> {
    let mut input = String::new();
    // pre-commit has read it already, and says the same by variables.
    let said = |variable: &str| std::env::var(variable).ok();
    let of_manager = said("PRE_COMMIT_TO_REF").or_else(|| said("PRE_COMMIT_LOCAL_BRANCH"));
    if of_manager.is_none() {
        std::io::stdin()
            .read_to_string(&mut input)
            .map_err(|error| Error::new(format!("cannot read what is pushed: {error}")))?;
    }
    let repository = here()?;
    let remote = arguments.first().cloned();
    let remote = remote.or_else(|| said("PRE_COMMIT_REMOTE_NAME"));
    let refs = pushed::parse(&input)?;
    let tips = refs.iter().filter_map(|pushed| pushed.new.clone());
    let there = refs.iter().filter_map(|pushed| pushed.old.clone());
    let there: Vec<String> = there.chain(said("PRE_COMMIT_FROM_REF")).collect();
    let there: Vec<&str> = there.iter().map(String::as_str).collect();
    let tips: BTreeSet<String> = tips.chain(of_manager).collect();
    let guard = Guard::new(&repository, ("push", "git push"), &PRE_PUSH_BUDGET)?;
    // A tag of something that is no commit has no tests, and what has the same tree has the same.
    let tips = tips.iter().filter_map(|tip| repository.commit(tip).ok());
    let tips: BTreeMap<CommitId, Version> = tips
        .filter_map(|version| Some((version.commit()?, version)))
        .collect();
    let commits = tips.keys().copied().collect();
    let new = repository.not_on_remote(remote.as_deref(), &commits, &there)?;
    let mut checked = BTreeSet::new();
    for commit in new {
        let version = tips[&commit];
        // What is let through is owed by each commit.
        if checked.insert((version.tree(), is_set(SKIP).then_some(commit))) {
            guard.check(&repository, version, None)?;
        }
    }
    Ok(())
}

/// Tests what is about to be committed, as a commit that no ref names.
fn pre_commit() -> Result<()> {
    let repository = here()?;
    let guard = Guard::new(&repository, ("commit", "git commit"), &PRE_COMMIT_BUDGET)?;
    // With git's own variables: the index may be another than the usual one.
    let write = ["write-tree"];
    let tree = answer(Command::new("git").args(write), &write)?;
    let mut commit = vec![
        "commit-tree",
        &tree,
        "-m",
        "git rts: what is about to be committed",
    ];
    let head = repository.commit("HEAD").ok();
    let name = match head {
        Some(head) => {
            commit.extend(["-p", "HEAD"]);
            format!("the commit after {head}")
        }
        None => "the first commit".to_owned(),
    };
    let id = answer(Command::new("git").args(&commit), &commit)?;
    guard.check(&repository, repository.commit(&id)?, Some(&name))
}

/// A checkout of a file, or of the same commit, brings nothing new.
fn post_checkout(arguments: &[String]) {
    if let [old, new, flag] = arguments
        && flag == "1"
        && old != new
    {
        after(new);
    }
}

/// Says when no version on the way has a history. It is nobody's job to wait for this, so whatever fails is left alone.
fn after(revision: &str) {
    if is_set(SKIP) {
        return;
    }
    let missing = || -> Result<Option<Version>> {
        let repository = here()?;
        let version = repository.commit(revision)?;
        let Some(commit) = version.commit() else {
            return Ok(None);
        };
        let rts = repository.rts_dir();
        if !rts.join("history").exists() {
            return Ok(Some(version));
        }
        let histories = Histories::open(&rts, Duration::ZERO, &mut |_| {})?;
        let found = repository.nearest(commit, FARTHEST, |version| {
            histories.find(VersionKey {
                commit: version.commit(),
                tree: version.tree(),
            })
        })?;
        Ok(match found {
            Some(_) => None,
            None => Some(version),
        })
    };
    if let Ok(Some(version)) = missing() {
        notice!(
            "git rts: no version on the way to {version} has a history; 'git rts run' records one"
        );
    }
}

/// The repository in whose work tree the hook runs, whatever variables git has set for it.
fn here() -> Result<Repository> {
    let repository = Repository::open(".")?;
    match repository.workdir() {
        Some(_) => Ok(repository),
        None => Err(Error::new("a bare repository has no work tree to test")
            .hint("hooks of 'git rts' are for clones with a work tree")
            .exit_code(ExitCode::Repository)),
    }
}
