//! Changes of expressions: other operators and constants, as far as pointers allow.

use tree_sitter::Node;

use crate::lang::c::mutants::walk::Walk;
use crate::lang::c::mutants::{literals, operators};

impl Walk<'_, '_, '_> {
    pub(super) fn swap_operator(&mut self, node: Node<'_>) {
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

    pub(super) fn binary(&mut self, node: Node<'_>) {
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

    pub(super) fn assignment(&mut self, node: Node<'_>) {
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
    pub(super) fn unary(&mut self, node: Node<'_>) {
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

    pub(super) fn literal(&mut self, node: Node<'_>) {
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
    pub(super) fn declaration(&mut self, node: Node<'_>) {
        let written = node.child_by_field_name("type");
        let is_number = written.is_some_and(|written| {
            matches!(written.kind(), "primitive_type" | "sized_type_specifier")
        });
        if !is_number {
            self.doubtful_until = node.end_byte();
        }
    }

    pub(super) fn initial_value(&mut self, node: Node<'_>) {
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

    pub(super) fn spare_doubtful_zeros(&mut self, node: Node<'_>) {
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

    pub(super) fn note_pointer(&mut self, node: Node<'_>) {
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
