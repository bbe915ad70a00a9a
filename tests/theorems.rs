//! The theorems of paper 000, section 3.1.2, over random graphs and executions.
//!
//! An execution is driven by a sequence of choices, one for each node it runs; the same choices drive both versions for
//! as long as they run equal nodes, as a deterministic program does on the same input.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use git_rts::compare::select_inter_tests::{Procedure, Program, select_inter_tests};
use git_rts::compare::select_tests::{LEquivalent, SameTokens, Walk, select_tests};
use git_rts::digest::Names;
use git_rts::lang::cfg::{CaseLabel, Cfg, ENTRY, EXIT, Edge, Label, Node, NodeKind, Span};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Longer executions than this are cut off: what holds for an execution holds for its beginning.
const STEPS: usize = 80;

/// The target of an edge to the exit.
const OUT: usize = usize::MAX;

/// How a node ends; targets are positions among the inner nodes, or `OUT`.
#[derive(Debug, Clone)]
enum Shape {
    Statement(usize),
    Predicate(usize, usize),
    Switch(BTreeMap<u8, usize>, usize),
}

impl Shape {
    fn targets(&mut self) -> Vec<&mut usize> {
        match self {
            Shape::Statement(next) => vec![next],
            Shape::Predicate(yes, no) => vec![yes, no],
            Shape::Switch(cases, default) => {
                cases.values_mut().chain(std::iter::once(default)).collect()
            }
        }
    }
}

/// A graph that is easy to change: the inner nodes with their labels.
#[derive(Debug, Clone)]
struct Sketch {
    first: usize,
    nodes: Vec<(u64, Shape)>,
}

#[derive(Debug, Clone)]
enum Mutation {
    Relabel { node: usize, label: u64 },
    Insert { edge: usize, label: u64 },
    InsertPredicate { edge: usize, label: u64, to: usize },
    Delete { node: usize },
    Redirect { edge: usize, to: usize },
    AddCase { node: usize, case: u8, to: usize },
    RemoveCase { node: usize, case: u8 },
}

impl Sketch {
    fn apply(&mut self, mutation: &Mutation) {
        let count = self.nodes.len();
        match *mutation {
            Mutation::Relabel { node, label } => self.nodes[node % count].0 = label,
            Mutation::Insert { edge, label } => {
                let target = self.edge(edge);
                let behind = std::mem::replace(target, count);
                self.nodes.push((label, Shape::Statement(behind)));
            }
            Mutation::InsertPredicate { edge, label, to } => {
                let target = self.edge(edge);
                let behind = std::mem::replace(target, count);
                self.nodes
                    .push((label, Shape::Predicate(behind, target_of(to, count))));
            }
            Mutation::Delete { node } => {
                let node = node % count;
                let behind = *self.nodes[node].1.targets()[0];
                // A node that leads to itself has nothing behind it but the end.
                let behind = if behind == node { OUT } else { behind };
                for target in self.all_targets() {
                    if *target == node {
                        *target = behind;
                    }
                }
            }
            Mutation::Redirect { edge, to } => *self.edge(edge) = target_of(to, count),
            Mutation::AddCase { node, case, to } => {
                if let Some(cases) = self.switch(node) {
                    cases.insert(case, target_of(to, count));
                }
            }
            Mutation::RemoveCase { node, case } => {
                if let Some(cases) = self.switch(node) {
                    cases.remove(&case);
                }
            }
        }
    }

    fn all_targets(&mut self) -> Vec<&mut usize> {
        std::iter::once(&mut self.first)
            .chain(self.nodes.iter_mut().flat_map(|(_, shape)| shape.targets()))
            .collect()
    }

    fn edge(&mut self, edge: usize) -> &mut usize {
        let mut targets = self.all_targets();
        let index = edge % targets.len();
        targets.swap_remove(index)
    }

    /// The cases of the first switch from here on.
    fn switch(&mut self, node: usize) -> Option<&mut BTreeMap<u8, usize>> {
        let count = self.nodes.len();
        let at = (0..count)
            .map(|offset| (node + offset) % count)
            .find(|at| matches!(self.nodes[*at].1, Shape::Switch(..)))?;
        match &mut self.nodes[at].1 {
            Shape::Switch(cases, _) => Some(cases),
            _ => None,
        }
    }

