//! Enumerations: each enumerator depends only on what gives it its value.

use std::ops::Range;

use crate::digest::{Digest, Name};
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::source::{NONE, Source};

pub(crate) struct Enumerator {
    pub(crate) name: String,
    pub(crate) tokens: Range<usize>,
    /// Over its value, or the last value before it and the distance.
    pub(crate) digest: u64,
    pub(crate) mentions: Vec<Name>,
}

/// The enumerators between two braces.
pub(crate) fn enumerators(source: &Source<'_>, open: usize, close: usize) -> Vec<Enumerator> {
    let mut result = Vec::new();
    let mut since_value = Digest::new();
    let mut mentions: Vec<Name> = Vec::new();
    for (first, last) in chunks(source, open, close) {
        if !source.is_identifier(first) {
            continue;
        }
        let tokens = source.token_range(first, last);
        if last > first {
            since_value = Digest::new();
            let value = source.token_range(first + 1, last);
            source.absorb(&mut since_value, value.clone());
            mentions = source.mentions_in(value).collect();
        }
        since_value.absorb(1);
        result.push(Enumerator {
            name: String::from_utf8_lossy(source.text(first)).into_owned(),
            tokens,
            digest: since_value.finish(),
            mentions: mentions.clone(),
        });
    }
    result
}

/// Whether each enumerator is plainly written: neither a macro nor an `#if` makes, hides or counts any of them.
pub(crate) fn is_plain(
    source: &Source<'_>,
    macros: &MacroTable,
    open: usize,
    close: usize,
) -> bool {
    let mut tokens = source.token_range(open, close);
    let conditional = tokens.any(|index| source.tokens[index].kind == TokenKind::Directive);
    !conditional
        && chunks(source, open, close)
            .into_iter()
            .all(|(first, last)| {
                let is_one = first == last || source.text(first + 1) == b"=";
                source.is_name(first) && is_one && !macros.replaces(source.name(first))
            })
}

/// What a compiler may choose the enum's integer type by, if that is plain to see: whether its largest value fits some size.
pub(crate) fn representation(source: &Source<'_>, open: usize, close: usize) -> Option<u64> {
    let mut value = 0u64;
    let mut largest = 0u64;
    for (first, last) in chunks(source, open, close) {
        match last - first {
            0 => {}
            2 if source.text(first + 1) == b"=" && source.at(last).kind == TokenKind::Number => {
                let text = std::str::from_utf8(source.text(last)).ok()?;
                value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
                    Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                    None if text.starts_with('0') && text.len() > 1 => return None,
                    None => text.parse().ok()?,
                };
            }
            _ => return None,
        }
        largest = largest.max(value);
        value += 1;
    }
    // A conditional among the enumerators shows only one of several lists.
    let tokens = source.token_range(open, close);
    let conditional = tokens
        .clone()
        .any(|index| source.tokens[index].kind == TokenKind::Directive);
    (largest <= i32::MAX as u64 && !conditional).then_some(match largest {
        0..=0x7f => 1,
        0x80..=0xff => 2,
        0x100..=0x7fff => 3,
        0x8000..=0xffff => 4,
        _ => 5,
    })
}

/// First and last position of each part between commas.
fn chunks(source: &Source<'_>, open: usize, close: usize) -> Vec<(usize, usize)> {
    let mut chunks = Vec::new();
    let mut first = open + 1;
    let mut at = first;
    while at <= close {
        match source.text(at) {
            b"(" | b"{" | b"[" if source.closes[at] != NONE => at = source.closes[at],
            b"," => {
                if at > first {
                    chunks.push((first, at - 1));
                }
                first = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if close > first {
        chunks.push((first, close - 1));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, u64)> {
        let source = Source::read(text.as_bytes());
        enumerators(&source, 1, source.closes[1])
            .into_iter()
            .map(|enumerator| (enumerator.name, enumerator.digest))
            .collect()
    }

    fn represented(text: &str) -> Option<u64> {
        let source = Source::read(text.as_bytes());
        representation(&source, 1, source.closes[1])
    }

    #[test]
    fn an_enumerator_at_the_end_leaves_the_others_alone() {
        let (before, after) = (
            read("enum { A, B = 5, C }"),
            read("enum { A, B = 5, C, D }"),
        );
        assert_eq!(before[..], after[..3]);
    }

    #[test]
    fn an_enumerator_in_the_middle_moves_those_behind_it_up_to_the_next_value() {
        let (before, after) = (
            read("enum { A, B, C = 9, D }"),
            read("enum { A, X, B, C = 9, D }"),
        );
        assert_eq!(before[0], after[0]);
        assert_ne!(before[1].1, after[2].1);
        assert_eq!(before[2..], after[3..]);
    }

    #[test]
    fn macros_and_conditions_among_enumerators_are_noticed() {
        let plain = |text: &str, defined: &str| {
            let source = Source::read(text.as_bytes());
            let tokens = crate::lang::c::lexer::lex(defined.as_bytes());
            let definition = crate::lang::c::shapes::definition(defined.as_bytes(), &tokens);
            is_plain(
                &source,
                &MacroTable::learn(&definition),
                1,
                source.closes[1],
            )
        };
        assert!(plain("enum { A, B = 3, C }", "X 1"));
        assert!(!plain("enum { A, LIST }", "LIST B, C"));
        assert!(!plain("enum { FIRST A, B }", "FIRST"));
        assert!(!plain("enum { X(A) X(B) }", "X(n) n,"));
        assert!(!plain("enum { A, B = 3 }", "B C"));
        assert!(plain("enum { A, B = 3 }", "B B"));
        assert!(!plain("enum { A,\n#if K\n B,\n#endif\n C }", "K 1"));
    }

    #[test]
    fn the_representation_is_known_only_for_plain_values() {
        assert_eq!(
            represented("enum { A, B = 3 }"),
            represented("enum { A, B = 3, C }")
        );
        assert_ne!(represented("enum { A }"), represented("enum { A = 300 }"));
        assert_eq!(represented("enum { A = -1 }"), None);
        assert_eq!(represented("enum { A = 1 << 4 }"), None);
        assert_eq!(represented("enum { A = 4294967296 }"), None);
    }
}
