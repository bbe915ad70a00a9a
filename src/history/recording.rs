//! A history while it is being put together: traces come test by test and are kept function by function.
//!
//! So a suite of any size can be recorded: a trace is given away as soon as its test ends, and tests that crossed the same edges share one entry.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use super::compiled::Compiled;
use super::experience::Experiences;
use super::looked::Beyond;
use super::record::{About, BeyondTrace, TestRecord};
use crate::order::owed::Debt;
use crate::order::smoothed::weights;
use crate::repo::{CommitId, RepoPath};
use crate::trace::carry::Carry;
use crate::trace::{Crossed, FunctionId, Trace};

/// The tests of one version with their traces. Two are equal if their tests also came in the same order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    pub about: About,
    /// What the build of the version made.
    pub compiled: Compiled,
    /// What the tests that ran remember from now on.
    pub experiences: Experiences,
    tests: Vec<TestRecord>,
    by_name: FxHashMap<String, u32>,
    functions: FxHashMap<FunctionId, Groups>,
}

/// For each set of edges that somebody crossed in a function, the tests that did, as places in `tests`, in ascending order.
pub(super) type Groups = FxHashMap<Crossed, Vec<u32>>;

impl Recording {
    #[must_use]
    pub fn new(about: About) -> Self {
        Recording {
            about,
            compiled: Compiled::default(),
            experiences: Experiences::new(),
            tests: Vec::new(),
            by_name: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }

    /// Adds a test, in place of one of the same name if there is one.
    pub fn add(&mut self, test: TestRecord, trace: Trace) {
        if self.by_name.contains_key(&test.name) {
            self.forget(&BTreeSet::from([test.name.as_str()]));
        }
        let index = self.tests.len() as u32;
        self.by_name.insert(test.name.clone(), index);
        self.tests.push(test);
        for (function, crossed) in merged(trace) {
            let groups = self.functions.entry(function).or_default();
            groups.entry(crossed).or_default().push(index);
        }
    }

    /// Takes over the tests of another recording, in place of those of the same names.
    pub fn replace(&mut self, new: &Recording) {
        self.forget(&new.tests.iter().map(|test| test.name.as_str()).collect());
        let first = self.tests.len() as u32;
        self.by_name.extend(
            (first..)
                .zip(&new.tests)
                .map(|(index, test)| (test.name.clone(), index)),
        );
        self.tests.extend(new.tests.iter().cloned());
        self.experiences.extend(new.experiences.clone());
        for (function, groups) in &new.functions {
            let own = self.functions.entry(function.clone()).or_default();
            for (crossed, tests) in groups {
                let all = own.entry(crossed.clone()).or_default();
                all.extend(tests.iter().map(|test| first + test));
            }
        }
    }

    /// A test's record, to be changed in all but its name.
    pub fn record_mut(&mut self, name: &str) -> Option<&mut TestRecord> {
        let index = *self.by_name.get(name)?;
        self.tests.get_mut(index as usize)
    }

    /// Keeps what commits owe that were let through, by the tests' names.
    pub fn let_through(&mut self, debts: BTreeMap<String, BTreeMap<CommitId, Debt>>) {
        for (name, debts) in debts {
            if let Some(record) = self.record_mut(&name) {
                record.let_through = debts;
            }
        }
    }

    /// Forgets what was owed only until there is a build, which tells whether it reaches the test.
    pub fn settle_debts(&mut self) {
        for test in &mut self.tests {
            test.owed = test.owed.take().filter(|debt| !debt.until_built);
        }
    }

    /// Changes what the tests are known to have looked at.
    pub fn rename_looked(&mut self, rename: &dyn Fn(&mut Beyond)) {
        let looked = self
            .tests
            .iter_mut()
            .filter_map(|test| test.looked.as_mut());
        looked
            .filter_map(|looked| looked.beyond.as_mut())
            .for_each(rename);
    }

    /// The place of a test among the tests.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    #[must_use]
    pub fn record(&self, name: &str) -> Option<&TestRecord> {
        let index = *self.by_name.get(name)?;
        self.tests.get(index as usize)
    }

    /// A number for each test's trace, the same for the same trace, in the order of the tests.
    #[must_use]
    pub fn digests(&self) -> Vec<u64> {
        let mut digests = vec![0u64; self.tests.len()];
        for (function, groups) in &self.functions {
            for (crossed, tests) in groups {
                let mut hasher = rustc_hash::FxHasher::default();
                (function, crossed).hash(&mut hasher);
                let part = hasher.finish();
                for test in tests {
                    // A sum does not depend on the order.
                    digests[*test as usize] = digests[*test as usize].wrapping_add(part);
                }
            }
        }
        digests
    }

    /// Counts functions as crossed by a test, each as a whole, whatever is known of it.
    pub fn widen(&mut self, name: &str, functions: &[FunctionId]) {
        let Some(place) = self.place(name) else {
            return;
        };
        for function in functions {
            let groups = self.functions.entry(function.clone()).or_default();
            groups.retain(|_, tests| {
                tests.retain(|test| *test != place);
                !tests.is_empty()
            });
            let whole = groups.entry(Crossed::Whole).or_default();
            let at = whole.partition_point(|test| *test < place);
            whole.insert(at, place);
        }
    }

    /// The tests that did something which this does not say of them, by name. Where a function is known as a whole, however it was
    /// crossed is what was said; traces may say more than was done.
    #[must_use]
    pub fn belied_by<'d>(&self, did: &'d Recording) -> BTreeSet<&'d str> {
        let mut belied = BTreeSet::new();
        for function in did.functions.keys() {
            let said: FxHashMap<&str, &Crossed> = self.by_test(function).collect();
            let others = did.by_test(function).filter(|(test, crossed)| {
                let is_said = said.get(test).is_some_and(|said| {
                    let mut both = (*said).clone();
                    both.join(crossed);
                    both == **said
                });
                !is_said
            });
            belied.extend(others.map(|(test, _)| test));
        }
        belied
    }

    /// Who crossed a function, and how.
    fn by_test(&self, function: &FunctionId) -> impl Iterator<Item = (&str, &Crossed)> {
        let groups = self.functions.get(function);
        groups.into_iter().flatten().flat_map(|(crossed, tests)| {
            let tests = tests
                .iter()
                .filter_map(|test| self.tests.get(*test as usize));
            tests.map(move |test| (test.name.as_str(), crossed))
        })
    }

    /// What the session in which these tests ran tells of what each covers (Kim and Porter, section 4), in the order of the tests;
    /// `counted` functions could have been covered.
    #[must_use]
    pub fn coverage(&self, counted: usize) -> Vec<f64> {
        let entered = self.functions.values();
        let entered: Vec<&Groups> = entered.filter(|groups| !groups.is_empty()).collect();
        let covered_by = entered.iter().map(|groups| {
            let tests: usize = groups.values().map(Vec::len).sum();
            tests as u32
        });
        let nobody = counted.saturating_sub(entered.len());
        let weights = weights(
            &covered_by
                .chain(std::iter::repeat_n(0, nobody))
                .collect::<Vec<_>>(),
        );
        let mut sums = vec![0.0; self.tests.len()];
        for (groups, weight) in entered.iter().zip(weights) {
            for test in groups.values().flatten() {
                sums[*test as usize] += weight;
            }
        }
        sums
    }

    /// Who entered functions of some names, as places among the tests; a name without an entry has no counters.
    #[must_use]
    pub fn entering<'n>(&self, names: &BTreeSet<&'n str>) -> BTreeMap<&'n str, BTreeSet<u32>> {
        self.entering_those(names, |_| true)
    }

    /// The same, of functions that are known by their symbols alone.
    #[must_use]
    pub fn entering_symbols<'n>(
        &self,
        names: &BTreeSet<&'n str>,
    ) -> BTreeMap<&'n str, BTreeSet<u32>> {
        self.entering_those(names, FunctionId::is_symbol)
    }

    fn entering_those<'n>(
        &self,
        names: &BTreeSet<&'n str>,
        is_meant: impl Fn(&FunctionId) -> bool,
    ) -> BTreeMap<&'n str, BTreeSet<u32>> {
        let mut entering: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (function, groups) in &self.functions {
            let name = names.get(function.name.as_str());
            if let Some(name) = name.filter(|_| is_meant(function)) {
                let tests = groups.values().flatten().copied();
                entering.entry(*name).or_default().extend(tests);
            }
        }
        entering
    }

    /// Tests that read compiled code, and do not only run it, notice what no trace of theirs tells.
    pub fn note_readers_of_code(&mut self) {
        let Compiled {
            contents, products, ..
        } = &self.compiled;
        let is_code = |place: &&RepoPath| {
            products.get(*place).is_some_and(|made| made.is_code)
                || contents.binaries.contains_key(&place.to_string())
        };
        for test in &mut self.tests {
            let looked = test.looked.as_ref();
            let beyond = looked.and_then(|looked| looked.beyond.as_ref());
            let code = beyond.and_then(|beyond| beyond.made_read.iter().find(is_code));
            if let Some(code) = code {
                let reads = || BeyondTrace::Reads(code.to_string());
                test.beyond_trace.get_or_insert_with(reads);
            }
        }
    }

    /// Takes tests out, with their traces: for tests that no longer exist, or that are about to be added anew.
    pub fn forget(&mut self, names: &BTreeSet<&str>) {
        let mut places = Vec::with_capacity(self.tests.len());
        let mut left = 0;
        for test in &self.tests {
            let stays = !names.contains(test.name.as_str());
            places.push(stays.then_some(left));
            left += u32::from(stays);
        }
        if left as usize == self.tests.len() {
            return;
        }
        self.tests
            .retain(|test| !names.contains(test.name.as_str()));
        self.by_name = (0..)
            .zip(&self.tests)
            .map(|(index, test)| (test.name.clone(), index))
            .collect();
        for groups in self.functions.values_mut() {
            groups.retain(|_, tests| {
                *tests = tests
                    .iter()
                    .filter_map(|test| places.get(*test as usize).copied().flatten())
                    .collect();
                !tests.is_empty()
            });
        }
    }

    /// Keeps the tests that are wanted, and forgets the others.
    pub fn retain(&mut self, is_wanted: impl Fn(&TestRecord) -> bool) {
        let others = self.tests.iter().filter(|test| !is_wanted(test));
        let others: Vec<String> = others.map(|test| test.name.clone()).collect();
        self.forget(&others.iter().map(String::as_str).collect());
    }

    /// Notes functions that have counters, whether a test enters them or not: nobody who did not count in them executed them.
    pub fn know(&mut self, functions: impl IntoIterator<Item = FunctionId>) {
        for function in functions {
            self.functions.entry(function).or_default();
        }
    }

    /// Moves all traces to another version. Functions that nobody entered are left behind: the build knows them.
    pub fn carry(&mut self, carry: &Carry) {
        for (function, groups) in std::mem::take(&mut self.functions) {
            for (crossed, tests) in groups {
                for (function, crossed) in carry.carry(&function, &crossed) {
                    let groups = self.functions.entry(function).or_default();
                    let all = groups.entry(crossed).or_default();
                    all.extend(&tests);
                    all.sort_unstable();
                    all.dedup();
                }
            }
        }
        self.merge_doubles();
    }

    /// The tests that executed functions which another version does not compile, at least not under the same name in the same
    /// file: whatever takes their place, no trace tells who executes it.
    #[must_use]
    pub fn losing(&self, carry: &Carry, counted: &BTreeSet<&FunctionId>) -> BTreeSet<String> {
        let mut losing = BTreeSet::new();
        let known = self.functions.keys().filter(|id| !id.is_symbol());
        let known: BTreeSet<_> = known.map(|id| (&id.file, &id.name)).collect();
        let in_tree = counted.iter().filter(|id| !id.is_symbol());
        let new_in_tree: BTreeSet<&str> = in_tree
            .filter(|id| !known.contains(&(&id.file, &id.name)))
            .map(|id| id.name.as_str())
            .collect();
        for (function, groups) in &self.functions {
            if function.name.is_empty() {
                continue;
            }
            for (crossed, tests) in groups {
                let carried = carry.carry(function, crossed);
                // What ran while the project was built may be gone; but what came into the tree is no longer known by its symbol.
                let is_kept = |(id, _): &(FunctionId, Crossed)| {
                    let is_elsewhere = id.is_symbol() && !new_in_tree.contains(id.name.as_str());
                    counted.contains(id) || is_elsewhere
                };
                let lost = carried.iter().filter(|one| !is_kept(one));
                // Code that the build made of it, perhaps, and that is there still: who executed it is known by the symbol.
                let is_told = |test: &u32| {
                    lost.clone().all(|(id, _)| {
                        let symbol = FunctionId::symbol(&id.name);
                        counted.contains(&symbol) && self.has_entered(&symbol, *test)
                    })
                };
                if carried.is_empty() {
                    losing.extend(tests.iter().copied());
                } else if lost.clone().next().is_some() {
                    losing.extend(tests.iter().copied().filter(|test| !is_told(test)));
                }
            }
        }
        let tests = losing
            .into_iter()
            .filter_map(|test| self.tests.get(test as usize));
        // Who does something else each time is known by all that it can reach, compiled or not.
        tests
            .filter(|test| !test.varies)
            .map(|test| test.name.clone())
            .collect()
    }

    fn has_entered(&self, function: &FunctionId, test: u32) -> bool {
        let groups = self.functions.get(function).into_iter();
        let mut entering = groups.flat_map(|groups| groups.values());
        entering.any(|tests| tests.contains(&test))
    }

    /// A test stands once in a function, even if two functions of the base became one.
    fn merge_doubles(&mut self) {
        for groups in self.functions.values_mut() {
            let mut seen = BTreeSet::new();
            let mut tests = groups.values().flatten();
            if tests.all(|test| seen.insert(*test)) {
                continue;
            }
            let mut merged: BTreeMap<u32, Crossed> = BTreeMap::new();
            for (crossed, tests) in groups.drain() {
                for test in tests {
                    match merged.entry(test) {
                        Entry::Vacant(place) => {
                            place.insert(crossed.clone());
                        }
                        Entry::Occupied(mut place) => place.get_mut().join(&crossed),
                    }
                }
            }
            for (test, crossed) in merged {
                groups.entry(crossed).or_default().push(test);
            }
        }
    }

    #[must_use]
    pub fn tests(&self) -> &[TestRecord] {
        &self.tests
    }

    /// The trace of a test, its functions in order.
    #[must_use]
    pub fn trace_of(&self, name: &str) -> Option<Trace> {
        let index = *self.by_name.get(name)?;
        let mut functions: Vec<(FunctionId, Crossed)> = self
            .functions
            .iter()
            .flat_map(|(function, groups)| groups.iter().map(move |group| (function, group)))
            .filter(|(_, (_, tests))| tests.binary_search(&index).is_ok())
            .map(|(function, (crossed, _))| (function.clone(), crossed.clone()))
            .collect();
        functions.sort_unstable();
        Some(Trace { functions })
    }

    pub(super) fn functions(&self) -> BTreeMap<&FunctionId, &Groups> {
        self.functions.iter().collect()
    }

    /// Puts tests and whole functions in place, as they come out of a history.
    pub(super) fn restore(&mut self, tests: Vec<TestRecord>) {
        self.by_name = (0..)
            .zip(&tests)
            .map(|(index, test)| (test.name.clone(), index))
            .collect();
        self.tests = tests;
    }

    pub(super) fn restore_function(&mut self, function: FunctionId, groups: Groups) {
        self.functions.insert(function, groups);
    }
}

