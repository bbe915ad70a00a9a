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
use crate::digest::{self, Digest, Name};
use crate::lang::c::driver::{self, test_driver};
use crate::lang::c::lex_facts;
use crate::lang::facts::{MadeFacts, TestDriver};
use crate::masquerade::{self, inputs};
use crate::repo::RepoPath;

/// How the macros of options are called for people.
const OPTIONS: &str = "an option of the compiler";

/// Reads what the build made below some folders, and the macros that its options defined.
pub(super) fn made_facts(
    placer: &Placer,
    config: &Config,
    folders: &[&Path],
    compilers: &Path,
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
    let notes = inputs::newest(compilers).unwrap_or_default();
    let mut all = Vec::new();
    let mut drivers = Vec::new();
    // Somebody else may have such a table, in a program that does something else with it.
    let mut is_table_elsewhere = placer.mentions(driver::TABLE);
    for path in files {
        // What is only a copy says what its original says.
        if let Place::File(_) = placer.place(&path) {
            continue;
        }
        // What we cannot read, the compilers that we called could not, either.
        let bytes = fs::read(&path).unwrap_or_default();
        let below = folders.iter().find_map(|top| path.strip_prefix(top).ok());
        let name = below.unwrap_or(&path).to_string_lossy();
        let compiled = || inputs::compiled_alone(compilers, &notes, &path);
        let driver = test_driver(&bytes).and_then(|driver| Some((driver, compiled()?)));
        match driver {
            Some((driver, compiled)) => drivers.push((all.len(), driver, compiled)),
            None => is_table_elsewhere |= has_table(&bytes),
        }
        all.push(facts_of(placer, &name, &bytes));
    }
    if !is_table_elsewhere {
        for (place, driver, compiled) in drivers {
            set_rows_apart(&mut all[place], driver, compiled);
        }
    }
    let options = fs::read(masquerade::defined(compilers)).unwrap_or_default();
    all.push(facts_of(placer, OPTIONS, &options));
    all
}

fn has_table(bytes: &[u8]) -> bool {
    let table = driver::TABLE.as_bytes();
    bytes.windows(table.len()).any(|words| words == table)
}

/// Of a row only who runs its test takes notice, and that it executes the function is in its trace.
fn set_rows_apart(made: &mut MadeFacts, driver: TestDriver, compiled: u64) {
    let functions: BTreeSet<&String> = driver.rows.values().collect();
    let is_row = |name: &String| name == driver::TABLE || functions.contains(name);
    made.facts.entities.retain(|entity| !is_row(&entity.name));
    let mut rest = Digest::new();
    rest.absorb(driver.rest);
    rest.absorb(compiled);
    made.digest = rest.finish();
    made.driver = Some(driver);
}

/// What of a text passes names on.
fn facts_of(placer: &Placer, name: &str, bytes: &[u8]) -> MadeFacts {
    let mut facts = placer.facts(bytes);
    facts.includes.clear();
    let defined = facts.entities.iter().filter(|entity| entity.body.is_some());
    let functions = defined.map(|entity| Name::of(entity.name.as_bytes()));
    let functions = functions.collect();
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
        functions,
        macros,
        driver: None,
    }
}
