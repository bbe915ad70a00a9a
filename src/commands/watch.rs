//! `git rts watch`: what `git rts run` does, now and on every save.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use crate::commands::output::report_error;
use crate::commands::run::{Run, run_until};
use crate::emit::plan_text::count;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::repo::{FileEntry, RepoPath, Repository};
use crate::runner::{Interrupt, Saves};

/// Who saves one file often saves another; so long we wait for the next.
const QUIET: Duration = Duration::from_millis(150);

/// Where saves never cease, they are taken up all the same.
const LONGEST: Duration = Duration::from_secs(2);

/// So often we look whether to end.
const PAUSE: Duration = Duration::from_millis(100);

/// Run what a change can affect now and on every save, until Ctrl-C
///
/// Does what `git rts run` does, with the same options, whenever a file of the work tree changes that git does not ignore. A build or a test that fails is reported, and it goes on. What is saved while tests run is taken up afterwards.
#[derive(Debug, Args)]
pub struct WatchSaves {
    #[command(flatten)]
    run: Run,
}

pub(super) fn run(arguments: &WatchSaves) -> Result<()> {
    let repository = Repository::discover()?;
    let Some(top) = repository.workdir() else {
        return Err(Error::new("a bare repository has no work tree to watch")
            .hint("run it in a clone or a worktree")
            .exit_code(ExitCode::Repository));
    };
    let interrupt = Interrupt::on_signals()?;
    let counts = |path: &RepoPath| !repository.is_outside(path);
    let mut saves = Saves::below(top, &counts)?;
    let written = arguments.run.written().and_then(|file| in_tree(top, file));
    // Taken before each run: what is saved while it lasts is a difference afterwards.
    let mut tested = Snapshot::take();
    let mut is_first = true;
    loop {
        let result = run_until(&arguments.run, &interrupt);
        if interrupt.is_requested() {
            return result;
        }
        if let Err(error) = result {
            let is_of_repository = error.exit_code == ExitCode::Repository;
            if is_of_repository && Snapshot::take().is_saved_since(&tested) {
                notice!("a file was saved before it was read, so it begins again");
            } else if is_first && (is_of_repository || error.exit_code == ExitCode::Usage) {
                return Err(error);
            } else {
                report_error(&error);
            }
        }
        is_first = false;
        notice!("waiting for the next save; Ctrl-C ends it");
        loop {
            if !wait(&mut saves, &counts, &interrupt)? {
                return Ok(());
            }
            let now = Snapshot::take();
            let changed = now.changed_since(&tested, written.as_deref());
            if let Some(changed) = changed {
                tested = now;
                notice!("\n{changed}");
                break;
            }
        }
    }
}

/// Waits for saves, and then until they cease; whether there were any before the end was asked for.
fn wait(
    saves: &mut Saves,
    counts: &dyn Fn(&RepoPath) -> bool,
    interrupt: &Interrupt,
) -> Result<bool> {
    let mut first: Option<Instant> = None;
    loop {
        let is_saved = saves.wait(if first.is_some() { QUIET } else { PAUSE }, counts)?;
        if interrupt.is_requested() {
            return Ok(false);
        }
        match first {
            Some(first) if !is_saved || first.elapsed() > LONGEST => return Ok(true),
            None if is_saved => first = Some(Instant::now()),
            _ => {}
        }
    }
}

/// A file by its path in the tree, if it is there.
fn in_tree(top: &Path, file: &Path) -> Option<PathBuf> {
    let file = std::env::current_dir().ok()?.join(file);
    let folder = file.parent()?.canonicalize().ok()?;
    let whole = folder.join(file.file_name()?);
    let path = whole.strip_prefix(top.canonicalize().ok()?).ok()?;
    Some(path.to_path_buf())
}

/// What the work tree held at a moment; nothing if it could not be read, as in the middle of a merge.
struct Snapshot(Option<BTreeMap<RepoPath, FileEntry>>);

impl Snapshot {
    fn take() -> Self {
        let files = || -> Result<Vec<FileEntry>> {
            // Another one each time, so that what it read is not kept for hours.
            let repository = Repository::discover()?;
            repository.files(&repository.work_tree()?)
        };
        let files = files().ok();
        Snapshot(files.map(|files| {
            files
                .into_iter()
                .map(|file| (file.path.clone(), file))
                .collect()
        }))
    }

    /// Whether something else is known to be there now.
    fn is_saved_since(&self, before: &Self) -> bool {
        self.0.is_some() && before.0.is_some() && self.0 != before.0
    }

    /// What differs, in a few words; the file that a run itself writes does not count.
    fn changed_since(&self, before: &Self, written: Option<&Path>) -> Option<String> {
        let (Some(now), Some(before)) = (&self.0, &before.0) else {
            return Some("the work tree changed".to_owned());
        };
        let all = now.keys().chain(before.keys());
        let mut changed: Vec<&RepoPath> = all
            .filter(|path| now.get(*path) != before.get(*path))
            .filter(|path| Some(path.under(Path::new("")).as_path()) != written)
            .collect();
        changed.sort();
        changed.dedup();
        match changed.as_slice() {
            [] => None,
            [path] => Some(format!("{path} changed")),
            [path, others @ ..] => Some(format!(
                "{path} and {} changed",
                count(others.len(), "other file")
            )),
        }
    }
}
