//! Debts of commits that were let through without a test: versions that contain such a commit owe them, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Tests;
use crate::history::TestRecord;
use crate::order::owed::Debt;
use crate::repo::{CommitId, Repository, Version};

/// The tests of a history as they are at a version, which owes what its own commits do; once it is built, only what no build can
/// tell.
pub(super) fn with_debts_of_own(
    repository: &Repository,
    version: Version,
    is_built: bool,
    mut tests: Tests,
) -> Tests {
    let is_settled = |debt: &Debt| is_built && debt.until_built;
    let own = let_through(tests.values().map(Arc::as_ref));
    let own: BTreeSet<CommitId> = own
        .into_iter()
        .filter(|commit| repository.contains(version, *commit))
        .collect();
    for test in tests.values_mut() {
        if test.owed.as_ref().is_some_and(is_settled) {
            Arc::make_mut(test).owed = None;
        }
        if !test.let_through.keys().any(|commit| own.contains(commit)) {
            continue;
        }
        let test = Arc::make_mut(test);
        for commit in &own {
            let debt = test.let_through.get(commit);
            if let Some(debt) = debt.filter(|debt| !is_settled(debt)) {
                test.owed = Some(Debt::joined(test.owed.take(), debt.clone()));
            }
        }
    }
    tests
}

/// What tests owe for commits that a version does not contain, by their names: whoever runs there does not pay it. A commit that is gone owes nothing.
#[must_use]
pub fn owed_elsewhere<'a>(
    repository: &Repository,
    version: Version,
    tests: impl IntoIterator<Item = &'a TestRecord>,
) -> BTreeMap<String, BTreeMap<CommitId, Debt>> {
    let tests = tests
        .into_iter()
        .filter(|test| !test.let_through.is_empty());
    let tests: Vec<&TestRecord> = tests.collect();
    let mut elsewhere = let_through(tests.iter().copied());
    elsewhere.retain(|commit| repository.has(*commit) && !repository.contains(version, *commit));
    let debts = tests.into_iter().map(|test| {
        let mut debts = test.let_through.clone();
        debts.retain(|commit, _| elsewhere.contains(commit));
        (test.name.clone(), debts)
    });
    debts.collect()
}

fn let_through<'a>(tests: impl Iterator<Item = &'a TestRecord>) -> BTreeSet<CommitId> {
    tests
        .flat_map(|test| test.let_through.keys().copied())
        .collect()
}
