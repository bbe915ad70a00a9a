//! Mutants of a C file: small changes as people make mistakes, to check that whoever notices one is selected.

mod expressions;
mod literals;
mod operators;
mod statements;
mod switched;
mod tables;
mod walk;

use std::ops::Range;

pub use switched::{Switched, switched};

use crate::lang::c::declarators::function_name;
use crate::lang::c::items::{ItemKind, items};
use crate::lang::c::macros::MacroTable;
use crate::lang::c::source::Source;
use crate::lang::c::{LARGEST, spelling};

/// A small change of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// What is changed, for people: "relational operator", "constant", ...
    pub kind: &'static str,
    /// The function it is in, or the variable or macro; empty for what has no name.
    pub name: String,
    /// Where the change begins, from 1.
    pub line: usize,
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What takes their place.
    pub text: Vec<u8>,
}

impl Mutant {
    /// The file with the change.
    #[must_use]
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        [
            &source[..self.range.start],
            &self.text,
            &source[self.range.end..],
        ]
        .concat()
    }

    /// The changed lines as a small diff, without control characters that a terminal would obey.
    #[must_use]
    pub fn diff(&self, source: &[u8]) -> String {
        let is_end = |byte: &u8| *byte == b'\n';
        let (before, behind) = (&source[..self.range.start], &source[self.range.end..]);
        let start = before.iter().rposition(is_end).map_or(0, |at| at + 1);
        let rest = &behind[..behind.iter().position(is_end).unwrap_or(behind.len())];
        let old = [&before[start..], &source[self.range.clone()], rest].concat();
        let new = [&before[start..], &self.text, rest].concat();
        marked('-', &old) + &marked('+', &new)
    }
}

fn marked(mark: char, lines: &[u8]) -> String {
    let shown = |line: &str| -> String {
        line.chars()
            .map(|letter| match letter {
                '\t' => '\t',
                letter if letter.is_control() => ' ',
                letter => letter,
            })
            .collect()
    };
    String::from_utf8_lossy(lines)
        .lines()
        .map(|line| format!("{mark}{}\n", shown(line)))
        .collect()
}

/// All mutants of a file, in the order of their places.
///
/// What cannot be read, or is too large to be, has none.
#[must_use]
pub fn mutants(source: &[u8], macros: &MacroTable) -> Vec<Mutant> {
    if source.len() > LARGEST {
        return Vec::new();
    }
    let plain = spelling::plain(source);
    let read = Source::read(&plain);
    let mut maker = Maker {
        original: source,
        source: &read,
        name: String::new(),
        made: Vec::new(),
    };
    for item in items(&read, macros) {
        match item.kind {
            ItemKind::Definition { open } => {
                if let Some(name) = function_name(&read, macros, &item, open) {
                    walk::function(&mut maker, macros, &item, name, open);
                }
            }
            ItemKind::Declaration => tables::variables(&mut maker, macros, &item),
            ItemKind::Remainder => {}
        }
    }
    tables::macros(&mut maker);
    let mut made = maker.made;
    made.sort_by(|one, two| {
        let place = |mutant: &Mutant| (mutant.range.start, mutant.range.end);
        place(one)
            .cmp(&place(two))
            .then_with(|| one.text.cmp(&two.text))
    });
    made.dedup_by(|one, two| one.range == two.range && one.text == two.text);
    made
}

/// The mutants of a file while they are being made.
struct Maker<'s, 'b> {
    /// The file as it is written; the source has the usual spelling of its tokens.
    original: &'b [u8],
    source: &'s Source<'b>,
    /// What the changes are in.
    name: String,
    made: Vec<Mutant>,
}

impl Maker<'_, '_> {
    /// Notes a change, unless it is none.
    fn change(&mut self, kind: &'static str, range: Range<usize>, text: impl Into<Vec<u8>>) {
        let text = text.into();
        if self.original[range.clone()] == *text {
            return;
        }
        self.made.push(Mutant {
            kind,
            name: self.name.clone(),
            line: self.source.line_of(range.start as u32) as usize,
            range,
            text,
        });
    }

    /// Replaces an operator, with blanks where it would grow together with its neighbours: `a+-b`, `a**b`.
    fn operator(&mut self, kind: &'static str, range: Range<usize>, text: &str) {
        let joins = |at: Option<&u8>| at.is_some_and(|byte| b"+-*/&|<>=!".contains(byte));
        let before = range.start.checked_sub(1);
        let before = joins(before.and_then(|at| self.original.get(at)));
        let behind = joins(self.original.get(range.end));
        let blank = |is_needed: bool| if is_needed { " " } else { "" };
        let text = format!("{}{text}{}", blank(before), blank(behind));
        self.change(kind, range, text);
    }

    /// Whether the text is written in the usual spelling.
    fn is_plain(&self, range: &Range<usize>) -> bool {
        self.original[range.clone()] == self.source.bytes[range.clone()]
    }
}

#[cfg(test)]
mod tests;
