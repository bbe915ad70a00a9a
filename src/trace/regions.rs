//! The regions of one function where its own text stands: macros are led back to their outermost use.

use std::ops::Range;

use crate::coverage::llvm::map::{Counter, FunctionMap, RegionKind};
use crate::trace::text::Text;

/// What the compiler counts in a function, by the bytes of its file.
#[derive(Debug, Default)]
pub(super) struct Regions {
    code: Vec<(Range<u32>, Counter)>,
    branches: Vec<Branch>,
    /// The names of macros where they are used, and whether a condition in the macro is counted.
    macros: Vec<(Range<u32>, bool)>,
}

/// A condition with the counters of its outcomes.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// Without parentheses around it.
    pub(super) place: Range<u32>,
    pub(super) yes: Counter,
    pub(super) no: Counter,
}

impl Branch {
    /// The compiler knew the outcome, and counts nothing.
    pub(super) fn is_folded(&self) -> bool {
        self.yes == Counter::Zero && self.no == Counter::Zero
    }
}

impl Regions {
    /// The regions in the file in which the function begins.
    pub(super) fn of(function: &FunctionMap, text: &Text<'_>) -> Self {
        let mut regions = Regions::default();
        for region in function.regions.iter().filter(|region| region.file == 0) {
            let place = text.offset(region.start)..text.offset(region.end);
            match region.kind {
                RegionKind::Code => regions.code.push((place, region.counter)),
                RegionKind::Branch { false_counter } => regions.branches.push(Branch {
                    place: text.bare(place),
                    yes: region.counter,
                    no: false_counter,
                }),
                RegionKind::Expansion { file } => {
                    let counts = counts_a_condition(function, file);
                    regions.macros.push((place, counts));
                }
                RegionKind::Gap | RegionKind::Skipped | RegionKind::Decision => {}
            }
        }
        regions
    }

    /// The counter of the innermost region around a byte.
    pub(super) fn around(&self, offset: u32) -> Option<Counter> {
        self.innermost(offset).map(|(_, counter)| *counter)
    }

    /// The innermost region around a byte.
    pub(super) fn place_around(&self, offset: u32) -> Option<Range<u32>> {
        self.innermost(offset).map(|(place, _)| place.clone())
    }

    fn innermost(&self, offset: u32) -> Option<&(Range<u32>, Counter)> {
        self.code
            .iter()
            .filter(|(place, _)| place.contains(&offset))
            .max_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)))
    }

    /// The conditions at a place.
    pub(super) fn branches_at(&self, place: &Range<u32>) -> impl Iterator<Item = &Branch> {
        self.branches
            .iter()
            .filter(move |branch| branch.place == *place)
    }

    /// The conditions that begin behind a byte.
    pub(super) fn branches_behind(&self, offset: u32) -> impl Iterator<Item = &Branch> {
        self.branches
            .iter()
            .filter(move |branch| branch.place.start >= offset)
    }

    pub(super) fn uses_macro(&self, place: &Range<u32>) -> bool {
        self.macros_in(place).next().is_some()
    }

    /// Whether nothing in a condition is counted: the compiler may have evaluated it itself.
    pub(super) fn may_be_folded(&self, place: &Range<u32>) -> bool {
        let mut own = self.branches_at(place).peekable();
        if own.peek().is_some() {
            return own.any(Branch::is_folded);
        }
        !self.macros_in(place).any(|counts| counts)
    }

    fn macros_in(&self, place: &Range<u32>) -> impl Iterator<Item = bool> {
        self.macros
            .iter()
            .filter(move |(used, _)| place.start <= used.start && used.end <= place.end)
            .map(|(_, counts)| *counts)
    }
}

/// Whether the text of a macro, or of a macro in it, holds a condition with counters.
fn counts_a_condition(function: &FunctionMap, file: usize) -> bool {
    let mut waiting = vec![file];
    let mut seen = Vec::new();
    while let Some(file) = waiting.pop() {
        if seen.contains(&file) {
            continue;
        }
        seen.push(file);
        for region in function.regions.iter().filter(|region| region.file == file) {
            match region.kind {
                RegionKind::Branch { false_counter }
                    if region.counter != Counter::Zero || false_counter != Counter::Zero =>
                {
                    return true;
                }
                RegionKind::Expansion { file } => waiting.push(file),
                _ => {}
            }
        }
    }
    false
}
