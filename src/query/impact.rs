//! What a change would cost: the tests that would be selected if some entities changed (TestTube's `ttidentify`).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Past;
use super::pattern::{Pattern, Wanted};
use crate::config::Config;
use crate::difference::{Difference, SameVersion, Supposed};
use crate::error::Result;
use crate::history::TestNumber;
use crate::lang::facts::Kind;
use crate::repo::RepoPath;
use crate::witness::source::{DangerKind, Source, Traces};

/// An entity, and who would have to run if it changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Impact {
    pub file: RepoPath,
    pub kind: Kind,
    pub name: String,
    /// By name.
    pub tests: BTreeSet<String>,
    /// Why it is every test, if it is known to be.
    pub everybody: Option<String>,
}

/// Supposes a change of each entity that a pattern means, one after the other.
pub fn impacts(
    config: &Config,
    past: &Past,
    same: &mut SameVersion,
    patterns: &[Pattern],
) -> Result<Vec<Impact>> {
    let mut impacts = Vec::new();
    let entities = matching(same, patterns);
    // Bodies do not affect each other, so one comparison is enough for all.
    let (bodies, others): (Vec<Supposed>, Vec<Supposed>) = entities
        .into_iter()
        .partition(|one| one.kind == Kind::Function);
    impacts.extend(of_bodies(past, same, bodies)?);
    for one in others {
        let difference = same.suppose(std::slice::from_ref(&one))?;
        impacts.push(joined(one, &answer(past, &difference)));
    }
    for file in files(same, patterns) {
        impacts.push(of_file(config, past, same, file)?);
    }
    impacts.sort();
    Ok(impacts)
}

/// The entities of the version that a pattern means.
fn matching(same: &SameVersion, patterns: &[Pattern]) -> BTreeSet<Supposed> {
    let all = same.facts().iter().flat_map(|(file, facts)| {
        let defined = facts.entities.iter();
        let defined = defined.filter(|entity| !entity.declaration && entity.kind != Kind::File);
        defined.map(move |entity| (file, entity))
    });
    let meant = all.filter(|(file, entity)| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| pattern.matches(entity.kind, file, &entity.name))
    });
    let supposed = meant.map(|(file, entity)| Supposed {
        file: file.clone(),
        kind: entity.kind,
        name: entity.name.clone(),
    });
    supposed.collect()
}

fn files(same: &SameVersion, patterns: &[Pattern]) -> BTreeSet<RepoPath> {
    let sources = same.facts().iter().map(|(path, _)| path);
    let others = same.tree().others.iter().map(|file| &file.path);
    let is_meant = |path: &&RepoPath| {
        let mut wanted = patterns.iter();
        wanted.any(|pattern| {
            pattern.wanted == Wanted::Entity(Kind::File)
                && pattern.matches(Kind::File, path, &path.to_string())
        })
    };
    sources.chain(others).filter(is_meant).cloned().collect()
}

fn of_bodies(past: &Past, same: &mut SameVersion, bodies: Vec<Supposed>) -> Result<Vec<Impact>> {
    if bodies.is_empty() {
        return Ok(Vec::new());
    }
    let difference = same.suppose(&bodies)?;
    let reached = answer(past, &difference);
    let mut by_function: BTreeMap<(RepoPath, String), Reached> = BTreeMap::new();
    for danger in reached {
        let own = by_function
            .entry((danger.file.clone(), danger.name.clone()))
            .or_insert_with(|| danger.empty());
        own.tests.extend(danger.tests);
        own.everybody = own.everybody.take().or(danger.everybody);
    }
    let impacts = bodies.into_iter().map(|one| {
        let own = by_function.remove(&(one.file.clone(), one.name.clone()));
        joined(one, own.as_slice())
    });
    Ok(impacts.collect())
}

