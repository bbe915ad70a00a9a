//! The table of the changes, each with who was selected, who noticed and who was missed.

use std::fmt::Write as _;
use std::time::Duration;

use super::{limits, title};
use crate::emit::page::{escaped, escaped_lines};
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::emit::trust::{Subject, noticing};
use crate::trust::{Judgement, Observed, Trial};

pub(super) fn write(body: &mut String, subject: &Subject, trials: &[Trial]) {
    let change = subject.change();
    let head = if subject.is_audit() {
        "Mutants"
    } else {
        "Changes"
    };
    let _ = writeln!(
        body,
        "<section aria-labelledby=\"changes\">\n<h2 id=\"changes\">{head}</h2>"
    );
    if trials.is_empty() {
        let _ = writeln!(body, "<p>There is no {change}.</p>\n</section>");
        return;
    }
    filter(body, subject);
    let _ = writeln!(
        body,
        "<div class=\"group\">\n<table class=\"changes\">\n<thead><tr><th scope=\"col\">{}</th><th scope=\"col\" class=\"number\">Selected</th><th scope=\"col\" class=\"number\">Time with build</th><th scope=\"col\" class=\"number\">Analysis</th><th scope=\"col\">What happened</th></tr></thead>\n<tbody>",
        if subject.is_audit() {
            "Mutant"
        } else {
            "Change"
        }
    );
    let mut left = limits::ALL_NAMES;
    for (place, trial) in trials.iter().enumerate().take(limits::CHANGES) {
        row(body, subject, place, trial, &mut left);
    }
    body.push_str("</tbody>\n</table>\n</div>\n");
    limits::left_out(body, trials.len(), limits::CHANGES, change);
    body.push_str("</section>\n");
}

/// Without a script the filter stays away.
fn filter(body: &mut String, subject: &Subject) {
    let change = subject.change();
    let (unnoticed, words) = match subject.is_audit() {
        true => ("survived", "place or part of its lines"),
        false => ("not noticed", "commit or part of its subject"),
    };
    let _ = writeln!(
        body,
        r#"<form id="filter" hidden role="search" aria-label="Filter the {change}s" data-of="{change}s">
<label>Name <input name="word" type="search" autocomplete="off" spellcheck="false" placeholder="{words}"></label>
<label>State <select name="state">
<option value="">all</option>
<option value="missed">with a miss</option>
<option value="noticed">noticed</option>
<option value="unnoticed">{unnoticed}</option>
<option value="everything">everything selected</option>
<option value="stopped">not compared</option>
</select></label>
<button type="reset">Clear</button>
<output aria-live="polite"></output>
</form>"#
    );
}

fn row(body: &mut String, subject: &Subject, place: usize, trial: &Trial, left: &mut usize) {
    let mut states = Vec::new();
    let missed = trial.judged(Judgement::Missed).count();
    let noticed = noticing(trial);
    match (&trial.obstacle, noticed) {
        (Some(_), _) => states.push("stopped"),
        (None, 0) => states.push("unnoticed"),
        (None, _) => states.push("noticed"),
    }
    if missed > 0 {
        states.push("missed");
    }
    if trial.selects_all() {
        states.push("everything");
    }
    let change = subject.short(&trial.change);
    let (name, title) = (escaped(change), title(subject, trial));
    let _ = write!(
        body,
        "<tr id=\"c{place}\" data-state=\"{}\"><th scope=\"row\"><span class=\"name\">{name}</span> {title}</th>",
        states.join(" ")
    );
    if let Some(obstacle) = &trial.obstacle {
        let (first, more) = obstacle.split_once('\n').unwrap_or((obstacle, ""));
        let first = escaped(first);
        let _ = write!(body, "<td colspan=\"4\"><p class=\"warn word\">{first}</p>");
        if !more.trim().is_empty() {
            let more = escaped_lines(more);
            let _ = write!(
                body,
                "<details><summary class=\"soft\">more</summary><pre>{more}</pre></details>"
            );
        }
        body.push_str("</td></tr>\n");
        return;
    }
    numbers(body, trial);
    body.push_str("<td>");
    if missed > 0 {
        let missed = count(missed, "test");
        let _ = write!(body, "<p><b class=\"bad\">{missed} missed</b></p>");
    }
    match noticed {
        0 => body.push_str("<p class=\"soft\">no test noticed</p>"),
        some => {
            let _ = write!(body, "<p>{} noticed</p>", count(some, "test"));
        }
    }
    if trial.selects_all() {
        let why = trial.everything.as_deref();
        let why = why.map_or_else(String::new, |why| format!(": {}", escaped(why)));
        let _ = write!(body, "<p class=\"soft\">everything selected{why}</p>");
    }
    details(body, trial, left);
    body.push_str("</td></tr>\n");
}

fn numbers(body: &mut String, trial: &Trial) {
    let time = |milliseconds| span(Duration::from_millis(milliseconds));
    let times = trial.times;
    let cells = [
        (
            "selected",
            format!("{} of {}", trial.selected(), trial.tests.len()),
        ),
        (
            "time",
            format!("{} of {}", time(times.run()), time(times.build + times.all)),
        ),
        ("analysis", time(times.analysis)),
    ];
    for (label, cell) in cells {
        let _ = write!(
            body,
            "<td class=\"number\" data-label=\"{label}\">{cell}</td>"
        );
    }
}

fn details(body: &mut String, trial: &Trial, left: &mut usize) {
    let of = |judgement| trial.judged(judgement).collect::<Vec<&Observed>>();
    let vain = trial
        .judged(Judgement::Unchanged)
        .filter(|test| test.selected);
    let lists = [
        ("missed", of(Judgement::Missed)),
        ("noticed and selected", of(Judgement::Caught)),
        ("selected and ended as before", vain.collect()),
        ("flaky", of(Judgement::Flaky)),
    ];
    if lists.iter().all(|(_, tests)| tests.is_empty()) {
        return;
    }
    body.push_str("<details><summary class=\"soft\">tests</summary>");
    for (what, tests) in lists.iter().filter(|(_, tests)| !tests.is_empty()) {
        let shown = tests.len().min(limits::NAMES).min(*left);
        *left -= shown;
        let names = tests[..shown].iter().map(|test| {
            let name = escaped(&test.name);
            format!("<span class=\"name\">{name}</span>")
        });
        let mut names = names.collect::<Vec<_>>().join(", ");
        if shown < tests.len() {
            let joined = if shown > 0 { " and " } else { "" };
            let _ = write!(names, "{joined}{} more", tests.len() - shown);
        }
        let _ = write!(body, "<p><span class=\"soft\">{what}:</span> {names}</p>");
    }
    body.push_str("</details>");
}
