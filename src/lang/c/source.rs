//! A C file made ready for reading: tokens, conditionals, bracket pairs and lines.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::digest::{Digest, Name};
use crate::lang::c::conditionals::{Conditionals, State, conditionals, sought_files};
use crate::lang::c::lexer::{IN_IDENTIFIER, Token, TokenKind, lex};
use crate::lang::c::macros::MacroTable;
use crate::lang::c::words;
use crate::lang::cfg::Span;

/// Marks a bracket without a partner.
pub(crate) const NONE: usize = usize::MAX;

pub(crate) struct Source<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) tokens: Vec<Token>,
    pub(crate) conditionals: Conditionals,
    /// Indices of the tokens that give the structure.
    pub(crate) live: Vec<usize>,
    /// For each position in `live` that opens a bracket, the position that closes it.
    pub(crate) closes: Vec<usize>,
    /// Tokens whose names are declared where they stand.
    pub(crate) declared: FxHashSet<usize>,
    /// Tokens in the arguments of a macro that makes strings of them, with white space before them.
    spaced: FxHashSet<usize>,
    line_starts: Vec<u32>,
    /// Some string may name a symbol to the assembler or the linker.
    names_symbols: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let tokens = lex(bytes);
        let conditionals = conditionals(bytes, &tokens);
        let live: Vec<usize> = (0..tokens.len())
            .filter(|index| conditionals.states[*index] == State::Live)
            .collect();
        let line_starts = std::iter::once(0)
            .chain(
                bytes
                    .iter()
                    .enumerate()
                    .filter(|(_, byte)| **byte == b'\n')
                    .map(|(at, _)| at as u32 + 1),
            )
            .collect();
        let closes = pair_brackets(bytes, &tokens, &live);
        let names_symbols = tokens
            .iter()
            .any(|token| words::names_symbols(token.text(bytes)));
        Source {
            bytes,
            tokens,
            conditionals,
            live,
            closes,
            declared: FxHashSet::default(),
            spaced: FxHashSet::default(),
            line_starts,
            names_symbols,
        }
    }

    /// Finds the arguments in which white space counts.
    pub(crate) fn note_strings(&mut self, macros: &MacroTable) {
        for index in 0..self.tokens.len() {
            let token = &self.tokens[index];
            let is_call = self
                .tokens
                .get(index + 1)
                .is_some_and(|next| next.is(self.bytes, "("));
            if !is_call
                || token.kind != TokenKind::Identifier
                || !macros
                    .get(Name::of(token.text(self.bytes)))
                    .is_some_and(|known| known.stringifies)
            {
                continue;
            }
            let mut depth = 0usize;
            for at in index + 1..self.tokens.len() {
                match self.tokens[at].text(self.bytes) {
                    b"(" => depth += 1,
                    b")" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                // White space at the ends of the arguments is dropped.
                if at > index + 2 && self.tokens[at].start > self.tokens[at - 1].end {
                    self.spaced.insert(at);
                }
            }
        }
    }

    /// What a token adds to a digest.
    pub(crate) fn hash(&self, index: usize) -> u64 {
        let hash = self.tokens[index].hash(self.bytes);
        if self.spaced.contains(&index) {
            hash.rotate_left(1)
        } else {
            hash
        }
    }

    pub(crate) fn line_of(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|start| *start <= offset) as u32
    }

    pub(crate) fn lines(&self) -> u32 {
        let end = self.bytes.len() as u32;
        self.line_of(end) - u32::from(self.line_starts.last() == Some(&end))
    }

    pub(crate) fn is_at_line_start(&self, token: &Token) -> bool {
        token.start == 0 || self.bytes[token.start as usize - 1] == b'\n'
    }

    /// The token at a position of the structure.
    pub(crate) fn at(&self, position: usize) -> &Token {
        &self.tokens[self.live[position]]
    }

    pub(crate) fn text(&self, position: usize) -> &'a [u8] {
        self.at(position).text(self.bytes)
    }

    /// The text at a position, or nothing behind the end.
    pub(crate) fn text_or_end(&self, position: usize) -> &'a [u8] {
        if position < self.live.len() {
            self.text(position)
        } else {
            b""
        }
    }

    pub(crate) fn is_identifier(&self, position: usize) -> bool {
        position < self.live.len() && self.at(position).kind == TokenKind::Identifier
    }

    /// An identifier that is no reserved word.
    pub(crate) fn is_name(&self, position: usize) -> bool {
        self.is_identifier(position) && !words::is_keyword(self.text(position))
    }

    pub(crate) fn name(&self, position: usize) -> Name {
        Name::of(self.text(position))
    }

    /// The indices of all tokens between two positions of the structure, both included.
    pub(crate) fn token_range(&self, first: usize, last: usize) -> Range<usize> {
        self.live[first]..self.live[last] + 1
    }

    pub(crate) fn span(&self, tokens: &Range<usize>) -> Span {
        let start = self.tokens[tokens.start].start;
        Span {
            start,
            end: self.tokens[tokens.end - 1].end,
            line: self.line_of(start),
        }
    }

    /// Absorbs every token that a compiler may read.
    pub(crate) fn absorb(&self, digest: &mut Digest, tokens: Range<usize>) {
        for index in tokens {
            if self.conditionals.states[index] != State::Dead {
                digest.absorb(self.hash(index));
            }
        }
    }

    /// The names that strings hold.
    pub(crate) fn quoted_names(&self) -> impl Iterator<Item = Name> + '_ {
        let strings = self
            .tokens
            .iter()
            .filter(|token| token.kind == TokenKind::String);
        strings.filter_map(|token| match token.text(self.bytes) {
            [b'"', name @ .., b'"']
                if name.len() > 1 && name.iter().all(|byte| IN_IDENTIFIER[usize::from(*byte)]) =>
            {
                Some(Name::of(name).quoted())
            }
            _ => None,
        })
    }

    /// The macro that guards the file against a second inclusion.
    pub(crate) fn guard(&self) -> Option<Name> {
        let name = self.tokens.get(self.conditionals.guard? + 2)?;
        Some(Name::of(name.text(self.bytes)))
    }

    /// The symbols that strings between two tokens name to the assembler or the linker.
    pub(crate) fn symbols_in(&self, tokens: Range<usize>) -> Vec<Name> {
        match self.names_symbols {
            true => symbols(self.bytes, &self.tokens[tokens]),
            false => Vec::new(),
        }
    }

    /// The symbol that `__asm__("...")` gives to what is declared between two positions, both included.
    pub(crate) fn label_in(&self, first: usize, last: usize) -> Option<String> {
        if !self.names_symbols {
            return None;
        }
        let word = (first..=last).find(|at| words::is_asm(self.text(*at)))?;
        match self.text_or_end(word + 2) {
            [b'"', name @ .., b'"'] => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        }
    }

    /// The names between two tokens, reserved words left out.
    pub(crate) fn names_in(&self, tokens: Range<usize>) -> impl Iterator<Item = Name> + '_ {
        self.identifiers_in(tokens.clone())
            .map(|index| Name::of(self.tokens[index].text(self.bytes)))
            .chain(self.symbols_in(tokens.clone()))
            .chain(sought_files(self.bytes, &self.tokens[tokens]))
    }

    /// The names between two tokens as a declaration mentions them: weakly where they are declared.
    pub(crate) fn mentions_in(&self, tokens: Range<usize>) -> impl Iterator<Item = Name> + '_ {
        self.identifiers_in(tokens.clone())
            .map(|index| {
                let name = Name::of(self.tokens[index].text(self.bytes));
                let weakly = self.declared.contains(&index) || self.is_member(index);
                if weakly { name.weak() } else { name }
            })
            .chain(self.symbols_in(tokens.clone()))
            .chain(sought_files(self.bytes, &self.tokens[tokens]))
    }

    /// Whether the name at a token is that of a member, behind `.` or `->`.
    pub(crate) fn is_member(&self, index: usize) -> bool {
        index > 0 && matches!(self.tokens[index - 1].text(self.bytes), b"." | b"->")
    }

    /// Whether the name at a token is that of a struct, union or enum.
    pub(crate) fn is_tag(&self, index: usize) -> bool {
        index > 0
            && matches!(
                self.tokens[index - 1].text(self.bytes),
                b"struct" | b"union" | b"enum"
            )
    }

    fn identifiers_in(&self, tokens: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        tokens.filter(|index| {
            self.conditionals.states[*index] != State::Dead
                && self.tokens[*index].kind == TokenKind::Identifier
                && !words::is_keyword(self.tokens[*index].text(self.bytes))
        })
    }
}

