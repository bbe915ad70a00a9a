//! The builds of both versions, as the object witness needs them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Asked;
use crate::config::Config;
use crate::difference::{Difference, is_library_name};
use crate::error::Result;
use crate::history::{About, BeyondTrace, Compiled, Histories, Recording, VersionKey};
use crate::lang::facts::MadeFacts;
use crate::objects;
use crate::recording::fingerprint;
use crate::repo::{RepoPath, Repository, Version};
use crate::runner::Definition;
use crate::witness::code::{Builds, Doing, Verdict, Verdicts};
use crate::witness::driver::Drivers;
use crate::witness::files::Folders;
use crate::witness::versioned::Versioned;
use crate::witness::{ChangedFile, FileClass};
use crate::workshop;

/// What was recorded of the head itself.
pub(super) struct RecordedHead {
    /// What defines each test, by its name.
    pub(super) definitions: BTreeMap<String, Vec<u8>>,
    compiled: Compiled,
    about: About,
}

impl RecordedHead {
    /// Finds it, if the whole head was recorded in the same environment.
    pub(super) fn find(
        repository: &Repository,
        config: &Config,
        histories: &Histories,
        head: Version,
    ) -> Result<Option<Self>> {
        let history = histories.find(VersionKey {
            commit: head.commit(),
            tree: head.tree(),
        })?;
        let Some(history) = history else {
            return Ok(None);
        };
        // What cannot be read is as good as not there.
        let Ok(about) = history.about() else {
            return Ok(None);
        };
        let recorded = &about.fingerprint;
        let other = fingerprint::difference_without_build(recorded, config, repository);
        let (Ok(compiled), Ok(tests)) = (history.compiled(), history.tests()) else {
            return Ok(None);
        };
        let is_whole = !about.partial && other.is_none();
        let tests = tests.into_values();
        Ok(is_whole.then(|| RecordedHead {
            definitions: tests.map(|test| (test.name, test.definition)).collect(),
            compiled,
            about,
        }))
    }
}

