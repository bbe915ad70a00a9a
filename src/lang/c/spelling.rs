//! Unusual spellings made plain: tokens cut by a line continuation, universal character names, digraphs.
//!
//! The text keeps its length, so that every position behind the token stays true.

use std::borrow::Cow;

use crate::lang::c::lexer::{IN_IDENTIFIER, Token, TokenKind, lex, skip_continuation};

/// What some editors put before the first character of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A row of continuations longer than this is nobody's code, and moving it would take for ever.
const LONGEST_ROW: usize = 4096;

/// The text with the usual spelling of every token.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(bytes);
    if bytes.starts_with(BYTE_ORDER_MARK) {
        text.to_mut()[..BYTE_ORDER_MARK.len()].fill(b' ');
    }
    if has_pair(bytes, |pair| {
        pair[0] == b'\\' && pair[1].is_ascii_whitespace()
    }) && (0..bytes.len()).any(|at| cuts_a_token(bytes, at).is_some())
    {
        join_cut_tokens(text.to_mut());
    }
    let is_odd = |pair: &[u8]| {
        matches!(
            pair,
            [b'<', b'%' | b':'] | [b'%', b'>' | b':'] | [b':', b'>'] | [b'\\', b'u' | b'U']
        )
    };
    if has_pair(&text, is_odd) {
        let tokens = lex(&text);
        let out = text.to_mut();
        spell_digraphs(out, &tokens);
        spell_characters(out, &tokens);
    }
    text
}

/// Whether the text holds a trigraph, which a compiler reads or not as its options say.
pub(crate) fn has_trigraph(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|three| {
        three.starts_with(b"??")
            && matches!(
                three[2],
                b'=' | b'/' | b'\'' | b'(' | b')' | b'!' | b'<' | b'>' | b'-'
            )
    })
}

fn has_pair(bytes: &[u8], is_it: impl Fn(&[u8]) -> bool) -> bool {
    bytes.windows(2).any(is_it)
}

/// The end of the row of continuations at a position.
fn behind_continuations(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at) == Some(&b'\\')
        && let Some(behind) = skip_continuation(bytes, at)
    {
        at = behind;
    }
    at
}

/// The end of the continuations at a position, if the bytes on both sides may belong to one token.
fn cuts_a_token(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] != b'\\' || at == 0 {
        return None;
    }
    let end = behind_continuations(bytes, at);
    let (before, behind) = (bytes[at - 1], *bytes.get(end)?);
    let in_word =
        |byte: u8| IN_IDENTIFIER[usize::from(byte)] || matches!(byte, b'.' | b'"' | b'\'' | b'\\');
    let in_operator = |byte: u8| b"+-*/%&|^<>=!#:.".contains(&byte);
    let joins = in_word(before) && in_word(behind) || in_operator(before) && in_operator(behind);
    (end > at && joins).then_some(end)
}

/// Moves each continuation that cuts a token behind it: to the compiler, which takes them all out, nothing changes.
fn join_cut_tokens(text: &mut [u8]) {
    let mut at = 0;
    while at < text.len() {
        let Some(end) = cuts_a_token(text, at).filter(|end| end - at <= LONGEST_ROW) else {
            at += 1;
            continue;
        };
        let mut rest = end;
        while rest < text.len()
            && !text[rest].is_ascii_whitespace()
            && behind_continuations(text, rest) == rest
        {
            rest += 1;
        }
        text[at..rest].rotate_left(end - at);
        at += rest - end;
    }
}

fn spell_digraphs(text: &mut [u8], tokens: &[Token]) {
    for token in tokens {
        let spelled: &[u8] = match token.text(text) {
            b"<%" => b"{ ",
            b"%>" => b"} ",
            b"<:" => b"[ ",
            b":>" => b"] ",
            b"%:" => b"# ",
            b"%:%:" => b"##  ",
            _ => continue,
        };
        text[token.start as usize..token.end as usize].copy_from_slice(spelled);
    }
}

