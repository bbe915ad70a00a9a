//! The lexer: bytes of a C file to preprocessing tokens, in one fast pass that never fails.

use crate::digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    Number,
    String,
    Character,
    Punctuator,
    /// The `#` that opens a directive.
    Directive,
    /// The end of a directive's line; it has no text.
    DirectiveEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn text<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        &source[self.start as usize..self.end as usize]
    }

    pub(crate) fn is(&self, source: &[u8], text: &str) -> bool {
        self.text(source) == text.as_bytes()
    }

    pub(crate) fn hash(&self, source: &[u8]) -> u64 {
        digest::bytes(self.text(source))
    }
}

/// Bytes that may stand inside an identifier; everything above ASCII counts, as compilers accept it.
const fn identifier_table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] =
            letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'$' || letter >= 0x80;
        byte += 1;
    }
    table
}

pub(crate) static IN_IDENTIFIER: [bool; 256] = identifier_table();

/// All tokens of a file in order. Comments and white space are gone.
pub(crate) fn lex(source: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(source.len() / 5);
    let mut at = 0;
    let mut line_is_empty = true;
    let mut in_directive = false;
    while at < source.len() {
        let start = at;
        let byte = source[at];
        let kind = match byte {
            b'\n' => {
                if in_directive {
                    push(&mut tokens, TokenKind::DirectiveEnd, at, at);
                    in_directive = false;
                }
                line_is_empty = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                at += 1;
                continue;
            }
            b'\\' => {
                at = skip_continuation(source, at).unwrap_or(at + 1);
                continue;
            }
            b'/' if source.get(at + 1) == Some(&b'/') => {
                at = end_of_line(source, at);
                continue;
            }
            b'/' if source.get(at + 1) == Some(&b'*') => {
                at = end_of_comment(source, at + 2);
                continue;
            }
            b'#' if line_is_empty && !in_directive => {
                at += 1;
                in_directive = true;
                TokenKind::Directive
            }
            b'"' => {
                at = end_of_quoted(source, at + 1, b'"');
                TokenKind::String
            }
            b'\'' => {
                at = end_of_quoted(source, at + 1, b'\'');
                TokenKind::Character
            }
            b'0'..=b'9' => {
                at = end_of_number(source, at);
                TokenKind::Number
            }
            b'.' if source.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at = end_of_number(source, at);
                TokenKind::Number
            }
            _ if IN_IDENTIFIER[usize::from(byte)] => {
                at += 1;
                while at < source.len() && IN_IDENTIFIER[usize::from(source[at])] {
                    at += 1;
                }
                match source.get(at) {
                    Some(quote @ (b'"' | b'\'')) if is_literal_prefix(&source[start..at]) => {
                        let quote = *quote;
                        at = end_of_quoted(source, at + 1, quote);
                        if quote == b'"' {
                            TokenKind::String
                        } else {
                            TokenKind::Character
                        }
                    }
                    _ => TokenKind::Identifier,
                }
            }
            _ => {
                at += punctuator_length(&source[at..]);
                TokenKind::Punctuator
            }
        };
        line_is_empty = false;
        push(&mut tokens, kind, start, at);
    }
    if in_directive {
        push(&mut tokens, TokenKind::DirectiveEnd, at, at);
    }
    tokens
}

fn push(tokens: &mut Vec<Token>, kind: TokenKind, start: usize, end: usize) {
    tokens.push(Token {
        kind,
        start: start as u32,
        end: end as u32,
    });
}

/// The position behind a backslash-newline, if there is one at `at`; as compilers do, blanks between the two are passed over.
pub(crate) fn skip_continuation(source: &[u8], at: usize) -> Option<usize> {
    let rest = source.get(at + 1..)?;
    let blanks = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
        .count();
    (rest.get(blanks) == Some(&b'\n')).then_some(at + blanks + 2)
}

