//! Mutants: small changes of a source file, each of one kind; a seed says which of them are tried.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::kinds;

/// What is changed; the word is for people.
pub(crate) type Kind = &'static str;

#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    pub(crate) kind: Kind,
    /// The place of its file among the files of the subject.
    pub(crate) file: usize,
    /// What is replaced, from front to back.
    pub(crate) edits: Vec<(Range<usize>, String)>,
}

impl Mutant {
    pub(crate) fn apply(&self, source: &str) -> String {
        let mut text = source.to_owned();
        for (range, replacement) in self.edits.iter().rev() {
            text.replace_range(range.clone(), replacement);
        }
        text
    }

    /// The lines that it changes, as a small diff.
    pub(crate) fn describe(&self, path: &str, source: &str) -> String {
        let first = self.edits.first().map_or(0, |(range, _)| range.start);
        let last = self.edits.last().map_or(0, |(range, _)| range.end);
        let start = source[..first].rfind('\n').map_or(0, |place| place + 1);
        let end = source[last..]
            .find('\n')
            .map_or(source.len(), |more| last + more);
        let line = source[..start].matches('\n').count() + 1;
        let mutated = self.apply(source);
        let now = &mutated[start..mutated.len() - (source.len() - end)];
        let marked = |mark: char, text: &str| -> String {
            text.lines().map(|line| format!("{mark}{line}\n")).collect()
        };
        let (old, new) = (marked('-', &source[start..end]), marked('+', now));
        format!("{path}:{line}: {}\n{old}{new}", self.kind)
    }
}

/// All mutants of some files, those of different kinds taking turns, in an order that the seed decides.
pub(crate) fn mutants(files: &[(String, String)], seed: u64) -> Vec<Mutant> {
    let mut by_kind: BTreeMap<Kind, Vec<Mutant>> = BTreeMap::new();
    for (file, (_, source)) in files.iter().enumerate() {
        for (kind, edits) in kinds::all(source) {
            by_kind
                .entry(kind)
                .or_default()
                .push(Mutant { kind, file, edits });
        }
    }
    let mut dice = Dice(seed);
    for own in by_kind.values_mut() {
        dice.shuffle(own);
    }
    let most = by_kind.values().map(Vec::len).max().unwrap_or(0);
    let turns = (0..most).flat_map(|turn| {
        let kinds = by_kind.values();
        kinds.filter_map(move |own| own.get(turn).cloned())
    });
    turns.collect()
}

/// The generator of Steele, Lea and Flood (SplitMix): the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = (self.roll() % (last as u64 + 1)) as usize;
            things.swap(last, other);
        }
    }
}
