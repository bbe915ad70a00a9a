//! How it went from version to version, as far as the histories know: the share of tests that ran, the time saved, what was owed.

use std::fmt::Write as _;
use std::time::Duration;

use crate::emit::bars::{Bar, Words, chart, shares};
use crate::emit::page::escaped;
use crate::emit::plan_text::count;
use crate::emit::progress::span;

/// One version with a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// As people name it.
    pub version: String,
    pub tests: usize,
    /// The tests that ran on this very version; the others were skipped safely, or are owed.
    pub ran: usize,
    pub failed: usize,
    pub owed: usize,
    /// How long they took, how long the skipped ones took when they last ran, and all together.
    pub ran_milliseconds: u64,
    pub saved_milliseconds: u64,
    pub all_milliseconds: u64,
}

pub(super) fn write(body: &mut String, points: &[Point]) {
    body.push_str("<section aria-labelledby=\"trend\">\n<h2 id=\"trend\">Over time</h2>\n");
    if points.len() < 2 {
        body.push_str(
            "<p>Fewer than two versions on the way here have a history.</p>\n</section>\n",
        );
        return;
    }
    body.push_str("<div class=\"charts\">\n");
    let longest = points.iter().map(|point| point.all_milliseconds).max();
    let longest = longest.unwrap_or(0);
    let most = points.iter().map(|point| point.owed).max();
    // Half of it is a number of tests, too.
    let most = most.unwrap_or(0).max(1).next_multiple_of(2);
    let time = |milliseconds| span(Duration::from_millis(milliseconds));
    let mut draw = |title, explained, scale, class, part: &dyn Fn(&Point) -> (f64, f64)| {
        let bar = |point: &Point| {
            let (part, whole) = part(point);
            Bar {
                label: point.version.clone(),
                class,
                share: if whole > 0.0 { part / whole } else { 0.0 },
                behind: 0.0,
            }
        };
        let bars: Vec<Bar> = points.iter().map(bar).collect();
        let words = Words {
            title,
            explained,
            scale,
            along: format!("{}, the oldest first", count(points.len(), "version")),
        };
        chart(body, &words, &bars);
    };
    draw(
        "Tests that ran, of all.",
        "The lower a bar, the more was skipped, or is owed.",
        shares(),
        "part",
        &|point| (point.ran as f64, point.tests as f64),
    );
    draw(
        "Time saved.",
        "About so long the tests that did not run would have taken; the scale ends where all of them would.",
        [longest, longest / 2, 0].map(time),
        "part",
        &|point| (point.saved_milliseconds as f64, longest as f64),
    );
    draw(
        "Tests owed.",
        "They were selected, and had still to run after this version.",
        [most, most / 2, 0].map(|tests| count(tests, "test")),
        "owed",
        &|point| (point.owed as f64, most as f64),
    );
    body.push_str("</div>\n<details><summary>The numbers</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers over time\"><table>\n<thead><tr><th scope=\"col\">Version</th><th scope=\"col\" class=\"number\">Ran</th><th scope=\"col\" class=\"number\">Tests</th><th scope=\"col\" class=\"number\">Failed</th><th scope=\"col\" class=\"number\">Owed</th><th scope=\"col\" class=\"number\">Took</th><th scope=\"col\" class=\"number\">Saved about</th></tr></thead>\n<tbody>\n");
    for point in points {
        let _ = writeln!(
            body,
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escaped(&point.version),
            point.ran,
            point.tests,
            point.failed,
            point.owed,
            time(point.ran_milliseconds),
            time(point.saved_milliseconds)
        );
    }
    body.push_str("</tbody>\n</table></div></details>\n</section>\n");
}
