//! The words of a history: which version, which test, how it went.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::repo::{CommitId, TreeId};

/// The version that a history belongs to. Uncommitted work has a tree but no commit; committing it leaves the tree the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VersionKey {
    pub commit: Option<CommitId>,
    pub tree: TreeId,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
    TimedOut,
    Crashed,
    NotRun,
}

/// What is known about one test besides its trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRecord {
    pub name: String,
    pub outcome: Outcome,
    pub milliseconds: u64,
    /// What defines the test, in the runner's encoding. This room only compares it.
    pub definition: Vec<u8>,
    /// The binaries it ran.
    pub binaries: Vec<String>,
    /// What it executed that no function of the tree speaks for.
    pub unplaced: Vec<String>,
    /// Why its trace is not enough to skip it.
    pub doubt: Option<String>,
    /// Where it last ran. On another version than the history's own, the trace was carried over.
    pub ran_on: VersionKey,
}

/// What holds for a whole history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Toolchain and environment, by name.
    pub fingerprint: BTreeMap<String, String>,
    /// Some tests were not recorded: the recording was stopped, or only some were asked for.
    pub partial: bool,
    /// The version of the front end whose graphs number the edges.
    pub front_end: u32,
    /// When it was recorded, in seconds since 1970.
    pub created: u64,
}
