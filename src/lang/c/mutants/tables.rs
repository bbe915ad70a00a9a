//! Changes at file scope, by tokens: what variables begin with, and what macros stand for.

use std::ops::Range;

use crate::digest::Name;
use crate::lang::c::conditionals::State;
use crate::lang::c::declarators::top_level;
use crate::lang::c::items::Item;
use crate::lang::c::lexer::{Token, TokenKind};
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mutants::{Maker, literals, operators};
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

/// The literals in the initial values of a declaration's variables.
pub(super) fn variables(maker: &mut Maker<'_, '_>, macros: &MacroTable, item: &Item) {
    let source = maker.source;
    let tops = top_level(source, macros, item.first, item.last);
    let (mut name, mut value) = (None, None);
    let mut numbers = false;
    for at in tops {
        match source.text(at) {
            // A static assertion and its like declare nothing.
            _ if words::is_static_assertion(source.text(item.first)) => return,
            b"=" if value.is_none() => {
                numbers = are_numbers(source, item.first, at);
                value = Some(at + 1);
            }
            b"," | b";" => {
                if let (Some(name), Some(first)) = (name, value.take()) {
                    maker.name = String::from_utf8_lossy(source.text(name)).into_owned();
                    initial_value(maker, first..at, numbers);
                }
                name = None;
            }
            b"(" if value.is_none() => name = name_in_group(source, at).or(name),
            _ if value.is_none() && source.is_name(at) => name = Some(at),
            _ => {}
        }
    }
}

/// `int (*f)(void)`: the name is behind the star.
fn name_in_group(source: &Source<'_>, open: usize) -> Option<usize> {
    let star = source.text_or_end(open + 1) == b"*";
    (star && source.is_name(open + 2)).then_some(open + 2)
}

/// Whether the values of a variable are certainly no pointers, so that a 0 among them is a number.
fn are_numbers(source: &Source<'_>, first: usize, equals: usize) -> bool {
    let words = || (first..equals).map(|at| source.text(at));
    let is_number = |word: &[u8]| {
        words::is_type_word(word) && !matches!(word, b"struct" | b"union")
            || word.ends_with(b"_t")
            || word == b"bool"
    };
    words().any(is_number)
        && !words().any(|word| matches!(word, b"*" | b"(" | b"{" | b"struct" | b"union"))
}

fn initial_value(maker: &mut Maker<'_, '_>, positions: Range<usize>, numbers: bool) {
    let source = maker.source;
    let mut at = positions.start;
    while at < positions.end {
        let before = source.text(at - 1);
        let is_designator = source.text(at) == b"[" && matches!(before, b"{" | b"," | b"]");
        // `sizeof(x)`, or a macro that may do anything with its arguments.
        let is_argument = source.text(at) == b"(" && source.is_identifier(at - 1);
        if (is_designator || is_argument) && source.closes[at] != NONE {
            at = source.closes[at];
        } else if numbers || literals::value(source.text(at)) != Some(0) {
            literal(maker, source.at(at));
        }
        at += 1;
    }
}

fn literal(maker: &mut Maker<'_, '_>, token: &Token) {
    let place = token.start as usize..token.end as usize;
    if maker.is_plain(&place)
        && let Some(other) = literals::other(token.kind, token.text(maker.source.bytes))
    {
        maker.change(literals::KIND, place, other);
    }
}

