//! What all trials say together, a label and its number in a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::{LISTED, flow};
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::emit::trust::{
    Subject, mean_analysis, middle, noticing_among_selected, percent, plain, promise, survivors,
    worth,
};
use crate::trust::score::Score;
use crate::trust::{Times, Trial};

/// Where the numbers begin, and what belongs to one of them.
const COLUMN: usize = 23;
const BELOW: usize = COLUMN + 2;

pub(super) fn write(out: &mut String, subject: &Subject, trials: &[Trial], score: &Score) {
    match subject.is_audit() {
        true => audit(out, subject, trials, score),
        false => replay(out, subject, trials, score),
    }
    told(out, "bound", &promise(subject, score));
    if !score.flaky.is_empty() {
        let names: Vec<String> = score.flaky.iter().map(|name| plain(name)).collect();
        told(out, "flaky", &names.join(", "));
    }
    if !score.strayed.is_empty() {
        let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, test) in &score.strayed {
            *tests.entry(test).or_default() += 1;
        }
        let skipped = count(tests.len(), "test");
        let what = match subject.is_audit() {
            true => "reached a mutant or did something else",
            false => "did something else",
        };
        told(
            out,
            "strayed",
            &format!(
                "{skipped} {what} though skipped, and ended as before: 'git rts record' again \
                 finds tests that differ without a change; 'tests.nondeterministic' is for these"
            ),
        );
        for (test, times) in tests.iter().take(LISTED) {
            let _ = writeln!(out, "{:BELOW$}{times:>3}  {}", "", plain(test));
        }
        if tests.len() > LISTED {
            let more = tests.len() - LISTED;
            let _ = writeln!(out, "{:BELOW$}{more} more: see {}", "", subject.elsewhere);
        }
    }
}

fn replay(out: &mut String, subject: &Subject, trials: &[Trial], score: &Score) {
    compared(out, "changes compared", score);
    selected(out, score);
    let time = |ratio: fn(&Times) -> Option<f64>| {
        let (median, sum) = middle(trials, ratio).zip(ratio(&score.times))?;
        let (median, sum) = (percent(median), percent(sum));
        Some(format!("{median} of everything (median), {sum} in all"))
    };
    let known = |time: Option<String>| time.unwrap_or_else(|| "unknown".to_owned());
    told(out, "time with build", &known(time(Times::with_build)));
    told(
        out,
        "time without build",
        &known(time(Times::without_build)),
    );
    if let Some(beside) = time(Times::beside_plain) {
        told(out, "time beside plain", &beside);
    }
    let analysis = mean_analysis(score).map_or_else(
        || "unknown".to_owned(),
        |mean| format!("{} on average", span(Duration::from_millis(mean))),
    );
    told(out, "analysis", &analysis);
    everything(out, subject, score);
    let recall = |share: Option<f64>, part, whole| {
        share.map_or_else(
            || "no test noticed a change".to_owned(),
            |share| format!("{} ({part} of {whole})", percent(share)),
        )
    };
    told(
        out,
        "change recall",
        &recall(score.change_recall(), score.caught, score.noticed),
    );
    told(
        out,
        "test recall",
        &recall(score.test_recall(), score.noticing_selected, score.noticing),
    );
    let precision = score.precision().map_or_else(
        || "unknown: no trace tells who did something else".to_owned(),
        |share| {
            let (share, part, whole) = (percent(share), score.moved, score.known_to_move);
            format!("{share} of the selected tests did something else ({part} of {whole})")
        },
    );
    told(out, "precision", &precision);
}

fn audit(out: &mut String, subject: &Subject, trials: &[Trial], score: &Score) {
    compared(out, "mutants compared", score);
    let noticed = crate::trust::ratio(score.noticed as u64, score.changes as u64);
    let noticed = noticed.map_or_else(
        || "nothing".to_owned(),
        |share| {
            let (share, survived) = (percent(share), survivors(trials).len());
            let unreached = match score.unreached {
                0 => String::new(),
                unreached => format!(", {unreached} of them unreached"),
            };
            format!(
                "{} ({share}), {survived} survived{unreached}",
                score.noticed
            )
        },
    );
    told(out, "noticed", &noticed);
    let missed = match score.missed.len() {
        0 => "nothing".to_owned(),
        tests => format!(
            "{}, in {}",
            count(tests, "test"),
            count(score.miss_rate().0, "mutant")
        ),
    };
    told(out, "missed", &missed);
    selected(out, score);
    let precision = noticing_among_selected(score).map_or_else(
        || "no test was selected".to_owned(),
        |share| {
            let (share, part, whole) = (percent(share), score.noticing_selected, score.selected);
            let more = worth(score).map_or_else(String::new, |worth| format!(", {worth}"));
            format!("{share} of the selected tests noticed the mutant ({part} of {whole}){more}")
        },
    );
    told(out, "precision", &precision);
    everything(out, subject, score);
}

fn compared(out: &mut String, label: &str, score: &Score) {
    let stopped = match score.stopped {
        0 => String::new(),
        stopped => format!(", and {stopped} stopped"),
    };
    let seen = match score.seen {
        0 => String::new(),
        seen => format!(", {seen} of them built at once"),
    };
    told(out, label, &format!("{}{seen}{stopped}", score.changes));
}

fn selected(out: &mut String, score: &Score) {
    let selected = score.mean_share.map_or_else(
        || "unknown".to_owned(),
        |share| {
            let (share, selected, tests) = (percent(share), score.selected, score.tests);
            format!("{share} on average, {selected} of {tests} in all")
        },
    );
    told(out, "tests selected", &selected);
}

fn everything(out: &mut String, subject: &Subject, score: &Score) {
    let how_often = match score.selecting_all {
        0 => "never".to_owned(),
        some => format!("by {}", count(some, subject.change())),
    };
    told(out, "everything selected", &how_often);
    let mut reasons: Vec<(&String, &usize)> = score.everything.iter().collect();
    reasons.sort_by_key(|(_, changes)| std::cmp::Reverse(**changes));
    let most = reasons
        .first()
        .map_or(0, |(_, changes)| changes.to_string().len());
    for (reason, changes) in reasons {
        let _ = write!(out, "{:BELOW$}{changes:>most$}  ", "");
        flow(out, &plain(reason), BELOW + most + 2);
    }
}

fn told(out: &mut String, label: &str, text: &str) {
    let _ = write!(out, "  {label:<width$}", width = COLUMN - 2);
    flow(out, text, COLUMN);
}
