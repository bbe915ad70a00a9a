//! Items and segments: every edge cut into pieces between neighbouring ranks, with shared lanes for those that travel far.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::order::first_layers;
use super::rank::Flow;
use super::{Block, LABEL_HEIGHT, Link, Tag};

/// Lanes beyond this number are not worth their time: such a graph is unreadable, and its longest edges are drawn behind the boxes.
const MOST_LANES: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Real,
    /// A piece of a long edge.
    Lane,
    Label,
    /// Where a back edge turns, directly left of this node.
    Corner(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) rank: usize,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A piece of an edge between neighbouring ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) up: usize,
    pub(super) down: usize,
    /// Where it leaves its upper end, from 0 (left) to 1 (right).
    pub(super) port: f64,
    pub(super) short_label: bool,
    /// Not to be drawn straight at the price of a more important one.
    pub(super) weak: bool,
}

/// The items of every rank from left to right and the segments between them. The first items are the blocks.
pub(super) struct Web {
    pub(super) items: Vec<Item>,
    pub(super) segments: Vec<Segment>,
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
    /// The corners left of each block, the outermost first.
    pub(super) corners: Vec<Vec<usize>>,
    pub(super) layers: Vec<Vec<usize>>,
    pub(super) position: Vec<usize>,
    /// For each link its items from top to bottom and the segments between them.
    pub(super) chains: Vec<Chain>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    pub(super) items: Vec<usize>,
    pub(super) segments: Vec<usize>,
}

/// Fills the ranks with the pieces of the edges that pass through them.
pub(super) fn weave(blocks: &[Block], links: &[Link], flow: &Flow) -> Web {
    let items = blocks.iter().zip(&flow.ranks).map(|(block, rank)| Item {
        kind: Kind::Real,
        rank: *rank,
        width: block.width,
        height: block.height,
    });
    let mut web = Web {
        items: items.collect(),
        segments: Vec::new(),
        above: Vec::new(),
        below: Vec::new(),
        corners: vec![Vec::new(); blocks.len()],
        layers: Vec::new(),
        position: Vec::new(),
        chains: vec![Chain::default(); links.len()],
    };
    chains(&mut web, links, flow);
    web.above = vec![Vec::new(); web.items.len()];
    web.below = vec![Vec::new(); web.items.len()];
    for (index, segment) in web.segments.iter().enumerate() {
        web.above[segment.down].push(index);
        web.below[segment.up].push(index);
    }
    for segments in &mut web.below {
        segments.sort_by(|a, b| web.segments[*a].port.total_cmp(&web.segments[*b].port));
    }
    mark_weak(&mut web);
    first_layers(&mut web, &flow.order);
    web
}

impl Web {
    /// Whether a segment is part of a long edge, away from its nodes.
    pub(super) fn is_lane(&self, segment: usize) -> bool {
        let thin = |item: usize| matches!(self.items[item].kind, Kind::Lane | Kind::Corner(_));
        thin(self.segments[segment].up) && thin(self.segments[segment].down)
    }

    pub(super) fn rank_above(&self, segment: usize) -> usize {
        self.items[self.segments[segment].up].rank
    }
}

/// Whose lane an edge takes through a rank: that of its target, or the one a switch has for its cases.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Lane {
    Down(usize),
    Back(usize),
    Cases(usize),
}

type Lanes = FxHashMap<(Lane, usize), usize>;

fn chains(web: &mut Web, links: &[Link], flow: &Flow) {
    let blocks = web.items.len();
    let mut lanes = Lanes::default();
    let mut joints = FxHashMap::default();
    let mut out_degree = vec![0usize; blocks];
    let mut ports = vec![0usize; links.len()];
    let mut by_span: Vec<usize> = (0..links.len())
        .filter(|index| flow.valid[*index])
        .collect();
    for index in &by_span {
        let from = links[*index].from;
        ports[*index] = out_degree[from];
        out_degree[from] += 1;
    }
    // The longest come last, so that they are the ones for which there is no room.
    let span = |index: usize| flow.ranks[links[index].from].abs_diff(flow.ranks[links[index].to]);
    by_span.sort_by_key(|index| span(*index));
    for index in by_span {
        if web.items.len() + span(index) > MOST_LANES + blocks {
            continue;
        }
        let link = &links[index];
        let items = if flow.back[index] {
            back_chain(web, &mut lanes, link)
        } else {
            forward_chain(web, &mut lanes, link)
        };
        let mut segments = Vec::with_capacity(items.len());
        for pair in items.windows(2) {
            let leaves = web.items[pair[0]].kind == Kind::Real;
            let own = leaves && !matches!(link.tag, Tag::Wide(_));
            let joint = (pair[0], pair[1], own.then_some(index));
            let branches = web.items[pair[1]].kind == Kind::Label;
            let port = match link.tag {
                // The cases that leave their common lane keep their order, to the left of the others.
                Tag::Wide(_) if !leaves && !branches => 1.0,
                _ if leaves || branches => {
                    (ports[index] + 1) as f64 / (out_degree[link.from] + 1) as f64
                }
                _ => 0.5,
            };
            segments.push(*joints.entry(joint).or_insert_with(|| {
                web.segments.push(Segment {
                    up: pair[0],
                    down: pair[1],
                    port,
                    short_label: leaves && link.tag == Tag::Short,
                    weak: false,
                });
                web.segments.len() - 1
            }));
        }
        web.chains[index] = Chain { items, segments };
    }
}

