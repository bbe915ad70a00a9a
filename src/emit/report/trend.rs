//! How it went from version to version, as far as the histories know: the share of tests that ran, the time saved, what was owed.

use std::fmt::Write as _;
use std::time::Duration;

use super::page::escaped;
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

const HEIGHT: f64 = 100.0;
const STEP: f64 = 10.0;

pub(super) fn write(body: &mut String, points: &[Point]) {
    body.push_str("<section aria-labelledby=\"trend\">\n<h2 id=\"trend\">Over time</h2>\n");
    if points.len() < 2 {
        body.push_str(
            "<p>Fewer than two versions on the way here have a history.</p>\n</section>\n",
        );
        return;
    }
    body.push_str("<div class=\"charts\">\n");
    let share = points
        .iter()
        .map(|point| (point.ran as f64, point.tests as f64));
    chart(
        body,
        "Tests that ran, of all",
        "part",
        points,
        &share.collect::<Vec<_>>(),
    );
    let longest = points.iter().map(|point| point.all_milliseconds).max();
    let longest = longest.unwrap_or(0) as f64;
    let times = points
        .iter()
        .map(|point| (point.saved_milliseconds as f64, longest));
    chart(
        body,
        "Time saved",
        "part",
        points,
        &times.collect::<Vec<_>>(),
    );
    let most = points
        .iter()
        .map(|point| point.owed)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let owed = points.iter().map(|point| (point.owed as f64, most));
    chart(
        body,
        "Tests owed",
        "owed",
        points,
        &owed.collect::<Vec<_>>(),
    );
    body.push_str("</div>\n<details><summary>The numbers</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers over time\"><table>\n<thead><tr><th scope=\"col\">Version</th><th scope=\"col\" class=\"number\">Ran</th><th scope=\"col\" class=\"number\">Tests</th><th scope=\"col\" class=\"number\">Failed</th><th scope=\"col\" class=\"number\">Owed</th><th scope=\"col\" class=\"number\">Took</th><th scope=\"col\" class=\"number\">Saved about</th></tr></thead>\n<tbody>\n");
    for point in points {
        let time = |milliseconds| span(Duration::from_millis(milliseconds));
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

/// A bar for each version: a part of a whole.
fn chart(body: &mut String, title: &str, class: &str, points: &[Point], bars: &[(f64, f64)]) {
    let width = STEP * bars.len().max(12) as f64;
    let _ = writeln!(
        body,
        "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{title}, by version; the table below has the numbers\">"
    );
    for (place, ((part, whole), point)) in bars.iter().zip(points).enumerate() {
        let share = if *whole > 0.0 {
            (part / whole).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let (x, height) = (STEP * place as f64 + 1.0, share * (HEIGHT - 4.0));
        let wide = STEP - 2.0;
        let _ = writeln!(
            body,
            "<g><title>{}</title><rect class=\"bar\" x=\"{x}\" y=\"{}\" width=\"{wide}\" height=\"1\"/><rect class=\"{class}\" x=\"{x}\" y=\"{:.1}\" width=\"{wide}\" height=\"{height:.1}\"/></g>",
            escaped(&point.version),
            HEIGHT - 1.0,
            HEIGHT - height,
        );
    }
    body.push_str("</svg></figure>\n");
}
