//! The fingerprint of toolchain and environment: a trace says nothing about another compiler or other libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::{linked_below, loaded_by};
use super::session::settings;
use super::toolchain;
use crate::config::Config;
use crate::coverage::llvm::binary;
use crate::digest::{self, Digest};
use crate::masquerade::{self, Backend, FLAGS_VERSION};
use crate::repo::Repository;
use crate::runner::cargo::{Cargo, told};
use crate::runner::{self, Runner};

/// Variables that change what a build makes, or what its programs load.
const VARIABLES: [&str; 24] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CCC_OVERRIDE_OPTIONS",
    "MAKEFILES",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTDOCFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_RUSTDOCFLAGS",
    "RUSTC",
    "RUSTDOC",
    "CARGO_INCREMENTAL",
    "CARGO_BUILD_INCREMENTAL",
    "CARGO_BUILD_TARGET",
];

const LIBRARY: &str = "library ";
const RUNNER: &str = "runner";
const FLAGS: &str = "flags";
const SETTINGS: &str = "settings of cargo outside of the repository";

/// What a make tells those that it calls; without one, what the user tells every make.
pub(super) const OF_MAKE: [&str; 4] = ["MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKELEVEL"];

pub(super) fn is_called_by_make() -> bool {
    std::env::var_os("MAKELEVEL").is_some()
}

/// What a recording depends on besides the tree, by name.
#[must_use]
pub fn fingerprint(
    runner: &str,
    backend: &Backend,
    config: &Config,
    repository: &Repository,
    folders: &[&Path],
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    found.insert(RUNNER.to_owned(), runner.to_owned());
    found.insert("backend".to_owned(), backend.name().to_owned());
    found.insert(FLAGS.to_owned(), FLAGS_VERSION.to_string());
    let version = compiler_version(backend).unwrap_or_else(|| "unknown".to_owned());
    found.insert("compiler".to_owned(), version);
    for (name, id) in libraries(folders) {
        found.insert(format!("{LIBRARY}{name}"), id);
    }
    found.extend(known_without_build(runner, config, repository));
    found
}

/// What can be told without a build: variables, commands, which may come from git's configuration, and what cargo is told.
fn known_without_build(
    runner: &str,
    config: &Config,
    repository: &Repository,
) -> BTreeMap<String, String> {
    let mut known = variables(&config.environment);
    if runner == Cargo.name() {
        known.extend(told_to_cargo(repository));
    }
    let commands = config.commands();
    known.extend(commands.map(|(name, command)| (format!("command {name}"), command.to_owned())));
    known
}

/// What decides about builds of cargo and is no file of the repository. The copy in which it is built lies in its git directory.
fn told_to_cargo(repository: &Repository) -> impl Iterator<Item = (String, String)> {
    let rts = repository.rts_dir();
    let own = rts.parent().and_then(Path::parent);
    let above = rts.ancestors().filter(|folder| Some(*folder) != own);
    let settings = told::settings(above).map(|settings| format!("{settings:016x}"));
    let settings = settings.map(|settings| (SETTINGS.to_owned(), settings));
    let variables = told::variables_of_targets().map(|(name, value)| {
        let name = format!("variable {}", name.to_string_lossy());
        (name, value.to_string_lossy().into_owned())
    });
    settings.into_iter().chain(variables)
}

/// The variables that count, as they are set.
#[must_use]
pub fn variables(more: &[String]) -> BTreeMap<String, String> {
    let more = more.iter().map(String::as_str);
    let of_make = OF_MAKE.into_iter().filter(|_| !is_called_by_make());
    let names = VARIABLES.into_iter().chain(of_make).chain(more);
    names
        .filter_map(|name| {
            let value = std::env::var_os(name)?.to_string_lossy().into_owned();
            Some((format!("variable {name}"), value))
        })
        .collect()
}