/// Writes the characters for which `\u00e9` stands in names, and blanks behind the name.
fn spell_characters(text: &mut [u8], tokens: &[Token]) {
    let mut index = 0;
    while index < tokens.len() {
        let start = tokens[index].start as usize;
        let is_escaped = |token: &Token| token.start > 0 && text[token.start as usize - 1] == b'\\';
        if tokens[index].kind != TokenKind::Identifier || !touches_escape(text, tokens, index) {
            index += 1;
            continue;
        }
        let mut word = Vec::new();
        let from = if is_escaped(&tokens[index]) {
            start - 1
        } else {
            start
        };
        let mut end = from;
        while index < tokens.len() && tokens[index].kind == TokenKind::Identifier {
            let token = &tokens[index];
            let begins = token.start as usize - usize::from(is_escaped(token));
            if begins != end {
                break;
            }
            let spelling = token.text(text);
            match is_escaped(token).then(|| character(spelling)).flatten() {
                Some((letter, digits)) => {
                    let mut buffer = [0; 4];
                    word.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
                    word.extend_from_slice(&spelling[digits..]);
                }
                None => word.extend_from_slice(spelling),
            }
            end = token.end as usize;
            index += 1;
        }
        word.resize(end - from, b' ');
        text[from..end].copy_from_slice(&word);
    }
}

/// A name that an escaped one touches, or that is one.
fn touches_escape(text: &[u8], tokens: &[Token], index: usize) -> bool {
    let is_escape = |token: &Token| {
        token.kind == TokenKind::Identifier
            && token.start > 0
            && text[token.start as usize - 1] == b'\\'
            && character(token.text(text)).is_some()
    };
    is_escape(&tokens[index])
        || tokens
            .get(index + 1)
            .is_some_and(|next| is_escape(next) && next.start == tokens[index].end + 1)
}

/// The character behind a backslash, and how many bytes name it.
fn character(spelling: &[u8]) -> Option<(char, usize)> {
    let digits = match spelling.first()? {
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let text = std::str::from_utf8(spelling.get(1..1 + digits)?).ok()?;
    let letter = char::from_u32(u32::from_str_radix(text, 16).ok()?)?;
    Some((letter, 1 + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        let result = plain(text.as_bytes());
        assert_eq!(result.len(), text.len());
        String::from_utf8(result.into_owned()).expect("it stays readable")
    }

    #[test]
    fn a_continuation_inside_a_token_moves_behind_it() {
        assert_eq!(spelled("in\\\nt fo\\\r\no;"), "int\\\n foo;\\\r\n");
        assert_eq!(spelled("a &\\\n& b"), "a &&\\\n b");
        assert_eq!(spelled("ab\\\ncd\\\nef g"), "abcdef\\\n\\\n g");
    }

    #[test]
    fn a_continuation_between_tokens_stays() {
        for text in [
            "#define A \\\n 1\n",
            "f(a,\\\nb)",
            "x;\\\n}",
            "\\\n",
            "a\\\n",
        ] {
            assert!(matches!(plain(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn digraphs_are_brackets_outside_of_strings() {
        assert_eq!(
            spelled("%: a<:1:> <% x; %> \"<%\""),
            "#  a[ 1]  {  x; }  \"<%\""
        );
    }

    #[test]
    fn a_universal_character_name_is_its_character() {
        assert_eq!(spelled("caf\\u00e9s(1)"), "cafés    (1)");
        assert_eq!(spelled("\\u00e9\\u00e8 = 'x'"), "éè         = 'x'");
        assert_eq!(spelled("\"\\u00e9\""), "\"\\u00e9\"");
        assert_eq!(spelled("\\uzzzz"), "\\uzzzz");
    }

    #[test]
    fn trigraphs_are_noticed() {
        assert!(has_trigraph(b"// what??/\n"));
        assert!(!has_trigraph(b"\"what??\""));
    }
}