fn end_of_line(source: &[u8], mut at: usize) -> usize {
    while at < source.len() && source[at] != b'\n' {
        at = match source[at] {
            b'\\' => skip_continuation(source, at).unwrap_or(at + 1),
            _ => at + 1,
        };
    }
    at
}

fn end_of_comment(source: &[u8], mut at: usize) -> usize {
    while at < source.len() {
        if source[at] == b'*' && source.get(at + 1) == Some(&b'/') {
            return at + 2;
        }
        at += 1;
    }
    source.len()
}

/// An unterminated literal ends with its line, as in `#error don't`.
fn end_of_quoted(source: &[u8], mut at: usize, quote: u8) -> usize {
    while at < source.len() {
        match source[at] {
            b'\\' => at = skip_continuation(source, at).unwrap_or(at + 2),
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    source.len()
}

fn end_of_number(source: &[u8], mut at: usize) -> usize {
    while at < source.len() {
        let byte = source[at];
        let sign_of_exponent =
            matches!(byte, b'+' | b'-') && matches!(source[at - 1], b'e' | b'E' | b'p' | b'P');
        if !(IN_IDENTIFIER[usize::from(byte)] || byte == b'.' || sign_of_exponent) {
            break;
        }
        // In `0xe+1` the sign is an operator, but a compiler, too, reads one token there.
        at += 1;
    }
    at
}

fn is_literal_prefix(text: &[u8]) -> bool {
    matches!(text, b"L" | b"u" | b"U" | b"u8")
}

fn punctuator_length(rest: &[u8]) -> usize {
    match rest {
        [b'%', b':', b'%', b':', ..] => 4,
        [b'.', b'.', b'.', ..] | [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] => 3,
        [b'-', b'>', ..]
        | [b'<', b'%' | b':', ..]
        | [b'%', b'>' | b':', ..]
        | [b':', b'>', ..]
        | [b'+', b'+', ..]
        | [b'-', b'-', ..]
        | [b'&', b'&', ..]
        | [b'|', b'|', ..]
        | [b'#', b'#', ..]
        | [b'<', b'<', ..]
        | [b'>', b'>', ..]
        | [
            b'<' | b'>' | b'=' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^',
            b'=',
            ..,
        ] => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        lex(source.as_bytes())
            .iter()
            .map(|token| match token.kind {
                TokenKind::DirectiveEnd => "<end>".to_owned(),
                _ => String::from_utf8_lossy(token.text(source.as_bytes())).into_owned(),
            })
            .collect()
    }

    #[test]
    fn comments_and_white_space_leave_no_token() {
        assert_eq!(
            texts("a/* x */b // c \\\n still comment\nd"),
            ["a", "b", "d"]
        );
    }

    #[test]
    fn a_directive_ends_with_its_logical_line() {
        assert_eq!(
            texts("#define A \\\n 1\nint x; # not one\n"),
            [
                "#", "define", "A", "1", "<end>", "int", "x", ";", "#", "not", "one"
            ]
        );
    }

    #[test]
    fn an_apostrophe_in_an_error_directive_ends_with_the_line() {
        assert_eq!(
            texts("#error don't\nx"),
            ["#", "error", "don", "'t", "<end>", "x"]
        );
    }

    #[test]
    fn strings_keep_escapes_and_prefixes() {
        assert_eq!(
            texts(r#"L"a\"b" 'x' u8"y""#),
            [r#"L"a\"b""#, "'x'", r#"u8"y""#]
        );
    }

    #[test]
    fn numbers_take_exponents_and_suffixes() {
        assert_eq!(texts("1e+5f+.5 0x1p-3"), ["1e+5f", "+", ".5", "0x1p-3"]);
    }

    #[test]
    fn unterminated_input_ends_quietly() {
        assert_eq!(texts("a /* b"), ["a"]);
        assert_eq!(texts("\"abc\\"), ["\"abc\\"]);
        assert_eq!(texts("#if"), ["#", "if", "<end>"]);
    }
}
