//! Changes of statements: conditions negated, calls and assignments left out, other values returned, jumps forgotten.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::lang::c::lexer::TokenKind;
use crate::lang::c::mutants::literals;
use crate::lang::c::mutants::walk::Walk;
use crate::lang::c::source::Source;
use crate::lang::c::words;

/// Of such a change only the truth counts.
pub(super) const NEGATED: &str = "condition negated";

/// A loop or a switch, which `break` leaves.
pub(super) struct Exit {
    /// Where it ends in the parser's text.
    pub(super) end: usize,
    /// The end of the last case; a switch has one.
    last_case: Option<usize>,
    /// The values of the labels of a switch.
    labels: FxHashSet<u64>,
}

/// What a function returns, as far as its signature tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returned {
    Nothing,
    Number,
    Pointer,
    /// A type with a name; perhaps a struct.
    Named,
    Aggregate,
}

impl Returned {
    pub(super) fn of(source: &Source<'_>, first: usize, name: usize) -> Self {
        let has = |is_it: fn(&[u8]) -> bool| (first..name).any(|at| is_it(source.text(at)));
        if has(|word| word == b"*") {
            Returned::Pointer
        } else if has(|word| matches!(word, b"struct" | b"union")) {
            Returned::Aggregate
        } else if has(|word| word == b"void") {
            Returned::Nothing
        } else if has(words::is_type_word) || !(first..name).any(|at| source.is_name(at)) {
            Returned::Number
        } else {
            Returned::Named
        }
    }
}

impl Walk<'_, '_, '_> {
    pub(super) fn statement(&mut self, node: Node<'_>) {
        match node.kind() {
            "if_statement" => self.controlled(node, "if"),
            "conditional_expression" => self.controlled(node, "?:"),
            "for_statement" | "while_statement" | "do_statement" => {
                self.enter(node);
                self.controlled(node, "loop");
            }
            "switch_statement" => self.enter_switch(node),
            "case_statement" => self.label(node),
            "expression_statement" => self.leave_out(node),
            "return_statement" => self.returned_value(node),
            "break_statement" => self.leave_break_out(node),
            "continue_statement" => {
                if let Some(word) = node.child(0)
                    && self.is_shown(&self.place(word))
                {
                    self.maker.change("continue", self.place(word), "break");
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, node: Node<'_>) {
        self.exits.push(Exit {
            end: node.end_byte(),
            last_case: None,
            labels: FxHashSet::default(),
        });
    }

    /// Negates the condition of a statement.
    fn controlled(&mut self, node: Node<'_>, what: &str) {
        let Some(mut condition) = node.child_by_field_name("condition") else {
            return;
        };
        while condition.kind() == "parenthesized_expression"
            && let Some(inside) = condition.named_child(0)
        {
            self.note_condition(condition);
            condition = inside;
        }
        self.note_condition(condition);
        if condition.kind() == "number_literal" {
            // `while (1)` and `do ... while (0)` are no conditions.
            if what == "loop" {
                self.spared.insert(condition.id());
            }
            return;
        }
        if !turns_with_its_operator(condition) {
            self.enclose(NEGATED, condition, "!(", ")");
        }
    }

    fn enter_switch(&mut self, node: Node<'_>) {
        self.enter(node);
        let Some(body) = node.child_by_field_name("body") else {
            return;
        };
        let mut cursor = body.walk();
        let cases: Vec<Node<'_>> = body
            .named_children(&mut cursor)
            .filter(|child| child.kind() == "case_statement")
            .collect();
        let labels = cases
            .iter()
            .filter_map(|case| case.child_by_field_name("value"))
            .filter_map(|label| literals::value(self.text(label)))
            .collect();
        if let Some(exit) = self.exits.last_mut() {
            exit.labels = labels;
            exit.last_case = cases.last().map(Node::end_byte);
        }
    }

    /// A label keeps its value where the other one is taken.
    fn label(&mut self, node: Node<'_>) {
        let Some(label) = node.child_by_field_name("value") else {
            return;
        };
        let is_free = |value: u64| {
            let exit = self.exits.last();
            exit.is_some_and(|exit| !exit.labels.contains(&value))
        };
        let kind = match label.kind() {
            "char_literal" => TokenKind::Character,
            _ => TokenKind::Number,
        };
        let other = literals::other(kind, self.text(label));
        let other = other.and_then(|text| literals::value(&text));
        if !other.is_some_and(is_free) {
            self.spared.insert(label.id());
        }
    }

    /// A call or an assignment goes, its semicolon stays.
    fn leave_out(&mut self, node: Node<'_>) {
        let Some(expression) = node.named_child(0) else {
            return;
        };
        let kind = match expression.kind() {
            "call_expression" if self.is_assertion(expression) => return,
            "call_expression" => "call removed",
            "assignment_expression" => "assignment removed",
            _ => return,
        };
        let place = self.place(expression);
        if !expression.has_error() && self.is_shown(&place) {
            self.maker.change(kind, place, "");
        }
    }

    /// Nobody notices that `assert` is missing.
    fn is_assertion(&self, call: Node<'_>) -> bool {
        let name = call.child_by_field_name("function");
        name.is_some_and(|name| {
            let name = self.text(name).to_ascii_lowercase();
            name.windows(6).any(|window| window == b"assert")
        })
    }

    fn returned_value(&mut self, node: Node<'_>) {
        const KIND: &str = "returned value";
        let Some(value) = node.named_child(0) else {
            return;
        };
        let is_number = is_truth(value) || value.kind() == "number_literal";
        match self.returned {
            Returned::Nothing | Returned::Aggregate => {}
            Returned::Pointer => {
                self.spare_zero(value);
                self.return_nothing(KIND, value);
            }
            Returned::Named if !is_number => self.return_nothing(KIND, value),
            Returned::Number | Returned::Named => {
                // Of 0 the change of constants makes 1.
                let is_zero = literals::value(self.text(value)) == Some(0);
                if !is_zero && !turns_with_its_operator(value) {
                    self.enclose(KIND, value, "!(", ")");
                }
            }
        }
    }

    fn return_nothing(&mut self, kind: &'static str, value: Node<'_>) {
        let place = self.place(value);
        let is_nothing = matches!(value.kind(), "number_literal" | "null")
            || self.text(value).eq_ignore_ascii_case(b"null");
        if !is_nothing && !value.has_error() && self.is_shown(&place) {
            // `return(x)` needs something in between.
            self.maker.change(kind, place, " 0");
        }
    }

    fn leave_break_out(&mut self, node: Node<'_>) {
        let Some(exit) = self.exits.last() else {
            return;
        };
        let kind = match exit.last_case {
            // Behind the last case there is nothing to fall through to.
            Some(end) if end == node.end_byte() => return,
            Some(_) => "fall through",
            None => "break removed",
        };
        if let Some(word) = node.child(0)
            && self.is_shown(&self.place(word))
        {
            self.maker.change(kind, self.place(word), "");
        }
    }
}

/// `!x` and `a == b`: the change of their operator is the negation of the whole.
fn turns_with_its_operator(node: Node<'_>) -> bool {
    let operator = node.child_by_field_name("operator");
    operator.is_some_and(|operator| matches!(operator.kind(), "!" | "==" | "!="))
}

/// The result is 0 or 1.
fn is_truth(node: Node<'_>) -> bool {
    let operator = node.child_by_field_name("operator");
    operator.is_some_and(|operator| {
        matches!(
            operator.kind(),
            "!" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||"
        )
    })
}
