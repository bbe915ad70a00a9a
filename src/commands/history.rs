//! `git rts history`: which versions have a history, and what a test did and how it went.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::commands::output::{Format, print, print_json};
use crate::commands::testing::waiting;
use crate::emit::progress::{size, span};
use crate::error::{Error, Result};
use crate::history::{Histories, History, PATIENCE, PastRun, Summary, TestRecord, VersionKey};
use crate::repo::Repository;
use crate::trace::{Crossed, FunctionId};

/// Show which commits have a history, and what is in it
///
/// Without a subcommand, lists the versions whose tests were recorded, the newest first: tests, size, age.
#[derive(Debug, Args)]
pub struct ShowHistory {
    #[command(subcommand)]
    what: Option<What>,
    /// How to print the list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show what a test covers, and its outcomes and durations over time; without a test, list the tests
    Show(Show),
}

#[derive(Debug, Args)]
struct Show {
    /// The name of a test
    test: Option<String>,
    /// The version to look at [default: the working tree if it was recorded as it is, else HEAD, else the newest that was]
    commit: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &ShowHistory) -> Result<()> {
    let repository = Repository::discover()?;
    let histories = open(&repository)?;
    match &arguments.what {
        None => list(&histories, arguments.format),
        Some(What::Show(show)) => show_test(&repository, &histories, show),
    }
}

/// Opens the histories, and says what was found to be wrong with them: who comes next does not hear of it.
pub(super) fn open(repository: &Repository) -> Result<Histories> {
    let histories = Histories::open(&repository.create_rts_dir()?, PATIENCE, &mut waiting)?;
    for notice in &histories.notices {
        anstream::eprintln!("warning: {notice}");
    }
    Ok(histories)
}

#[derive(Serialize)]
struct Listed {
    commit: Option<String>,
    tree: String,
    tests: usize,
    partial: bool,
    bytes: u64,
    bytes_of_its_own: u64,
    created: u64,
}

fn list(histories: &Histories, format: Format) -> Result<()> {
    let mut all = histories.list()?;
    all.sort_by_key(|summary| std::cmp::Reverse(summary.created));
    if format == Format::Json {
        let listed: Vec<Listed> = all
            .iter()
            .map(|summary| Listed {
                commit: summary.version.commit.map(|commit| commit.to_string()),
                tree: summary.version.tree.to_string(),
                tests: summary.tests,
                partial: summary.partial,
                bytes: summary.size,
                bytes_of_its_own: summary.added,
                created: summary.created / 1000,
            })
            .collect();
        return print_json(&serde_json::json!({ "version": 1, "histories": listed }));
    }
    if all.is_empty() {
        notice!("no history yet: 'git rts run' makes one");
    }
    let mut text = String::new();
    for summary in &all {
        let _ = writeln!(text, "{}", line(summary));
    }
    print(&text)
}

fn line(summary: &Summary) -> String {
    let partial = if summary.partial { ", not all" } else { "" };
    format!(
        "{:<24} {:>12}{partial}, {} ({} of its own), {} ago",
        name_of(summary.version),
        crate::emit::plan_text::count(summary.tests, "test"),
        size(summary.size),
        size(summary.added),
        age(summary.created)
    )
}

/// A version as people name it.
pub(super) fn name_of(version: VersionKey) -> String {
    match version.commit {
        Some(commit) => commit.to_string().chars().take(7).collect(),
        None => {
            let tree: String = version.tree.to_string().chars().take(7).collect();
            format!("{tree} (uncommitted)")
        }
    }
}

fn age(created: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    span(now.saturating_sub(Duration::from_millis(created)))
}

