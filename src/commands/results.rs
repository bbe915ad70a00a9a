//! What became of the tests of a run, for people and for files.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::emit::excerpt::excerpt;
use crate::emit::junit::{self, Case, junit};
use crate::emit::loudness;
use crate::emit::plan_text::count;
use crate::emit::progress::{Progress, span};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::Recording;
use crate::recording::{Done, Session};
use crate::repo::Version;
use crate::runner::{Finished, Outcome, Test};
use crate::workshop::Workshop;

/// So many dangers that nobody executed are told.
const DANGERS_TOLD: usize = 5;

const FAILED: Style = AnsiColor::Red.on_default().bold();
const PASSED: Style = AnsiColor::Green.on_default().bold();
const SKIPPED: Style = AnsiColor::Yellow.on_default().bold();

/// What became of the selected tests.
pub(super) struct Results {
    /// Places of the tests that were to run, in order.
    pub(super) chosen: Vec<usize>,
    /// Of those, how each went; nothing if it did not start.
    pub(super) done: Vec<Option<(Outcome, Duration)>>,
    pub(super) recording: Recording,
    /// The places in `chosen` of those that ran though they were skipped, and what they did.
    pub(super) controls: Range<usize>,
    pub(super) control_recording: Recording,
    /// Controls that ended in different ways on this tree, by name.
    pub(super) flaky: BTreeSet<String>,
    /// Places of the controls that ended in another way than before: they should have been selected.
    pub(super) missed: Vec<usize>,
    /// How long it took until the last selected test had ended, and until all had.
    pub(super) took_selected: Duration,
    pub(super) took: Duration,
    /// How long the skipped tests last took.
    pub(super) saved: Duration,
    pub(super) skipped: usize,
    /// Selected, and not run now, because they passed on this very tree.
    pub(super) passed_before: usize,
    /// Places of the tests that were selected and not to run now.
    pub(super) left: BTreeSet<usize>,
    /// Names of the tests that are owed after this run.
    pub(super) owed: Vec<String>,
    /// The dangers that only tests which did not run would have met.
    pub(super) uncrossed: Vec<String>,
    pub(super) is_interrupted: bool,
}

/// Tells of a test that has ended, to those who want to know of each.
pub(super) fn tell(progress: &mut Progress, test: &Test, finished: &Finished) {
    if !loudness::is_verbose() {
        return;
    }
    progress.pause();
    let (style, word) = match finished.outcome {
        Outcome::Passed => (PASSED, "PASS"),
        Outcome::Skipped => (SKIPPED, "SKIP"),
        _ => (FAILED, "FAIL"),
    };
    anstream::eprintln!(
        "{style}{word}{style:#} {} ({})",
        test.name,
        span(finished.duration)
    );
}

pub(super) fn failure(session: &Session, test: &Test, done: &Done) -> String {
    let log = session.log_of(&test.name);
    let mut text = format!(
        "{FAILED}FAIL{FAILED:#} {} ({}): {}\n     {}",
        test.name,
        span(done.finished.duration),
        done.finished.outcome.sentence(),
        log.display()
    );
    for line in telling_lines(&session.workshop, &test.name) {
        text.push_str("\n     | ");
        text.push_str(&line);
    }
    text
}

/// What a test printed that tells why it failed, with the names that its files have in the tree.
pub(super) fn telling_lines(workshop: &Workshop, test: &str) -> Vec<String> {
    let printed = fs::read(workshop.log_of(test)).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let printed = printed.replace(&format!("{}/", workshop.tree.display()), "");
    // In a coloured word nobody would find what it says.
    excerpt(&anstream::adapter::strip_str(&printed).to_string())
}

/// Every test of the project, and how it went.
pub(super) fn cases<'a>(
    session: &Session,
    tests: &'a [Test],
    results: &Results,
    sentences: &'a [String],
) -> Vec<Case<'a>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (place, test) in tests.iter().enumerate() {
        let chosen = results.chosen.iter().position(|chosen| *chosen == place);
        let done = chosen.map(|at| (&results.done[at], sentences[at].as_str()));
        let (result, duration) = match done {
            None => {
                let why = match results.left.contains(&place) {
                    true => "selected, but not to run now",
                    false => "the change cannot affect it",
                };
                (junit::Result::Skipped(why), Duration::ZERO)
            }
            Some((Some((Outcome::Passed, duration)), _)) => (junit::Result::Passed, *duration),
            Some((Some((Outcome::Skipped, duration)), why)) => {
                (junit::Result::Skipped(why), *duration)
            }
            Some((Some((_, duration)), why)) => (junit::Result::Failed(why), *duration),
            Some((None, why)) => (junit::Result::Skipped(why), Duration::ZERO),
        };
        let output = match result {
            junit::Result::Failed(_) => {
                let bytes = fs::read(session.log_of(&test.name)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => String::new(),
        };
        cases.push(Case {
            name: &test.name,
            duration,
            result,
            output,
        });
    }
    cases
}

