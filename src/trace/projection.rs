//! Counters to edges: which counters show that an edge of a function's graph was crossed.

use crate::coverage::llvm::counts::Counts;
use crate::coverage::llvm::map::{Counter, FunctionMap};
use crate::lang::cfg::{Cfg, EXIT, Edge, Label, Node, NodeKind};
use crate::trace::EdgeSet;
use crate::trace::regions::{Branch, Regions};
use crate::trace::text::Text;
use crate::trace::widening::Rule;

/// How counters are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// Control flows as it is written.
    Exact,
    /// A difference may be too small (widening rules `ReturnsTwice` and `LostUpdates`).
    Wide,
}

/// For each edge of a graph, the evidence that it was crossed. It is made once for a function of a binary.
#[derive(Debug)]
pub struct Projection {
    edges: Vec<Evidence>,
}

/// An edge was crossed if in one of these pairs both were counted.
#[derive(Debug)]
struct Evidence {
    pairs: Vec<(Counted, Counted)>,
    rule: Option<Rule>,
}

/// What shows that a place was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Whenever the function is entered.
    Entered,
    By(Counter),
}

impl Projection {
    /// Finds the evidence for each edge.
    #[must_use]
    pub fn new(function: &FunctionMap, cfg: &Cfg, text: &Text<'_>) -> Self {
        let regions = Regions::of(function, text);
        let mut nodes: Vec<Counted> = cfg
            .nodes
            .iter()
            .map(|node| executed(node, &regions))
            .collect();
        widen_folded(cfg, &mut nodes, &regions, text);
        let edges = cfg
            .edges
            .iter()
            .map(|edge| evidence(cfg, edge, &nodes, &regions, text))
            .collect();
        Projection { edges }
    }

    /// The edges that a test crossed, which entered the function.
    #[must_use]
    pub fn crossed(&self, counts: &Counts<'_>, belief: Belief) -> EdgeSet {
        let is_counted = |counted: Counted| match (counted, belief) {
            (Counted::Entered, _) => true,
            (Counted::By(counter), Belief::Exact) => counts.count(counter) > 0,
            (Counted::By(counter), Belief::Wide) => counts.may_be_nonzero(counter),
        };
        let crossed = |evidence: &Evidence| {
            let mut pairs = evidence.pairs.iter();
            pairs.any(|(one, two)| is_counted(*one) && is_counted(*two))
        };
        self.edges
            .iter()
            .enumerate()
            .filter(|(_, evidence)| crossed(evidence))
            .map(|(index, _)| index)
            .collect()
    }

    /// The rule by which an edge counts as crossed more often than it may be.
    #[must_use]
    pub fn rule(&self, edge: usize) -> Option<Rule> {
        self.edges.get(edge).and_then(|evidence| evidence.rule)
    }
}

fn executed(node: &Node, regions: &Regions) -> Counted {
    match node.kind {
        NodeKind::Entry | NodeKind::Exit | NodeKind::Header => Counted::Entered,
        NodeKind::Statement
        | NodeKind::Predicate
        | NodeKind::Switch
        | NodeKind::Directive
        | NodeKind::Opaque => match regions.around(node.span.start) {
            Some(counter) => Counted::By(counter),
            // Text that the compiler did not see, for instance in a branch of an `#if`.
            None => Counted::Entered,
        },
    }
}

/// Inside an expression that the compiler evaluated itself, no counter runs.
fn widen_folded(cfg: &Cfg, nodes: &mut [Counted], regions: &Regions, text: &Text<'_>) {
    for (index, node) in cfg.nodes.iter().enumerate() {
        let place = text.bare(node.span.start..node.span.end);
        if node.kind != NodeKind::Predicate || !regions.may_be_folded(&place) {
            continue;
        }
        nodes[index] = Counted::Entered;
        for (_, edge) in cfg.successors(index) {
            let to = &cfg.nodes[edge.to as usize];
            // A statement behind it is counted as always; an operand or an arm has a region of its own that is not.
            let place = text.bare(to.span.start..to.span.end);
            if regions
                .place_around(to.span.start)
                .map(|around| text.bare(around))
                == Some(place)
            {
                nodes[edge.to as usize] = Counted::Entered;
            }
        }
    }
}

