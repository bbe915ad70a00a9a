//! How cargo would run each test binary: it is asked by giving it a runner that tells instead of running.
//!
//! So the working directory and all variables are cargo's own: those of the package, of build scripts, of `[env]`, and where
//! libraries are found.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use cargo_metadata::{Message, Target, TargetKind};

use super::super::ask::ask;
use super::super::{Settings, Site};
use super::names::Binary;
use crate::error::{Error, Result};

/// Prints where and how it was called, ended by an empty word. Variables come last: their values may hold anything but NUL.
const TELL: &str = r#"printf '%s\0' "$PWD" "$1"; env -0; printf '\0'"#;

/// What a shell sets that tells.
const OF_SHELL: [&str; 4] = ["_", "OLDPWD", "PWD", "SHLVL"];

/// A test binary as cargo runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) binary: Binary,
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    /// What cargo sets besides what it was given itself.
    pub(super) environment: BTreeMap<OsString, OsString>,
}

/// A library whose documentation may hold tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Documented {
    pub(super) package: String,
    /// Where its manifest is.
    pub(super) folder: PathBuf,
    /// As rustdoc calls it.
    pub(super) library: String,
}

/// All test binaries of a site that was built, and the libraries with documentation.
pub(super) fn all(
    site: &Site,
    settings: &Settings,
    rustc: &str,
) -> Result<(Vec<Invocation>, Vec<Documented>)> {
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let host =
        host.ok_or_else(|| Error::new("rustc does not say for which machine it compiles"))?;
    let told = serde_json::to_string(TELL).unwrap_or_default();
    let runner = format!("target.{host}.runner=[\"sh\",\"-c\",{told},\"sh\"]");
    let mut words = vec!["--message-format=json", "--config", &runner];
    if !super::chooses_targets(settings) {
        // All but documentation, which has no runner.
        words.push("--tests");
    }
    let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
    let command = super::test(site, settings, &words);
    let printed = ask(site, &site.tree, &command, "")?;
    let (messages, told) = parted(&printed);
    let (binaries, documented) = artifacts(messages);
    let inherited = inherited(site);
    let mut found = Vec::new();
    for told in read(told) {
        let program = absolute(&told.folder, &told.program);
        let binary = binaries.get(&program).ok_or_else(|| {
            Error::new(format!(
                "cargo runs '{}', and does not say what it is",
                program.display()
            ))
        })?;
        let mut environment = told.environment;
        environment.retain(|name, value| {
            let is_of_shell = OF_SHELL.iter().any(|known| name == known);
            inherited.get(name) != Some(value) && !is_of_shell
        });
        found.push(Invocation {
            binary: binary.clone(),
            program,
            folder: told.folder,
            environment,
        });
    }
    Ok((found, documented))
}

/// What rustc says of itself, and for which machine it compiles.
pub(super) fn rustc(site: &Site) -> Result<String> {
    let words = ["rustc", "-vV"].map(OsString::from);
    let said = ask(site, &site.tree, &words, "")?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// What cargo itself is given: its tests inherit that from us.
fn inherited(site: &Site) -> BTreeMap<OsString, OsString> {
    let mut inherited: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in &site.environment {
        match value {
            Some(value) => inherited.insert(name.clone(), value.clone()),
            None => inherited.remove(name),
        };
    }
    inherited
}

/// What cargo says of its build, and what the runner says behind that.
fn parted(printed: &[u8]) -> (&[u8], &[u8]) {
    let end = br#"{"reason":"build-finished""#;
    let at = printed.windows(end.len()).position(|part| part == end);
    let at = at.unwrap_or(printed.len());
    let line = printed[at..].iter().position(|byte| *byte == b'\n');
    printed.split_at(line.map_or(printed.len(), |line| at + line + 1))
}

fn artifacts(messages: &[u8]) -> (BTreeMap<PathBuf, Binary>, Vec<Documented>) {
    let mut binaries = BTreeMap::new();
    let mut documented = Vec::new();
    for message in Message::parse_stream(messages) {
        let Ok(Message::CompilerArtifact(artifact)) = message else {
            continue;
        };
        let manifest = artifact.manifest_path.into_std_path_buf();
        let package = package_of(&manifest, &artifact.package_id.repr);
        let target = &artifact.target;
        if target.doctest && artifact.profile.test {
            documented.push(Documented {
                package: package.clone(),
                folder: manifest.parent().unwrap_or(&manifest).to_owned(),
                library: target.name.replace('-', "_"),
            });
        }
        if let Some(executable) = artifact.executable.filter(|_| artifact.profile.test) {
            let binary = Binary {
                package,
                kind: kind(target),
                name: target.name.clone(),
            };
            binaries.insert(executable.into_std_path_buf(), binary);
        }
    }
    documented.sort();
    documented.dedup();
    (binaries, documented)
}

fn kind(target: &Target) -> &'static str {
    match target.kind.first() {
        Some(TargetKind::Test) => "test",
        Some(TargetKind::Bin) => "bin",
        Some(TargetKind::Example) => "example",
        Some(TargetKind::Bench) => "bench",
        _ => "lib",
    }
}

/// The name of a package by its id: `path+file:///x/one#0.1.0`, `path+file:///x/dir#name@0.1.0`, or in older cargos `name 0.1.0 (...)`.
fn package_of(manifest: &Path, id: &str) -> String {
    let of_folder = || {
        let folder = manifest.parent().and_then(Path::file_name);
        folder.unwrap_or_default().to_string_lossy().into_owned()
    };
    match id.rsplit_once('#') {
        Some((_, rest)) => match rest.split_once('@') {
            Some((name, _)) => name.to_owned(),
            None => of_folder(),
        },
        None => id.split(' ').next().map_or_else(of_folder, str::to_owned),
    }
}

/// What the runner told of one binary.
struct Told {
    folder: PathBuf,
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

fn read(told: &[u8]) -> Vec<Told> {
    let text = |word: &[u8]| OsString::from_vec(word.to_vec());
    let mut words = told.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(folder), Some(program)) = (words.next(), words.next()) {
        let variables = words.by_ref().take_while(|word| !word.is_empty());
        let variables = variables.filter_map(|word| {
            let at = word.iter().position(|byte| *byte == b'=')?;
            Some((text(&word[..at]), text(&word[at + 1..])))
        });
        found.push(Told {
            environment: variables.collect(),
            folder: text(folder).into(),
            program: text(program).into(),
        });
    }
    found
}

fn absolute(folder: &Path, program: &Path) -> PathBuf {
    // cargo may call what is below its working directory by a shorter name.
    let parts = folder.join(OsStr::from_bytes(program.as_os_str().as_bytes()));
    parts.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_and_what_the_runner_says_are_told_apart() {
        let printed = b"{\"reason\":\"x\"}\n{\"reason\":\"build-finished\",\"success\":true}\n/w/one\0/t/one-1\0A=1\0B=x=\ny\0\0/w/two\0../t/two-2\0A=2\0\0";
        let (messages, told) = parted(printed);
        assert!(messages.ends_with(b"true}\n"));
        let told = read(told);
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].environment[OsStr::new("B")], "x=\ny");
        assert_eq!(told[1].folder, Path::new("/w/two"));
    }

    #[test]
    fn packages_are_known_by_their_ids() {
        let manifest = Path::new("/w/folder/Cargo.toml");
        for (id, name) in [
            ("path+file:///w/folder#0.1.0", "folder"),
            ("path+file:///w/folder#other@0.1.0", "other"),
            ("old 0.1.0 (path+file:///w/folder)", "old"),
        ] {
            assert_eq!(package_of(manifest, id), name);
        }
    }
}
