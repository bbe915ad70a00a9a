//! Things that changed places: what stands behind a `#define`, an `#include` or a pragma depends on it, what stands before does not.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::compare::affected::Affected;
use crate::compare::entity_difference::ChangeKind;
use crate::difference::includes::everything;
use crate::difference::outsiders::is_for_outsiders;
use crate::difference::seeds::Seeds;
use crate::difference::{Loaded, Reach, ReportedEntity, Versions};
use crate::digest::Name;
use crate::error::Result;
use crate::lang::facts::{Entity, FileFacts, Kind};
use crate::program::Program;
use crate::program::facts::FactsSource;
use crate::repo::RepoPath;

/// What something moved over, by file: that is visible to it now, or no longer.
#[derive(Default)]
pub(super) struct Crossed {
    /// Includes by their digests.
    pub(super) includes: BTreeMap<RepoPath, BTreeSet<u64>>,
    /// Functions whose only declaration moved over a call.
    pub(super) functions: BTreeMap<RepoPath, BTreeSet<String>>,
}

/// Something that is in both versions: the n-th of its kind.
type Key<'a> = (Kind, &'a str, bool, u64, usize);

/// The lines on which an entity begins and ends in both versions.
struct Pair<'a> {
    entity: &'a Entity,
    lines: (u32, u32),
    ends: (u32, u32),
    /// A function of which something else changed, too.
    changed: bool,
}

/// Adds the names of macros that moved over their uses, and files in which something moved over a pragma.
pub(super) fn add(
    seeds: &mut Seeds,
    versions: &Versions,
    source: &mut FactsSource,
    macros: &Affected,
) -> Result<Crossed> {
    let mut crossed = Crossed::default();
    for file in &versions.files {
        let (Some(base), Some(head)) = (&file.base, &file.head) else {
            continue;
        };
        let pairs = pairs(base, head);
        let includes = include_lines(base, head);
        if is_in_order(&pairs, &includes) {
            continue;
        }
        let path = file.file.path();
        seeds.reported.extend(moved_among_their_like(&pairs, path));
        let reason = |what: &str| format!("something moved over {what} in {path}");
        let (names, before_outside) = moved_macros(versions, file, macros, &pairs, &includes);
        for name in names {
            let because = reason(&format!("a definition of '{name}'"));
            seeds.names.push((name, because));
        }
        let pragma = pairs.iter().any(|pair| {
            pair.entity.kind == Kind::File
                && acts_on_what_follows(pair.entity)
                && pairs.iter().any(|other| {
                    !matches!(other.entity.kind, Kind::Macro | Kind::File)
                        && crosses(pair.lines, other)
                })
        });
        if pragma {
            seeds.whole_file(versions, path, &reason("a pragma"));
        } else if before_outside {
            seeds.whole_file(
                versions,
                path,
                &reason("the include of a header outside the repository"),
            );
        }
        for (digest, lines) in &includes {
            let moved = pairs.iter().any(|pair| {
                !matches!(pair.entity.kind, Kind::Macro | Kind::File) && crosses(*lines, pair)
            });
            if moved {
                let digests = crossed.includes.entry(path.clone()).or_default();
                digests.insert(*digest);
            }
        }
        for name in moved_declarations(base, head, &pairs) {
            if !is_declared_elsewhere(versions, source, file, &name)? {
                let names = crossed.functions.entry(path.clone()).or_default();
                names.insert(name);
            }
        }
    }
    Ok(crossed)
}

/// What acts without being mentioned, as constructors and entries of a section do, in another order.
fn moved_among_their_like(pairs: &[Pair<'_>], path: &RepoPath) -> Option<ReportedEntity> {
    let acts = |pair: &&Pair<'_>| {
        let body = pair.entity.body.as_ref();
        let word = pair.entity.unmentioned.as_ref();
        let word = word.or_else(|| body?.unmentioned.as_ref());
        // Of what a macro makes nobody knows how.
        word.is_some() || pair.entity.name.contains('(')
    };
    let mut acting: Vec<&Pair<'_>> = pairs.iter().filter(acts).collect();
    acting.sort_by_key(|pair| pair.lines.0);
    let moved = acting
        .windows(2)
        .find(|two| two[0].lines.1 > two[1].lines.1)?;
    let entity = moved[1].entity;
    Some(ReportedEntity {
        change: ChangeKind::Changed,
        kind: entity.kind,
        file: path.clone(),
        name: entity.name.clone(),
        because: format!(
            "it moved over '{}', and both may act without being mentioned, in their order",
            moved[0].entity.name
        ),
        reach: Reach::Program,
        base: Some(entity.span),
        head: None,
    })
}

