//! Macros for headers outside the tree: `NDEBUG`, `_GNU_SOURCE` and whatever a library asks its users to define.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::compare::entity_difference::EntityDifference;
use crate::difference::unseen::is_unseen;
use crate::difference::{Loaded, Versions};
use crate::digest::Name;
use crate::lang::facts::{Entity, Include, Kind};
use crate::program::Program;
use crate::repo::RepoPath;

/// A header outside the tree that comes behind such a macro may declare other things now.
///
/// The macro may have changed itself, or another macro or an `#if` on which its definition depends.
pub(super) fn add(
    whole: &mut BTreeMap<RepoPath, String>,
    versions: &Versions,
    differences: &[Vec<EntityDifference>],
) {
    let changed = changed_macros(versions, differences);
    if changed.is_empty() {
        return;
    }
    let mut looked_at: BTreeMap<(&str, bool), Readership> = BTreeMap::new();
    for (at, file) in versions.files.iter().enumerate() {
        let own: FxHashSet<&str> = differences
            .get(at)
            .into_iter()
            .flatten()
            .filter(|difference| difference.kind == Kind::Macro)
            .map(|difference| difference.name.as_str())
            .collect();
        let sides = [
            (&versions.base, &file.file.base, &file.base),
            (&versions.head, &file.file.head, &file.head),
        ];
        for (program, path, facts) in sides {
            let (Some((path, _)), Some(facts)) = (path, facts) else {
                continue;
            };
            let macros = facts.entities.iter();
            for entity in macros.filter(|entity| entity.kind == Kind::Macro) {
                let differs = own.contains(entity.name.as_str());
                if !differs && !depends_on(entity, &changed) {
                    continue;
                }
                if configures_the_library(&entity.name) && is_unseen(program, path) {
                    let why = format!("macro '{}' changed", entity.name);
                    whole.entry(path.clone()).or_insert(why);
                }
                let readership = looked_at
                    .entry((&entity.name, differs))
                    .or_insert_with(|| Readership::of(versions, &entity.name, differs));
                for path in readers(program, path, entity.span.line, readership) {
                    whole.entry(path).or_insert_with(|| {
                        format!(
                            "macro '{}' changed before an include of a header outside the repository",
                            entity.name
                        )
                    });
                }
            }
        }
    }
}

/// Whether the definition of a macro mentions one of these, or stands under a condition that does.
fn depends_on(entity: &Entity, macros: &FxHashSet<Name>) -> bool {
    let own = Name::of(entity.name.as_bytes());
    let mut mentions = entity.mentions.iter();
    mentions.any(|name| name != own && macros.contains(&name))
}

/// The macros that changed, and those whose definitions mention one of them or stand under a condition that does.
fn changed_macros(versions: &Versions, differences: &[Vec<EntityDifference>]) -> FxHashSet<Name> {
    let own = differences.iter().flatten();
    let mut changed: FxHashSet<Name> = own
        .filter(|difference| difference.kind == Kind::Macro)
        .map(|difference| Name::of(difference.name.as_bytes()))
        .collect();
    if changed.is_empty() {
        return changed;
    }
    let macros: Vec<&Entity> = entities(versions)
        .filter(|entity| entity.kind == Kind::Macro)
        .collect();
    loop {
        let before = changed.len();
        for entity in &macros {
            if depends_on(entity, &changed) {
                changed.insert(Name::of(entity.name.as_bytes()));
            }
        }
        if changed.len() == before {
            return changed;
        }
    }
}

/// The entities of all files that were parsed.
fn entities(versions: &Versions) -> impl Iterator<Item = &Entity> {
    let facts = versions
        .files
        .iter()
        .flat_map(|file| file.base.iter().chain(&file.head));
    facts.flat_map(|facts| &facts.entities)
}

/// Which headers outside the tree may look at a macro.
enum Readership {
    /// It is documented for that, or nothing in the tree looks at it.
    Any,
    /// Those that bear a name like its own: `XXH_INLINE_ALL` is for `<xxhash.h>`.
    Namesakes(String),
    /// It is named like files of the tree, and used there.
    Nobody,
}

impl Readership {
    /// Of a macro that differs itself, or of one that depends on another.
    fn of(versions: &Versions, name: &str, differs: bool) -> Self {
        let word = first_word(name);
        let is_own = || is_name_of_tree(versions, &word);
        if configures_the_library(name) || !is_used(versions, name) && (differs || !is_own()) {
            Readership::Any
        } else if is_own() {
            Readership::Nobody
        } else {
            Readership::Namesakes(word)
        }
    }

