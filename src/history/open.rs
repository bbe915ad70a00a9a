//! Opens the database of histories, whatever state it is in.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::copy;
use super::database::Trouble;
use super::generations;
use super::lock::{self, Lock};
use super::store::{FORMAT, Readiness, Store, explained};
use crate::error::{Error, Result};
use crate::scratch::Scratch;

/// How long a waiter waits before it says so.
const SILENCE: Duration = Duration::from_millis(500);
/// One that is set aside, a new one, and one for bad luck.
const GENERATIONS: usize = 3;

/// What opening came to.
pub(super) enum Opened {
    Open(Store, Lock),
    /// Another process kept it for longer than we wanted to wait.
    Busy,
    /// We may not write there: this is a copy that goes away with us.
    Copy(Store),
}

/// Opens the newest generation in `history`. What the user should know goes to `notices`;
/// `waiting` is called once if another process lets us wait, with its id if it is known.
pub(super) fn open(
    history: &Path,
    patience: Duration,
    waiting: &mut dyn FnMut(Option<u32>),
    notices: &mut Vec<String>,
) -> Result<Opened> {
    let path = history.join("lock");
    let mut told = false;
    let waiting = |elapsed: Duration| {
        if elapsed > SILENCE && !told {
            told = true;
            waiting(lock::holder(&path));
        }
    };
    let taken =
        std::fs::create_dir_all(history).and_then(|()| lock::take(&path, patience, waiting));
    match taken {
        Err(error) => forbidden(history, error),
        Ok(None) => Ok(Opened::Busy),
        Ok(Some(lock)) => Ok(match open_locked(history, &lock, notices, None)? {
            Some(store) => Opened::Open(store, lock),
            None => Opened::Busy,
        }),
    }
}

/// Opens the newest generation, of which we have the lock. What is complete in `damaged` is taken over.
pub(super) fn open_locked(
    history: &Path,
    lock: &Lock,
    notices: &mut Vec<String>,
    mut damaged: Option<PathBuf>,
) -> Result<Option<Store>> {
    let failed = |error| explained("open the history", Trouble::Elsewhere(error));
    for _ in 0..GENERATIONS {
        let generation = generations::current(history);
        let folder = generations::folder(history, generation);
        let begun = match folder.exists() {
            true => Ok(()),
            false => begin(history, lock),
        };
        match begun.and_then(|()| Store::open(&folder, lock)) {
            Ok(Readiness::Ready(store)) => {
                generations::sweep(history, generation);
                if let Some(damaged) = damaged {
                    notices.push(salvage(history, &damaged, &store, lock)?);
                }
                return Ok(Some(store));
            }
            Ok(Readiness::Other(newer)) if newer > FORMAT => {
                return Err(Error::new(format!(
                    "the history has format {newer}, and this 'git rts' knows formats up to {FORMAT}"
                ))
                .hint("install the newer 'git rts', or move the folder away to start anew")
                .hint(format!("the folder is '{}'", folder.display())));
            }
            Ok(Readiness::Other(_)) => {
                let aside = generations::set_aside(history, generation, "older").map_err(failed)?;
                notices.push(format!(
                    "the history was written by an older 'git rts'; it is now '{}', which nobody needs any more",
                    aside.display()
                ));
            }
            Err(Trouble::Locked) => return Ok(None),
            Err(Trouble::Elsewhere(error)) => return Err(failed(error)),
            Err(Trouble::Damage(_)) => {
                // A database that cannot grow fails as a damaged one does.
                generations::disk_is_writable(history).map_err(failed)?;
                let aside =
                    generations::set_aside(history, generation, "damaged").map_err(failed)?;
                damaged = Some(aside);
            }
        }
    }
    Err(Error::new(
        "cannot open the history: a new database is damaged at once",
    ))
}

/// Makes a database where there is none.
fn begin(history: &Path, lock: &Lock) -> std::result::Result<(), Trouble> {
    let next = generations::workshop(history).map_err(Trouble::Elsewhere)?;
    drop(Store::open(&next, lock)?);
    generations::take_over(history, &next).map_err(Trouble::Elsewhere)
}

/// Opens a copy for somebody who only looks: nothing is set aside, taken in or made.
pub(super) fn look(history: &Path, patience: Duration) -> Result<Opened> {
    // Held while the copy is made, so that nobody writes meanwhile; who may not write has no lock, and no use for one.
    let lock = match lock::take(&history.join("lock"), patience, |_| ()) {
        Err(_) => None,
        Ok(None) => return Ok(Opened::Busy),
        Ok(lock) => lock,
    };
    let store = open_copy(history);
    drop(lock);
    store
        .map(Opened::Copy)
        .map_err(|trouble| explained("open the history", trouble))
}

/// Opens a copy if we may not write where the history is; other troubles with the disk are the user's to solve.
fn forbidden(history: &Path, error: std::io::Error) -> Result<Opened> {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    if !matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) {
        return Err(explained("open the history", Trouble::Elsewhere(error)));
    }
    open_copy(history).map(Opened::Copy).map_err(|trouble| {
        explained("open the history", trouble).hint("the folder of the history is read-only, and a copy of it in the temporary folder could not be opened")
    })
}

