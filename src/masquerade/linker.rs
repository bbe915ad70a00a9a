//! The linkers of the masquerade: they call the real one, and note what it took.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::expanded;
use super::inputs;
use super::links::Links;
use super::{CLANG, FOLDER, cannot_run, code, run, rustc, wrapped};
use crate::coverage::llvm::binary;
use crate::error::{Error, Result};
use crate::objects::{LINKER_FLAGS, Link};

/// Names under which linkers are called.
pub(super) const LINKERS: [&str; 5] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];

/// What a linker is asked to print; what it prints is then not for us.
const QUESTIONS: [&str; 14] = [
    "-v",
    "-V",
    "--version",
    "--help",
    "--target-help",
    "-t",
    "--trace",
    "-M",
    "--print-map",
    "--verbose",
    "--stats",
    "--print-memory-usage",
    "--print-output-format",
    "--print-sysroot",
];

/// What makes an object of objects: it goes into a link of its own.
const JOINS: [&str; 4] = ["-r", "-i", "-Ur", "--relocatable"];

/// Whether a program name is that of a linker.
pub(super) fn is_linker(name: &str) -> bool {
    LINKERS.contains(&name)
}

/// Where the real linker is: on PATH, or beside the compiler that is told to use it.
pub(super) fn real(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let beside = std::env::var_os(CLANG).map(PathBuf::from);
    let beside = beside.and_then(|clang| clang.canonicalize().ok());
    let beside = beside.and_then(|clang| Some(clang.parent()?.to_owned()));
    let beside = beside.map(|folder| folder.join(name));
    // rustc may bring one along.
    let with_rustc = std::env::var_os(rustc::LINKERS).unwrap_or_default();
    let with_rustc = super::on_path(name, &with_rustc);
    with_rustc
        .or_else(|| super::on_path(name, path))
        .or_else(|| beside.filter(|candidate| candidate.is_file()))
}

fn found(name: &OsStr) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    real(name, &path).ok_or_else(|| Error::new(format!("no linker '{}' on PATH", name.display())))
}

/// Calls the linker as which we were called; answers its exit code.
pub(super) fn call(name: &OsStr) -> Result<u8> {
    run(Command::new(found(name)?).args(std::env::args_os().skip(1)))
}

/// Links in place of the linker as which we were called; answers its exit code.
pub(super) fn link(name: &OsStr) -> Result<u8> {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap_or_default());
    let linker = found(name)?;
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words = expanded(&given).into_iter();
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let note = |files: &mut dyn Iterator<Item = &str>| {
        inputs::note_linked(&folder, &made(&words), files)
            .map_err(|error| Error::new(format!("cannot note what a linker read: {error}")))
    };
    if has(&QUESTIONS) || has(&JOINS) {
        let ended = run(Command::new(linker).args(given))?;
        if ended == 0 && !has(&QUESTIONS) {
            let made = made(&words);
            let files = words.iter().map(String::as_str);
            note(&mut files.filter(|file| Path::new(file) != made))?;
        }
        return Ok(ended);
    }
    let given = wrapped::apart(&expanded(&given), &folder).unwrap_or(given);
    let mut command = Command::new(&linker);
    command.args(&given).args(LINKER_FLAGS);
    if !words.iter().any(|word| word.starts_with("--build-id")) {
        command.arg("--build-id");
    }
    let output = command
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .stdout(Stdio::piped())
        .output()
        .map_err(|error| cannot_run(&linker, &error))?;
    if output.status.success() {
        let trace = String::from_utf8_lossy(&output.stdout);
        let link = Link::from_trace(&words, &trace);
        note(&mut link.inputs.iter().map(|input| input.path.as_str()))?;
        let place = made(&words);
        let made = fs::read(&place).unwrap_or_default();
        let id = binary::build_id(&made).unwrap_or_default();
        if !id.is_empty() {
            // What cannot be noted makes a binary that is only known as a whole, and no worse.
            let links = Links::of(&folder);
            let _ = links.note(&id, &link, &made);
            let _ = links.note_place(&id, &place);
        }
    }
    Ok(code(output.status))
}

/// The file that a linker writes.
fn made(words: &[String]) -> PathBuf {
    let mut made = PathBuf::from("a.out");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => made = words.next().map_or(made, PathBuf::from),
            other => {
                let value = other.strip_prefix("--output=");
                if let Some(value) = value.or_else(|| other.strip_prefix("-o")) {
                    made = value.into();
                }
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_known_however_it_is_said() {
        let output = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            made(&words)
        };
        for call in [
            "-o p a.o",
            "a.o -op",
            "--output=p a.o",
            "--output p",
            "-o q -o p",
        ] {
            assert_eq!(output(call), Path::new("p"), "{call}");
        }
        assert_eq!(output("a.o b.o"), Path::new("a.out"));
    }
}
