//! The comparison of functions: which pairs need a walk, at which granularity, and what the walk found.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::compare::affected::Affected;
use crate::compare::entity_difference::ChangeKind;
use crate::compare::select_inter_tests::{self, Procedure, Status, select_inter_tests};
use crate::compare::select_tests::{LEquivalent, Walk, endanger_entry};
use crate::digest::{Name, Names};
use crate::lang::cfg::{CaseLabel, Cfg, Node};
use crate::lang::facts::{Body, Entity, FileFacts, Flow, Kind};

/// One file in both versions, and what else is known to differ in it.
pub struct FilePair {
    pub base: Option<Arc<FileFacts>>,
    pub head: Option<Arc<FileFacts>>,
    /// Something that counts for the whole file changed.
    pub whole: Option<String>,
    /// Names that mean something else in this file alone, through an `#include` that came or went.
    pub visible: Affected,
}

/// How finely a function's danger is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DangerGranularity {
    Edge,
    Function,
    File,
}

/// A function that differs, or that something it mentions makes differ.
#[derive(Debug, Clone)]
pub struct FunctionDifference {
    /// Index of the file pair.
    pub file: usize,
    pub name: String,
    pub change: ChangeKind,
    /// Indices of the entities in the file's facts.
    pub base: Option<usize>,
    pub head: Option<usize>,
    pub granularity: DangerGranularity,
    /// Why the granularity is not `Edge`.
    pub why: Option<String>,
    /// Why an unchanged function is affected.
    pub because: Option<String>,
    pub walk: Walk,
    /// Every test that enters the function is selected in it.
    pub selects_all: bool,
}

/// Compares the functions of all given files.
#[must_use]
pub fn compare_functions(files: &[FilePair], affected: &Affected) -> Vec<FunctionDifference> {
    let mut differences = Vec::new();
    for (index, file) in files.iter().enumerate() {
        for (base, head) in pair_functions(file) {
            differences.extend(triage(index, file, base, head, affected));
        }
    }
    walk_all(files, affected, &mut differences);
    // A function in which the walk found nothing is not affected after all.
    differences.retain(|difference| {
        difference.change != ChangeKind::Affected || !difference.walk.dangerous.is_empty()
    });
    differences
}

fn functions(facts: Option<&Arc<FileFacts>>) -> impl Iterator<Item = (usize, &Entity)> {
    facts
        .into_iter()
        .flat_map(|facts| facts.entities.iter().enumerate())
        .filter(|(_, entity)| entity.kind == Kind::Function && entity.body.is_some())
}

/// Pairs functions of the same name: equal ones first, the rest in order (under `#if` a name is defined more than once).
fn pair_functions(file: &FilePair) -> Vec<(Option<usize>, Option<usize>)> {
    let mut by_name: FxHashMap<&str, Vec<(usize, &Entity)>> = FxHashMap::default();
    for (index, entity) in functions(file.head.as_ref()) {
        by_name
            .entry(&entity.name)
            .or_default()
            .push((index, entity));
    }
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for (index, entity) in functions(file.base.as_ref()) {
        let partners = by_name.entry(&entity.name).or_default();
        match partners
            .iter()
            .position(|(_, other)| other.digest == entity.digest)
        {
            Some(at) => pairs.push((Some(index), Some(partners.remove(at).0))),
            None => left.push((index, entity)),
        }
    }
    for (index, entity) in left {
        let partners = by_name.entry(&entity.name).or_default();
        let partner = (!partners.is_empty()).then(|| partners.remove(0).0);
        pairs.push((Some(index), partner));
    }
    pairs.extend(
        by_name
            .into_values()
            .flatten()
            .map(|(index, _)| (None, Some(index))),
    );
    pairs.sort_unstable();
    pairs
}

