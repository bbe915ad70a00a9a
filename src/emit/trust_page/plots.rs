//! How it went change by change: how many tests, how long, and for mutants who noticed.

use super::limits;
use crate::emit::bars::{Bar, Words, chart, shares};
use crate::emit::plan_text::count;
use crate::emit::trust::{Subject, compared, noticing, percent};
use crate::trust::{Judgement, Trial, ratio};

pub(super) fn write(body: &mut String, subject: &Subject, trials: &[Trial]) {
    let all: Vec<&Trial> = compared(trials).collect();
    if all.len() < 2 {
        return;
    }
    body.push_str("<section aria-labelledby=\"plots\">\n<h2 id=\"plots\">");
    body.push_str(if subject.is_audit() {
        "Mutant by mutant"
    } else {
        "Change by change"
    });
    body.push_str("</h2>\n<div class=\"charts\">\n");
    let shown = &all[..all.len().min(limits::BARS)];
    match subject.is_audit() {
        true => {
            noticed(body, shown);
            selected(body, subject, shown);
        }
        false => {
            selected(body, subject, shown);
            times(body, subject, shown);
        }
    }
    body.push_str("</div>\n");
    limits::left_out(body, all.len(), limits::BARS, "bar");
    body.push_str("</section>\n");
}

/// A change with a miss stands out everywhere.
fn class(trial: &Trial) -> &'static str {
    match trial.judged(Judgement::Missed).next() {
        Some(_) => "missed",
        None => "part",
    }
}

/// What the bars are.
fn along(subject: &Subject, trials: &[&Trial]) -> String {
    match subject.is_audit() {
        true => format!("{}, as they were tried", count(trials.len(), "mutant")),
        false => format!("{}, the oldest first", count(trials.len(), "commit")),
    }
}

fn selected(body: &mut String, subject: &Subject, trials: &[&Trial]) {
    let words = Words {
        title: "Tests selected, of all.",
        explained: "The lower a bar, the more was skipped; where it is red, a test was missed.",
        scale: shares(),
        along: along(subject, trials),
    };
    let bar = |trial: &&Trial| {
        let (selected, tests) = (trial.selected(), trial.tests.len());
        Bar {
            label: format!("{}: {selected} of {tests}", subject.short(&trial.change)),
            class: class(trial),
            share: ratio(selected as u64, tests as u64).unwrap_or(0.0),
            behind: 0.0,
        }
    };
    chart(body, &words, &trials.iter().map(bar).collect::<Vec<_>>());
}

fn times(body: &mut String, subject: &Subject, trials: &[&Trial]) {
    let ratios = || {
        let all = trials.iter();
        all.map(|trial| trial.times.with_build().unwrap_or(0.0))
    };
    // What took longer than everything sets the scale, in round numbers.
    let scale = match ratios().fold(1.0, f64::max) {
        longest if longest > 1.0 => 2.0 * (longest / 2.0).ceil(),
        longest => longest,
    };
    let words = Words {
        title: "Time of building, selecting and testing.",
        explained: "Grey is the time of building and running everything, 100 %; a higher bar took longer.",
        scale: [scale, scale / 2.0, 0.0].map(percent),
        along: along(subject, trials),
    };
    let bar = |(trial, ratio): (&&Trial, f64)| Bar {
        label: format!("{}: {}", subject.short(&trial.change), percent(ratio)),
        class: class(trial),
        share: ratio / scale,
        behind: 1.0 / scale,
    };
    let bars: Vec<Bar> = trials.iter().zip(ratios()).map(bar).collect();
    chart(body, &words, &bars);
}

fn noticed(body: &mut String, trials: &[&Trial]) {
    let most = trials
        .iter()
        .map(|trial| trial.selected().max(noticing(trial)));
    // Half of it is a number of tests, too.
    let most = most.max().unwrap_or(0).max(1).next_multiple_of(2);
    let words = Words {
        title: "Tests that noticed a mutant.",
        explained: "Grey are those that were selected; a mutant without blue survived, and where a bar is red, a test was missed.",
        scale: [most, most / 2, 0].map(|tests| count(tests, "test")),
        along: format!("{}, as they were tried", count(trials.len(), "mutant")),
    };
    let bar = |trial: &&Trial| {
        let (selected, noticing) = (trial.selected(), noticing(trial));
        Bar {
            label: format!("{}: {selected} selected, {noticing} noticed", trial.change),
            class: class(trial),
            share: noticing as f64 / most as f64,
            behind: selected as f64 / most as f64,
        }
    };
    chart(body, &words, &trials.iter().map(bar).collect::<Vec<_>>());
}
