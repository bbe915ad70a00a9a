//! That the last build failed, kept for whoever asks later: what is in the workshop then does not tell.

use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::workshop::Workshop;

fn file(workshop: &Workshop) -> PathBuf {
    workshop.build.with_extension("failed")
}

/// Keeps why a build failed. One that somebody stopped did not.
pub(super) fn note(workshop: &Workshop, error: &Error) {
    if error.exit_code != ExitCode::Interrupted {
        let _ = fs::write(file(workshop), &error.message);
    }
}

pub(super) fn forget(workshop: &Workshop) {
    let _ = fs::remove_file(file(workshop));
}

/// Why the last build failed, if it did.
#[must_use]
pub fn failure_of_build(workshop: &Workshop) -> Option<String> {
    fs::read_to_string(file(workshop)).ok()
}
