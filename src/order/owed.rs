//! What is owed: selected tests that have not run on any version with the change that selected them.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// A test that must run on a version that contains `since`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    pub test: String,
    /// The version that selected it, as the caller names versions.
    pub since: String,
    pub reasons: Vec<String>,
}

/// All debts, the oldest first. A test may have several, since versions that do not contain each other; it is free when it has paid all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    debts: Vec<Debt>,
}

impl Ledger {
    /// Notes which tests were selected at a version and did not run, with the reasons. Owing the same twice adds reasons, and the age stays.
    pub fn owe(&mut self, since: &str, tests: impl IntoIterator<Item = (String, Vec<String>)>) {
        let debts = self.debts.iter().enumerate();
        let same = debts.filter(|(_, debt)| debt.since == since);
        let mut places: FxHashMap<String, usize> = same
            .map(|(place, debt)| (debt.test.clone(), place))
            .collect();
        for (test, reasons) in tests {
            let place = *places.entry(test.clone()).or_insert(self.debts.len());
            if place == self.debts.len() {
                self.debts.push(Debt {
                    test,
                    since: since.to_owned(),
                    reasons: Vec::new(),
                });
            }
            let known = &mut self.debts[place].reasons;
            for reason in reasons {
                if !known.contains(&reason) {
                    known.push(reason);
                }
            }
        }
    }

    /// Notes which tests ran to their end. Only debts since versions that the one they ran on contains are paid, which the caller knows.
    pub fn pay(&mut self, ran: impl Fn(&str) -> bool, contains: impl Fn(&str) -> bool) {
        self.debts
            .retain(|debt| !(ran(&debt.test) && contains(&debt.since)));
    }

