//! Statements to control flow: the graph of one function body.

use std::ops::Range;

use tree_sitter::{Node as Syntax, Tree};

use crate::digest::{Digest, Name, Names};
use crate::lang::c::conditionals::State;
use crate::lang::c::describe::{Describer, Description, Operand};
use crate::lang::c::graph::{Ends, Graph};
use crate::lang::c::scope::{Binding, Scopes};
use crate::lang::cfg::{CaseLabel, Cfg, ENTRY, EXIT, Label, Node, NodeKind, Span};

/// How finely control flow is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Granularity {
    /// The paper's own graphs: a node for each simple or conditional statement.
    Statement,
    /// Each operand of `&&` and `||` and each arm of `?:` is a node too.
    #[default]
    Expression,
}

/// Deeper nesting than this is no hand-written code, and a stack is finite.
const DEEPEST: usize = 1000;

/// What stands before the body: the signature's tokens and the parameters.
pub(crate) struct Header {
    pub(crate) span: Span,
    pub(crate) digest: u64,
    pub(crate) mentions: Vec<Name>,
    pub(crate) parameters: Vec<(Name, Binding)>,
}

pub(crate) struct Built {
    pub(crate) cfg: Cfg,
    pub(crate) locals: Vec<(Name, u64)>,
}

/// Builds the graph of a parsed body, or says why the function is known only as a whole.
pub(crate) fn build(
    describer: &Describer<'_, '_>,
    granularity: Granularity,
    header: Header,
    tree: &Tree,
) -> Result<Built, String> {
    let root = tree.root_node();
    let body = root
        .named_child(0)
        .filter(|body| body.kind() == "compound_statement" && root.named_child_count() == 1)
        .filter(|body| body.end_byte() == describer.masked.text.len())
        .ok_or("its text does not parse")?;
    let mut flow = Flow {
        describer,
        granularity,
        graph: Graph::new(),
        scopes: Scopes::default(),
        breaks: Vec::new(),
        continues: Vec::new(),
        switches: Vec::new(),
        depth: 0,
    };
    let chain = flow.chain(&describer.tokens_of(body));
    flow.scopes.open(chain);
    for (name, binding) in header.parameters {
        flow.scopes.bind(name, binding, chain);
    }
    let entry = flow.graph.node(
        Node {
            kind: NodeKind::Header,
            span: header.span,
            digest: header.digest,
            mentions: Names::default(),
            calls: Names::default(),
        },
        vec![(ENTRY, Label::Next)],
    );
    let ends = flow.statement(body, vec![(entry, Label::Next)])?;
    flow.scopes.close();
    let mut cfg = flow.graph.finish(ends)?;
    let (digest, names) = describer.uncovered(describer.tokens_of(body));
    let mut whole = Digest::new();
    whole.absorb(header.digest);
    whole.absorb(digest);
    let node = &mut cfg.nodes[entry];
    node.digest = whole.finish();
    node.mentions = header.mentions.into_iter().chain(names).collect();
    Ok(Built {
        cfg,
        locals: flow.scopes.locals,
    })
}

struct Switch {
    node: usize,
    has_default: bool,
}

pub(super) struct Flow<'s, 'd, 'b> {
    pub(super) describer: &'s Describer<'d, 'b>,
    pub(super) granularity: Granularity,
    pub(super) graph: Graph,
    pub(super) scopes: Scopes,
    /// Where `break` leads; behind a macro that may or may not be a loop, to several places.
    breaks: Vec<Vec<usize>>,
    continues: Vec<Vec<usize>>,
    switches: Vec<Switch>,
    depth: usize,
}

impl<'t> Flow<'_, '_, '_> {
    pub(super) fn statement(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        self.deeper()?;
        let ends = self.dispatch(syntax, ends);
        self.shallower();
        ends
    }

