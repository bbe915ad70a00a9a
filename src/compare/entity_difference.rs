//! Entity differences: what was added, removed or changed between two versions of a file (TestTube's `ttdiff`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lang::cfg::Span;
use crate::lang::facts::{Entity, FileFacts, Kind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
    /// Unchanged itself, but something that it mentions changed.
    Affected,
}

impl ChangeKind {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Affected => "affected",
        }
    }
}

/// One entity that differs between the versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityDifference {
    pub change: ChangeKind,
    pub kind: Kind,
    pub name: String,
    pub declaration: bool,
    /// What users of the name depend on has changed, not only a function's body.
    pub interface: bool,
    pub internal: bool,
    /// What changed acts without being mentioned or executed: the word that says so.
    pub unmentioned: Option<String>,
    pub base: Option<Span>,
    pub head: Option<Span>,
}

/// Compares the entities of one file in both versions.
#[must_use]
pub fn entity_differences(base: &FileFacts, head: &FileFacts) -> Vec<EntityDifference> {
    let mut pairs: BTreeMap<Key<'_>, (Vec<&Entity>, Vec<&Entity>)> = BTreeMap::new();
    for entity in &base.entities {
        pairs.entry(key(entity)).or_default().0.push(entity);
    }
    for entity in &head.entities {
        pairs.entry(key(entity)).or_default().1.push(entity);
    }
    pairs
        .into_iter()
        .filter_map(|((kind, name, declaration), (old, new))| {
            let digests = |entities: &[&Entity], digest: fn(&Entity) -> u64| {
                let mut digests: Vec<u64> = entities.iter().map(|entity| digest(entity)).collect();
                // The order of macros decides which definition a use sees, and pragmas act on what follows.
                if !matches!(kind, Kind::Macro | Kind::File) {
                    digests.sort_unstable();
                }
                digests
            };
            let whole: fn(&Entity) -> u64 = |entity| entity.digest;
            if digests(&old, whole) == digests(&new, whole) {
                return None;
            }
            let interface: fn(&Entity) -> u64 = |entity| entity.interface;
            let change = match (old.is_empty(), new.is_empty()) {
                (true, _) => ChangeKind::Added,
                (_, true) => ChangeKind::Removed,
                _ => ChangeKind::Changed,
            };
            let differing = |mine: &[&Entity], theirs: &[&Entity]| {
                mine.iter()
                    .find(|entity| !theirs.iter().any(|other| other.digest == entity.digest))
                    .or(mine.first())
                    .map(|entity| entity.span)
            };
            let either = || old.iter().chain(&new);
            let interface_differs = digests(&old, interface) != digests(&new, interface);
            Some(EntityDifference {
                change,
                kind,
                name: name.to_owned(),
                declaration,
                interface: interface_differs,
                internal: either().all(|entity| entity.internal),
                unmentioned: either()
                    .filter(|_| interface_differs || kind != Kind::Function)
                    .find_map(|entity| entity.unmentioned.clone())
                    .or_else(|| {
                        either().find_map(|entity| entity.body.as_ref()?.unmentioned.clone())
                    }),
                base: differing(&old, &new),
                head: differing(&new, &old),
            })
        })
        .collect()
}

/// Kind, name, and whether it only declares.
type Key<'a> = (Kind, &'a str, bool);

/// Remainders have no name of their own: they are compared as the sequence that they are.
fn key(entity: &Entity) -> Key<'_> {
    match entity.kind {
        Kind::File => (Kind::File, "", false),
        kind => (kind, &entity.name, entity.declaration),
    }
}
