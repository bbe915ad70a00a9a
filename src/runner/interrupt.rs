//! Ctrl-C: the first asks everything that runs to end, the second ends it at once.

use std::io;
use std::process::Child;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::error::{Error, Result};

/// A second signal that comes so soon is the first one's echo.
const ECHO: Duration = Duration::from_millis(300);

/// Every group that this process started and waits for, whoever is told of interrupts.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Whether to stop, and the process groups that must know.
#[derive(Debug, Default)]
pub struct Interrupt {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requested: bool,
    running: Vec<(Pid, Sender<Event>)>,
}

/// What the one who waits for a process is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The process ended; it is not reaped yet.
    Ended,
    /// It should be made to end.
    Stop,
}

impl Interrupt {
    /// One that nothing but `request` triggers.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// One that Ctrl-C, SIGTERM and a closed terminal trigger, from now to the end of the process.
    pub fn on_signals() -> Result<Arc<Self>> {
        let cannot = |error: io::Error| Error::new(format!("cannot watch for signals: {error}"));
        let interrupt = Self::new();
        let watched = Arc::clone(&interrupt);
        let ignored = ignored();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let wanted = wanted.filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut signals = Signals::new(wanted).map_err(cannot)?;
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let mut first: Option<Instant> = None;
                for signal in signals.forever() {
                    // Through git, one Ctrl-C arrives twice: from the terminal and from git.
                    let is_echo = first.is_some_and(|first| first.elapsed() < ECHO);
                    first.get_or_insert_with(Instant::now);
                    if is_echo {
                        continue;
                    }
                    if watched.is_requested() {
                        let _killed = watched.kill();
                        // So that our parent sees what ended us.
                        let _ = emulate_default_handler(signal);
                    }
                    watched.request();
                }
            })
            .map_err(cannot)?;
        Ok(interrupt)
    }

    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.state().requested
    }

    /// Asks to stop: nothing starts any more, what runs is made to end.
    pub fn request(&self) {
        let mut state = self.state();
        state.requested = true;
        for (_, waiting) in &state.running {
            // Who no longer waits has nothing to end.
            let _ = waiting.send(Event::Stop);
        }
    }

    /// Ends every group that runs, without a last word. Who waits for one does not go on while the state is held: a test that we
    /// killed would be told as one that failed.
    fn kill(&self) -> MutexGuard<'_, State> {
        let state = self.state();
        for (group, _) in &state.running {
            let _ = kill_process_group(*group, Signal::KILL);
        }
        state
    }

    /// Starts a process group. No interrupt comes between its start and its being known.
    pub(super) fn start(
        &self,
        waiting: &Sender<Event>,
        spawn: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<(Child, Running<'_>)> {
        let mut groups = groups();
        let mut state = self.state();
        let child = spawn()?;
        let group = Pid::from_child(&child);
        groups.push(group);
        if state.requested {
            let _ = waiting.send(Event::Stop);
        }
        state.running.push((group, waiting.clone()));
        drop(state);
        Ok((
            child,
            Running {
                group,
                interrupt: self,
            },
        ))
    }

    /// The state is a flag and a list, whole after any panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The groups that run. Who holds them keeps others from starting.
pub(super) fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The signals that whoever started us, nohup for instance, wants to be ignored; one bit each.
fn ignored() -> u64 {
    // Only Linux tells.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .unwrap_or(0)
}

/// A group that an interrupt reaches, until it is dropped.
pub(super) struct Running<'a> {
    pub(super) group: Pid,
    interrupt: &'a Interrupt,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        groups().retain(|group| *group != self.group);
        let mut state = self.interrupt.state();
        state.running.retain(|(group, _)| *group != self.group);
    }
}
