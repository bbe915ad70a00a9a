//! What a node says: the digest of its tokens and of the declarations behind its local names, and the names it mentions.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::FxHashSet;
use tree_sitter::Node as Syntax;

use crate::digest::{Digest, Name, Names};
use crate::lang::c::conditionals::{Directive, State, sought_files};
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mask::Masked;
use crate::lang::c::scope::{Binding, Scopes};
use crate::lang::c::shapes::pragma_operator;
use crate::lang::c::source::Source;
use crate::lang::c::words;
use crate::lang::cfg::{Node, NodeKind};

/// The tokens of `#define NAME`.
const DEFINITION_TOKENS: usize = 3;

/// A part of a statement that is evaluated only on a condition: it has nodes of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'t> {
    pub(crate) syntax: Syntax<'t>,
    /// An arm of `?:`, whose type also decides what becomes of the other arm.
    pub(crate) is_arm: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Description {
    pub(crate) digest: u64,
    pub(crate) mentions: Vec<Name>,
    pub(crate) calls: Names,
    /// A macro among the tokens may hide a jump.
    pub(crate) may_jump: bool,
    /// How many `return`, `goto`, `break` and `continue` stand among the tokens.
    pub(crate) jump_words: usize,
}

pub(crate) struct Describer<'s, 'b> {
    pub(crate) source: &'s Source<'b>,
    pub(crate) macros: &'s MacroTable,
    pub(crate) masked: &'s Masked,
    /// Tokens that some node or declaration speaks for.
    pub(crate) covered: RefCell<FxHashSet<usize>>,
}

impl Describer<'_, '_> {
    /// The tokens of a byte range, with the neighbours that were taken out of the parser's text.
    pub(crate) fn tokens(&self, start: u32, end: u32) -> Range<usize> {
        let tokens = &self.source.tokens;
        let mut first = tokens.partition_point(|token| token.start < start);
        let mut last = tokens.partition_point(|token| token.end <= end);
        while first > 0 && self.masked.blanked.contains(&tokens[first - 1].start) {
            first -= 1;
        }
        while last < tokens.len() && self.masked.blanked.contains(&tokens[last].start) {
            last += 1;
        }
        first..last.max(first)
    }

