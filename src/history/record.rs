//! The words of a history: which version, which test, how it went.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::looked::Looked;
use crate::digest::{Name, Names};
use crate::lang::facts::MadeFacts;
use crate::order::owed::Debt;
use crate::repo::{CommitId, RepoPath, TreeId};
use crate::trace::FunctionId;

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

impl Outcome {
    /// Whether there is no need to run the test again.
    #[must_use]
    pub fn is_fine(self) -> bool {
        matches!(self, Outcome::Passed | Outcome::Skipped)
    }

    /// For people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
            Outcome::TimedOut => "timed out",
            Outcome::Crashed => "crashed",
            Outcome::NotRun => "not run",
        }
    }
}

/// What is known about one test besides its trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRecord {
    pub name: String,
    pub outcome: Outcome,
    pub milliseconds: u64,
    /// That it was selected and has not run since.
    pub owed: Option<Debt>,
    /// What commits owe that were let through without it: versions that contain one of them owe this, and no others.
    pub let_through: BTreeMap<CommitId, Debt>,
    /// What defines the test, in the runner's encoding. This room only compares it.
    pub definition: Vec<u8>,
    /// The binaries it ran.
    pub binaries: Vec<String>,
    /// What it executed that no function of the tree speaks for.
    pub unplaced: Vec<String>,
    /// Nothing, if that is not known.
    pub looked: Option<Looked>,
    /// Why its trace is not enough to skip it.
    pub doubt: Option<String>,
    /// Why its trace does not tell what a change of C does to it, though the compiled code does.
    pub beyond_trace: Option<BeyondTrace>,
    /// It ended in different ways on the same tree; how often it has passed since.
    pub flaky: Option<u32>,
    /// It did different things on the same tree: its trace was widened by all that it could reach.
    pub varies: bool,
    /// Where it last ran. On another version than the history's own, the trace was carried over.
    pub ran_on: VersionKey,
}

/// Why a trace is not enough for a change of C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BeyondTrace {
    /// Its source was written in another way since the test ran: who executed what is not known any more.
    Rewritten,
    /// The test reads compiled code of the build, here, and does not only run it.
    Reads(String),
}

impl Display for BeyondTrace {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BeyondTrace::Rewritten => out.write_str(
                "its source was written in another way since it ran, with the same compiled code",
            ),
            BeyondTrace::Reads(code) => write!(out, "it reads '{code}', which is compiled code"),
        }
    }
}

impl TestRecord {
    /// A test of which nothing is known but what it is.
    #[must_use]
    pub fn unknown(name: &str, definition: Vec<u8>, version: VersionKey) -> Self {
        TestRecord {
            name: name.to_owned(),
            outcome: Outcome::NotRun,
            milliseconds: 0,
            owed: None,
            let_through: BTreeMap::new(),
            definition,
            binaries: Vec::new(),
            unplaced: Vec::new(),
            looked: None,
            doubt: None,
            beyond_trace: None,
            flaky: None,
            varies: false,
            ran_on: version,
        }
    }
}

/// What holds for a whole history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Toolchain and environment, by name.
    pub fingerprint: BTreeMap<String, String>,
    /// What the build holds that has no counters.
    pub uncounted: Uncounted,
    /// The files of the tree that were opened to build it and to list its tests; nothing, if that is not known.
    pub opened_by_build: Option<BTreeSet<RepoPath>>,
    /// What the build said in C that is not in the tree.
    pub made: Vec<MadeFacts>,
    /// What was read from outside of the tree to build it.
    pub outside: Outside,
    /// What ran while the project was built. It counts for every test, though the test did not execute it.
    pub executed_by_build: BTreeSet<FunctionId>,
    /// Counts the sessions on the way to this version.
    pub session: u64,
    /// Some tests were not recorded: the recording was stopped, or only some were asked for.
    pub partial: bool,
    /// The version of the front end whose graphs number the edges.
    pub front_end: u32,
    /// When it was recorded, in milliseconds since 1970: two of one second have an order.
    pub created: u64,
}

/// The headers that a build read from outside of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Each with a digest.
    pub headers: BTreeMap<String, u64>,
    /// The files that they include or ask for, by their names as in the tree.
    pub names: Names,
}

impl Outside {
    /// Whether one of these headers may include a file of the tree: who reads the tree alone does not see that.
    #[must_use]
    pub fn may_include(&self, path: &RepoPath) -> bool {
        Name::as_included(path.as_bytes()).any(|name| self.names.contains(name))
    }
}

impl About {
    /// Whether Rust was recorded, of which C may be a part: who reads C does not see who uses it there.
    #[must_use]
    pub fn is_of_rust(&self) -> bool {
        let backend = self.fingerprint.get("backend");
        backend.is_some_and(|backend| backend == "rustc")
    }

    /// Whether some code that the build made has no counters.
    #[must_use]
    pub fn has_uncounted_made(&self) -> bool {
        let Uncounted {
            symbols, counted, ..
        } = &self.uncounted;
        let mut silent = symbols.difference(counted);
        silent.any(|symbol| {
            let name = Name::of(symbol.as_bytes());
            self.made.iter().any(|made| made.functions.contains(name))
        })
    }
}

/// Compiled code without counters: what it did is in no trace, so anybody may have executed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncounted {
    /// The functions of the binaries, by their symbols, that have no counters.
    pub symbols: BTreeSet<String>,
    /// Those of them that count all the same, though nobody knows for which function of the tree.
    pub counted: BTreeSet<String>,
    /// Why the symbols do not tell everything.
    pub blind: Option<String>,
}

impl Uncounted {
    /// What two parts of a build hold; of what keeps both from telling everything, the first is told.
    #[must_use]
    pub fn and(mut self, other: Uncounted) -> Self {
        self.symbols.extend(other.symbols);
        self.counted.extend(other.counted);
        self.blind = self.blind.or(other.blind);
        self
    }

    /// Whether all code under a symbol would have told that it was executed.
    #[must_use]
    pub fn counts(&self, symbol: &str) -> bool {
        self.blind.is_none() && (!self.symbols.contains(symbol) || self.counted.contains(symbol))
    }

    /// Whether the build may hold a function of this name, made without counters; its name as the source has it, which may be
    /// an invocation of a macro. `is_known` tells that it counts somewhere.
    #[must_use]
    pub fn may_hold(&self, name: &str, is_known: bool) -> bool {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if self.blind.is_some() || self.symbols.contains(name) {
            return true;
        }
        if is_known || name.chars().all(is_word) {
            return false;
        }
        // A macro makes the symbol of its arguments.
        let mut words = name
            .split(|letter| !is_word(letter))
            .filter(|word| word.len() > 2);
        words.any(|word| self.symbols.iter().any(|symbol| symbol.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_counters_is_known_by_its_symbol() {
        let mut uncounted = Uncounted::default();
        assert!(!uncounted.may_hold("naked", false));
        uncounted.symbols.insert("naked".to_owned());
        uncounted.symbols.insert("test_parse_run".to_owned());
        assert!(uncounted.may_hold("naked", false) && !uncounted.may_hold("nak", false));
        assert!(
            uncounted.may_hold("TEST(parse)", false) && !uncounted.may_hold("TEST(print)", false)
        );
        uncounted.blind = Some("a binary is stripped".to_owned());
        assert!(uncounted.may_hold("anything", false));
    }
}
