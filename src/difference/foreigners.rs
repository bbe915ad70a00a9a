//! Sources of other languages that include C, and what the build makes: what they make of a changed name is not known, and not who executes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::affected::Affected;
use crate::compare::entity_difference::ChangeKind;
use crate::difference::{Reach, ReportedEntity, Versions};
use crate::digest::Name;
use crate::error::Result;
use crate::lang::cfg::Span;
use crate::lang::facts::{Kind, LexFacts, MadeFacts};
use crate::program::facts::FactsSource;
use crate::repo::{FileEntry, RepoPath};

/// Assembler, C++ and its kin, what generators of parsers and tables read, linker scripts, templates, and languages that call C.
const EXTENSIONS: [&str; 56] = [
    "S", "s", "sx", "asm", "cc", "cp", "cpp", "cxx", "c++", "C", "CPP", "hh", "hp", "hpp", "hxx",
    "h++", "H", "HPP", "tcc", "ipp", "ixx", "inl", "tpp", "m", "mm", "cu", "cuh", "y", "yy", "yxx",
    "ypp", "y++", "l", "ll", "lex", "lxx", "l++", "rl", "re", "gperf", "lds", "in", "rs", "go",
    "zig", "d", "adb", "ads", "f", "f90", "F", "F90", "nim", "swift", "pyx", "pxd",
];

/// The files that mention a name in danger, or include a file in which everything is.
pub(super) fn reached(
    others: &[FileEntry],
    versions: &Versions,
    source: &mut FactsSource,
    affected: &Affected,
    endangered: &BTreeMap<&RepoPath, &str>,
) -> Result<Vec<ReportedEntity>> {
    let foreign: Vec<FileEntry> = others
        .iter()
        .filter(|file| is_foreign(&file.path) && versions.head.find(&file.path).is_none())
        .cloned()
        .collect();
    let lexed = source.lexed(&foreign)?;
    let reached = foreign.iter().zip(&lexed).filter_map(|(file, lex)| {
        // That a file which it includes changed says nothing yet: its names do.
        let files = lex.includes.iter();
        let files: Vec<Name> = files
            .map(|include| Name::of_included(include.path.as_bytes()))
            .collect();
        let names = lex.names.iter().filter(|name| !files.contains(name));
        let because = match affected.hit(&names.collect()) {
            // It may be included by an option of the compiler, so the name is enough.
            Some(name) => {
                let cause = affected.cause(name);
                format!("it mentions '{}': {}", cause.name, cause.because)
            }
            None => {
                let included = included(versions, &file.path, lex);
                let hit = included
                    .iter()
                    .find_map(|path| endangered.get_key_value(path));
                let (path, why) = hit?;
                format!("it includes {path}: {why}")
            }
        };
        Some(ReportedEntity {
            change: ChangeKind::Affected,
            kind: Kind::File,
            name: file.path.to_string(),
            file: file.path.clone(),
            because,
            reach: Reach::Program,
            base: Some(Span::default()),
            head: Some(Span::default()),
        })
    });
    Ok(reached.collect())
}

/// What the build made that acts without being mentioned, and mentions a name in danger.
pub(super) fn made(made: &[MadeFacts], affected: &Affected) -> Vec<ReportedEntity> {
    let entities = made
        .iter()
        .flat_map(|made| made.facts.entities.iter().map(move |entity| (made, entity)));
    let acting =
        entities.filter(|(_, entity)| entity.kind == Kind::File || entity.unmentioned.is_some());
    let reached = acting.filter_map(|(made, entity)| {
        let cause = affected.cause(affected.hit(&entity.mentions)?);
        Some(ReportedEntity {
            change: ChangeKind::Affected,
            kind: entity.kind,
            name: entity.name.clone(),
            file: RepoPath::new(made.file.as_bytes()),
            because: format!("it mentions '{}': {}", cause.name, cause.because),
            reach: Reach::Program,
            base: Some(entity.span),
            head: None,
        })
    });
    reached.collect()
}

fn is_foreign(path: &RepoPath) -> bool {
    let extension = path.extension();
    EXTENSIONS.iter().any(|known| known.as_bytes() == extension)
}

/// Everything that a file's includes bring in, in either version.
fn included(versions: &Versions, path: &RepoPath, lex: &LexFacts) -> BTreeSet<RepoPath> {
    let mut found = BTreeSet::new();
    for program in [&versions.base, &versions.head] {
        for include in &lex.includes {
            let files = program.included(path, include).into_iter();
            found.extend(files.map(|file| program.files[file].path.clone()));
        }
    }
    found
}
