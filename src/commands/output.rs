//! What verbs print: data on stdout, as text or as JSON; errors on stderr.

use anstyle::AnsiColor;
use clap::ValueEnum;
use serde::Serialize;

use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs, with a version number
    Json,
}

/// Prints data; a reader that has seen enough (`| head`) is no error.
pub(super) fn print(text: &str) -> Result<()> {
    use std::io::Write;
    match anstream::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints data in which every byte counts: nothing is taken for a colour.
pub(super) fn print_raw(text: &str) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says what went wrong, as git does.
pub fn report_error(error: &Error) {
    let (red, yellow) = (
        AnsiColor::Red.on_default().bold(),
        AnsiColor::Yellow.on_default(),
    );
    anstream::eprintln!("{red}error:{red:#} {error}");
    for hint in &error.hints {
        anstream::eprintln!("{yellow}hint:{yellow:#} {hint}");
    }
}

/// Prints a document.
pub(super) fn print_json(document: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(document)
        .map_err(|error| Error::new(format!("cannot write the output: {error}")))?;
    print(&format!("{json}\n"))
}
