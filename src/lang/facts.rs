//! Source facts: what one blob says about entities, names and control flow (TestTube's program database, one file of it).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::{Name, Names};
use crate::lang::cfg::{Cfg, Span};

/// What the lexer alone knows of a blob: enough to find who mentions a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LexFacts {
    pub names: Names,
    pub macros: Vec<MacroDefinition>,
    pub includes: Vec<Include>,
    pub lines: u32,
    /// The macro that guards the file against a second inclusion.
    pub guard: Option<Name>,
    /// It says `#pragma once`.
    pub is_once: bool,
}

/// An `#include` as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Include {
    /// The path between the quotes or brackets; for a computed include, the tokens.
    pub path: String,
    pub quoted: bool,
    /// Macros make the path.
    pub is_computed: bool,
    /// Over the directive and the `#if` conditions around it.
    pub digest: u64,
    pub conditions: Names,
    pub line: u32,
}

/// One `#define`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MacroDefinition {
    pub name: String,
    pub function_like: bool,
    pub shape: MacroShape,
    /// It contains `return`, `goto`, `break` or `continue`.
    pub jumps: bool,
    /// It makes a string of an argument, in which white space counts.
    pub stringifies: bool,
    /// The word `static` or `extern` is in it.
    pub stores: bool,
    pub links: bool,
    /// It contains a pragma that acts on what follows the function in which it stands.
    pub pragma: bool,
    /// The path that it stands for, if its replacement may be one: `"sub/h.h"`, `<h.h>`.
    pub path: Option<String>,
    pub mentions: Names,
    /// Of these, the names in capitals that are used like functions: macros, wherever they are defined.
    pub capital_calls: Names,
    pub pastes: Vec<Paste>,
}

/// What a macro's own replacement list looks like, before the macros in it are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MacroShape {
    Nothing,
    Attribute,
    Cast,
    Type,
    LoopHead,
    Operator,
    Expression,
    Statement,
    /// Braces or parentheses that do not pair, or a `case` that belongs to a switch around the use.
    Unbalanced,
    /// Nothing but another macro, perhaps with arguments.
    Alias(Name),
}

/// A name that `##` builds: literal text around pieces that only the use knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paste {
    pub prefix: String,
    pub suffix: String,
}

impl Paste {
    /// Nothing is known of the names it builds.
    #[must_use]
    pub fn is_wild(&self) -> bool {
        self.prefix.is_empty() && self.suffix.is_empty()
    }

    #[must_use]
    pub fn could_build(&self, name: &str) -> bool {
        name.len() >= self.prefix.len() + self.suffix.len()
            && name.starts_with(&self.prefix)
            && name.ends_with(&self.suffix)
    }
}

/// What the parser knows of a blob.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    pub entities: Vec<Entity>,
    pub includes: Vec<Include>,
}

/// What a build says in C that is not in the tree: files that it made, macros that its options define. Names pass through it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFacts {
    /// For people.
    pub file: String,
    /// Over all that it says; of a test driver, over all but its rows, and over how it was compiled.
    pub digest: u64,
    /// What mentions a name, without the bodies of functions.
    pub facts: FileFacts,
    /// The functions that it defines.
    pub functions: Names,
    pub macros: Vec<MacroDefinition>,
    pub driver: Option<TestDriver>,
}

/// A program that runs the test which it is given the name of, as CMake makes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestDriver {
    /// Over all but the rows.
    pub rest: u64,
    /// The function of each test, by the test's name in small letters.
    pub rows: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Function,
    Variable,
    Type,
    Macro,
    /// What is left of a file when all else is taken out: pragmas, `asm`, unknown macros at file scope.
    File,
}

impl MadeFacts {
    /// Whether two builds say the same, but for the rows of a test driver.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.file == other.file && self.digest == other.digest
    }
}

impl Kind {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Variable => "variable",
            Kind::Type => "type",
            Kind::Macro => "macro",
            Kind::File => "file",
        }
    }
}

/// The name of a function without its arguments, where a macro may make the name of both: `TEST(x)`, or a function beside a macro.
#[must_use]
pub fn before_arguments(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    pub kind: Kind,
    pub name: String,
    pub span: Span,
    pub end_line: u32,
    /// A declaration of something defined elsewhere: a prototype, an `extern` variable, a forward type.
    pub declaration: bool,
    pub internal: bool,
    /// It stands under an `#if`, or one is in its signature: it may not be there, or another of its name may.
    pub conditional: bool,
    /// It acts without being mentioned (constructor, section, weak, alias, ifunc): the reason.
    pub unmentioned: Option<String>,
    /// Over all tokens and the `#if` conditions around the entity.
    pub digest: u64,
    /// Over what its users depend on; for a function its signature, otherwise the digest.
    pub interface: u64,
    /// The names in the interface; for everything but functions, all names.
    pub mentions: Names,
    /// Names that `##` may build here (macros only).
    pub pastes: Vec<Paste>,
    pub body: Option<Body>,
}

impl Entity {
    /// A macro that guards its file against a second inclusion: the guard mentions it.
    #[must_use]
    pub fn is_guard(&self) -> bool {
        self.kind == Kind::Macro && self.mentions.contains(Name::of(self.name.as_bytes()))
    }

    /// The digest by which a function's edges are numbered; of a function without a graph, the digest of its body.
    #[must_use]
    pub fn graph(&self) -> u64 {
        match self.body.as_ref().map(|body| (&body.flow, body.digest)) {
            Some((Flow::Edges(cfg), _)) => cfg.digest(),
            Some((Flow::Whole(_), digest)) => digest,
            None => self.digest,
        }
    }
}

/// The body of a function definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// Over all tokens of the function.
    pub digest: u64,
    pub mentions: Names,
    pub flow: Flow,
    /// Local declarations by name, each with its scope, for macros that capture a local name.
    pub locals: Vec<(Name, u64)>,
    /// Something in it acts although nobody executes it (a static in a section, assembler directives): what.
    pub unmentioned: Option<String>,
}

/// How finely a function's control flow is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flow {
    Edges(Cfg),
    /// The function is known only as a whole, and why.
    Whole(String),
}
