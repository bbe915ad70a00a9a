//! Where the danger starts: the names that changed themselves, the files that changed as a whole.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::compare::affected::Affected;
use crate::compare::entity_difference::{ChangeKind, EntityDifference};
use crate::config::FILE;
use crate::difference::{Loaded, Reach, ReportedEntity, Versions};
use crate::digest::Name;
use crate::lang::c::{is_reserved, loads_symbols};
use crate::lang::facts::Kind;
use crate::program::Program;
use crate::repo::{Change, ChangeKind as FileChange, FileEntry, FileKind, RepoPath};

pub(super) struct Seeds {
    pub(super) names: Vec<(String, String)>,
    included: Vec<(Name, String)>,
    /// Files of which nothing can be compared, and why.
    pub(super) whole: BTreeMap<RepoPath, String>,
    pub(super) reported: Vec<ReportedEntity>,
}

impl Seeds {
    pub(super) fn add_to(&self, affected: &mut Affected) {
        for (name, because) in &self.names {
            affected.add(name, because.clone());
        }
        for (name, path) in &self.included {
            affected.add_hash(*name, path, format!("the included file '{path}' changed"));
        }
    }

    fn included_file(&mut self, path: &RepoPath) {
        for name in Name::as_included(path.as_bytes()) {
            self.included.push((name, path.to_string()));
        }
    }

    /// A file that is included through a link or by a path that macros make.
    fn included_otherwise(&mut self, program: &Program, path: &RepoPath) {
        let Some(file) = program.find(path) else {
            return;
        };
        for alias in program.aliases(file) {
            self.included_file(&alias);
        }
        for include in program.computed_includes(file) {
            let name = Name::of_included(include.path.as_bytes());
            self.included.push((name, path.to_string()));
        }
    }

    pub(super) fn whole_file(&mut self, versions: &Versions, path: &RepoPath, reason: &str) {
        for path in versions.reached_by(path) {
            self.whole.entry(path).or_insert_with(|| reason.to_owned());
        }
    }
}

/// Reads the seeds off the differences of the changed files.
pub(super) fn seeds(
    versions: &Versions,
    differences: &[Vec<EntityDifference>],
    changes: &[Change],
) -> Seeds {
    let mut seeds = Seeds {
        names: Vec::new(),
        included: Vec::new(),
        whole: BTreeMap::new(),
        reported: Vec::new(),
    };
    for (file, differences) in versions.files.iter().zip(differences) {
        for difference in differences {
            seed(&mut seeds, versions, file, difference);
        }
    }
    for change in changes {
        let files = change.old.iter().chain(&change.new);
        for file in files.clone() {
            // A file that is included in the middle of something counts there, whatever it is called.
            for path in includer_paths(&versions.base, &file.path) {
                seeds.included_file(&path);
            }
            seeds.included_file(&file.path);
            seeds.included_otherwise(&versions.base, &file.path);
            seeds.included_otherwise(&versions.head, &file.path);
        }
        let is_source = |program: &Program, file: &Option<FileEntry>| {
            let mut file = file.iter();
            file.all(|file| program.find(&file.path).is_some())
        };
        if is_source(&versions.base, &change.old) && is_source(&versions.head, &change.new) {
            continue;
        }
        for file in files {
            let names: Vec<Name> = Name::as_included(file.path.as_bytes()).collect();
            for program in [&versions.base, &versions.head] {
                let including = program
                    .files
                    .iter()
                    .filter(|other| names.iter().any(|name| other.lex.names.contains(*name)));
                for other in including
                    .map(|other| other.path.clone())
                    .collect::<Vec<_>>()
                {
                    let reason = format!("it includes '{}', which changed", file.path);
                    seeds.whole_file(versions, &other, &reason);
                }
            }
        }
        seeds.reported.push(other_file(change));
    }
    seeds
}

fn includer_paths(program: &Program, path: &RepoPath) -> Vec<RepoPath> {
    let Some(file) = program.find(path) else {
        return Vec::new();
    };
    program
        .includers(file)
        .into_iter()
        .map(|includer| program.files[includer].path.clone())
        .collect()
}