    pub(crate) fn describe(
        &self,
        scopes: &Scopes,
        tokens: Range<usize>,
        operands: &[Operand<'_>],
    ) -> Description {
        self.describe_without(scopes, tokens, operands, &[])
    }

    /// Describes tokens, some of which are the names that they declare.
    fn describe_without(
        &self,
        scopes: &Scopes,
        tokens: Range<usize>,
        operands: &[Operand<'_>],
        declared: &[u32],
    ) -> Description {
        let mut digest = Digest::new();
        let mut result = Description::default();
        let mut calls = Vec::new();
        let mut calls_are_certain = true;
        // From here on a call depends on what was evaluated before it.
        let mut is_conditional = false;
        // Open parentheses, and whether they hold arguments: a macro that looks like a function may drop them.
        let mut open: Vec<bool> = Vec::new();
        let mut in_statement_expression = false;
        let has_parts = !operands.is_empty();
        let mut operands = operands.iter().peekable();
        let first = tokens.start;
        self.covered.borrow_mut().extend(tokens.clone());
        let mut index = first;
        while index < tokens.end {
            let token = &self.source.tokens[index];
            while operands
                .peek()
                .is_some_and(|operand| self.end(operand.syntax) <= token.start)
            {
                operands.next();
            }
            if let Some(operand) = operands.peek()
                && self.start(operand.syntax) <= token.start
            {
                digest.absorb_bytes(b"(operand)");
                if operand.is_arm {
                    self.absorb_type(&mut digest, &mut result.mentions, scopes, operand.syntax);
                }
                let end = self.end(operand.syntax);
                while index < tokens.end && self.source.tokens[index].start < end {
                    index += 1;
                }
                continue;
            }
            if self.source.conditionals.states[index] == State::Dead {
                index += 1;
                continue;
            }
            digest.absorb(self.source.hash(index));
            let text = token.text(self.source.bytes);
            match token.kind {
                // What is evaluated on a condition is not among the tokens if it has nodes of its own.
                TokenKind::Punctuator => {
                    let before = index.checked_sub(1).map(|at| &self.source.tokens[at]);
                    match text {
                        b"(" => open.push(before.is_some_and(|before| {
                            before.kind == TokenKind::Identifier
                                && !words::is_keyword(before.text(self.source.bytes))
                        })),
                        b")" => {
                            open.pop();
                        }
                        b"{" => {
                            in_statement_expression |=
                                before.is_some_and(|before| before.is(self.source.bytes, "("));
                        }
                        _ => {}
                    }
                    is_conditional |= in_statement_expression
                        || matches!(text, b"&&" | b"||" | b"?") && !has_parts;
                }
                TokenKind::Directive => calls_are_certain = false,
                _ => {}
            }
            if token.kind == TokenKind::Identifier {
                let called = self.next_is(index, b"(");
                calls_are_certain &= !words::is_unevaluated(text) && !words::is_typeof(text);
                is_conditional |= words::is_control(text) && !words::is_jump(text);
                if words::is_keyword(text) {
                    result.jump_words += usize::from(words::is_jump(text));
                    // What else the statement evaluates may come behind the jump.
                    calls_are_certain &= !(in_statement_expression && words::is_jump(text));
                } else {
                    let name = Name::of(text);
                    let is_tag = self.source.is_tag(index);
                    let binding = scopes.get(if is_tag { name.tag() } else { name });
                    let only_weakly =
                        self.source.is_member(index) || declared.contains(&token.start);
                    match binding {
                        _ if only_weakly => result.mentions.push(name.weak()),
                        Some(binding) => {
                            digest.absorb(binding.digest);
                            result.mentions.extend(&binding.mentions);
                            result.mentions.push(name.weak());
                        }
                        None => {
                            result.mentions.push(name);
                            let known = self.macros.get(name);
                            let capitals = words::in_capitals(text);
                            result.may_jump |= known.is_some_and(|known| known.jumps)
                                || (known.is_none()
                                    && capitals
                                    && called
                                    && self.is_first(index, first));
                            calls_are_certain &= known.is_none() && !(capitals && called);
                            if called && !is_conditional && !open.contains(&true) {
                                calls.push(name);
                            }
                        }
                    }
                }
            }
            index += 1;
        }
        result
            .mentions
            .extend(self.source.symbols_in(tokens.clone()));
        result.mentions.extend(sought_files(
            self.source.bytes,
            &self.source.tokens[tokens.clone()],
        ));
        if first < tokens.end {
            let conditionals = &self.source.conditionals;
            digest.absorb(conditionals.around(first).digest);
            result.mentions.extend(conditionals.names_around(first));
        }
        result.digest = digest.finish();
        if calls_are_certain {
            result.calls = Names::new(calls);
        }
        result
    }

    /// A node over some tokens.
    pub(crate) fn node(&self, scopes: &Scopes, tokens: Range<usize>) -> Node {
        let span = self.source.span(&tokens);
        let description = self.describe(scopes, tokens, &[]);
        Node {
            kind: NodeKind::Statement,
            span,
            digest: description.digest,
            mentions: description.mentions.into_iter().collect(),
            calls: Names::default(),
        }
    }

    /// Definitions and pragmas in the middle of a function act on the text behind them, whichever way control gets there: their
    /// places count for the whole function.
    fn absorb_places(&self, digest: &mut Digest, tokens: &Range<usize>) {
        let source = self.source;
        let all = &source.conditionals.directives;
        let first = all.partition_point(|directive| directive.tokens.start < tokens.start);
        let mut directives = all[first..].iter().peekable();
        // A definition counts for the uses of macros behind it, a pragma for every declaration.
        let (mut uses, mut everything) = (Digest::new(), Digest::new());
        for index in tokens.clone() {
            let state = source.conditionals.states[index];
            if state == State::Dead {
                continue;
            }
            let directive = directives.next_if(|directive| directive.tokens.start <= index);
            let directive = directive.filter(|directive| directive.tokens.start == index);
            let text = source.tokens[index].text(source.bytes);
            if let Some(Directive { tokens, word }) = directive {
                let is_beyond = || {
                    let words = tokens.clone().skip(2);
                    let words = words.map(|index| source.tokens[index].text(source.bytes));
                    words::pragma_acts_beyond(words)
                };
                match word.as_str() {
                    "define" | "undef" => {
                        digest.absorb(uses.finish());
                        let name = tokens.clone().take(DEFINITION_TOKENS);
                        name.for_each(|index| digest.absorb(source.hash(index)));
                    }
                    "pragma" if is_beyond() => {
                        digest.absorb(everything.finish());
                        source.absorb(digest, tokens.clone());
                    }
                    _ => {}
                }
            }
            if source.tokens[index].kind == TokenKind::Identifier && state != State::Directive {
                let known = self.macros.get(Name::of(text));
                if known.is_some() {
                    uses.absorb_bytes(text);
                }
                let brings_pragma = known.is_some_and(|known| known.pragma);
                if brings_pragma || pragma_operator(source.bytes, &source.tokens[index..]) {
                    digest.absorb(everything.finish());
                }
            }
            everything.absorb(source.hash(index));
        }
    }

    /// Digest and names of the tokens between two that no node speaks for.
    pub(crate) fn uncovered(&self, tokens: Range<usize>) -> (u64, Vec<Name>) {
        let mut digest = Digest::new();
        let mut mentions = Vec::new();
        self.absorb_places(&mut digest, &tokens);
        let covered = self.covered.borrow();
        for index in tokens {
            let token = &self.source.tokens[index];
            let text = token.text(self.source.bytes);
            let speaks = match token.kind {
                TokenKind::Identifier => {
                    // Labels are where edges lead.
                    let is_goal =
                        index > 0 && self.source.tokens[index - 1].is(self.source.bytes, "goto");
                    !(words::is_keyword(text) || self.next_is(index, b":") || is_goal)
                }
                TokenKind::Number | TokenKind::String | TokenKind::Character => true,
                TokenKind::Punctuator | TokenKind::Directive | TokenKind::DirectiveEnd => false,
            };
            let state = self.source.conditionals.states[index];
            if speaks
                && !covered.contains(&index)
                && state != State::Dead
                && state != State::Directive
            {
                digest.absorb_bytes(text);
                if token.kind == TokenKind::Identifier {
                    mentions.push(Name::of(text));
                }
            }
        }
        (digest.finish(), mentions)
    }

    /// What a local declaration gives to the uses of its name.
    pub(crate) fn binding(
        &self,
        scopes: &Scopes,
        parts: &[Range<usize>],
        declared: &[u32],
    ) -> Binding {
        let mut digest = Digest::new();
        let mut mentions = Vec::new();
        for part in parts {
            let description = self.describe_without(scopes, part.clone(), &[], declared);
            digest.absorb(description.digest);
            mentions.extend(description.mentions);
        }
        // Declarations build upon one another: without this, their mentions would double at each step.
        mentions.sort_unstable();
        mentions.dedup();
        Binding {
            digest: digest.finish(),
            mentions,
        }
    }

    pub(crate) fn start(&self, syntax: Syntax<'_>) -> u32 {
        self.masked.base + syntax.start_byte() as u32
    }

    pub(crate) fn end(&self, syntax: Syntax<'_>) -> u32 {
        self.masked.base + syntax.end_byte() as u32
    }

    pub(crate) fn tokens_of(&self, syntax: Syntax<'_>) -> Range<usize> {
        self.tokens(self.start(syntax), self.end(syntax))
    }

    /// Nothing but tokens that belong to a neighbour stands between the first token and this one.
    fn is_first(&self, index: usize, first: usize) -> bool {
        (first..index).all(|before| {
            self.masked
                .blanked
                .contains(&self.source.tokens[before].start)
        })
    }

    fn next_is(&self, index: usize, text: &[u8]) -> bool {
        self.source
            .tokens
            .get(index + 1)
            .is_some_and(|token| token.text(self.source.bytes) == text)
    }

    /// Absorbs what decides the type of an arm, and leaves out what only decides its value.
    fn absorb_type(
        &self,
        digest: &mut Digest,
        mentions: &mut Vec<Name>,
        scopes: &Scopes,
        arm: Syntax<'_>,
    ) {
        let mut waiting = vec![arm];
        while let Some(syntax) = waiting.pop() {
            let child = |name| syntax.child_by_field_name(name);
            match syntax.kind() {
                "char_literal" => digest.absorb_bytes(self.prefix(syntax)),
                "string_literal" => {
                    digest.absorb_bytes(b"string");
                    digest.absorb_bytes(self.prefix(syntax));
                }
                "concatenated_string" => {
                    let mut cursor = syntax.walk();
                    waiting.extend(syntax.named_children(&mut cursor));
                }
                "number_literal" => {
                    let text =
                        &self.source.bytes[self.start(syntax) as usize..self.end(syntax) as usize];
                    // Up to nine digits fit an int everywhere; a suffix or a point would change the type.
                    if text.len() <= 9 && text.iter().all(u8::is_ascii_digit) {
                        digest.absorb_bytes(b"int");
                    } else {
                        digest.absorb_bytes(text);
                    }
                }
                "parenthesized_expression" => waiting.extend(syntax.named_child(0)),
                "cast_expression" if child("type").is_some() => waiting.extend(child("type")),
                "assignment_expression" if child("left").is_some() => waiting.extend(child("left")),
                "call_expression"
                    if child("function")
                        .is_some_and(|function| self.is_plain_function(function)) =>
                {
                    digest.absorb_bytes(b"call");
                    waiting.extend(child("function"));
                }
                "binary_expression"
                    if child("operator").is_some_and(|operator| {
                        matches!(
                            operator.kind(),
                            "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||"
                        )
                    }) =>
                {
                    digest.absorb_bytes(b"int");
                }
                _ => {
                    let description = self.describe(scopes, self.tokens_of(syntax), &[]);
                    digest.absorb(description.digest);
                    mentions.extend(description.mentions);
                }
            }
        }
    }

    /// What stands before the quote of a literal decides its type.
    fn prefix(&self, literal: Syntax<'_>) -> &[u8] {
        let text = &self.source.bytes[self.start(literal) as usize..self.end(literal) as usize];
        let quote = text.iter().position(|byte| matches!(byte, b'"' | b'\''));
        match &text[..quote.unwrap_or(0)] {
            b"" => b"int",
            prefix => prefix,
        }
    }

    fn is_plain_function(&self, function: Syntax<'_>) -> bool {
        let text = &self.source.bytes[self.start(function) as usize..self.end(function) as usize];
        function.kind() == "identifier"
            && self.macros.get(Name::of(text)).is_none()
            && !words::in_capitals(text)
    }
}