impl Asked<'_> {
    /// What the build of the head made: as it is at hand, or as it was recorded.
    pub(super) fn build_of_head(&self) -> Option<Compiled> {
        if let Some(built) = self.question.built {
            let records = self.candidates.iter();
            let records = records.filter_map(|one| one.record.as_deref());
            return Some(built.products.compiled(built.contents.clone(), records));
        }
        self.head.as_ref().map(|head| head.compiled.clone())
    }

    /// What holds for the build of the head as a whole.
    pub(super) fn about_head(&self) -> Option<&About> {
        let recorded = self.head.as_ref().map(|head| &head.about);
        self.question.built.map(|built| built.about).or(recorded)
    }

    /// What the builds do to each candidate, given what was recorded with the base.
    /// `sources` are those that are compiled to something else, as far as the tree tells.
    pub(super) fn verdicts(
        &self,
        known: &Recording,
        after: &Compiled,
        sources: &BTreeSet<RepoPath>,
    ) -> (Verdicts, Versioned) {
        let before = &known.compiled;
        let versioned = Versioned::find(before, after);
        let after = &*versioned.under_the_old_names(before, after);
        let difference = objects::difference(&before.contents, &after.contents, &is_library_name);
        let affected: BTreeSet<&str> = difference
            .binaries
            .values()
            .flat_map(|binary| binary.affected.keys().map(String::as_str))
            .collect();
        let made = self.about_head().map_or(&[][..], |about| &about.made);
        let drivers = Drivers::find(
            (&before.contents, &known.about.made),
            (&after.contents, made),
        );
        let recounted = difference.binaries.values();
        let recounted = recounted.filter_map(|binary| binary.recounted.as_ref());
        let recounted = recounted.flatten().map(String::as_str);
        let differing: BTreeSet<&str> = affected.iter().copied().chain(recounted).collect();
        let functions = drivers.functions();
        let names = functions.iter().map(String::as_str);
        let names: BTreeSet<&str> = names.chain(differing.iter().copied()).collect();
        let entering = known.entering(&names);
        let mut executed: FxHashMap<u32, BTreeSet<&str>> = FxHashMap::default();
        for (name, tests) in &entering {
            for place in tests.iter().filter(|_| differing.contains(name)) {
                executed.entry(*place).or_default().insert(name);
            }
        }
        let entering_made = known.entering_symbols(&differing);
        let uncounted = &known.about.uncounted;
        let executed_by_build = known.about.executed_by_build.iter();
        let builds = Builds {
            before,
            after,
            difference: &difference,
            versioned: &versioned,
            defining: before.contents.defining(&differing),
            drivers,
            executed_by_build: executed_by_build.map(|id| id.name.as_str()).collect(),
        };
        let judge = |name: &str| {
            let (Some(place), Some(record)) = (known.place(name), known.record(name)) else {
                return (Verdict::Unknown, (false, None));
            };
            let looked = record.looked.as_ref();
            // A trace that is not that of the source any more tells nothing of who executed what.
            let is_untold = record.beyond_trace == Some(BeyondTrace::Rewritten);
            let nothing = BTreeSet::new();
            let executed = match is_untold {
                true => &differing,
                false => executed.get(&place).unwrap_or(&nothing),
            };
            let may_have_executed = |name: &str| {
                let tests = entering.get(name);
                let is_clear = tests.is_some_and(|tests| !tests.contains(&place));
                is_untold || !is_clear || !uncounted.counts(name)
            };
            let may_have_executed_made = |name: &str| {
                let tests = entering_made.get(name);
                !uncounted.counts(name)
                    || is_untold
                    || tests.is_some_and(|tests| tests.contains(&place))
            };
            let doing = Doing {
                beyond: looked.and_then(|looked| looked.beyond.as_ref()),
                executed,
                may_have_executed: &may_have_executed,
                may_have_executed_made: &may_have_executed_made,
                command: &command(&record.definition),
            };
            let is_made_alike = builds.is_made_alike(&doing);
            let is_counted_alike = builds.is_counted_alike(&doing);
            let verdict = match (builds.judge(&doing), differing.first()) {
                // That it executed this very function is more than is known.
                (Verdict::Code(_), Some(function)) if is_untold => Verdict::Code(format!(
                    "'{function}' differs, and it may have executed that: {}",
                    BeyondTrace::Rewritten
                )),
                (verdict, _) => verdict,
            };
            (verdict, (is_made_alike, is_counted_alike))
        };
        let candidates = self.candidates.iter();
        let (tests, alike): (_, Vec<_>) = candidates.map(|one| judge(&one.name)).unzip();
        let (is_made_alike, is_counted_alike) = alike.into_iter().unzip();
        let verdicts = Verdicts {
            tests,
            is_made_alike,
            is_counted_alike,
            are_made_otherwise: difference.is_foreign()
                || !says_the_same(made, &known.about.made)
                || !explained(difference.sources(), sources, made),
        };
        (verdicts, versioned)
    }

    /// Files of the tree that the builds of both versions left in different states.
    pub(super) fn altered(known: &Recording, after: &Compiled) -> Vec<ChangedFile> {
        let before = &known.compiled.altered;
        let files: BTreeSet<&RepoPath> = before.keys().chain(after.altered.keys()).collect();
        let differing = files
            .into_iter()
            .filter(|file| before.get(*file) != after.altered.get(*file));
        differing.map(ChangedFile::altered).collect()
    }

    /// The folders of both versions; none where no file came or went, or was altered by a build.
    pub(super) fn folders(
        &self,
        difference: &Difference,
        altered: &[ChangedFile],
    ) -> Result<Folders> {
        let changes = difference.changes.iter();
        let mut files = changes.filter_map(|change| ChangedFile::of(change, |_| FileClass::Other));
        if altered.is_empty() && files.all(|file| file.is_only_modified) {
            return Ok(Folders::default());
        }
        let of = |version: &Version| -> Result<BTreeSet<RepoPath>> {
            let files = self.repository.files(version)?;
            let folders = files.iter().flat_map(|file| file.path.ancestors());
            Ok(folders.collect())
        };
        Ok(Folders {
            before: of(&difference.base)?,
            after: of(&difference.head)?,
        })
    }
}

/// Whether each object that differs comes from a source of which the tree says that it is compiled to something else. Where it does
/// not, options were made of something, or a header came in by other ways than an `#include` of the tree.
fn explained<'o>(
    mut objects: impl Iterator<Item = &'o str>,
    recompiled: &BTreeSet<RepoPath>,
    made: &[MadeFacts],
) -> bool {
    let names = recompiled.iter().map(RepoPath::file_name);
    // What a test driver that CMake made is compiled to is known by its rows.
    let drivers = made.iter().filter(|made| made.driver.is_some());
    let drivers = drivers.filter_map(|made| made.file.rsplit('/').next());
    let names: BTreeSet<&[u8]> = names.chain(drivers.map(str::as_bytes)).collect();
    objects.all(|source| names.contains(source.as_bytes()))
}

/// Whether two builds say the same in C.
fn says_the_same(one: &[MadeFacts], other: &[MadeFacts]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.says_the_same(other))
}

/// The command of a test, with places of the workshop for what is there.
fn command(definition: &[u8]) -> Vec<String> {
    let command = Definition::decoded(definition).unwrap_or_default().command;
    let places = [("{build}/", workshop::BUILD), ("{tree}/", workshop::TREE)];
    let in_workshop = |word: String| {
        let place = places.iter().find_map(|(folder, name)| {
            let rest = word.strip_prefix(folder)?;
            Some(format!("{name}/{rest}"))
        });
        place.unwrap_or(word)
    };
    command.into_iter().map(in_workshop).collect()
}
