//! `git rts diff`: what changed between two versions, as entities and as dangerous edges.

use clap::{Args, ValueEnum};

use crate::commands::output::{print, print_json};
use crate::commands::testing::build;
use crate::commands::versions::Versions;
use crate::config::Config;
use crate::difference::{Building, difference, is_library_name};
use crate::emit::diff_json::diff_json;
use crate::emit::diff_text::{diff_text, summary};
use crate::emit::edges::{Texts, dangerous_edges};
use crate::emit::objects::{objects_json, objects_text};
use crate::emit::progress::Meanwhile;
use crate::emit::ttdiff::ttdiff;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::VersionKey;
use crate::objects::{self, Contents};
use crate::repo::{Repository, Version};
use crate::runner::Interrupt;

/// Show what changed: functions, variables, types and macros, what they affect, and the dangerous edges
///
/// An edge is dangerous when a test that crosses it in the base version may run different code in the head version. A test that crosses none of them behaves as before.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    versions: Versions,
    /// Show the functions and data whose compiled code differs; builds the work tree, and BASE must have been recorded
    #[arg(long)]
    objects: bool,
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
    if arguments.objects {
        return show_objects(&repository, &config, versions, arguments.format);
    }
    let difference = difference(
        &repository,
        &config,
        versions,
        Building::default(),
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
    notice!("{}", summary(&difference, &edges));
    Ok(())
}

fn show_objects(
    repository: &Repository,
    config: &Config,
    (base, head): (Version, Version),
    format: Format,
) -> Result<()> {
    let before = recorded(repository, base)?;
    let after = match head.commit() {
        Some(_) => recorded(repository, head)?,
        None => {
            let building = Meanwhile::show("building with counters");
            let (session, _) = build(repository, config, &Interrupt::on_signals()?)?;
            drop(building);
            session.contents()
        }
    };
    let difference = objects::difference(&before, &after, &is_library_name);
    match format {
        Format::Text => print(&objects_text(&difference)),
        Format::Json => print_json(&objects_json(&difference)),
        Format::Ttdiff => Err(
            Error::new("'--objects' has no list in the format of TestTube")
                .hint("'--format json' is for programs")
                .exit_code(ExitCode::Usage),
        ),
    }
}

/// What the build of a version held when it was recorded.
fn recorded(repository: &Repository, version: Version) -> Result<Contents> {
    let histories = super::history::open(repository)?;
    let history = histories.find(VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    })?;
    let history = history.ok_or_else(|| {
        Error::new(format!("nothing was recorded of {version}"))
            .hint("check it out and call 'git rts run'")
    })?;
    Ok(history.compiled()?.contents)
}