/// The literals and operators in the replacement lists of macros.
pub(super) fn macros(maker: &mut Maker<'_, '_>) {
    let source = maker.source;
    for directive in &source.conditionals.directives {
        let tokens = directive.tokens.clone();
        if directive.word != "define"
            || source.conditionals.states[tokens.start] == State::Dead
            || tokens.len() < 4
        {
            continue;
        }
        let tokens = &source.tokens[tokens.start + 2..tokens.end - 1];
        let name = tokens[0].text(source.bytes);
        // The first speaks to the C library, the second to `#ifndef` alone.
        let is_reserved = matches!(name, [b'_', b'_' | b'A'..=b'Z', ..]);
        if is_reserved || source.guard() == Some(Name::of(name)) {
            continue;
        }
        maker.name = String::from_utf8_lossy(name).into_owned();
        let takes_arguments = tokens
            .get(1)
            .is_some_and(|token| token.is(source.bytes, "(") && token.start == tokens[0].end);
        let close = tokens.iter().position(|token| token.is(source.bytes, ")"));
        match close.filter(|_| takes_arguments) {
            Some(close) => replacement(maker, &tokens[close + 1..]),
            None if takes_arguments => {}
            None => replacement(maker, &tokens[1..]),
        }
    }
}

fn replacement(maker: &mut Maker<'_, '_>, tokens: &[Token]) {
    let bytes = maker.source.bytes;
    let text = |at: usize| tokens.get(at).map_or(&b""[..], |token| token.text(bytes));
    let speaks_to_compiler = |word: &[u8]| {
        words::is_attribute_call(word)
            || words::is_asm(word)
            || words::is_static_assertion(word)
            || words::is_unevaluated(word)
            || word.starts_with(b"__builtin_")
    };
    // `<stdio.h>` is the name of a file, as is "table.h".
    let is_path = text(0) == b"<" || tokens.len() == 1 && text(0).ends_with(b".h\"");
    if is_path || (0..tokens.len()).any(|at| speaks_to_compiler(text(at))) {
        return;
    }
    let mut brackets = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        let before = match at {
            0 => b"",
            _ => text(at - 1),
        };
        match text(at) {
            b"[" => brackets += 1,
            b"]" => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        // The size of an array may be an assertion; what is pasted may be half a name.
        let is_pasted = before == b"##" || text(at + 1) == b"##";
        // `while (0)` and `(void) 0` say nothing.
        let is_idle = at >= 2
            && (text(at - 2) == b"while" && text(at + 1) == b")"
                || text(at - 2) == b"void" && before == b")");
        if brackets > 0 || is_pasted || is_idle {
            continue;
        }
        match token.kind {
            TokenKind::Punctuator => operator(maker, tokens, at),
            _ => literal(maker, token),
        }
    }
}

fn operator(maker: &mut Maker<'_, '_>, tokens: &[Token], at: usize) {
    let bytes = maker.source.bytes;
    let place = tokens[at].start as usize..tokens[at].end as usize;
    let text = tokens[at].text(bytes);
    let is_doubtful = matches!(text, b"+" | b"-" | b"*" | b"&");
    if let Some((kind, other)) = operators::other(text)
        && (!is_doubtful || is_between_operands(bytes, tokens, at))
        && maker.is_plain(&place)
    {
        maker.operator(kind, place, other);
    }
}

/// Whether a sign stands between two values; `(type)*x`, `type *x` and `a, -b` are something else.
fn is_between_operands(bytes: &[u8], tokens: &[Token], at: usize) -> bool {
    let text = |at: usize| tokens.get(at).map_or(&b""[..], |token| token.text(bytes));
    let (Some(before), Some(behind)) = (at.checked_sub(1), tokens.get(at + 1)) else {
        return false;
    };
    let is_value = |token: &Token| {
        matches!(token.kind, TokenKind::Number | TokenKind::Character)
            || token.kind == TokenKind::Identifier && !words::is_keyword(token.text(bytes))
    };
    let stands_behind = match tokens[before].kind {
        // A type in parentheses is a cast.
        TokenKind::Punctuator => {
            text(before) == b"]"
                || text(before) == b")"
                    && before.checked_sub(1).is_some_and(|at| {
                        text(at) != b"*"
                            && !words::is_type_word(text(at))
                            && !text(at).ends_with(b"_t")
                    })
        }
        // `type *x` looks like a product.
        TokenKind::Identifier if text(at) == b"*" => words::in_capitals(text(before)),
        _ => is_value(&tokens[before]),
    };
    stands_behind && (is_value(behind) || behind.is(bytes, "("))
}
