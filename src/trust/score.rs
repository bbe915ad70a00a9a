//! What many trials say together: recall by change and by test, precision, time saved.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::bound::upper_bound;
use super::{Judgement, Times, Trial, ratio};

/// The sum of some trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Score {
    /// Changes that could be compared, and those that could not.
    pub changes: usize,
    pub stopped: usize,
    /// Changes of which it was seen who reaches them, and those that nobody does.
    pub seen: usize,
    pub unreached: usize,
    /// Runs of tests, the selected ones among them.
    pub tests: usize,
    pub selected: usize,
    /// The mean over the changes of the share of tests that were selected.
    pub mean_share: Option<f64>,
    /// Changes that selected every test, by the reason, and how many.
    pub everything: BTreeMap<String, usize>,
    pub selecting_all: usize,
    /// Changes that some test noticed, and those of them that a selected test noticed.
    pub noticed: usize,
    pub caught: usize,
    /// The same in tests.
    pub noticing: usize,
    pub noticing_selected: usize,
    /// Tests that ended in another way though they were skipped: the change and the test.
    pub missed: Vec<(String, String)>,
    /// Changes with such a test.
    pub missing: usize,
    /// Tests that end in different ways on one tree.
    pub flaky: BTreeSet<String>,
    /// Selected tests whose trace tells whether they did something else, and those that did.
    pub known_to_move: usize,
    pub moved: usize,
    /// Skipped tests that ended as before and yet did something else.
    pub strayed: Vec<(String, String)>,
    pub times: Times,
}

/// Why a change selected everything where no single reason says so.
const EACH_FOR_ITSELF: &str = "each test for reasons of its own";

#[must_use]
pub fn score(trials: &[Trial]) -> Score {
    let mut score = Score::default();
    // Nothing, as soon as one of them was not measured.
    score.times.plain = Some(0);
    let mut shares = 0.0;
    for trial in trials {
        if trial.obstacle.is_some() {
            score.stopped += 1;
            continue;
        }
        score.add(trial);
        shares += ratio(trial.selected() as u64, trial.tests.len() as u64).unwrap_or(0.0);
    }
    score.mean_share = (score.changes > 0).then(|| shares / score.changes as f64);
    score
}

impl Score {
    fn add(&mut self, trial: &Trial) {
        self.changes += 1;
        self.seen += usize::from(trial.reaching.is_some());
        self.unreached += usize::from(trial.is_unreached());
        self.tests += trial.tests.len();
        self.selected += trial.selected();
        self.times = self.times.and(trial.times);
        if trial.selects_all() {
            self.selecting_all += 1;
            let reason = trial.everything.as_deref().unwrap_or(EACH_FOR_ITSELF);
            *self.everything.entry(reason.to_owned()).or_default() += 1;
        }
        let caught = trial.judged(Judgement::Caught).count();
        let missed = trial.judged(Judgement::Missed);
        let missed: Vec<_> = missed
            .map(|test| (trial.change.clone(), test.name.clone()))
            .collect();
        self.noticing += caught + missed.len();
        self.noticing_selected += caught;
        self.noticed += usize::from(caught + missed.len() > 0);
        self.caught += usize::from(caught > 0);
        self.missing += usize::from(!missed.is_empty());
        self.missed.extend(missed);
        let flaky = trial.judged(Judgement::Flaky);
        self.flaky.extend(flaky.map(|test| test.name.clone()));
        for test in trial.tests.iter().filter(|test| !test.flaky) {
            match (test.selected, test.moved) {
                (true, Some(moved)) => {
                    self.known_to_move += 1;
                    self.moved += usize::from(moved || test.judge() == Judgement::Caught);
                }
                (false, Some(true)) if test.judge() == Judgement::Unchanged => {
                    let strayed = (trial.change.clone(), test.name.clone());
                    self.strayed.push(strayed);
                }
                _ => {}
            }
        }
    }

    /// The share of the noticed changes that a selected test noticed (Chromium's change recall).
    #[must_use]
    pub fn change_recall(&self) -> Option<f64> {
        ratio(self.caught as u64, self.noticed as u64)
    }

