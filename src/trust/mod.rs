//! Whether selection can be trusted: who was selected beside who behaved differently.
//!
//! One comparison for `replay`, `audit`, shadow mode and the canary.

pub mod bound;
pub mod score;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::Outcome;

/// What one test did beside one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    pub name: String,
    pub selected: bool,
    /// How it ended before the change; nothing for a test that is new.
    pub before: Option<Outcome>,
    pub after: Outcome,
    pub milliseconds: u64,
    /// It ended in another way when it ran again on the same tree.
    pub flaky: bool,
    /// Whether it did something else than before, as far as traces tell, or reached what is changed; nothing where nobody knows.
    pub moved: Option<bool>,
}

/// What a test says about a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It ended as before.
    Unchanged,
    /// It ended in another way, and was selected.
    Caught,
    /// It ended in another way, and was skipped.
    Missed,
    /// It ends in different ways whatever changes, and says nothing.
    Flaky,
}

impl Observed {
    #[must_use]
    pub fn judge(&self) -> Judgement {
        let is_noticed = match self.before {
            Some(before) => before != self.after,
            // What a new test would have done before nobody knows; it fails now.
            None => !self.after.is_fine(),
        };
        match (is_noticed, self.selected) {
            _ if self.flaky => Judgement::Flaky,
            (false, _) => Judgement::Unchanged,
            (true, true) => Judgement::Caught,
            (true, false) => Judgement::Missed,
        }
    }
}

/// One change with all tests: a commit of a replay, a mutant of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The commit, or the place of the mutant.
    pub change: String,
    /// Its subject, or what the mutant changes.
    pub title: String,
    /// Why nothing could be compared: it does not build, for instance.
    pub obstacle: Option<String>,
    /// Why everything was selected, if so.
    pub everything: Option<String>,
    pub times: Times,
    pub tests: Vec<Observed>,
    /// How many tests reach what is changed, where that was seen and not concluded from traces.
    #[serde(default)]
    pub reaching: Option<usize>,
    /// The full story of each test that was missed: its certificate, and what it printed.
    pub stories: BTreeMap<String, String>,
}

/// How long the parts of a trial took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub build: u64,
    /// From the build to the plan.
    pub analysis: u64,
    /// The selected tests.
    pub selected: u64,
    /// All tests.
    pub all: u64,
    /// A build with nothing of ours in it and all tests, where that was measured.
    #[serde(default)]
    pub plain: Option<u64>,
}

impl Times {
    #[must_use]
    pub fn and(self, other: Times) -> Times {
        Times {
            build: self.build + other.build,
            analysis: self.analysis + other.analysis,
            selected: self.selected + other.selected,
            all: self.all + other.all,
            plain: self.plain.zip(other.plain).map(|(one, two)| one + two),
        }
    }

    /// From the beginning of the build to the end of the last selected test.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.build + self.analysis + self.selected
    }

    /// The time of a run as a share of the time of running everything, with the build in both.
    #[must_use]
    pub fn with_build(&self) -> Option<f64> {
        ratio(self.run(), self.build + self.all)
    }

    /// The same, beside a build with nothing of ours in it and all of its tests.
    #[must_use]
    pub fn beside_plain(&self) -> Option<f64> {
        ratio(self.run(), self.plain?)
    }

    /// The same, without the build.
    #[must_use]
    pub fn without_build(&self) -> Option<f64> {
        ratio(self.analysis + self.selected, self.all)
    }
}

impl Trial {
    /// A change of which nothing can be said.
    #[must_use]
    pub fn stopped(change: String, title: String, obstacle: String) -> Self {
        Trial {
            change,
            title,
            obstacle: Some(obstacle),
            everything: None,
            times: Times::default(),
            tests: Vec::new(),
            reaching: None,
            stories: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn selected(&self) -> usize {
        self.tests.iter().filter(|test| test.selected).count()
    }

    /// It was seen that no test comes to what is changed.
    #[must_use]
    pub fn is_unreached(&self) -> bool {
        self.reaching == Some(0)
    }

    /// The tests that say this of the selection.
    pub fn judged(&self, judgement: Judgement) -> impl Iterator<Item = &Observed> {
        let tests = self.tests.iter();
        tests.filter(move |test| test.judge() == judgement)
    }

    /// Every test was selected, whatever the reason.
    #[must_use]
    pub fn selects_all(&self) -> bool {
        !self.tests.is_empty() && self.selected() == self.tests.len()
    }
}

/// A part of a whole that is there.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(selected: bool, before: Option<Outcome>, after: Outcome) -> Observed {
        Observed {
            name: "t".to_owned(),
            selected,
            before,
            after,
            milliseconds: 1,
            flaky: false,
            moved: None,
        }
    }

    #[test]
    fn a_skipped_test_that_ends_in_another_way_is_missed() {
        let passed = Some(Outcome::Passed);
        let judge = |selected, before, after| observed(selected, before, after).judge();
        assert_eq!(judge(false, passed, Outcome::Failed), Judgement::Missed);
        assert_eq!(judge(false, passed, Outcome::Skipped), Judgement::Missed);
        assert_eq!(judge(true, passed, Outcome::Crashed), Judgement::Caught);
        assert_eq!(judge(false, passed, Outcome::Passed), Judgement::Unchanged);
        let failed = Some(Outcome::Failed);
        assert_eq!(judge(true, failed, Outcome::Failed), Judgement::Unchanged);
    }

    #[test]
    fn a_new_test_is_noticed_only_if_it_fails() {
        let new = |after| observed(true, None, after).judge();
        assert_eq!(new(Outcome::Passed), Judgement::Unchanged);
        assert_eq!(new(Outcome::TimedOut), Judgement::Caught);
    }

    #[test]
    fn a_flaky_test_is_no_miss() {
        let mut test = observed(false, Some(Outcome::Passed), Outcome::Failed);
        test.flaky = true;
        assert_eq!(test.judge(), Judgement::Flaky);
    }
}
