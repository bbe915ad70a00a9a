//! A difference for people: short, grouped by file, with the dangerous edges under their functions.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::compare::entity_difference::ChangeKind;
use crate::compare::functions::DangerGranularity;
use crate::difference::{Difference, Reach, ReportedEntity};
use crate::emit::edges::DangerousEdge;
use crate::lang::facts::Kind;

const FILE: Style = Style::new().bold();
const DANGER: Style = AnsiColor::Red.on_default();
const MUTED: Style = Style::new().dimmed();
/// Longer statements are cut; the line number leads to the rest.
const WIDEST: usize = 56;
/// More affected entities of a file than this are counted, not listed.
const MOST_AFFECTED: usize = 8;

/// The difference as coloured text; the stream decides whether the colours stay.
#[must_use]
pub fn diff_text(difference: &Difference, edges: &[DangerousEdge]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < difference.entities.len() {
        let file = &difference.entities[at].file;
        let end = at
            + difference.entities[at..]
                .iter()
                .take_while(|entity| entity.file == *file)
                .count();
        let _ = writeln!(text, "{FILE}{file}{FILE:#}");
        let mut affected = 0;
        for entity in &difference.entities[at..end] {
            if entity.change == ChangeKind::Affected {
                affected += 1;
                if affected > MOST_AFFECTED {
                    continue;
                }
            }
            entity_lines(&mut text, difference, edges, entity);
        }
        if affected > MOST_AFFECTED {
            let _ = writeln!(
                text,
                "  {MUTED}and {} more affected{MUTED:#}",
                affected - MOST_AFFECTED
            );
        }
        at = end;
    }
    text
}

/// One line on what was found, for the end.
#[must_use]
pub fn summary(difference: &Difference, edges: &[DangerousEdge]) -> String {
    let count = |wanted: &dyn Fn(ChangeKind) -> bool| {
        difference
            .entities
            .iter()
            .filter(|entity| wanted(entity.change))
            .count()
    };
    format!(
        "{}..{}: {}, {} changed, {} affected, {}",
        difference.base,
        difference.head,
        plural(difference.changes.len(), "file"),
        plural(count(&|change| change != ChangeKind::Affected), "entity"),
        count(&|change| change == ChangeKind::Affected),
        plural(edges.len(), "dangerous edge"),
    )
}

fn plural(count: usize, word: &str) -> String {
    match (count, word.strip_suffix('y')) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {word}s"),
    }
}

fn entity_lines(
    text: &mut String,
    difference: &Difference,
    edges: &[DangerousEdge],
    entity: &ReportedEntity,
) {
    let style = match entity.change {
        ChangeKind::Added => AnsiColor::Green.on_default(),
        ChangeKind::Removed => AnsiColor::Red.on_default(),
        ChangeKind::Changed => AnsiColor::Yellow.on_default(),
        ChangeKind::Affected => AnsiColor::Cyan.on_default(),
    };
    let name = if entity.kind == Kind::File {
        ""
    } else {
        &entity.name
    };
    let lines = match (entity.base, entity.head) {
        (Some(base), Some(head)) if base.line != head.line => {
            format!(":{} -> :{}", base.line, head.line)
        }
        (Some(span), _) | (None, Some(span)) => format!(":{}", span.line),
        (None, None) => String::new(),
    };
    let change = entity.change.word();
    let kind = entity.kind.word();
    let _ = write!(
        text,
        "  {style}{change:8}{style:#} {kind:8} {name} {MUTED}{lines}{MUTED:#}"
    );
    let says_more = entity.change == ChangeKind::Affected
        || entity.kind == Kind::File
        || entity.reach == Reach::Program
        || entity.because.contains("signature");
    if says_more {
        let _ = write!(text, "  {MUTED}{}{MUTED:#}", elided(&entity.because, 160));
    }
    if entity.reach == Reach::Program {
        let _ = write!(text, "  {DANGER}may reach every test{DANGER:#}");
    }
    text.push('\n');
    if entity.kind != Kind::Function {
        return;
    }
    for (index, function) in difference.functions.iter().enumerate() {
        if function.name != entity.name || *difference.files[function.file].path() != entity.file {
            continue;
        }
        if let Some(why) = &function.why {
            let unit = if function.granularity == DangerGranularity::File {
                "file"
            } else {
                "function"
            };
            let _ = writeln!(text, "      {MUTED}known as a whole {unit}: {why}{MUTED:#}");
        }
        for edge in edges.iter().filter(|edge| edge.function == index) {
            edge_line(text, edge);
        }
    }
}

fn edge_line(text: &mut String, edge: &DangerousEdge) {
    let label = if edge.label.is_empty() {
        String::new()
    } else {
        format!(" {}", edge.label)
    };
    let _ = write!(
        text,
        "      {DANGER}{}{label} -> {}{DANGER:#} {} {MUTED}->{MUTED:#} {}",
        edge.from.line,
        edge.to.line,
        elided(&edge.from.text, WIDEST),
        elided(&edge.to.text, WIDEST),
    );
    match &edge.instead {
        Some(end) if end.text != edge.to.text => {
            let _ = write!(
                text,
                "  {MUTED}now :{} {}{MUTED:#}",
                end.line,
                elided(&end.text, WIDEST)
            );
        }
        _ => {}
    }
    text.push('\n');
}

/// At most so many characters, the rest as dots.
fn elided(text: &str, widest: usize) -> String {
    if text.chars().count() <= widest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(widest - 3).collect();
    short.push_str("...");
    short
}
