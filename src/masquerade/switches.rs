//! Builds in which mutants are chosen at run time: without counters, and with a small object in everything that is linked.
//!
//! What the object does, and why, stands in `switches.c`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::added::{self, Purpose, Source};
use super::arguments::{absolute, counts};
use super::{BACKEND, CLANG, cannot_run, code, on_path, unknown_arguments};
use crate::error::{Error, Result};

pub(super) const SOURCE: &str = include_str!("switches.c");

/// Set for such builds: where it is said which mutant is on, for processes whom no variable tells.
pub const FOLDER: &str = "GIT_RTS_SWITCHES";

/// The number of the mutant that is on; 0 for none.
pub const ON: &str = "GIT_RTS_SWITCH";

/// The file in which a process notes the mutants that it reaches, a byte for each.
pub const REACHED: &str = "GIT_RTS_SWITCHES_REACHED";

/// In the folder: which mutant is on, and what is reached by processes that no variable tells where to note it.
pub const ON_FILE: &str = "on";
pub const STRAYS_FILE: &str = "reached";

/// How compilers must speak, so that what they complain of is found: all of it, plainly, and with a column for every byte. What is
/// written twice on purpose may be odd.
const FLAGS: [&str; 3] = ["-Wno-error", "-fdiagnostics-color=never", "-ftabstop=1"];
const CLANG_FLAGS: [&str; 3] = [
    "-ferror-limit=0",
    "-Wno-unknown-warning-option",
    "-Wno-unused-command-line-argument",
];

/// Compiles in place of the compiler as which we were called; answers its exit code.
pub(super) fn compile(name: &OsStr, switches: &OsStr) -> Result<u8> {
    let folder = PathBuf::from(std::env::var_os(super::FOLDER).unwrap_or_default());
    let mut arguments = absolute(&std::env::args_os().skip(1).collect::<Vec<_>>());
    let clang = std::env::var_os(BACKEND).is_some_and(|backend| backend == "llvm");
    let clang = clang.then(|| PathBuf::from(std::env::var_os(CLANG).unwrap_or_default()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let compiler = clang.clone().or_else(|| on_path(name, &path));
    let compiler =
        compiler.ok_or_else(|| Error::new(format!("no compiler '{}' on PATH", name.display())))?;
    let is_plus = name.to_str().is_some_and(|name| name.contains("++"));
    let source = Source {
        folder: &folder,
        purpose: Purpose::Switch { switches },
    };
    let object = match counts(&arguments) {
        true => added::object(&compiler, &arguments, &source),
        false => None,
    };
    let command = |arguments: &[OsString]| {
        let mut command = Command::new(&compiler);
        if clang.is_some() && is_plus {
            command.arg("--driver-mode=g++");
        }
        if let Some(object) = &object {
            command.arg("-Xlinker").arg(object);
        }
        command.args(arguments);
        if counts(arguments) {
            command.args(FLAGS);
            command.args(clang.iter().flat_map(|_| CLANG_FLAGS));
        }
        command
    };
    loop {
        let output = command(&arguments)
            .stdin(Stdio::inherit())
            .stdout(Stdio::inherit())
            .output()
            .map_err(|error| cannot_run(Path::new(&compiler), &error))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        // Options that only gcc knows: without them the program is the same.
        let unknown = match clang {
            Some(_) => unknown_arguments(&errors),
            None => Vec::new(),
        };
        let given = arguments.len();
        arguments.retain(|argument| !unknown.iter().any(|unknown| argument == unknown.as_str()));
        if output.status.success() || arguments.len() == given {
            eprint!("{errors}");
            return Ok(code(output.status));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_and_its_reader_agree_on_names() {
        for name in [ON, REACHED] {
            assert!(SOURCE.contains(&format!("\"{name}\"")), "{name}");
        }
        for file in [ON_FILE, STRAYS_FILE] {
            assert!(SOURCE.contains(&format!("PLACE \"/{file}\"")), "{file}");
        }
    }
}
