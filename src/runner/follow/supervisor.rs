//! The thread that hears of the calls of a test, notes what they look at, and lets them happen.
//!
//! Each thread that runs tests has one of its own, so that what it hears belongs to the test which that thread runs. It ends when
//! nobody with the filter is left; before Linux 6.11 nobody tells it, and it waits until the program ends. So whoever outlives
//! its test goes on undisturbed as long as this program lives. Later its calls fail as if the kernel did not have them: what
//! must not happen to it has to be ended before.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::examine::{Lost, examine};
use super::kernel::Heard;
use super::notes::{Finding, Notes};
use super::places::Places;
use super::{filter, kernel};

/// More of this, and nobody knows what belongs to whom.
const MOST_STRAYS: usize = 100_000;

/// What all threads of one run have in common.
pub(super) struct Shared {
    pub(super) places: Places,
    /// What processes looked at that work for more than one test.
    strays: Mutex<Strays>,
    pub(super) is_over: AtomicBool,
}

#[derive(Default)]
struct Strays {
    findings: Vec<Finding>,
    are_lost: bool,
}

/// A test that is being followed.
pub(super) struct Followed {
    pub(super) test: usize,
    shared: Arc<Shared>,
    notes: Notes,
    /// How many strays there were when it began.
    strays: usize,
    /// Whether a thread is one of ours.
    threads: FxHashMap<u32, bool>,
}

/// What a thread that runs tests and its supervisor know of each other.
pub(super) struct Slot {
    state: Mutex<State>,
    thread: u32,
}

#[derive(Default)]
struct State {
    current: Option<Followed>,
    /// An earlier test left something running, for others: what it looks at is everybody's.
    haunted: Option<Arc<Shared>>,
}

impl Shared {
    pub(super) fn new(places: Places) -> Self {
        Shared {
            places,
            strays: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    fn strays(&self) -> MutexGuard<'_, Strays> {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    pub(super) fn new(test: usize, shared: Arc<Shared>) -> Self {
        let strays = shared.strays().findings.len();
        Followed {
            test,
            notes: Notes::default(),
            strays,
            threads: FxHashMap::default(),
            shared,
        }
    }

    /// What it looked at, with whatever may have done so for it.
    pub(super) fn notes(mut self) -> Notes {
        let strays = self.shared.strays();
        for stray in strays.findings.get(self.strays..).unwrap_or_default() {
            self.notes.add(stray, &self.shared.places);
        }
        self.notes.is_broken |= strays.are_lost;
        drop(strays);
        self.notes
    }
}

impl Slot {
    /// Puts the filter on this thread, and starts its supervisor, which does not have it.
    pub(super) fn install() -> io::Result<Arc<Self>> {
        let slot = Arc::new(Slot {
            state: Mutex::default(),
            thread: kernel::this_thread(),
        });
        let (sender, listener) = channel::<OwnedFd>();
        let supervised = Arc::clone(&slot);
        std::thread::Builder::new()
            .name("follow".to_owned())
            .spawn(move || {
                if let Ok(listener) = listener.recv() {
                    supervised.serve(&listener);
                }
            })?;
        let filter = filter::program();
        // From here to the hand-over, this thread must not make a call that the filter picks.
        let listener = kernel::install(&filter)?;
        let _ = sender.send(listener);
        Ok(slot)
    }

    pub(super) fn begin(&self, followed: Followed) {
        self.state().current = Some(followed);
    }

    /// Waits for what is being noted.
    pub(super) fn end(&self, leaves_others: bool) -> Option<Followed> {
        let mut state = self.state();
        let followed = state.current.take()?;
        if leaves_others {
            state.haunted = Some(Arc::clone(&followed.shared));
        }
        Some(followed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, listener: &OwnedFd) {
        let listener = listener.as_fd();
        kernel::take_turns(listener);
        let mut findings = Vec::new();
        loop {
            let call = match kernel::receive(listener) {
                Heard::Call(call) => call,
                Heard::Broken => {
                    if let Some(followed) = &mut self.state().current {
                        followed.notes.is_disturbed = true;
                    }
                    continue;
                }
                Heard::End => return,
            };
            let mut state = self.state();
            let result = if call.thread == self.thread {
                Ok(())
            } else {
                state.examine(&call, &mut findings)
            };
            // Who was killed meanwhile has looked at nothing, and another may have had its number while we read its memory.
            if kernel::let_happen(listener, call.id) {
                state.note(&findings, result.is_err());
            }
            drop(state);
            findings.clear();
        }
    }
}

impl State {
    fn examine(&mut self, call: &kernel::Call, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        let is_ours = |thread: u32| {
            let entry = format!("/proc/self/task/{thread}");
            std::fs::symlink_metadata(entry).is_ok()
        };
        if let Some(followed) = &mut self.current {
            let known = followed.threads.entry(call.thread);
            if *known.or_insert_with(|| is_ours(call.thread)) {
                return Ok(());
            }
            return examine(call, &followed.shared.places, findings);
        }
        match &self.haunted {
            Some(shared) if !shared.is_over.load(Ordering::Relaxed) && !is_ours(call.thread) => {
                examine(call, &shared.places, findings)
            }
            _ => Ok(()),
        }
    }

    fn note(&mut self, findings: &[Finding], is_lost: bool) {
        if let Some(followed) = &mut self.current {
            for finding in findings {
                followed.notes.add(finding, &followed.shared.places);
            }
            followed.notes.is_broken |= is_lost;
        }
        if let Some(shared) = &self.haunted {
            let mut strays = shared.strays();
            strays.findings.extend_from_slice(findings);
            strays.are_lost |= is_lost || strays.findings.len() > MOST_STRAYS;
        }
    }
}
