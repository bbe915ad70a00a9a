//! How much goes into one page: a browser should open it at once, and what is left out is always said.

use std::fmt::Write as _;

/// Changes in the table, survivors, misses with their stories, skipped tests that did something else, and bars of a plot.
pub(super) const CHANGES: usize = 1000;
pub(super) const SURVIVORS: usize = 500;
pub(super) const MISSES: usize = 100;
pub(super) const STRAYED: usize = 500;
pub(super) const BARS: usize = 400;
/// Names in one list, and in all lists of the table.
pub(super) const NAMES: usize = 100;
pub(super) const ALL_NAMES: usize = 20_000;

/// Says that a list was too long.
pub(super) fn left_out(body: &mut String, all: usize, most: usize, what: &str) {
    let more = all.saturating_sub(most);
    let words = match more {
        0 => return,
        1 => format!("1 more {what} is"),
        _ => format!("{more} more {what}s are"),
    };
    let _ = writeln!(
        body,
        "<p class=\"note\">{words} left out to keep the page small; the report as JSON has all.</p>"
    );
}