/// sled cannot open what it may not write: we read from a copy. Damage in it is only reported.
fn open_copy(history: &Path) -> std::result::Result<Store, Trouble> {
    let from = generations::folder(history, generations::current(history));
    let scratch = Scratch::new().map_err(Trouble::Elsewhere)?;
    let to = scratch.path();
    let lock = copy_folder(&from, to, &|_| true)
        .and_then(|()| lock::take(&to.join("lock"), Duration::ZERO, |_| ()))
        .map_err(Trouble::Elsewhere)?;
    match Store::open(to, &lock.ok_or(Trouble::Locked)?)? {
        Readiness::Ready(mut store) => {
            store.scratch = Some(scratch);
            Ok(store)
        }
        Readiness::Other(format) => Err(Trouble::Damage(format!(
            "it has format {format}, this program's is {FORMAT}"
        ))),
    }
}

fn copy_folder(from: &Path, to: &Path, wanted: &dyn Fn(&str) -> bool) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_str().is_none_or(wanted) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to.join(name), wanted)?;
        } else {
            // Without its permissions: the copy must be writable where the file is not.
            let (mut from, mut to) = (File::open(entry.path())?, File::create(to.join(name))?);
            std::io::copy(&mut from, &mut to)?;
        }
    }
    Ok(())
}

/// Takes over what is complete in a damaged database, and says what came of it.
fn salvage(history: &Path, damaged: &Path, store: &Store, lock: &Lock) -> Result<String> {
    let saved = (|| {
        let folder = generations::workshop(history).map_err(Trouble::Elsewhere)?;
        // Its snapshots only repeat what its log says, and are the first to break.
        copy_folder(damaged, &folder, &|name| !name.starts_with("snap."))
            .map_err(Trouble::Elsewhere)?;
        match Store::open(&folder, lock)? {
            Readiness::Ready(old) => {
                copy::copy(old.trees()?, store.trees()?, &mut |_| true).map(Some)
            }
            Readiness::Other(_) => Ok(None),
        }
    })();
    let _ = generations::workshop(history);
    let what = match saved {
        Err(trouble @ Trouble::Elsewhere(_)) => {
            return Err(explained("save the damaged history", trouble));
        }
        Ok(Some(copied)) if copied.histories > 0 => {
            format!("{} complete histories were saved", copied.histories)
        }
        _ => "nothing in it could be saved".to_owned(),
    };
    Ok(format!(
        "the history was damaged; {what}, and the rest is in '{}'",
        damaged.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::database;

    fn opened(history: &Path, notices: &mut Vec<String>) -> Result<Store> {
        match open(history, Duration::from_secs(5), &mut |_| (), notices)? {
            Opened::Open(store, _) => Ok(store),
            Opened::Busy | Opened::Copy(_) => Err(Error::new("not opened")),
        }
    }

    fn pretend(history: &Path, format: u32) {
        let store = opened(history, &mut Vec::new()).expect("it opens");
        let trees = store.trees().expect("it is open");
        trees.set_format(format);
        let written = trees.objects.writer().put(b"of another format");
        written.expect("an object can be written");
        trees.flush().expect("it can be flushed");
    }

    /// The database as sled sees it.
    fn raw(history: &Path) -> sled::Db {
        let lock = lock::take(&history.join("lock"), Duration::from_secs(5), |_| ());
        let lock = lock.expect("a lock can be taken").expect("it is free");
        database::open(&generations::folder(history, 1), &lock).expect("it opens")
    }

    #[test]
    fn what_a_killed_process_began_to_make_is_no_damage() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let begun = generations::workshop(folder.path()).expect("there is room");
        std::fs::create_dir_all(&begun).expect("there is room");
        // As sled leaves its settings if it is killed before it writes their checksum: it does not open what looks like that.
        std::fs::write(begun.join("conf"), "segment_size: 524288\nuse_compr")
            .expect("there is room");
        let lock = lock::take(&folder.path().join("lock"), Duration::ZERO, |_| ());
        let lock = lock.expect("a lock can be taken").expect("it is free");
        assert!(Store::open(&begun, &lock).is_err());
        drop(lock);
        let mut notices = Vec::new();
        let store = opened(folder.path(), &mut notices).expect("one is begun");
        assert!(store.trees().is_ok());
        assert_eq!(notices, Vec::<String>::new());
        assert_eq!(generations::current(folder.path()), 1);
    }

    #[test]
    fn a_newer_format_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        pretend(folder.path(), FORMAT + 1);
        for _ in 0..2 {
            let refused = opened(folder.path(), &mut Vec::new()).map(|_| ());
            let error = refused.expect_err("a newer format is not understood");
            assert!(
                error.message.contains(&format!("format {}", FORMAT + 1)),
                "{error}"
            );
            assert!(error.hints.iter().any(|hint| hint.contains("install")));
        }
        let database = raw(folder.path());
        let objects = database.open_tree("objects").expect("the tree is there");
        assert_eq!(objects.len(), 1);
    }

    #[test]
    fn an_older_format_is_set_aside_and_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        pretend(folder.path(), FORMAT - 1);
        let mut notices = Vec::new();
        let _store = opened(folder.path(), &mut notices).expect("a new one is begun");
        assert_eq!(generations::current(folder.path()), 2);
        assert_eq!(notices.len(), 1);
        assert!(notices[0].contains("older-1"), "{notices:?}");
        assert!(folder.path().join("older-1").is_dir());
    }

    #[test]
    fn a_format_that_is_no_number_of_ours_is_damage() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        pretend(folder.path(), FORMAT);
        {
            let database = raw(folder.path());
            database
                .insert("format", &[0, 0, 0, 9])
                .expect("the format can be written");
            database.flush().expect("it can be flushed");
        }
        let mut notices = Vec::new();
        opened(folder.path(), &mut notices).expect("a new one is begun");
        assert!(notices[0].contains("damaged"), "{notices:?}");
    }
}
