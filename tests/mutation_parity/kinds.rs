//! The kinds of changes: what people mistype, forget, turn around or leave out.

use std::ops::Range;

use crate::mutants::Kind;
use crate::structure::{Braces, Structure};
use crate::tokens::{Class, Part, Token, Tokens, tokens};

pub(crate) type Edits = Vec<(Range<usize>, String)>;

/// Every change of every kind.
pub(crate) fn all(source: &str) -> Vec<(Kind, Edits)> {
    let Tokens { all, directives } = tokens(source);
    let structure = Structure::of(&all);
    let mut maker = Maker {
        source,
        tokens: &all,
        structure: &structure,
        made: Vec::new(),
    };
    for (index, token) in all.iter().enumerate() {
        if token.part == Part::Directive {
            continue;
        }
        match token.class {
            Class::Sign => {
                maker.sign(index);
                maker.insertions(index);
            }
            Class::Number => maker.number(index),
            Class::Text => maker.text(index),
            Class::Name => maker.name(index),
        }
    }
    for directive in &directives {
        let rest = &source[directive.rest.clone()];
        let mut change = |kind, text: String| {
            maker.made.push((kind, vec![(directive.at.clone(), text)]));
        };
        match directive.word {
            "if" => change("condition of #if", format!("#if !({rest})")),
            "elif" => change("condition of #if", format!("#elif !({rest})")),
            "ifdef" => change("condition of #if", format!("#ifndef{rest}")),
            "ifndef" => change("condition of #if", format!("#ifdef{rest}")),
            "define" | "include" | "undef" => change("directive removed", String::new()),
            _ => {}
        }
    }
    maker.made
}

struct Maker<'a> {
    source: &'a str,
    tokens: &'a [Token<'a>],
    structure: &'a Structure,
    made: Vec<(Kind, Edits)>,
}

const SIGNS: [(&str, &[&str]); 29] = [
    ("+", &["-"]),
    ("-", &["+"]),
    ("*", &["/"]),
    ("/", &["*"]),
    ("%", &["*"]),
    ("==", &["!="]),
    ("!=", &["=="]),
    ("<", &["<=", ">"]),
    (">", &[">=", "<"]),
    ("<=", &["<"]),
    (">=", &[">"]),
    ("&&", &["||"]),
    ("||", &["&&"]),
    ("&", &["|"]),
    ("|", &["&"]),
    ("^", &["&"]),
    ("<<", &[">>"]),
    (">>", &["<<"]),
    ("!", &[""]),
    ("~", &[""]),
    ("++", &["--"]),
    ("--", &["++"]),
    ("+=", &["-=", "="]),
    ("-=", &["+="]),
    ("*=", &["+="]),
    ("|=", &["="]),
    ("&=", &["|="]),
    ("^=", &["|="]),
    ("->", &["."]),
];

const TYPES: [(&str, &str); 9] = [
    ("int", "long"),
    ("long", "int"),
    ("char", "int"),
    ("short", "long"),
    ("double", "float"),
    ("bool", "int"),
    ("unsigned", "unsigned char"),
    ("signed", "unsigned"),
    ("size_t", "unsigned short"),
];

