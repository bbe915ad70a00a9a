//! The histories: whether they can be read, which is nearest, what differs since, and what is owed.

use std::time::Duration;

use super::check::{Check, some_of};
use crate::config::Config;
use crate::emit::plan_text::count;
use crate::error::Result;
use crate::history::{Histories, History};
use crate::repo::Repository;
use crate::selection::{Baseline, Latest, baseline_of, known_tests};

/// Long enough for somebody who writes a history, too short to be annoying.
const PATIENCE: Duration = Duration::from_millis(500);

/// Also the names of the tests, if any are known.
pub(super) fn check(repository: &Repository, config: &Config) -> (Option<Vec<String>>, Vec<Check>) {
    let rts = repository.rts_dir();
    let none = || {
        let says = "there is none yet, so everything will be selected";
        Check::warn("history", says, "run 'git rts run' once")
    };
    if !rts.join("history").exists() {
        return (None, vec![none()]);
    }
    let histories = match Histories::look(&rts, PATIENCE) {
        Ok(Some(histories)) => histories,
        Ok(None) => {
            let says = "another process is using it";
            let hint = "try again when that 'git rts' has ended";
            return (None, vec![Check::warn("history", says, hint)]);
        }
        Err(error) => {
            let hint = "'git rts run' saves what is complete in it, and records the rest anew";
            return (None, vec![Check::fail("history", error.message, hint)]);
        }
    };
    let number = histories.list().map_or(0, |all| all.len());
    if number == 0 {
        return (None, vec![none()]);
    }
    examine(repository, config, &histories, number)
        .unwrap_or_else(|error| (None, vec![Check::failed("history", &error)]))
}

fn examine(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    number: usize,
) -> Result<(Option<Vec<String>>, Vec<Check>)> {
    let here = repository.work_tree()?;
    let start = repository.commit("HEAD").unwrap_or(here);
    let nearest = match baseline_of(repository, config, histories, start)? {
        Baseline::Found { history, version } => usable(&history, &version.to_string(), number)?,
        Baseline::Missing { reason, hint, .. } => Check::warn(
            "history",
            format!(
                "{}, and everything will be selected: {reason}",
                counted(number)
            ),
            hint,
        ),
    };
    let latest = Latest::read(repository, histories, here)?;
    let names = known_tests(repository, histories, here)?;
    let owed = latest.tests.values().filter(|test| test.owed.is_some());
    let owed: Vec<String> = owed.map(|test| test.name.clone()).collect();
    let debts = match owed.len() {
        0 => Check::ok("debts", "nothing is owed"),
        number => Check::warn(
            "debts",
            format!("{} owed: {}", count(number, "test"), some_of(&owed)),
            "'git rts owed' tells why, and 'git rts run' pays",
        ),
    };
    Ok(((!names.is_empty()).then_some(names), vec![nearest, debts]))
}

/// What a history that can be used lacks.
fn usable(history: &History, version: &str, number: usize) -> Result<Check> {
    let about = history.about()?;
    let tests = history.tests()?;
    let says = format!(
        "{}; the nearest is of {version}, with {}",
        counted(number),
        count(tests.len(), "test")
    );
    let doubtful = tests.values().filter(|test| test.owed.is_none());
    let doubtful = doubtful.filter(|test| test.doubt.is_some());
    let doubtful: Vec<String> = doubtful.map(|test| test.name.clone()).collect();
    Ok(if about.partial {
        let says = format!("{says}, not all of which were recorded");
        Check::warn("history", says, "run 'git rts run' to its end")
    } else if let Some(blind) = &about.uncounted.blind {
        let says = format!("{says}; in its build {blind}, so a change of C may select everything");
        let hint = "let the build call the compiler by its name (cc, gcc, clang), not by its path; what was compiled before cannot count";
        Check::warn("history", says, hint)
    } else if !doubtful.is_empty() {
        let number = doubtful.len();
        let names = some_of(&doubtful);
        let says = format!("{says}, {number} of which will always be selected ({names})");
        Check::warn("history", says, "'git rts history show TEST' tells why")
    } else {
        Check::ok("history", says)
    })
}

fn counted(number: usize) -> String {
    match number {
        1 => "1 history".to_owned(),
        number => format!("{number} histories"),
    }
}
