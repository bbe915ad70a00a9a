//! The table of tests that rustc's harness begins with: a row for each test, and a `main` that hands them over.
//!
//! A test that is called by its own name (`--exact`) meets its own row and no other. So each row is a symbol of its own, and `main`
//! holds none of them. A row says on which lines the test stands, which decides nothing: that is left out where it is certain
//! which words say so.

use super::Opaque;
use super::content::Content;
use super::elf::{Place, Relocation};
use super::layout::{Layout, Target};
use super::object::Symbol;
use crate::digest::{Name, Names};

/// What the `main` of the harness calls, with the length by which symbols are written; behind it may stand `_abort`.
const HANDED_TO: [&str; 2] = ["16test_main_static", "22test_main_static_abort"];

/// Code that does more than to hand over a table is longer.
const LONGEST_MAIN: u64 = 64;

/// In front of a test's path in the name of its row: no symbol of a program looks like this.
const MARK: &str = "#[test] ";

/// The path of the test whose row a symbol is.
#[must_use]
pub fn test_of_row(symbol: &str) -> Option<&str> {
    symbol.strip_prefix(MARK)
}

/// A table and its `main`.
pub(super) struct Harness<'a> {
    /// The section of `main`.
    pub(super) main: usize,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    section: usize,
    path: &'a str,
    /// Where the lines of the test stand in the row.
    lines: Option<usize>,
}

impl<'a> Harness<'a> {
    /// Finds the table of an object; nothing, if there is none, or it does not look as we know it.
    pub(super) fn find(layout: &Layout<'a>) -> Option<Self> {
        let sections = layout.elf.sections.iter().enumerate();
        let mut mains = sections.filter_map(|(number, section)| {
            let is_main = section.is_code()
                && section.size <= LONGEST_MAIN
                && section.relocations.len() == 2
                && section.relocations.iter().any(|one| is_handed(layout, one));
            let mut targets = section.relocations.iter().map(|one| layout.target(one).0);
            let table = targets.find_map(|target| match target {
                Target::Anonymous(table, _) => Some(table),
                _ => None,
            });
            is_main.then_some(number).zip(table)
        });
        let (main, table) = mains.next().filter(|_| mains.next().is_none())?;
        let table = &layout.elf.sections[table];
        if table.size != 8 * table.relocations.len() as u64 {
            return None;
        }
        let rows = table.relocations.iter().map(|one| row(layout, one));
        let rows: Vec<Row<'a>> = rows.collect::<Option<_>>()?;
        Some(Harness { main, rows })
    }

    /// What `main` mentions without its rows.
    pub(super) fn mentions(layout: &Layout<'_>, main: usize) -> Names {
        let relocations = layout.elf.sections[main].relocations.iter();
        let handed = relocations.filter(|one| is_handed(layout, one));
        let names = handed.map(|one| layout.elf.symbols[one.symbol].name.as_bytes());
        names.map(Name::of).collect()
    }

    /// The rows, each as a symbol.
    pub(super) fn symbols(&self, content: &mut Content<'_, 'a>) -> Result<Vec<Symbol>, Opaque> {
        let symbol = |row: &Row<'a>| {
            let held = content.without(row.section, row.lines.map(|start| start..start + 32))?;
            Ok(Symbol {
                name: format!("{MARK}{}", row.path),
                is_own: true,
                is_code: true,
                counters: 1,
                digest: held.digest,
                mentions: Names::new(held.mentions),
            })
        };
        self.rows.iter().map(symbol).collect()
    }
}

fn is_handed(layout: &Layout<'_>, relocation: &Relocation) -> bool {
    let symbol = &layout.elf.symbols[relocation.symbol];
    symbol.place == Place::Undefined && HANDED_TO.iter().any(|name| symbol.name.ends_with(name))
}

/// The row to which an entry of the table points.
fn row<'a>(layout: &Layout<'a>, entry: &Relocation) -> Option<Row<'a>> {
    let (Target::Anonymous(section, 0), _) = layout.target(entry) else {
        return None;
    };
    let row = &layout.elf.sections[section];
    let word = |at: usize| -> Option<u64> {
        let bytes = row.data.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let functions = row
        .relocations
        .iter()
        .filter_map(|one| match layout.target(one).0 {
            Target::Global(symbol) | Target::Own(symbol) | Target::Within(symbol, 0) => {
                Some(layout.elf.symbols[symbol].name)
            }
            _ => None,
        });
    let functions: Vec<&str> = functions.collect();
    let [function] = functions[..] else {
        return None;
    };
    // The name of a test is the one text in the row by whose last part its function is called.
    let texts = row.relocations.iter().filter_map(|one| {
        let (section, start) = match layout.target(one).0 {
            Target::Anonymous(section, start) => (section, usize::try_from(start).ok()?),
            Target::Constant(section, start) => (section, usize::try_from(start).ok()?),
            _ => return None,
        };
        let length = usize::try_from(word(one.offset as usize + 8)?).ok()?;
        let data = layout.elf.sections[section].data;
        std::str::from_utf8(data.get(start..start.checked_add(length)?)?).ok()
    });
    let mut names = texts.filter(|text| {
        let last = last_part(text);
        !last.is_empty() && function.contains(&format!("{}{last}", last.len()))
    });
    let path = names.next().filter(|_| names.next().is_none())?;
    let is_free = |at: usize| {
        let taken = |one: &Relocation| (one.offset as usize).abs_diff(at) < 8;
        !row.relocations.iter().any(taken)
    };
    let length = last_part(path).chars().count() as u64;
    let mut lines = (0..row.data.len()).step_by(8).filter(|start| {
        let words: [Option<u64>; 4] = [0, 8, 16, 24].map(|more| word(start + more));
        let [Some(line), Some(column), Some(end_line), Some(end)] = words else {
            return false;
        };
        (0..4).all(|number| is_free(start + 8 * number))
            && line > 0
            && column > 0
            && line == end_line
            && end.checked_sub(column) == Some(length)
    });
    let lines = lines.next().filter(|_| lines.next().is_none());
    Some(Row {
        section,
        path,
        lines,
    })
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
