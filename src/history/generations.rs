//! The folder of the database, and its successors: a new one takes over by one rename, so there is never none and never half of one.
//!
//! `db-1` is followed by `db-2`, and so on; the highest number counts. The first is made as the others are, because sled takes what a
//! killed process left half made for damaged. sled gives no room back to the disk, so cleaning up
//! means writing a successor. A damaged database becomes `damaged-N` and is followed by `db-(N+1)`. Whoever calls anything
//! here that moves or removes has the lock.

use std::path::{Path, PathBuf};

/// The folder of a generation.
pub(super) fn folder(history: &Path, generation: u64) -> PathBuf {
    history.join(format!("db-{generation}"))
}

/// The generation that counts.
pub(super) fn current(history: &Path) -> u64 {
    let damaged = highest(history, "damaged-").max(highest(history, "older-"));
    highest(history, "db-").max(damaged + 1)
}

fn numbered(history: &Path, prefix: &str) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(history) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_prefix(prefix)?.parse().ok()
        })
        .collect()
}

fn highest(history: &Path, prefix: &str) -> u64 {
    numbered(history, prefix).into_iter().max().unwrap_or(0)
}

/// Moves a generation out of the way, and answers where to.
pub(super) fn set_aside(history: &Path, generation: u64, what: &str) -> std::io::Result<PathBuf> {
    let aside = history.join(format!("{what}-{generation}"));
    std::fs::rename(folder(history, generation), &aside).map(|()| aside)
}

/// An empty place in which a successor is prepared.
pub(super) fn workshop(history: &Path) -> std::io::Result<PathBuf> {
    let folder = history.join("next");
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(folder),
    }
}

/// Makes what was prepared the current generation.
pub(super) fn take_over(history: &Path, next: &Path) -> std::io::Result<()> {
    std::fs::File::open(next)?.sync_all()?;
    let current = current(history);
    let is_first = !folder(history, current).exists();
    let generation = if is_first { current } else { current + 1 };
    std::fs::rename(next, folder(history, generation))?;
    std::fs::File::open(history)?.sync_all()
}

/// Removes predecessors, and what a preparation left that was broken off.
pub(super) fn sweep(history: &Path, current: u64) {
    for older in numbered(history, "db-") {
        if older < current {
            let _ = std::fs::remove_dir_all(folder(history, older));
        }
    }
    let _ = workshop(history);
}

/// Removes what was set aside.
pub(super) fn sweep_aside(history: &Path) {
    for what in ["damaged", "older"] {
        for number in numbered(history, &format!("{what}-")) {
            let _ = std::fs::remove_dir_all(history.join(format!("{what}-{number}")));
        }
    }
}

/// The bytes that a folder takes on the disk.
#[must_use]
pub fn size_on_disk(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        Some(if metadata.is_dir() {
            size_on_disk(&entry.path())
        } else {
            metadata.len()
        })
    });
    sizes.sum()
}

/// Whether the disk takes a megabyte. A database that cannot grow looks damaged, and must not be set aside for it.
pub(super) fn disk_is_writable(history: &Path) -> std::io::Result<()> {
    let probe = history.join(format!("probe-{}", std::process::id()));
    let written = std::fs::write(&probe, vec![0u8; 1 << 20])
        .and_then(|()| std::fs::File::open(&probe)?.sync_all());
    let _ = std::fs::remove_file(&probe);
    written
}
