//! Tests that nobody waits for: whoever takes many times as long as ever before hangs.

use std::ffi::OsString;
use std::time::Duration;

use crate::runner::Launch;

/// A test that takes so many times as long as it ever did does not end.
const HANGS: u32 = 20;
const HANGS_NOT_BEFORE: Duration = Duration::from_secs(3);

/// Keeps a test that is known to take so long from running for ever, and from filling the disk meanwhile.
///
/// A process that only turns in circles is ended earlier, by the time that it computes: no other work on the machine adds to that.
pub(super) fn hurry(launch: &mut Launch, known: Duration) {
    let longest = known.saturating_mul(HANGS);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let computing = longest.saturating_mul(u32::try_from(processors).unwrap_or(1));
    let computing = computing.as_secs().saturating_add(1);
    let longest = longest.max(HANGS_NOT_BEFORE);
    let own = launch.timeout.unwrap_or(longest);
    launch.timeout = Some(own.min(longest));
    // Nor does it leave its memory behind when it crashes.
    let bounds = format!("ulimit -c 0; ulimit -f 2097152; ulimit -t {computing}; exec \"$@\"");
    let mut command: Vec<OsString> = ["sh", "-c", &bounds, "sh"].map(OsString::from).to_vec();
    command.append(&mut launch.command);
    launch.command = command;
}
