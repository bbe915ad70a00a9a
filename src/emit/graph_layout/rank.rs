//! Ranks: which nodes stand below which, with loops cut open and the order of the source kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Block, Link, Tag};

/// How many cases of a switch stand side by side before the next ones go below them.
const CASES_IN_A_ROW: usize = 3;

/// The graph without its loops, in the order of the source, and the rank of each node.
pub(super) struct Flow {
    /// Whether both ends of each link exist.
    pub(super) valid: Vec<bool>,
    pub(super) back: Vec<bool>,
    pub(super) order: Vec<usize>,
    pub(super) ranks: Vec<usize>,
}

pub(super) fn flow(blocks: &[Block], links: &[Link]) -> Flow {
    let count = blocks.len();
    let valid: Vec<bool> = links
        .iter()
        .map(|link| link.from < count && link.to < count)
        .collect();
    let mut out = vec![Vec::new(); count];
    for (index, link) in links.iter().enumerate().filter(|(index, _)| valid[*index]) {
        out[link.from].push(index);
    }
    let back = back_links(blocks, links, &out);
    let order = source_order(blocks, links, &out, &back);
    let ranks = ranks(links, &out, &back, &order);
    Flow {
        valid,
        back,
        order,
        ranks,
    }
}

/// The links that lead back to a node on the way to their source.
fn back_links(blocks: &[Block], links: &[Link], out: &[Vec<usize>]) -> Vec<bool> {
    let mut back = vec![false; links.len()];
    let mut seen = vec![false; out.len()];
    let mut on_path = vec![false; out.len()];
    let mut roots: Vec<usize> = (0..out.len()).collect();
    roots.sort_by_key(|node| (blocks[*node].source, *node));
    for root in roots {
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.pop() {
            if next == 0 {
                if seen[node] {
                    continue;
                }
                seen[node] = true;
                on_path[node] = true;
            }
            let Some(link) = out[node].get(next) else {
                on_path[node] = false;
                continue;
            };
            path.push((node, next + 1));
            let to = links[*link].to;
            if on_path[to] {
                back[*link] = true;
            } else if !seen[to] {
                path.push((to, 0));
            }
        }
    }
    back
}

/// A topological order that keeps to the source where it can: loop bodies before what follows the loop.
fn source_order(blocks: &[Block], links: &[Link], out: &[Vec<usize>], back: &[bool]) -> Vec<usize> {
    let mut missing = vec![0usize; out.len()];
    for link in out.iter().flatten().filter(|link| !back[**link]) {
        missing[links[*link].to] += 1;
    }
    let mut ready: BinaryHeap<Reverse<(u32, usize)>> = (0..out.len())
        .filter(|node| missing[*node] == 0)
        .map(|node| Reverse((blocks[node].source, node)))
        .collect();
    let mut order = Vec::with_capacity(out.len());
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for link in out[node].iter().filter(|link| !back[**link]) {
            let to = links[*link].to;
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.push(Reverse((blocks[to].source, to)));
            }
        }
    }
    order
}

/// Longest paths from the top, with what follows a loop below the loop and a switch's cases in rows.
fn ranks(links: &[Link], out: &[Vec<usize>], back: &[bool], order: &[usize]) -> Vec<usize> {
    let mut at = vec![0; order.len()];
    for (position, node) in order.iter().enumerate() {
        at[*node] = position;
    }
    // For each position: the positions first..=last it must stand below, and by how many ranks.
    let mut below: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); order.len()];
    let mut rooted = vec![false; order.len()];
    let mut loop_end = vec![0; order.len()];
    for (index, link) in out.iter().flatten().map(|index| (*index, &links[*index])) {
        let (from, to) = (at[link.from], at[link.to]);
        if back[index] {
            loop_end[to] = loop_end[to].max(from);
        } else {
            let distance = if matches!(link.tag, Tag::Wide(_)) {
                2
            } else {
                1
            };
            below[to].push((from, from, distance));
            rooted[to] = true;
        }
    }
    for (header, end) in loop_end.iter().enumerate().filter(|(_, end)| **end > 0) {
        let mut exits: Vec<usize> = (header..=*end)
            .flat_map(|position| &out[order[position]])
            .map(|link| at[links[*link].to])
            .filter(|to| to > end)
            .collect();
        exits.sort_unstable();
        exits.dedup();
        for exit in exits {
            below[exit].push((header, *end, 1));
        }
    }
    for outgoing in out {
        let mut cases: Vec<usize> = outgoing
            .iter()
            .filter(|link| !back[**link] && matches!(links[**link].tag, Tag::Wide(_)))
            .map(|link| at[links[*link].to])
            .collect();
        cases.sort_unstable();
        cases.dedup();
        let rows: Vec<&[usize]> = cases.chunks(CASES_IN_A_ROW).collect();
        for pair in rows.windows(2) {
            for case in pair[1] {
                below[*case].push((pair[0][0], pair[1][0] - 1, 2));
            }
        }
    }
    let mut by_position = vec![0usize; order.len()];
    for position in 0..order.len() {
        if !rooted[position] && position > 0 {
            by_position[position] = by_position[position - 1] + 1;
        }
        for (first, last, distance) in &below[position] {
            let lowest = by_position[*first..=*last].iter().max().unwrap_or(&0);
            by_position[position] = by_position[position].max(lowest + distance);
        }
    }
    // The exit is the last in the source: nothing stands beside or below it.
    if let [others @ .., exit] = by_position.as_mut_slice() {
        *exit = others.iter().map(|rank| rank + 1).fold(*exit, usize::max);
    }
    at.iter().map(|position| by_position[*position]).collect()
}
