//! A function by its name, in both versions.

use crate::config::Config;
use crate::difference::{facts_source, source_files};
use crate::digest::Name;
use crate::error::{Error, Result};
use crate::lang::c::Granularity;
use crate::lang::facts::{Entity, Kind, before_arguments};
use crate::program::Tree;
use crate::program::facts::FactsSource;
use crate::repo::{BlobId, RepoPath, Repository, Version};

/// A function as one version defines it.
#[derive(Debug, Clone)]
pub struct FunctionVersion {
    pub path: RepoPath,
    pub id: BlobId,
    pub entity: Entity,
}

/// Finds a function by name, and by file if several files define one of that name.
pub fn find_function(
    repository: &Repository,
    config: &Config,
    (base, head): (Version, Version),
    granularity: Granularity,
    (file, name): (Option<&str>, &str),
) -> Result<(Option<FunctionVersion>, Option<FunctionVersion>)> {
    let mut source = facts_source(repository, granularity);
    let mut found = Vec::new();
    for version in [&base, &head] {
        let files = source_files(repository, config, version)?;
        found.push(definitions(&mut source, &files, file, name)?);
    }
    let (head, base) = (
        found.pop().unwrap_or_default(),
        found.pop().unwrap_or_default(),
    );
    let mut paths: Vec<&RepoPath> = base
        .iter()
        .chain(&head)
        .map(|version| &version.path)
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let moved = base.len() == 1 && head.len() == 1;
    match paths.as_slice() {
        [] => Err(
            Error::new(format!("no function '{name}' in either version"))
                .hint("'git rts diff' lists the functions that changed"),
        ),
        [_, other, ..] if !moved => Err(Error::new(format!(
            "'{name}' is defined in {} files",
            paths.len()
        ))
        .hint(format!("name the file, for instance '{other}:{name}'"))),
        _ => Ok((base.into_iter().next(), head.into_iter().next())),
    }
}

fn definitions(
    source: &mut FactsSource,
    files: &Tree,
    file: Option<&str>,
    name: &str,
) -> Result<Vec<FunctionVersion>> {
    let program = source.program(files)?;
    // A name that a macro makes, like `TEST(x)`, is not one token.
    let token = before_arguments(name);
    let mentioning: Vec<usize> = (0..program.files.len())
        .filter(|index| {
            let candidate = &program.files[*index];
            candidate.lex.names.contains(Name::of(token.as_bytes()))
                && file.is_none_or(|file| candidate.path.as_bytes().ends_with(file.as_bytes()))
        })
        .collect();
    let facts = source.parse(&program, &mentioning)?;
    let mut found = Vec::new();
    for (index, facts) in mentioning.into_iter().zip(facts) {
        found.extend(called(&facts.entities, name).map(|entity| FunctionVersion {
            path: program.files[index].path.clone(),
            id: program.files[index].id,
            entity: entity.clone(),
        }));
    }
    Ok(found)
}

/// The function of a name; or the one that a macro of that name may have made, if there is one only.
fn called<'f>(entities: &'f [Entity], name: &str) -> Option<&'f Entity> {
    let defined = || {
        let functions = entities.iter();
        functions.filter(|entity| entity.kind == Kind::Function && entity.body.is_some())
    };
    let mut made = defined().filter(|entity| before_arguments(&entity.name) == name);
    let made = made.next().filter(|_| made.next().is_none());
    defined().find(|entity| entity.name == name).or(made)
}
