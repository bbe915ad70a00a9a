//! What is owed: selected tests that have not run on any version with the change that selected them.
//!
//! A debt is kept in the record of its test, in the history of each version that has it. So it goes where the change goes: to every version that is compared with one of these, and to no other. Where a commit was let through, it has no history of its own: the debt stands in the one that it was compared with, under the commit's name.

use serde::{Deserialize, Serialize};

/// So many reasons are kept; they are for people.
const REASONS: usize = 5;

/// That a test was selected and did not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    /// The version that selected it first, for people.
    pub since: String,
    /// When that was, in seconds since 1970.
    pub at: u64,
    pub reasons: Vec<String>,
    /// Nobody could tell without a build whether the change reaches the test: whoever builds it owes nothing by this.
    pub until_built: bool,
}

impl Debt {
    /// A debt after whatever was owed before it.
    #[must_use]
    pub fn joined(earlier: Option<Debt>, newer: Debt) -> Self {
        match earlier {
            Some(earlier) => earlier.and(newer),
            None => newer,
        }
    }

    /// After one more session that selected the test and did not run it: the age stays, and reasons are added.
    #[must_use]
    pub fn and(mut self, newer: Debt) -> Self {
        if newer.at < self.at {
            return newer.and(self);
        }
        self.until_built &= newer.until_built;
        for reason in newer.reasons {
            if self.reasons.len() < REASONS && !self.reasons.contains(&reason) {
                self.reasons.push(reason);
            }
        }
        self
    }
}

/// The places of those that owe something, the oldest debt first; of one age, in their order.
#[must_use]
pub fn by_age<'a>(debts: impl IntoIterator<Item = (usize, &'a Debt)>) -> Vec<usize> {
    let mut all: Vec<(u64, usize)> = debts
        .into_iter()
        .map(|(place, debt)| (debt.at, place))
        .collect();
    all.sort_unstable();
    all.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::super::Ticket;
    use super::super::budget::{Limit, Wanted, fit};
    use super::*;

    fn debt(at: u64, reason: &str) -> Debt {
        Debt {
            since: format!("v{at}"),
            at,
            reasons: vec![reason.to_owned()],
            until_built: false,
        }
    }

    #[test]
    fn what_is_owed_for_certain_is_not_settled_by_a_build() {
        let unsure = |at| Debt {
            until_built: true,
            ..debt(at, "f changed")
        };
        assert!(unsure(1).and(unsure(2)).until_built);
        assert!(!unsure(1).and(debt(2, "g changed")).until_built);
        assert!(!debt(1, "g changed").and(unsure(2)).until_built);
    }

    #[test]
    fn owing_again_adds_reasons_and_keeps_the_age() {
        let again = debt(1, "f changed")
            .and(debt(2, "f changed"))
            .and(debt(3, "g changed"));
        assert_eq!((again.at, again.since.as_str()), (1, "v1"));
        assert_eq!(again.reasons, ["f changed", "g changed"]);
        let debts = [debt(7, "a"), debt(3, "b"), debt(7, "c")];
        assert_eq!(by_age(debts.iter().enumerate()), [1, 0, 2]);
    }

    const TESTS: usize = 6;

    /// A new version on top of an earlier one, whose change affects some tests; perhaps with a run within a budget.
    #[derive(Debug, Clone)]
    struct Step {
        parent: usize,
        affected: BTreeSet<usize>,
        run: Option<Limit>,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let limit = prop_oneof![
            (1_usize..5).prop_map(Limit::Count),
            (1_u64..400).prop_map(Limit::Time)
        ];
        let affected = proptest::collection::btree_set(0..TESTS, 0..TESTS);
        let step = (any::<usize>(), affected, proptest::option::of(limit));
        let step = step.prop_map(|(parent, affected, run)| Step {
            parent,
            affected,
            run,
        });
        proptest::collection::vec(step, 0..40)
    }

    fn tickets() -> Vec<Ticket> {
        let ticket = |test: usize| Ticket {
            name: test.to_string(),
            milliseconds: Some(test as u64 * 60),
            ..Ticket::default()
        };
        (0..TESTS).map(ticket).collect()
    }

    /// A version with its history, if there was a run.
    #[derive(Default)]
    struct Version {
        parent: Option<usize>,
        affected: BTreeSet<usize>,
        history: Option<BTreeMap<usize, Debt>>,
        /// The naive ledger: each test with the versions that selected it and that no run has paid for.
        unpaid: BTreeSet<(usize, usize)>,
    }

    proptest! {
        /// Beside a ledger that knows only pairs of a test and the version that selected it.
        #[test]
        fn no_selected_test_is_ever_lost(steps in steps()) {
            let tickets = tickets();
            let mut versions = vec![Version { history: Some(BTreeMap::new()), ..Version::default() }];
            for step in steps {
                let parent = step.parent % versions.len();
                let number = versions.len();
                let mut version = Version { parent: Some(parent), affected: step.affected, ..Version::default() };
                version.unpaid.clone_from(&versions[parent].unpaid);
                version.unpaid.extend(version.affected.iter().map(|test| (*test, number)));
                if let Some(limit) = step.run {
                    // The nearest history, and all that changed since.
                    let mut selected = version.affected.clone();
                    let mut at = parent;
                    while versions[at].history.is_none() {
                        selected.extend(&versions[at].affected);
                        at = versions[at].parent.expect("the first has a history");
                    }
                    let mut debts = versions[at].history.clone().expect("it is there");
                    let old = by_age(debts.iter().map(|(test, debt)| (*test, debt)));
                    let order: Vec<usize> = selected.iter().copied().collect();
                    let wanted = Wanted { tickets: &tickets, order: &order, debts: &old, suite: TESTS };
                    let fit = fit(&wanted, limit, |_| &[]);
                    // The oldest debt that can be paid is.
                    let oldest = old.iter().find(|test| !fit.too_large.contains(test));
                    prop_assert!(oldest.is_none_or(|test| fit.run.contains(test)));
                    for test in &fit.owed {
                        let newer = debt(number as u64, "it changed");
                        let all = match debts.remove(test) {
                            Some(older) => older.and(newer),
                            None => newer,
                        };
                        debts.insert(*test, all);
                    }
                    for test in &fit.run {
                        debts.remove(test);
                        version.unpaid.retain(|(other, _)| other != test);
                    }
                    let unpaid: BTreeSet<usize> = version.unpaid.iter().map(|(test, _)| *test).collect();
                    prop_assert_eq!(debts.keys().copied().collect::<BTreeSet<_>>(), unpaid);
                    version.history = Some(debts);
                }
                versions.push(version);
            }
        }
    }
}
