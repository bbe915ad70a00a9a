//! Macros for headers outside the tree: `NDEBUG`, `_GNU_SOURCE` and whatever a library asks its users to define.

use std::collections::BTreeSet;

use crate::compare::entity_difference::EntityDifference;
use crate::difference::seeds::Seeds;
use crate::difference::{Loaded, Versions};
use crate::digest::Name;
use crate::lang::facts::{Include, Kind};
use crate::program::Program;
use crate::repo::RepoPath;

/// A header outside the tree that comes behind such a macro may declare other things now.
pub(super) fn add(seeds: &mut Seeds, versions: &Versions, differences: &[Vec<EntityDifference>]) {
    for (file, differences) in versions.files.iter().zip(differences) {
        for difference in differences {
            if difference.kind != Kind::Macro || !is_for_outsiders(versions, file, &difference.name)
            {
                continue;
            }
            let sides = [
                (&versions.base, &file.file.base, difference.base),
                (&versions.head, &file.file.head, difference.head),
            ];
            let mut reached = BTreeSet::new();
            for (program, path, span) in sides {
                if let (Some((path, _)), Some(span)) = (path, span) {
                    reached.extend(readers(program, path, span.line));
                }
            }
            let reason = format!(
                "macro '{}' {} before an include of a header outside the repository",
                difference.name,
                difference.change.word()
            );
            for path in reached {
                seeds.whole.entry(path).or_insert_with(|| reason.clone());
            }
        }
    }
}

/// Whether headers outside the tree may look at a macro: it is documented for that, or nothing in the tree does.
pub(super) fn is_for_outsiders(versions: &Versions, file: &Loaded, name: &str) -> bool {
    if configures_the_library(name) {
        return true;
    }
    let bytes = name.as_bytes();
    let hash = Name::of(bytes);
    let is_own = |path: &RepoPath| {
        let sides = [&file.file.base, &file.file.head];
        sides.into_iter().flatten().any(|(own, _)| own == path)
    };
    let elsewhere = [&versions.base, &versions.head]
        .into_iter()
        .flat_map(|program| &program.files)
        .any(|other| other.lex.names.contains(hash) && !is_own(&other.path));
    let here = file.base.iter().chain(&file.head).any(|facts| {
        let by_entity = facts.entities.iter().any(|entity| {
            let body = entity.body.as_ref();
            entity.mentions.contains(hash) || body.is_some_and(|body| body.mentions.contains(hash))
        });
        by_entity
            || facts
                .includes
                .iter()
                .any(|include| include.conditions.contains(hash))
    });
    !elsewhere && !here
}

/// Macros that the headers of C libraries are known to read, whoever else does.
fn configures_the_library(name: &str) -> bool {
    const BEGINNINGS: [&str; 16] = [
        "_ATFILE",
        "_CRT_",
        "_DARWIN_",
        "_FILE_OFFSET_BITS",
        "_FORTIFY",
        "_ISOC",
        "_LARGE",
        "_POSIX",
        "_REENTRANT",
        "_THREAD_SAFE",
        "_TIME_BITS",
        "_WIN32",
        "_XOPEN",
        "__STDC",
        "__USE_",
        "WIN32_LEAN",
    ];
    let is_source = name.starts_with('_') && name.ends_with("_SOURCE");
    is_source
        || matches!(name, "NDEBUG" | "WINVER" | "UNICODE" | "NOMINMAX")
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
}

/// The files that include a header outside the tree behind some line of a file, directly or not.
fn readers(program: &Program, path: &RepoPath, line: u32) -> Vec<RepoPath> {
    let Some(file) = program.find(path) else {
        return Vec::new();
    };
    let mut includers = program.includers(file);
    if leads_outside(program, file, line) {
        return includers
            .into_iter()
            .map(|includer| program.files[includer].path.clone())
            .collect();
    }
    includers.retain(|includer| *includer != file);
    includers
        .into_iter()
        .filter(|includer| {
            let other = &program.files[*includer];
            let brings =
                |include: &&Include| program.included(&other.path, include).contains(&file);
            let first = other
                .lex
                .includes
                .iter()
                .filter(brings)
                .map(|it| it.line)
                .min();
            first.is_some_and(|line| leads_outside(program, *includer, line))
        })
        .map(|includer| program.files[includer].path.clone())
        .collect()
}

fn leads_outside(program: &Program, file: usize, line: u32) -> bool {
    let outside = |path: &RepoPath, include: &Include| program.included(path, include).is_empty();
    let path = &program.files[file].path;
    program.files[file]
        .lex
        .includes
        .iter()
        .filter(|include| include.line > line)
        .any(|include| {
            let targets = program.included(path, include);
            targets.is_empty()
                || targets.into_iter().any(|target| {
                    let target = &program.files[target];
                    let mut includes = target.lex.includes.iter();
                    includes.any(|include| outside(&target.path, include))
                })
        })
}
