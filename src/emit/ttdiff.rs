//! TestTube's entity difference list: a line `kind;file;name` for each entity that was added, removed or changed.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::compare::entity_difference::ChangeKind;
use crate::difference::Difference;

/// The list as `ttdiff` prints it.
#[must_use]
pub fn ttdiff(difference: &Difference) -> String {
    let lines: BTreeSet<String> = difference
        .entities
        .iter()
        .filter(|entity| entity.change != ChangeKind::Affected)
        .map(|entity| format!("{};{};{}", entity.kind.word(), entity.file, entity.name))
        .collect();
    lines.iter().fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
        text
    })
}
