//! Lines and vertical places: where edges touch their nodes, how far the ranks stand apart, and the corners of every line.

use rustc_hash::FxHashMap;

use super::rank::Flow;
use super::weave::{Chain, Kind, Web};
use super::{Block, Drawing, Link, MARGIN, Point, Route};

pub(super) fn draw(blocks: &[Block], links: &[Link], flow: &Flow, web: &Web, x: &[f64]) -> Drawing {
    let ends = ends(blocks, web, x);
    let rows = rows(web, &ends);
    let centres: Vec<Point> = (0..blocks.len())
        .map(|node| Point {
            x: x[node],
            y: rows[flow.ranks[node]].middle(),
        })
        .collect();
    let sketch = Sketch {
        blocks,
        web,
        x,
        ends,
        rows,
        centres,
    };
    let heights = flank_heights(&sketch);
    let routes = links.iter().enumerate().map(|(index, link)| {
        if !flow.valid[index] {
            Route::default()
        } else if flow.back[index] {
            upward(&sketch, &heights, link, &web.chains[index])
        } else {
            downward(&sketch, link, &web.chains[index])
        }
    });
    let routes = routes.collect();
    let sides = web
        .items
        .iter()
        .zip(x)
        .map(|(item, x)| x + item.width / 2.0);
    Drawing {
        width: sides.fold(0.0, f64::max) + MARGIN,
        height: sketch.rows.last().map_or(0.0, |row| row.bottom),
        routes,
        centres: sketch.centres,
        ranks: flow.ranks.clone(),
    }
}

/// Everything that is known before the lines are drawn.
struct Sketch<'a> {
    blocks: &'a [Block],
    web: &'a Web,
    x: &'a [f64],
    ends: Vec<Ends>,
    rows: Vec<Row>,
    centres: Vec<Point>,
}

/// The x of both ends of a segment.
#[derive(Debug, Clone, Copy)]
struct Ends {
    top: f64,
    bottom: f64,
}

/// Chooses where segments touch the tops and bottoms of blocks: straight above or below their other ends where the block is wide enough.
fn ends(blocks: &[Block], web: &Web, x: &[f64]) -> Vec<Ends> {
    let segments = web.segments.iter();
    let mut ends: Vec<Ends> = segments
        .map(|segment| Ends {
            top: x[segment.up],
            bottom: x[segment.down],
        })
        .collect();
    for (node, block) in blocks.iter().enumerate() {
        let mut out = web.below[node].clone();
        out.sort_by_key(|segment| web.position[web.segments[*segment].down]);
        let wishes: Vec<f64> = out.iter().map(|segment| ends[*segment].bottom).collect();
        for (segment, place) in out.into_iter().zip(spread(&wishes, x[node], block, 20.0)) {
            ends[segment].top = place;
        }
    }
    for (node, block) in blocks.iter().enumerate() {
        let mut into = web.above[node].clone();
        into.sort_by(|a, b| {
            let position = |segment: &usize| web.position[web.segments[*segment].up];
            position(a)
                .cmp(&position(b))
                .then(ends[*a].top.total_cmp(&ends[*b].top))
        });
        let wishes: Vec<f64> = into.iter().map(|segment| ends[*segment].top).collect();
        for (segment, place) in into.into_iter().zip(spread(&wishes, x[node], block, 10.0)) {
            ends[segment].bottom = place;
        }
    }
    ends
}

fn spread(wishes: &[f64], centre: f64, block: &Block, gap: f64) -> Vec<f64> {
    let half = (block.width / 2.0 - block.inset - 8.0).max(0.0);
    let gap = gap.min(2.0 * half / wishes.len().saturating_sub(1).max(1) as f64);
    let mut least = centre - half;
    let mut places = Vec::with_capacity(wishes.len());
    for wish in wishes {
        let place = wish.min(centre + half).max(least);
        places.push(place);
        least = place + gap;
    }
    let mut most = centre + half;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    places
}

#[derive(Debug, Clone, Copy)]
struct Row {
    top: f64,
    bottom: f64,
}

impl Row {
    fn middle(self) -> f64 {
        f64::midpoint(self.top, self.bottom)
    }
}

/// Vertical places of the ranks: close where everything goes straight down, wider where lines turn or carry labels.
fn rows(web: &Web, ends: &[Ends]) -> Vec<Row> {
    let mut gaps = vec![15.0f64; web.layers.len()];
    for (segment, ends) in web.segments.iter().zip(ends) {
        let gap = &mut gaps[web.items[segment.up].rank];
        let sideways = (ends.top - ends.bottom).abs();
        if segment.short_label {
            *gap = gap.max(30.0);
        }
        if sideways > 0.5 {
            *gap = gap.max(20.0 + (sideways * 0.07).min(50.0));
        }
    }
    let mut top = 0.0;
    let mut rows = Vec::with_capacity(web.layers.len());
    for (layer, gap) in web.layers.iter().zip(gaps) {
        let height = layer
            .iter()
            .map(|item| web.items[*item].height)
            .fold(0.0, f64::max);
        let bottom = top + height;
        rows.push(Row { top, bottom });
        top = bottom + gap;
    }
    rows
}

