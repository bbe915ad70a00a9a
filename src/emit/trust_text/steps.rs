//! How one trial went while others are still to come: a line for it, and one for each of its tests.

use std::fmt::Write as _;
use std::time::Duration;

use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::emit::trust::{noticing, plain};
use crate::history::Outcome;
use crate::trust::{Judgement, Observed, Trial};

/// The lines, under a name of the change.
#[must_use]
pub fn steps(name: &str, trial: &Trial) -> String {
    let name = plain(name);
    if let Some(obstacle) = &trial.obstacle {
        let first = obstacle.lines().next().unwrap_or_default();
        return format!("{name}: {}\n", plain(first));
    }
    let mut text = format!(
        "{name}: {} of {} selected, {} noticed\n",
        trial.selected(),
        count(trial.tests.len(), "test"),
        noticing(trial)
    );
    for test in &trial.tests {
        let _ = writeln!(
            text,
            "  {} {} ({}), {}{}",
            word(test.after),
            plain(&test.name),
            span(Duration::from_millis(test.milliseconds)),
            if test.selected { "selected" } else { "skipped" },
            said_by(test)
        );
    }
    text
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "PASS",
        Outcome::Skipped => "SKIP",
        _ => "FAIL",
    }
}

fn said_by(test: &Observed) -> &'static str {
    match test.judge() {
        Judgement::Unchanged => "",
        Judgement::Caught => ", noticed it",
        Judgement::Missed => ", MISSED",
        Judgement::Flaky => ", flaky",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::trust::made_up::{caught, idle, missed, trial, vain};

    #[test]
    fn each_test_is_told_with_what_it_says() {
        let told = vec![caught("a"), vain("b"), idle("c"), missed("\u{1b}[md")];
        let text = steps("a.c:7", &trial("a.c:7", told));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "a.c:7: 2 of 4 tests selected, 2 noticed");
        for (line, wanted) in lines[1..].iter().zip([
            ("FAIL a (", "), selected, noticed it"),
            ("PASS b (", "), selected"),
            ("PASS c (", "), skipped"),
            ("FAIL \u{fffd}[md (", "), skipped, MISSED"),
        ]) {
            let is_so = line.trim().starts_with(wanted.0) && line.ends_with(wanted.1);
            assert!(is_so, "{line}");
        }
    }

    #[test]
    fn what_could_not_be_compared_is_told_in_one_line() {
        let mut stopped = trial("1", vec![]);
        stopped.obstacle = Some("does not build: cc\nmore".to_owned());
        assert_eq!(
            steps("1 subject", &stopped),
            "1 subject: does not build: cc\n"
        );
    }
}
