//! C: blob to entities and control-flow graphs, for C as it is really written.

mod body;
mod conditionals;
mod declarators;
mod declared;
mod describe;
mod directives;
pub mod driver;
mod entities;
mod enums;
mod expressions;
mod flow;
mod graph;
mod invocations;
mod items;
mod jumps;
mod lexer;
mod lists;
mod locals;
pub mod macros;
mod mask;
mod mutants;
mod opaque;
mod parameters;
mod scope;
mod shapes;
mod source;
mod spelling;
mod words;

use crate::digest::{Name, Names};
use crate::lang::c::conditionals::State;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::source::Source;
use crate::lang::facts::{FileFacts, LexFacts};

pub use body::Granularity;
pub use mutants::{Mutant, Switched, mutants, switched};

/// What the front end finds depends on its version: caches are kept under it.
pub const VERSION: u32 = 10;

/// Files beyond this size are not parsed: they are known as a whole.
pub const LARGEST: usize = 64 << 20;

/// Reads a blob with the lexer alone.
#[must_use]
pub fn lex_facts(bytes: &[u8]) -> LexFacts {
    if u32::try_from(bytes.len()).is_err() {
        return LexFacts::default();
    }
    let bytes = &*spelling::plain(bytes);
    let source = Source::read(bytes);
    let names = source.names_in(0..source.tokens.len());
    let mut names: Vec<Name> = names.collect();
    names.extend(source.quoted_names());
    let mut facts = LexFacts {
        lines: source.lines(),
        guard: source.guard(),
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
        } else if directive.word == "pragma" {
            let mut words = source.names_in(directive.tokens.clone());
            facts.is_once |= words.any(|word| word == Name::of(b"once"));
        } else if let Some(include) = directives::include(&source, directive) {
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
        let mut whole = entities::unread(bytes, "a file too large to be read as source");
        let facts = lex_facts(bytes);
        whole.mentions = facts.names;
        return FileFacts {
            entities: vec![whole],
            includes: facts.includes,
        };
    }
    let plain = spelling::plain(bytes);
    let mut source = Source::read(&plain);
    source.note_strings(macros);
    let mut facts = entities::facts(source, macros, granularity);
    if spelling::has_trigraph(bytes) {
        facts
            .entities
            .push(entities::unread(bytes, "a text with trigraphs"));
    }
    facts
}

/// Whether one of these names finds symbols by their names when the program runs.
#[must_use]
pub fn loads_symbols(names: &Names) -> bool {
    words::LOADERS
        .iter()
        .any(|loader| names.contains(Name::of(loader)))
}

/// Whether a word belongs to the language, so that no mention of it is noted.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    words::is_keyword(word.as_bytes())
}
