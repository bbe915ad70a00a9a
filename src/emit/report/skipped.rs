//! The skipped tests, those with the same certificates together: thousands of tests have few.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Report, limits};
use crate::emit::page::escaped;
use crate::emit::plan_text::count;
use crate::witness::{Certificate, Way};

pub(super) fn write(body: &mut String, report: &Report<'_>) {
    let plan = &report.selection.plan;
    body.push_str("<section aria-labelledby=\"skipped\">\n<h2 id=\"skipped\">Skipped tests</h2>\n");
    let groups = groups(report);
    if groups.is_empty() {
        body.push_str("<p>No test is skipped.</p>\n");
    } else {
        body.push_str("<p class=\"soft\">A test is skipped only if, for every changed file and each of the ways in which it could reach the test, some witness certifies that it does not.</p>\n");
    }
    let mut left = limits::SKIPPED;
    for (certified, tests) in &groups {
        let _ = writeln!(
            body,
            "<div class=\"group\">\n<h3>{} skipped</h3>",
            count(tests.len(), "test")
        );
        certificate(body, report, certified);
        let shown = tests.len().min(left);
        left -= shown;
        if shown > 0 {
            let _ = writeln!(
                body,
                "<details class=\"members\"><summary>{}</summary>\n<ul class=\"names\">",
                match shown == tests.len() {
                    true => "their names".to_owned(),
                    false => format!("{shown} of their names"),
                }
            );
            for place in &tests[..shown] {
                let name = escaped(&plan.tests[*place].name);
                let _ = writeln!(
                    body,
                    "<li id=\"t{place}\" data-state=\"skipped\"><span class=\"name\">{name}</span></li>"
                );
            }
            body.push_str("</ul></details>\n");
        }
        if shown < tests.len() {
            let _ = writeln!(
                body,
                "<p class=\"note\">{} left out to keep the page small; <code>git rts select --format json</code> has all.</p>",
                count(tests.len() - shown, "name")
            );
        }
        body.push_str("</div>\n");
    }
    body.push_str("</section>\n");
}

/// What a witness said about a file, in one way, and whom it spoke for.
type Said<'a> = (usize, Way, &'a Certificate);

/// The skipped tests by what certifies them; the largest group first.
fn groups<'a>(report: &'a Report<'_>) -> Vec<(Vec<Said<'a>>, Vec<usize>)> {
    let plan = &report.selection.plan;
    let mut all: Vec<Said<'_>> = Vec::new();
    for (file, testified) in plan.files.iter().enumerate() {
        for certificate in &testified.certificates {
            all.push((file, certificate.way, certificate));
        }
    }
    let mut found: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (place, test) in plan.tests.iter().enumerate() {
        if !test.is_selected() {
            let own = all.iter().enumerate();
            let own = own.filter(|(_, (_, _, certificate))| certificate.tests.contains(place));
            let key: Vec<usize> = own.map(|(index, _)| index).collect();
            found.entry(key).or_default().push(place);
        }
    }
    let mut groups: Vec<(Vec<Said<'_>>, Vec<usize>)> = found
        .into_iter()
        .map(|(own, tests)| (own.into_iter().map(|index| all[index]).collect(), tests))
        .collect();
    groups.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    groups
}

/// One line for each thing that was said, with the files that it was said about.
fn certificate(body: &mut String, report: &Report<'_>, certified: &[Said<'_>]) {
    if certified.is_empty() {
        body.push_str("<p>Nothing changed.</p>\n");
        return;
    }
    let mut lines: BTreeMap<(Way, &str, &str), Vec<usize>> = BTreeMap::new();
    for (file, way, certificate) in certified {
        let key = (
            *way,
            certificate.witness.word(),
            certificate.evidence.as_str(),
        );
        lines.entry(key).or_default().push(*file);
    }
    body.push_str("<ul>\n");
    for ((way, witness, evidence), files) in lines {
        let path = |file: &usize| {
            let path = report.selection.plan.files[*file].file.path.to_string();
            format!("<code>{}</code>", escaped(&path))
        };
        let named: Vec<String> = files.iter().take(limits::FILES).map(path).collect();
        let more = match files.len().saturating_sub(limits::FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(
            body,
            "<li><span class=\"tag\">{}</span> {witness}: {} <span class=\"soft\">({}{more})</span></li>",
            way.word(),
            escaped(evidence),
            named.join(", ")
        );
    }
    body.push_str("</ul>\n");
}