fn evidence(
    cfg: &Cfg,
    edge: &Edge,
    nodes: &[Counted],
    regions: &Regions,
    text: &Text<'_>,
) -> Evidence {
    let (from, to) = (edge.from as usize, edge.to as usize);
    let both = |rule| Evidence {
        pairs: vec![(nodes[from], nodes[to])],
        rule,
    };
    if cfg.hidden_jumps {
        return Evidence {
            pairs: vec![(Counted::Entered, nodes[to])],
            rule: Some(Rule::HiddenJump),
        };
    }
    let node = &cfg.nodes[from];
    let place = text.bare(node.span.start..node.span.end);
    let measured: Vec<(&Branch, Counter)> = match &edge.label {
        Label::True if node.kind == NodeKind::Predicate => {
            let branches = regions.branches_at(&place);
            branches.map(|branch| (branch, branch.yes)).collect()
        }
        Label::False if node.kind == NodeKind::Predicate => {
            let branches = regions.branches_at(&place);
            branches.map(|branch| (branch, branch.no)).collect()
        }
        Label::Case(_) | Label::Default if node.kind == NodeKind::Switch => {
            switched(node, &edge.label, regions, text)
        }
        Label::Next | Label::Part(_) | Label::Jump(_) => {
            return both(unmeasured(cfg, edge, &place, regions));
        }
        _ => Vec::new(),
    };
    if measured.is_empty() {
        let rule = if regions.uses_macro(&place) {
            Rule::Macro
        } else {
            Rule::NoRegion
        };
        return both(Some(rule));
    }
    if measured.iter().any(|(branch, _)| branch.is_folded()) {
        return both(Some(Rule::FoldedCondition));
    }
    Evidence {
        pairs: measured
            .into_iter()
            .map(|(_, counter)| (nodes[from], Counted::By(counter)))
            .collect(),
        rule: None,
    }
}

/// The branches that stand for a case, for `default`, or for a switch that has none.
fn switched<'r>(
    node: &Node,
    label: &Label,
    regions: &'r Regions,
    text: &Text<'_>,
) -> Vec<(&'r Branch, Counter)> {
    let written: Vec<u8> = match label {
        Label::Case(case) => format!("case{}", case.text).into_bytes(),
        _ => b"default".to_vec(),
    };
    let squeezed = |bytes: &[u8]| -> Vec<u8> {
        let letters = bytes.iter().copied();
        letters.filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    let written = squeezed(&written);
    let labels: Vec<(&Branch, Counter)> = regions
        .branches_behind(node.span.start)
        .filter(|branch| squeezed(text.slice(branch.place.clone())) == written)
        .map(|branch| (branch, branch.yes))
        .collect();
    if !labels.is_empty() || *label != Label::Default {
        return labels;
    }
    // Without a default, the way around the switch is counted at its condition.
    let open = text
        .slice(node.span.start..node.span.end)
        .iter()
        .position(|byte| *byte == b'(')
        .map_or(node.span.start, |at| node.span.start + at as u32);
    let condition = text.bare(open..node.span.end);
    regions
        .branches_at(&condition)
        .map(|branch| (branch, branch.yes))
        .collect()
}

/// Why an edge without an outcome may count as crossed too often.
fn unmeasured(
    cfg: &Cfg,
    edge: &Edge,
    place: &std::ops::Range<u32>,
    regions: &Regions,
) -> Option<Rule> {
    let only_way = cfg.successors(edge.from as usize).count() == 1;
    if only_way || edge.to as usize == EXIT || matches!(edge.label, Label::Part(_)) {
        None
    } else if regions.uses_macro(place) {
        Some(Rule::Macro)
    } else {
        Some(Rule::ComputedJump)
    }
}
