//! The selected tests in their order, each with its reasons; the owed ones after them.

use std::fmt::Write as _;
use std::time::Duration;

use super::change::left_out;
use super::{Report, Told, limits};
use crate::emit::page::escaped;
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::select::Reason;
use crate::witness::source::DangerKind;

pub(super) fn write(body: &mut String, report: &Report<'_>, told: &Told) {
    let plan = &report.selection.plan;
    body.push_str("<section aria-labelledby=\"tests\">\n<h2 id=\"tests\">Selected tests</h2>\n");
    let all = plan.order.len() + plan.owed.len();
    if all == 0 {
        body.push_str("<p>No test is selected.</p>\n</section>\n");
        return;
    }
    body.push_str("<div class=\"group\">\n<table class=\"tests\">\n<caption>In the order in which they run; those that are owed stay selected until they have run.</caption>\n<thead><tr><th scope=\"col\">Rank</th><th scope=\"col\">Test</th><th scope=\"col\">Result</th><th scope=\"col\">Time</th><th scope=\"col\">Why</th></tr></thead>\n<tbody>\n");
    let ranked = plan
        .order
        .iter()
        .zip(1..)
        .map(|(place, rank)| (*place, Some(rank)));
    let owed = plan.owed.iter().map(|place| (*place, None));
    for (place, rank) in ranked.chain(owed) {
        if told.tests.contains(&place) {
            row(body, report, told, place, rank);
        }
    }
    body.push_str("</tbody>\n</table>\n</div>\n");
    left_out(body, all, limits::SELECTED, "selected tests");
    body.push_str("</section>\n");
}

fn row(body: &mut String, report: &Report<'_>, told: &Told, place: usize, rank: Option<usize>) {
    let test = &report.selection.plan.tests[place];
    let ran = report.ran(test);
    let how = match ran {
        None => "unrun",
        Some(ran) if ran.outcome.is_fine() => "passed",
        Some(_) => "failed",
    };
    let owed = if report.is_owed(place) { " owed" } else { "" };
    let _ = write!(
        body,
        "<tr id=\"t{place}\" data-state=\"selected {how}{owed}\"><td class=\"number\">{}</td><th scope=\"row\"><span class=\"name\">{}</span></th>",
        rank.map_or_else(|| "later".to_owned(), |rank| rank.to_string()),
        escaped(&test.name)
    );
    match ran {
        Some(ran) => {
            let class = if ran.outcome.is_fine() { "good" } else { "bad" };
            let time = span(Duration::from_millis(ran.milliseconds));
            let _ = write!(
                body,
                "<td class=\"result\"><span class=\"{class} word\">{}</span></td><td class=\"number\">{time}</td>",
                ran.outcome.word()
            );
        }
        None => {
            let about = test.milliseconds.map_or_else(
                || "unknown".to_owned(),
                |time| format!("about {}", span(Duration::from_millis(time))),
            );
            let not = if owed.is_empty() {
                "not run here"
            } else {
                "owed"
            };
            let _ = write!(
                body,
                "<td class=\"result\"><span class=\"soft\">{not}</span></td><td class=\"number\">{about}</td>"
            );
        }
    }
    body.push_str("<td><ul>");
    let (first, more) = test
        .reasons
        .split_at(test.reasons.len().min(limits::REASONS));
    first
        .iter()
        .for_each(|reason| why(body, report, told, reason));
    body.push_str("</ul>");
    if !more.is_empty() {
        let reasons = count(more.len(), "more reason");
        let _ = write!(
            body,
            "<details><summary class=\"soft\">{reasons}</summary><ul>"
        );
        let shown = more.iter().take(limits::MORE_REASONS);
        shown.for_each(|reason| why(body, report, told, reason));
        body.push_str("</ul>");
        if more.len() > limits::MORE_REASONS {
            let left = more.len() - limits::MORE_REASONS;
            let _ = write!(
                body,
                "<p>{left} left out; <code>git rts why</code> tells all</p>"
            );
        }
        body.push_str("</details>");
    }
    body.push_str("</td></tr>\n");
}

/// A reason, with links to the edges that the test crosses, and the way from the change to the test.
fn why(body: &mut String, report: &Report<'_>, told: &Told, reason: &Reason) {
    let words = report.teller.tell(reason);
    match crossed(report, told, reason) {
        Some(links) => {
            let _ = write!(body, "<li>crosses {links}");
        }
        None => {
            let _ = write!(body, "<li>{}", escaped(&words.text));
        }
    }
    if words.chain.len() > 1 {
        body.push_str(" <details class=\"how\"><summary class=\"soft\">how</summary><ul>");
        for step in &words.chain {
            let _ = write!(
                body,
                "<li><span class=\"soft\">{}:{}</span> <code>{}</code></li>",
                escaped(&step.file),
                step.line,
                escaped(&step.text)
            );
        }
        body.push_str("</ul></details>");
    }
    body.push_str("</li>");
}

/// The dangerous edges that a reason is about, as links; nothing, if they have no place on the page.
fn crossed(report: &Report<'_>, told: &Told, reason: &Reason) -> Option<String> {
    let Reason::Danger(hit) = reason else {
        return None;
    };
    let danger = &report.selection.source.dangers[hit.danger];
    let DangerKind::Edges { function } = danger.kind else {
        return None;
    };
    let known = told.edges(report, function).iter();
    let own = known.filter(|edge| hit.edges.contains(&edge.edge));
    let mut own = own.peekable();
    own.peek()?;
    let links = own.take(limits::EDGES_A_REASON).map(|edge| {
        let (from, to, number) = (edge.from.line, edge.to.line, edge.edge);
        format!("<a href=\"#e{function}-{number}\">{from} &rarr; {to}</a>")
    });
    let mut text = links.collect::<Vec<_>>().join(", ");
    if hit.edges.len() > limits::EDGES_A_REASON {
        let more = hit.edges.len() - limits::EDGES_A_REASON;
        let _ = write!(text, " and {more} more");
    }
    let name = escaped(&danger.name);
    let _ = write!(
        text,
        " in <a class=\"name\" href=\"#f{function}\">{name}</a>"
    );
    Some(text)
}
