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
    // With a target named, scripts are compiled in one place and what is known of their runs is in another.
    let above = folders_in(&site.build);
    let below = above.iter().flat_map(|folder| folders_in(folder));
    let profiles: Vec<PathBuf> = above.iter().cloned().chain(below).collect();
    let compiled = profiles
        .iter()
        .flat_map(|profile| folders_in(&profile.join("build")));
    let packages: BTreeSet<String> = compiled
        .filter(|folder| is_made_of(folder, &site.tree))
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

/// Whether a script was compiled from a file of the tree, as rustc says beside it.
fn is_made_of(folder: &Path, tree: &Path) -> bool {
    let tree = tree.as_os_str().as_encoded_bytes();
    let mut lists = files_in(folder)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "d"));
    lists.any(|list| {
        let said = fs::read(list).unwrap_or_default();
        // Of what is in the folder in which rustc runs it may leave out the beginning.
        let is_absolute = said.windows(tree.len()).any(|part| part == tree);
        is_absolute
            || said
                .split(|byte| *byte == b' ')
                .skip(1)
                .any(|word| !word.starts_with(b"/"))
    })
}

/// The package in whose name cargo made a folder: the rest is a hash.
fn package_of(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    Some(name.rsplit_once('-')?.0.to_owned())
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).filter(|path| path.is_dir()).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
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