/// A changed file that is not read as C.
fn other_file(change: &Change) -> ReportedEntity {
    let file = change.new.as_ref().or(change.old.as_ref());
    let path = file.map_or_else(|| RepoPath::new(Vec::new()), |file| file.path.clone());
    let kind_of = |kind| match kind {
        FileChange::Added => ChangeKind::Added,
        FileChange::Removed => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    // Whoever builds or runs otherwise for what they say is noticed by that.
    let is_settings = path.as_bytes() == FILE.as_bytes();
    let (kind, because) = match (change.kind, file.map(|file| file.kind)) {
        (_, Some(FileKind::Submodule)) => {
            (ChangeKind::Changed, "a submodule, which is not looked into")
        }
        (_, Some(FileKind::Symlink)) => (ChangeKind::Changed, "a symbolic link"),
        _ if is_settings => (kind_of(change.kind), "settings of git rts"),
        _ => (kind_of(change.kind), "not a C source"),
    };
    ReportedEntity {
        change: kind,
        kind: Kind::File,
        name: path.to_string(),
        file: path,
        because: because.to_owned(),
        reach: match is_settings {
            true => Reach::File,
            false => Reach::Program,
        },
        base: None,
        head: None,
    }
}

fn seed(seeds: &mut Seeds, versions: &Versions, file: &Loaded, difference: &EntityDifference) {
    let path = file.file.path().clone();
    let sentence = format!(
        "{} '{}' {} in {path}",
        difference.kind.word(),
        difference.name,
        difference.change.word()
    );
    let mut reach = Reach::Mentions;
    let mut because = "its tokens differ".to_owned();
    match difference.kind {
        Kind::File => {
            let text = remainder_text(file, difference);
            because = format!("at file scope: {text}");
            reach = if text.starts_with('#') {
                Reach::File
            } else {
                Reach::Program
            };
            let reason = format!("'{text}' at file scope of {path} changed");
            seeds.whole_file(versions, &path, &reason);
        }
        Kind::Function if difference.change == ChangeKind::Changed && !difference.interface => {}
        Kind::Macro if is_reserved(&difference.name) => {
            // No mention of a word like `inline` is ever noted, so every file may contain one.
            reach = Reach::Program;
            for file in versions.base.files.iter().chain(&versions.head.files) {
                seeds
                    .whole
                    .entry(file.path.clone())
                    .or_insert_with(|| sentence.clone());
            }
        }
        _ => {
            // A macro that makes a function's name may make it from its arguments.
            for name in difference
                .name
                .split(|letter: char| !is_name_letter(letter))
            {
                if !name.is_empty() {
                    seeds.names.push((name.to_owned(), sentence.clone()));
                }
            }
            looked_up(seeds, versions, difference, &sentence);
            if difference.change == ChangeKind::Changed && difference.kind == Kind::Function {
                because = "its signature differs".to_owned();
            }
        }
    }
    if difference.change != ChangeKind::Changed {
        because = format!("it was {}", difference.change.word());
    }
    if let Some(word) = &difference.unmentioned {
        reach = Reach::Program;
        because = format!("{because}, and '{word}' lets it act without being mentioned");
    } else if takes_the_place_of_a_library(difference) {
        reach = Reach::Program;
        because = format!("{because}, and a library may use it");
    }
    let name = match difference.kind {
        Kind::File => path.to_string(),
        _ => difference.name.clone(),
    };
    seeds.reported.push(ReportedEntity {
        change: difference.change,
        kind: difference.kind,
        file: path,
        name,
        because,
        reach,
        base: difference.base,
        head: difference.head,
    });
}

/// Where symbols are looked up by their names when the program runs, a string that holds the name mentions it.
fn looked_up(
    seeds: &mut Seeds,
    versions: &Versions,
    difference: &EntityDifference,
    sentence: &str,
) {
    if difference.internal || !matches!(difference.kind, Kind::Function | Kind::Variable) {
        return;
    }
    let quoted = Name::of(difference.name.as_bytes()).quoted();
    for program in [&versions.base, &versions.head] {
        let files = || program.files.iter();
        if !files().any(|file| loads_symbols(&file.lex.names)) {
            continue;
        }
        for file in files().filter(|file| file.lex.names.contains(quoted)) {
            let reason = format!("it may look up '{}': {sentence}", difference.name);
            seeds.whole_file(versions, &file.path, &reason);
        }
    }
}

pub(super) fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The first remainder that is not in both versions.
fn remainder_text(file: &Loaded, difference: &EntityDifference) -> String {
    let find = |facts: &Option<std::sync::Arc<crate::lang::facts::FileFacts>>,
                span: Option<crate::lang::cfg::Span>| {
        let facts = facts.as_ref()?;
        let span = span?;
        let remainder = facts
            .entities
            .iter()
            .find(|entity| entity.kind == Kind::File && entity.span == span)?;
        Some(remainder.name.clone())
    };
    find(&file.head, difference.head)
        .or_else(|| find(&file.base, difference.base))
        .unwrap_or_default()
}

/// A new or vanished external function with the name of one in the C library, like `malloc`: the library calls it, too. It looks at
/// a variable of its own, like `argp_program_version`, whatever happens to that.
fn takes_the_place_of_a_library(difference: &EntityDifference) -> bool {
    let comes_or_goes = difference.change != ChangeKind::Changed || difference.interface;
    let is_used = match difference.kind {
        Kind::Function => comes_or_goes,
        Kind::Variable => true,
        _ => false,
    };
    is_used && !difference.declaration && !difference.internal && is_library_name(&difference.name)
}

/// Whether libraries outside of the build may call a function by this name, or look at a variable.
#[must_use]
pub fn is_library_name(name: &str) -> bool {
    LIBRARY_NAMES.contains(name)
}

/// What glibc and its companions export.
static LIBRARY_NAMES: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| include_str!("library_names.txt").lines().collect());
