//! How it went change by change: how many tests, how long, and for mutants who noticed.

use super::limits;
use crate::emit::bars::{Bar, chart};
use crate::emit::trust::{Subject, compared, noticing, percent};
use crate::trust::{Judgement, Trial, ratio};

pub(super) fn write(body: &mut String, subject: &Subject, trials: &[Trial]) {
    let all: Vec<&Trial> = compared(trials).collect();
    if all.len() < 2 {
        return;
    }
    let change = subject.change();
    body.push_str("<section aria-labelledby=\"plots\">\n<h2 id=\"plots\">");
    body.push_str(if subject.is_audit() {
        "Mutant by mutant"
    } else {
        "Change by change"
    });
    body.push_str("</h2>\n<div class=\"charts\">\n");
    let shown = &all[..all.len().min(limits::BARS)];
    let by = format!("by {change}");
    match subject.is_audit() {
        true => {
            let title = "Tests that noticed, and those selected in grey";
            chart(body, title, &by, &noticed(shown));
            chart(body, "Tests selected, of all", &by, &shares(subject, shown));
        }
        false => {
            chart(body, "Tests selected, of all", &by, &shares(subject, shown));
            let title = "Time with the build, and that of everything in grey";
            chart(body, title, &by, &times(subject, shown));
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

fn shares(subject: &Subject, trials: &[&Trial]) -> Vec<Bar> {
    let bar = |trial: &&Trial| {
        let (selected, tests) = (trial.selected(), trial.tests.len());
        Bar {
            label: format!("{}: {selected} of {tests}", subject.short(&trial.change)),
            class: class(trial),
            share: ratio(selected as u64, tests as u64).unwrap_or(0.0),
            behind: 0.0,
        }
    };
    trials.iter().map(bar).collect()
}

fn times(subject: &Subject, trials: &[&Trial]) -> Vec<Bar> {
    let ratios = || {
        let all = trials.iter();
        all.map(|trial| trial.times.with_build().unwrap_or(0.0))
    };
    // What took longer than everything sets the scale.
    let scale = ratios().fold(1.0, f64::max);
    let bar = |(trial, ratio): (&&Trial, f64)| Bar {
        label: format!("{}: {}", subject.short(&trial.change), percent(ratio)),
        class: class(trial),
        share: ratio / scale,
        behind: 1.0 / scale,
    };
    trials.iter().zip(ratios()).map(bar).collect()
}

fn noticed(trials: &[&Trial]) -> Vec<Bar> {
    let most = trials
        .iter()
        .map(|trial| trial.selected().max(noticing(trial)));
    let most = most.max().unwrap_or(0).max(1) as f64;
    let bar = |trial: &&Trial| {
        let (selected, noticing) = (trial.selected(), noticing(trial));
        Bar {
            label: format!("{}: {selected} selected, {noticing} noticed", trial.change),
            class: class(trial),
            share: noticing as f64 / most,
            behind: selected as f64 / most,
        }
    };
    trials.iter().map(bar).collect()
}
