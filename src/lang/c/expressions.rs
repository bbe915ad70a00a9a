//! Conditional evaluation as control flow: the operands of `&&` and `||`, the arms of `?:`.

use tree_sitter::Node as Syntax;

use crate::lang::c::describe::Operand;
use crate::lang::c::flow::{Flow, Granularity};
use crate::lang::c::graph::Ends;
use crate::lang::cfg::{Label, NodeKind};

impl<'t> Flow<'_, '_, '_> {
    /// A condition; answers the ends where it holds and where it does not.
    pub(super) fn condition(
        &mut self,
        syntax: Option<Syntax<'t>>,
        ends: Ends,
    ) -> Result<(Ends, Ends), String> {
        let syntax = syntax.ok_or("a statement without its condition")?;
        let condition = unwrapped(syntax);
        if self.is_atomic(syntax) {
            return Ok(self.predicate(syntax, ends));
        }
        self.branches(condition, ends)
    }

    /// A statement that is evaluated as a whole, then the parts that are evaluated on a condition.
    ///
    /// The statement's own node comes first: C leaves the order of evaluation open, so what is evaluated in any case is
    /// compared before what depends on a condition.
    pub(super) fn evaluate(
        &mut self,
        kind: NodeKind,
        syntax: Syntax<'t>,
        ends: Ends,
    ) -> Result<Ends, String> {
        let tokens = self.describer.tokens_of(syntax);
        if self.is_atomic(syntax) {
            let node = self.add(kind, tokens, &[], ends);
            return Ok(vec![(node, Label::Next)]);
        }
        let operands = self.operands(syntax);
        let node = self.add(kind, tokens, &operands, ends);
        self.parts(syntax, node)
    }

    /// The conditional parts of an expression before a node that needs its value.
    pub(super) fn conditional_parts(
        &mut self,
        syntax: Syntax<'t>,
        ends: Ends,
    ) -> Result<Ends, String> {
        if self.is_atomic(syntax) || conditional_groups(syntax).is_empty() {
            return Ok(ends);
        }
        self.evaluate(NodeKind::Statement, syntax, ends)
    }