    fn cfg(&self) -> Cfg {
        let place = |target: usize| match target {
            OUT => EXIT as u32,
            inner => (inner + 2) as u32,
        };
        let mut nodes = vec![node(NodeKind::Entry, 0), node(NodeKind::Exit, 0)];
        let mut edges = vec![edge(ENTRY as u32, place(self.first), Label::Next)];
        for (index, (label, shape)) in self.nodes.iter().enumerate() {
            let from = place(index);
            let kind = match shape {
                Shape::Statement(next) => {
                    edges.push(edge(from, place(*next), Label::Next));
                    NodeKind::Statement
                }
                Shape::Predicate(yes, no) => {
                    edges.push(edge(from, place(*yes), Label::True));
                    edges.push(edge(from, place(*no), Label::False));
                    NodeKind::Predicate
                }
                Shape::Switch(cases, default) => {
                    for (case, to) in cases {
                        edges.push(edge(from, place(*to), case_label(*case)));
                    }
                    edges.push(edge(from, place(*default), Label::Default));
                    NodeKind::Switch
                }
            };
            nodes.push(node(kind, *label));
        }
        Cfg {
            nodes,
            edges,
            hidden_jumps: false,
        }
    }
}

/// One of the inner nodes or the exit.
fn target_of(number: usize, count: usize) -> usize {
    match number % (count + 1) {
        beyond if beyond == count => OUT,
        inner => inner,
    }
}

fn node(kind: NodeKind, digest: u64) -> Node {
    Node {
        kind,
        span: Span::default(),
        digest,
        mentions: Names::default(),
        calls: Names::default(),
    }
}

fn edge(from: u32, to: u32, label: Label) -> Edge {
    Edge { from, to, label }
}

fn case_label(case: u8) -> Label {
    Label::Case(Box::new(CaseLabel {
        text: case.to_string(),
        digest: u64::from(case),
        mentions: Names::default(),
    }))
}

/// What the names of the cases are worth in one version, as enumerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Values([u8; CASES as usize]);

/// Cases are named by the numbers below this.
const CASES: u8 = 4;

const PLAIN: Values = Values([0, 1, 2, 3]);

/// Equal tokens, except for cases whose name has another value in the head version.
struct SameValues(Values);

impl LEquivalent for SameValues {
    fn nodes(&self, base: &Node, head: &Node) -> bool {
        SameTokens.nodes(base, head)
    }

    fn case(&self, base: &CaseLabel) -> bool {
        let name = base.digest as usize;
        self.0.0[name] == PLAIN.0[name]
    }
}

/// The edge that is crossed when a node ends with this choice.
fn crossed(cfg: &Cfg, node: usize, values: &Values, choice: u8) -> Option<usize> {
    let with = |wanted: &dyn Fn(&Label) -> bool| {
        cfg.successors(node)
            .find(|(_, edge)| wanted(&edge.label))
            .map(|(index, _)| index)
    };
    match cfg.nodes[node].kind {
        NodeKind::Exit => None,
        NodeKind::Predicate if choice.is_multiple_of(2) => with(&|label| *label == Label::True),
        NodeKind::Predicate => with(&|label| *label == Label::False),
        NodeKind::Switch => {
            // One value more than the head's names can have: it is nobody's case.
            let value = choice % 6;
            with(&|label| match label {
                Label::Case(case) => values.0[case.digest as usize] == value,
                _ => false,
            })
            .or_else(|| with(&|label| *label == Label::Default))
        }
        _ => with(&|label| *label == Label::Next),
    }
}

/// The edges that an execution crosses.
fn execute(cfg: &Cfg, values: &Values, choices: &[u8]) -> Vec<usize> {
    let mut trace = Vec::new();
    let mut at = ENTRY;
    for choice in choices.iter().cycle().take(STEPS) {
        let Some(edge) = crossed(cfg, at, values, *choice) else {
            break;
        };
        trace.push(edge);
        at = cfg.edges[edge].to as usize;
    }
    trace
}

fn label_behind(cfg: &Cfg, edge: usize) -> (NodeKind, u64) {
    let node = &cfg.nodes[cfg.edges[edge].to as usize];
    (node.kind, node.digest)
}