/// Whether a line is before, inside or behind an entity in one version, and elsewhere in the other.
fn crosses(lines: (u32, u32), pair: &Pair<'_>) -> bool {
    let side = |line: u32, first: u32, last: u32| (line >= first, line > last);
    side(lines.0, pair.lines.0, pair.ends.0) != side(lines.1, pair.lines.1, pair.ends.1)
}

/// External functions that are not declared by the same declarations before a function that uses them: a call without a
/// declaration takes its arguments as they come.
fn moved_declarations(base: &FileFacts, head: &FileFacts, pairs: &[Pair<'_>]) -> Vec<String> {
    let declared_before = |facts: &FileFacts, name: &str, line: u32| {
        let entities = facts.entities.iter().filter(|entity| {
            entity.kind == Kind::Function && entity.name == name && entity.span.line < line
        });
        entities
            .map(|entity| entity.interface)
            .collect::<BTreeSet<u64>>()
    };
    let mut names = Vec::new();
    for pair in pairs {
        let entity = pair.entity;
        if entity.kind != Kind::Function || entity.internal {
            continue;
        }
        let hash = Name::of(entity.name.as_bytes());
        let is_used = pairs.iter().any(|user| {
            let body = user.entity.body.as_ref();
            body.is_some_and(|body| body.mentions.contains(hash))
                && crosses(pair.lines, user)
                && declared_before(base, &entity.name, user.lines.0)
                    != declared_before(head, &entity.name, user.lines.1)
        });
        if is_used {
            names.push(entity.name.clone());
        }
    }
    names
}

/// Whether a header that the file includes in both versions declares a function.
fn is_declared_elsewhere(
    versions: &Versions,
    source: &mut FactsSource,
    file: &Loaded,
    name: &str,
) -> Result<bool> {
    let hash = Name::of(name.as_bytes());
    let sides = [
        (&versions.base, &file.file.base),
        (&versions.head, &file.file.head),
    ];
    for (program, path) in sides {
        let Some((path, _)) = path else {
            return Ok(false);
        };
        let mut headers = everything(program, path);
        headers.retain(|header| program.files[*header].lex.names.contains(hash));
        let facts = source.parse(program, &headers)?;
        let mut entities = facts.iter().flat_map(|facts| &facts.entities);
        if !entities.any(|entity| entity.kind == Kind::Function && entity.name == name) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn acts_on_what_follows(remainder: &Entity) -> bool {
    let harmless = ["_Static_assert", "static_assert", "asm", "__asm"];
    !harmless.iter().any(|word| remainder.name.starts_with(word))
}

/// Entities with the same tokens in both versions.
fn pairs<'a>(base: &'a FileFacts, head: &'a FileFacts) -> Vec<Pair<'a>> {
    let mut lines: FxHashMap<Key, (u32, u32)> = FxHashMap::default();
    let keys = |facts: &'a FileFacts| {
        let mut seen: FxHashMap<(Kind, &str, bool, u64), usize> = FxHashMap::default();
        facts.entities.iter().map(move |entity| {
            let key = (
                entity.kind,
                entity.name.as_str(),
                entity.declaration,
                entity.digest,
            );
            let count = seen.entry(key).or_default();
            *count += 1;
            ((key.0, key.1, key.2, key.3, *count), entity)
        })
    };
    for (key, entity) in keys(head) {
        lines.insert(key, (entity.span.line, entity.end_line));
    }
    let pair = |entity: &'a Entity, (line, end): (u32, u32), changed: bool| Pair {
        entity,
        lines: (entity.span.line, line),
        ends: (entity.end_line, end),
        changed,
    };
    let mut pairs = Vec::new();
    let mut left: FxHashMap<&str, Vec<&'a Entity>> = FxHashMap::default();
    for (key, entity) in keys(base) {
        match lines.remove(&key) {
            Some(other) => pairs.push(pair(entity, other, false)),
            None if entity.body.is_some() => left.entry(&entity.name).or_default().push(entity),
            None => {}
        }
    }
    // A function that changed itself is still a place over which something may move.
    for (key, entity) in keys(head) {
        let partners = left.get_mut(entity.name.as_str());
        if entity.body.is_some()
            && lines.contains_key(&key)
            && let Some(partners) = partners.filter(|partners| !partners.is_empty())
        {
            let other = (entity.span.line, entity.end_line);
            pairs.push(pair(partners.remove(0), other, true));
        }
    }
    pairs
}

/// The lines of the includes that stand once in each version.
fn include_lines(base: &FileFacts, head: &FileFacts) -> Vec<(u64, (u32, u32))> {
    base.includes
        .iter()
        .filter_map(|include| {
            let other = head
                .includes
                .iter()
                .find(|other| other.digest == include.digest)?;
            Some((include.digest, (include.line, other.line)))
        })
        .collect()
}

fn is_in_order(pairs: &[Pair<'_>], includes: &[(u64, (u32, u32))]) -> bool {
    let mut lines: Vec<(u32, u32)> = pairs
        .iter()
        .map(|pair| pair.lines)
        .chain(
            pairs
                .iter()
                .filter(|pair| pair.changed)
                .map(|pair| pair.ends),
        )
        .chain(includes.iter().map(|(_, lines)| *lines))
        .collect();
    lines.sort_unstable();
    lines.is_sorted_by_key(|(_, head)| *head)
}

/// Macros of which a use, or an include that may look at them, is on the other side now; whether an include of a header outside the tree is.
fn moved_macros(
    versions: &Versions,
    file: &Loaded,
    macros: &Affected,
    pairs: &[Pair<'_>],
    includes: &[(u64, (u32, u32))],
) -> (Vec<String>, bool) {
    let mut names = Vec::new();
    let mut before_outside = false;
    let by_conditions = conditions_of_macros(versions, file, pairs);
    for definition in pairs.iter().filter(|pair| pair.entity.kind == Kind::Macro) {
        let crossing: Vec<usize> = (0..pairs.len())
            .filter(|at| crosses(definition.lines, &pairs[*at]))
            .collect();
        let name = &definition.entity.name;
        let hash = Name::of(name.as_bytes());
        let mut uses = macros.capturing(&[hash]);
        uses.insert(hash);
        let used = crossing.into_iter().any(|at| {
            let entity = pairs[at].entity;
            let hit = |name: Name| uses.contains(&name) || name == hash.weak();
            match entity.kind {
                Kind::Macro => by_conditions[at].iter().any(|name| hit(*name)),
                _ => match &entity.body {
                    Some(body) => body.mentions.iter().any(hit),
                    None => entity.mentions.iter().any(hit),
                },
            }
        });
        let over_include = includes
            .iter()
            .filter(|(_, (base, head))| {
                (definition.lines.0 < *base) != (definition.lines.1 < *head)
            })
            .map(|(digest, _)| leads_outside(&versions.base, file, *digest))
            .reduce(|one, two| one || two);
        if used || over_include.is_some() {
            names.push(name.clone());
        }
        before_outside |= over_include == Some(true) && is_for_outsiders(versions, file, name);
    }
    (names, before_outside)
}

/// For each pair that is a macro, the names in the conditions around its definition.
fn conditions_of_macros(versions: &Versions, file: &Loaded, pairs: &[Pair<'_>]) -> Vec<Vec<Name>> {
    let own = file.file.base.as_ref();
    let lex = own
        .and_then(|(path, _)| versions.base.find(path))
        .map(|index| &versions.base.files[index].lex);
    pairs
        .iter()
        .map(|pair| {
            if pair.entity.kind != Kind::Macro {
                return Vec::new();
            }
            let definitions = lex.iter().flat_map(|lex| &lex.macros);
            let same = definitions.filter(|other| other.name == pair.entity.name);
            pair.entity
                .mentions
                .iter()
                .filter(|name| !same.clone().any(|other| other.mentions.contains(*name)))
                .collect()
        })
        .collect()
}

/// Whether an include of the base version brings in a header outside the tree, directly or not.
fn leads_outside(program: &Program, file: &Loaded, digest: u64) -> bool {
    let Some((path, _)) = &file.file.base else {
        return false;
    };
    let includes = file.base.iter().flat_map(|facts| &facts.includes);
    includes
        .filter(|include| include.digest == digest)
        .any(|include| {
            let targets = program.included(path, include);
            targets.is_empty()
                || targets.into_iter().any(|target| {
                    let target = &program.files[target];
                    let mut further = target.lex.includes.iter();
                    further.any(|include| program.included(&target.path, include).is_empty())
                })
        })
}