    /// The share of the tests that noticed something which were selected (Chromium's test recall).
    #[must_use]
    pub fn test_recall(&self) -> Option<f64> {
        ratio(self.noticing_selected as u64, self.noticing as u64)
    }

    /// The share of the selected tests that did something else, or ended in another way.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        ratio(self.moved as u64, self.known_to_move as u64)
    }

    /// The changes with a missed test among those that a test noticed, and how large their share may be all the same.
    #[must_use]
    pub fn miss_rate(&self) -> (usize, Option<f64>) {
        (self.missing, upper_bound(self.missing, self.noticed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Outcome::{self, Failed, Passed};
    use crate::trust::Observed;

    fn test(name: &str, selected: bool, after: Outcome, moved: bool) -> Observed {
        Observed {
            name: name.to_owned(),
            selected,
            before: Some(Passed),
            after,
            milliseconds: 10,
            flaky: false,
            moved: Some(moved),
        }
    }

    fn trial(change: &str, tests: Vec<Observed>) -> Trial {
        Trial {
            obstacle: None,
            tests,
            times: Times {
                build: 100,
                analysis: 10,
                selected: 20,
                all: 100,
                plain: Some(160),
            },
            ..Trial::stopped(change.to_owned(), String::new(), String::new())
        }
    }

    #[test]
    fn recall_is_told_by_change_and_by_test() {
        let trials = [
            trial(
                "one",
                vec![
                    test("a", true, Failed, true),
                    test("b", false, Failed, true),
                    test("c", false, Passed, false),
                ],
            ),
            trial("two", vec![test("a", false, Failed, true)]),
            trial("three", vec![test("a", true, Passed, false)]),
            Trial::stopped("four".to_owned(), String::new(), "no".to_owned()),
        ];
        let score = score(&trials);
        assert_eq!((score.changes, score.stopped), (3, 1));
        assert_eq!(score.change_recall(), Some(0.5));
        assert_eq!(score.test_recall(), Some(1.0 / 3.0));
        assert_eq!(score.precision(), Some(0.5));
        assert_eq!(score.miss_rate().0, 2);
        assert_eq!(score.selecting_all, 1);
        assert_eq!(score.everything[EACH_FOR_ITSELF], 1);
        assert_eq!(score.times.without_build(), Some(0.3));
        assert_eq!(score.times.with_build(), Some(390.0 / 600.0));
        assert_eq!(score.times.beside_plain(), Some(390.0 / 480.0));
    }

    #[test]
    fn one_change_without_a_plain_build_leaves_no_sum_of_them() {
        let mut trials = [trial("one", vec![]), trial("two", vec![])];
        assert!(score(&trials).times.beside_plain().is_some());
        trials[1].times.plain = None;
        assert_eq!(score(&trials).times.beside_plain(), None);
        assert_eq!(score(&[]).times.beside_plain(), None);
    }

    #[test]
    fn what_nobody_reaches_is_counted_where_it_was_seen() {
        let mut trials = [
            trial("one", vec![]),
            trial("two", vec![]),
            trial("three", vec![]),
        ];
        trials[1].reaching = Some(0);
        trials[2].reaching = Some(2);
        let score = score(&trials);
        assert_eq!((score.seen, score.unreached), (2, 1));
    }

    #[test]
    fn who_was_skipped_and_did_something_else_is_named() {
        let trials = [trial("one", vec![test("a", false, Passed, true)])];
        let score = score(&trials);
        assert_eq!(score.strayed, [("one".to_owned(), "a".to_owned())]);
        assert!(score.missed.is_empty());
        assert_eq!(score.test_recall(), None);
    }

    #[test]
    fn who_is_flaky_says_nothing() {
        let mut flaky = test("a", false, Failed, true);
        flaky.flaky = true;
        let score = score(&[trial("one", vec![flaky])]);
        assert!(score.missed.is_empty() && score.strayed.is_empty());
        assert!(score.flaky.contains("a"));
    }
}
