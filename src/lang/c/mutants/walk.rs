//! The changes in the body of a function, found on its tree: one walk without recursion, as code may nest deeply.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::c::body::parse;
use crate::lang::c::conditionals::State;
use crate::lang::c::items::Item;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mask::{Masked, mask};
use crate::lang::c::mutants::Maker;
use crate::lang::c::mutants::statements::{Exit, Returned};
use crate::lang::c::source::Source;
use crate::lang::c::words;

/// A change of more than this is no small one, and looking at nested ones would take for ever.
const LONGEST: usize = 1024;

/// The changes in one function.
pub(super) fn function(
    maker: &mut Maker<'_, '_>,
    macros: &MacroTable,
    item: &Item,
    name: usize,
    open: usize,
) {
    let source = maker.source;
    let Ok(masked) = mask(source, macros, open, item.last) else {
        return;
    };
    let Ok(tree) = parse(&masked) else {
        return;
    };
    maker.name = String::from_utf8_lossy(source.text(name)).into_owned();
    let mut walk = Walk {
        maker,
        masked: &masked,
        returned: Returned::of(source, item.first, name),
        pointers: pointer_parameters(source, name, open),
        spared: FxHashSet::default(),
        conditions: FxHashSet::default(),
        exits: Vec::new(),
        doubtful_until: 0,
    };
    let mut cursor = tree.walk();
    loop {
        if walk.visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The parameters that are declared with a star or as arrays.
fn pointer_parameters<'b>(source: &Source<'b>, name: usize, open: usize) -> FxHashSet<&'b [u8]> {
    let follows_star = |at: usize| {
        // `* const p`
        let mut before = (name..at).rev().map(|at| source.text(at));
        before.find(|word| !words::is_qualifier(word)) == Some(b"*")
    };
    (name + 1..open)
        .filter(|at| source.is_name(*at))
        .filter(|at| follows_star(*at) || source.text(at + 1) == b"[")
        .map(|at| source.text(at))
        .collect()
}

pub(super) struct Walk<'w, 's, 'b> {
    pub(super) maker: &'w mut Maker<'s, 'b>,
    masked: &'w Masked,
    pub(super) returned: Returned,
    /// Variables that are certainly pointers.
    pub(super) pointers: FxHashSet<&'b [u8]>,
    /// Nodes in which nothing is changed.
    pub(super) spared: FxHashSet<usize>,
    /// Nodes of which only the truth counts.
    pub(super) conditions: FxHashSet<usize>,
    /// What `break` leaves, from the outermost on.
    pub(super) exits: Vec<Exit>,
    /// Up to this offset a 0 in braces may be a pointer.
    pub(super) doubtful_until: usize,
}

impl<'b> Walk<'_, '_, 'b> {
    /// Changes a node; answers whether to go on inside.
    fn visit(&mut self, node: Node<'_>) -> bool {
        if node.is_error() || node.is_missing() || self.spared.contains(&node.id()) {
            return false;
        }
        while self
            .exits
            .last()
            .is_some_and(|exit| exit.end <= node.start_byte())
        {
            self.exits.pop();
        }
        match node.kind() {
            // Nothing is evaluated there, or a change does not compile.
            "sizeof_expression"
            | "alignof_expression"
            | "offsetof_expression"
            | "generic_expression"
            | "struct_specifier"
            | "union_specifier"
            | "enum_specifier"
            | "attribute_specifier"
            | "gnu_asm_expression"
            | "subscript_designator"
            | "type_descriptor" => return false,
            "call_expression" => return self.is_called(node),
            "binary_expression" => self.binary(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.swap_operator(node),
            "unary_expression" => self.unary(node),
            "parenthesized_expression" => self.pass_on(node),
            "number_literal" | "char_literal" | "string_literal" => {
                self.literal(node);
                return false;
            }
            "declaration" => self.declaration(node),
            "compound_literal_expression" => self.doubtful_until = node.end_byte(),
            "init_declarator" => self.initial_value(node),
            "initializer_list" => self.spare_doubtful_zeros(node),
            "pointer_declarator" | "array_declarator" => self.note_pointer(node),
            _ => self.statement(node),
        }
        true
    }

    /// The offsets of a node in the file.
    pub(super) fn place(&self, node: Node<'_>) -> Range<usize> {
        let base = self.masked.base as usize;
        base + node.start_byte()..base + node.end_byte()
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'b [u8] {
        &self.maker.source.bytes[self.place(node)]
    }

    /// Whether the parser saw all tokens of a place as they are written.
    pub(super) fn is_shown(&self, place: &Range<usize>) -> bool {
        self.shows(place, |_| true)
    }

    /// Whether the parser saw the first and last tokens of a place as they are written: enough to put something around it.
    fn is_enclosed(&self, place: &Range<usize>) -> bool {
        self.shows(place, |token| {
            token.start == place.start || token.end == place.end
        })
    }

    fn shows(&self, place: &Range<usize>, counts: impl Fn(&Range<usize>) -> bool) -> bool {
        let source = self.maker.source;
        if place.is_empty() || place.len() > LONGEST || !self.maker.is_plain(place) {
            return false;
        }
        let first = source
            .tokens
            .partition_point(|token| (token.end as usize) <= place.start);
        let states = &source.conditionals.states[first..];
        let base = self.masked.base as usize;
        let mut end = place.start;
        for (token, state) in source.tokens[first..].iter().zip(states) {
            let at = token.start as usize..token.end as usize;
            if at.start >= place.end {
                break;
            }
            let text = &source.bytes[at.clone()];
            let is_inside = at.start >= place.start && at.end <= place.end;
            if !is_inside
                || *state != State::Live
                || counts(&at) && self.masked.text[at.start - base..at.end - base] != *text
            {
                return false;
            }
            end = at.end;
        }
        end == place.end
    }

    /// Puts something before and behind a node.
    pub(super) fn enclose(
        &mut self,
        kind: &'static str,
        node: Node<'_>,
        before: &str,
        behind: &str,
    ) {
        let place = self.place(node);
        if !node.has_error() && self.is_enclosed(&place) {
            let inside = &self.maker.original[place.clone()];
            let text = [before.as_bytes(), inside, behind.as_bytes()].concat();
            self.maker.change(kind, place, text);
        }
    }

    /// Of this expression only the truth counts.
    pub(super) fn note_condition(&mut self, node: Node<'_>) {
        self.conditions.insert(node.id());
    }

    fn pass_on(&mut self, node: Node<'_>) {
        if self.conditions.contains(&node.id())
            && let Some(inside) = node.named_child(0)
        {
            self.note_condition(inside);
        }
    }

    /// Whether the arguments of a call are values that the function gets.
    fn is_called(&mut self, node: Node<'_>) -> bool {
        let name = node.child_by_field_name("function");
        let name = name.map_or(&b""[..], |name| self.text(name));
        // Compilers want constants of their own choice there.
        !(words::is_static_assertion(name)
            || words::is_unevaluated(name)
            || name.starts_with(b"__builtin_"))
    }
}
