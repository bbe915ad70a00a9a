//! Recording: what the tests of a version leave behind when they run, turned into traces.

pub mod backend;
mod binaries;
mod copies;
mod counting;
mod ear;
mod failure;
pub mod fingerprint;
mod freshness;
pub mod gcov;
mod left_out;
pub mod llvm;
mod looks;
mod made;
mod makers;
pub mod outside;
mod passed_over;
mod placer;
mod plain;
pub mod products;
mod run;
mod session;
mod site;
mod switched;
mod toolchain;
mod trial;
mod uncounted;
mod voices;

use std::collections::BTreeMap;
use std::path::Path;

use crate::history::{Looked, Uncounted};
use crate::trace::{FunctionId, Trace};

pub use counting::{Counting, counting};
pub use failure::failure_of_build;
pub use placer::Placer;
pub use plain::time_plainly;
pub use session::{Done, Session, settings};
pub use switched::{Complaint, Reach, SwitchedBuild};
pub use trial::trial;
pub use uncounted::add_silent;

/// What is known of one run of a test.
#[derive(Debug, Default)]
pub struct Recorded {
    pub trace: Trace,
    /// The binaries that it ran, as far as they count.
    pub binaries: Vec<String>,
    /// Code that it executed and that no function of the tree speaks for: made by macros or by the build.
    pub unplaced: Vec<String>,
    /// What it looked at; nothing, if that is not known.
    pub looked: Option<Looked>,
    /// It left no counters at all.
    pub is_empty: bool,
    /// Why the trace is not enough to skip the test.
    pub doubt: Option<String>,
    /// Binaries that counted and are not there any more.
    pub gone: Vec<Gone>,
    /// How many processes counted in each binary, by its id.
    pub processes: BTreeMap<Vec<u8>, u64>,
}

/// A binary that counted and is not there any more.
#[derive(Debug)]
pub struct Gone {
    pub id: Vec<u8>,
    /// The functions of the tree that have the names of those that it executed.
    pub executed: Vec<FunctionId>,
}

impl Recorded {
    /// The first doubt counts: one is enough.
    fn doubt(&mut self, reason: impl FnOnce() -> String) {
        if self.doubt.is_none() {
            self.doubt = Some(reason());
        }
    }
}

/// A back end at work on one build.
pub trait Recorder: Sync {
    /// The variables that make a test leave its counts in a folder.
    fn environment(&self, folder: &Path) -> Vec<(String, std::ffi::OsString)>;

    /// Reads what a test left in its folder.
    fn read(&self, folder: &Path) -> Recorded;

    /// What programs left elsewhere, because they were started without the variables.
    fn strays(&self) -> Vec<std::path::PathBuf>;

    /// Every function of the tree that was compiled with counters, executed or not.
    fn counted(&self) -> Vec<FunctionId>;

    /// What of the build has no counters, if these symbols are nothing but the system's.
    fn uncounted(&self, brought: &uncounted::Brought<'_>) -> Uncounted;
}
