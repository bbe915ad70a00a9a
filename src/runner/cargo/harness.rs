//! The tests of one binary: with rustc's own harness it lists them; with another one it is a test as a whole.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use super::super::ask::ask;
use super::super::definition::Places;
use super::super::{DEFAULT_TIMEOUT, Definition, Launch, Needs, Settings, Site, Test};
use super::invocation::Invocation;
use crate::coverage::llvm::binary;
use crate::error::Result;

/// What everything that rustc's harness is linked into holds.
const OF_HARNESS: &str = "test_main_static";

/// Variables that say where things are on this machine, and nothing of a test.
const OF_MACHINE: [&str; 7] = [
    "CARGO",
    "CARGO_HOME",
    "LD_LIBRARY_PATH",
    "PATH",
    "RUST_RECURSION_COUNT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
];

/// The tests of a binary.
pub(super) fn tests(
    invocation: &Invocation,
    (site, settings): (&Site, &Settings),
    places: &Places,
) -> Result<Vec<Test>> {
    let test = |path: Option<&str>, is_ignored: bool| {
        one(invocation, path, is_ignored, (site, settings), places)
    };
    if !has_harness(invocation) {
        return Ok(vec![test(None, false)]);
    }
    let listed = |more: &[&str]| -> Result<BTreeSet<String>> {
        let mut command: Vec<OsString> = vec![invocation.program.clone().into()];
        command.extend(["--list", "--format", "terse"].map(Into::into));
        command.extend(more.iter().map(Into::into));
        let own = invocation.environment.iter();
        let own = own.map(|(name, value)| (name.clone(), Some(value.clone())));
        let mut site = site.clone();
        site.environment.extend(own);
        let broken = "the program ends before it runs any test: 'cargo test' fails at it, too";
        let printed = ask(&site, &invocation.folder, &command, "");
        let printed = printed.map_err(|error| error.hint(broken))?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let lines = printed.lines();
        Ok(lines
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect())
    };
    let ignored = listed(&["--ignored"])?;
    let all = listed(&[])?;
    let all = all.iter();
    Ok(all
        .map(|path| test(Some(path), ignored.contains(path)))
        .collect())
}

/// Whether it was compiled with the harness of rustc. One that cannot be read is a test as a whole, which is safe.
fn has_harness(invocation: &Invocation) -> bool {
    let bytes = std::fs::read(&invocation.program).unwrap_or_default();
    let symbols = binary::symbols(&bytes).ok().flatten().unwrap_or_default();
    symbols.iter().any(|symbol| symbol.contains(OF_HARNESS))
}

fn one(
    invocation: &Invocation,
    path: Option<&str>,
    is_ignored: bool,
    (site, settings): (&Site, &Settings),
    places: &Places,
) -> Test {
    let binary = &invocation.binary;
    let name = match path {
        Some(path) => binary.test(path),
        None => binary.id(),
    };
    let mut command: Vec<OsString> = vec![invocation.program.clone().into()];
    if let Some(path) = path {
        command.extend([OsStr::new("--exact"), OsStr::new(path)].map(OsStr::to_owned));
    }
    let own = invocation.environment.iter();
    let of_test = own.clone().filter(|(name, _)| {
        let mut of_machine = OF_MACHINE.iter();
        !of_machine.any(|known| *name == OsStr::new(known))
    });
    let of_test = of_test.map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        (name, places.general(value))
    });
    let mut properties = std::collections::BTreeMap::new();
    if is_ignored {
        properties.insert("ignored".to_owned(), "true".to_owned());
    }
    let mut environment = site.environment.clone();
    environment.extend(own.map(|(name, value)| (name.clone(), Some(value.clone()))));
    Test {
        definition: Definition {
            command: command.iter().map(|word| places.general(word)).collect(),
            environment: of_test.collect(),
            working_directory: places.general(&invocation.folder),
            properties,
        },
        launch: Launch {
            command,
            environment,
            folder: invocation.folder.clone(),
            timeout: settings.timeout.or(Some(DEFAULT_TIMEOUT)),
            is_disabled: is_ignored,
            ..Launch::default()
        },
        needs: Needs {
            name: name.clone(),
            ..Needs::default()
        },
        name,
    }
}
