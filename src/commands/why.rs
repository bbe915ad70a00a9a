//! `git rts why`: why a test is selected, or why it may be skipped.

use clap::Args;

use crate::commands::output::{Format, print, print_json};
use crate::commands::select::{select, warn};
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::plan_json::test_json;
use crate::emit::plan_text::{story, summary};
use crate::emit::reasons::Teller;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::nearest::nearest;
use crate::repo::Repository;
use crate::selection::Witnesses;

/// Tell why a test is selected, or why it may be skipped
///
/// For a selected test the chain from the changed line, through the names that it affects, to the edge that the test crosses. For a skipped one its certificate: for each changed file and each way in which it could reach the test, the witness and the evidence.
#[derive(Debug, Args)]
#[command(
    override_usage = "git rts why [OPTIONS] <TEST> [BASE] [HEAD]\n       git rts why [OPTIONS] --all [BASE] [HEAD]"
)]
pub struct Why {
    /// The name of a test; not with '--all'
    #[arg(required_unless_present = "all")]
    test: Option<String>,
    /// The version to compare with [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// The version to look at [default: the working tree]
    #[arg(value_name = "HEAD")]
    head: Option<String>,
    /// Tell of every test, as JSON
    #[arg(long)]
    all: bool,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &Why) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    // Without a test, the first word is the base.
    let (test, base, head) = match (arguments.all, &arguments.test, &arguments.base) {
        (true, base, head) => {
            if arguments.head.is_some() {
                return Err(Error::new("with '--all' no test is named").exit_code(ExitCode::Usage));
            }
            (None, base, head)
        }
        (false, test, base) => (test.as_deref(), base, &arguments.head),
    };
    let selection = select(
        &repository,
        &config,
        base.as_deref(),
        head.as_deref(),
        Witnesses::ALL,
    )?;
    warn(&selection);
    let teller = Teller::new(&selection, &mut Texts::new(&repository)?)?;
    let tests = &selection.plan.tests;
    let Some(name) = test else {
        let all: Vec<_> = (0..tests.len())
            .map(|place| test_json(&selection, &teller, place))
            .collect();
        return print_json(&serde_json::json!({
            "version": 1,
            "base": selection.base.id(),
            "head": selection.head.id(),
            "history": selection.baseline.as_ref().map(crate::repo::Version::id),
            "assumptions": selection.assumptions(),
            "tests": all,
        }));
    };
    let place = tests
        .iter()
        .position(|test| test.name == name)
        .ok_or_else(|| match &selection.everything {
            Some(reason) if tests.is_empty() => Error::new(format!(
                "every test is selected, but none is known: {reason}"
            ))
            .hint("'git rts run' lists, runs and records all tests"),
            _ => no_test(name, tests.iter().map(|test| test.name.as_str()))
                .hint("if it is new, 'git rts run' will run it: nothing is known of it yet"),
        })?;
    if arguments.format == Format::Json {
        let mut document = test_json(&selection, &teller, place);
        document["version"] = 1.into();
        return print_json(&document);
    }
    print(&story(&selection, &teller, place))?;
    notice!("{}", summary(&selection));
    for assumption in selection.plan.assumed_for(place) {
        notice!("assumed: {assumption}");
    }
    Ok(())
}

/// There is no such test, but perhaps one that was meant.
pub(super) fn no_test<'a>(name: &str, tests: impl Iterator<Item = &'a str>) -> Error {
    let tests: Vec<&str> = tests.collect();
    let error = Error::new(format!("there is no test '{name}'"));
    let holding = tests.iter().find(|other| other.contains(name)).copied();
    match holding.or_else(|| nearest(name, tests.iter().copied())) {
        Some(near) => error.hint(format!("there is a test '{near}'")),
        None => error.hint("'git rts history show' lists the tests that are known"),
    }
}
