//! What tests ask of the order: which must run before others, and which must not run together.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::Test;
use crate::digest;

/// What one test asks for, by the names that its project uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// The name by which others ask for it; tests may share it.
    pub name: String,
    /// Tests that must have ended before it starts.
    pub after: Vec<String>,
    /// Fixtures that it makes, needs, or takes down.
    pub sets_up: Vec<String>,
    pub requires: Vec<String>,
    pub cleans_up: Vec<String>,
    /// What no two tests may hold at once.
    pub locks: Vec<String>,
    /// Nothing may run beside it.
    pub alone: bool,
    /// How many of the jobs it counts for.
    pub processors: usize,
}

impl Default for Needs {
    fn default() -> Self {
        Needs {
            name: String::new(),
            after: Vec::new(),
            sets_up: Vec::new(),
            requires: Vec::new(),
            cleans_up: Vec::new(),
            locks: Vec::new(),
            alone: false,
            processors: 1,
        }
    }
}

/// The needs of a set of tests in terms of their places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    pub tests: Vec<Constraint>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraint {
    /// These must have ended before it starts.
    pub after: BTreeSet<usize>,
    /// Of those, the ones without whose success it is not run.
    pub only_if_passed: BTreeSet<usize>,
    pub locks: BTreeSet<usize>,
    pub alone: bool,
    pub processors: usize,
}

/// The constraints among these tests; what they need of others is not in it.
pub fn constraints<T: Borrow<Test>>(tests: &[T]) -> Constraints {
    let needs = || tests.iter().map(|test| &test.borrow().needs).enumerate();
    let named = by_name(needs(), |needs| std::slice::from_ref(&needs.name));
    let setups = by_name(needs(), |needs| &needs.sets_up);
    let requiring = by_name(needs(), |needs| &needs.requires);
    let mut locks = BTreeMap::new();
    let tests = needs()
        .map(|(index, needs)| {
            let find = |names: &[String], table: &BTreeMap<&str, BTreeSet<usize>>| {
                let found = names.iter().filter_map(|name| table.get(name.as_str()));
                found.flatten().copied().collect::<BTreeSet<usize>>()
            };
            let mut only_if_passed = find(&needs.requires, &setups);
            // One that sets up what it requires does not wait for itself.
            only_if_passed.remove(&index);
            let mut after = find(&needs.after, &named);
            after.extend(&only_if_passed);
            // A fixture is taken down when all who made or needed it are done.
            for table in [&setups, &requiring] {
                let mut before = find(&needs.cleans_up, table);
                before.remove(&index);
                after.extend(before);
            }
            let held = needs.locks.iter().map(|lock| {
                let next = locks.len();
                *locks.entry(lock.as_str()).or_insert(next)
            });
            Constraint {
                after,
                only_if_passed,
                locks: held.collect(),
                alone: needs.alone,
                processors: needs.processors.max(1),
            }
        })
        .collect();
    Constraints { tests }
}

/// All that must have ended before a test starts, however many steps before.
#[must_use]
pub fn predecessors(constraints: &Constraints, test: usize) -> BTreeSet<usize> {
    let mut before = constraints.tests[test].after.clone();
    let mut waiting: Vec<usize> = before.iter().copied().collect();
    while let Some(earlier) = waiting.pop() {
        let further = constraints.tests[earlier].after.iter().copied();
        waiting.extend(further.filter(|further| before.insert(*further)));
    }
    before.remove(&test);
    before
}

/// Adds to the definition of each test what is no property of it and decides about it all the same: the definitions of the tests that
/// run before it, because it may use what they leave, and how long it may take.
pub fn define(tests: &mut [Test]) {
    let constraints = constraints(tests);
    let own: Vec<u64> = tests
        .iter()
        .map(|test| digest::bytes(&test.definition.encoded()))
        .collect();
    for index in 0..tests.len() {
        let before = predecessors(&constraints, index).into_iter();
        let before: BTreeSet<String> = before
            .map(|earlier| format!("{} {:016x}", tests[earlier].name, own[earlier]))
            .collect();
        let limit = tests[index].launch.timeout;
        let properties = &mut tests[index].definition.properties;
        if !before.is_empty() {
            let before: Vec<String> = before.into_iter().collect();
            properties.insert("tests before it".to_owned(), before.join("\n"));
        }
        if let Some(limit) = limit {
            properties.insert("time limit".to_owned(), format!("{limit:?}"));
        }
    }
}

