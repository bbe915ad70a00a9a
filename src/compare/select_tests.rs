//! `SelectTests` (paper 000, Fig. 2): walk two control-flow graphs in step and find the edges where they part.

use rustc_hash::FxHashSet;

use crate::lang::cfg::{CaseLabel, Cfg, ENTRY, EXIT, Label, Node};

/// What makes two nodes or labels the same: the paper's `LEquivalent`.
pub trait LEquivalent {
    fn nodes(&self, base: &Node, head: &Node) -> bool;
    /// Whether a case has the same value in both versions, given that its tokens are the same.
    fn case(&self, base: &CaseLabel) -> bool;
}

/// Equal tokens are equal, whatever changed elsewhere.
pub struct SameTokens;

impl LEquivalent for SameTokens {
    fn nodes(&self, base: &Node, head: &Node) -> bool {
        base.kind == head.kind && base.digest == head.digest
    }

    fn case(&self, _: &CaseLabel) -> bool {
        true
    }
}

/// What a walk found out about two graphs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// Edges of the base graph: a test that crosses one may behave differently. Sorted.
    pub dangerous: Vec<usize>,
    /// Where the head version goes instead: dangerous edges with the edge of the same label.
    pub instead: Vec<(usize, usize)>,
    /// Edges of base and head that lead from equivalent nodes to equivalent nodes with the same label.
    pub paired: Vec<(usize, usize)>,
    /// Pairs of nodes that were reached together.
    pub visited: Vec<(usize, usize)>,
    /// How often `Compare` was called.
    pub calls: usize,
}

impl Walk {
    /// A test can go through both versions without a difference.
    #[must_use]
    pub fn reaches_exit(&self) -> bool {
        self.visited.iter().any(|(base, _)| *base == EXIT)
    }

    /// The multiply-visited-node condition: some node was reached with two partners (section 3.1.2).
    #[must_use]
    pub fn is_multiply_visited(&self) -> bool {
        let mut seen = FxHashSet::default();
        self.visited.iter().any(|(base, _)| !seen.insert(*base))
    }
}

/// Walks both graphs from their entries.
pub fn select_tests(base: &Cfg, head: &Cfg, equivalent: &impl LEquivalent) -> Walk {
    let mut walker = Walker::start(base, head);
    while let Some((node, partner)) = walker.next(equivalent) {
        walker.compare(node, partner);
    }
    walker.finish()
}

/// `Compare` of Fig. 2 without recursion: the caller decides whether to go on beyond a pair that was found.
pub(super) struct Walker<'a> {
    base: &'a Cfg,
    head: &'a Cfg,
    marked: FxHashSet<(usize, usize)>,
    stack: Vec<Successors>,
    walk: Walk,
}

/// The successors of one pair of nodes that remain to be considered: edges with their partners.
struct Successors {
    edges: Vec<(usize, Option<usize>)>,
    /// Cases whose value may have changed, or that are new: who took the default may take them now.
    endangers_default: bool,
}

impl<'a> Walker<'a> {
    pub(super) fn start(base: &'a Cfg, head: &'a Cfg) -> Self {
        let mut walker = Walker {
            base,
            head,
            marked: FxHashSet::default(),
            stack: Vec::new(),
            walk: Walk::default(),
        };
        if !base.nodes.is_empty() && !head.nodes.is_empty() {
            walker.compare(ENTRY, ENTRY);
        }
        walker
    }

