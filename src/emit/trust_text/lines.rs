//! One line for each commit of a replay: how many tests, how long, and what was odd.

use std::fmt::Write as _;
use std::time::Duration;

use super::flow;
use crate::emit::progress::span;
use crate::emit::trust::{Subject, percent, plain};
use crate::trust::{Judgement, Trial};

/// The columns of numbers, which are as wide as they must be.
const HEADS: [&str; 4] = ["selected", "time with build", "", "analysis"];

pub(super) fn write(out: &mut String, subject: &Subject, trials: &[Trial]) {
    let rows: Vec<Option<[String; 4]>> = trials
        .iter()
        .map(|trial| trial.obstacle.is_none().then(|| numbers(trial)))
        .collect();
    let mut widths = HEADS.map(str::len);
    for row in rows.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    if rows.iter().any(Option::is_some) {
        line(out, "change", &HEADS.map(str::to_owned), widths);
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    for (trial, row) in trials.iter().zip(rows) {
        let change = plain(subject.short(&trial.change));
        match row {
            Some(row) => line(out, &change, &row, widths),
            None => {
                let _ = write!(out, "{change:<9} ");
            }
        }
        let notes = notes(trial);
        if !notes.is_empty() {
            out.push(' ');
        }
        flow(out, &notes, 11);
    }
    if !trials.is_empty() {
        out.push('\n');
    }
}

fn line(out: &mut String, change: &str, cells: &[String; 4], widths: [usize; 4]) {
    let _ = write!(out, "{change:<9}");
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(out, "  {cell:>width$}");
    }
}

fn numbers(trial: &Trial) -> [String; 4] {
    let time = |milliseconds| span(Duration::from_millis(milliseconds));
    let times = trial.times;
    let run = time(times.run());
    [
        format!("{}/{}", trial.selected(), trial.tests.len()),
        format!("{run} of {}", time(times.build + times.all)),
        times.with_build().map_or_else(String::new, percent),
        time(times.analysis),
    ]
}

fn notes(trial: &Trial) -> String {
    let mut notes = Vec::new();
    if let Some(obstacle) = &trial.obstacle {
        // A compiler says more than a line has room for.
        notes.push(plain(obstacle.lines().next().unwrap_or("stopped")));
    }
    if let Some(reason) = &trial.everything {
        notes.push(format!("everything: {}", plain(reason)));
    }
    let missed = trial.judged(Judgement::Missed);
    let missed: Vec<String> = missed.map(|test| plain(&test.name)).collect();
    if !missed.is_empty() {
        notes.push(format!("MISS {}", missed.join(", ")));
    }
    notes.join("; ")
}
