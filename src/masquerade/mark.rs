//! The mark by which processes tell that gcc's counters were lost: a small object in everything that gcc links.
//!
//! What it does, and why, stands in `mark.c`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::digest;

const SOURCE: &str = include_str!("mark.c");

/// The variable that tells processes where to leave their marks.
pub const VARIABLE: &str = "GIT_RTS_MARKS_IN";

/// How the names of the marks begin that tell of a process whose counters are not written.
const RUNNING: &str = "running-";

/// How the names of the marks begin that tell of a process which became another program.
const BECAME: &str = "became-";

/// What decides for which machine gcc makes an object.
const MACHINE_FLAGS: [&str; 4] = ["-m32", "-m64", "-mx32", "-m16"];

/// The object for a call of gcc that links, compiled when the first such call needs it; none where it cannot be added.
#[must_use]
pub fn object(compiler: &Path, arguments: &[OsString], folder: &Path) -> Option<PathBuf> {
    if !can_be_added(arguments) {
        return None;
    }
    let machine = arguments
        .iter()
        .filter(|argument| MACHINE_FLAGS.iter().any(|flag| argument == flag));
    let machine: Vec<&OsStr> = machine.map(OsString::as_os_str).collect();
    let made_by = format!("{}\0{machine:?}", compiler.display());
    let name = format!("mark-{:016x}.o", digest::bytes(made_by.as_bytes()));
    let object = folder.join(&name);
    if arguments.iter().any(|argument| *argument == object) {
        // A wrapper around the compiler has called us twice.
        return None;
    }
    if object.is_file() {
        return Some(object);
    }
    // Several calls at once may all make it: each under a name of its own.
    let own = folder.join(format!("{name}.{}", std::process::id()));
    compile(compiler, &machine, &own)?;
    fs::rename(&own, &object).ok().map(|()| object)
}

fn compile(compiler: &Path, machine: &[&OsStr], object: &Path) -> Option<()> {
    let mut child = Command::new(compiler)
        .args(machine)
        .args(["-w", "-O1", "-fPIC", "-c", "-x", "c", "-", "-o"])
        .arg(object)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let written = child.stdin.take()?.write_all(SOURCE.as_bytes());
    let made = child.wait().is_ok_and(|status| status.success());
    (made && written.is_ok()).then_some(())
}

/// Whether a call makes a program or library that begins and ends as usual.
fn can_be_added(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy());
    !words.any(|word| {
        let for_linker = word.strip_prefix("-Wl,").unwrap_or_default();
        matches!(
            &*word,
            // These do not link, or what they link is linked again, with its own mark.
            "-c" | "-S" | "-r" | "--relocatable"
                // Without the C library or its way into a program, constructors may never run.
                | "-nostdlib" | "-nodefaultlibs" | "-nolibc" | "-nostartfiles"
                // A linker script decides what is left out.
                | "-T"
        ) || for_linker.split(',').any(|word| {
            matches!(word, "-r" | "-i" | "--relocatable")
                || word.starts_with("-T")
                || word.starts_with("--script")
        })
    })
}

/// Whether a binary has the object in it.
#[must_use]
pub fn is_in(binary: &[u8]) -> bool {
    contains(binary, VARIABLE.as_bytes())
}

/// Whether a binary has counters of gcc: it names the files to write them to.
#[must_use]
pub fn is_counting(binary: &[u8]) -> bool {
    contains(binary, b".gcda\0")
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// What the marks in the folder of a test tell once it has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Programs whose counters were not written, or not all of them.
    pub lost: Vec<String>,
    /// A program became another in the middle of a function: the sums of its counters are wrong.
    pub became_another: bool,
}

/// Reads the marks in a folder.
#[must_use]
pub fn left_in(folder: &Path) -> Left {
    let mut left = Left::default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        left.became_another |= name.starts_with(BECAME);
        if name.starts_with(RUNNING) {
            let program = fs::read_link(entry.path()).unwrap_or_default();
            left.lost.push(program.to_string_lossy().into_owned());
        }
    }
    left.lost.sort();
    left.lost.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn only_what_is_linked_as_usual_gets_the_object() {
        for call in [
            "a.c",
            "-o p a.o -lm",
            "-shared -o l.so a.o",
            "-static a.o",
            "-Wl,-rpath,/x-T a.o",
        ] {
            assert!(can_be_added(&words(call)), "{call}");
        }
        for call in [
            "-c a.c",
            "-r -o ab.o a.o b.o",
            "-Wl,-r a.o",
            "-nostdlib a.o",
            "-T x.ld a.o",
            "-Wl,-Tx.ld a.o",
            "-Wl,--script=x.ld a.o",
            "-Wl,-O1,-i a.o",
        ] {
            assert!(!can_be_added(&words(call)), "{call}");
        }
    }

    #[test]
    fn the_object_and_its_reader_agree_on_names() {
        assert!(SOURCE.contains(&format!("\"{VARIABLE}\"")));
        for kind in [RUNNING, BECAME] {
            assert!(SOURCE.contains(&format!("\"{}\"", kind.trim_end_matches('-'))));
        }
    }
}
