//! Programs that run while the project is built: they may make sources and data, so what they execute counts for every test.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Recorder;
use crate::coverage::llvm::binary;
use crate::error::{Error, Result};
use crate::masquerade::{Backend, Links, inputs};
use crate::trace::{Crossed, Trace};
use crate::workshop::Workshop;

/// A folder for what programs count while this session builds. A program that is built anew may count under its old name, and
/// would be taken for the old one.
pub(super) fn folder_of_now(workshop: &Workshop) -> Result<PathBuf> {
    // What is left there is of tests that ran before.
    for stray in strays(workshop) {
        let _ = fs::remove_file(stray);
    }
    for build in builds(workshop) {
        // One in which nothing ran; who has more in it stays as it is.
        let _ = fs::remove_dir(build);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let name = format!("{:024}", since.unwrap_or_default().as_nanos());
    let folder = workshop.made.join(name);
    fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("cannot create '{}': {error}", folder.display())))?;
    Ok(folder)
}

/// The folders of all builds whose products may still be there.
fn builds(workshop: &Workshop) -> Vec<PathBuf> {
    let builds = fs::read_dir(&workshop.made).into_iter().flatten();
    builds.flatten().map(|build| build.path()).collect()
}

/// Keeps what programs counted that the build started without their environment. Only clang's have a place of their own for that.
pub(super) fn keep_strays(workshop: &Workshop, backend: &Backend) {
    let (Backend::Llvm { .. } | Backend::Rustc, Some(newest)) =
        (backend, builds(workshop).into_iter().max())
    else {
        return;
    };
    for stray in strays(workshop) {
        let name = stray.file_name().unwrap_or_default();
        let _ = fs::rename(&stray, newest.join(name));
    }
}

/// What programs counted that were started without their environment.
fn strays(workshop: &Workshop) -> Vec<PathBuf> {
    let strays = fs::read_dir(&workshop.strays).into_iter().flatten();
    strays.flatten().map(|stray| stray.path()).collect()
}

/// What they executed, and why that may not be all. Those that are gone by now, with their sources, were trials of a configuration;
/// others are known by the names of what they executed. Of one that was linked anew and that fewer processes ran in a build since than
/// before, something is still there that the old one made, and its names may not tell all any more.
pub(super) fn executed(
    workshop: &Workshop,
    backend: &Backend,
    recorder: &dyn Recorder,
) -> (Trace, Option<String>) {
    let folders = match backend {
        Backend::Llvm { .. } => builds(workshop),
        Backend::Gcov => vec![workshop.made.clone()],
        // Build scripts do not count, and what they make is compared itself.
        Backend::Rustc => Vec::new(),
    };
    let links = Links::of(&workshop.compilers);
    let (mut trace, mut gone) = (Trace::default(), Vec::new());
    let mut processes: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for folder in folders.iter().filter(|folder| folder.exists()) {
        let recorded = recorder.read(folder);
        trace.functions.extend(recorded.trace.functions);
        gone.extend(recorded.gone);
        for (id, number) in recorded.processes {
            // What is made again in another build is no more than what is there.
            let most = processes.entry(id).or_default();
            *most = number.max(*most);
        }
    }
    let processes_of = |id: &[u8]| processes.get(id).copied().unwrap_or_default();
    let mut replaced: BTreeMap<Vec<u8>, PathBuf> = BTreeMap::new();
    for gone in gone {
        let Some(place) = links.place(&gone.id) else {
            continue;
        };
        let is_there = place.exists();
        if !is_there && !inputs::has_made(&workshop.compilers, &place) {
            continue;
        }
        let executed = gone.executed.into_iter();
        let executed = executed.map(|id| (id, Crossed::Whole));
        trace.functions.extend(executed);
        if is_there {
            replaced.insert(gone.id, place);
        }
    }
    let mut stale = replaced.iter().filter(|(id, place)| {
        let now = binary::build_id_of(place).unwrap_or_default();
        processes_of(&now) < processes_of(id)
    });
    let doubt = stale.next().map(|(_, place)| {
        let name = place.file_name().unwrap_or_default().display();
        format!("what '{name}' made when the project was built is older than it")
    });
    (trace, doubt)
}
