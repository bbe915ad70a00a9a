//! Which files a test and everything that it starts look at: the kernel asks us about each such system call (seccomp).
//!
//! A filter on the thread that starts a test is inherited by all of the test's processes, whatever they are: static programs,
//! scripts, programs of other languages. It needs no rights, and the calls themselves happen as ever.
//!
//! Not seen: what processes do that no test started; files that the kernel opens for somebody, except interpreters and loaders; a
//! hard link elsewhere to a file in a folder that matters; that a file is written, made or removed; `fstatat` with a name *and*
//! `AT_EMPTY_PATH` in a folder that is open. Where we lack the right to put up a filter as we are, the tests' processes cannot
//! gain rights any more (`PR_SET_NO_NEW_PRIVS`): programs like `sudo` fail in them. A test cannot listen to filters of its own,
//! because the kernel allows one listener.
//!
//! Not perfect: between the moment in which a call begins to wait and the one in which its supervisor takes it in, a few
//! microseconds, a signal whose handler does not ask for `SA_RESTART` makes it fail with `EINTR`. The kernel offers no way around
//! this, but it tells that it happened: [`Seen::disturbed`].

mod calls;
mod examine;
mod filter;
mod interpreter;
mod kernel;
mod notes;
mod places;
mod resolve;
mod seen;
mod supervisor;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use places::Places;
use supervisor::{Followed, Shared, Slot};

pub use seen::Seen;

/// Follows the tests of one run.
pub struct Follow {
    shared: Arc<Shared>,
    obstacle: Option<String>,
}

thread_local! {
    /// A filter is for ever, so the next run on the same thread uses the same one.
    static SLOT: RefCell<Option<Arc<Slot>>> = const { RefCell::new(None) };
}

impl Follow {
    /// Notes what is looked at in these folders.
    #[must_use]
    pub fn below(roots: &[&Path]) -> Self {
        Follow {
            shared: Arc::new(Shared::new(Places::new(roots))),
            obstacle: tried().err().map(|error| in_words(&error)),
        }
    }

    /// Why no test can be followed here, if so.
    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        self.obstacle.clone()
    }

    /// From now on, what this thread starts belongs to this test. The filter stays on the thread for ever.
    pub fn start(&self, test: usize) {
        if self.obstacle.is_some() {
            return;
        }
        let slot = SLOT.with_borrow_mut(|slot| match slot {
            Some(slot) => Some(Arc::clone(slot)),
            // Where it works for one thread, it works for all, or the test is not known.
            None => slot.insert(Slot::install().ok()?).clone().into(),
        });
        if let Some(slot) = slot {
            slot.begin(Followed::new(test, Arc::clone(&self.shared)));
        }
    }

    /// What the test looked at that this thread started, now that its processes have ended; nothing, if that is not known.
    ///
    /// With `leaves_others`, some of them go on for the sake of other tests: what those look at counts for every test.
    #[must_use]
    pub fn end(&self, test: usize, leaves_others: bool) -> Option<Seen> {
        let slot = SLOT.with_borrow(Clone::clone)?;
        let followed = slot.end(leaves_others)?;
        if followed.test != test {
            return None;
        }
        followed.notes().seen()
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

/// Puts up the filter in a thread that does nothing else; on this one it would stay.
fn tried() -> io::Result<()> {
    if SLOT.with_borrow(Option::is_some) {
        return Ok(());
    }
    let filter = filter::program();
    let thread = std::thread::Builder::new().spawn(move || kernel::install(&filter).map(drop))?;
    thread
        .join()
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidInput => "this needs Linux 5.19 or later".to_owned(),
        io::ErrorKind::ResourceBusy => "somebody follows this program itself".to_owned(),
        _ => format!("the system does not let us ({error})"),
    }
}
