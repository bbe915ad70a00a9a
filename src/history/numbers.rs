//! The numbers of tests, given once and kept: so a record that did not change is the same bytes in the next history.
//!
//! A history holds the names of its numbers itself. If this table is lost, new histories share less with old ones, and nothing else happens.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use super::database::{Trouble, guarded};
use super::record::TestRecord;
use super::test_set::TestNumber;

/// The number of each test, in the order of the tests; those without one get the next.
pub(super) fn assign(table: &sled::Tree, tests: &[TestRecord]) -> Result<Vec<u32>, Trouble> {
    let known = read(table)?;
    let mut next = known
        .values()
        .max()
        .map_or(0, |highest| highest.saturating_add(1));
    let mut taken = HashSet::new();
    let mut numbers = Vec::with_capacity(tests.len());
    let mut fresh = sled::Batch::default();
    for test in tests {
        let number = known.get(test.name.as_bytes()).copied();
        // Only a damaged table has a number twice; a history never may.
        let number = match number.filter(|number| taken.insert(*number)) {
            Some(number) => number,
            None => {
                while taken.contains(&next) {
                    next = next.wrapping_add(1);
                }
                taken.insert(next);
                fresh.insert(test.name.as_bytes(), &next.to_be_bytes());
                next
            }
        };
        numbers.push(number);
    }
    guarded(|| table.apply_batch(fresh))?;
    Ok(numbers)
}

/// The number that a name has, if the table can be believed.
pub(super) fn of(table: &sled::Tree, name: &str) -> Result<Option<TestNumber>, Trouble> {
    let value = guarded(|| table.get(name.as_bytes()))?;
    Ok(value.and_then(|value| number(&value)).map(TestNumber))
}

fn read(table: &sled::Tree) -> Result<FxHashMap<sled::IVec, u32>, Trouble> {
    guarded(|| {
        let mut known = FxHashMap::default();
        for entry in table {
            let (name, value) = entry?;
            if let Some(number) = number(&value) {
                known.insert(name, number);
            }
        }
        Ok(known)
    })
}

fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_be_bytes)
}
