//! The tables of a simulation, as Kim and Porter print them.

use std::fmt::Write as _;

use crate::simulate::Row;
use crate::simulate::evolution::Model;
use crate::simulate::statistics::{deviation, mean, median};

/// The title of a model, for tables and pictures.
#[must_use]
pub fn model_title(model: Model) -> &'static str {
    match model {
        Model::One => "Model 1: changes come one by one",
        Model::Two => "Model 2: all faults are there from the beginning",
    }
}

/// What the effort under a model is measured by.
#[must_use]
pub fn effort_unit(model: Model) -> &'static str {
    match model {
        Model::One => "% of the tests that retest-all runs",
        Model::Two => "% of the suite",
    }
}

/// The table of one model: fault age, faults never found, total effort.
#[must_use]
pub fn table(model: Model, rows: &[Row]) -> String {
    let mut out = format!("{}\n\n", model_title(model));
    let names = rows.iter().map(|row| row.name.len());
    let width = names.max().unwrap_or(0).max("technique".len());
    let _ = writeln!(
        out,
        "{:width$}  {:>24}  {:>7}  {:>16}  {:>7}",
        "", "fault age", "never", "tests run (%)", "time"
    );
    let _ = writeln!(
        out,
        "{:width$}  {:>6}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}",
        "technique", "median", "mean", "s.d.", "found %", "median", "mean", "mean %"
    );
    for row in rows {
        let _ = writeln!(
            out,
            "{:width$}  {:>6.1}  {:>7.2}  {:>7.2}  {:>7.1}  {:>7.1}  {:>7.1}  {:>7.1}",
            row.name,
            median(&row.ages),
            mean(&row.ages),
            deviation(&row.ages),
            row.missed,
            median(&row.efforts),
            mean(&row.efforts),
            mean(&row.times)
        );
    }
    let _ = writeln!(out, "\nEffort in {}.", effort_unit(model));
    out
}
