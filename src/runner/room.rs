//! How much room a disk has left for builds.

use std::path::Path;

/// The bytes that we may still write where a folder is, or will be.
#[must_use]
pub fn left_on_disk(folder: &Path) -> Option<u64> {
    let above = folder.ancestors().find(|above| above.exists())?;
    let disk = rustix::fs::statvfs(above).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
