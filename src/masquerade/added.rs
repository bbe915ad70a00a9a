//! The small object that is added to everything which our compilers link: by it processes tell that their counters are lost, or
//! which mutants they reach.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{mark, switches};
use crate::digest;

/// Who records hears under this name what processes cannot write.
#[must_use]
pub fn ear(folder: &Path) -> String {
    let digest = digest::bytes(folder.as_os_str().as_encoded_bytes());
    format!("git-rts-{digest:016x}")
}

/// The source of the object.
pub struct Source<'a> {
    /// The folder of the masquerade, where the object is kept.
    pub folder: &'a Path,
    pub purpose: Purpose<'a>,
}

/// What the object is for.
pub enum Purpose<'a> {
    /// Programs of clang's and of rustc's tell whether they can count.
    Reach {
        /// Where they do that nobody told where.
        strays: &'a OsStr,
        /// rustc links: it names the C library itself, and says in each object where to count if nobody tells.
        is_for_rust: bool,
    },
    /// Programs of gcc's leave marks.
    Mark,
    /// Mutants are chosen at run time; where it is said which of them is on.
    Switch { switches: &'a OsStr },
}

impl Source<'_> {
    fn is_for_rust(&self) -> bool {
        matches!(
            self.purpose,
            Purpose::Reach {
                is_for_rust: true,
                ..
            }
        )
    }

    fn text(&self) -> String {
        let quoted =
            |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let ear = quoted(&ear(self.folder));
        let (place, own) = match self.purpose {
            Purpose::Reach { strays, .. } => {
                (quoted(&strays.to_string_lossy()), include_str!("reach.c"))
            }
            Purpose::Mark => (String::new(), mark::SOURCE),
            Purpose::Switch { switches } => (quoted(&switches.to_string_lossy()), switches::SOURCE),
        };
        let tell = include_str!("tell.c");
        let elsewhere = match self.is_for_rust() {
            true => include_str!("elsewhere.c"),
            false => "",
        };
        format!("#define GIT_RTS_EAR {ear}\n#define GIT_RTS_PLACE {place}\n{tell}{own}{elsewhere}")
    }
}

/// What decides for which machine a compiler makes an object.
const MACHINE_FLAGS: [&str; 4] = ["-m32", "-m64", "-mx32", "-m16"];

/// The object for a call that links, compiled when the first such call needs it; none where it cannot be added.
#[must_use]
pub fn object(compiler: &Path, arguments: &[OsString], source: &Source<'_>) -> Option<PathBuf> {
    if !can_be_added(arguments, source.is_for_rust()) {
        return None;
    }
    let machine = arguments
        .iter()
        .filter(|argument| MACHINE_FLAGS.iter().any(|flag| argument == flag));
    let machine: Vec<&OsStr> = machine.map(OsString::as_os_str).collect();
    let text = source.text();
    let made_by = format!("{}\0{machine:?}\0{text}", compiler.display());
    let name = format!("added-{:016x}.o", digest::bytes(made_by.as_bytes()));
    let object = source.folder.join(&name);
    if arguments.iter().any(|argument| *argument == object) {
        // A wrapper around the compiler has called us twice.
        return None;
    }
    if object.is_file() {
        return Some(object);
    }
    // Several calls at once may all make it: each under a name of its own.
    let own = source.folder.join(format!("{name}.{}", std::process::id()));
    compile(compiler, &machine, &text, &own)?;
    fs::rename(&own, &object).ok().map(|()| object)
}

fn compile(compiler: &Path, machine: &[&OsStr], text: &str, object: &Path) -> Option<()> {
    let mut child = Command::new(compiler)
        .args(machine)
        .args(["-w", "-O1", "-fPIC", "-c", "-x", "c", "-", "-o"])
        .arg(object)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let written = child.stdin.take()?.write_all(text.as_bytes());
    let made = child.wait().is_ok_and(|status| status.success());
    (made && written.is_ok()).then_some(())
}

/// Whether a call makes a program or library that begins and ends as usual.
fn can_be_added(arguments: &[OsString], is_for_rust: bool) -> bool {
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy());
    !words.any(|word| {
        let for_linker = word.strip_prefix("-Wl,").unwrap_or_default();
        let is_said_by_rustc = is_for_rust && word == "-nodefaultlibs";
        !is_said_by_rustc
            && matches!(
                &*word,
                // These do not link, or what they link is linked again, with its own mark.
                "-c" | "-S" | "-r" | "--relocatable"
                // Without the C library or its way into a program, constructors may never run.
                | "-nostdlib" | "-nodefaultlibs" | "-nolibc" | "-nostartfiles"
                // A linker script decides what is left out.
                | "-T"
            )
            || for_linker.split(',').any(|word| {
                matches!(word, "-r" | "-i" | "--relocatable")
                    || word.starts_with("-T")
                    || word.starts_with("--script")
            })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::*;

    #[test]
    fn only_what_is_linked_as_usual_gets_the_object() {
        for call in [
            "a.c",
            "-o p a.o -lm",
            "-shared -o l.so a.o",
            "-static a.o",
            "-Wl,-rpath,/x-T a.o",
        ] {
            assert!(can_be_added(&words(call), false), "{call}");
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
            assert!(!can_be_added(&words(call), false), "{call}");
        }
    }
}
