//! Who may be selected: the tests that are listed, or known to be there, with what is recorded of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::builds::RecordedHead;
use super::{Latest, Question, Tests};
use crate::config::Config;
use crate::history::TestRecord;
use crate::repo::RepoPath;
use crate::select::Candidate;
use crate::witness::FileClass;

/// The tests of the head as far as they are known: as it lists them, or else as they were recorded.
pub(super) fn candidates(
    config: &Config,
    question: &Question<'_>,
    recorded: &Tests,
    latest: &Latest,
    known_head: Option<&RecordedHead>,
) -> Vec<Candidate> {
    let head = question.head;
    let candidate = |name: &str, record: Option<&Arc<TestRecord>>, listed| Candidate {
        name: name.to_owned(),
        record: record.cloned(),
        latest: latest.tests.get(name).cloned(),
        ran_here: latest.tests.get(name).is_some_and(|latest| {
            let is_sure = latest.outcome.is_fine() && latest.doubt.is_none();
            is_sure && latest.ran_on.tree == head.tree()
        }),
        experience: latest.experiences.get(name).cloned(),
        listed,
        is_pinned: config.is_pinned(name),
    };
    let Some(listing) = question.listing else {
        // A head that was recorded says which tests there still are.
        let is_there = |test: &&Arc<TestRecord>| {
            known_head.is_none_or(|head| head.definitions.contains_key(&test.name))
        };
        let mut all: Vec<Candidate> = recorded
            .values()
            .filter(is_there)
            .map(|test| {
                let listed = known_head.and_then(|head| head.definitions.get(&test.name));
                candidate(&test.name, Some(test), listed.cloned())
            })
            .collect();
        // What came since the baseline is known where it ran.
        let names: BTreeSet<&str> = recorded.values().map(|test| test.name.as_str()).collect();
        let since = latest.tests.keys();
        let since = since.filter(|name| !names.contains(name.as_str()));
        all.extend(since.map(|name| candidate(name, None, None)));
        return all;
    };
    let by_name: FxHashMap<&str, &Arc<TestRecord>> = recorded
        .values()
        .map(|test| (test.name.as_str(), test))
        .collect();
    let listed = listing.iter().map(|test| {
        let record = by_name.get(test.name.as_str()).copied();
        candidate(&test.name, record, Some(test.definition.encoded()))
    });
    listed.collect()
}

pub(super) fn class(config: &Config, path: &RepoPath) -> FileClass {
    if config.is_global(path) {
        FileClass::Global
    } else if config.is_ignored(path) {
        FileClass::Ignored
    } else if config.is_source(path) {
        FileClass::Source
    } else {
        FileClass::Other
    }
}