/// The chosen tests and those without which they cannot run: the makers of their fixtures, and who takes them down.
#[must_use]
pub fn with_fixtures(tests: &[Test], chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
    let needs = || tests.iter().map(|test| &test.needs).enumerate();
    let setups = by_name(needs(), |needs| &needs.sets_up);
    let cleanups = by_name(needs(), |needs| &needs.cleans_up);
    let mut all = chosen.clone();
    let mut new: Vec<usize> = chosen.iter().copied().collect();
    while let Some(index) = new.pop() {
        let Some(test) = tests.get(index) else {
            continue;
        };
        for fixture in &test.needs.requires {
            for table in [&setups, &cleanups] {
                for helper in table.get(fixture.as_str()).into_iter().flatten() {
                    if all.insert(*helper) {
                        new.push(*helper);
                    }
                }
            }
        }
    }
    all
}

/// The chosen tests and all without which they cannot run: also those that must have ended before.
#[must_use]
pub fn with_needed(
    tests: &[Test],
    constraints: &Constraints,
    chosen: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut all = chosen.clone();
    loop {
        let mut more = with_fixtures(tests, &all);
        let earlier = more.iter().flat_map(|test| &constraints.tests[*test].after);
        let earlier: Vec<usize> = earlier.copied().collect();
        more.extend(earlier);
        if more.len() == all.len() {
            return all;
        }
        all = more;
    }
}

fn by_name<'a>(
    needs: impl Iterator<Item = (usize, &'a Needs)>,
    names: impl Fn(&'a Needs) -> &'a [String],
) -> BTreeMap<&'a str, BTreeSet<usize>> {
    let mut table = BTreeMap::<&str, BTreeSet<usize>>::new();
    for (index, needs) in needs {
        for name in names(needs) {
            table.entry(name).or_default().insert(index);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{Definition, Launch};
    use super::*;

    fn test(name: &str, change: impl FnOnce(&mut Needs)) -> Test {
        let mut needs = Needs {
            name: name.to_owned(),
            ..Needs::default()
        };
        change(&mut needs);
        Test {
            name: name.to_owned(),
            definition: Definition::default(),
            launch: Launch::default(),
            needs,
        }
    }

    fn fixture() -> Vec<Test> {
        let f = || vec!["f".to_owned()];
        vec![
            test("down", |needs| needs.cleans_up = f()),
            test("a", |needs| needs.requires = f()),
            test("other", |_| {}),
            test("up", |needs| needs.sets_up = f()),
            test("b", |needs| needs.requires = f()),
        ]
    }

    #[test]
    fn fixtures_are_made_before_and_taken_down_after() {
        let Constraints { tests } = constraints(&fixture());
        assert_eq!(tests[1].after, BTreeSet::from([3]));
        assert_eq!(tests[1].only_if_passed, BTreeSet::from([3]));
        assert_eq!(tests[0].after, BTreeSet::from([1, 3, 4]));
        assert!(
            tests[0].only_if_passed.is_empty(),
            "it cleans up after failures too"
        );
        assert!(tests[2].after.is_empty() && tests[3].after.is_empty());
    }

    #[test]
    fn some_tests_bring_their_fixtures_along() {
        let all = with_fixtures(&fixture(), &BTreeSet::from([4]));
        assert_eq!(all, BTreeSet::from([0, 3, 4]));
        let none = with_fixtures(&fixture(), &BTreeSet::from([2]));
        assert_eq!(none, BTreeSet::from([2]));
    }

    #[test]
    fn a_name_that_is_not_there_asks_for_nothing() {
        let tests = [test("a", |needs| needs.after = vec!["gone".to_owned()])];
        assert!(constraints(&tests).tests[0].after.is_empty());
    }
}