fn forward_chain(web: &mut Web, lanes: &mut Lanes, link: &Link) -> Vec<usize> {
    let (first, last) = (web.items[link.from].rank + 1, web.items[link.to].rank);
    let mut items = vec![link.from];
    match link.tag {
        Tag::Wide(width) => {
            let above = last.saturating_sub(1);
            let lane = Lane::Cases(link.from);
            items.extend((first..above).map(|rank| lane_item(web, lanes, lane, rank)));
            items.push(push(web, Kind::Label, above, width, LABEL_HEIGHT));
        }
        Tag::Bare | Tag::Short => {
            let lane = Lane::Down(link.to);
            items.extend((first..last).map(|rank| lane_item(web, lanes, lane, rank)));
        }
    }
    items.push(link.to);
    items
}

fn back_chain(web: &mut Web, lanes: &mut Lanes, link: &Link) -> Vec<usize> {
    let (top, bottom) = (web.items[link.to].rank, web.items[link.from].rank);
    let corner = |web: &mut Web, host: usize, rank: usize| {
        let item = push(web, Kind::Corner(host), rank, 0.0, 0.0);
        web.corners[host].push(item);
        item
    };
    if link.from == link.to {
        return vec![corner(web, link.to, top)];
    }
    let lane = Lane::Back(link.to);
    let header = *lanes
        .entry((lane, top))
        .or_insert_with(|| corner(web, link.to, top));
    let mut items = vec![header];
    items.extend((top + 1..bottom).map(|rank| lane_item(web, lanes, lane, rank)));
    items.push(corner(web, link.from, bottom));
    items
}

fn lane_item(web: &mut Web, lanes: &mut Lanes, lane: Lane, rank: usize) -> usize {
    *lanes
        .entry((lane, rank))
        .or_insert_with(|| push(web, Kind::Lane, rank, 0.0, 0.0))
}

fn push(web: &mut Web, kind: Kind, rank: usize, width: f64, height: f64) -> usize {
    web.items.push(Item {
        kind,
        rank,
        width,
        height,
    });
    web.items.len() - 1
}

/// Decides what may be bent for what: lanes stay straight first, then the longer way out of a branch, then the way into a join that passes through statements.
fn mark_weak(web: &mut Web) {
    let mut by_rank: Vec<usize> = (0..web.items.len()).collect();
    by_rank.sort_by_key(|item| Reverse(web.items[*item].rank));
    // Lanes add no depth: a branch that only jumps is shorter than one that does something.
    let mut depth = vec![0usize; web.items.len()];
    for item in by_rank {
        let reach = |segment: &usize| depth[web.segments[*segment].down];
        let deepest = web.below[item].iter().map(reach).max().unwrap_or(0);
        depth[item] = deepest + usize::from(web.items[item].kind == Kind::Real);
    }
    let mut weak = vec![false; web.segments.len()];
    let up_is_real = |segment: &usize| web.items[web.segments[*segment].up].kind == Kind::Real;
    for item in 0..web.items.len() {
        let (above, below) = (&web.above[item], &web.below[item]);
        if web.items[item].kind == Kind::Real {
            let reach = |segment: &usize| depth[web.segments[*segment].down];
            let most = below.iter().map(reach).max().unwrap_or(0);
            if below
                .iter()
                .filter(|segment| reach(segment) == most)
                .count()
                == 1
            {
                weaken(&mut weak, below, |segment| reach(segment) < most);
            }
            if above.iter().any(up_is_real) {
                weaken(&mut weak, above, |segment| !up_is_real(segment));
            }
        }
        for side in [above, below] {
            if side.iter().any(|segment| web.is_lane(*segment)) {
                weaken(&mut weak, side, |segment| !web.is_lane(*segment));
            }
        }
    }
    for (segment, weak) in web.segments.iter_mut().zip(weak) {
        segment.weak = weak;
    }
}

fn weaken(weak: &mut [bool], segments: &[usize], which: impl Fn(&usize) -> bool) {
    for segment in segments.iter().filter(|segment| which(segment)) {
        weak[*segment] = true;
    }
}
