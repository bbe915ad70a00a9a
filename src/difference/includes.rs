//! Includes that came, went or moved: names become visible or invisible in a file and in what includes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::compare::affected::Affected;
use crate::difference::Versions;
use crate::difference::order::Crossed;
use crate::difference::seeds::is_name_letter;
use crate::digest::{Name, Names};
use crate::error::Result;
use crate::lang::facts::{FileFacts, Include, Kind};
use crate::program::facts::FactsSource;
use crate::program::{Program, SourceFile};
use crate::repo::{BlobId, RepoPath};

/// Names with the digests of all that declare them.
type Declared = BTreeMap<String, Vec<u64>>;

/// For each file, the names that mean something else through an include that came, went or moved; adds to `whole` where a system header did.
pub(super) fn visible(
    versions: &Versions,
    source: &mut FactsSource,
    affected: &Affected,
    crossed: &Crossed,
    whole: &mut BTreeMap<RepoPath, String>,
) -> Result<BTreeMap<RepoPath, Affected>> {
    let mut names: BTreeMap<RepoPath, BTreeSet<String>> = BTreeMap::new();
    // Where the same text is read in another order, that each file sees the same proves nothing.
    let mut reordered: BTreeSet<RepoPath> = BTreeSet::new();
    for change in changed_includes(versions, affected, crossed) {
        let targets = change.program.included(change.path, change.include);
        let reached = match change.alone {
            true => BTreeSet::from([change.path.clone()]),
            false => versions.reached_by(change.path),
        };
        if targets.is_empty() || change.include.is_computed {
            let reason = format!(
                "the include of '{}' in {} changed",
                change.include.path, change.path
            );
            for path in reached {
                whole.entry(path).or_insert_with(|| reason.clone());
            }
            continue;
        }
        let brought = declared(change.program, source, &targets)?;
        for path in reached {
            names
                .entry(path.clone())
                .or_default()
                .extend(brought.keys().cloned());
            if change.reorders {
                reordered.insert(path);
            }
        }
    }
    for (path, functions) in &crossed.functions {
        names
            .entry(path.clone())
            .or_default()
            .extend(functions.iter().cloned());
        reordered.insert(path.clone());
    }
    let mut visible = BTreeMap::new();
    for (path, mut changed) in names {
        // What a file sees by another way in both versions has not changed for it.
        if !reordered.contains(&path) {
            let mut seen = Vec::new();
            for program in [&versions.base, &versions.head] {
                seen.push(declared(program, source, &everything(program, &path))?);
            }
            changed.retain(|name| seen[0].get(name) != seen[1].get(name));
        }
        if !changed.is_empty() {
            let spread = spread(versions, source, affected.another(), &path, &changed)?;
            visible.insert(path, spread);
        }
    }
    Ok(with_included(versions, visible))
}

/// What a file includes is read with the names that it sees: there, too, they mean something else.
fn with_included(
    versions: &Versions,
    own: BTreeMap<RepoPath, Affected>,
) -> BTreeMap<RepoPath, Affected> {
    let mut included: BTreeMap<RepoPath, Affected> = BTreeMap::new();
    for (path, names) in &own {
        for program in [&versions.base, &versions.head] {
            for file in everything(program, path) {
                let file = &program.files[file].path;
                let all = included
                    .entry(file.clone())
                    .or_insert_with(|| names.another());
                all.join(names);
            }
        }
    }
    for (path, names) in own {
        match included.get_mut(&path) {
            Some(all) => all.join(&names),
            None => {
                included.insert(path, names);
            }
        }
    }
    included
}

