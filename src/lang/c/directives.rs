//! Directives to entities and includes: what `#define`, `#undef`, `#include` and pragmas say.

use std::ops::Range;

use crate::digest::{Digest, Name, Names};
use crate::lang::c::conditionals::{Directive, State};
use crate::lang::c::entities::Reader;
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::shapes;
use crate::lang::c::source::Source;
use crate::lang::c::words;
use crate::lang::facts::{Include, Kind};

/// The tokens of `#ifndef NAME`, its end included.
const GUARD_TOKENS: usize = 4;

/// The `#include`s of a file at file scope and elsewhere.
pub(crate) fn include(source: &Source<'_>, directive: &Directive) -> Option<Include> {
    if !matches!(
        directive.word.as_str(),
        "include" | "include_next" | "import"
    ) {
        return None;
    }
    let operand = directive.tokens.start + 2..directive.tokens.end.saturating_sub(1);
    let start = source
        .tokens
        .get(operand.start)
        .filter(|_| !operand.is_empty())?
        .start;
    let end = source.tokens[operand.end - 1].end;
    let text = &source.bytes[start as usize..end as usize];
    let quoted = text.first() == Some(&b'"');
    let path = match text {
        [b'"', path @ .., b'"'] | [b'<', path @ .., b'>'] => path,
        other => other,
    };
    let conditionals = &source.conditionals;
    let mut digest = Digest::new();
    source.absorb(&mut digest, directive.tokens.clone());
    digest.absorb(conditionals.around(directive.tokens.start).digest);
    Some(Include {
        path: String::from_utf8_lossy(path).into_owned(),
        quoted,
        is_computed: path.len() == text.len(),
        digest: digest.finish(),
        conditions: Names::new(conditionals.names_around(directive.tokens.start)),
        line: source.line_of(start),
    })
}

impl Reader<'_, '_> {
    pub(super) fn directive(&mut self, directive: &Directive, inside: bool) {
        let tokens = directive.tokens.clone();
        match directive.word.as_str() {
            "define" => {
                let end = tokens.end - 1;
                let definition = shapes::definition(
                    self.source.bytes,
                    &self.source.tokens[tokens.start + 2..end],
                );
                if let Some(definition) = definition {
                    let mut entity =
                        self.entity(Kind::Macro, definition.name, &(tokens.start..end));
                    let conditionals = &self.source.conditionals;
                    // The macro of an include guard is mentioned by the guard.
                    let is_guard = conditionals
                        .guard
                        .is_some_and(|guard| tokens.start == guard + GUARD_TOKENS);
                    entity.mentions = definition
                        .mentions
                        .iter()
                        .chain(conditionals.names_around(tokens.start))
                        .chain(is_guard.then(|| Name::of(entity.name.as_bytes())))
                        .collect();
                    entity.pastes = definition.pastes;
                    self.facts.entities.push(entity);
                }
            }
            "undef" => {
                if let Some(name) = self
                    .source
                    .tokens
                    .get(tokens.start + 2)
                    .filter(|_| tokens.len() > 3)
                {
                    let name = String::from_utf8_lossy(name.text(self.source.bytes)).into_owned();
                    let mut entity =
                        self.entity(Kind::Macro, name, &(tokens.start..tokens.end - 1));
                    entity.declaration = true;
                    entity.mentions = Names::default();
                    self.facts.entities.push(entity);
                }
            }
            "include" | "include_next" | "import" => {
                if !inside {
                    self.facts.includes.extend(include(self.source, directive));
                }
            }
            // They say something to people only.
            "" | "error" | "warning" | "line" | "ident" => {}
            "pragma" if self.is_harmless_pragma(&tokens) => {}
            "pragma" if inside && !self.acts_beyond(&tokens) => {}
            "pragma" => self.remainder(tokens.start..tokens.end - 1),
            _ if inside => {}
            _ => self.remainder(tokens.start..tokens.end - 1),
        }
    }

    /// A pragma inside a function that acts on what follows the function, too.
    fn acts_beyond(&self, tokens: &Range<usize>) -> bool {
        let tokens = &self.source.tokens[tokens.start + 2..tokens.end];
        words::pragma_acts_beyond(tokens.iter().map(|token| token.text(self.source.bytes)))
    }

    /// Pragmas that are written as operators, or that macros bring.
    pub(super) fn pragma_operators(&mut self) {
        let source = self.source;
        for index in 0..source.tokens.len() {
            let token = &source.tokens[index];
            let state = source.conditionals.states[index];
            if token.kind != TokenKind::Identifier
                || matches!(state, State::Dead | State::Directive)
            {
                continue;
            }
            let text = token.text(source.bytes);
            let is_hidden = || {
                self.macros
                    .get(Name::of(text))
                    .is_some_and(|known| known.pragma)
            };
            if shapes::pragma_operator(source.bytes, &source.tokens[index..]) || is_hidden() {
                let last = index + usize::from(matches!(text, b"_Pragma" | b"__pragma")) * 3;
                self.remainder(index..(last + 1).min(source.tokens.len()));
            }
        }
    }

    fn is_harmless_pragma(&self, tokens: &Range<usize>) -> bool {
        self.source
            .tokens
            .get(tokens.start + 2)
            .is_some_and(|word| {
                matches!(
                    word.text(self.source.bytes),
                    b"mark" | b"region" | b"endregion"
                )
            })
    }
}
