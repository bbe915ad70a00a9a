//! A lock of our own beside each database: sled's lock is on a file inside its folder, and cannot guard what happens to the folder itself.

use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// While it lives, no other process touches the database.
pub(super) struct Lock {
    _file: File,
}

/// Takes the lock. While another process has it, we try again for as long as `patience` says, and call `waiting` after each attempt.
pub(super) fn take(
    path: &Path,
    patience: Duration,
    mut waiting: impl FnMut(Duration),
) -> std::io::Result<Option<Lock>> {
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    let taken = patiently(patience, |elapsed| match file.try_lock() {
        Ok(()) => Some(Ok(())),
        Err(TryLockError::Error(error)) => Some(Err(error)),
        Err(TryLockError::WouldBlock) => {
            waiting(elapsed);
            None
        }
    });
    match taken {
        None => Ok(None),
        Some(Err(error)) => Err(error),
        Some(Ok(())) => {
            // Only for the eyes of those who wait.
            let _ = file
                .set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
            Ok(Some(Lock { _file: file }))
        }
    }
}

/// The process that has the lock, or had it last.
pub(super) fn holder(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Tries again and again until there is an answer or `patience` is over.
pub(super) fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut(Duration) -> Option<T>,
) -> Option<T> {
    let started = Instant::now();
    // Waiters that wake up together would meet again and again.
    let mut pause = 10 + u64::from(std::process::id()) % 7;
    loop {
        let elapsed = started.elapsed();
        if let Some(answer) = attempt(elapsed) {
            return Some(answer);
        }
        if elapsed >= patience {
            return None;
        }
        std::thread::sleep(Duration::from_millis(pause));
        pause = 10 + (pause * 5 + 3) % 18;
    }
}