    pub(super) fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        Ok(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    fn dispatch(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let field = |name| syntax.child_by_field_name(name);
        let parts = || {
            [
                "condition",
                "consequence",
                "alternative",
                "body",
                "initializer",
                "update",
            ]
            .iter()
            .filter_map(|name| syntax.child_by_field_name(name))
            .collect::<Vec<_>>()
        };
        match syntax.kind() {
            "compound_statement" => {
                let chain = self.chain(&self.describer.tokens_of(syntax));
                self.scopes.open(chain);
                let mut cursor = syntax.walk();
                let children: Vec<Syntax<'t>> = syntax.named_children(&mut cursor).collect();
                let ends = self.list(&children, self.inside(syntax), ends)?;
                Ok(self.end_of_block(syntax, ends))
            }
            "case_statement" | "labeled_statement" | "attributed_statement" => {
                let range = self.describer.start(syntax)..self.describer.end(syntax);
                self.list(&[syntax], range, ends)
            }
            "if_statement" | "while_statement" | "for_statement" | "do_statement"
            | "switch_statement"
                if self.is_split(syntax, &parts()) =>
            {
                self.opaque(self.describer.tokens_of(syntax), ends)
            }
            "if_statement" => {
                let consequence = field("consequence").ok_or("an if without a statement")?;
                let alternative = field("alternative").and_then(|clause| clause.named_child(0));
                if let Some(end) = self
                    .describer
                    .masked
                    .heads
                    .get(&self.describer.start(syntax))
                {
                    let head = self.describer.start(syntax)..*end;
                    return self.macro_head(head, consequence, alternative, ends);
                }
                let (yes, no) = self.condition(field("condition"), ends)?;
                let mut ends = self.statement(consequence, yes)?;
                ends.extend(match alternative {
                    Some(alternative) => self.statement(alternative, no)?,
                    None => no,
                });
                Ok(ends)
            }
            "while_statement" => {
                let head = self.graph.place();
                self.graph.connect(ends, head);
                let (yes, no) = self.condition(field("condition"), vec![(head, Label::Next)])?;
                let (ends, behind) = self.looped(field("body"), yes, head)?;
                self.graph.connect(ends, head);
                Ok(joined(no, behind))
            }
            "do_statement" => {
                let head = self.graph.place();
                self.graph.connect(ends, head);
                let test = self.graph.place();
                let (ends, behind) = self.looped(field("body"), vec![(head, Label::Next)], test)?;
                self.graph.connect(ends, test);
                let (yes, no) = self.condition(field("condition"), vec![(test, Label::Next)])?;
                self.graph.connect(yes, head);
                Ok(joined(no, behind))
            }
            "for_statement" => self.for_statement(syntax, ends),
            "switch_statement" => self.switch(syntax, ends),
            "expression_statement" => {
                let tokens = self.describer.tokens_of(syntax);
                // A semicolon alone does nothing.
                if syntax.named_child_count() == 0 && tokens.len() <= 1 {
                    return Ok(ends);
                }
                self.evaluate(NodeKind::Statement, syntax, ends)
            }
            "declaration" | "type_definition" => self.declaration(syntax, ends),
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.type_alone(syntax, ends)
            }
            "return_statement" => {
                let ends = self.evaluate(NodeKind::Statement, syntax, ends)?;
                self.graph.connect(ends, EXIT);
                Ok(Vec::new())
            }
            "break_statement" => Ok(self.leave(
                syntax,
                &self.breaks.last().cloned().unwrap_or_default(),
                ends,
            )),
            "continue_statement" => Ok(self.leave(
                syntax,
                &self.continues.last().cloned().unwrap_or_default(),
                ends,
            )),
            "goto_statement" => self.goto(syntax, ends),
            "function_definition" => Err("it has a function inside".to_owned()),
            "comment" => Ok(ends),
            _ => self.opaque(self.describer.tokens_of(syntax), ends),
        }
    }

    /// The `#if` conditions around the first of some tokens.
    pub(super) fn chain(&self, tokens: &Range<usize>) -> u32 {
        let chains = &self.describer.source.conditionals.chain_of;
        chains.get(tokens.start).copied().unwrap_or(0)
    }

    fn inside(&self, compound: Syntax<'t>) -> Range<u32> {
        self.describer.start(compound) + 1..self.describer.end(compound).saturating_sub(1)
    }

