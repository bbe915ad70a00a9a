//! `git rts owed`: tests that were selected and have not run since.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;

use crate::commands::history::open;
use crate::commands::output::{Format, print, print_json};
use crate::commands::testing::now;
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::error::Result;
use crate::history::TestRecord;
use crate::repo::Repository;
use crate::selection::Latest;

/// List the tests that were selected and have not run since, the oldest first
///
/// What a budget, a limit, a failure or an interrupt kept from running stays selected until it has run on a version with the change that selected it. `git rts run --budget` pays the oldest debts first.
#[derive(Debug, Args)]
pub struct Owed {
    /// The version whose debts are listed [default: the working tree]
    #[arg(value_name = "REVISION")]
    revision: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &Owed) -> Result<()> {
    let repository = Repository::discover()?;
    let head = match &arguments.revision {
        Some(revision) => repository.commit(revision)?,
        None => repository.default_head()?,
    };
    let latest = Latest::read(&repository, &open(&repository)?, head)?;
    let estimate = |test: &TestRecord| {
        let experience = latest.experiences.get(&test.name);
        experience.and_then(|experience| experience.durations.estimate())
    };
    let tests = latest.tests.values();
    let mut owed: Vec<_> = tests
        .filter_map(|test| Some((test, test.owed.as_ref()?)))
        .collect();
    owed.sort_by_key(|(test, debt)| (debt.at, test.name.as_str()));
    if arguments.format == Format::Json {
        let all: Vec<_> = owed
            .iter()
            .map(|(test, debt)| {
                serde_json::json!({
                    "name": test.name,
                    "since": debt.since,
                    "at": debt.at,
                    "reasons": debt.reasons,
                    "seconds": estimate(test).map(|time| time as f64 / 1e3),
                })
            })
            .collect();
        return print_json(&serde_json::json!({ "version": 1, "owed": all }));
    }
    let mut text = String::new();
    let width = owed.iter().map(|(test, _)| test.name.chars().count()).max();
    for (test, debt) in &owed {
        let age = match now().saturating_sub(debt.at) {
            0 => "just now".to_owned(),
            seconds => format!("{} ago", span(Duration::from_secs(seconds))),
        };
        let why = debt.reasons.first().map_or("", String::as_str);
        let _ = writeln!(
            text,
            "{:<width$}  since {} ({age}): {why}",
            test.name,
            debt.since,
            width = width.unwrap_or(0)
        );
    }
    print(&text)?;
    let known: u64 = owed.iter().filter_map(|(test, _)| estimate(test)).sum();
    match owed.len() {
        0 => notice!("nothing is owed"),
        all if known == 0 => {
            notice!("{} owed, of unknown length", count(all, "test"));
        }
        all => notice!(
            "{} owed, about {}",
            count(all, "test"),
            span(Duration::from_millis(known))
        ),
    }
    Ok(())
}
