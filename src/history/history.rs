//! One history, read in parts: its root is here, everything else when it is asked for.

use std::collections::BTreeMap;

use super::compiled::{self, Compiled};
use super::database::Trouble;
use super::functions::{self, FunctionTraces};
use super::objects::Objects;
use super::record::{About, TestRecord, VersionKey};
use super::recording::Recording;
use super::roots::Root;
use super::store::explained;
use super::test_set::TestNumber;
use super::tests_by_number;
use crate::error::Result;
use crate::repo::RepoPath;
use crate::trace::Trace;

/// The history of one version.
pub struct History {
    objects: Objects,
    root: Root,
}

impl History {
    pub(super) fn new(objects: Objects, root: Root) -> Self {
        History { objects, root }
    }

    /// The version that it was written for. It may be another commit than the one asked for, with the same tree.
    #[must_use]
    pub fn version(&self) -> VersionKey {
        self.root.version
    }

    #[must_use]
    pub fn front_end(&self) -> u32 {
        self.root.front_end
    }

    /// Counts the sessions on the way to this version.
    #[must_use]
    pub fn session(&self) -> u64 {
        self.root.session
    }

    pub fn about(&self) -> Result<About> {
        Ok(About {
            fingerprint: self.read(|| self.objects.read(self.root.fingerprint))?,
            uncounted: self.read(|| self.objects.read(self.root.uncounted))?,
            opened_by_build: self.read(|| self.objects.read(self.root.opened_by_build))?,
            made: self.read(|| self.objects.read(self.root.made))?,
            outside: self.read(|| self.objects.read(self.root.outside))?,
            executed_by_build: self.read(|| self.objects.read(self.root.executed_by_build))?,
            session: self.root.session,
            partial: self.root.partial,
            front_end: self.root.front_end,
            created: self.root.created,
        })
    }

    /// What the build of the version made.
    pub fn compiled(&self) -> Result<Compiled> {
        self.read(|| compiled::read(&self.objects, self.root.compiled))
    }

    /// All tests, by their numbers.
    pub fn tests(&self) -> Result<BTreeMap<TestNumber, TestRecord>> {
        self.read(|| tests_by_number::read(&self.objects, self.root.tests, None))
    }

    /// The files that some test entered.
    pub fn files(&self) -> Result<Vec<RepoPath>> {
        self.read(|| functions::files(&self.objects, self.root.functions))
    }

    /// Who crossed what in these files. Only their records are read.
    pub fn functions_in(&self, files: &[RepoPath]) -> Result<Vec<FunctionTraces>> {
        let mut found = Vec::new();
        self.each_function(Some(files), &mut |function| found.push(function))?;
        Ok(found)
    }

    fn each_function(
        &self,
        files: Option<&[RepoPath]>,
        each: &mut dyn FnMut(FunctionTraces),
    ) -> Result<()> {
        let most = self.root.test_count as usize;
        self.read(|| functions::read(&self.objects, self.root.functions, files, most, each))
    }

    /// The trace of one test, its functions in order; nothing, if there is no such test.
    pub fn trace_of(&self, test: &str) -> Result<Option<Trace>> {
        let tests = self.tests()?;
        let found = tests.into_iter().find(|(_, record)| record.name == test);
        let Some((number, _)) = found else {
            return Ok(None);
        };
        let mut trace = Trace::default();
        self.each_function(None, &mut |function| {
            let crossed = function
                .groups
                .into_iter()
                .find(|(_, tests)| tests.binary_search(&number).is_ok());
            trace
                .functions
                .extend(crossed.map(|(crossed, _)| (function.id, crossed)));
        })?;
        Ok(Some(trace))
    }

    /// The whole history, to be changed and written as another: `forget` tests, `add` tests.
    pub fn to_recording(&self) -> Result<Recording> {
        let mut recording = Recording::new(self.about()?);
        recording.compiled = self.compiled()?;
        let tests = self.tests()?;
        // Numbers ascend, and so do the places: the order within a group stays.
        let places: rustc_hash::FxHashMap<TestNumber, u32> =
            tests.keys().copied().zip(0..).collect();
        recording.restore(tests.into_values().collect());
        self.each_function(None, &mut |function| {
            let groups = function.groups.into_iter().map(|(crossed, tests)| {
                let places = tests
                    .iter()
                    .filter_map(|test| places.get(test).copied())
                    .collect();
                (crossed, places)
            });
            recording.restore_function(function.id, groups.collect());
        })?;
        Ok(recording)
    }

    fn read<T>(&self, action: impl FnOnce() -> std::result::Result<T, Trouble>) -> Result<T> {
        action().map_err(|trouble| explained("read the history", trouble))
    }
}