/// Decides what a pair of functions needs; nothing if it needs nothing.
fn triage(
    index: usize,
    file: &FilePair,
    base: Option<usize>,
    head: Option<usize>,
    affected: &Affected,
) -> Option<FunctionDifference> {
    let entity = |facts: &Option<Arc<FileFacts>>, at: Option<usize>| -> Option<Entity> {
        facts.as_ref()?.entities.get(at?).cloned()
    };
    let (old, new) = (entity(&file.base, base), entity(&file.head, head));
    let name = old.as_ref().or(new.as_ref())?.name.clone();
    let mut difference = FunctionDifference {
        file: index,
        name,
        change: ChangeKind::Changed,
        base,
        head,
        granularity: DangerGranularity::Edge,
        why: None,
        because: None,
        walk: Walk::default(),
        selects_all: false,
    };
    let (old_body, new_body) = match (&old, &new) {
        (
            Some(Entity {
                body: Some(old), ..
            }),
            Some(Entity {
                body: Some(new), ..
            }),
        ) => (old, new),
        (Some(old), _) => {
            difference.change = ChangeKind::Removed;
            difference.enter(old);
            return Some(difference);
        }
        _ => {
            difference.change = ChangeKind::Added;
            if let Some(Entity {
                body:
                    Some(Body {
                        flow: Flow::Whole(reason),
                        ..
                    }),
                ..
            }) = &new
            {
                difference.granularity = DangerGranularity::Function;
                difference.why = Some(reason.clone());
            }
            return Some(difference);
        }
    };
    let old_entity = old.as_ref()?;
    let hit = affected
        .hit(&old_body.mentions)
        .or_else(|| affected.hit(&new_body.mentions));
    let visible = file
        .visible
        .hit(&old_body.mentions)
        .or_else(|| file.visible.hit(&new_body.mentions));
    let same = old_body.digest == new_body.digest;
    if same {
        difference.change = ChangeKind::Affected;
        difference.because = hit
            .map(|name| affected.cause(name))
            .or_else(|| visible.map(|name| file.visible.cause(name)))
            .map(|cause| format!("it mentions '{}': {}", cause.name, cause.because));
    }
    if let Some(reason) = &file.whole {
        difference.granularity = DangerGranularity::File;
        difference.why = Some(reason.clone());
        if same {
            difference.because = Some(reason.clone());
        }
        difference.enter(old_entity);
        return Some(difference);
    }
    let unaffected = hit.is_none() && visible.is_none();
    if same && unaffected && is_same_graph(&old_body.flow, &new_body.flow) {
        return None;
    }
    let whole = [&old_body.flow, &new_body.flow]
        .into_iter()
        .find_map(|flow| match flow {
            Flow::Whole(reason) => Some(reason.clone()),
            Flow::Edges(_) => None,
        });
    if let Some(reason) = whole {
        difference.granularity = DangerGranularity::Function;
        difference.why = Some(reason);
        difference.enter(old_entity);
    }
    Some(difference)
}

/// The graphs are the same wherever they stand; a macro that became something else changes the graph around it.
fn is_same_graph(old: &Flow, new: &Flow) -> bool {
    match (old, new) {
        (Flow::Edges(old), Flow::Edges(new)) => old.digest() == new.digest(),
        (old, new) => old == new,
    }
}

impl FunctionDifference {
    /// As if something in a function's body were different: whoever enters it may notice.
    #[must_use]
    pub fn supposed(file: usize, place: usize, entity: &Entity) -> Self {
        let mut difference = FunctionDifference {
            file,
            name: entity.name.clone(),
            change: ChangeKind::Changed,
            base: Some(place),
            head: Some(place),
            granularity: DangerGranularity::Function,
            why: None,
            because: None,
            walk: Walk::default(),
            selects_all: false,
        };
        difference.enter(entity);
        difference
    }

    /// Endangers everybody who enters the function.
    fn enter(&mut self, base: &Entity) {
        self.selects_all = true;
        self.walk = match base.body.as_ref().map(|body| &body.flow) {
            Some(Flow::Edges(cfg)) => endanger_entry(cfg),
            // Without a graph the function has one edge, its entry.
            _ => Walk {
                dangerous: vec![0],
                ..Walk::default()
            },
        };
    }
}

struct Equivalence<'a> {
    affected: &'a Affected,
    visible: &'a Affected,
    /// Macros that use a local name whose declaration differs.
    capturing: FxHashSet<Name>,
}

impl Equivalence<'_> {
    fn is_safe(&self, mentions: &Names) -> bool {
        self.affected.hit(mentions).is_none()
            && self.visible.hit(mentions).is_none()
            && !mentions.iter().any(|name| self.capturing.contains(&name))
    }
}

impl LEquivalent for Equivalence<'_> {
    fn nodes(&self, base: &Node, head: &Node) -> bool {
        base.kind == head.kind && base.digest == head.digest && self.is_safe(&base.mentions)
    }

    fn case(&self, base: &CaseLabel) -> bool {
        self.is_safe(&base.mentions)
    }
}

