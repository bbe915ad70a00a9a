//! What changed: the files with their entities, then each function in danger with its edges, who crosses them, and its picture.

use std::fmt::Write as _;

use super::{Report, Told, limits, test_link};
use crate::compare::functions::DangerGranularity;
use crate::difference::{Difference, Reach, ReportedEntity};
use crate::emit::edges::DangerousEdge;
use crate::emit::page::escaped;
use crate::emit::plan_text::count;
use crate::lang::facts::Kind;
use crate::query::change::Crossers;

pub(super) fn write(body: &mut String, report: &Report<'_>, told: &Told) {
    body.push_str("<section aria-labelledby=\"changed\">\n<h2 id=\"changed\">What changed</h2>\n");
    match &report.selection.difference {
        None => body.push_str("<p>Nothing could be compared.</p>\n"),
        Some(difference) if difference.entities.is_empty() => {
            body.push_str("<p>Nothing that a compiler or a test would notice.</p>\n");
        }
        Some(difference) => {
            entities(body, difference);
            functions(body, report, difference, told);
        }
    }
    body.push_str("</section>\n");
}

fn entities(body: &mut String, difference: &Difference) {
    let mut all = difference.entities.iter().take(limits::ENTITIES).peekable();
    while let Some(first) = all.peek() {
        let file = first.file.clone();
        let mut own = Vec::new();
        while let Some(entity) = all.next_if(|entity| entity.file == file) {
            own.push(entity);
        }
        let name = escaped(&file.to_string());
        let _ = writeln!(
            body,
            "<details open>\n<summary><code>{name}</code> <span class=\"soft\">{}</span></summary>\n<ul>",
            match own.len() {
                1 => "1 entity".to_owned(),
                many => format!("{many} entities"),
            }
        );
        own.into_iter()
            .for_each(|entity| item(body, difference, entity));
        body.push_str("</ul>\n</details>\n");
    }
    left_out(
        body,
        difference.entities.len(),
        limits::ENTITIES,
        "entities",
    );
}

