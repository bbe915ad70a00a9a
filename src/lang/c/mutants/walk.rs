//! The changes in the body of a function, found on its tree: one walk without recursion, as code may nest deeply.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::c::body::parse;
use crate::lang::c::conditionals::State;
use crate::lang::c::items::Item;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mask::{Masked, mask};
use crate::lang::c::mutants::statements::{Exit, Returned};
use crate::lang::c::mutants::{Maker, literals, operators};
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
    conditions: FxHashSet<usize>,
    /// What `break` leaves, from the outermost on.
    pub(super) exits: Vec<Exit>,
    /// Up to this offset a 0 in braces may be a pointer.
    doubtful_until: usize,
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

    fn swap_operator(&mut self, node: Node<'_>) {
        let Some(operator) = node.child_by_field_name("operator") else {
            return;
        };
        let place = self.place(operator);
        if let Some((kind, other)) = operators::other(self.text(operator))
            && self.is_shown(&place)
        {
            self.maker.operator(kind, place, other);
        }
    }

    fn binary(&mut self, node: Node<'_>) {
        let (Some(left), Some(right), Some(operator)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
            node.child_by_field_name("operator"),
        ) else {
            return;
        };
        match operator.kind() {
            "&&" | "||" => {
                self.note_condition(left);
                self.note_condition(right);
            }
            // A number minus a pointer is nothing.
            "+" if self.pointing(right) == Pointing::Yes => return,
            "-" => match (self.pointing(left), self.pointing(right)) {
                (Pointing::No, _) | (_, Pointing::No) => {}
                // The sum of two pointers is nothing, but they may be turned around.
                _ => return self.turn_around(node, left, right),
            },
            _ => {}
        }
        self.swap_operator(node);
    }

    fn turn_around(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>) {
        let place = self.place(node);
        if !node.has_error() && self.is_shown(&place) {
            let text = [self.text(right), b" - ", self.text(left)].concat();
            self.maker.change(operators::ARITHMETIC, place, text);
        }
    }

    fn pointing(&self, node: Node<'_>) -> Pointing {
        let mut node = node;
        // Deeper down nothing is certain, and long sums would be looked at again and again.
        for _ in 0..8 {
            let inner = match node.kind() {
                "identifier" if self.pointers.contains(self.text(node)) => return Pointing::Yes,
                "pointer_expression" if self.text(node).starts_with(b"&") => return Pointing::Yes,
                "cast_expression" => {
                    let cast = node.child_by_field_name("type");
                    return match cast.is_some_and(|cast| self.text(cast).ends_with(b"*")) {
                        true => Pointing::Yes,
                        false => Pointing::No,
                    };
                }
                "field_expression" | "call_expression" => return Pointing::Perhaps,
                "parenthesized_expression" => node.named_child(0),
                // `p + 1` points as `p` does.
                "binary_expression" => match node.child_by_field_name("operator") {
                    Some(sign) if matches!(sign.kind(), "+" | "-") => {
                        node.child_by_field_name("left")
                    }
                    _ => return Pointing::No,
                },
                _ => return Pointing::No,
            };
            match inner {
                Some(inner) => node = inner,
                None => return Pointing::No,
            }
        }
        Pointing::Perhaps
    }

    fn assignment(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        if self.pointing(left) == Pointing::Yes {
            self.spare_zero(right);
        }
        self.swap_operator(node);
    }

    /// Takes `!`, `-` or `~` away.
    fn unary(&mut self, node: Node<'_>) {
        let (Some(operator), Some(argument)) = (
            node.child_by_field_name("operator"),
            node.child_by_field_name("argument"),
        ) else {
            return;
        };
        let place = self.place(operator);
        let is_not = operator.kind() == "!";
        if is_not {
            self.note_condition(argument);
        }
        if !matches!(operator.kind(), "!" | "-" | "~") || !self.is_shown(&place) {
            return;
        }
        let before = place.start.checked_sub(1).map(|at| self.maker.original[at]);
        let text = match before {
            // Without it, a pointer might take the place of a number.
            _ if is_not && !self.conditions.contains(&node.id()) => "!!",
            Some(b' ' | b'(') => "",
            // `return-x` and `a/-*p` need something in between.
            _ => " ",
        };
        self.maker.change("negation removed", place, text);
    }

    fn literal(&mut self, node: Node<'_>) {
        let place = self.place(node);
        if !self.is_shown(&place) {
            return;
        }
        let tokens = &self.maker.source.tokens;
        let token = tokens.partition_point(|token| (token.end as usize) <= place.start);
        let text = self.text(node);
        if let Some(other) = tokens
            .get(token)
            .filter(|token| token.end as usize == place.end)
            .and_then(|token| literals::other(token.kind, text))
        {
            self.maker.change(literals::KIND, place, other);
        }
    }

    /// Zeros among the initial values of numbers are numbers.
    fn declaration(&mut self, node: Node<'_>) {
        let written = node.child_by_field_name("type");
        let is_number = written.is_some_and(|written| {
            matches!(written.kind(), "primitive_type" | "sized_type_specifier")
        });
        if !is_number {
            self.doubtful_until = node.end_byte();
        }
    }

    fn initial_value(&mut self, node: Node<'_>) {
        let (Some(declarator), Some(value)) = (
            node.child_by_field_name("declarator"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        if declarator.kind() == "pointer_declarator" {
            self.doubtful_until = node.end_byte();
            self.spare_zero(value);
        }
    }

    fn spare_doubtful_zeros(&mut self, node: Node<'_>) {
        if node.start_byte() >= self.doubtful_until {
            return;
        }
        let mut cursor = node.walk();
        let values: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for value in values {
            self.spare_zero(value);
        }
    }

    /// Of a 0 that stands for no pointer nobody makes a 1.
    pub(super) fn spare_zero(&mut self, node: Node<'_>) {
        if node.kind() == "number_literal" && literals::value(self.text(node)) == Some(0) {
            self.spared.insert(node.id());
        }
    }

    fn note_pointer(&mut self, node: Node<'_>) {
        let mut node = node;
        while let Some(inner) = node.child_by_field_name("declarator") {
            node = inner;
        }
        if node.kind() == "identifier" {
            self.pointers.insert(self.text(node));
        }
    }
}

/// Whether an expression is a pointer, as far as its own text tells.
#[derive(PartialEq, Eq)]
enum Pointing {
    Yes,
    No,
    Perhaps,
}
