//! Numbers, characters and strings, slightly changed, and still of the same type.

use crate::lang::c::lexer::TokenKind;

pub(super) const KIND: &str = "constant";

/// A literal with another value.
pub(super) fn other(kind: TokenKind, text: &[u8]) -> Option<Vec<u8>> {
    match kind {
        TokenKind::Number => number(text),
        TokenKind::Character => character(text),
        TokenKind::String => string(text),
        _ => None,
    }
}

/// The value of an integer or a character, as far as it is plain to see.
pub(super) fn value(text: &[u8]) -> Option<u64> {
    match text {
        [b'\'', letter, b'\''] => Some(u64::from(*letter)),
        [b'\'', ..] => None,
        _ => Integer::read(text).map(|integer| integer.value),
    }
}

/// An integer in its parts: `0x`, digits, `UL`.
struct Integer<'a> {
    prefix: &'a str,
    radix: u32,
    digits: &'a str,
    value: u64,
    suffix: &'a str,
}

impl<'a> Integer<'a> {
    fn read(text: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (radix, begin) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, 2),
            [b'0', b'b' | b'B', ..] => (2, 2),
            [b'0', b'0'..=b'9', ..] => (8, 1),
            _ => (10, 0),
        };
        let (prefix, rest) = text.split_at(begin);
        let end = rest.find(|letter: char| !letter.is_digit(radix));
        let (digits, suffix) = rest.split_at(end.unwrap_or(rest.len()));
        let is_suffix = |letter: char| matches!(letter, 'u' | 'U' | 'l' | 'L');
        if !suffix.chars().all(is_suffix) {
            return None;
        }
        Some(Integer {
            prefix,
            radix,
            digits,
            value: u64::from_str_radix(digits, radix).ok()?,
            suffix,
        })
    }
}

/// The next number; the one before where the next might not fit.
fn number(text: &[u8]) -> Option<Vec<u8>> {
    let Some(integer) = Integer::read(text) else {
        return floating(text);
    };
    let value = match integer.value {
        large if large >= u64::from(u32::MAX) => large - 1,
        value => value + 1,
    };
    let width = integer.digits.len();
    let in_capitals = integer.digits.bytes().any(|byte| byte.is_ascii_uppercase());
    let digits = match integer.radix {
        16 if in_capitals => format!("{value:0width$X}"),
        16 => format!("{value:0width$x}"),
        8 => format!("{value:0width$o}"),
        2 => format!("{value:0width$b}"),
        _ => value.to_string(),
    };
    Some(format!("{}{digits}{}", integer.prefix, integer.suffix).into_bytes())
}

/// `1.5` to `2.5`, `.5` to `1.5`.
fn floating(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (whole, rest) = text.split_at(end);
    if !rest.starts_with(['.', 'e', 'E']) || rest.len() + whole.len() < 2 {
        return None;
    }
    let whole = match whole {
        "" => 0,
        digits => digits.parse::<u64>().ok()?,
    };
    Some(format!("{}{rest}", whole.checked_add(1)?).into_bytes())
}

fn character(text: &[u8]) -> Option<Vec<u8>> {
    let open = text.iter().position(|byte| *byte == b'\'')? + 1;
    let (prefix, rest) = text.split_at(open);
    let inside = rest.strip_suffix(b"'")?;
    let other: &[u8] = match inside {
        b"\\n" => b"\\t",
        b"\\0" => b"\\1",
        // Any number behind the backslash is a character as good as another.
        [b'\\', ..] => b"\\n",
        [letter] if letter.is_ascii_graphic() || *letter == b' ' => &[neighbour(*letter)],
        _ => return None,
    };
    Some([prefix, other, b"'"].concat())
}