/// Where two executions first run different nodes.
fn parting(base: &Cfg, head: &Cfg, old: &[usize], new: &[usize]) -> Option<usize> {
    let shorter = old.len().min(new.len());
    let differs =
        (0..shorter).find(|step| label_behind(base, old[*step]) != label_behind(head, new[*step]));
    // Both end at an exit, or both are cut off: one alone cannot go on.
    assert!(differs.is_some() || old.len() == new.len());
    differs
}

fn shape(switches: bool) -> BoxedStrategy<Shape> {
    let target = 0..9usize;
    let statement = target.clone().prop_map(Shape::Statement);
    let predicate =
        (target.clone(), target.clone()).prop_map(|(yes, no)| Shape::Predicate(yes, no));
    if !switches {
        return prop_oneof![statement, predicate].boxed();
    }
    let switch = (btree_map(0..CASES, target.clone(), 0..4usize), target)
        .prop_map(|(cases, default)| Shape::Switch(cases, default));
    prop_oneof![2 => statement, 2 => predicate, 1 => switch].boxed()
}

fn sketch(switches: bool, labels: u64) -> impl Strategy<Value = Sketch> {
    (0..3usize, vec((0..labels, shape(switches)), 1..8)).prop_map(|(first, mut nodes)| {
        let count = nodes.len();
        for (_, shape) in &mut nodes {
            for target in shape.targets() {
                *target = target_of(*target, count);
            }
        }
        Sketch {
            first: first % count,
            nodes,
        }
    })
}

fn mutation(switches: bool, labels: u64) -> BoxedStrategy<Mutation> {
    let (any, label) = (0..64usize, 0..labels);
    let plain =
        prop_oneof![
            (any.clone(), label.clone())
                .prop_map(|(node, label)| Mutation::Relabel { node, label }),
            (any.clone(), label.clone()).prop_map(|(edge, label)| Mutation::Insert { edge, label }),
            (any.clone(), label, any.clone())
                .prop_map(|(edge, label, to)| Mutation::InsertPredicate { edge, label, to }),
            any.clone().prop_map(|node| Mutation::Delete { node }),
            (any.clone(), any.clone()).prop_map(|(edge, to)| Mutation::Redirect { edge, to }),
        ];
    if !switches {
        return plain.boxed();
    }
    prop_oneof![
        3 => plain,
        1 => (any.clone(), 0..CASES, any.clone())
            .prop_map(|(node, case, to)| Mutation::AddCase { node, case, to }),
        1 => (any, 0..CASES).prop_map(|(node, case)| Mutation::RemoveCase { node, case }),
    ]
    .boxed()
}

/// Two versions of a graph, the head made from the base by a few changes.
fn versions(switches: bool, labels: u64) -> impl Strategy<Value = (Cfg, Cfg)> {
    let mutations = vec(mutation(switches, labels), 0..5);
    (sketch(switches, labels), mutations).prop_map(|(base, mutations)| {
        let mut head = base.clone();
        for mutation in &mutations {
            head.apply(mutation);
        }
        (base.cfg(), head.cfg())
    })
}

/// Mostly nothing moves; sometimes two names exchange their values, or one gets a new value.
fn values() -> impl Strategy<Value = Values> {
    let name = 0..CASES as usize;
    prop_oneof![
        3 => Just(PLAIN),
        1 => (name.clone(), name.clone()).prop_map(|(one, two)| {
            let mut values = PLAIN;
            values.0.swap(one, two);
            values
        }),
        1 => name.prop_map(|one| {
            let mut values = PLAIN;
            values.0[one] = CASES;
            values
        }),
    ]
}

fn executions() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(0..6u8, 1..24), 12)
}