fn item(body: &mut String, difference: &Difference, entity: &ReportedEntity) {
    let function = difference.functions.iter().position(|function| {
        entity.kind == Kind::Function
            && function.name == entity.name
            && *difference.files[function.file].path() == entity.file
            && !function.walk.dangerous.is_empty()
    });
    let name = escaped(&entity.name);
    let name = match function {
        Some(place) => format!(r##"<a class="name" href="#f{place}">{name}</a>"##),
        None => format!(r#"<span class="name">{name}</span>"#),
    };
    let line = entity.head.or(entity.base).map(|span| span.line);
    let line = line.filter(|line| *line > 0);
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    let _ = write!(
        body,
        "<li>{} {name} <span class=\"tag\">{}</span> <span class=\"soft\">{}{line}</span>",
        entity.kind.word(),
        entity.change.word(),
        escaped(&entity.because)
    );
    if entity.reach == Reach::Program {
        body.push_str(r#" <span class="tag danger">may reach every test</span>"#);
    }
    body.push_str("</li>\n");
}

fn functions(body: &mut String, report: &Report<'_>, difference: &Difference, told: &Told) {
    if report.edges.is_empty() {
        body.push_str("<p>No edge is dangerous.</p>\n");
        return;
    }
    body.push_str("<h3>Dangerous edges</h3>\n<p class=\"soft\">A test that crosses one of them in the base version may run different code in the head version. Lines are those of the base.</p>\n");
    for (place, function) in difference.functions.iter().enumerate() {
        if !told.functions.contains_key(&place) {
            continue;
        }
        let file = escaped(&difference.files[function.file].path().to_string());
        let name = escaped(&function.name);
        let _ = writeln!(
            body,
            "<article class=\"function\" id=\"f{place}\">\n<h3><span class=\"name\">{name}</span> <span class=\"soft\">in <code>{file}</code>, {}</span></h3>",
            function.change.word()
        );
        for why in function.because.iter().chain(&function.why) {
            let whole = match function.granularity {
                DangerGranularity::Edge => "",
                DangerGranularity::Function => "Known as a whole function: ",
                DangerGranularity::File => "Known as a whole file: ",
            };
            let _ = writeln!(body, "<p class=\"soft\">{whole}{}</p>", escaped(why));
        }
        body.push_str("<ul class=\"edges\">\n");
        let own = told.edges(report, place).iter();
        own.for_each(|one| edge(body, report, one, told));
        body.push_str("</ul>\n");
        if let Some(picture) = report.pictures.get(&place) {
            let _ = writeln!(
                body,
                "<details><summary>Control-flow graphs of <span class=\"name\">{name}</span></summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Control-flow graphs of {name}\">\n{picture}</div></details>"
            );
        }
        body.push_str("</article>\n");
    }
    left_out(body, report.edges.len(), limits::EDGES, "dangerous edges");
    if report.pictures_left_out > 0 {
        let _ = writeln!(
            body,
            "<p class=\"note\">{} left out; <code>git rts graph</code> draws any.</p>",
            count(report.pictures_left_out, "picture")
        );
    }
}

fn edge(body: &mut String, report: &Report<'_>, edge: &DangerousEdge, told: &Told) {
    let label = match edge.label.as_str() {
        "" => String::new(),
        label => format!(" <b>{}</b>", escaped(label)),
    };
    let _ = write!(
        body,
        "<li id=\"e{}-{}\"><span class=\"soft\">{}</span> <code>{}</code>{label} &rarr; <span class=\"soft\">{}</span> <code>{}</code>",
        edge.function,
        edge.edge,
        edge.from.line,
        escaped(&edge.from.text),
        edge.to.line,
        escaped(&edge.to.text)
    );
    if let Some(instead) = edge.instead.as_ref().filter(|end| end.text != edge.to.text) {
        let _ = write!(
            body,
            ", now <span class=\"soft\">{}</span> <code>{}</code>",
            instead.line,
            escaped(&instead.text)
        );
    }
    body.push_str("<br>");
    match report.crossing.of(edge.function, edge.edge) {
        Crossers::Nobody => body.push_str("<span class=\"warn word\">crossed by no test</span>"),
        Crossers::NotBuilt => {
            body.push_str("<span class=\"soft\">its function was not built</span>");
        }
        Crossers::Anybody => {
            body.push_str(
                "<span class=\"soft\">its function has no counters: any test may cross it</span>",
            );
        }
        Crossers::Tests(tests, entering) => {
            let all: Vec<usize> = tests.iter().chain(entering).copied().collect();
            let shown = all.iter().take(limits::TESTS_AN_EDGE);
            let links: Vec<String> = shown.map(|test| test_link(report, told, *test)).collect();
            let mut links = links.join(", ");
            if all.len() > limits::TESTS_AN_EDGE {
                let _ = write!(links, " and {} more", all.len() - limits::TESTS_AN_EDGE);
            }
            let mut crossed = format!("crossed by {}", count(all.len(), "test"));
            let tests = &report.selection.plan.tests;
            let skipped = all.iter().filter(|test| !tests[**test].is_selected());
            let skipped = skipped.count();
            if skipped > 0 {
                let _ = write!(
                    crossed,
                    ", {skipped} of them skipped because what was compiled is the same"
                );
            }
            let _ = match all.len() > limits::TESTS_UNFOLDED {
                false => write!(body, "{crossed}: {links}"),
                true => write!(
                    body,
                    "<details><summary>{crossed}</summary>{links}</details>"
                ),
            };
        }
    }
    body.push_str("</li>\n");
}

/// Says that a list was too long.
pub(super) fn left_out(body: &mut String, all: usize, most: usize, what: &str) {
    if all > most {
        let _ = writeln!(
            body,
            "<p class=\"note\">{} more {what} are left out to keep the page small.</p>",
            all - most
        );
    }
}
