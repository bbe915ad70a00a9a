//! What the build says in C that is not in the tree: through it, a changed name reaches others.
//!
//! `-DDEFAULTS=linux_defaults`, a generated `config.h`, a table that a script wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Placer;
use super::binaries::files_below;
use super::placer::Place;
use crate::config::Config;
use crate::digest;
use crate::lang::c::lex_facts;
use crate::lang::facts::MadeFacts;
use crate::repo::RepoPath;

/// How the macros of options are called for people.
const OPTIONS: &str = "an option of the compiler";

/// Reads what the build made below some folders, and the macros that its options defined.
pub(super) fn made_facts(
    placer: &Placer,
    config: &Config,
    folders: &[&Path],
    defined: &Path,
) -> Vec<MadeFacts> {
    let included = placer.included_names();
    let is_c = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let as_path = RepoPath::new(path.as_os_str().as_encoded_bytes());
        config.is_source(&as_path) || included.contains(name)
    };
    let files: BTreeSet<_> = files_below(folders).into_iter().collect();
    let files = files
        .into_iter()
        .filter(|path| is_c(path) && !placer.is_trial(path) && !placer.is_tracked(path));
    let mut all = Vec::new();
    for path in files {
        // What is only a copy says what its original says.
        if let Place::File(_) = placer.place(&path) {
            continue;
        }
        // What we cannot read, the compilers that we called could not, either.
        let bytes = fs::read(&path).unwrap_or_default();
        let below = folders.iter().find_map(|top| path.strip_prefix(top).ok());
        let name = below.unwrap_or(&path).to_string_lossy();
        all.push(facts_of(placer, &name, &bytes));
    }
    let options = fs::read(defined).unwrap_or_default();
    all.push(facts_of(placer, OPTIONS, &options));
    all
}

/// What of a text passes names on.
fn facts_of(placer: &Placer, name: &str, bytes: &[u8]) -> MadeFacts {
    let mut facts = placer.facts(bytes);
    facts.includes.clear();
    facts.entities.retain(|entity| !entity.mentions.is_empty());
    for entity in &mut facts.entities {
        entity.body = None;
    }
    let mut macros = lex_facts(bytes).macros;
    macros.retain(|one| !one.mentions.is_empty() || !one.pastes.is_empty());
    MadeFacts {
        file: name.to_owned(),
        digest: digest::bytes(bytes),
        facts,
        macros,
    }
}
