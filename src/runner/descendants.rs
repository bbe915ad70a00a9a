//! What a test started and let go into a session of its own: found, and ended with the test.
//!
//! Such a process has left the test's process group, so only its parent could tell whose it is, and that is gone.
//! On Linux orphans can be made ours, and a mark in their environment tells which test they come from.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The variable that carries a mark.
const VARIABLE: &str = "GIT_RTS_RUN";

/// One run of one test.
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Mark(format!("{}-{number}", std::process::id()))
    }

    pub(super) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Waits a little for what the run left behind, then kills it; answers whether it had to.
    ///
    /// A process that wrote over its environment may belong to any run: it counts, but it is only
    /// killed when no other test that may need it is running.
    #[cfg(target_os = "linux")]
    pub(super) fn end_descendants(&self, patience: Duration) -> bool {
        let begin = Instant::now();
        loop {
            let groups = super::interrupt::groups();
            let mut found = linux::orphans(&groups);
            found.retain(|(_, mark)| mark.as_ref().is_none_or(|mark| *mark == self.0));
            if found.is_empty() {
                return false;
            }
            if begin.elapsed() >= patience {
                for (process, mark) in found {
                    if mark.is_some() || groups.len() == 1 {
                        linux::end(process);
                    }
                }
                return true;
            }
            drop(groups);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the run left something behind.
    #[cfg(target_os = "linux")]
    pub(super) fn has_descendants(&self) -> bool {
        let found = linux::orphans(&super::interrupt::groups());
        found
            .iter()
            .any(|(_, mark)| mark.as_ref().is_none_or(|mark| *mark == self.0))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn has_descendants(&self) -> bool {
        false
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn end_descendants(&self, _: Duration) -> bool {
        false
    }
}

/// Makes orphans among our descendants our children.
#[cfg(target_os = "linux")]
pub(super) fn adopt() {
    use std::sync::Once;
    static ONCE: Once = Once::new();
    // Where it is refused, descendants in sessions of their own are not found.
    ONCE.call_once(|| {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    });
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() {}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{
        Pid, Signal, WaitOptions, getpgid, getpgrp, kill_process, kill_process_group, waitpid,
    };

    use super::VARIABLE;

    /// Our children that we did not start, with their marks: not in our process group, nor in one of those that run.
    pub(super) fn orphans(groups: &[Pid]) -> Vec<(Pid, Option<String>)> {
        let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
            return Vec::new();
        };
        let mut orphans = Vec::new();
        for thread in threads.flatten() {
            let children = std::fs::read_to_string(thread.path().join("children"));
            for word in children.unwrap_or_default().split_ascii_whitespace() {
                let process = word.parse().ok().and_then(Pid::from_raw);
                let group = process.and_then(|process| getpgid(Some(process)).ok());
                if let (Some(process), Some(group)) = (process, group)
                    && group != getpgrp()
                    && !groups.contains(&group)
                    // One that has ended is only reaped.
                    && matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(None))
                {
                    orphans.push((process, mark_of(process)));
                }
            }
        }
        orphans
    }

    /// The mark in the environment that a process was started with.
    fn mark_of(process: Pid) -> Option<String> {
        let file = format!("/proc/{}/environ", process.as_raw_nonzero());
        let environment = std::fs::read(file).ok()?;
        let mut entries = environment.split(|byte| *byte == 0);
        let mark = entries
            .find_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))?;
        Some(String::from_utf8_lossy(mark).into_owned())
    }

    pub(super) fn end(process: Pid) {
        if getpgid(Some(process)) == Ok(process) {
            let _ = kill_process_group(process, Signal::KILL);
        }
        let _ = kill_process(process, Signal::KILL);
        let _ = waitpid(Some(process), WaitOptions::empty());
    }
}