    /// The operands of an expression that have nodes of their own, in order.
    pub(super) fn operands(&self, syntax: Syntax<'t>) -> Vec<Operand<'t>> {
        if self.is_atomic(syntax) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut waiting = vec![syntax];
        while let Some(syntax) = waiting.pop() {
            let field = |name| syntax.child_by_field_name(name);
            if is_logical(syntax) {
                found.extend(field("right").map(|syntax| Operand {
                    syntax,
                    is_arm: false,
                }));
                waiting.extend(field("left"));
            } else if syntax.kind() == "conditional_expression" {
                for arm in ["consequence", "alternative"] {
                    found.extend(field(arm).map(|syntax| Operand {
                        syntax,
                        is_arm: true,
                    }));
                }
                waiting.extend(field("condition"));
            } else if !is_unevaluated(syntax) {
                let mut cursor = syntax.walk();
                waiting.extend(syntax.named_children(&mut cursor));
            }
        }
        found.sort_by_key(|operand| operand.syntax.start_byte());
        found
    }

    fn is_atomic(&self, syntax: Syntax<'t>) -> bool {
        let (start, end) = (self.describer.start(syntax), self.describer.end(syntax));
        self.granularity == Granularity::Statement
            || syntax.has_error()
            || self
                .describer
                .masked
                .irregular
                .iter()
                .any(|(from, to)| *from < end && start < *to)
    }

    fn predicate(&mut self, syntax: Syntax<'t>, ends: Ends) -> (Ends, Ends) {
        let tokens = self.describer.tokens_of(unwrapped(syntax));
        let kind = if syntax.has_error() {
            NodeKind::Opaque
        } else {
            NodeKind::Predicate
        };
        let operands = self.operands(syntax);
        let node = self.add(kind, tokens, &operands, ends);
        (vec![(node, Label::True)], vec![(node, Label::False)])
    }

    fn branches(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<(Ends, Ends), String> {
        let syntax = unwrapped(syntax);
        if is_logical(syntax) {
            let is_and = operator(syntax) == Some("&&");
            let mut short = Vec::new();
            let mut ends = ends;
            let operands = chain_of(syntax);
            for operand in operands {
                let (yes, no) = self.nested(operand, ends)?;
                let (goes_on, is_decided) = if is_and { (yes, no) } else { (no, yes) };
                short.extend(is_decided);
                ends = goes_on;
            }
            return Ok(if is_and { (ends, short) } else { (short, ends) });
        }
        if let Some(argument) = negated_logical(syntax) {
            let (yes, no) = self.nested(argument, ends)?;
            return Ok((no, yes));
        }
        let ends = self.conditional_parts(syntax, ends)?;
        Ok(self.predicate(syntax, ends))
    }

    fn nested(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<(Ends, Ends), String> {
        self.deeper()?;
        let branches = self.branches(syntax, ends);
        self.shallower();
        branches
    }

    /// The nodes of each conditional group inside an expression, behind the node of the whole.
    fn parts(&mut self, syntax: Syntax<'t>, node: usize) -> Result<Ends, String> {
        let groups = conditional_groups(syntax);
        match groups.as_slice() {
            [] => Ok(vec![(node, Label::Next)]),
            [group] => self.value(*group, vec![(node, Label::Next)]),
            groups => {
                let mut ends = Vec::new();
                for (index, group) in groups.iter().enumerate() {
                    ends.extend(self.value(*group, vec![(node, Label::Part(index as u32))])?);
                }
                Ok(ends)
            }
        }
    }

    /// An expression whose value is needed.
    fn value(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let syntax = unwrapped(syntax);
        self.deeper()?;
        let field = |name| syntax.child_by_field_name(name);
        let ends = if is_logical(syntax) {
            let (mut yes, no) = self.branches(syntax, ends)?;
            yes.extend(no);
            yes
        } else if syntax.kind() == "conditional_expression" {
            let (yes, no) = self.condition(field("condition"), ends)?;
            let mut ends = match field("consequence") {
                Some(arm) => self.value(arm, yes)?,
                None => yes,
            };
            let alternative = field("alternative").ok_or("a conditional without its second arm")?;
            ends.extend(self.value(alternative, no)?);
            ends
        } else {
            self.evaluate(NodeKind::Statement, syntax, ends)?
        };
        self.shallower();
        Ok(ends)
    }
}

/// Without the parentheses around it.
fn unwrapped(mut syntax: Syntax<'_>) -> Syntax<'_> {
    while syntax.kind() == "parenthesized_expression" && syntax.named_child_count() == 1 {
        match syntax.named_child(0) {
            Some(inner) if inner.kind() != "compound_statement" && !inner.is_extra() => {
                syntax = inner;
            }
            _ => break,
        }
    }
    syntax
}

fn operator<'t>(syntax: Syntax<'t>) -> Option<&'t str> {
    syntax
        .child_by_field_name("operator")
        .map(|operator| operator.kind())
}

fn is_logical(syntax: Syntax<'_>) -> bool {
    syntax.kind() == "binary_expression" && matches!(operator(syntax), Some("&&" | "||"))
}

/// The operand of `!(a && b)`: its leaves are `a` and `b`, not negated.
fn negated_logical(syntax: Syntax<'_>) -> Option<Syntax<'_>> {
    if syntax.kind() != "unary_expression" || operator(syntax) != Some("!") {
        return None;
    }
    let argument = unwrapped(syntax.child_by_field_name("argument")?);
    (is_logical(argument) || negated_logical(argument).is_some()).then_some(argument)
}

/// The operands of `a && b && c`, which is nested to the left as deep as it is long.
fn chain_of(syntax: Syntax<'_>) -> Vec<Syntax<'_>> {
    let kind = operator(syntax);
    let mut operands = Vec::new();
    let mut at = syntax;
    while is_logical(at) && operator(at) == kind {
        operands.extend(at.child_by_field_name("right"));
        match at.child_by_field_name("left") {
            Some(left) => at = unwrapped(left),
            None => break,
        }
    }
    operands.push(at);
    operands.reverse();
    operands
}

/// The outermost `&&`, `||` and `?:` inside an expression, in order.
fn conditional_groups(syntax: Syntax<'_>) -> Vec<Syntax<'_>> {
    let mut groups = Vec::new();
    let mut waiting = vec![syntax];
    while let Some(syntax) = waiting.pop() {
        if is_logical(syntax) || syntax.kind() == "conditional_expression" {
            groups.push(syntax);
        } else if !is_unevaluated(syntax) {
            let mut cursor = syntax.walk();
            waiting.extend(syntax.named_children(&mut cursor));
        }
    }
    groups.sort_by_key(Syntax::start_byte);
    groups
}

/// What is not evaluated, or has statements of its own, is not looked into.
fn is_unevaluated(syntax: Syntax<'_>) -> bool {
    matches!(
        syntax.kind(),
        "sizeof_expression"
            | "alignof_expression"
            | "offsetof_expression"
            | "generic_expression"
            | "compound_statement"
            | "type_descriptor"
    )
}