impl Maker<'_> {
    fn text_of(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text)
    }

    /// Macros, conditions and tables are kinds of their own, whatever is changed in them.
    fn kind(&self, index: usize, otherwise: Kind) -> Kind {
        match (self.tokens[index].part, self.braces(index)) {
            (Part::MacroBody, _) => "macro body",
            (Part::Condition, _) => "condition of #if",
            (_, Some(Braces::Initialiser)) => "initialiser",
            _ => otherwise,
        }
    }

    fn braces(&self, index: usize) -> Option<Braces> {
        self.structure.inside[index].map(|(_, braces)| braces)
    }

    fn replace(&mut self, kind: Kind, range: Range<usize>, text: impl Into<String>) {
        self.made.push((kind, vec![(range, text.into())]));
    }

    /// The bytes of a range of tokens.
    fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        self.tokens[range.start].at.start..self.tokens[range.end - 1].at.end
    }

    fn swap(&mut self, kind: Kind, a: &Range<usize>, b: &Range<usize>) {
        let (a, b) = (self.bytes(a), self.bytes(b));
        let (first, second) = (&self.source[a.clone()], &self.source[b.clone()]);
        if first != second {
            let edits = vec![(a.clone(), second.to_owned()), (b, first.to_owned())];
            self.made.push((kind, edits));
        }
    }

    fn swap_neighbours(&mut self, kind: Kind, parts: &[Range<usize>]) {
        for pair in parts.windows(2) {
            self.swap(kind, &pair[0], &pair[1]);
        }
    }

    fn sign(&mut self, index: usize) {
        let at = self.tokens[index].at.clone();
        let known = SIGNS.iter().find(|(sign, _)| *sign == self.text_of(index));
        for other in known.map_or(&[][..], |(_, others)| others) {
            self.replace(self.kind(index, "operator"), at.clone(), *other);
        }
        let Some(end) = self.structure.partner[index].filter(|end| *end > index) else {
            return;
        };
        let between = index + 1..end;
        let before = index.checked_sub(1).map(|before| &self.tokens[before]);
        let commas = |maker: &Self| maker.structure.split(maker.tokens, between.clone(), ",");
        match self.text_of(index) {
            "(" if before.is_some_and(|before| before.class == Class::Name) => {
                let parts = commas(self);
                self.swap_neighbours(self.kind(index, "arguments swapped"), &parts);
            }
            "{" => match self.structure.inside.get(index + 1).copied().flatten() {
                Some((_, Braces::Initialiser)) => {
                    let parts = commas(self);
                    self.swap_neighbours("initialiser", &parts);
                }
                Some((_, Braces::Enumerators)) => {
                    let parts = commas(self);
                    self.swap_neighbours("enumerator", &parts);
                }
                Some((_, Braces::Members)) => {
                    let parts = self.structure.split(self.tokens, between, ";");
                    self.swap_neighbours("member", &parts);
                }
                Some((_, Braces::Statements)) => self.statements(between),
                None => {}
            },
            _ => {}
        }
    }

    /// Removes each of some statements that hold no braces, and swaps neighbours.
    fn statements(&mut self, between: Range<usize>) {
        let mut simple = Vec::new();
        let mut start = between.start;
        let mut index = between.start;
        while index < between.end {
            match self.text_of(index) {
                ";" => {
                    simple.push(start..index + 1);
                    start = index + 1;
                }
                ":" if matches!(self.text_of(start), "case" | "default") => start = index + 1,
                _ => {}
            }
            let partner = self.structure.partner[index].filter(|partner| *partner > index);
            if let Some(partner) = partner {
                let is_block = self.text_of(index) == "{";
                index = partner;
                if is_block {
                    start = index + 1;
                }
            }
            index += 1;
        }
        for statement in &simple {
            let kind = match self.text_of(statement.start) {
                "break" => "break removed",
                _ => "statement removed",
            };
            let kind = self.kind(statement.start, kind);
            let bytes = self.bytes(statement);
            self.replace(kind, bytes.clone(), ";");
            if self.tokens[statement.start].part == Part::Code {
                let text = self.source[bytes.clone()].to_owned();
                let hidden = format!("\n#if 0\n{text}\n#endif\n");
                self.replace("statement under #if", bytes.clone(), hidden);
                let twice = format!("{{ {text} }} {text}");
                self.replace("statement doubled", bytes.clone(), twice);
                let rarely = format!("if (sizeof(int) == 3) {text}");
                self.replace("statement under if", bytes, rarely);
            }
        }
        for pair in simple.windows(2) {
            if pair[0].end == pair[1].start {
                self.swap("statements swapped", &pair[0], &pair[1]);
            }
        }
    }

    fn number(&mut self, index: usize) {
        let token = &self.tokens[index];
        let digits = token.text.trim_end_matches(['u', 'U', 'l', 'L']);
        let suffix = &token.text[digits.len()..];
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let kind = self.kind(index, "constant");
        let Ok(value) = value else {
            self.replace(kind, token.at.clone(), "2.5");
            return;
        };
        for other in [value.checked_add(1), value.checked_sub(1)]
            .into_iter()
            .flatten()
        {
            self.replace(kind, token.at.clone(), format!("{other}{suffix}"));
        }
    }

    fn text(&mut self, index: usize) {
        let token = &self.tokens[index];
        let (text, at) = (token.text, token.at.clone());
        if text.starts_with('\'') {
            let other = if text == "'x'" { "'y'" } else { "'x'" };
            self.replace(self.kind(index, "constant"), at, other);
        } else {
            let kind = self.kind(index, "string");
            self.replace(kind, at.clone(), format!("\"Q{}", &text[1..]));
            self.replace(kind, at, "\"\"");
        }
    }

    fn name(&mut self, index: usize) {
        let at = self.tokens[index].at.clone();
        let word = self.text_of(index).to_owned();
        let next = index + 1;
        match word.as_str() {
            "if" | "while" if self.text_of(next) == "(" => {
                if let Some(end) = self.structure.partner[next] {
                    let inner = self.source[self.bytes(&(next..end + 1))].to_owned();
                    let kind = self.kind(index, "condition negated");
                    self.replace(kind, self.bytes(&(next..end + 1)), format!("(!{inner})"));
                }
            }
            "return" => self.returned(index),
            "static" | "const" | "inline" | "extern" => {
                self.replace("qualifier removed", at, "");
            }
            "case" | "default" => {
                let mut behind = self.tokens[index..].iter();
                if let Some(colon) = behind.find(|token| token.text == ":") {
                    self.replace(
                        self.kind(index, "label removed"),
                        at.start..colon.at.end,
                        "",
                    );
                }
            }
            "else" => self.replace(self.kind(index, "statement removed"), at, ""),
            "break" => self.replace(self.kind(index, "break removed"), at, ""),
            "continue" => self.replace(self.kind(index, "statement removed"), at, "break"),
            "goto" => self.replace("statement removed", at.start..self.tokens[next].at.end, ""),
            _ => self.other_name(index, &word, at),
        }
    }

    fn other_name(&mut self, index: usize, word: &str, at: Range<usize>) {
        if let Some((_, other)) = TYPES.iter().find(|(name, _)| *name == word) {
            let kind = match self.braces(index) {
                Some(Braces::Members) => "member",
                _ => self.kind(index, "type"),
            };
            self.replace(kind, at, *other);
            return;
        }
        if self.braces(index) == Some(Braces::Enumerators) {
            if matches!(self.text_of(index + 1), "," | "}") {
                self.replace("enumerator", at.clone(), format!("{word} = 3"));
            }
            self.replace("enumerator", at, format!("EXTRA_{word}, {word}"));
            return;
        }
        // The name before it in the same file is a likely slip.
        let earlier = self.tokens[..index].iter().rev();
        let earlier = earlier
            .filter(|token| token.class == Class::Name && token.text != word)
            .find(|token| token.text.len() > 1 || word.len() == 1);
        if let Some(earlier) = earlier {
            let name = earlier.text.to_owned();
            self.replace(self.kind(index, "another name"), at, name);
        }
    }

    /// Lines between two definitions that change what follows: a macro over a function, another layout.
    fn insertions(&mut self, index: usize) {
        let end = self.tokens[index].at.end;
        let is_code = self.tokens[index].part == Part::Code;
        if !is_code || self.structure.inside[index].is_some() {
            return;
        }
        match self.text_of(index) {
            ";" => self.replace("line inserted", end..end, "\n#pragma pack(1)\n"),
            "}" => {
                let open = self.structure.partner[index];
                let close = open.and_then(|open| open.checked_sub(1));
                let parameters = close.and_then(|close| self.structure.partner[close]);
                let name = parameters.and_then(|open| open.checked_sub(1));
                if let Some(name) = name.map(|name| self.text_of(name).to_owned()) {
                    let line = format!("\n#define {name} 1 + {name}\n");
                    self.replace("line inserted", end..end, line);
                }
            }
            _ => {}
        }
    }

    fn returned(&mut self, index: usize) {
        let behind = self.tokens[index..].iter();
        let end = behind.take_while(|token| token.text != ";").count() + index;
        if end == index + 1 || end >= self.tokens.len() {
            return;
        }
        let bytes = self.bytes(&(index + 1..end));
        let value = self.source[bytes.clone()].to_owned();
        let kind = self.kind(index, "return value");
        for other in [
            format!("!({value})"),
            format!("({value}) + 1"),
            "0".to_owned(),
        ] {
            if other != value {
                self.replace(kind, bytes.clone(), other);
            }
        }
    }
}