/// What is not as it was recorded, for people.
#[must_use]
pub fn difference(
    recorded: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Option<String> {
    let names: BTreeSet<&String> = recorded.keys().chain(now.keys()).collect();
    // Another runner, say, builds what loads other libraries.
    let name = names
        .into_iter()
        .filter(|name| recorded.get(*name) != now.get(*name))
        .min_by_key(|name| name.starts_with(LIBRARY))?;
    let loads = |values: &BTreeMap<String, String>| {
        let mut names = values.keys();
        names.any(|name| name.starts_with(LIBRARY))
    };
    if name.starts_with(LIBRARY) && loads(recorded) != loads(now) {
        let [then, now] = [recorded, now].map(|side| match loads(side) {
            true => "made programs",
            false => "made none",
        });
        return Some(format!(
            "the build {then}, and now {now}; say under [build] what makes those that tests run"
        ));
    }
    if name == FLAGS {
        return Some("it was recorded by another version of git rts".to_owned());
    }
    if name == SETTINGS {
        return Some(format!("the {SETTINGS} changed"));
    }
    let value = |values: &BTreeMap<String, String>| {
        let value = values.get(name);
        value.map_or_else(|| "unset".to_owned(), |value| format!("'{value}'"))
    };
    Some(format!(
        "{name} was {} and is {}",
        value(recorded),
        value(now)
    ))
}

/// The same, of a version that was not built: the runner, the variables and commands, and the files of the toolchain if this machine
/// recorded with them.
#[must_use]
pub fn difference_without_build(
    recorded: &BTreeMap<String, String>,
    config: &Config,
    repository: &Repository,
) -> Option<String> {
    let rts = &repository.rts_dir();
    let is_known = |name: &str| {
        name.starts_with("variable ") || name.starts_with("command ") || name == SETTINGS
    };
    let then = recorded.iter().filter(|(name, _)| is_known(name));
    let then = then.map(|(name, value)| (name.clone(), value.clone()));
    let runner = recorded.get(RUNNER).map_or("", String::as_str);
    let now = known_without_build(runner, config, repository);
    other_runner(recorded, config, repository)
        .or_else(|| difference(&then.collect(), &now))
        .or_else(|| toolchain::what_changed(rts, &digest_of(recorded)))
}

/// What is said of the runner, if it is another than was recorded: it has other tests.
fn other_runner(
    recorded: &BTreeMap<String, String>,
    config: &Config,
    repository: &Repository,
) -> Option<String> {
    let recorded = recorded.get(RUNNER)?;
    match runner::detect(repository.workdir()?, &settings(config)) {
        Ok(now) if now.name() == recorded => None,
        Ok(now) => Some(format!("runner was '{recorded}' and is '{}'", now.name())),
        Err(error) => Some(format!("runner was '{recorded}', and {error}")),
    }
}

/// Remembers the files behind a fingerprint, so that a change is noticed without a build.
pub fn remember(
    rts: &Path,
    fingerprint: &BTreeMap<String, String>,
    backend: &Backend,
    folders: &[&Path],
) {
    let own = linked_below(folders);
    let libraries = loaded_by(&own, &own).into_values().flatten();
    let libraries = libraries.filter(|path| !own.contains(path));
    let files: Vec<PathBuf> = libraries.chain(compiler_of(backend)).collect();
    toolchain::remember(rts, &digest_of(fingerprint), &files);
}

fn compiler_of(backend: &Backend) -> Option<PathBuf> {
    match backend {
        Backend::Llvm { clang } => Some(clang.clone()),
        Backend::Gcov => {
            let path = std::env::var_os("PATH")?;
            masquerade::on_path(OsStr::new("cc"), &path)
        }
        // What is on the path may be rustup, which stays as it is when the compiler changes.
        Backend::Rustc => {
            let mut asked = Command::new("rustc");
            let output = asked.args(["--print", "sysroot"]).stdin(Stdio::null());
            let sysroot = String::from_utf8(output.output().ok()?.stdout).ok()?;
            Some(Path::new(sysroot.trim_end()).join("bin/rustc"))
        }
    }
}

fn digest_of(fingerprint: &BTreeMap<String, String>) -> String {
    let mut digest = Digest::new();
    for (name, value) in fingerprint {
        digest.absorb(digest::bytes(name.as_bytes()));
        digest.absorb(digest::bytes(value.as_bytes()));
    }
    format!("{:016x}", digest.finish())
}

/// What the compiler of a back end says about itself.
#[must_use]
pub fn compiler_version(backend: &Backend) -> Option<String> {
    match backend {
        Backend::Llvm { clang } => version_of(clang),
        Backend::Gcov => version_of(Path::new("cc")),
        Backend::Rustc => version_of(Path::new("rustc")),
    }
}

/// The first line that a program says about itself.
#[must_use]
pub fn version_of(program: &Path) -> Option<String> {
    let mut asked = Command::new(program);
    let output = asked.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

/// The system libraries that the binaries of a build load, directly or not, with their build ids.
fn libraries(folders: &[&Path]) -> BTreeMap<String, String> {
    let own = linked_below(folders);
    let loaded = loaded_by(&own, &own).into_iter();
    let is_system = |name: &String| !own.iter().any(|path| path.ends_with(name));
    loaded
        .filter(|(name, _)| is_system(name))
        .map(|(name, place)| {
            let id = place.and_then(|place| binary::build_id_of(&place));
            let hex = |id: Vec<u8>| id.iter().map(|byte| format!("{byte:02x}")).collect();
            (name, id.map_or_else(|| "not found".to_owned(), hex))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_runner_is_told_before_the_libraries_of_what_it_builds() {
        let of = |runner: &str, library: &str| {
            let entries = [("runner", runner), ("library libm.so.6", library)];
            let entries = entries.map(|(name, value)| (name.to_owned(), value.to_owned()));
            BTreeMap::from(entries)
        };
        for (runner, library, told) in [
            ("meson", "2", Some("runner was 'make' and is 'meson'")),
            ("make", "2", Some("library libm.so.6 was '1' and is '2'")),
            ("make", "1", None),
        ] {
            let told_now = difference(&of("make", "1"), &of(runner, library));
            assert_eq!(told_now.as_deref(), told);
        }
        let none = BTreeMap::from([("runner".to_owned(), "make".to_owned())]);
        let told = difference(&none, &of("make", "1")).unwrap_or_default();
        assert!(
            told.starts_with("the build made none, and now made programs"),
            "{told}"
        );
    }
}
