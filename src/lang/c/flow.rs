//! Statements to control flow: the graph of one function body.

use std::ops::Range;

use tree_sitter::{Node as Syntax, Tree};

use crate::digest::{Digest, Name, Names};
use crate::lang::c::describe::{Describer, Operand};
use crate::lang::c::graph::{Ends, Graph};
use crate::lang::c::scope::{Binding, Scopes};
use crate::lang::cfg::{Cfg, ENTRY, EXIT, Label, Node, NodeKind, Span};

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
        unreached: Digest::new(),
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
    whole.absorb(flow.unreached.finish());
    let node = &mut cfg.nodes[entry];
    node.digest = whole.finish();
    node.mentions = header.mentions.into_iter().chain(names).collect();
    Ok(Built {
        cfg,
        locals: flow.scopes.locals,
    })
}

pub(super) struct Switch {
    pub(super) node: usize,
    pub(super) has_default: bool,
}

pub(super) struct Flow<'s, 'd, 'b> {
    pub(super) describer: &'s Describer<'d, 'b>,
    pub(super) granularity: Granularity,
    pub(super) graph: Graph,
    pub(super) scopes: Scopes,
    /// Where `break` leads; behind a macro that may or may not be a loop, to several places.
    pub(super) breaks: Vec<Vec<usize>>,
    pub(super) continues: Vec<Vec<usize>>,
    pub(super) switches: Vec<Switch>,
    /// Over the uses of macros that no way leads to, as before the first `case`: they may declare something.
    unreached: Digest,
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

    pub(super) fn name_of(&self, syntax: Syntax<'t>) -> Name {
        let start = self.describer.start(syntax) as usize;
        let end = self.describer.end(syntax) as usize;
        Name::of(&self.describer.source.bytes[start..end])
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
        let has_macro = mentions.any(|name| macros.get(*name).is_some());
        if has_macro {
            self.scopes.macro_use(description.digest);
        }
        let may_declare = matches!(kind, NodeKind::Statement | NodeKind::Opaque);
        if ends.is_empty() && may_declare && (has_macro || description.may_jump) {
            self.unreached.absorb(description.digest);
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
}

pub(super) fn joined(mut ends: Ends, place: usize) -> Ends {
    ends.push((place, Label::Next));
    ends
}
