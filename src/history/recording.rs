//! A history while it is being put together: traces come test by test and are kept function by function.
//!
//! So a suite of any size can be recorded: a trace is given away as soon as its test ends, and tests that crossed the same edges share one entry.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::record::{About, TestRecord};
use crate::trace::{Crossed, FunctionId, Trace};

/// The tests of one version with their traces. Two are equal if their tests also came in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub about: About,
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

    /// Notes functions that have counters, whether a test enters them or not: nobody who did not count in them executed them.
    pub fn know(&mut self, functions: impl IntoIterator<Item = FunctionId>) {
        for function in functions {
            self.functions.entry(function).or_default();
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
            Some((last, before)) if *last == function => match (&mut *before, &crossed) {
                (Crossed::Edges(before), Crossed::Edges(more)) => before.union(more),
                (Crossed::Whole, _) => {}
                (_, Crossed::Whole) => *before = Crossed::Whole,
            },
            _ => all.push((function, crossed)),
        }
    }
    all
}
