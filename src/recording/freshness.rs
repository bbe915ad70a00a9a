//! Whether what an earlier build left in the workshop can be built upon, or everything has to be built anew.

use std::fs;
use std::path::PathBuf;

use super::outside;
use super::products::left_in;
use crate::config::{Config, FILE};
use crate::error::{Error, Result};
use crate::lang::cplusplus;
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

/// What changed that builds often do not notice: a file that comes or goes is in no list of dependencies, and what a build file says
/// does not always reach what was made before. Of C and C++ every call of a compiler tells what it read.
pub(super) fn beyond_the_build(
    workshop: &Workshop,
    config: &Config,
    runner: &dyn Runner,
    differences: &Differences,
) -> Option<String> {
    let opened = workshop.opened();
    let is_read = |path: &RepoPath| opened.as_ref().is_none_or(|opened| opened.contains(path));
    let comes = differences.came_or_went.iter();
    // What is said to us is nothing to the build; what it makes another build of has been looked at.
    let is_ours = |path: &RepoPath| path.as_bytes() == FILE.as_bytes();
    let mut comes = comes.filter(|path| !config.is_ignored(path) && !is_ours(path));
    let mut modified = differences.modified.iter();
    if let Some(path) = comes.next() {
        return Some(format!("'{path}' came or went"));
    }
    let beyond = modified.find(|path| {
        let is_of_cplusplus = cplusplus::is_source(path) || cplusplus::is_header(path);
        let is_taken_in = config.is_source(path) || is_of_cplusplus || runner.takes_in(path);
        !is_taken_in && is_read(path)
    });
    beyond.map(|path| format!("'{path}' changed"))
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

/// Builds everything anew of which these changes may be a part, and lets stay what they cannot reach.
pub(super) fn start_over(
    workshop: &Workshop,
    runner: &dyn Runner,
    differences: &Differences,
) -> Result<()> {
    let modified = differences.modified.iter();
    let changed: Vec<&RepoPath> = modified.chain(&differences.came_or_went).collect();
    if runner.clears(&workshop.build, &workshop.tree, &changed) {
        // What is known of the rest stays, too.
        clear(workshop, &[&workshop.tree])?;
        return inputs::keep_made(&workshop.compilers).map_err(|error| cannot(&error));
    }
    let folders = [workshop.build.as_path(), &workshop.tree];
    if kept::set_aside(&workshop.compilers, &folders).is_err() {
        kept::forget_all(&workshop.compilers).map_err(|error| cannot(&error))?;
    }
    forget(workshop)
}

/// Builds everything anew: it was made in another way, or nobody knows how.
pub(super) fn start_afresh(workshop: &Workshop, made_by: &str) -> Result<()> {
    kept::forget_all(&workshop.compilers).map_err(|error| cannot(&error))?;
    forget(workshop)?;
    fs::write(made_by_file(workshop), made_by).map_err(|error| cannot(&error))
}

/// Empties the workshop.
fn forget(workshop: &Workshop) -> Result<()> {
    clear(workshop, &[&workshop.build, &workshop.tree, &workshop.made])?;
    let _ = fs::remove_file(masquerade::defined(&workshop.compilers));
    let _ = fs::remove_file(headers::outside(&workshop.compilers));
    let _ = fs::remove_file(outside_file(workshop));
    Links::of(&workshop.compilers).forget();
    inputs::begin(&workshop.compilers).map_err(|error| cannot(&error))?;
    workshop.forget_opened();
    Ok(())
}

/// Empties some of its folders, one of them that of the tree.
fn clear(workshop: &Workshop, folders: &[&PathBuf]) -> Result<()> {
    for folder in folders {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| cannot(&error))?;
        }
    }
    // Some projects are built beside their tree.
    let root = workshop.tree.parent().unwrap_or(&workshop.tree);
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() && !workshop.has(&path) && !kept::is_aside(&path) {
            fs::remove_dir_all(path).map_err(|error| cannot(&error))?;
        }
    }
    for folder in [&workshop.build, &workshop.tree] {
        fs::create_dir_all(folder).map_err(|error| cannot(&error))?;
    }
    let _ = fs::remove_file(unfinished(workshop));
    if let Some(root) = workshop.tree.parent() {
        let _ = fs::remove_file(left_in(root));
    }
    workshop.forget_pending();
    Ok(())
}

fn cannot(error: &std::io::Error) -> Error {
    Error::new(format!("cannot clear the build folder: {error}"))
}