/// The names in the strings behind `asm`, `alias` and their like.
pub(crate) fn symbols(bytes: &[u8], tokens: &[Token]) -> Vec<Name> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut inside = false;
    for token in tokens {
        let text = token.text(bytes);
        match text {
            _ if depth == 0 && words::names_symbols(text) => inside = true,
            b"(" if inside => depth += 1,
            b")" if inside => {
                depth = depth.saturating_sub(1);
                inside = depth > 0;
            }
            _ if inside && depth > 0 && token.kind == TokenKind::String => {
                let words = text.split(|byte| !IN_IDENTIFIER[usize::from(*byte)]);
                let words =
                    words.filter(|word| word.first().is_some_and(|byte| !byte.is_ascii_digit()));
                found.extend(words.map(Name::of));
            }
            // `asm volatile (`
            _ if inside && depth == 0 && !words::is_qualifier(text) && text != b"goto" => {
                inside = false;
            }
            _ => {}
        }
    }
    found
}

/// Pairs brackets as far as they pair; a `}` also ends what was left open inside.
fn pair_brackets(bytes: &[u8], tokens: &[Token], live: &[usize]) -> Vec<usize> {
    let mut closes = vec![NONE; live.len()];
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (position, index) in live.iter().enumerate() {
        let token = &tokens[*index];
        if token.kind != TokenKind::Punctuator || token.end - token.start != 1 {
            continue;
        }
        match bytes[token.start as usize] {
            bracket @ (b'(' | b'[' | b'{') => open.push((bracket, position)),
            bracket @ (b')' | b']') => {
                let opening = if bracket == b')' { b'(' } else { b'[' };
                if open.last().is_some_and(|(top, _)| *top == opening) {
                    let (_, partner) = open.pop().unwrap_or((opening, position));
                    closes[partner] = position;
                }
            }
            b'}' => {
                while let Some((bracket, partner)) = open.pop() {
                    if bracket == b'{' {
                        closes[partner] = position;
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    closes
}