/// A trace in which each function stands once: what several binaries did in it is one crossing.
fn merged(mut trace: Trace) -> Vec<(FunctionId, Crossed)> {
    trace.functions.sort_by(|(one, _), (two, _)| one.cmp(two));
    let mut all: Vec<(FunctionId, Crossed)> = Vec::with_capacity(trace.functions.len());
    for (function, crossed) in trace.functions {
        match all.last_mut() {
            Some((last, before)) if *last == function => before.join(&crossed),
            _ => all.push((function, crossed)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::VersionKey;
    use crate::repo::TreeId;

    fn recording(crossed: &[(&str, Crossed)]) -> Recording {
        let version = VersionKey {
            commit: None,
            tree: TreeId([0; 20]),
        };
        let functions = crossed.iter().map(|(name, crossed)| {
            let id = FunctionId {
                file: RepoPath::new(b"a.c"),
                name: (*name).to_owned(),
                graph: 1,
            };
            (id, crossed.clone())
        });
        let mut recording = Recording::default();
        recording.add(
            TestRecord::unknown("t", Vec::new(), version),
            Trace {
                functions: functions.collect(),
            },
        );
        recording
    }

    #[test]
    fn a_widened_trace_holds_each_function_once_and_as_a_whole() {
        let edges = Crossed::Edges([1usize, 2].into_iter().collect());
        let mut recording = recording(&[("f", edges.clone()), ("g", edges.clone())]);
        let id = |name: &str| FunctionId {
            file: RepoPath::new(b"a.c"),
            name: name.to_owned(),
            graph: 1,
        };
        recording.widen("t", &[id("f"), id("h")]);
        recording.widen("nobody", &[id("g")]);
        let trace = recording.trace_of("t").expect("it is there");
        let expected = [
            (id("f"), Crossed::Whole),
            (id("g"), edges),
            (id("h"), Crossed::Whole),
        ];
        assert_eq!(trace.functions, expected);
    }

    #[test]
    fn a_trace_that_says_more_than_was_done_is_not_belied() {
        let edges = |edges: &[usize]| Crossed::Edges(edges.iter().copied().collect());
        let said = recording(&[("f", edges(&[1, 2, 3])), ("g", Crossed::Whole)]);
        let is_belied = |did: &[(&str, Crossed)]| !said.belied_by(&recording(did)).is_empty();
        assert!(!is_belied(&[]));
        assert!(!is_belied(&[("f", edges(&[1, 3])), ("g", edges(&[9]))]));
        assert!(is_belied(&[("f", edges(&[1, 4]))]));
        assert!(is_belied(&[("f", Crossed::Whole)]));
        assert!(is_belied(&[("h", edges(&[1]))]));
    }
}