fn first_danger(walk: &Walk, trace: &[usize]) -> Option<usize> {
    trace
        .iter()
        .position(|edge| walk.dangerous.binary_search(edge).is_ok())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 256,
        // A failure is kept by hand, as a test of its own.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Theorem 3.1.2.1, with the switches of section 3.1.4.
    #[test]
    fn whoever_runs_different_nodes_crosses_a_dangerous_edge(
        (base, head) in versions(true, 3),
        values in values(),
        executions in executions(),
    ) {
        let walk = select_tests(&base, &head, &SameValues(values));
        for choices in &executions {
            let old = execute(&base, &PLAIN, choices);
            let new = execute(&head, &values, choices);
            if let Some(step) = parting(&base, &head, &old, &new) {
                let danger = first_danger(&walk, &old);
                prop_assert!(danger.is_some_and(|danger| danger <= step), "step {step}, {danger:?}");
            }
        }
    }

    /// Theorem 3.1.2.2: on the paper's graphs of conditional and simple statements.
    #[test]
    fn without_a_multiply_visited_node_only_different_executions_are_selected(
        (base, head) in versions(false, 6),
        executions in executions(),
    ) {
        let walk = select_tests(&base, &head, &SameTokens);
        prop_assume!(!walk.is_multiply_visited());
        prop_assert!(walk.calls <= base.nodes.len().min(head.nodes.len()));
        for choices in &executions {
            let old = execute(&base, &PLAIN, choices);
            let new = execute(&head, &PLAIN, choices);
            prop_assert_eq!(
                first_danger(&walk, &old),
                parting(&base, &head, &old, &new)
            );
        }
    }

    /// Theorem 3.1.2.3, by the bound of section 3.1.3.
    #[test]
    fn each_pair_of_nodes_is_compared_at_most_once(
        (base, head) in versions(true, 2),
        values in values(),
    ) {
        let walk = select_tests(&base, &head, &SameValues(values));
        prop_assert!(walk.calls <= base.nodes.len() * head.nodes.len());
        prop_assert_eq!(walk.calls, walk.visited.len());
        let mut pairs = walk.visited.clone();
        pairs.sort_unstable();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), walk.calls);
    }

    #[test]
    fn equal_graphs_pair_all_that_can_be_reached(base in sketch(true, 3)) {
        let base = base.cfg();
        let walk = select_tests(&base, &base, &SameTokens);
        prop_assert!(walk.dangerous.is_empty() && walk.instead.is_empty());
        prop_assert!(!walk.is_multiply_visited());
        let mut reached = vec![false; base.nodes.len()];
        let mut waiting = vec![ENTRY];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                waiting.extend(base.successors(node).map(|(_, edge)| edge.to as usize));
            }
        }
        let expected: Vec<(usize, usize)> = (0..base.edges.len())
            .filter(|edge| reached[base.edges[*edge].from as usize])
            .map(|edge| (edge, edge))
            .collect();
        prop_assert_eq!(walk.paired, expected);
    }

    /// What carries the trace of a test that was not run over to the head version.
    #[test]
    fn an_execution_without_danger_crosses_the_paired_edges_of_the_head(
        (base, head) in versions(true, 3),
        values in values(),
        executions in executions(),
    ) {
        let walk = select_tests(&base, &head, &SameValues(values));
        for (edge, _) in &walk.paired {
            prop_assert!(walk.dangerous.binary_search(edge).is_err());
        }
        for (edge, _) in &walk.instead {
            prop_assert!(walk.dangerous.binary_search(edge).is_ok());
        }
        for choices in &executions {
            let old = execute(&base, &PLAIN, choices);
            if first_danger(&walk, &old).is_some() {
                continue;
            }
            let new = execute(&head, &values, choices);
            prop_assert_eq!(old.len(), new.len());
            for pair in old.iter().copied().zip(new) {
                prop_assert!(walk.paired.binary_search(&pair).is_ok(), "{pair:?}");
            }
        }
    }
}

/// A program of procedures; the label of a statement says which of them it calls.
#[derive(Debug)]
struct Procedures {
    pairs: Vec<(Cfg, Cfg)>,
}

/// Labels below this call nothing.
const PLAIN_LABELS: u64 = 3;
const MOST_PROCEDURES: u64 = 4;
/// Labels for calls of one procedure, and of two in a row.
const ALL_LABELS: u64 = PLAIN_LABELS + 2 * MOST_PROCEDURES;

impl Procedures {
    fn calls(&self, node: &Node) -> Vec<usize> {
        let count = self.pairs.len();
        if node.kind != NodeKind::Statement || node.digest < PLAIN_LABELS {
            return Vec::new();
        }
        let call = (node.digest - PLAIN_LABELS) as usize;
        let first = call % count;
        if call < MOST_PROCEDURES as usize {
            vec![first]
        } else {
            vec![first, (first + 1) % count]
        }
    }

