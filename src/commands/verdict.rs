//! How `replay` and `audit` end: the report on the terminal and in files, and an error if a test was missed.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::commands::output::{Format, print, print_json};
use crate::commands::testing::now;
use crate::emit::loudness;
use crate::emit::plan_text::count;
use crate::emit::trust::{Deed, Subject};
use crate::emit::{trust_json, trust_page, trust_text};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::trust::Trial;
use crate::trust::score::score;

/// Where the report goes.
#[derive(Debug, Args)]
pub(super) struct Pages {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also write it as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write it as a page with plots that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Pages {
    /// Whether all that will be written can be: nobody waits for an hour to hear that it cannot.
    pub(super) fn check(&self) -> Result<()> {
        for file in [&self.json, &self.html].into_iter().flatten() {
            if file.as_os_str() == "-" {
                return Err(Error::new("'-' is no file")
                    .hint("'--format json' prints it")
                    .exit_code(ExitCode::Usage));
            }
            let is_new = !file.exists();
            let mut open = std::fs::OpenOptions::new();
            let opened = open.append(true).create(true).open(file);
            opened.map_err(|error| cannot_write(file, &error))?;
            if is_new {
                // Nothing is in it yet.
                let _ = std::fs::remove_file(file);
            }
        }
        Ok(())
    }
}

pub(super) fn verdict(pages: &Pages, deed: Deed, trials: &[Trial]) -> Result<()> {
    let score = score(trials);
    let page = pages.html.as_ref().or(pages.json.as_ref());
    let subject = &Subject {
        deed,
        git_rts: env!("CARGO_PKG_VERSION").to_owned(),
        tests: trials
            .iter()
            .map(|trial| trial.tests.len())
            .max()
            .unwrap_or(0),
        elsewhere: page.map_or_else(
            || "'--html FILE'".to_owned(),
            |file| file.display().to_string(),
        ),
        written: now(),
    };
    let json = || trust_json::json(subject, trials, &score);
    if let Some(file) = &pages.json {
        write(file, &format!("{:#}\n", json()))?;
    }
    if let Some(file) = &pages.html {
        write(file, &trust_page::page(subject, trials, &score))?;
    }
    match pages.format {
        Format::Json => print_json(&json())?,
        // Who wants quiet hears what is wrong.
        Format::Text if loudness::is_quiet() && score.missed.is_empty() => {}
        Format::Text => print(&trust_text::text(subject, trials, &score))?,
    }
    match score.missed.len() {
        0 => Ok(()),
        missed => Err(
            Error::new(format!("{} skipped wrongly", count(missed, "test")))
                .hint("please report this, with the story above: it should never happen")
                .exit_code(ExitCode::Missed),
        ),
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).map_err(|error| cannot_write(file, &error))
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot write '{}': {error}", file.display()))
        .hint("is its folder there, and may you write to it?")
}