    /// Keeps the debts of the tests that there still are.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.debts.retain(|debt| is_there(&debt.test));
    }

    /// The debts, the oldest first.
    #[must_use]
    pub fn debts(&self) -> &[Debt] {
        &self.debts
    }

    /// The tests that owe something to a version with these changes, each once, the oldest debt first.
    #[must_use]
    pub fn by_age(&self, contains: impl Fn(&str) -> bool) -> Vec<&str> {
        let mut seen = FxHashSet::default();
        let due = self.debts.iter().filter(|debt| contains(&debt.since));
        due.map(|debt| debt.test.as_str())
            .filter(|test| seen.insert(*test))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::Ticket;
    use super::super::budget::{Limit, Wanted, fit};
    use super::*;

    fn because(test: &str, reason: &str) -> [(String, Vec<String>); 1] {
        [(test.to_owned(), vec![reason.to_owned()])]
    }

    #[test]
    fn owing_again_adds_reasons_and_keeps_the_age() {
        let mut ledger = Ledger::default();
        ledger.owe("v1", because("a", "f changed"));
        ledger.owe("v1", because("b", "g changed"));
        ledger.owe("v1", because("a", "f changed"));
        ledger.owe("v1", because("a", "h changed"));
        assert_eq!(ledger.by_age(|_| true), ["a", "b"]);
        assert_eq!(ledger.debts()[0].reasons, ["f changed", "h changed"]);
    }

    #[test]
    fn a_run_pays_only_for_changes_that_were_there() {
        let mut ledger = Ledger::default();
        ledger.owe("left", because("a", "f changed"));
        ledger.owe("right", because("a", "g changed"));
        ledger.pay(|test| test == "a", |since| since == "right");
        assert_eq!(ledger.debts().len(), 1);
        assert_eq!(ledger.by_age(|since| since == "left"), ["a"]);
        assert!(ledger.by_age(|since| since == "right").is_empty());
    }

    #[test]
    fn tests_that_are_gone_owe_nothing() {
        let mut ledger = Ledger::default();
        ledger.owe("v1", because("a", "it is new"));
        ledger.owe("v1", because("b", "it is new"));
        ledger.retain(|test| test != "a");
        assert_eq!(ledger.by_age(|_| true), ["b"]);
    }

    const TESTS: usize = 6;

    #[derive(Debug, Clone)]
    enum Step {
        /// A new version on top of an earlier one, which selects some tests.
        Change {
            parent: usize,
            selected: BTreeSet<usize>,
        },
        /// A run within a budget on some version.
        Run { version: usize, limit: Limit },
        /// A run of tests that the user names.
        Named {
            version: usize,
            tests: BTreeSet<usize>,
        },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let tests = || proptest::collection::btree_set(0..TESTS, 0..TESTS);
        let limit = prop_oneof![
            (1_usize..5).prop_map(Limit::Count),
            (1_u64..400).prop_map(Limit::Time)
        ];
        proptest::collection::vec(
            prop_oneof![
                (any::<usize>(), tests())
                    .prop_map(|(parent, selected)| Step::Change { parent, selected }),
                (any::<usize>(), limit).prop_map(|(version, limit)| Step::Run { version, limit }),
                (any::<usize>(), tests())
                    .prop_map(|(version, tests)| Step::Named { version, tests }),
            ],
            0..40,
        )
    }

    fn tickets() -> Vec<Ticket> {
        let ticket = |test: usize| Ticket {
            name: test.to_string(),
            milliseconds: Some(test as u64 * 60),
            ..Ticket::default()
        };
        (0..TESTS).map(ticket).collect()
    }

    /// Versions with their parents; the first has none.
    struct Versions(Vec<Option<usize>>);

    impl Versions {
        fn contains(&self, version: usize, other: usize) -> bool {
            let mut here = Some(version);
            while let Some(at) = here {
                if at == other {
                    return true;
                }
                here = self.0[at];
            }
            false
        }
    }

    proptest! {
        /// Beside a ledger that knows only pairs of a test and the version that selected it.
        #[test]
        fn no_selected_test_is_ever_lost(steps in steps()) {
            let tickets = tickets();
            let mut versions = Versions(vec![None]);
            let mut ledger = Ledger::default();
            let mut naive: Vec<(usize, usize)> = Vec::new();
            for step in steps {
                match step {
                    Step::Change { parent, selected } => {
                        versions.0.push(Some(parent % versions.0.len()));
                        let version = versions.0.len() - 1;
                        for test in selected {
                            ledger.owe(&version.to_string(), because(&test.to_string(), "it changed"));
                            naive.push((test, version));
                        }
                    }
                    Step::Run { version, limit } => {
                        let version = version % versions.0.len();
                        let is_in = |since: &str| versions.contains(version, since.parse().expect("a number"));
                        let debts: Vec<usize> = ledger.by_age(is_in).iter().map(|test| test.parse().expect("a number")).collect();
                        let wanted = Wanted { tickets: &tickets, order: &[], debts: &debts, suite: TESTS };
                        let fit = fit(&wanted, limit, |_| &[]);
                        // The oldest debt that can be paid is.
                        let oldest = naive.iter().find(|(test, since)| {
                            versions.contains(version, *since) && !fit.too_large.contains(test)
                        });
                        prop_assert!(oldest.is_none_or(|(test, _)| fit.run.contains(test)));
                        for test in &fit.run {
                            ledger.pay(|other| other == test.to_string(), is_in);
                            naive.retain(|(other, since)| other != test || !versions.contains(version, *since));
                        }
                    }
                    Step::Named { version, tests } => {
                        let version = version % versions.0.len();
                        for test in tests {
                            ledger.pay(|other| other == test.to_string(), |since| versions.contains(version, since.parse().expect("a number")));
                            naive.retain(|(other, since)| *other != test || !versions.contains(version, *since));
                        }
                    }
                }
                let known: Vec<(usize, usize)> = ledger.debts().iter().map(|debt| {
                    (debt.test.parse().expect("a number"), debt.since.parse().expect("a number"))
                }).collect();
                prop_assert_eq!(&known, &naive);
            }
        }
    }
}