/// How far below the middle of its node each corner's line touches the flank.
///
/// Lanes that come from below touch lowest, then the outer of those that go up: so they do not cross each other.
fn flank_heights(sketch: &Sketch) -> FxHashMap<usize, f64> {
    let web = sketch.web;
    let mut heights = FxHashMap::default();
    for (corners, block) in web.corners.iter().zip(sketch.blocks) {
        let mut corners = corners.clone();
        corners.sort_by_key(|corner| (web.below[*corner].is_empty(), web.position[*corner]));
        let last = corners.len().saturating_sub(1).max(1) as f64;
        for (index, corner) in corners.iter().enumerate() {
            let share = if corners.len() > 1 {
                1.0 - 2.0 * index as f64 / last
            } else {
                0.0
            };
            heights.insert(*corner, block.height * 0.3 * share);
        }
    }
    heights
}

/// The point on the left flank of a node, this far below its middle.
fn flank(sketch: &Sketch, node: usize, below: f64) -> Point {
    let (block, centre) = (&sketch.blocks[node], sketch.centres[node]);
    let taper = block.inset * (2.0 * below.abs() / block.height).min(1.0);
    Point {
        x: centre.x - block.width / 2.0 + taper,
        y: centre.y + below,
    }
}

fn downward(sketch: &Sketch, link: &Link, chain: &Chain) -> Route {
    let start = sketch.centres[link.from].y + sketch.blocks[link.from].height / 2.0;
    let end = sketch.centres[link.to].y - sketch.blocks[link.to].height / 2.0;
    let (Some(first), Some(last)) = (chain.segments.first(), chain.segments.last()) else {
        let from = Point {
            x: sketch.x[link.from],
            y: start,
        };
        let to = Point {
            x: sketch.x[link.to],
            y: end,
        };
        return Route {
            points: vec![from, to],
            label: along(from, to, 0.5),
            back: false,
        };
    };
    let mut points = vec![Point {
        x: sketch.ends[*first].top,
        y: start,
    }];
    for segment in &chain.segments {
        let (ends, rank) = (sketch.ends[*segment], sketch.web.rank_above(*segment));
        points.push(Point {
            x: ends.top,
            y: sketch.rows[rank].bottom,
        });
        points.push(Point {
            x: ends.bottom,
            y: sketch.rows[rank + 1].top,
        });
    }
    let near_start = along(points[1], points[2], 0.3);
    points.push(Point {
        x: sketch.ends[*last].bottom,
        y: end,
    });
    let items = &sketch.web.items;
    let room = chain
        .items
        .iter()
        .find(|item| items[**item].kind == Kind::Label);
    let label = room.map_or(near_start, |item| Point {
        x: sketch.x[*item],
        y: sketch.rows[items[*item].rank].middle(),
    });
    Route {
        points: without_needless(points),
        label,
        back: false,
    }
}

fn upward(sketch: &Sketch, heights: &FxHashMap<usize, f64>, link: &Link, chain: &Chain) -> Route {
    let height = |item: Option<&usize>| item.and_then(|item| heights.get(item)).copied();
    let mut low = height(chain.items.last()).unwrap_or(0.0);
    let mut high = height(chain.items.first()).unwrap_or(0.0);
    if link.from == link.to {
        low = sketch.blocks[link.from].height * 0.25;
        high = -low;
    }
    let (from, to) = (flank(sketch, link.from, low), flank(sketch, link.to, high));
    let outside = from.x.min(to.x) - MARGIN / 2.0;
    let turn = |item: Option<&usize>| item.map_or(outside, |item| sketch.x[*item]);
    let mut points = vec![
        from,
        Point {
            x: turn(chain.items.last()),
            y: from.y,
        },
    ];
    for segment in chain.segments.iter().rev() {
        let (ends, rank) = (sketch.ends[*segment], sketch.web.rank_above(*segment));
        points.push(Point {
            x: ends.bottom,
            y: sketch.rows[rank + 1].top,
        });
        points.push(Point {
            x: ends.top,
            y: sketch.rows[rank].bottom,
        });
    }
    points.push(Point {
        x: turn(chain.items.first()),
        y: to.y,
    });
    let label = if link.from == link.to {
        // The loop is too small to carry its label.
        Point {
            x: points[1].x - 9.0,
            y: (from.y + to.y) / 2.0,
        }
    } else {
        Point {
            x: points[1].x,
            y: from.y - 14.0,
        }
    };
    points.push(to);
    Route {
        points: without_needless(points),
        label,
        back: true,
    }
}

/// A point on the curve with vertical ends between two points.
pub(super) fn along(from: Point, to: Point, t: f64) -> Point {
    Point {
        x: from.x + (to.x - from.x) * t * t * (3.0 - 2.0 * t),
        y: from.y + (to.y - from.y) * (1.5 * t * (1.0 - t) + t * t * t),
    }
}

/// Leaves out repeated points and those in the middle of a straight line.
fn without_needless(points: Vec<Point>) -> Vec<Point> {
    let same = |a: f64, b: f64| (a - b).abs() < 0.01;
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if kept
            .last()
            .is_some_and(|last| same(last.x, point.x) && same(last.y, point.y))
        {
            continue;
        }
        if let [.., before, last] = kept.as_slice() {
            let vertical = same(before.x, last.x) && same(last.x, point.x);
            let horizontal = same(before.y, last.y) && same(last.y, point.y);
            if vertical || horizontal {
                kept.pop();
            }
        }
        kept.push(point);
    }
    kept
}
