//! One side of a picture: what the walk found out about each node of a graph.

use crate::compare::select_tests::Walk;
use crate::emit::graph::{NodeState, Side};
use crate::lang::cfg::Cfg;

/// The graph of one version with the states of its nodes; `walk` says also whether this is the base.
#[must_use]
pub fn side<'a>(
    title: String,
    cfg: &'a Cfg,
    texts: Vec<String>,
    walk: Option<(&Walk, bool)>,
) -> Side<'a> {
    let state = |node: usize| {
        let Some((walk, is_base)) = walk else {
            return NodeState::Equal;
        };
        let mut visited = walk
            .visited
            .iter()
            .map(|(base, head)| if is_base { *base } else { *head });
        let mut parted: Vec<usize> = match is_base {
            true => walk.dangerous.clone(),
            false => walk.instead.iter().map(|(_, head)| *head).collect(),
        };
        parted.retain(|edge| {
            cfg.edges
                .get(*edge)
                .is_some_and(|edge| edge.to as usize == node)
        });
        match (visited.any(|other| other == node), parted.is_empty()) {
            (true, _) => NodeState::Equal,
            (false, false) => NodeState::Changed,
            (false, true) => NodeState::Unvisited,
        }
    };
    Side {
        title,
        cfg,
        texts,
        node_states: (0..cfg.nodes.len()).map(state).collect(),
        dangerous_edges: match walk {
            Some((walk, true)) => walk.dangerous.clone(),
            _ => Vec::new(),
        },
    }
}