/// Whether there is a folder for the file: better now than when everything has run.
pub(super) fn can_write_junit(file: &Path) -> Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Error::new(format!(
            "cannot write '{}': there is no folder '{}'",
            file.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

pub(super) fn write_junit(file: &Path, cases: &[Case<'_>]) -> Result<()> {
    fs::write(file, junit(cases))
        .map_err(|error| Error::new(format!("cannot write '{}': {error}", file.display())))
}

impl Results {
    /// How each test ended that was to run.
    pub(super) fn sentences(&self) -> Vec<String> {
        let done = self.done.iter();
        done.map(|done| match done {
            Some((outcome, _)) => outcome.sentence(),
            None => "not run: the run was stopped before it".to_owned(),
        })
        .collect()
    }

    /// Sums up, and fails if a test did. What was compared is named where it is not the work tree of whoever reads this.
    pub(super) fn report(&self, elsewhere: Option<&(String, Version)>) -> Result<()> {
        let ended = |is: fn(&Outcome) -> bool| {
            let all = self.done.iter().flatten();
            all.filter(|(outcome, _)| is(outcome)).count()
        };
        let failed = ended(|outcome| !outcome.is_fine());
        let chosen = &self.done[..self.controls.start];
        let unstarted = chosen.iter().filter(|done| done.is_none()).count();
        let mut parts = vec![format!("{} passed", ended(Outcome::has_passed))];
        for (number, what) in [
            (
                ended(|outcome| *outcome == Outcome::Skipped),
                "skipped by itself",
            ),
            (failed, "failed"),
            (unstarted, "not run"),
            (self.owed.len().saturating_sub(unstarted), "owed"),
            (self.passed_before, "passed here before"),
            (self.controls.len(), "of them to check the selection"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        notice!(
            "{}, {} skipped safely; ran {} of tests, saved about {}",
            parts.join(", "),
            self.skipped,
            span(self.done.iter().flatten().map(|(_, time)| *time).sum()),
            span(self.saved)
        );
        if !self.uncrossed.is_empty() {
            let named = self.uncrossed.len().min(DANGERS_TOLD);
            let all = self.uncrossed[..named].join(", ");
            let rest = match self.uncrossed.len() - named {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            notice!("changed and not executed by any test that ran: {all}{rest}");
        }
        if !self.owed.is_empty() {
            let head = elsewhere.map(|(_, head)| format!(" {head}"));
            let head = head.unwrap_or_default();
            notice!("hint: 'git rts owed{head}' lists what has still to run");
        }
        if self.is_interrupted {
            return Err(Error::new(interrupted(unstarted, self.owed.len()))
                .exit_code(ExitCode::Interrupted));
        }
        if !self.missed.is_empty() {
            let missed = count(self.missed.len(), "test");
            return Err(Error::new(format!("{missed} skipped wrongly, and failed"))
                .hint("everything is selected from now on, until 'git rts trust --acknowledge REASON'")
                .exit_code(ExitCode::Missed));
        }
        if failed > 0 {
            let versions = elsewhere.map(|(base, head)| format!(" {base} {head}"));
            let versions = versions.unwrap_or_default();
            return Err(Error::new(format!("{} failed", count(failed, "test")))
                .hint(format!(
                    "'git rts why TEST{versions}' tells why a test was selected"
                ))
                .exit_code(ExitCode::TestsFailed));
        }
        Ok(())
    }
}

/// What an interrupt left undone. Who is known to pass on this very tree is not owed, though it was asked for.
fn interrupted(unstarted: usize, owed: usize) -> String {
    let left = count(unstarted, "test");
    match owed {
        _ if unstarted == 0 => "interrupted".to_owned(),
        0 => format!("interrupted; {left} not run"),
        owed if owed < unstarted => format!("interrupted; {left} not run, {owed} of them owed"),
        _ if unstarted == 1 => format!("interrupted; {left} not run, which stays selected"),
        _ => format!("interrupted; {left} not run, which stay selected"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_says_that_tests_stay_selected_only_if_they_do() {
        let told = [(0, 0), (25, 0), (25, 3), (1, 1), (2, 2), (2, 5)];
        let told = told.map(|(unstarted, owed)| interrupted(unstarted, owed));
        assert_eq!(
            told,
            [
                "interrupted",
                "interrupted; 25 tests not run",
                "interrupted; 25 tests not run, 3 of them owed",
                "interrupted; 1 test not run, which stays selected",
                "interrupted; 2 tests not run, which stay selected",
                "interrupted; 2 tests not run, which stay selected",
            ]
        );
    }
}
