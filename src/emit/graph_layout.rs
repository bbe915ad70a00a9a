//! Layered layout of a control-flow graph: ranks by source order, few crossings, straight runs, lanes for long edges.
//!
//! Edges that travel far towards one target share a lane, and so do the cases of one switch: a function with twenty `return`s gets one line down to its exit, and the number of lanes stays small in large graphs.

mod order;
mod place;
mod rank;
mod route;
mod weave;

/// A node to be placed. `source` orders nodes as they stand in the file; `inset` is how far its flanks taper (a hexagon).
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) inset: f64,
    pub(super) source: u32,
}

/// An edge to be routed; the links of one source leave it from left to right in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) tag: Tag,
}

/// How much room the label of a link needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tag {
    Bare,
    /// One letter, written where the link starts.
    Short,
    /// A text of this width, written above the target like the `case` above its statements.
    Wide(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Route {
    /// Corners of the line; a step that is neither vertical nor horizontal stands for a curve with vertical ends.
    pub(super) points: Vec<Point>,
    pub(super) label: Point,
    /// Whether the line goes up: it then leaves and enters its nodes on the left flank.
    pub(super) back: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The centre of each block.
    pub(super) centres: Vec<Point>,
    pub(super) ranks: Vec<usize>,
    /// One for each link; without points where the link names a node that does not exist.
    pub(super) routes: Vec<Route>,
}

pub(super) const LABEL_HEIGHT: f64 = 15.0;
/// Free room left and right of everything.
const MARGIN: f64 = 26.0;

pub(super) fn layout(blocks: &[Block], links: &[Link]) -> Drawing {
    if blocks.is_empty() {
        return Drawing {
            routes: vec![Route::default(); links.len()],
            ..Drawing::default()
        };
    }
    let flow = rank::flow(blocks, links);
    let mut web = weave::weave(blocks, links, &flow);
    order::reduce_crossings(&mut web);
    let x = place::place(&web);
    route::draw(blocks, links, &flow, &web, &x)
}

#[cfg(test)]
mod tests {
    use super::route::along;
    use super::*;

    type Graph = (Vec<Block>, Vec<Link>);

    fn graph(count: usize, edges: &[(usize, usize, Tag)]) -> Graph {
        let blocks = (0..count).map(|node| Block {
            width: 60.0 + (node * 37 % 200) as f64,
            height: if node < 2 { 20.0 } else { 24.0 },
            inset: if node % 3 == 0 { 9.0 } else { 0.0 },
            source: if node == 1 { u32::MAX } else { node as u32 },
        });
        let link = |(from, to, tag): &(usize, usize, Tag)| Link {
            from: *from,
            to: *to,
            tag: *tag,
        };
        (blocks.collect(), edges.iter().map(link).collect())
    }

    /// Statements one after another, of which every fifth may jump anywhere: back, forth, to itself, twice to one place.
    fn tangle(count: usize, mut seed: u64) -> Graph {
        let mut random = |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut edges = vec![(0, 2, Tag::Bare)];
        for node in 2..count {
            let next = if node + 1 < count { node + 1 } else { 1 };
            match random(10) {
                0 => edges.push((node, 1, Tag::Bare)),
                1 | 2 => {
                    edges.push((node, 1 + random(count - 1), Tag::Short));
                    edges.push((node, next, Tag::Short));
                }
                3 if node % 7 == 0 => {
                    for _ in 0..random(9) {
                        edges.push((node, 1 + random(count - 1), Tag::Wide(80.0)));
                    }
                }
                _ => edges.push((node, next, Tag::Bare)),
            }
        }
        graph(count, &edges)
    }

    fn graphs() -> Vec<Graph> {
        let mut graphs: Vec<Graph> = (0..60)
            .map(|seed| tangle(3 + seed as usize, seed))
            .collect();
        graphs.extend((0..2).map(|seed| tangle(200, seed)));
        graphs.push(graph(1, &[]));
        graphs.push(graph(1, &[(0, 0, Tag::Bare), (0, 0, Tag::Short)]));
        graphs.push(graph(
            3,
            &[
                (0, 2, Tag::Short),
                (0, 2, Tag::Short),
                (2, 1, Tag::Wide(50.0)),
            ],
        ));
        graphs
    }

    #[test]
    fn no_two_nodes_overlap() {
        for (blocks, links) in graphs() {
            let drawing = layout(&blocks, &links);
            for (a, one) in drawing.centres.iter().enumerate() {
                for (b, two) in drawing.centres.iter().enumerate().skip(a + 1) {
                    let beside =
                        (one.x - two.x).abs() >= (blocks[a].width + blocks[b].width) / 2.0 + 5.0;
                    let below =
                        (one.y - two.y).abs() >= (blocks[a].height + blocks[b].height) / 2.0 + 5.0;
                    assert!(beside || below, "{a} and {b} of {}", blocks.len());
                }
            }
        }
    }

    #[test]
    fn lines_end_on_the_borders_of_their_nodes() {
        for (blocks, links) in graphs() {
            let drawing = layout(&blocks, &links);
            for (link, route) in links.iter().zip(&drawing.routes) {
                let (first, last) = (route.points[0], route.points[route.points.len() - 1]);
                let side = if route.back { 0.0 } else { 1.0 };
                for (node, point, edge) in [(link.from, first, side), (link.to, last, -side)] {
                    let (block, centre) = (&blocks[node], drawing.centres[node]);
                    let (x, y) = (point.x - centre.x, point.y - centre.y);
                    if route.back {
                        let flank = block.width / 2.0 - block.inset * 2.0 * y.abs() / block.height;
                        assert!((x + flank).abs() < 0.01 && y.abs() < block.height / 2.0);
                    } else {
                        assert!((y - edge * block.height / 2.0).abs() < 0.01);
                        assert!(x.abs() <= block.width / 2.0 - block.inset);
                    }
                }
            }
        }
    }

    #[test]
    fn lines_go_down_in_rank_except_back_lines() {
        for (blocks, links) in graphs() {
            let drawing = layout(&blocks, &links);
            for (link, route) in links.iter().zip(&drawing.routes) {
                let (from, to) = (drawing.ranks[link.from], drawing.ranks[link.to]);
                assert!(if route.back { from >= to } else { from < to });
                assert!(route.back || drawing.centres[link.from].y < drawing.centres[link.to].y);
            }
        }
    }

    /// Points on a route, closely spaced.
    fn trace(route: &Route) -> Vec<Point> {
        let steps = route.points.windows(2);
        let curve = |pair: &[Point]| {
            let (from, to) = (pair[0], pair[1]);
            (0..=20)
                .map(move |step| along(from, to, f64::from(step) / 20.0))
                .collect::<Vec<_>>()
        };
        steps.flat_map(curve).collect()
    }

    #[test]
    fn no_line_crosses_a_box() {
        for (blocks, links) in graphs() {
            let drawing = layout(&blocks, &links);
            for (link, route) in links.iter().zip(&drawing.routes) {
                for point in trace(route) {
                    for (node, centre) in drawing.centres.iter().enumerate() {
                        let inside = (point.x - centre.x).abs() < blocks[node].width / 2.0 - 10.0
                            && (point.y - centre.y).abs() < blocks[node].height / 2.0 - 0.01;
                        assert!(!inside, "{} to {} meets {node}", link.from, link.to);
                    }
                }
            }
        }
    }

    #[test]
    fn everything_lies_within_the_drawing() {
        for (blocks, links) in graphs() {
            let drawing = layout(&blocks, &links);
            let within = |x: f64, y: f64| {
                (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y)
            };
            for (block, centre) in blocks.iter().zip(&drawing.centres) {
                let (x, y) = (block.width / 2.0, block.height / 2.0);
                assert!(within(centre.x - x, centre.y - y) && within(centre.x + x, centre.y + y));
            }
            let points = drawing
                .routes
                .iter()
                .flat_map(|route| route.points.iter().chain([&route.label]));
            assert!(points.into_iter().all(|point| within(point.x, point.y)));
        }
    }

    #[test]
    fn layout_of_a_thousand_nodes_is_deterministic() {
        let (blocks, links) = tangle(1100, 7);
        assert_eq!(layout(&blocks, &links), layout(&blocks, &links));
    }

    #[test]
    fn statements_in_sequence_stand_below_each_other() {
        let run: Vec<_> = (2..1500)
            .map(|node| (node, if node == 1499 { 1 } else { node + 1 }, Tag::Bare))
            .collect();
        let (blocks, links) = graph(1500, &[&[(0, 2, Tag::Bare)], run.as_slice()].concat());
        let drawing = layout(&blocks, &links);
        assert!(
            drawing
                .centres
                .iter()
                .all(|centre| (centre.x - drawing.centres[0].x).abs() < 0.01)
        );
        assert!(drawing.routes.iter().all(|route| route.points.len() == 2));
    }

    #[test]
    fn the_first_branch_is_on_the_left() {
        let (blocks, links) = graph(
            6,
            &[
                (0, 2, Tag::Bare),
                (2, 4, Tag::Short),
                (2, 3, Tag::Short),
                (3, 5, Tag::Bare),
                (4, 5, Tag::Bare),
                (5, 1, Tag::Bare),
            ],
        );
        let centres = layout(&blocks, &links).centres;
        assert!(centres[4].x < centres[3].x && (centres[4].y - centres[3].y).abs() < 0.01);
    }

    #[test]
    fn what_follows_a_loop_stands_below_it() {
        let (blocks, links) = graph(
            6,
            &[
                (0, 2, Tag::Bare),
                (2, 3, Tag::Short),
                (2, 5, Tag::Short),
                (3, 4, Tag::Bare),
                (4, 2, Tag::Bare),
                (5, 1, Tag::Bare),
            ],
        );
        let drawing = layout(&blocks, &links);
        assert!(drawing.ranks[5] > drawing.ranks[4]);
        assert!(drawing.routes[4].back);
    }

    #[test]
    fn cases_of_a_switch_stand_in_rows() {
        let edges: Vec<_> = (3..33)
            .flat_map(|case| [(2, case, Tag::Wide(90.0)), (case, 1, Tag::Bare)])
            .collect();
        let (blocks, links) = graph(33, &[&[(0, 2, Tag::Bare)], edges.as_slice()].concat());
        assert!(layout(&blocks, &links).width < 1200.0);
    }

    #[test]
    fn a_graph_without_nodes_and_links_to_nowhere_are_drawn_as_nothing() {
        assert_eq!(layout(&[], &[]).centres.len(), 0);
        let (blocks, links) = graph(
            2,
            &[(0, 9, Tag::Bare), (0, 1, Tag::Bare), (9, 9, Tag::Short)],
        );
        let drawing = layout(&blocks, &links);
        assert!(drawing.routes[0].points.is_empty() && drawing.routes[2].points.is_empty());
        assert_eq!(drawing.routes[1].points.len(), 2);
    }

    #[test]
    fn large_graphs_of_every_kind_are_drawn() {
        let chain = |node| (node, node + 1, Tag::Short);
        let returns = (2..599).flat_map(|node| [(node, 1, Tag::Short), chain(node)]);
        let nested_loops = (2..300).flat_map(|node| [chain(node), (600 - node, node, Tag::Bare)]);
        let nested_loops = nested_loops.chain((300..599).map(chain));
        let cases = (3..600).flat_map(|case| [(2, case, Tag::Wide(90.0)), (case, 1, Tag::Bare)]);
        let graphs = [
            graph(600, &returns.collect::<Vec<_>>()),
            graph(600, &nested_loops.collect::<Vec<_>>()),
            graph(600, &cases.collect::<Vec<_>>()),
        ];
        for (blocks, links) in graphs {
            let drawing = layout(&blocks, &links);
            assert!(drawing.routes.iter().all(|route| route.points.len() > 1));
        }
    }
}