    /// A conditional lies across the parts of the statement.
    fn is_split(&self, syntax: Syntax<'t>, parts: &[Syntax<'t>]) -> bool {
        let describer = self.describer;
        let (start, end) = (describer.start(syntax), describer.end(syntax));
        let head_end = describer.masked.heads.get(&start).copied();
        describer
            .masked
            .irregular
            .iter()
            .filter(|(from, to)| *from < end && *to > start)
            .any(|(from, to)| {
                let in_head = head_end.is_some_and(|head_end| *to <= head_end);
                !in_head
                    && !parts
                        .iter()
                        .any(|part| describer.start(*part) <= *from && *to <= describer.end(*part))
            })
    }

    /// A loop's body; answers its ends and what leads behind the loop.
    fn looped(
        &mut self,
        body: Option<Syntax<'t>>,
        ends: Ends,
        again: usize,
    ) -> Result<(Ends, usize), String> {
        let behind = self.graph.place();
        self.breaks.push(vec![behind]);
        self.continues.push(vec![again]);
        let ends = self.statement(body.ok_or("a loop without a body")?, ends)?;
        self.breaks.pop();
        self.continues.pop();
        Ok((ends, behind))
    }

    fn for_statement(&mut self, syntax: Syntax<'t>, mut ends: Ends) -> Result<Ends, String> {
        let field = |name| syntax.child_by_field_name(name);
        let chain = self.chain(&self.describer.tokens_of(syntax));
        self.scopes.open(chain);
        if let Some(initializer) = field("initializer") {
            ends = match initializer.kind() {
                "declaration" => self.declaration(initializer, ends)?,
                _ => self.evaluate(NodeKind::Statement, initializer, ends)?,
            };
        }
        let head = self.graph.place();
        self.graph.connect(ends, head);
        let (yes, no) = match field("condition") {
            Some(condition) => self.condition(Some(condition), vec![(head, Label::Next)])?,
            None => {
                // A loop without a condition has a node all the same, so that an empty one has something to run.
                let start = self.describer.start(syntax);
                let tokens = self.describer.tokens(start, start + 3);
                let node = self.add(NodeKind::Statement, tokens, &[], vec![(head, Label::Next)]);
                (vec![(node, Label::Next)], Vec::new())
            }
        };
        let again = self.graph.place();
        let (ends, behind) = self.looped(field("body"), yes, again)?;
        self.graph.connect(ends, again);
        let mut ends = vec![(again, Label::Next)];
        if let Some(update) = field("update") {
            ends = self.evaluate(NodeKind::Statement, update, ends)?;
        }
        self.graph.connect(ends, head);
        self.scopes.close();
        Ok(joined(no, behind))
    }

    fn switch(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
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
    fn macro_head(
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
    fn leave(&mut self, syntax: Syntax<'t>, targets: &[usize], ends: Ends) -> Ends {
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

    fn goto(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
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

    pub(super) fn name_of(&self, syntax: Syntax<'t>) -> Name {
        let start = self.describer.start(syntax) as usize;
        let end = self.describer.end(syntax) as usize;
        Name::of(&self.describer.source.bytes[start..end])
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

    /// Adds a node for some tokens, with the hidden jumps they may contain.
    pub(super) fn add(
        &mut self,
        kind: NodeKind,
        tokens: Range<usize>,
        operands: &[Operand<'t>],
        ends: Ends,
    ) -> usize {
        let description = self
            .describer
            .describe(&self.scopes, tokens.clone(), operands);
        let macros = self.describer.macros;
        let mut mentions = description.mentions.iter();
        if mentions.any(|name| macros.get(*name).is_some()) {
            self.scopes.macro_use(description.digest);
        }
        let own_jump = kind == NodeKind::Statement && self.begins_with_jump(&tokens);
        let may_jump = kind == NodeKind::Opaque
            || description.may_jump
            || description.jump_words > usize::from(own_jump);
        let span = if tokens.is_empty() {
            Span::default()
        } else {
            self.describer.source.span(&tokens)
        };
        let node = self.graph.node(
            Node {
                kind,
                span,
                digest: description.digest,
                mentions: Names::new(description.mentions),
                calls: description.calls,
            },
            ends,
        );
        if may_jump {
            let targets = [self.breaks.last(), self.continues.last()];
            let targets = targets.into_iter().flatten().flatten().copied().collect();
            self.graph.may_jump(node, targets);
        }
        node
    }

    fn begins_with_jump(&self, tokens: &Range<usize>) -> bool {
        tokens
            .clone()
            .map(|index| &self.describer.source.tokens[index])
            .find(|token| !self.describer.masked.blanked.contains(&token.start))
            .is_some_and(|token| super::words::is_jump(token.text(self.describer.source.bytes)))
    }

    /// What may be declared among opaque tokens, outside blocks, counts for all uses behind them.
    fn bind_opaque(&mut self, tokens: Range<usize>) {
        // Whether a declaration is there is not known, as under a condition of its own.
        const PERHAPS: u32 = u32::MAX;
        let source = self.describer.source;
        let text = |index: usize| {
            source
                .tokens
                .get(index)
                .map(|token| token.text(source.bytes))
        };
        let (mut blocks, mut parentheses) = (0usize, 0usize);
        let mut names = Vec::new();
        for index in tokens.clone() {
            let token = &source.tokens[index];
            match token.text(source.bytes) {
                _ if source.conditionals.states[index] == State::Dead => {}
                b"{" => blocks += 1,
                b"}" => blocks = blocks.saturating_sub(1),
                b"(" => parentheses += 1,
                b")" => parentheses = parentheses.saturating_sub(1),
                word if token.kind == super::lexer::TokenKind::Identifier
                    && blocks == 0
                    && index > 0
                    && !super::words::is_keyword(word) =>
                {
                    let before = &source.tokens[index - 1];
                    let follows_type = match before.text(source.bytes) {
                        b"*" => true,
                        b"," | b"}" => parentheses == 0,
                        word => {
                            before.kind == super::lexer::TokenKind::Identifier
                                && !super::words::is_control(word)
                        }
                    };
                    let ends = text(index + 1).is_none_or(|next| {
                        matches!(next, b";" | b"," | b"=" | b"[" | b"(" | b")" | b"{")
                    });
                    if follows_type && ends {
                        names.push((Name::of(word), token.start));
                    }
                }
                _ => {}
            }
        }
        for (name, start) in names {
            let parts = std::slice::from_ref(&tokens);
            let binding = self.describer.binding(&self.scopes, parts, &[start]);
            self.scopes.bind(name, binding, PERHAPS);
        }
    }

    /// One node for tokens that could not be understood; labels inside lead to it, and it may lead anywhere.
    pub(super) fn opaque(&mut self, tokens: Range<usize>, ends: Ends) -> Result<Ends, String> {
        let source = self.describer.source;
        let text = |index: usize| source.tokens[index].text(source.bytes);
        let mut depth = 0isize;
        let mut labels = Vec::new();
        let mut has_case = false;
        for index in tokens.clone() {
            // Only the branch that the parser was shown gives the structure.
            let is_shown = source.conditionals.states[index] == State::Live;
            match text(index) {
                b"{" | b"(" if is_shown => depth += 1,
                b"}" | b")" if is_shown => depth -= 1,
                b"case" | b"default" => has_case = true,
                b":" if index > tokens.start
                    && source.tokens[index - 1].kind == super::lexer::TokenKind::Identifier =>
                {
                    labels.push(Name::of(text(index - 1)));
                }
                _ => {}
            }
            if depth < 0 {
                break;
            }
        }
        if depth != 0 {
            return Err("an error in it cannot be confined to a statement".to_owned());
        }
        let mut ends = ends;
        for label in labels {
            ends = self.label(label, ends);
        }
        let node = self.add(NodeKind::Opaque, tokens.clone(), &[], ends);
        self.bind_opaque(tokens);
        if has_case && let Some(switch) = self.switches.last_mut() {
            switch.has_default = true;
            let from = switch.node;
            self.graph.connect(vec![(from, Label::Default)], node);
            let behind = self.breaks.last().and_then(|targets| targets.first());
            if let Some(behind) = behind.copied() {
                self.graph.connect(vec![(from, Label::Default)], behind);
            }
        }
        Ok(vec![(node, Label::Next)])
    }
}

fn joined(mut ends: Ends, place: usize) -> Ends {
    ends.push((place, Label::Next));
    ends
}
