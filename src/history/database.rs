//! sled behind a wall: opening it in whatever state it is, and no panic that anybody sees.
//!
//! sled 0.34 locks its folder for one process, has no read-only mode, and panics on some kinds of damage.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use super::lock::{self, Lock};

/// sled's threads may keep its lock for a moment after the database was closed.
const LINGERING: Duration = Duration::from_secs(2);

/// Why the database did not do what it was asked.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Another process has it.
    Locked,
    /// The trouble is with the folder or the disk, not with what the database holds.
    Elsewhere(std::io::Error),
    /// What it holds cannot be read.
    Damage(String),
}

impl From<sled::Error> for Trouble {
    fn from(error: sled::Error) -> Self {
        use std::io::ErrorKind::{
            FileTooLarge, IsADirectory, NotFound, PermissionDenied, QuotaExceeded,
            ReadOnlyFilesystem, StorageFull,
        };
        match error {
            sled::Error::Io(error) if error.to_string().contains("could not acquire lock") => {
                Trouble::Locked
            }
            // sled repeats an error without its number.
            sled::Error::Io(error)
                if matches!(
                    error.kind(),
                    FileTooLarge
                        | PermissionDenied
                        | QuotaExceeded
                        | ReadOnlyFilesystem
                        | StorageFull
                ) =>
            {
                Trouble::Elsewhere(error)
            }
            // Only what the operating system says has a number: the rest are sled's own words for bytes it does not understand.
            sled::Error::Io(error)
                if error.raw_os_error().is_some()
                    && !matches!(error.kind(), IsADirectory | NotFound) =>
            {
                Trouble::Elsewhere(error)
            }
            // Its words are for programmers.
            sled::Error::Corruption { .. } => Trouble::Damage("the database is damaged".to_owned()),
            other => Trouble::Damage(other.to_string()),
        }
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs an action of the database; a panic in it is damage.
pub(super) fn guarded<T>(action: impl FnOnce() -> sled::Result<T>) -> Result<T, Trouble> {
    silence_guarded_threads();
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(action));
    GUARDED.set(before);
    match result {
        Ok(result) => result.map_err(Trouble::from),
        Err(_) => Err(Trouble::Damage("the database failed".to_owned())),
    }
}

/// Nobody should read of a panic that is caught. One hook for good, because hooks are shared by all threads.
fn silence_guarded_threads() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let of_the_database = std::thread::current()
                .name()
                .is_some_and(|name| name.starts_with("sled"));
            if !GUARDED.get() && !of_the_database {
                others(panic);
            }
        }));
    });
}

/// Opens the database in a folder, of which the caller has the lock.
pub(super) fn open(folder: &Path, _lock: &Lock) -> Result<sled::Db, Trouble> {
    remove_unfinished_snapshots(folder);
    let opened = lock::patiently(LINGERING, |_| {
        let opened = guarded(|| {
            sled::Config::new()
                .path(folder)
                .mode(sled::Mode::LowSpace)
                .cache_capacity(64 << 20)
                .flush_every_ms(None)
                .open()
        });
        match opened {
            Err(Trouble::Locked) => None,
            other => Some(other),
        }
    });
    opened.unwrap_or(Err(Trouble::Locked))
}

/// A process that is killed while it opens the database leaves a snapshot half written, and sled would take it for the newest:
/// it skips files that end in `.in___motion`, but writes files that end in `.generating`.
fn remove_unfinished_snapshots(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(folder: &Path) -> Lock {
        let lock = lock::take(&folder.join("lock"), Duration::ZERO, |_| ());
        lock.expect("a lock can be taken").expect("it is free")
    }

    #[test]
    fn a_snapshot_that_was_never_finished_is_no_damage() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lock = lock(folder.path());
        let database = open(folder.path(), &lock).expect("it opens");
        database.insert("key", "value").expect("it can be written");
        database.flush().expect("it can be flushed");
        drop(database);
        let unfinished = folder.path().join("snap.00000000FFFFFFFF.generating");
        std::fs::write(&unfinished, b"half").expect("a file can be written");
        let database = open(folder.path(), &lock).expect("it opens again");
        let value = database.get("key").expect("it can be read");
        assert_eq!(value.as_deref(), Some(b"value".as_slice()));
    }

    #[test]
    fn a_panic_of_the_database_becomes_damage() {
        let bytes = Vec::<u8>::new();
        let result = guarded(|| Ok(bytes[bytes.len()]));
        assert!(matches!(result, Err(Trouble::Damage(_))));
        assert!(!GUARDED.get());
    }
}