/// A string of the same length where it has a letter to change: arrays and formats still fit.
fn string(text: &[u8]) -> Option<Vec<u8>> {
    let open = text.iter().position(|byte| *byte == b'"')? + 1;
    let close = text.len().checked_sub(1).filter(|close| *close >= open)?;
    if text[close] != b'"' {
        return None;
    }
    let mut at = open;
    let mut is_format = false;
    while at < close {
        match text[at] {
            b'\\' => at += escape_length(&text[at..close]),
            b'%' => {
                is_format = true;
                at += conversion_length(&text[at..close]);
            }
            letter if letter.is_ascii_alphanumeric() => {
                let (before, behind) = text.split_at(at);
                return Some([before, &[neighbour(letter)], &behind[1..]].concat());
            }
            _ => at += 1,
        }
    }
    // A conversion may go on in the next string: "%" PRIu64.
    (!is_format).then(|| [&text[..close], b"_\""].concat())
}

fn escape_length(rest: &[u8]) -> usize {
    let digits = rest.iter().skip(2).take_while(|byte| match rest.get(1) {
        Some(b'x' | b'u' | b'U') => byte.is_ascii_hexdigit(),
        Some(b'0'..=b'7') => byte.is_ascii_digit(),
        _ => false,
    });
    2 + digits.count()
}

/// `%-5.3llu`: up to its letter.
fn conversion_length(rest: &[u8]) -> usize {
    let is_modifier = |byte: &u8| b"0123456789-+ #.*'hljztqL".contains(byte);
    let modifiers = rest[1..].iter().take_while(|byte| is_modifier(byte));
    2 + modifiers.count()
}

/// The letter, digit or sign beside another.
fn neighbour(letter: u8) -> u8 {
    match letter {
        b'z' => b'y',
        b'Z' => b'Y',
        b'9' => b'8',
        b'~' | b'&' | b'[' => letter - 1,
        _ => letter + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::lexer::lex;

    fn changed(text: &str) -> Option<String> {
        let token = lex(text.as_bytes()).remove(0);
        let bytes = other(token.kind, token.text(text.as_bytes()))?;
        Some(String::from_utf8(bytes).expect("it stays readable"))
    }

    #[test]
    fn a_number_becomes_the_next_in_its_own_notation() {
        for (old, new) in [
            ("0", "1"),
            ("9", "10"),
            ("41UL", "42UL"),
            ("0x0Fu", "0x10u"),
            ("0xff", "0x100"),
            ("0x9A", "0x9B"),
            ("007", "010"),
            ("0b01", "0b10"),
            ("18446744073709551615ULL", "18446744073709551614ULL"),
            ("1.5f", "2.5f"),
            (".5", "1.5"),
            ("1e5", "2e5"),
        ] {
            assert_eq!(changed(old).as_deref(), Some(new), "{old}");
        }
    }

    #[test]
    fn what_is_no_number_to_us_stays() {
        for text in ["0x1p3", "1z", "099", "0x", "99999999999999999999", "'ab'"] {
            assert_eq!(changed(text), None, "{text}");
        }
    }

    #[test]
    fn a_character_stays_a_character() {
        for (old, new) in [
            ("'a'", "'b'"),
            ("L'z'", "L'y'"),
            ("'\\0'", "'\\1'"),
            ("'\\n'", "'\\t'"),
            ("'\\''", "'\\n'"),
            ("'&'", "'%'"),
            ("'['", "'Z'"),
            ("' '", "'!'"),
        ] {
            assert_eq!(changed(old).as_deref(), Some(new), "{old}");
        }
    }

    #[test]
    fn a_string_keeps_its_length_its_escapes_and_its_conversions() {
        for (old, new) in [
            (r#""abc""#, r#""bbc""#),
            (r#""\x41\ncd""#, r#""\x41\ndd""#),
            (r#""%5ld items""#, r#""%5ld jtems""#),
            (r#"L"""#, r#"L"_""#),
            (r#""\n""#, r#""\n_""#),
        ] {
            assert_eq!(changed(old).as_deref(), Some(new), "{old}");
        }
        assert_eq!(changed("\"%\""), None);
        assert_eq!(changed("\"open"), None);
    }
}
