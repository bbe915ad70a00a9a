//! Places in a source text: from the compiler's lines and columns to the bytes of our spans.

use std::ops::Range;

use crate::coverage::llvm::map::Position;

/// Where the lines of a text begin: found once for a file, however many functions it has.
#[derive(Debug)]
pub struct LineStarts(Vec<u32>);

impl LineStarts {
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = breaks.map(|(at, _)| at as u32 + 1);
        LineStarts(std::iter::once(0).chain(starts).collect())
    }
}

/// A text with the starts of its lines.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    bytes: &'a [u8],
    lines: &'a LineStarts,
}

impl<'a> Text<'a> {
    /// `lines` are those of the same bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8], lines: &'a LineStarts) -> Self {
        Text { bytes, lines }
    }

    /// The byte at a line and a column, both from one; what lies beyond the text ends with it.
    #[must_use]
    pub fn offset(&self, position: Position) -> u32 {
        let end = self.bytes.len() as u32;
        let line = position.line.saturating_sub(1) as usize;
        let start = self.lines.0.get(line).copied().unwrap_or(end);
        start
            .saturating_add(position.column.saturating_sub(1))
            .min(end)
    }

    /// The line, from one, of a byte.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        self.lines.0.partition_point(|start| *start <= offset) as u32
    }

    #[must_use]
    pub fn slice(&self, range: Range<u32>) -> &'a [u8] {
        self.bytes
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }

    /// An expression without the parentheses and the white space around it, which compilers and parsers count differently.
    #[must_use]
    pub fn bare(&self, range: Range<u32>) -> Range<u32> {
        let mut range = range;
        loop {
            let text = self.slice(range.clone());
            match text {
                [first, .., last] if first.is_ascii_whitespace() || last.is_ascii_whitespace() => {
                    let begins = text.len() - text.trim_ascii_start().len();
                    let ends = text.len() - text.trim_ascii_end().len();
                    if begins == text.len() {
                        return range;
                    }
                    range = range.start + begins as u32..range.end - ends as u32;
                }
                [b'(', .., b')'] if closes_at_the_end(text) => {
                    range = range.start + 1..range.end - 1;
                }
                _ => return range,
            }
        }
    }
}

/// Whether the parenthesis that opens the text is closed by its last byte.
fn closes_at_the_end(text: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut quote = None;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        match quote {
            Some(_) if byte == b'\\' => at += 1,
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None => match byte {
                b'"' | b'\'' => quote = Some(byte),
                b'(' => depth += 1,
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1 == text.len();
                    }
                }
                _ => {}
            },
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_from_one() {
        let lines = LineStarts::of(b"ab\ncd\n");
        let text = Text::new(b"ab\ncd\n", &lines);
        let at = |line, column| text.offset(Position { line, column });
        assert_eq!((at(1, 1), at(2, 2), at(9, 1), at(2, 99)), (0, 4, 6, 6));
        assert_eq!((text.line(0), text.line(2), text.line(3)), (1, 1, 2));
    }

    #[test]
    fn only_parentheses_around_the_whole_are_taken_off() {
        let bare = |text: &str| {
            let lines = LineStarts::of(text.as_bytes());
            let range = Text::new(text.as_bytes(), &lines).bare(0..text.len() as u32);
            text[range.start as usize..range.end as usize].to_owned()
        };
        assert_eq!(bare("( ((a)) )"), "a");
        assert_eq!(bare("(a) && (b)"), "(a) && (b)");
        assert_eq!(bare("(f(')'))"), "f(')')");
        assert_eq!(bare("  "), "  ");
        assert_eq!(bare("("), "(");
    }
}