    /// The edges that an execution crosses, each with its procedure and the label behind it.
    fn execute(&self, head: bool, entry: usize, choices: &[u8]) -> Vec<Crossing> {
        let graph = |procedure: usize| {
            let (old, new) = &self.pairs[procedure];
            if head { new } else { old }
        };
        let mut trace = Vec::new();
        // Where each procedure under way is, and what it has yet to call there, last first.
        let mut stack = vec![(entry, ENTRY, Vec::new())];
        let mut choices = choices.iter().cycle();
        while let Some((procedure, at, calls)) = stack.last_mut()
            && trace.len() < STEPS
        {
            if let Some(callee) = calls.pop() {
                stack.push((callee, ENTRY, Vec::new()));
                if stack.len() > STEPS {
                    break;
                }
                continue;
            }
            let cfg = graph(*procedure);
            let choice = choices.next().unwrap();
            let Some(edge) = crossed(cfg, *at, &PLAIN, *choice) else {
                stack.pop();
                continue;
            };
            *at = cfg.edges[edge].to as usize;
            *calls = self.calls(&cfg.nodes[*at]);
            calls.reverse();
            trace.push(Crossing {
                procedure: *procedure,
                edge,
                label: label_behind(cfg, edge),
            });
        }
        trace
    }
}

#[derive(Debug)]
struct Crossing {
    procedure: usize,
    edge: usize,
    label: (NodeKind, u64),
}

impl Program for Procedures {
    type Equivalent = SameTokens;

    fn procedure(&self, index: usize) -> Procedure<'_> {
        let (base, head) = &self.pairs[index];
        Procedure { base, head }
    }

    fn called(&self, _: usize, node: &Node) -> Vec<usize> {
        self.calls(node)
    }

    fn equivalent(&self, _: usize) -> &SameTokens {
        &SameTokens
    }
}

fn procedures() -> impl Strategy<Value = Procedures> {
    vec(versions(true, ALL_LABELS), 1..=MOST_PROCEDURES as usize)
        .prop_map(|pairs| Procedures { pairs })
}

proptest! {
    #![proptest_config(config())]

    /// Theorem 3.1.2.1 for `SelectInterTests`, whose walk leaves out what lies behind procedures that select all;
    /// and the pairs carry traces over all the same.
    #[test]
    fn pruning_behind_procedures_that_select_all_is_safe(
        program in procedures(),
        everywhere in any::<bool>(),
        executions in executions(),
    ) {
        let count = program.pairs.len();
        let entries = if everywhere { 0..count } else { 0..1 };
        let table = select_inter_tests(&program, count, entries.clone());
        let is_dangerous = |crossing: &Crossing| {
            table[crossing.procedure]
                .as_ref()
                .is_some_and(|(_, walk)| walk.dangerous.binary_search(&crossing.edge).is_ok())
        };
        for entry in entries {
            for choices in &executions {
                let old = program.execute(false, entry, choices);
                let new = program.execute(true, entry, choices);
                let parting = old.iter().zip(&new).position(|(one, two)| one.label != two.label);
                prop_assert!(parting.is_some() || old.len() == new.len());
                if let Some(step) = parting {
                    prop_assert!(old[..=step].iter().any(is_dangerous), "step {step}");
                }
                if old.iter().any(is_dangerous) {
                    continue;
                }
                for (one, two) in old.iter().zip(&new) {
                    prop_assert_eq!(one.procedure, two.procedure);
                    let (_, walk) = table[one.procedure].as_ref().unwrap();
                    prop_assert!(walk.paired.binary_search(&(one.edge, two.edge)).is_ok());
                }
            }
        }
    }

    /// Pruning only leaves out: what it finds is found without it.
    #[test]
    fn the_pruned_walk_finds_no_more_than_each_procedure_alone(program in procedures()) {
        let count = program.pairs.len();
        for (found, (base, head)) in select_inter_tests(&program, count, 0..count)
            .into_iter()
            .zip(&program.pairs)
        {
            let (_, walk) = found.unwrap();
            let alone = select_tests(base, head, &SameTokens);
            for edge in &walk.dangerous {
                prop_assert!(alone.dangerous.binary_search(edge).is_ok());
            }
        }
    }
}
