//! The inbox: a record that could not be written, because another process had the database, waits in a file for the next process that opens it.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{self, AtomicU32};

use serde::{Deserialize, Serialize};

use super::compiled::Compiled;
use super::database::Trouble;
use super::experience::Experiences;
use super::objects::{ObjectId, encode};
use super::record::{About, TestRecord, VersionKey};
use super::recording::{Groups, Recording};
use super::test_set;
use crate::trace::{Crossed, FunctionId};

/// The first bytes of a file; the letter is the format.
const BEGINNING: &[u8] = b"git-rts record ";
const FORMAT: u8 = b'E';

#[derive(Serialize, Deserialize)]
struct Letter {
    version: VersionKey,
    about: About,
    experiences: Experiences,
    compiled: Compiled,
    tests: Vec<TestRecord>,
    functions: Vec<(FunctionId, LetterGroups)>,
}

type LetterGroups = Vec<(Crossed, Vec<u8>)>;

/// Leaves a record. It appears whole, under a name of its own, or not at all.
pub(super) fn leave(
    inbox: &Path,
    version: VersionKey,
    recording: &Recording,
) -> Result<PathBuf, Trouble> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let functions = recording.functions().into_iter();
    let letter = Letter {
        version,
        about: recording.about.clone(),
        experiences: recording.experiences.clone(),
        compiled: recording.compiled.clone(),
        tests: recording.tests().to_vec(),
        functions: functions
            .map(|(id, groups)| {
                let groups = groups
                    .iter()
                    .map(|(crossed, tests)| (crossed.clone(), test_set::encode(tests)));
                (id.clone(), groups.collect())
            })
            .collect(),
    };
    let body = encode(&letter)?;
    let mut bytes = [BEGINNING, &[FORMAT]].concat();
    bytes.extend(body);
    bytes.extend(ObjectId::of(&bytes).0);
    let count = COUNT.fetch_add(1, atomic::Ordering::Relaxed);
    let name = format!(
        "{:020}-{}-{count}",
        recording.about.created,
        std::process::id()
    );
    let (temporary, path) = (
        inbox.join(format!("{name}.part")),
        inbox.join(format!("{name}.record")),
    );
    let written = (|| {
        std::fs::create_dir_all(inbox)?;
        let mut file = File::create_new(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        File::open(inbox)?.sync_all()
    })();
    if let Err(error) = written {
        let _ = std::fs::remove_file(&temporary);
        return Err(Trouble::Elsewhere(error));
    }
    Ok(path)
}

/// The files that wait, the oldest record first.
pub(super) fn waiting(inbox: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(inbox) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "record")
        })
        .collect();
    files.sort_unstable();
    files
}

/// Removes what processes left that were killed while they wrote, a day later: by then nobody is still writing.
pub(super) fn sweep(inbox: &Path) {
    let Ok(entries) = std::fs::read_dir(inbox) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let unfinished = path
            .extension()
            .is_some_and(|extension| extension == "part");
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let age = age.ok().and_then(|modified| modified.elapsed().ok());
        if unfinished && age.is_some_and(|age| age.as_secs() > 24 * 60 * 60) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What a file of the inbox holds.
pub(super) enum Found {
    Record(VersionKey, Box<Recording>),
    /// A newer program left it, and a newer program will take it.
    Newer,
    /// An older program left it, and nobody will take it.
    Older,
    Damaged,
}

pub(super) fn read(path: &Path) -> std::io::Result<Found> {
    let bytes = std::fs::read(path)?;
    Ok(understood(&bytes).unwrap_or(Found::Damaged))
}

fn understood(bytes: &[u8]) -> Option<Found> {
    let (content, digest) = bytes.split_last_chunk::<16>()?;
    if ObjectId::of(content).0 != *digest {
        return None;
    }
    let (format, body) = content.strip_prefix(BEGINNING)?.split_first()?;
    match format.cmp(&FORMAT) {
        Ordering::Less => return Some(Found::Older),
        Ordering::Greater => return Some(Found::Newer),
        Ordering::Equal => {}
    }
    let letter: Letter = postcard::from_bytes(body).ok()?;
    let mut recording = Recording::new(letter.about);
    recording.experiences = letter.experiences;
    recording.compiled = letter.compiled;
    let count = letter.tests.len();
    recording.restore(letter.tests);
    for (id, groups) in letter.functions {
        let groups: Option<Groups> = groups
            .into_iter()
            .map(|(crossed, set)| Some((crossed, test_set::decode(&set, count)?)))
            .collect();
        recording.restore_function(id, groups?);
    }
    Some(Found::Record(letter.version, Box::new(recording)))
}

/// Moves a file out of the way that nobody can use, and names it by what is wrong.
pub(super) fn set_aside(path: &Path, what: &str) -> Option<PathBuf> {
    let aside = path.with_extension(what);
    std::fs::rename(path, &aside).ok().map(|()| aside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::TreeId;

    #[test]
    fn a_record_of_another_format_is_of_an_older_or_a_newer_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let version = VersionKey {
            commit: None,
            tree: TreeId([7; 20]),
        };
        let path = leave(folder.path(), version, &Recording::default()).expect("it is written");
        let bytes = std::fs::read(&path).expect("it is there");
        let with_format = |format: u8| {
            let mut bytes = bytes[..bytes.len() - 16].to_vec();
            bytes[BEGINNING.len()] = format;
            bytes.extend(ObjectId::of(&bytes).0);
            understood(&bytes)
        };
        assert!(matches!(with_format(FORMAT), Some(Found::Record(found, _)) if found == version));
        assert!(matches!(with_format(FORMAT - 1), Some(Found::Older)));
        assert!(matches!(with_format(FORMAT + 1), Some(Found::Newer)));
        assert!(understood(&bytes[1..]).is_none());
    }
}
