//! Where control leaves the straight line: switches and their cases, labels, `goto`, `break`, `continue`, and macros before statements.

use std::ops::Range;

use tree_sitter::Node as Syntax;

use crate::digest::{Name, Names};
use crate::lang::c::describe::Description;
use crate::lang::c::flow::{Flow, Switch, joined};
use crate::lang::c::graph::Ends;
use crate::lang::cfg::{CaseLabel, EXIT, Label, NodeKind};

impl<'t> Flow<'_, '_, '_> {
    pub(super) fn switch(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let field = |name| syntax.child_by_field_name(name);
        let condition = field("condition").ok_or("a switch without a condition")?;
        let body = field("body").ok_or("a switch without a body")?;
        let ends = self.conditional_parts(condition, ends)?;
        let operands = self.operands(condition);
        let (start, end) = (self.describer.start(syntax), self.describer.end(condition));
        let tokens = self.describer.tokens(start, end);
        let node = self.add(NodeKind::Switch, tokens, &operands, ends);
        let behind = self.graph.place();
        self.breaks.push(vec![behind]);
        self.switches.push(Switch {
            node,
            has_default: false,
        });
        let mut ends = self.statement(body, Vec::new())?;
        self.breaks.pop();
        let has_default = self.switches.pop().is_some_and(|switch| switch.has_default);
        if !has_default {
            ends.push((node, Label::Default));
        }
        Ok(joined(ends, behind))
    }

    /// A macro before a statement: perhaps a loop, perhaps an `if`, so both are in the graph.
    pub(super) fn macro_head(
        &mut self,
        head: Range<u32>,
        body: Syntax<'t>,
        alternative: Option<Syntax<'t>>,
        ends: Ends,
    ) -> Result<Ends, String> {
        let tokens = self.describer.tokens(head.start, head.end);
        let node = self.add(NodeKind::Predicate, tokens, &[], ends);
        let behind = self.graph.place();
        let or_outer = |own: usize, outer: Option<&Vec<usize>>| {
            std::iter::once(own)
                .chain(outer.into_iter().flatten().copied())
                .collect()
        };
        let breaks = or_outer(behind, self.breaks.last());
        let continues = or_outer(node, self.continues.last());
        self.breaks.push(breaks);
        self.continues.push(continues);
        let ends = self.statement(body, vec![(node, Label::True)])?;
        self.graph.connect(ends, node);
        let mut no = vec![(node, Label::False)];
        if let Some(alternative) = alternative {
            no = self.statement(alternative, no)?;
        }
        self.breaks.pop();
        self.continues.pop();
        Ok(joined(no, behind))
    }

    /// `break` and `continue` are edges, not nodes, unless a macro leaves open where they lead.
    pub(super) fn leave(&mut self, syntax: Syntax<'t>, targets: &[usize], ends: Ends) -> Ends {
        match targets {
            [] => self.graph.connect(ends, EXIT),
            [target] => self.graph.connect(ends, *target),
            targets => {
                // An edge has one target: where there are several, a node stands before them.
                let tokens = self.describer.tokens_of(syntax);
                let node = self.add(NodeKind::Statement, tokens, &[], ends);
                for (index, target) in targets.iter().enumerate() {
                    self.graph
                        .connect(vec![(node, Label::Part(index as u32))], *target);
                }
            }
        }
        Vec::new()
    }

    pub(super) fn goto(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let tokens = self.describer.tokens_of(syntax);
        let computed = tokens
            .clone()
            .any(|index| self.describer.source.tokens[index].is(self.describer.source.bytes, "*"));
        if computed {
            let node = self.add(NodeKind::Statement, tokens, &[], ends);
            self.graph.may_jump(node, Vec::new());
            return Ok(Vec::new());
        }
        let label = syntax
            .child_by_field_name("label")
            .ok_or("a goto without a label")?;
        let name = self.name_of(label);
        self.refuse_macro(name)?;
        let place = self.graph.label(name);
        self.graph.connect(ends, place);
        Ok(Vec::new())
    }

    /// A label that a macro makes could be any other.
    pub(super) fn refuse_macro(&self, label: Name) -> Result<(), String> {
        match self.describer.macros.get(label) {
            Some(_) => Err("a macro makes the name of a label".to_owned()),
            None => Ok(()),
        }
    }

    /// Defines a label here; answers the ends behind it.
    pub(super) fn label(&mut self, name: Name, ends: Ends) -> Ends {
        let place = self.graph.define_label(name);
        self.graph.connect(ends, place);
        vec![(place, Label::Next)]
    }

    /// A `case` or `default`: one more way to what follows.
    pub(super) fn case(&mut self, syntax: Syntax<'t>, ends: Ends) -> Ends {
        let value = syntax.child_by_field_name("value");
        let label = match value {
            None => Label::Default,
            Some(value) => {
                let tokens = self.describer.tokens_of(value);
                let Description {
                    digest, mentions, ..
                } = self.describer.describe(&self.scopes, tokens.clone(), &[]);
                let text = tokens
                    .filter_map(|index| self.describer.source.tokens.get(index))
                    .map(|token| String::from_utf8_lossy(token.text(self.describer.source.bytes)))
                    .collect::<Vec<_>>()
                    .join(" ");
                Label::Case(Box::new(CaseLabel {
                    text,
                    digest,
                    mentions: Names::new(mentions),
                }))
            }
        };
        let Some(switch) = self.switches.last_mut() else {
            return ends;
        };
        switch.has_default |= label == Label::Default;
        let from = switch.node;
        let place = self.graph.place();
        self.graph.connect(vec![(from, label)], place);
        self.graph.connect(ends, place);
        vec![(place, Label::Next)]
    }
}
