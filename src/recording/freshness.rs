//! Whether what an earlier build left in the workshop can be built upon, or everything has to be built anew.

use std::fs;
use std::path::PathBuf;

use super::outside;
use super::products::left_in;
use crate::config::{Config, FILE};
use crate::error::{Error, Result};
use crate::masquerade::{self, Links, headers, inputs, kept};
use crate::repo::RepoPath;
use crate::runner::Runner;
use crate::workshop::{Differences, Workshop};

/// There while a build runs: a build that was killed may have left half an object that looks finished.
pub(super) fn unfinished(workshop: &Workshop) -> PathBuf {
    workshop.build.with_extension("unfinished")
}

/// Whether objects were made by another back end, runner, command or environment, or by a build that was stopped: they would count
/// in another way, or are not whole.
pub(super) fn was_made_otherwise(workshop: &Workshop, made_by: &str) -> bool {
    let is_same = fs::read_to_string(made_by_file(workshop)).is_ok_and(|made| made == made_by);
    !is_same || unfinished(workshop).exists()
}

/// Whether something changed that builds often do not notice: a file that comes or goes is in no list of dependencies, and what a
/// build file says does not always reach what was made before.
pub(super) fn is_beyond_the_build(
    workshop: &Workshop,
    config: &Config,
    runner: &dyn Runner,
    differences: &Differences,
) -> bool {
    let opened = workshop.opened();
    let is_read = |path: &RepoPath| opened.as_ref().is_none_or(|opened| opened.contains(path));
    let comes = differences.came_or_went.iter();
    // What is said to us is nothing to the build; what it makes another build of has been looked at.
    let is_ours = |path: &RepoPath| path.as_bytes() == FILE.as_bytes();
    let mut comes = comes.filter(|path| !config.is_ignored(path) && !is_ours(path));
    let mut modified = differences.modified.iter();
    comes.next().is_some()
        || modified.any(|path| {
            let is_taken_in = config.is_source(path) || runner.takes_in(path);
            !is_taken_in && is_read(path)
        })
}

/// Whether a header from outside is not what it was when it was last compiled: projects seldom ask for that.
pub(super) fn has_another_outside(workshop: &Workshop) -> bool {
    let kept = fs::read_to_string(outside_file(workshop)).unwrap_or_default();
    let now = outside::digests(&headers::outside(&workshop.compilers));
    kept.lines().any(|line| {
        let (digest, path) = line.split_once(' ').unwrap_or_default();
        now.get(path).map(|now| format!("{now:016x}")).as_deref() != Some(digest)
    })
}

pub(super) fn outside_file(workshop: &Workshop) -> PathBuf {
    workshop.build.with_extension("outside")
}

fn made_by_file(workshop: &Workshop) -> PathBuf {
    workshop.build.with_extension("made-by")
}

/// What becomes of objects when everything is built anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// Those that would be the same are taken over.
    Kept,
    /// They were made in another way, or nobody knows how.
    Lost,
}

/// Empties the workshop: everything is built anew.
pub(super) fn start_afresh(workshop: &Workshop, made_by: &str, objects: Objects) -> Result<()> {
    let cannot =
        |error: std::io::Error| Error::new(format!("cannot clear the build folder: {error}"));
    let folders = [workshop.build.as_path(), &workshop.tree];
    let is_aside =
        objects == Objects::Kept && kept::set_aside(&workshop.compilers, &folders).is_ok();
    if !is_aside {
        kept::forget(&workshop.compilers).map_err(cannot)?;
    }
    for folder in [&workshop.build, &workshop.tree, &workshop.made] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(cannot)?;
        }
    }
    for folder in [&workshop.build, &workshop.tree] {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let _ = fs::remove_file(unfinished(workshop));
    let _ = fs::remove_file(masquerade::defined(&workshop.compilers));
    let _ = fs::remove_file(headers::outside(&workshop.compilers));
    let _ = fs::remove_file(outside_file(workshop));
    Links::of(&workshop.compilers).forget();
    inputs::begin(&workshop.compilers).map_err(cannot)?;
    if let Some(root) = workshop.tree.parent() {
        let _ = fs::remove_file(left_in(root));
    }
    workshop.forget_opened();
    workshop.forget_pending();
    fs::write(made_by_file(workshop), made_by).map_err(cannot)
}
