//! The beginning and the end of the page: the numbers that matter, the filter, what was assumed.

use std::fmt::Write as _;
use std::time::Duration;

use super::Report;
use crate::emit::date::date;
use crate::emit::page::escaped;
use crate::emit::plan_text::{count, warnings};
use crate::emit::progress::span;
use crate::query::change::Crossers;

/// The head of the page.
pub(super) fn write(body: &mut String, report: &Report<'_>) {
    let selection = report.selection;
    let _ = writeln!(
        body,
        "<a class=\"jump\" href=\"#tests\">Skip to the tests</a>\n<header>\n<h1>{} &rarr; {}</h1>",
        escaped(&selection.base.to_string()),
        escaped(&selection.head.to_string())
    );
    let traces = match &selection.baseline {
        Some(baseline) => format!("Compared with the traces of <code>{baseline}</code>."),
        None => "There are no traces to compare with.".to_owned(),
    };
    let _ = writeln!(body, r#"<p class="soft">{traces}</p>"#);
    for warning in warnings(selection) {
        let _ = writeln!(body, r#"<p class="note">{}</p>"#, escaped(&warning));
    }
    if let Some(baseline) = &selection.baseline
        && baseline.tree() == selection.head.tree()
        && baseline.tree() != selection.base.tree()
    {
        body.push_str("<p class=\"note\">Neither the base nor an ancestor of it has a history, so the head was compared with its own, and nothing differs.</p>\n");
    }
    tiles(body, report);
    body.push_str("</header>\n");
}

/// Without a script the filter stays away.
pub(super) const FILTER: &str = r#"<form id="filter" hidden role="search" aria-label="Filter the tests" data-of="tests">
<label>Name <input name="word" type="search" autocomplete="off" spellcheck="false" placeholder="part of a test's name"></label>
<label>State <select name="state">
<option value="">all</option>
<option value="selected">selected</option>
<option value="failed">failed</option>
<option value="passed">passed</option>
<option value="unrun">not run yet</option>
<option value="owed">owed</option>
<option value="skipped">skipped</option>
</select></label>
<button type="reset">Clear</button>
<output aria-live="polite"></output>
</form>
"#;

fn tiles(body: &mut String, report: &Report<'_>) {
    let plan = &report.selection.plan;
    let time = |places: &mut dyn Iterator<Item = usize>| {
        let (time, unknown) = plan.time_of(places);
        match (time, unknown) {
            (0, 1..) => "unknown".to_owned(),
            (time, _) => span(Duration::from_millis(time)),
        }
    };
    let skipped = plan.tests.iter().filter(|test| !test.is_selected()).count();
    let failed = report
        .ran
        .values()
        .filter(|ran| !ran.outcome.is_fine())
        .count();
    let difference = report.selection.difference.as_ref();
    let files = difference.map_or(0, |difference| difference.changes.len());
    let uncrossed = report
        .edges
        .iter()
        .filter(|edge| report.crossing.of(edge.function, edge.edge) == Crossers::Nobody)
        .count();
    let of = format!("of {} selected", count(plan.tests.len(), "test"));
    let mut all = Vec::new();
    all.push((plan.order.len().to_string(), of, ""));
    all.push((
        skipped.to_string(),
        "skipped, with a certificate".to_owned(),
        "",
    ));
    let owed = (0..plan.tests.len()).filter(|place| report.is_owed(*place));
    let owed = owed.count();
    if owed > 0 {
        let what = "owed: selected, and not run since";
        all.push((owed.to_string(), what.to_owned(), "warn"));
    }
    let whole = time(&mut (0..plan.tests.len()));
    all.push((
        time(&mut plan.order.iter().copied()),
        format!("expected, of {whole}"),
        "",
    ));
    if !report.ran.is_empty() {
        let class = if failed > 0 { "bad" } else { "" };
        all.push((
            failed.to_string(),
            format!("failed of {} that ran here", report.ran.len()),
            class,
        ));
    }
    let changed = if files == 1 {
        "file changed"
    } else {
        "files changed"
    };
    all.push((files.to_string(), changed.to_owned(), ""));
    all.push((
        report.edges.len().to_string(),
        "dangerous edges".to_owned(),
        "",
    ));
    let class = if uncrossed > 0 { "warn" } else { "" };
    all.push((
        uncrossed.to_string(),
        "of them crossed by no test".to_owned(),
        class,
    ));
    body.push_str("<ul class=\"tiles\">\n");
    for (number, what, class) in all {
        let _ = writeln!(
            body,
            r#"<li class="{class}"><b>{}</b><span>{}</span></li>"#,
            escaped(&number),
            escaped(&what)
        );
    }
    body.push_str("</ul>\n");
}

/// The foot of the page.
pub(super) fn write_end(body: &mut String, report: &Report<'_>) {
    body.push_str("<footer>\n");
    let assumptions = report.selection.assumptions();
    if !assumptions.is_empty() {
        body.push_str("<h2>What was assumed</h2>\n<ul>\n");
        for assumption in assumptions {
            let _ = writeln!(body, "<li>{}</li>", escaped(assumption));
        }
        body.push_str("</ul>\n");
    }
    let _ = writeln!(
        body,
        "<p>Base <code>{}</code>, head <code>{}</code>. Written by git rts {} on {}.</p>\n</footer>",
        escaped(&report.selection.base.id()),
        escaped(&report.selection.head.id()),
        env!("CARGO_PKG_VERSION"),
        date(report.written)
    );
}