/// The functions to walk, as a program for `SelectInterTests`.
struct Walks<'a> {
    procedures: Vec<(Procedure<'a>, Equivalence<'a>)>,
    files: Vec<usize>,
    /// Functions by file and name that a call in that file certainly means.
    certain: FxHashMap<(usize, Name), usize>,
}

impl<'a> select_inter_tests::Program for Walks<'a> {
    type Equivalent = Equivalence<'a>;

    fn procedure(&self, index: usize) -> Procedure<'_> {
        self.procedures[index].0
    }

    fn called(&self, procedure: usize, node: &Node) -> Vec<usize> {
        let file = self.files[procedure];
        node.calls
            .iter()
            .filter_map(|name| self.certain.get(&(file, name)).copied())
            .collect()
    }

    fn equivalent(&self, procedure: usize) -> &Equivalence<'a> {
        &self.procedures[procedure].1
    }
}

/// Every function that needs a walk is an entry: no way into it can be missed.
fn walk_all(files: &[FilePair], affected: &Affected, differences: &mut [FunctionDifference]) {
    let mut program = Walks {
        procedures: Vec::new(),
        files: Vec::new(),
        certain: FxHashMap::default(),
    };
    let mut walked = Vec::new();
    for (index, difference) in differences.iter().enumerate() {
        let file = &files[difference.file];
        if difference.granularity != DangerGranularity::Edge
            || !difference.walk.dangerous.is_empty()
        {
            continue;
        }
        let (Some((old, base)), Some((new, head))) = (
            flow_of(file.base.as_ref(), difference.base),
            flow_of(file.head.as_ref(), difference.head),
        ) else {
            continue;
        };
        let capturing = affected.capturing(&changed_locals(old.body.as_ref(), new.body.as_ref()));
        let equivalence = Equivalence {
            affected,
            visible: &file.visible,
            capturing,
        };
        // Only a static function that is defined once, whatever the compiler is told, is certainly the one that a call
        // in its file means.
        let is_certain = |facts: Option<&Arc<FileFacts>>, entity: &Entity| {
            let same = functions(facts).filter(|(_, other)| other.name == entity.name);
            entity.internal && !entity.conditional && same.count() == 1
        };
        if is_certain(file.base.as_ref(), old) && is_certain(file.head.as_ref(), new) {
            let name = Name::of(old.name.as_bytes());
            program
                .certain
                .insert((difference.file, name), walked.len());
        }
        program
            .procedures
            .push((Procedure { base, head }, equivalence));
        program.files.push(difference.file);
        walked.push(index);
    }
    let table = select_inter_tests(&program, walked.len(), 0..walked.len());
    for (index, found) in walked.into_iter().zip(table) {
        if let Some((status, walk)) = found {
            differences[index].selects_all = status == Status::SelectsAll;
            differences[index].walk = walk;
        }
    }
}

/// Endangers the entries of functions in which every test is selected by what they call: who looks at one function alone need
/// not know which other one that is.
pub fn endanger_callers(files: &[FilePair], differences: &mut [FunctionDifference]) {
    for difference in differences {
        let base = files[difference.file].base.as_ref();
        if difference.selects_all
            && difference.walk.dangerous.is_empty()
            && let Some((_, cfg)) = flow_of(base, difference.base)
        {
            difference.walk.dangerous = endanger_entry(cfg).dangerous;
        }
    }
}

fn flow_of(facts: Option<&Arc<FileFacts>>, at: Option<usize>) -> Option<(&Entity, &Cfg)> {
    let entity = facts?.entities.get(at?)?;
    match &entity.body.as_ref()?.flow {
        Flow::Edges(cfg) => Some((entity, cfg)),
        Flow::Whole(_) => None,
    }
}

/// Local names whose declarations are not the same, or not in the same block, in both versions.
fn changed_locals(old: Option<&Body>, new: Option<&Body>) -> Vec<Name> {
    let (Some(old), Some(new)) = (old, new) else {
        return Vec::new();
    };
    if old.locals == new.locals {
        return Vec::new();
    }
    let declarations = |body: &Body, name: Name| -> Vec<u64> {
        body.locals
            .iter()
            .filter(|(other, _)| *other == name)
            .map(|(_, digest)| *digest)
            .collect()
    };
    let names: FxHashSet<Name> = old
        .locals
        .iter()
        .chain(&new.locals)
        .map(|(name, _)| *name)
        .collect();
    let mut changed: Vec<Name> = names
        .into_iter()
        .filter(|name| declarations(old, *name) != declarations(new, *name))
        .collect();
    changed.sort_unstable();
    changed
}
