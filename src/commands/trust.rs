//! `git rts trust`: how selections went that were checked, and what remains to be explained.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::commands::output::{Format, print, print_json};
use crate::config::Config;
use crate::emit::plan_text::count;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Entry, Ledger, Miss};
use crate::repo::Repository;
use crate::trust::bound::{tries_for, upper_bound};

/// Tell how often skipping was checked, how often it was wrong, and how often it can have been
///
/// With `rts.mode = shadow` every test runs, and the selection is only compared; with `rts.canary = 1%` a few skipped tests run all the same. A test that was skipped and yet fails is a miss: its certificate is kept as evidence, and everything is selected until somebody acknowledges that the cause is known. Exits with 102 while a miss is open.
#[derive(Debug, Args)]
pub struct Trust {
    /// Select again as usual, because the cause of the misses is known
    #[arg(long, value_name = "REASON")]
    acknowledge: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Skips may be enforced once at most so many of them can be wrong, and so many changes have said so.
const RATE: f64 = 0.01;
const RUNS: usize = 10;

/// Below so many checks, the bound frightens more than it tells.
const FEW: usize = 30;

/// What the ledger says, summed up.
struct Record {
    mode: &'static str,
    canary: f64,
    /// Changes that were tested.
    runs: usize,
    /// Those that skipped something and checked some of that.
    checked: usize,
    tests: usize,
    skipped: usize,
    controls: usize,
    missed: usize,
    flaky: usize,
    open: Vec<(PathBuf, Option<Miss>)>,
}

impl Record {
    fn new(config: &Config, entries: &[Entry], open: Vec<(PathBuf, Option<Miss>)>) -> Self {
        // Of each change, the run that checked the most.
        let mut changes: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in entries {
            let known = changes.entry(&entry.change).or_insert(entry);
            if (entry.missed, entry.controls) > (known.missed, known.controls) {
                *known = entry;
            }
        }
        let entries: Vec<&Entry> = changes.into_values().collect();
        let sum = |of: fn(&Entry) -> usize| entries.iter().map(|entry| of(entry)).sum();
        Record {
            mode: if config.is_shadow {
                "shadow"
            } else {
                "enforce"
            },
            canary: config.canary,
            runs: entries.len(),
            checked: entries.iter().filter(|entry| entry.controls > 0).count(),
            tests: sum(|entry| entry.tests),
            skipped: sum(|entry| entry.skipped),
            controls: sum(|entry| entry.controls),
            missed: sum(|entry| entry.missed),
            flaky: sum(|entry| entry.flaky),
            open,
        }
    }

    /// How many of the skipped tests can have been skipped wrongly, at most.
    fn bound(&self) -> Option<f64> {
        upper_bound(self.missed, self.controls)
    }

    fn is_time_to_enforce(&self) -> bool {
        let is_sure = self.bound().is_some_and(|bound| bound <= RATE);
        is_sure && self.checked >= RUNS && self.open.is_empty()
    }

    /// What to do next, in a sentence.
    fn advice(&self) -> String {
        if !self.open.is_empty() {
            return "everything is selected until 'git rts trust --acknowledge REASON'; the evidence tells why each was skipped".to_owned();
        }
        match (self.mode, self.is_time_to_enforce()) {
            ("shadow", true) => {
                "it is time to enforce: git config rts.mode enforce (and rts.canary 1% goes on checking)".to_owned()
            }
            ("shadow", false) => {
                let tests = tries_for(RATE).saturating_sub(self.controls);
                let runs = RUNS.saturating_sub(self.checked);
                match (tests, runs) {
                    (0, 0) => "not yet time to enforce: too many tests were missed".to_owned(),
                    _ => format!(
                        "not yet time to enforce: after {} and {} without a miss",
                        count(runs, "more change"),
                        count(tests, "more skipped test")
                    ),
                }
            }
            _ if self.canary > 0.0 => "skipping is enforced, and checked by the canary".to_owned(),
            _ => "skipping is enforced and not checked: git config rts.canary 1%".to_owned(),
        }
    }
}

pub(super) fn run(arguments: &Trust) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let ledger = Ledger::of(&repository.rts_dir());
    if let Some(reason) = &arguments.acknowledge {
        return acknowledge(&ledger, reason);
    }
    let (entries, unread) = ledger.entries()?;
    if unread > 0 {
        let lines = count(unread, "line");
        anstream::eprintln!("warning: {lines} of the record cannot be read, and are left out");
    }
    let record = Record::new(&config, &entries, ledger.misses()?);
    match arguments.format {
        Format::Json => print_json(&json(&record))?,
        Format::Text => {
            print(&text(&record))?;
            notice!("{}", record.advice());
        }
    }
    match record.open.len() {
        0 => Ok(()),
        open => Err(
            Error::new(format!("{} not acknowledged", count(open, "missed test")))
                .exit_code(ExitCode::Missed),
        ),
    }
}