fn show_test(repository: &Repository, histories: &Histories, show: &Show) -> Result<()> {
    let history = find(repository, histories, show.commit.as_deref())?;
    let Some(name) = &show.test else {
        let tests = history.tests()?;
        if show.format == Format::Json {
            let names: Vec<&str> = tests.values().map(|test| test.name.as_str()).collect();
            return print_json(&serde_json::json!({ "version": 1, "tests": names }));
        }
        let names: String = tests
            .values()
            .map(|test| format!("{}\n", test.name))
            .collect();
        return print(&names);
    };
    let record = history
        .tests()?
        .into_values()
        .find(|test| test.name == *name)
        .ok_or_else(|| {
            let version = name_of(history.version());
            Error::new(format!("no test '{name}' in the history of {version}"))
                .hint("'git rts history show' lists the tests")
        })?;
    let mut trace = history.trace_of(name)?.unwrap_or_default();
    // What has a function of the tree is told by that.
    trace.functions.retain(|(id, _)| !id.is_symbol());
    let by_build = history.about()?.executed_by_build;
    let runs = histories.runs_of(name)?;
    if show.format == Format::Json {
        let functions: Vec<_> = trace
            .functions
            .iter()
            .map(|(id, crossed)| {
                let edges = match crossed {
                    Crossed::Edges(edges) => Some(edges.iter().collect::<Vec<_>>()),
                    Crossed::Whole => None,
                };
                serde_json::json!({
                    "file": id.file.to_string(), "name": id.name, "edges": edges,
                    "build": by_build.contains(id),
                })
            })
            .collect();
        let runs: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "version": name_of(run.version), "outcome": run.outcome.word(), "milliseconds": run.milliseconds
                })
            })
            .collect();
        return print_json(&serde_json::json!({
            "version": 1, "test": record.name, "outcome": record.outcome.word(), "milliseconds": record.milliseconds,
            "doubt": record.doubt, "beyond_trace": record.beyond_trace.as_ref().map(ToString::to_string), "binaries": record.binaries, "unplaced": record.unplaced,
            "functions": functions, "runs": runs,
        }));
    }
    print(&describe(&record, &trace.functions, &by_build, &runs))
}

fn describe(
    record: &TestRecord,
    functions: &[(FunctionId, Crossed)],
    by_build: &BTreeSet<FunctionId>,
    runs: &[PastRun],
) -> String {
    let mut text = String::new();
    let took = span(Duration::from_millis(record.milliseconds));
    let _ = writeln!(text, "{}: {} in {took}", record.name, record.outcome.word());
    if record.varies {
        text.push_str(
            "it did different things on one tree, so it counts as entering all that it can reach\n",
        );
    }
    if let Some(doubt) = &record.doubt {
        let _ = writeln!(text, "always selected: {doubt}");
    }
    if let Some(why) = &record.beyond_trace {
        let _ = writeln!(text, "selected by any code that differs: {why}");
    }
    if !record.binaries.is_empty() {
        let _ = writeln!(text, "ran {}", record.binaries.join(", "));
    }
    let mut file = None;
    for (id, crossed) in functions {
        if file != Some(&id.file) {
            match id.file.as_bytes() {
                b"" => text.push_str("what the build made\n"),
                _ => {
                    let _ = writeln!(text, "{}", id.file);
                }
            }
            file = Some(&id.file);
        }
        let edges = match crossed {
            Crossed::Edges(edges) => match edges.iter().count() {
                1 => "1 edge".to_owned(),
                count => format!("{count} edges"),
            },
            Crossed::Whole => "as a whole".to_owned(),
        };
        let name = match id.name.as_str() {
            "" => "outside its functions",
            name => name,
        };
        let who = match by_build.contains(id) {
            true => ", counted while the project was built",
            false => "",
        };
        let _ = writeln!(text, "  {name} {edges}{who}");
    }
    if runs.len() > 1 {
        let _ = writeln!(text, "runs, the newest first");
        for run in runs {
            let took = span(Duration::from_millis(run.milliseconds));
            let _ = writeln!(
                text,
                "  {:<24} {} in {took}",
                name_of(run.version),
                run.outcome.word()
            );
        }
    }
    text
}

/// The history of a revision; without one, that of the work tree or of HEAD, or else the newest.
fn find(repository: &Repository, histories: &Histories, revision: Option<&str>) -> Result<History> {
    let key = |version: &crate::repo::Version| VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    };
    if let Some(revision) = revision {
        let version = repository.commit(revision)?;
        return histories.find(key(&version))?.ok_or_else(|| {
            Error::new(format!("no history for '{revision}'"))
                .hint("run 'git rts run' once on that commit")
        });
    }
    let head = repository.commit("HEAD").ok();
    let here = repository.default_head().ok();
    // Of commits with the same tree, HEAD is meant.
    let here = here.filter(|here| head.is_none_or(|head| head.tree() != here.tree()));
    for version in [here, head].into_iter().flatten() {
        if let Some(history) = histories.find(key(&version))? {
            return Ok(history);
        }
    }
    let mut all = histories.list()?;
    all.sort_by_key(|summary| summary.created);
    let newest = all.last().map(|summary| summary.version);
    let found = newest.map(|version| histories.find(version)).transpose()?;
    found
        .flatten()
        .ok_or_else(|| Error::new("no history yet").hint("'git rts run' makes one"))
}
