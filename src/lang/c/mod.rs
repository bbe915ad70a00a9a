//! C: blob to entities and control-flow graphs, for C as it is really written.

mod body;
mod conditionals;
mod declarators;
mod declared;
mod describe;
mod entities;
mod enums;
mod expressions;
mod flow;
mod graph;
mod items;
mod lexer;
mod lists;
mod locals;
pub mod macros;
mod mask;
mod parameters;
mod scope;
mod shapes;
mod source;
mod words;

use crate::digest::Name;
use crate::lang::c::conditionals::State;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::source::Source;
use crate::lang::facts::{FileFacts, LexFacts};

pub use body::Granularity;

/// What the front end finds depends on its version: caches are kept under it.
pub const VERSION: u32 = 8;

/// Files beyond this size are data, whatever their names end in.
pub const LARGEST: usize = 64 << 20;

/// Reads a blob with the lexer alone.
#[must_use]
pub fn lex_facts(bytes: &[u8]) -> LexFacts {
    if bytes.len() > LARGEST {
        return LexFacts::default();
    }
    let source = Source::read(bytes);
    let names = source.names_in(0..source.tokens.len());
    let mut names: Vec<Name> = names.collect();
    let mut facts = LexFacts {
        lines: source.lines(),
        ..LexFacts::default()
    };
    for directive in &source.conditionals.directives {
        if source.conditionals.states[directive.tokens.start] == State::Dead {
            continue;
        }
        if directive.word == "define" {
            let tokens = &source.tokens[directive.tokens.start + 2..directive.tokens.end - 1];
            if let Some(definition) = shapes::definition(bytes, tokens) {
                names.extend(definition.mentions.iter());
                facts.macros.push(definition);
            }
        } else if let Some(include) = entities::include(&source, directive) {
            names.push(Name::of_included(include.path.as_bytes()));
            facts.includes.push(include);
        }
    }
    facts.names = names.into_iter().collect();
    facts
}

/// Reads a blob with the parser, given what its tree says about macros.
#[must_use]
pub fn file_facts(bytes: &[u8], macros: &MacroTable, granularity: Granularity) -> FileFacts {
    if bytes.len() > LARGEST {
        return entities::unread(bytes);
    }
    entities::facts(Source::read(bytes), macros, granularity)
}

/// Whether a word belongs to the language, so that no mention of it is noted.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    words::is_keyword(word.as_bytes())
}
