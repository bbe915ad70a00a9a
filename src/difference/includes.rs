//! Includes that came, went or moved: names become visible or invisible in a file and in what includes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::difference::Versions;
use crate::digest::{Name, Names};
use crate::error::Result;
use crate::lang::facts::Include;
use crate::program::facts::FactsSource;
use crate::program::{Program, SourceFile};
use crate::repo::RepoPath;

/// For each file, the names that an include brought or took; adds to `whole` where a system header did.
pub(super) fn visible(
    versions: &mut Versions,
    source: &mut FactsSource,
    whole: &mut BTreeMap<RepoPath, String>,
) -> Result<BTreeMap<RepoPath, Names>> {
    let mut names: BTreeMap<RepoPath, BTreeSet<Name>> = BTreeMap::new();
    for file in &versions.files {
        let empty = Vec::new();
        let old = file.base.as_ref().map_or(&empty, |facts| &facts.includes);
        let new = file.head.as_ref().map_or(&empty, |facts| &facts.includes);
        let (gone, come) = moved(old, new);
        if gone.is_empty() && come.is_empty() {
            continue;
        }
        let sides = [(&versions.base, gone), (&versions.head, come)];
        for (program, includes) in sides {
            for include in includes {
                let targets = program.included(file.file.path(), include);
                let reached = versions.reached_by(file.file.path());
                if targets.is_empty() {
                    let reason = format!(
                        "the include of '{}' in {} changed",
                        include.path,
                        file.file.path()
                    );
                    for path in reached {
                        whole.entry(path).or_insert_with(|| reason.clone());
                    }
                    continue;
                }
                let brought = declared_names(program, source, &targets)?;
                for path in reached {
                    names.entry(path).or_default().extend(&brought);
                }
            }
        }
    }
    // What a file sees by another way in both versions has not changed for it.
    let mut visible = BTreeMap::new();
    for (path, mut changed) in names {
        let mut seen = Vec::new();
        for program in [&versions.base, &versions.head] {
            let targets = program
                .find(&path)
                .map(|file| direct(program, file))
                .unwrap_or_default();
            seen.push(declared_names(program, source, &targets)?);
        }
        let order_matters = is_reordered(versions, &path);
        if !order_matters {
            changed.retain(|name| seen[0].contains(name) != seen[1].contains(name));
        }
        if !changed.is_empty() {
            visible.insert(path, changed.into_iter().collect());
        }
    }
    Ok(visible)
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

/// Some include stands in both versions but at another place, or under another condition.
fn is_reordered(versions: &Versions, path: &RepoPath) -> bool {
    let Some(file) = versions
        .loaded
        .get(path)
        .map(|index| &versions.files[*index])
    else {
        return false;
    };
    let (Some(base), Some(head)) = (&file.base, &file.head) else {
        return false;
    };
    let (gone, come) = moved(&base.includes, &head.includes);
    gone.iter()
        .any(|one| come.iter().any(|two| one.path == two.path))
}

/// Everything that a file includes, directly or not.
fn direct(program: &Program, file: usize) -> Vec<usize> {
    let SourceFile { path, lex, .. } = &program.files[file];
    lex.includes
        .iter()
        .flat_map(|include| program.included(path, include))
        .collect()
}

/// The names that the entities of some files declare.
fn declared_names(
    program: &Program,
    source: &mut FactsSource,
    files: &[usize],
) -> Result<BTreeSet<Name>> {
    let facts = source.parse(program, files)?;
    Ok(facts
        .iter()
        .flat_map(|facts| &facts.entities)
        .map(|entity| Name::of(entity.name.as_bytes()))
        .collect())
}