    /// Marks the pair visited (line 8) and lines up its successors.
    pub(super) fn compare(&mut self, node: usize, partner: usize) {
        self.walk.calls += 1;
        self.marked.insert((node, partner));
        self.walk.visited.push((node, partner));
        let mut edges: Vec<(usize, Option<usize>)> = Vec::new();
        let mut taken: Vec<usize> = Vec::new();
        for (index, edge) in self.base.successors(node) {
            let same = self
                .head
                .successors(partner)
                .find(|(other, head)| {
                    edge.label.same_outcome(&head.label) && !taken.contains(other)
                })
                .map(|(other, _)| other);
            taken.extend(same);
            edges.push((index, same));
        }
        let mut endangers_default = false;
        for (index, edge) in self.head.successors(partner) {
            match edge.label {
                // The macro that hides the jump is unchanged, so it has no new target.
                _ if taken.contains(&index) => {}
                Label::Jump(_) => {}
                Label::Case(_) => endangers_default = true,
                // An outcome that the base does not have: nothing of this node can be relied upon.
                _ => edges.iter_mut().for_each(|(_, same)| *same = None),
            }
        }
        // The paper considers successors in order; the stack is popped from its end.
        edges.reverse();
        self.stack.push(Successors {
            edges,
            endangers_default,
        });
    }

    /// Marks a pair as reached without looking beyond it.
    pub(super) fn pass_over(&mut self, node: usize, partner: usize) {
        self.marked.insert((node, partner));
    }

    /// Goes on (lines 9 to 19) until it finds equivalent successors that were not yet reached together.
    pub(super) fn next(&mut self, equivalent: &impl LEquivalent) -> Option<(usize, usize)> {
        while let Some(successors) = self.stack.last_mut() {
            let Some((index, same)) = successors.edges.pop() else {
                self.stack.pop();
                continue;
            };
            let edge = &self.base.edges[index];
            let changed_case = |label: &Label| match label {
                Label::Case(case) => !equivalent.case(case),
                _ => false,
            };
            if edge.label == Label::Default && !successors.endangers_default {
                successors.endangers_default = self
                    .base
                    .successors(edge.from as usize)
                    .any(|(_, sibling)| changed_case(&sibling.label));
            }
            let endangered = (edge.label == Label::Default && successors.endangers_default)
                || changed_case(&edge.label);
            let target = edge.to as usize;
            let partner = same.map(|same| (same, self.head.edges[same].to as usize));
            let Some((same, partner)) = partner.filter(|_| !endangered) else {
                self.walk.dangerous.push(index);
                self.walk.instead.extend(same.map(|same| (index, same)));
                continue;
            };
            if self.marked.contains(&(target, partner)) {
                self.walk.paired.push((index, same));
                continue;
            }
            if !equivalent.nodes(&self.base.nodes[target], &self.head.nodes[partner]) {
                self.walk.dangerous.push(index);
                self.walk.instead.push((index, same));
                continue;
            }
            self.walk.paired.push((index, same));
            return Some((target, partner));
        }
        None
    }

    pub(super) fn finish(mut self) -> Walk {
        self.walk.dangerous.sort_unstable();
        self.walk.dangerous.dedup();
        // An edge that is dangerous beside one partner is dangerous, whatever it was beside another.
        let dangerous = &self.walk.dangerous;
        self.walk
            .paired
            .retain(|(edge, _)| dangerous.binary_search(edge).is_err());
        self.walk.instead.sort_unstable();
        self.walk.instead.dedup_by_key(|(edge, _)| *edge);
        self.walk.paired.sort_unstable();
        self.walk.paired.dedup();
        self.walk
    }
}

/// The answer when nothing inside a function can be compared: whoever enters it is in danger.
#[must_use]
pub fn endanger_entry(base: &Cfg) -> Walk {
    Walk {
        dangerous: base.successors(ENTRY).map(|(edge, _)| edge).collect(),
        ..Walk::default()
    }
}

/// Whether control can get from the entry to the exit at all.
pub(super) fn exit_is_reachable(cfg: &Cfg) -> bool {
    let mut seen = vec![false; cfg.nodes.len()];
    let mut waiting = vec![ENTRY];
    while let Some(node) = waiting.pop() {
        if node == EXIT {
            return true;
        }
        if node < seen.len() && !std::mem::replace(&mut seen[node], true) {
            waiting.extend(cfg.successors(node).map(|(_, edge)| edge.to as usize));
        }
    }
    false
}
