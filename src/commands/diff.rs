//! `git rts diff`: what changed between two versions, as entities and as dangerous edges.

use clap::{Args, ValueEnum};

use crate::commands::output::print;
use crate::commands::versions::Versions;
use crate::config::Config;
use crate::difference::difference;
use crate::emit::diff_json::diff_json;
use crate::emit::diff_text::{diff_text, summary};
use crate::emit::edges::{Texts, dangerous_edges};
use crate::emit::ttdiff::ttdiff;
use crate::error::Result;
use crate::repo::Repository;

/// Show what changed: functions, variables, types and macros, what they affect, and the dangerous edges
///
/// An edge is dangerous when a test that crosses it in the base version may run different code in the head version. A test that crosses none of them behaves as before.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    versions: Versions,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, grouped by file
    Text,
    /// For programs, with a version number
    Json,
    /// A line kind;file;name for each entity that differs
    Ttdiff,
}

pub(super) fn run(arguments: &Diff) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let versions = arguments.versions.resolve(&repository)?;
    let difference = difference(
        &repository,
        &config,
        versions,
        &[],
        arguments.versions.granularity(),
    )?;
    if let Some(notice) = &difference.notice {
        anstream::eprintln!("warning: {notice}");
    }
    if arguments.format == Format::Ttdiff {
        return print(&ttdiff(&difference));
    }
    let edges = dangerous_edges(&difference, &mut Texts::new(&repository)?)?;
    if arguments.format == Format::Json {
        return print(&format!("{}\n", diff_json(&difference, &edges)));
    }
    print(&diff_text(&difference, &edges))?;
    anstream::eprintln!("{}", summary(&difference, &edges));
    Ok(())
}
