//! Build scripts of the workspace: what one of them reads and does not tell cargo of, cargo does not watch. So each runs again when
//! a file of the tree has changed since it ran.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::Site;

/// What has to go so that cargo runs the scripts again that ran before the newest file of the tree was written.
pub(super) fn outdated(site: &Site) -> Vec<PathBuf> {
    let newest = newest_below(&site.tree, &site.build);
    let profiles = profiles(&site.build);
    let compiled = profiles
        .iter()
        .flat_map(|profile| folders_in(&profile.join("build")));
    let packages: BTreeSet<String> = compiled
        .filter(|folder| is_made_of(&files_in(folder), &site.tree))
        .filter_map(|folder| package_of(&folder))
        .collect();
    let fingerprints = profiles
        .iter()
        .flat_map(|profile| folders_in(&profile.join(".fingerprint")));
    let own = fingerprints
        .filter(|folder| package_of(folder).is_some_and(|package| packages.contains(&package)));
    let runs = own.flat_map(|folder| files_in(&folder));
    runs.filter(|file| {
        let name = file.file_name().unwrap_or_default();
        let is_run = name.as_encoded_bytes().starts_with(b"run-build-script-");
        is_run && modified(file) <= newest
    })
    .collect()
}

/// The folders that may be those of profiles. With a target named, scripts are compiled in one place and what is known of their runs
/// is in another.
pub(super) fn profiles(build: &Path) -> Vec<PathBuf> {
    let above = folders_in(build);
    let below = above.iter().flat_map(|folder| folders_in(folder));
    above.iter().cloned().chain(below).collect()
}

/// Whether something was compiled from a file of the tree, as rustc says in a list among the files beside it.
pub(super) fn is_made_of(files: &[PathBuf], tree: &Path) -> bool {
    let tree = tree.as_os_str().as_encoded_bytes();
    let is_list = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "d");
    files.iter().filter(is_list).any(|list| {
        let Ok(said) = fs::read(list) else {
            return true;
        };
        let is_absolute = said.windows(tree.len()).any(|part| part == tree);
        // Of what is in the folder in which rustc runs it may leave out the beginning. Other lines tell of variables.
        let lines = said.split(|byte| *byte == b'\n');
        let mut words = lines
            .filter(|line| !line.starts_with(b"#"))
            .flat_map(|line| line.split(|byte| *byte == b' '))
            .filter(|word| !word.is_empty() && !word.ends_with(b":"));
        is_absolute || words.any(|word| !word.starts_with(b"/"))
    })
}

/// The package in whose name cargo made a folder: the rest is a hash.
pub(super) fn package_of(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    Some(name.rsplit_once('-')?.0.to_owned())
}

pub(super) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).filter(|path| path.is_dir()).collect()
}

pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).filter(|path| path.is_file()).collect()
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(file).ok()?.modified().ok()
}

fn newest_below(tree: &Path, build: &Path) -> Option<SystemTime> {
    let mut newest = None;
    let mut waiting = vec![tree.to_owned()];
    while let Some(folder) = waiting.pop() {
        for path in entries(&folder).filter(|path| path != build) {
            match path.is_dir() && !path.is_symlink() {
                true => waiting.push(path),
                false => newest = newest.max(modified(&path)),
            }
        }
    }
    newest
}
