//! Debts of commits that were let through without a test: they are no debts of versions without these commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Tests;
use crate::history::Recording;
use crate::order::owed::Debt;
use crate::repo::{Repository, Version};

/// The tests of a history as they are at a version.
pub(super) fn without_debts_of_others(
    repository: &Repository,
    version: Version,
    mut tests: Tests,
) -> Tests {
    let of_others = of_others(repository, version);
    for test in tests.values_mut() {
        if test.owed.as_ref().is_some_and(&of_others) {
            Arc::make_mut(test).owed = None;
        }
    }
    tests
}

/// What the tests of a history owe elsewhere than at a version, by their names: whoever runs there does not pay it.
#[must_use]
pub fn owed_elsewhere(
    repository: &Repository,
    version: Version,
    recording: &Recording,
) -> BTreeMap<String, Debt> {
    let of_others = of_others(repository, version);
    let tests = recording.tests().iter();
    let debts = tests.filter_map(|test| Some((test.name.clone(), test.owed.clone()?)));
    debts.filter(|(_, debt)| of_others(debt)).collect()
}

fn of_others(repository: &Repository, version: Version) -> impl Fn(&Debt) -> bool {
    move |debt| {
        let commit = debt.only_in;
        commit.is_some_and(|commit| !repository.contains(version, commit))
    }
}
