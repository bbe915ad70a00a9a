//! What a session that was killed left running: it would go on building and testing in the folders of the next one.

use std::ffi::OsStr;

/// Ends every process that was started with a variable of this value; whoever calls this knows that nobody needs them.
#[cfg(target_os = "linux")]
pub fn end_survivors(variable: &str, value: &OsStr) {
    use std::time::{Duration, Instant};

    let entry = [variable.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    let begin = Instant::now();
    // One that starts others while we look is found the next time.
    while linux::end_all(&entry) && begin.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(not(target_os = "linux"))]
pub fn end_survivors(_: &str, _: &OsStr) {}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    /// Ends those that are there now; answers whether there were any.
    pub(super) fn end_all(entry: &[u8]) -> bool {
        let mut found = false;
        for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let number = process.file_name().to_string_lossy().parse().ok();
            let Some(number) = number.and_then(Pid::from_raw) else {
                continue;
            };
            // Held before it is looked at: another process may get its number in between.
            let Ok(handle) = pidfd_open(number, PidfdFlags::empty()) else {
                continue;
            };
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            let mut entries = environment.split(|byte| *byte == 0);
            if number != getpid() && entries.any(|own| own == entry) {
                found |= pidfd_send_signal(&handle, Signal::KILL).is_ok();
            }
        }
        found
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_processes_with_the_value_are_ended() {
        let start = |value: &str| {
            let mut command = Command::new("sleep");
            command.arg("60").env("GIT_RTS_SURVIVOR_TEST", value);
            command.spawn().expect("there is a 'sleep'")
        };
        let (mut ours, mut other) = (start("ours"), start("ours too"));
        // The environment is there once the program runs.
        std::thread::sleep(std::time::Duration::from_millis(100));
        end_survivors("GIT_RTS_SURVIVOR_TEST", OsStr::new("ours"));
        let ended = ours.wait().expect("it is our child");
        assert_eq!(ended.code(), None, "it was killed");
        assert!(other.try_wait().expect("it is our child").is_none());
        other.kill().expect("it runs");
        other.wait().expect("it is our child");
    }
}
