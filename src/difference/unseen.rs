//! Headers that no `#include` of the tree brings in: options (`-include`), precompiled headers and what a build puts together do.

use std::collections::BTreeMap;

use super::Versions;
use crate::digest::Name;
use crate::lang::facts::MadeFacts;
use crate::program::Program;
use crate::repo::RepoPath;

/// What changes as a whole, for a pragma or a macro that system headers read, and comes in by ways that the tree does not show, may
/// stand in front of any source.
pub(super) fn add(whole: &mut BTreeMap<RepoPath, String>, versions: &Versions, made: &[MadeFacts]) {
    let mut unseen = whole.iter().filter(|(path, _)| match is_header(path) {
        true => !is_included(versions, path),
        false => is_put_together(path, made),
    });
    let Some((path, why)) = unseen.next() else {
        return;
    };
    let why = format!("{why}; who includes '{path}' is not known");
    for program in [&versions.base, &versions.head] {
        for file in &program.files {
            whole
                .entry(file.path.clone())
                .or_insert_with(|| why.clone());
        }
    }
}

/// Whether a file that the build made includes a source, beside others perhaps.
fn is_put_together(path: &RepoPath, made: &[MadeFacts]) -> bool {
    let names: Vec<Name> = Name::as_included(path.as_bytes()).collect();
    let mut includes = made.iter().flat_map(|made| &made.facts.includes);
    includes.any(|include| {
        let including = include.path.as_bytes();
        // Build systems write whole paths.
        let before = including.strip_suffix(path.as_bytes());
        before.is_some_and(|before| before.ends_with(b"/"))
            || names.contains(&Name::of_included(including))
    })
}

fn is_header(path: &RepoPath) -> bool {
    let name = path.file_name();
    [&b".h"[..], b".hh", b".hpp", b".inc"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_included(versions: &Versions, path: &RepoPath) -> bool {
    is_included_in(&versions.base, path) || is_included_in(&versions.head, path)
}

fn is_included_in(program: &Program, path: &RepoPath) -> bool {
    program.find(path).is_some_and(|file| {
        let mut includers = program.includers(file).into_iter();
        includers.any(|includer| includer != file)
    })
}

/// Whether a header comes in by ways that the tree does not show, if at all.
pub(super) fn is_unseen(program: &Program, path: &RepoPath) -> bool {
    is_header(path) && !is_included_in(program, path)
}
