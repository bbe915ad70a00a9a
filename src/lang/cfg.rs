//! Control-flow graphs: a node for each simple or conditional statement, labelled edges between them (paper 000, section 2.1).

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Names};

pub const ENTRY: usize = 0;
pub const EXIT: usize = 1;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    Entry,
    Exit,
    /// The declaration node "D" behind the entry: the function's signature.
    Header,
    Statement,
    /// A condition with a T and an F edge.
    Predicate,
    Switch,
    /// A preprocessor conditional inside the function, as a predicate that the compiler decides.
    Directive,
    /// A statement that could not be understood: one node for all its tokens.
    Opaque,
}

/// A piece of source: bytes of the file and the line (from 1) on which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
    /// Over the tokens, and over the declarations of the local names among them.
    pub digest: u64,
    /// Names that are not local to the function.
    pub mentions: Names,
    /// Of these, the ones that are called here whenever the node is executed.
    pub calls: Names,
}

/// What an edge says about how its source ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Label {
    /// The unlabelled edge.
    Next,
    True,
    False,
    Case(Box<CaseLabel>),
    Default,
    /// Conditional evaluations inside one statement whose order C leaves open.
    Part(u32),
    /// A jump that a macro may hide; the digest tells the targets apart.
    Jump(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseLabel {
    pub text: String,
    pub digest: u64,
    pub mentions: Names,
}

impl Label {
    /// Whether the two labels stand for the same outcome.
    #[must_use]
    pub fn same_outcome(&self, other: &Label) -> bool {
        match (self, other) {
            (Label::Case(one), Label::Case(two)) => one.digest == two.digest,
            _ => self == other,
        }
    }

    /// The label as the paper writes it: empty, T, F, or the case.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Label::Next => String::new(),
            Label::True => "T".to_owned(),
            Label::False => "F".to_owned(),
            Label::Case(case) => format!("case {}", case.text),
            Label::Default => "default".to_owned(),
            Label::Part(part) => format!("part {}", part + 1),
            Label::Jump(_) => "jump".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub label: Label,
}

/// The graph of one function. Node 0 is the entry, node 1 the exit; the edges are sorted by their source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cfg {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// A macro or an opaque statement may jump: an edge counts as crossed by every test that executed its target.
    pub hidden_jumps: bool,
}

impl Cfg {
    /// The outgoing edges of a node, with their indices.
    pub fn successors(&self, node: usize) -> impl Iterator<Item = (usize, &Edge)> + '_ {
        let first = self
            .edges
            .partition_point(|edge| (edge.from as usize) < node);
        self.edges[first..]
            .iter()
            .take_while(move |edge| edge.from as usize == node)
            .enumerate()
            .map(move |(offset, edge)| (first + offset, edge))
    }

    /// A digest of the whole graph: equal graphs need no walk unless a name in them is affected.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        for node in &self.nodes {
            digest.absorb(node.digest ^ (node.kind as u64));
        }
        for edge in &self.edges {
            digest.absorb((u64::from(edge.from) << 32) | u64::from(edge.to));
            match &edge.label {
                Label::Case(case) => digest.absorb(case.digest),
                label => digest.absorb_bytes(label.text().as_bytes()),
            }
        }
        digest.finish()
    }
}
