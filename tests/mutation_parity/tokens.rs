//! C as a list of tokens, just well enough to change it; nothing here is shared with what is under test.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Name,
    Number,
    Text,
    Sign,
}

/// In which part of the file a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Code,
    MacroBody,
    Condition,
    /// The rest of a directive, in which nothing is changed token by token.
    Directive,
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: Range<usize>,
    pub(crate) class: Class,
    pub(crate) part: Part,
}

/// A line that begins with `#`, continuations included.
#[derive(Debug, Clone)]
pub(crate) struct Directive<'a> {
    pub(crate) word: &'a str,
    pub(crate) at: Range<usize>,
    /// What stands behind the word.
    pub(crate) rest: Range<usize>,
}

pub(crate) struct Tokens<'a> {
    pub(crate) all: Vec<Token<'a>>,
    pub(crate) directives: Vec<Directive<'a>>,
}

const SIGNS: [&str; 22] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

pub(crate) fn tokens(source: &str) -> Tokens<'_> {
    let mut found = Tokens {
        all: Vec::new(),
        directives: Vec::new(),
    };
    let mut at = 0;
    let mut begins_line = true;
    while at < source.len() {
        let rest = &source[at..];
        let length = blank(rest);
        if length > 0 {
            begins_line |= rest[..length].contains('\n') && !rest.starts_with('\\');
            at += length;
        } else if begins_line && rest.starts_with('#') {
            at = directive(source, at, &mut found);
        } else {
            begins_line = false;
            at = token(source, at, Part::Code, &mut found.all);
        }
    }
    found
}

/// The length of the white space, comment or continuation at the beginning.
fn blank(rest: &str) -> usize {
    if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("\\\n") {
        2
    } else {
        usize::from(rest.starts_with(char::is_whitespace))
    }
}

fn token<'a>(source: &'a str, at: usize, part: Part, all: &mut Vec<Token<'a>>) -> usize {
    let rest = &source[at..];
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let until = |wanted: &dyn Fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    let (class, length) = match rest.chars().next().unwrap() {
        quote @ ('"' | '\'') => (Class::Text, quoted(rest, quote)),
        c if c.is_ascii_digit() => (Class::Number, until(&|c| in_name(c) || c == '.')),
        c if in_name(c) => (Class::Name, until(&in_name)),
        c => {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (Class::Sign, sign.map_or(c.len_utf8(), |sign| sign.len()))
        }
    };
    all.push(Token {
        text: &rest[..length],
        at: at..at + length,
        class,
        part,
    });
    at + length
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Reads one directive and returns where it ends.
fn directive<'a>(source: &'a str, start: usize, found: &mut Tokens<'a>) -> usize {
    let mut end = start;
    loop {
        end += source[end..].find('\n').unwrap_or(source.len() - end);
        if end == source.len() || !source[..end].ends_with('\\') {
            break;
        }
        end += 1;
    }
    let line = &source[start + 1..end];
    let word = line.trim_start();
    let word = &word[..word
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(word.len())];
    let rest = start + 1 + line.find(word).unwrap() + word.len();
    found.directives.push(Directive {
        word,
        at: start..end,
        rest: rest..end,
    });
    let (mut at, part) = match word {
        "define" => (body_of_macro(&source[..end], rest), Part::MacroBody),
        "if" | "elif" => (rest, Part::Condition),
        _ => (rest, Part::Directive),
    };
    while at < end {
        match blank(&source[at..end]) {
            0 => at = token(&source[..end], at, part, &mut found.all),
            length => at += length,
        }
    }
    end
}

/// Behind the name of a macro and its parameters.
fn body_of_macro(source: &str, at: usize) -> usize {
    let name = at + source[at..].len() - source[at..].trim_start().len();
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let behind = source[name..]
        .find(|c| !is_in_name(c))
        .map_or(source.len(), |length| name + length);
    if source[behind..].starts_with('(') {
        source[behind..]
            .find(')')
            .map_or(source.len(), |length| behind + length + 1)
    } else {
        behind
    }
}

#[test]
fn macro_bodies_and_conditions_are_told_from_code() {
    let read = tokens("#if A > 1\n#define F(x) \\\n  ((x)+\"a\\\"\")\n#endif\nint a='\\'';/* b */");
    let part = |part| -> Vec<&str> {
        let own = read.all.iter().filter(|token| token.part == part);
        own.map(|token| token.text).collect()
    };
    assert_eq!(part(Part::Condition), ["A", ">", "1"]);
    assert_eq!(
        part(Part::MacroBody),
        ["(", "(", "x", ")", "+", "\"a\\\"\"", ")"]
    );
    assert_eq!(part(Part::Code), ["int", "a", "=", "'\\''", ";"]);
}
