//! The parameters of a function definition, and what of its signature every caller and every path depends on.

use std::ops::Range;

use crate::digest::{Digest, Name};
use crate::lang::c::body::Definition;
use crate::lang::c::declarators::{declarators, top_level};
use crate::lang::c::macros::MacroTable;
use crate::lang::c::scope::Binding;
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

pub(crate) struct Parameters {
    pub(crate) bound: Vec<(Name, Binding)>,
    /// Names in the rest of the signature: the return type, attributes, and parameters whose name is in doubt.
    pub(crate) header_mentions: Vec<Name>,
}

/// Reads the parameters, of old-style definitions too.
pub(crate) fn parameters(
    source: &Source<'_>,
    macros: &MacroTable,
    definition: &Definition,
) -> Parameters {
    let (first, open, name) = (definition.item.first, definition.open, definition.name);
    let whole = source.token_range(first, open - 1);
    let mut header_mentions = source.conditionals.names_around(whole.start);
    let list = (name + 1..open)
        .find(|position| source.text(*position) == b"(")
        .filter(|list| source.closes[*list] != NONE && source.closes[*list] < open);
    let Some(list) = list else {
        header_mentions.extend(source.mentions_in(whole));
        return Parameters {
            bound: Vec::new(),
            header_mentions,
        };
    };
    let close = source.closes[list];
    let mut bound = Vec::new();
    let mut doubt = |tokens: Range<usize>| header_mentions.extend(source.mentions_in(tokens));
    let mut unclear = Vec::new();
    for (from, to) in between_commas(source, list + 1, close) {
        let tokens = source.token_range(from, to);
        match parameter_name(source, macros, from, to) {
            Some(position) => bound.push((source.name(position), binding(source, &tokens))),
            None => unclear.push((from, to)),
        }
    }
    doubt(source.token_range(first, list));
    if close + 1 < open {
        // Old-style declarations of the parameters, or attributes.
        let mut from = close + 1;
        for position in close + 1..open {
            if source.text(position) != b";" {
                continue;
            }
            let tops = top_level(source, macros, from, position);
            for declarator in declarators(source, macros, &tops, position, false) {
                let tokens = source.token_range(from, position);
                bound.push((source.name(declarator.name), binding(source, &tokens)));
            }
            from = position + 1;
        }
        if from < open {
            doubt(source.token_range(from, open - 1));
        }
    }
    for (from, to) in unclear {
        let declared_below = from == to && bound.iter().any(|(name, _)| *name == source.name(from));
        if !declared_below {
            doubt(source.token_range(from, to));
        }
    }
    Parameters {
        bound,
        header_mentions,
    }
}

fn binding(source: &Source<'_>, tokens: &Range<usize>) -> Binding {
    let mut digest = Digest::new();
    source.absorb(&mut digest, tokens.clone());
    Binding {
        digest: digest.finish(),
        mentions: source.mentions_in(tokens.clone()).collect(),
    }
}

/// The name of one parameter, if it is beyond doubt.
fn parameter_name(
    source: &Source<'_>,
    macros: &MacroTable,
    from: usize,
    to: usize,
) -> Option<usize> {
    let tops = top_level(source, macros, from, to);
    let found = declarators(source, macros, &tops, to, false);
    let [declarator] = found.as_slice() else {
        return None;
    };
    // `f(int g(void))` declares a function parameter; a lone name is a type, or an old-style name.
    let names = (from..=to)
        .filter(|position| source.is_name(*position))
        .count();
    let words = (from..=to)
        .filter(|position| words::is_type_word(source.text(*position)))
        .count();
    let in_doubt = words::in_capitals(source.text(declarator.name)) || names + words < 2;
    (!in_doubt).then_some(declarator.name)
}

fn between_commas(source: &Source<'_>, from: usize, close: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut first = from;
    let mut at = from;
    while at < close {
        match source.text(at) {
            b"(" | b"[" | b"{" if source.closes[at] != NONE => at = source.closes[at],
            b"," => {
                if at > first {
                    parts.push((first, at - 1));
                }
                first = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if close > first {
        parts.push((first, close - 1));
    }
    parts
}
