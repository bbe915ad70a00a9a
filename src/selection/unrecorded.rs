//! Selection without any recording: every test may do whatever can be reached by name from a `main` (TestTube, section 5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Asked, Latest, Question, Selection, candidates};
use crate::config::Config;
use crate::difference::{Building, all_facts, difference};
use crate::error::Result;
use crate::history::{
    About, FunctionTraces, Outcome, TestNumber, TestRecord, Uncounted, VersionKey,
};
use crate::lang::c::Granularity;
use crate::program::closure::Closure;
use crate::repo::Repository;
use crate::runner::Test;
use crate::select::Plan;
use crate::trace::{Crossed, FunctionId};
use crate::witness::code::Verdicts;
use crate::witness::source::{Source, Traces};
use crate::witness::versioned::Versioned;

/// Answers a question about listed tests of which nothing is known.
pub fn unrecorded_selection(
    repository: &Repository,
    config: &Config,
    question: &Question<'_>,
) -> Result<Selection> {
    let listing = question.listing.unwrap_or_default();
    let numbers = (0..).map(TestNumber);
    let records = listing.iter().map(|test| as_if_passed(test, question));
    let tests = numbers.zip(records.map(Arc::new)).collect();
    let asked = Asked {
        repository,
        config,
        head: None,
        question,
        candidates: candidates(config, question, &tests, &Latest::default(), None),
        tests,
        latest: Latest::default(),
        hint: super::baseline::RECORD,
    };
    let versions = (question.base, question.head);
    let difference = difference(
        repository,
        config,
        versions,
        Building::default(),
        Granularity::Expression,
    )?;
    let facts = all_facts(repository, config, &question.base)?;
    let nothing: [FunctionId; 0] = [];
    let reached = Closure::new(&facts).from(&nothing).into_iter();
    let everybody: Vec<TestNumber> = asked.tests.keys().copied().collect();
    let functions: Vec<FunctionTraces> = reached
        .map(|id| FunctionTraces {
            id,
            groups: vec![(Crossed::Whole, everybody.clone())],
        })
        .collect();
    let places: FxHashMap<TestNumber, usize> = asked.places();
    let source = Source::new(
        &difference,
        &Traces {
            functions: &functions,
            uncounted: &Uncounted::default(),
            has_uncounted_made: false,
            places: &places,
            candidates: asked.candidates.len(),
        },
    );
    let folders = asked.folders(&difference, &[])?;
    let unknown = Verdicts::default();
    let files = asked.testified(
        &difference,
        &source,
        &About::default(),
        folders,
        Vec::new(),
        &unknown,
    );
    let plan = Plan::new(&asked.candidates, files, &source.hits, &unknown);
    Ok(Selection {
        base: question.base,
        head: question.head,
        baseline: None,
        notices: difference.notice.clone().into_iter().collect(),
        difference: Some(difference),
        source,
        plan,
        everything: None,
        hint: None,
        latest: Latest::default(),
        known: None,
        alone: Vec::new(),
        versioned: Versioned::default(),
        executed_by_build: BTreeSet::new(),
        knows_builds: false,
        opened_by_builds: BTreeSet::new(),
        rewritten: BTreeMap::new(),
        may_lack: None,
    })
}

/// Nobody knows how it went: only what changed can select it.
fn as_if_passed(test: &Test, question: &Question<'_>) -> TestRecord {
    let version = VersionKey {
        commit: question.base.commit(),
        tree: question.base.tree(),
    };
    TestRecord {
        outcome: Outcome::Passed,
        ..TestRecord::unknown(&test.name, test.definition.encoded(), version)
    }
}
