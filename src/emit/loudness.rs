//! How much people want to be told on stderr.

use std::sync::atomic::{AtomicU8, Ordering};

const QUIET: u8 = 1;
const VERBOSE: u8 = 2;

/// One for the process, like stderr itself.
static LOUDNESS: AtomicU8 = AtomicU8::new(0);

/// Says it once, before anything else is said.
pub fn set(quiet: bool, verbose: bool) {
    let loudness = match (quiet, verbose) {
        (true, _) => QUIET,
        (_, true) => VERBOSE,
        _ => 0,
    };
    LOUDNESS.store(loudness, Ordering::Relaxed);
}

/// Whether only failures and warnings are told.
#[must_use]
pub fn is_quiet() -> bool {
    LOUDNESS.load(Ordering::Relaxed) == QUIET
}

/// Whether each test is told of.
#[must_use]
pub fn is_verbose() -> bool {
    LOUDNESS.load(Ordering::Relaxed) == VERBOSE
}
