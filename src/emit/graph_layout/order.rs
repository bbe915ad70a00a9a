//! The order of the items within each rank: from left to right with few crossings, true branches on the left.

use super::weave::{Kind, Segment, Web};

const SWEEPS: usize = 10;
const EXCHANGES: usize = 6;

/// Exchanges neighbours while that helps. The first order mirrors the source, so barycentre sweeps replace it only where they are much better: among many jumps.
pub(super) fn reduce_crossings(web: &mut Web) {
    exchange_neighbours(web);
    let first = crossings(web);
    let mut best = (first - first / 3, web.layers.clone());
    for sweep in 0..SWEEPS {
        if first == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        for step in 1..web.layers.len() {
            let layer = if down {
                step
            } else {
                web.layers.len() - 1 - step
            };
            sort_layer(web, layer, down);
        }
        if down {
            exchange_neighbours(web);
        }
        let count = crossings(web);
        if count < best.0 {
            best = (count, web.layers.clone());
        }
    }
    web.layers = best.1;
    web.position = positions(&web.layers, web.items.len());
}

/// A first order: depth first, left branches first, which leaves structured code without crossings.
pub(super) fn first_layers(web: &mut Web, order: &[usize]) {
    let height = web
        .items
        .iter()
        .map(|item| item.rank + 1)
        .max()
        .unwrap_or(0);
    let mut layers = vec![Vec::new(); height];
    let mut placed = vec![false; web.items.len()];
    for root in order {
        let mut stack = vec![*root];
        while let Some(item) = stack.pop() {
            // A corner waits for its node.
            let corner = matches!(web.items[item].kind, Kind::Corner(_));
            if corner || std::mem::replace(&mut placed[item], true) {
                continue;
            }
            let corners = web.corners.get(item).map_or(&[][..], Vec::as_slice);
            layers[web.items[item].rank].extend(corners.iter().chain([&item]));
            let below = corners
                .iter()
                .chain([&item])
                .flat_map(|item| &web.below[*item]);
            let children = stack.len();
            stack.extend(below.map(|segment| web.segments[*segment].down));
            stack[children..].reverse();
        }
    }
    web.position = positions(&layers, web.items.len());
    web.layers = layers;
}

/// Where each item stands in its layer.
pub(super) fn positions(layers: &[Vec<usize>], count: usize) -> Vec<usize> {
    let mut position = vec![0; count];
    for (index, item) in layers.iter().flat_map(|layer| layer.iter().enumerate()) {
        position[*item] = index;
    }
    position
}

fn sort_layer(web: &mut Web, layer: usize, down: bool) {
    let mut current = f64::MIN;
    let mut keyed = Vec::with_capacity(web.layers[layer].len());
    for item in &web.layers[layer] {
        // A corner goes where its node goes; an item without neighbours stays behind the one before it.
        let host = match web.items[*item].kind {
            Kind::Corner(host) => host,
            _ => *item,
        };
        current = barycentre(web, host, down).unwrap_or(current);
        keyed.push((current, web.position[host], *item));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (index, (_, _, item)) in keyed.into_iter().enumerate() {
        web.position[item] = index;
        web.layers[layer][index] = item;
    }
}

fn barycentre(web: &Web, item: usize, down: bool) -> Option<f64> {
    let segments = if down {
        &web.above[item]
    } else {
        &web.below[item]
    };
    let place = |segment: &usize| {
        let segment = &web.segments[*segment];
        if down {
            web.position[segment.up] as f64 + segment.port
        } else {
            web.position[segment.down] as f64 + 0.5
        }
    };
    let sum: f64 = segments.iter().map(place).sum();
    (!segments.is_empty()).then(|| sum / segments.len() as f64)
}

/// Swaps neighbours in a rank where fewer segments cross afterwards.
fn exchange_neighbours(web: &mut Web) {
    // A node stays with its corners, so neither takes part.
    let mut bound: Vec<bool> = web
        .corners
        .iter()
        .map(|corners| !corners.is_empty())
        .collect();
    let others = web.items[bound.len()..].iter();
    bound.extend(others.map(|item| matches!(item.kind, Kind::Corner(_))));
    for _ in 0..EXCHANGES {
        let mut changed = false;
        for layer in 0..web.layers.len() {
            for index in 1..web.layers[layer].len() {
                let (left, right) = (web.layers[layer][index - 1], web.layers[layer][index]);
                if bound[left] || bound[right] {
                    continue;
                }
                if crossings_of(web, right, left) < crossings_of(web, left, right) {
                    web.layers[layer].swap(index - 1, index);
                    web.position.swap(left, right);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
}

/// The weight of the crossings between the segments of two neighbours, if they stood in this order.
fn crossings_of(web: &Web, left: usize, right: usize) -> usize {
    let above = |item: usize| {
        let segments = web.above[item].iter().map(|index| &web.segments[*index]);
        segments.map(|segment| {
            (
                web.position[segment.up] as f64 + segment.port,
                weight(segment),
            )
        })
    };
    let below = |item: usize| {
        let segments = web.below[item].iter().map(|index| &web.segments[*index]);
        segments.map(|segment| (web.position[segment.down] as f64, weight(segment)))
    };
    inversions(above(left).collect(), above(right).collect())
        + inversions(below(left).collect(), below(right).collect())
}

/// The pairs whose left end lies further right than their right end, by the product of their weights.
fn inversions(mut left: Vec<(f64, usize)>, mut right: Vec<(f64, usize)>) -> usize {
    left.sort_by(|a, b| a.0.total_cmp(&b.0));
    right.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut total, mut passed) = (0, 0);
    let mut right = right.iter().peekable();
    for (end, weight) in left {
        while let Some((_, other)) = right.next_if(|(other, _)| *other < end) {
            passed += other;
        }
        total += passed * weight;
    }
    total
}

/// It is worse to cross a straight line than one that bends aside anyway.
fn weight(segment: &Segment) -> usize {
    if segment.weak { 1 } else { 3 }
}

/// The weight of all crossings, counted with a Fenwick tree for each pair of ranks.
fn crossings(web: &Web) -> usize {
    let mut total = 0;
    for pair in web.layers.windows(2) {
        let mut tree = vec![0usize; pair[1].len() + 1];
        let mut inserted = 0;
        // `below` is sorted by port, so this goes through the upper ends from left to right.
        for segment in pair[0].iter().flat_map(|item| &web.below[*item]) {
            let segment = &web.segments[*segment];
            let end = web.position[segment.down] + 1;
            let mut not_right = 0;
            let mut index = end;
            while index > 0 {
                not_right += tree[index];
                index &= index - 1;
            }
            total += (inserted - not_right) * weight(segment);
            inserted += weight(segment);
            index = end;
            while index < tree.len() {
                tree[index] += weight(segment);
                index += index & index.wrapping_neg();
            }
        }
    }
    total
}