/// A file as a whole: everything that a source defines; of another file, who opened it.
fn of_file(config: &Config, past: &Past, same: &mut SameVersion, file: RepoPath) -> Result<Impact> {
    let facts = same.facts().iter().find(|(path, _)| *path == file);
    let supposed = facts.map(|(path, facts)| {
        let defined = facts.entities.iter();
        let defined = defined.filter(|entity| !entity.declaration && entity.kind != Kind::File);
        let all = defined.map(|entity| Supposed {
            file: path.clone(),
            kind: entity.kind,
            name: entity.name.clone(),
        });
        all.collect::<BTreeSet<_>>()
    });
    let mut impact = Impact {
        kind: Kind::File,
        name: file.to_string(),
        tests: BTreeSet::new(),
        everybody: None,
        file,
    };
    if config.is_ignored(&impact.file) {
        return Ok(impact);
    }
    if config.is_global(&impact.file) {
        impact.everybody = Some("'files.global' says so".to_owned());
    } else if let Some(supposed) = supposed {
        let all: Vec<Supposed> = supposed.into_iter().collect();
        let difference = same.suppose(&all)?;
        for danger in answer(past, &difference) {
            impact.tests.extend(danger.tests);
            impact.everybody = impact.everybody.or(danger.everybody);
        }
    } else {
        let opened = past.about.opened_by_build.as_ref();
        if opened.is_none_or(|opened| opened.contains(&impact.file)) {
            impact.everybody = Some("the build may read it".to_owned());
        }
    }
    let tests = past.tests.values();
    let reading = tests.filter(|test| match &test.looked {
        Some(looked) => looked.touched.contains(&impact.file),
        // It is assumed that sources are read by compilers alone.
        None => !config.is_source(&impact.file),
    });
    impact.tests.extend(reading.map(|test| test.name.clone()));
    if impact.everybody.is_some() {
        impact.tests = all_tests(past);
    }
    Ok(impact)
}

fn all_tests(past: &Past) -> BTreeSet<String> {
    past.tests.values().map(|test| test.name.clone()).collect()
}

/// One danger, and who meets it.
struct Reached {
    file: RepoPath,
    name: String,
    tests: BTreeSet<String>,
    everybody: Option<String>,
}

impl Reached {
    fn empty(&self) -> Self {
        Reached {
            file: self.file.clone(),
            name: self.name.clone(),
            tests: BTreeSet::new(),
            everybody: None,
        }
    }
}

fn joined(one: Supposed, reached: &[Reached]) -> Impact {
    let tests = reached.iter().flat_map(|danger| &danger.tests);
    Impact {
        file: one.file,
        kind: one.kind,
        name: one.name,
        tests: tests.cloned().collect(),
        everybody: reached.iter().find_map(|danger| danger.everybody.clone()),
    }
}

/// Asks the source witness, as a selection does.
fn answer(past: &Past, difference: &Difference) -> Vec<Reached> {
    let names: Vec<&str> = past.tests.values().map(|test| test.name.as_str()).collect();
    let places: FxHashMap<TestNumber, usize> = past.tests.keys().copied().zip(0..).collect();
    let source = Source::new(
        difference,
        &Traces {
            functions: &past.functions,
            uncounted: &past.about.uncounted,
            has_uncounted_made: past.about.has_uncounted_made(),
            places: &places,
            candidates: names.len(),
        },
    );
    let mut reached: Vec<Reached> = source
        .dangers
        .iter()
        .map(|danger| Reached {
            file: danger.file.clone(),
            name: danger.name.clone(),
            tests: BTreeSet::new(),
            everybody: match &danger.kind {
                DangerKind::Uncounted { why, .. } => Some(why.clone()),
                DangerKind::Program { entity } => {
                    Some(difference.entities[*entity].because.clone())
                }
                _ => None,
            },
        })
        .collect();
    for (name, hits) in names.iter().zip(&source.hits) {
        for hit in hits {
            reached[hit.danger].tests.insert((*name).to_owned());
        }
    }
    reached
}
