//! sled behind a wall: opening with patience, and no panic that anybody sees.
//!
//! sled 0.34 locks its folder for one process, has no read-only mode, and panics on some kinds of damage.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

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

/// Opens the database in a folder. While another process has it, we try again for as long as `patience` says;
/// `waiting` is called after each attempt.
pub(super) fn open(
    folder: &Path,
    patience: Duration,
    mut waiting: impl FnMut(Duration),
) -> Result<sled::Db, Trouble> {
    let started = Instant::now();
    // Waiters that wake up together would meet again and again.
    let mut pause = 10 + u64::from(std::process::id()) % 7;
    loop {
        let opened = guarded(|| {
            sled::Config::new()
                .path(folder)
                .mode(sled::Mode::LowSpace)
                .cache_capacity(64 << 20)
                .flush_every_ms(None)
                .open()
        });
        match opened {
            Err(Trouble::Locked) if started.elapsed() < patience => {
                waiting(started.elapsed());
                std::thread::sleep(Duration::from_millis(pause));
                pause = 10 + (pause * 5 + 3) % 18;
            }
            other => return other,
        }
    }
}