/// The names that mean something else everywhere because of what files see: data are seen by others, and what acts without being
/// mentioned reaches whoever it likes, so that the names which it mentions count for all.
pub(super) fn seen_by_others(
    versions: &Versions,
    source: &mut FactsSource,
    visible: &BTreeMap<RepoPath, Affected>,
) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for (path, names) in visible {
        for program in [&versions.base, &versions.head] {
            let files: Vec<usize> = program.find(path).into_iter().collect();
            for facts in source.parse(program, &files)? {
                for entity in facts
                    .entities
                    .iter()
                    .filter(|one| one.kind != Kind::Function)
                {
                    let Some(hit) = names.hit(&entity.mentions) else {
                        continue;
                    };
                    let cause = names.cause(hit);
                    let because = format!("'{}' in {path}: {}", cause.name, cause.because);
                    if entity.kind == Kind::Variable {
                        found.push((entity.name.clone(), because.clone()));
                    }
                    if entity.kind == Kind::File || entity.unmentioned.is_some() {
                        found.push((cause.name, because));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// An include that stands in one version only, or that reads or is read differently.
struct Changed<'a> {
    program: &'a Program,
    path: &'a RepoPath,
    include: &'a Include,
    reorders: bool,
    /// It counts for its file only.
    alone: bool,
}

fn changed_includes<'a>(
    versions: &'a Versions,
    affected: &Affected,
    crossed: &Crossed,
) -> Vec<Changed<'a>> {
    let mut changes = Vec::new();
    for file in &versions.files {
        let includes = |facts: &'a Option<Arc<FileFacts>>| {
            facts.as_ref().map_or(&[][..], |facts| &facts.includes)
        };
        let (old, new) = (includes(&file.base), includes(&file.head));
        let (gone, come) = moved(old, new);
        let reorders = gone
            .iter()
            .any(|one| come.iter().any(|two| one.path == two.path));
        let twice = |includes: &[&Include], program: &Program, side: &Option<(RepoPath, _)>| {
            includes.iter().any(|include| {
                side.as_ref()
                    .is_some_and(|(path, _)| may_be_read_twice(program, path, include))
            })
        };
        let reorders = reorders
            || twice(&gone, &versions.base, &file.file.base)
            || twice(&come, &versions.head, &file.file.head);
        let mut add = |program: &'a Program, side: &'a Option<(RepoPath, _)>, includes, alone| {
            let includes: Vec<&'a Include> = includes;
            let Some((path, _)) = side else {
                return;
            };
            changes.extend(includes.into_iter().map(|include| Changed {
                program,
                path,
                include,
                reorders: reorders || alone,
                alone,
            }));
        };
        add(&versions.base, &file.file.base, gone, false);
        add(&versions.head, &file.file.head, come, false);
        if let Some(digests) = crossed.includes.get(file.file.path()) {
            let old = old
                .iter()
                .filter(|include| digests.contains(&include.digest));
            add(&versions.base, &file.file.base, old.collect(), true);
        }
    }
    changes.extend(redirected(versions));
    for program in [&versions.base, &versions.head] {
        for file in &program.files {
            for include in &file.lex.includes {
                if affected.hit(&include.conditions).is_some() || is_computed(affected, include) {
                    changes.push(Changed {
                        program,
                        path: &file.path,
                        include,
                        reorders: true,
                        alone: false,
                    });
                }
            }
        }
    }
    changes
}

/// Whether an include brings in a file that nothing guards against a second inclusion.
fn may_be_read_twice(program: &Program, path: &RepoPath, include: &Include) -> bool {
    program.included(path, include).into_iter().any(|file| {
        let lex = &program.files[file].lex;
        lex.guard.is_none() && !lex.is_once
    })
}

/// Includes that are the same in both versions and mean another file: one that came to stand before it, or went.
fn redirected(versions: &Versions) -> Vec<Changed<'_>> {
    let (base, head) = (&versions.base, &versions.head);
    let mut moved_names: BTreeSet<&[u8]> = BTreeSet::new();
    for (one, two) in [(base, head), (head, base)] {
        let alone = one
            .files
            .iter()
            .filter(|file| two.find(&file.path).is_none());
        moved_names.extend(alone.map(|file| file.path.file_name()));
    }
    if moved_names.is_empty() {
        return Vec::new();
    }
    let unloaded = base
        .files
        .iter()
        .filter(|file| !versions.loaded.contains_key(&file.path))
        .filter_map(|file| Some((&file.path, &head.files[head.find(&file.path)?].path)));
    let loaded = versions.files.iter().filter_map(|file| {
        let (old, new) = (file.file.base.as_ref()?, file.file.head.as_ref()?);
        Some((&old.0, &new.0))
    });
    let mut changes = Vec::new();
    for (old, new) in unloaded.chain(loaded) {
        let (Some(old_file), Some(new_file)) = (base.find(old), head.find(new)) else {
            continue;
        };
        for include in &base.files[old_file].lex.includes {
            let name = include.path.as_bytes().rsplit(|byte| *byte == b'/').next();
            if old == new && !name.is_some_and(|name| moved_names.contains(name)) {
                continue;
            }
            let others = &head.files[new_file].lex.includes;
            let Some(other) = others.iter().find(|other| other.digest == include.digest) else {
                continue;
            };
            let meant = |program: &Program, path: &RepoPath, include: &Include| {
                let files = program.meant(path, include).into_iter();
                let files = files.map(|file| &program.files[file]);
                let (paths, ids): (Vec<RepoPath>, Vec<BlobId>) =
                    files.map(|file| (file.path.clone(), file.id)).unzip();
                (paths, ids)
            };
            let (old_paths, old_ids) = meant(base, old, include);
            let (new_paths, new_ids) = meant(head, new, other);
            // A header that only moved is the same header, unless another of its name may take its place; one that changed
            // is compared with itself.
            let is_one = old_ids.len() == 1 && new_ids.len() == 1;
            if old_paths == new_paths || is_one && old_ids == new_ids {
                continue;
            }
            let is_moved = {
                let sorted = |mut ids: Vec<BlobId>| {
                    ids.sort_unstable();
                    ids
                };
                sorted(old_ids) == sorted(new_ids)
            };
            for (program, path, include) in [(base, old, include), (head, new, other)] {
                changes.push(Changed {
                    program,
                    path,
                    include,
                    reorders: is_moved,
                    alone: false,
                });
            }
        }
    }
    changes
}

