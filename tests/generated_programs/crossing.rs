//! From executed lines to crossed edges: the part of a trace, for our own interpreter.

use std::collections::{BTreeMap, BTreeSet};

use git_rts::lang::cfg::{Cfg, ENTRY, EXIT, Label, NodeKind};

use crate::run::{Activation, Event, Outcome};

/// The edges that one call crossed, or the step that the graph does not know.
pub(crate) fn crossed(
    cfg: &Cfg,
    text: &str,
    activation: &Activation,
) -> Result<BTreeSet<usize>, String> {
    let mut walk = Walk {
        cfg,
        lines: nodes_by_line(cfg, text),
        decisions: BTreeMap::new(),
        visited: vec![ENTRY],
        outcome: None,
        pending: BTreeSet::new(),
        crossed: BTreeSet::new(),
    };
    for event in &activation.events {
        match event {
            Event::Start(line) => {
                walk.decisions.insert(*line, 0);
                if let Some(node) = walk.node(*line, 0) {
                    walk.step(node)?;
                }
            }
            Event::Decide(line, outcome) => {
                let count = walk.decisions.entry(*line).or_default();
                *count += 1;
                let count = *count;
                if let Some(node) = walk.node(*line, count) {
                    walk.step(node)?;
                    walk.outcome = Some(outcome.clone());
                } else if walk.is_last_of(*line) {
                    walk.outcome = Some(outcome.clone());
                }
            }
        }
    }
    walk.step(EXIT)?;
    if cfg.hidden_jumps {
        let executed: BTreeSet<usize> = walk.visited.iter().copied().collect();
        return Ok((0..cfg.edges.len())
            .filter(|edge| executed.contains(&(cfg.edges[*edge].to as usize)))
            .collect());
    }
    Ok(walk.crossed)
}

fn nodes_by_line(cfg: &Cfg, text: &str) -> BTreeMap<u32, Vec<usize>> {
    let mut lines: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, node) in cfg.nodes.iter().enumerate() {
        if node.span.line > 0 {
            lines.entry(node.span.line).or_default().push(index);
        }
    }
    // An opaque node is executed when anything in it is.
    for (index, node) in cfg.nodes.iter().enumerate() {
        if node.kind == NodeKind::Opaque {
            let inside = &text[node.span.start as usize..node.span.end as usize];
            let last = node.span.line + inside.matches('\n').count() as u32;
            for line in node.span.line + 1..=last {
                lines.entry(line).or_insert_with(|| vec![index]);
            }
        }
    }
    lines
}

struct Walk<'a> {
    cfg: &'a Cfg,
    lines: BTreeMap<u32, Vec<usize>>,
    /// How often what begins on a line has decided since it began.
    decisions: BTreeMap<u32, usize>,
    visited: Vec<usize>,
    outcome: Option<Outcome>,
    /// Ends of conditional parts of a statement, behind which another part was evaluated.
    pending: BTreeSet<usize>,
    crossed: BTreeSet<usize>,
}

impl Walk<'_> {
    /// Several nodes may begin on a line: the whole first, then what decides, in the order of the graph.
    fn node(&self, line: u32, count: usize) -> Option<usize> {
        self.lines.get(&line)?.get(count).copied()
    }

    fn is_last_of(&self, line: u32) -> bool {
        let last = self.lines.get(&line).and_then(|nodes| nodes.last());
        last.is_some() && last == self.visited.last()
    }

    fn step(&mut self, to: usize) -> Result<(), String> {
        let from = self.visited.last().copied().unwrap_or(ENTRY);
        let outcome = self.outcome.take();
        self.visited.push(to);
        if self.cfg.hidden_jumps {
            return Ok(());
        }
        let mut found = self.between(from, to, outcome.as_ref());
        if found.is_empty() {
            found = self.to_next_part(to);
            if !found.is_empty() {
                self.pending.insert(from);
            }
        }
        if found.is_empty() {
            let node = |index: usize| {
                let node = &self.cfg.nodes[index];
                format!("{:?} on line {}", node.kind, node.span.line)
            };
            return Err(format!(
                "no edge from {} to {} ({outcome:?})",
                node(from),
                node(to)
            ));
        }
        self.crossed.extend(found);
        let ended: Vec<usize> = self
            .pending
            .iter()
            .copied()
            .filter(|end| !self.between(*end, to, None).is_empty())
            .collect();
        for end in ended {
            self.pending.remove(&end);
            self.crossed.extend(self.between(end, to, None));
        }
        Ok(())
    }

    /// The edges between two nodes whose label fits.
    fn between(&self, from: usize, to: usize, outcome: Option<&Outcome>) -> Vec<usize> {
        self.cfg
            .successors(from)
            .filter(|(_, edge)| edge.to as usize == to && fits(&edge.label, outcome))
            .map(|(index, _)| index)
            .collect()
    }

    /// Another conditional part of a statement that was begun before.
    fn to_next_part(&self, to: usize) -> Vec<usize> {
        let is_part = |label: &Label| matches!(label, Label::Part(_));
        for node in self.visited.iter().rev().skip(1) {
            let parts: Vec<usize> = self
                .cfg
                .successors(*node)
                .filter(|(_, edge)| edge.to as usize == to && is_part(&edge.label))
                .map(|(index, _)| index)
                .collect();
            if !parts.is_empty() {
                return parts;
            }
        }
        Vec::new()
    }
}

fn fits(label: &Label, outcome: Option<&Outcome>) -> bool {
    match (label, outcome) {
        (Label::True, Some(Outcome::Bool(holds))) => *holds,
        (Label::False, Some(Outcome::Bool(holds))) => !holds,
        (Label::Case(case), Some(Outcome::Case(text))) => case.text == *text,
        (Label::Case(_), Some(Outcome::Default)) => false,
        (Label::Default, Some(Outcome::Case(_))) => false,
        _ => true,
    }
}
