//! Things that changed places: what stands behind a `#define`, an `#include` or a pragma depends on it, what stands before does not.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::compare::affected::Affected;
use crate::difference::outsiders::is_for_outsiders;
use crate::difference::seeds::Seeds;
use crate::difference::{Loaded, Versions};
use crate::digest::Name;
use crate::lang::facts::{Entity, FileFacts, Kind};
use crate::program::Program;
use crate::repo::RepoPath;

/// Includes over which something moved, by file: its names are visible to that now, or no longer.
pub(super) type Crossed = BTreeMap<RepoPath, BTreeSet<u64>>;

/// Something that is in both versions: the n-th of its kind.
type Key<'a> = (Kind, &'a str, bool, u64, usize);

/// The lines of an entity in both versions.
struct Pair<'a> {
    entity: &'a Entity,
    lines: (u32, u32),
}

/// Adds the names of macros that moved over their uses, and files in which something moved over a pragma.
pub(super) fn add(seeds: &mut Seeds, versions: &Versions, macros: &Affected) -> Crossed {
    let mut crossed = Crossed::new();
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
                        && crosses(pair.lines, other.lines)
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
                !matches!(pair.entity.kind, Kind::Macro | Kind::File) && crosses(*lines, pair.lines)
            });
            if moved {
                crossed.entry(path.clone()).or_default().insert(*digest);
            }
        }
    }
    crossed
}

fn crosses(one: (u32, u32), two: (u32, u32)) -> bool {
    (one.0 < two.0) != (one.1 < two.1)
}

fn acts_on_what_follows(remainder: &Entity) -> bool {
    let harmless = ["_Static_assert", "static_assert", "asm", "__asm"];
    !harmless.iter().any(|word| remainder.name.starts_with(word))
}

/// Entities with the same tokens in both versions.
fn pairs<'a>(base: &'a FileFacts, head: &'a FileFacts) -> Vec<Pair<'a>> {
    let mut lines: FxHashMap<Key, u32> = FxHashMap::default();
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
        lines.insert(key, entity.span.line);
    }
    keys(base)
        .filter_map(|(key, entity)| {
            let line = lines.get(&key)?;
            Some(Pair {
                entity,
                lines: (entity.span.line, *line),
            })
        })
        .collect()
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
            .filter(|at| crosses(definition.lines, pairs[*at].lines))
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
            .filter(|(_, lines)| crosses(definition.lines, *lines))
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
