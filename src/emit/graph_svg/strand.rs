//! Strands: the edges of a graph as lines to draw, with those between the same two nodes in one.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::line::label_width;
use crate::emit::graph::{NodeState, Side, elided, line_number};
use crate::emit::graph_layout::{Link, Tag};
use crate::lang::cfg::{Edge, Label};

/// Labels are cut after this many characters, so that the cases of a switch stay narrow.
const LONGEST_LABEL: usize = 16;

/// Edges between the same two nodes that are drawn as one line.
pub(super) struct Strand {
    pub(super) link: Link,
    pub(super) label: String,
    pub(super) tooltip: String,
    pub(super) dangerous: bool,
    pub(super) pale: bool,
}

impl Strand {
    /// What matters most is drawn last.
    pub(super) fn weight(&self) -> u8 {
        match (self.dangerous, self.pale) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    }

    pub(super) fn class(&self) -> &'static str {
        match self.weight() {
            2 => "edge danger",
            1 => "edge",
            _ => "edge pale",
        }
    }
}

pub(super) fn strands(side: &Side) -> Vec<Strand> {
    let cfg = side.cfg;
    let mut dangerous = vec![false; cfg.edges.len()];
    for index in &side.dangerous_edges {
        if let Some(flag) = dangerous.get_mut(*index) {
            *flag = true;
        }
    }
    let rank = |edge: &Edge| match edge.label {
        Label::True => 0,
        Label::False => 2,
        _ => 1,
    };
    let mut order: Vec<usize> = (0..cfg.edges.len()).collect();
    order.sort_by_key(|index| (cfg.edges[*index].from, rank(&cfg.edges[*index]), *index));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = FxHashMap::default();
    for index in order {
        let edge = &cfg.edges[index];
        let group = *known
            .entry((edge.from, edge.to, dangerous[index]))
            .or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(index);
    }
    groups
        .iter()
        .map(|group| strand(side, group, dangerous[group[0]]))
        .collect()
}

fn strand(side: &Side, group: &[usize], dangerous: bool) -> Strand {
    let edges: Vec<&Edge> = group.iter().map(|index| &side.cfg.edges[*index]).collect();
    let (from, to) = (edges[0].from as usize, edges[0].to as usize);
    let texts: Vec<String> = edges
        .iter()
        .map(|edge| edge.label.text())
        .filter(|text| !text.is_empty())
        .collect();
    let mut joined = String::new();
    for text in &texts {
        // `case 1, 2, 3` rather than `case 1, case 2, case 3`.
        let rest = text
            .strip_prefix("case ")
            .filter(|_| joined.starts_with("case "));
        joined.push_str(if joined.is_empty() { "" } else { ", " });
        joined.push_str(rest.unwrap_or(text));
    }
    let label = elided(&joined, LONGEST_LABEL);
    let tag = match label.chars().count() {
        0 => Tag::Bare,
        1 => Tag::Short,
        _ => Tag::Wide(label_width(&label)),
    };
    let ends = [from, to].map(|node| {
        side.cfg
            .nodes
            .get(node)
            .and_then(line_number)
            .map_or_else(|| side.text(node).to_owned(), |line| format!("line {line}"))
    });
    let mut tooltip = format!("{} → {}", ends[0], ends[1]);
    if !texts.is_empty() {
        let _ = write!(tooltip, ": {}", texts.join(", "));
    }
    if dangerous {
        tooltip.push_str(" (dangerous)");
    }
    let pale = [from, to]
        .iter()
        .any(|node| side.state(*node) == NodeState::Unvisited);
    Strand {
        link: Link { from, to, tag },
        label,
        tooltip,
        dangerous,
        pale,
    }
}
