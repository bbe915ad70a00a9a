//! What differs between the code of two builds, for people and programs: binaries that differ alike stand together.

use std::fmt::Write;

use anstyle::Style;
use serde_json::{Value, json};

use crate::objects::{BinaryDifference, Change, ObjectDifference, readable};

const BINARY: Style = Style::new().bold();
/// So many binaries that differ alike are named.
const MOST_NAMED: usize = 3;

/// The difference as coloured text.
#[must_use]
pub fn objects_text(difference: &ObjectDifference) -> String {
    let mut text = String::new();
    for (names, binary) in groups(difference) {
        let named = names.len().min(MOST_NAMED);
        let _ = write!(text, "{BINARY}{}{BINARY:#}", names[..named].join(" "));
        match names.len() - named {
            0 => text.push('\n'),
            more => {
                let _ = writeln!(text, " and {more} more");
            }
        }
        if let Some(why) = &binary.everybody {
            let _ = writeln!(text, "  whoever runs it: {why}");
        }
        // Tables of exceptions belong to functions that stand there themselves.
        let symbols = binary.symbols.iter();
        for (name, change) in symbols.filter(|(name, _)| !name.starts_with("GCC_except_table")) {
            let _ = writeln!(text, "  {:<11} {}", word(*change), readable(name));
        }
        let others = binary.affected.iter();
        for (name, why) in others.filter(|(name, _)| !binary.symbols.contains_key(*name)) {
            let name = readable(name);
            let _ = writeln!(text, "  {:<11} {name}: {why}", "affected");
        }
    }
    text
}

/// The difference for programs.
#[must_use]
pub fn objects_json(difference: &ObjectDifference) -> Value {
    let groups = groups(difference).into_iter().map(|(names, binary)| {
        let symbols = binary.symbols.iter();
        let symbols = symbols.map(|(name, change)| json!({"name": name, "change": word(*change)}));
        let affected = binary.affected.iter();
        let affected = affected.map(|(name, why)| json!({"name": name, "because": why}));
        json!({
            "binaries": names,
            "everybody": binary.everybody,
            "symbols": symbols.collect::<Vec<_>>(),
            "affected": affected.collect::<Vec<_>>(),
        })
    });
    json!({"version": 1, "differing": groups.collect::<Vec<_>>()})
}

/// The differences that are something, each with the binaries that have it.
fn groups(difference: &ObjectDifference) -> Vec<(Vec<&str>, &BinaryDifference)> {
    let mut groups: Vec<(Vec<&str>, &BinaryDifference)> = Vec::new();
    for (name, binary) in &difference.binaries {
        if binary.everybody.is_none() && binary.symbols.is_empty() && binary.affected.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(_, known)| *known == binary) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], binary)),
        }
    }
    groups
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Changed => "changed",
        Change::Appeared => "appeared",
        Change::Disappeared => "disappeared",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_that_differ_alike_stand_together() {
        let binary = BinaryDifference {
            everybody: None,
            symbols: [("table".to_owned(), Change::Changed)].into(),
            affected: [("look".to_owned(), "it mentions 'table'".to_owned())].into(),
            ..BinaryDifference::default()
        };
        let names = ["out/a", "out/b"].map(|name| (name.to_owned(), binary.clone()));
        let mut difference = ObjectDifference {
            binaries: names.into(),
        };
        let same = BinaryDifference::default();
        difference.binaries.insert("out/same".to_owned(), same);
        let text = objects_text(&difference);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("out/a out/b"));
        assert_eq!(
            lines[1..],
            [
                "  changed     table",
                "  affected    look: it mentions 'table'"
            ]
        );
        let document = objects_json(&difference);
        assert_eq!(document["differing"][0]["binaries"][1], "out/b");
    }
}
