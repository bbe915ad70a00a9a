//! Questions to a project's tools: run a command, take what it prints.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Site, shell};
use crate::error::{Error, Result};

/// What a command prints when it succeeds.
///
/// It stays in our process group, so that Ctrl-C at a terminal ends it.
pub(super) fn ask(
    site: &Site,
    folder: &Path,
    command: &[OsString],
    input: &str,
) -> Result<Vec<u8>> {
    let output = answer(site, folder, command, input)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failure(command, &output))
    }
}

/// The command's whole answer, whether or not it succeeded.
pub(super) fn answer(
    site: &Site,
    folder: &Path,
    command: &[OsString],
    input: &str,
) -> Result<Output> {
    let cannot = |error: std::io::Error| {
        Error::new(format!("cannot run '{}': {error}", for_people(command)))
    };
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::new("there is no command to run"));
    };
    let mut question = Command::new(program);
    for (name, value) in &site.environment {
        match value {
            Some(value) => question.env(name, value),
            None => question.env_remove(name),
        };
    }
    let mut child = question
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| missing(program, &error).unwrap_or_else(|| cannot(error)))?;
    // Inputs are a few lines: they fit into the pipe, and a command that reads none of them is no error.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(cannot)
}

pub(super) fn failure(command: &[OsString], output: &Output) -> Error {
    let error = Error::new(format!(
        "'{}' failed ({})",
        for_people(command),
        output.status
    ));
    let said = String::from_utf8_lossy(&output.stderr);
    last_lines(&said, 5).into_iter().fold(error, Error::hint)
}

/// The last lines of a text that are not blank.
pub(super) fn last_lines(text: &str, count: usize) -> Vec<&str> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// A command as one would type it.
pub(super) fn for_people(command: &[OsString]) -> String {
    if let [shell, option, text] = command
        && shell == "sh"
        && option == "-c"
    {
        let text = text.to_string_lossy();
        return text.strip_prefix("exec ").unwrap_or(&text).to_owned();
    }
    let words = command.iter().map(|word| shell::quote(word));
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}

/// The error for a tool that is not installed.
pub(super) fn missing(program: &OsString, error: &std::io::Error) -> Option<Error> {
    let program = program.to_string_lossy();
    // A name without a folder is a tool's; it was looked for in PATH.
    let is_tool = !program.contains('/');
    (is_tool && error.kind() == std::io::ErrorKind::NotFound).then(|| {
        Error::new(format!("'{program}' was not found")).hint(format!(
            "install '{program}', or name another runner in '.git-rts.toml' ([tests] runner)"
        ))
    })
}
