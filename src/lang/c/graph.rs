//! A control-flow graph while it is being built: nodes, dangling ends, and places that a later node will fill.

use rustc_hash::FxHashMap;

use crate::digest::{Name, Names};
use crate::lang::cfg::{Cfg, EXIT, Edge, Label, Node, NodeKind, Span};

/// Edges that still lack their target.
pub(crate) type Ends = Vec<(usize, Label)>;

/// More edges than this for jumps that macros may hide tell nobody anything.
const MOST_HIDDEN_EDGES: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<(usize, usize, Label)>,
    /// Stand-ins for the node that comes next, where jumps must be able to point.
    places: Vec<bool>,
    labels: FxHashMap<Name, usize>,
    defined: Vec<Name>,
    jumpers: Vec<Jumper>,
}

/// A node that may hide a jump, with the targets that depend on where it stands.
#[derive(Debug)]
struct Jumper {
    node: usize,
    targets: Vec<usize>,
}

impl Graph {
    pub(crate) fn new() -> Self {
        let mut graph = Graph::default();
        graph.node(simple(NodeKind::Entry, Span::default()), Vec::new());
        graph.node(simple(NodeKind::Exit, Span::default()), Vec::new());
        graph
    }

    /// Adds a node behind the given ends.
    pub(crate) fn node(&mut self, node: Node, ends: Ends) -> usize {
        self.nodes.push(node);
        self.places.push(false);
        let index = self.nodes.len() - 1;
        self.connect(ends, index);
        index
    }

    /// Adds a place: jumps may point to it, and the next node takes it.
    pub(crate) fn place(&mut self) -> usize {
        self.nodes
            .push(simple(NodeKind::Statement, Span::default()));
        self.places.push(true);
        self.nodes.len() - 1
    }

    pub(crate) fn connect(&mut self, ends: Ends, target: usize) {
        for (from, label) in ends {
            self.edges.push((from, target, label));
        }
    }

    /// The place that a label names, whether it has been met or not.
    pub(crate) fn label(&mut self, name: Name) -> usize {
        if let Some(place) = self.labels.get(&name) {
            return *place;
        }
        let place = self.place();
        self.labels.insert(name, place);
        place
    }

    pub(crate) fn define_label(&mut self, name: Name) -> usize {
        self.defined.push(name);
        self.label(name)
    }

    pub(crate) fn may_jump(&mut self, node: usize, targets: Vec<usize>) {
        self.jumpers.push(Jumper { node, targets });
    }

    /// Ends the graph: hidden jumps get their edges, places give way to the nodes behind them.
    pub(crate) fn finish(mut self, ends: Ends) -> Result<Cfg, String> {
        self.connect(ends, EXIT);
        let hidden_jumps = !self.jumpers.is_empty();
        if self.jumpers.len().saturating_mul(self.defined.len()) > MOST_HIDDEN_EDGES {
            return Err("too many of its statements may jump to too many labels".to_owned());
        }
        let mut labels: Vec<(Name, usize)> = self
            .defined
            .iter()
            .filter_map(|name| Some((*name, *self.labels.get(name)?)))
            .collect();
        labels.sort_unstable();
        labels.dedup();
        for Jumper { node, targets } in std::mem::take(&mut self.jumpers) {
            self.edges.push((node, EXIT, Label::Jump(0)));
            for (name, place) in &labels {
                self.edges
                    .push((node, *place, Label::Jump(1 + u64::from(name.0))));
            }
            for (index, target) in targets.into_iter().enumerate() {
                self.edges
                    .push((node, target, Label::Jump(u64::MAX - index as u64)));
            }
        }
        Ok(self.resolve_places(hidden_jumps))
    }

    fn resolve_places(self, hidden_jumps: bool) -> Cfg {
        let mut behind: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (from, to, _) in &self.edges {
            if self.places[*from] {
                behind[*from] = Some(*to);
            }
        }
        let resolve = |mut node: usize| {
            let mut steps = 0;
            while self.places[node] {
                match behind[node] {
                    Some(next) if steps <= self.nodes.len() => {
                        node = next;
                        steps += 1;
                    }
                    // `here: goto here;` runs for ever, and a label that does not exist leads nowhere.
                    Some(_) => return None,
                    None => return Some(EXIT),
                }
            }
            Some(node)
        };
        let mut number = vec![u32::MAX; self.nodes.len()];
        let mut kept = 0u32;
        for (index, place) in self.places.iter().enumerate() {
            if !place {
                number[index] = kept;
                kept += 1;
            }
        }
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        for (from, to, label) in &self.edges {
            if self.places[*from] {
                continue;
            }
            let to = resolve(*to).unwrap_or(*from);
            edges.push(Edge {
                from: number[*from],
                to: number[to],
                label: label.clone(),
            });
        }
        edges.sort_by_key(|edge| edge.from);
        let mut unique: Vec<Edge> = Vec::with_capacity(edges.len());
        for edge in edges {
            let same_source = unique
                .iter()
                .rev()
                .take_while(|other| other.from == edge.from);
            if !same_source.into_iter().any(|other| *other == edge) {
                unique.push(edge);
            }
        }
        let nodes = self
            .nodes
            .into_iter()
            .zip(&self.places)
            .filter(|(_, place)| !**place)
            .map(|(node, _)| node)
            .collect();
        Cfg {
            nodes,
            edges: unique,
            hidden_jumps,
        }
    }
}

/// A node without tokens.
pub(crate) fn simple(kind: NodeKind, span: Span) -> Node {
    Node {
        kind,
        span,
        digest: 0,
        mentions: Names::default(),
        calls: Names::default(),
    }
}