    fn has(&self, include: &Include) -> bool {
        match self {
            Readership::Any => true,
            Readership::Namesakes(word) => is_namesake(word, include),
            Readership::Nobody => false,
        }
    }
}

fn first_word(name: &str) -> String {
    let word = name.trim_start_matches('_').split('_').next();
    word.unwrap_or_default().to_ascii_lowercase()
}

/// Whether files or folders of the tree are named like that: the project's own macros are, too.
fn is_name_of_tree(versions: &Versions, word: &str) -> bool {
    let programs = [&versions.base, &versions.head];
    let mut files = programs.into_iter().flat_map(|program| &program.files);
    word.len() >= SHORTEST_NAME
        && files.any(|file| {
            let path = file.path.to_string().to_ascii_lowercase();
            path.split('/').any(|part| part.starts_with(word))
        })
}

/// Names of fewer letters are like all others.
const SHORTEST_NAME: usize = 3;

/// Whether a part of an include's path begins like a name, or the other way round; what the headers of C itself read is known.
fn is_namesake(word: &str, include: &Include) -> bool {
    let is_of_library = || LIBRARY_HEADERS.lines().any(|header| header == include.path);
    !include.quoted
        && word.len() >= SHORTEST_NAME
        && !is_of_library()
        && include.path.to_ascii_lowercase().split('/').any(|part| {
            let stem = part.split('.').next().unwrap_or_default();
            stem.len() >= SHORTEST_NAME && (stem.starts_with(word) || word.starts_with(stem))
        })
}

/// The headers of C and POSIX.
const LIBRARY_HEADERS: &str = include_str!("library_headers.txt");

/// Whether headers outside the tree may look at a macro of a file.
pub(super) fn is_for_outsiders(versions: &Versions, file: &Loaded, name: &str) -> bool {
    let readership = Readership::of(versions, name, true);
    let facts = file.base.iter().chain(&file.head);
    let mut includes = facts.flat_map(|facts| &facts.includes);
    includes.any(|include| readership.has(include))
}

/// Whether anything in the tree looks at a macro but its own definitions and the conditions around them.
fn is_used(versions: &Versions, name: &str) -> bool {
    let hash = Name::of(name.as_bytes());
    let by_entity = entities(versions).any(|entity| {
        let is_own = entity.kind == Kind::Macro && entity.name == name;
        let body = entity.body.as_ref();
        !is_own
            && (entity.mentions.contains(hash)
                || body.is_some_and(|body| body.mentions.contains(hash)))
    });
    let programs = [&versions.base, &versions.head];
    let mut files = programs.into_iter().flat_map(|program| &program.files);
    by_entity
        || files.any(|file| {
            let lex = &file.lex;
            let by_include = || {
                let mut includes = lex.includes.iter();
                includes.any(|include| include.conditions.contains(hash))
            };
            // Of a file that was not parsed only the names are known.
            let is_unknown = || {
                !versions.loaded.contains_key(&file.path)
                    && !versions.changed_base.contains(&file.path)
                    && !lex.macros.iter().any(|own| own.name == name)
            };
            lex.guard == Some(hash) || lex.names.contains(hash) && (by_include() || is_unknown())
        })
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
fn readers(
    program: &Program,
    path: &RepoPath,
    line: u32,
    readership: &Readership,
) -> BTreeSet<RepoPath> {
    let Some(file) = program.find(path) else {
        return BTreeSet::new();
    };
    let mut includers = program.includers(file);
    if !leads_outside(program, file, line, readership) {
        includers.retain(|includer| {
            let other = &program.files[*includer];
            let brings =
                |include: &&Include| program.included(&other.path, include).contains(&file);
            let includes = other.lex.includes.iter();
            let first = includes.filter(brings).map(|include| include.line).min();
            *includer != file
                && first.is_some_and(|line| leads_outside(program, *includer, line, readership))
        });
    }
    let paths = includers.into_iter();
    paths
        .map(|includer| program.files[includer].path.clone())
        .collect()
}

fn leads_outside(program: &Program, file: usize, line: u32, readership: &Readership) -> bool {
    let outside = |path: &RepoPath, include: &Include| {
        readership.has(include) && program.included(path, include).is_empty()
    };
    let path = &program.files[file].path;
    program.files[file]
        .lex
        .includes
        .iter()
        .filter(|include| include.line > line)
        .any(|include| {
            outside(path, include)
                || program.included(path, include).into_iter().any(|target| {
                    let target = &program.files[target];
                    let mut includes = target.lex.includes.iter();
                    includes.any(|include| outside(&target.path, include))
                })
        })
}
