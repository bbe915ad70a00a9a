//! `git rts impact`: the tests that would run if some entities changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;

use crate::commands::history::open;
use crate::commands::needs_c;
use crate::commands::output::{Format, print, print_json};
use crate::commands::patterns::{check, read};
use crate::config::Config;
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::TestRecord;
use crate::query::impact::{Impact, impacts};
use crate::query::pattern::Wanted;
use crate::query::{Past, past};
use crate::repo::Repository;

/// Tell which tests would run if some functions, variables, types, macros or files changed
///
/// Prints a line `kind;file;name;test` for each entity that matches and each test that a change of it would select. A function is taken to change inside of its body; another signature also reaches whoever mentions it. Nothing is built: the answer comes from the history of the work tree or of HEAD, or else of the nearest ancestor that has one.
#[derive(Debug, Args)]
pub struct ImpactOf {
    /// What would change, as 'KIND NAME file=FILE': 'function *print file=incl.c', 'macro MAX_*', 'file parse.c', 'incl.c:dagprint', 'dagprint'
    #[arg(required = true, value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Print only the tests, each once
    #[arg(long)]
    tests: bool,
    /// The version to ask about [default: the working tree, or the nearest with a history]
    #[arg(long, value_name = "REVISION")]
    at: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &ImpactOf) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let past = past(&repository, &open(&repository)?, arguments.at.as_deref())?;
    let mut same = past.entities(&repository, &config)?;
    let patterns = read(&arguments.patterns, &same)?;
    if let Some(pattern) = patterns.iter().find(|one| one.wanted == Wanted::Edge) {
        return Err(
            Error::new(format!("'{}' is about edges, not entities", pattern.text))
                .hint("name the function that they belong to")
                .exit_code(ExitCode::Usage),
        );
    }
    let found = impacts(&config, &past, &mut same, &patterns)?;
    if found.is_empty() {
        needs_c::check(same.tree(), past.version)?;
    }
    check(&patterns, &same, past.version)?;
    let tests: BTreeSet<&str> = found
        .iter()
        .flat_map(|impact| impact.tests.iter().map(String::as_str))
        .collect();
    let always: BTreeSet<&str> = past
        .tests
        .values()
        .filter(|test| runs_always(&config, test))
        .map(|test| test.name.as_str())
        .collect();
    for notice in &past.notices {
        notice!("{notice}");
    }
    match arguments.format {
        Format::Json => print_json(&document(&past, &found, &tests, &always))?,
        Format::Text if arguments.tests => {
            print(
                &tests
                    .iter()
                    .map(|test| format!("{test}\n"))
                    .collect::<String>(),
            )?;
        }
        Format::Text => print(&lines(&found))?,
    }
    notice!("{}", summary(&past, &found, &tests));
    let more = always.difference(&tests).count();
    if more > 0 {
        let are = if more == 1 { "runs" } else { "run" };
        notice!("{} {are} whatever changes", count(more, "more test"));
    }
    Ok(())
}

/// What selects a test whatever changed, as far as it is known without a look at the head.
fn runs_always(config: &Config, test: &TestRecord) -> bool {
    let is_certain = test.outcome.is_fine() && test.doubt.is_none() && test.beyond_trace.is_none();
    !is_certain || test.flaky.is_some() || test.owed.is_some() || config.is_pinned(&test.name)
}

fn lines(found: &[Impact]) -> String {
    let mut text = String::new();
    for impact in found {
        let (kind, file, name) = (impact.kind.word(), &impact.file, &impact.name);
        for test in &impact.tests {
            let _ = writeln!(text, "{kind};{file};{name};{test}");
        }
    }
    text
}

fn document(
    past: &Past,
    found: &[Impact],
    tests: &BTreeSet<&str>,
    always: &BTreeSet<&str>,
) -> serde_json::Value {
    let entities: Vec<_> = found
        .iter()
        .map(|impact| {
            serde_json::json!({
                "kind": impact.kind,
                "file": impact.file.to_string(),
                "name": impact.name,
                "tests": impact.tests,
                "everybody": impact.everybody,
            })
        })
        .collect();
    serde_json::json!({
        "version": 1,
        "history": past.version.id(),
        "entities": entities,
        "tests": tests,
        "always": always,
        "known_tests": past.tests.len(),
    })
}

fn summary(past: &Past, found: &[Impact], tests: &BTreeSet<&str>) -> String {
    let time = |wanted: &dyn Fn(&TestRecord) -> bool| {
        let own = past.tests.values().filter(|test| wanted(test));
        span(Duration::from_millis(
            own.map(|test| test.milliseconds).sum(),
        ))
    };
    let mut text = format!(
        "{} of {} would run, about {} of {}; {} matched",
        tests.len(),
        count(past.tests.len(), "test"),
        time(&|test| tests.contains(test.name.as_str())),
        time(&|_| true),
        match found.len() {
            1 => "1 entity".to_owned(),
            many => format!("{many} entities"),
        },
    );
    let unreached = found
        .iter()
        .filter(|impact| impact.tests.is_empty())
        .count();
    if unreached > 0 {
        let _ = write!(text, ", {unreached} of them reached by no test");
    }
    let _ = write!(text, "; history of {}", past.version);
    if let Some(why) = found.iter().find_map(|impact| impact.everybody.as_ref()) {
        let _ = write!(text, "\nevery test is among them: {why}");
    }
    text
}