/// Whether the path is what an affected macro makes of it.
fn is_computed(affected: &Affected, include: &Include) -> bool {
    let words = include.path.split(|letter: char| !is_name_letter(letter));
    let names: Names = words.map(|word| Name::of(word.as_bytes())).collect();
    include.is_computed && affected.hit(&names).is_some()
}

/// Passes names on through everything that a file sees.
fn spread(
    versions: &Versions,
    source: &mut FactsSource,
    mut visible: Affected,
    path: &RepoPath,
    names: &BTreeSet<String>,
) -> Result<Affected> {
    for name in names
        .iter()
        .flat_map(|name| name.split(|letter| !is_name_letter(letter)))
    {
        if !name.is_empty() {
            visible.add(name, "an include brought or took it, or moved");
        }
    }
    loop {
        let mut facts = Vec::new();
        for program in [&versions.base, &versions.head] {
            let mut files = everything(program, path);
            files.extend(program.find(path));
            files.retain(|file| visible.concerns(&program.files[*file].lex));
            facts.extend(source.parse(program, &files)?);
        }
        if !visible.settle() {
            return Ok(visible);
        }
        for facts in facts {
            visible.spread(&facts);
        }
    }
}

/// Includes that are in one version only, or not in the same order or under the same conditions.
fn moved<'a>(old: &'a [Include], new: &'a [Include]) -> (Vec<&'a Include>, Vec<&'a Include>) {
    // The longest common subsequence; files have few includes.
    let mut lengths = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for (row, one) in old.iter().enumerate().rev() {
        for (column, two) in new.iter().enumerate().rev() {
            lengths[row][column] = if one.digest == two.digest {
                lengths[row + 1][column + 1] + 1
            } else {
                lengths[row + 1][column].max(lengths[row][column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    while row < old.len() && column < new.len() {
        if old[row].digest == new[column].digest {
            row += 1;
            column += 1;
        } else if lengths[row + 1][column] >= lengths[row][column + 1] {
            gone.push(&old[row]);
            row += 1;
        } else {
            come.push(&new[column]);
            column += 1;
        }
    }
    gone.extend(&old[row..]);
    come.extend(&new[column..]);
    (gone, come)
}

/// Everything that a file includes, directly or not.
pub(super) fn everything(program: &Program, path: &RepoPath) -> Vec<usize> {
    let Some(file) = program.find(path) else {
        return Vec::new();
    };
    let SourceFile { path, lex, .. } = &program.files[file];
    let mut files: Vec<usize> = lex
        .includes
        .iter()
        .flat_map(|include| program.included(path, include))
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The names that the entities of some files declare.
fn declared(program: &Program, source: &mut FactsSource, files: &[usize]) -> Result<Declared> {
    let mut names = Declared::new();
    for facts in source.parse(program, files)? {
        for entity in &facts.entities {
            let digests = names.entry(entity.name.clone()).or_default();
            digests.push(entity.digest);
        }
    }
    names
        .values_mut()
        .for_each(|digests| digests.sort_unstable());
    Ok(names)
}