fn acknowledge(ledger: &Ledger, reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        return Err(Error::new("the reason is empty")
            .hint("say what the cause was, for those who look at the evidence later")
            .exit_code(ExitCode::Usage));
    }
    match ledger.acknowledge(reason)? {
        0 => notice!("there is no miss to acknowledge"),
        misses => notice!(
            "{} acknowledged; tests are skipped again",
            count(misses, "missed test")
        ),
    }
    Ok(())
}

fn text(record: &Record) -> String {
    let mut text = String::new();
    let share = |part: usize, whole: usize| match whole {
        0 => String::new(),
        whole => format!(" ({:.1} %)", 100.0 * part as f64 / whole as f64),
    };
    let lines = [
        ("mode", record.mode.to_owned()),
        ("canary", format!("{} %", 100.0 * record.canary)),
        ("changes", record.runs.to_string()),
        (
            "skipped",
            format!(
                "{} of {}{}",
                record.skipped,
                count(record.tests, "test"),
                share(record.skipped, record.tests)
            ),
        ),
        (
            "checked",
            format!(
                "{} of those{}, in {}",
                record.controls,
                share(record.controls, record.skipped),
                count(record.checked, "change")
            ),
        ),
        ("missed", record.missed.to_string()),
        ("flaky", record.flaky.to_string()),
        (
            "bound",
            match record.bound() {
                Some(_) if record.controls < FEW => "too few were checked to tell".to_owned(),
                Some(bound) => format!(
                    "at most {:.2} % of the skipped tests are skipped wrongly (95 % confidence)",
                    100.0 * bound
                ),
                None => "nothing was checked yet".to_owned(),
            },
        ),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<8} {value}");
    }
    for (path, miss) in &record.open {
        let what = match miss {
            Some(miss) => format!("{} {} at {}", miss.test, miss.outcome, miss.version),
            None => "a miss that cannot be read".to_owned(),
        };
        let _ = writeln!(text, "MISS     {what}: {}", path.display());
    }
    text
}

fn json(record: &Record) -> serde_json::Value {
    let open = record.open.iter().map(
        |(path, miss)| serde_json::json!({ "evidence": path.display().to_string(), "miss": miss }),
    );
    serde_json::json!({
        "version": 1,
        "mode": record.mode,
        "canary": record.canary,
        "changes": record.runs,
        "changes_checked": record.checked,
        "tests": record.tests,
        "skipped": record.skipped,
        "checked": record.controls,
        "missed": record.missed,
        "flaky": record.flaky,
        "bound": record.bound(),
        "is_time_to_enforce": record.is_time_to_enforce(),
        "open": open.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(shadow: bool, runs: usize, controls: usize, missed: usize) -> Record {
        let text = if shadow { "shadow" } else { "enforce" };
        Record {
            mode: text,
            canary: 0.0,
            runs,
            checked: runs,
            tests: 2 * controls,
            skipped: controls,
            controls,
            missed,
            flaky: 0,
            open: Vec::new(),
        }
    }

    #[test]
    fn it_is_time_to_enforce_when_runs_and_tests_suffice() {
        assert!(record(true, 10, 299, 0).is_time_to_enforce());
        assert!(!record(true, 9, 2990, 0).is_time_to_enforce());
        assert!(!record(true, 100, 298, 0).is_time_to_enforce());
        assert!(!record(true, 100, 299, 1).is_time_to_enforce());
        assert!(
            record(true, 9, 290, 0)
                .advice()
                .contains("1 more change and 9 more skipped tests")
        );
    }

    #[test]
    fn an_open_miss_keeps_from_enforcing() {
        let mut record = record(true, 1000, 100_000, 1);
        assert!(record.is_time_to_enforce());
        record.open.push((PathBuf::from("x"), None));
        assert!(!record.is_time_to_enforce());
        assert!(record.advice().contains("--acknowledge"));
    }

    #[test]
    fn without_a_check_nothing_is_said_about_misses() {
        assert!(text(&record(false, 3, 0, 0)).contains("nothing was checked yet"));
        assert!(record(false, 3, 0, 0).advice().contains("rts.canary"));
    }
}
