//! Horizontal places after Brandes and Köpf: four extreme alignments, each packed tightly, and of these the middle.

use super::MARGIN;
use super::order::positions;
use super::weave::{Item, Kind, Segment, Web};

const ROUNDS: usize = 12;

/// The middle x of each item.
pub(super) fn place(web: &Web) -> Vec<f64> {
    let crossed = crossed_by_lanes(web);
    let mut results = Vec::new();
    for (from_top, from_left) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut layers = web.layers.clone();
        if !from_top {
            layers.reverse();
        }
        if !from_left {
            layers.iter_mut().for_each(|layer| layer.reverse());
        }
        let columns = align(web, &layers, from_top, &crossed);
        let mut x = pack(web, &layers, &columns);
        if !from_left {
            x.iter_mut().for_each(|x| *x = -*x);
        }
        results.push((from_left, x));
    }
    let width = |(left, right): (f64, f64)| right - left;
    let widths = results.iter().map(|(_, x)| width(extent(web, x)));
    let narrowest = widths.fold(f64::MAX, f64::min);
    for (from_left, x) in &mut results {
        let (left, right) = extent(web, x);
        let shift = if *from_left { -left } else { narrowest - right };
        x.iter_mut().for_each(|x| *x += shift);
    }
    // Each of the four keeps all distances, and so does the middle of the sorted four.
    let middle = |item: usize| {
        let mut four: Vec<f64> = results.iter().map(|(_, x)| x[item]).collect();
        four.sort_by(f64::total_cmp);
        (four[1] + four[2]) / 2.0
    };
    let mut x: Vec<f64> = (0..web.items.len()).map(middle).collect();
    settle(web, &mut x);
    let (left, _) = extent(web, &x);
    x.iter().map(|x| x - left + MARGIN).collect()
}

fn extent(web: &Web, x: &[f64]) -> (f64, f64) {
    let ends = web.items.iter().zip(x);
    ends.fold((f64::MAX, f64::MIN), |(left, right), (item, x)| {
        let half = item.width / 2.0;
        (left.min(x - half), right.max(x + half))
    })
}

/// The segments that cross a lane: the lane stays straight and they bend.
fn crossed_by_lanes(web: &Web) -> Vec<bool> {
    let mut crossed = vec![false; web.segments.len()];
    for pair in web.layers.windows(2) {
        let mut left = 0;
        let mut scanned = 0;
        for (index, item) in pair[1].iter().enumerate() {
            let lane = web.above[*item]
                .iter()
                .find(|segment| web.is_lane(**segment));
            if lane.is_none() && index + 1 < pair[1].len() {
                continue;
            }
            let right = lane.map_or(pair[0].len(), |lane| web.position[web.segments[*lane].up]);
            for segment in pair[1][scanned..=index]
                .iter()
                .flat_map(|item| &web.above[*item])
            {
                let at = web.position[web.segments[*segment].up];
                crossed[*segment] = !web.is_lane(*segment) && (at < left || at > right);
            }
            scanned = index + 1;
            left = right;
        }
    }
    crossed
}

/// Hangs each item below the middle one of its neighbours where no other alignment is crossed; gives the top of each item's column.
fn align(web: &Web, layers: &[Vec<usize>], from_top: bool, crossed: &[bool]) -> Vec<usize> {
    let position = positions(layers, web.items.len());
    let mut top: Vec<usize> = (0..web.items.len()).collect();
    let mut ends = Vec::new();
    for layer in layers.iter().skip(1) {
        let mut free = 0;
        for item in layer {
            let segments = if from_top {
                &web.above[*item]
            } else {
                &web.below[*item]
            };
            ends.clear();
            for index in segments {
                let segment = &web.segments[*index];
                if !segment.weak {
                    ends.push((if from_top { segment.up } else { segment.down }, *index));
                }
            }
            ends.sort_by_key(|(end, _)| position[*end]);
            let middle = [ends.len().saturating_sub(1) / 2, ends.len() / 2];
            for (end, segment) in middle.into_iter().filter_map(|index| ends.get(index)) {
                if !crossed[*segment] && position[*end] >= free {
                    top[*item] = top[*end];
                    free = position[*end] + 1;
                    break;
                }
            }
        }
    }
    top
}

/// Moves the columns as far left as their neighbours allow, then each to the right until it meets one.
fn pack(web: &Web, layers: &[Vec<usize>], top: &[usize]) -> Vec<f64> {
    let count = web.items.len();
    let mut right_of: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut missing = vec![0usize; count];
    for pair in layers.iter().flat_map(|layer| layer.windows(2)) {
        let gap = separation(&web.items[pair[0]], &web.items[pair[1]]);
        right_of[top[pair[0]]].push((top[pair[1]], gap));
        missing[top[pair[1]]] += 1;
    }
    let free = |item: &usize| top[*item] == *item && missing[*item] == 0;
    let mut order: Vec<usize> = (0..count).filter(free).collect();
    let mut x = vec![0.0f64; count];
    let mut next = 0;
    while let Some(column) = order.get(next).copied() {
        next += 1;
        for (other, gap) in &right_of[column] {
            x[*other] = x[*other].max(x[column] + gap);
            missing[*other] -= 1;
            if missing[*other] == 0 {
                order.push(*other);
            }
        }
    }
    for column in order.into_iter().rev() {
        let room = right_of[column].iter().map(|(other, gap)| x[*other] - gap);
        let room = room.fold(f64::MAX, f64::min);
        if room < f64::MAX {
            x[column] = x[column].max(room);
        }
    }
    top.iter().map(|top| x[*top]).collect()
}

fn separation(one: &Item, two: &Item) -> f64 {
    let boxes = one.kind == Kind::Real && two.kind == Kind::Real;
    (one.width + two.width) / 2.0 + if boxes { 26.0 } else { 14.0 }
}

/// Moves whole columns towards what they are connected with, as far as their neighbours allow.
///
/// The middle of four keeps lines straight but leaves boxes far from where they branch off.
fn settle(web: &Web, x: &mut [f64]) {
    let columns = columns(web, x);
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|a, b| {
        x[columns[*a][0]]
            .total_cmp(&x[columns[*b][0]])
            .then(a.cmp(b))
    });
    let mut of = vec![0; web.items.len()];
    for (index, column) in columns.iter().enumerate() {
        for item in column {
            of[*item] = index;
        }
    }
    // First everything follows what is above it, then it goes where its lines are shortest.
    let from_top: Vec<usize> = (0..columns.len()).collect();
    for round in 0..ROUNDS {
        let falling = round < ROUNDS / 3;
        order.reverse();
        for index in if falling { &from_top } else { &order } {
            let column = &columns[*index];
            let mut wishes: Vec<(f64, f64)> = Vec::new();
            for item in column {
                for (other, weight) in neighbours(web, *item) {
                    let above = web.items[other].rank <= web.items[*item].rank;
                    if of[other] != *index && (above || !falling) {
                        wishes.push((x[other] - x[*item], weight));
                    }
                }
            }
            let (left, right) = room(web, column, x);
            let shift = weighted_median(&mut wishes).min(right).max(left);
            if shift.abs() > 0.01 {
                column.iter().for_each(|item| x[*item] += shift);
            }
        }
    }
}

/// The items that hang straight below each other, by segments that are meant to be straight.
fn columns(web: &Web, x: &[f64]) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = Vec::new();
    let mut of = vec![0; web.items.len()];
    for item in web.layers.iter().flatten() {
        // A statement that ends in a lane may leave it, to stay near its branch.
        let bound = |segment: &&Segment| {
            let joins =
                web.items[segment.up].kind == Kind::Real && web.items[*item].kind == Kind::Lane;
            !segment.weak && !joins && (x[segment.up] - x[*item]).abs() < 0.01
        };
        let straight = web.above[*item]
            .iter()
            .map(|index| &web.segments[*index])
            .find(bound);
        of[*item] = straight.map_or(columns.len(), |segment| of[segment.up]);
        if of[*item] == columns.len() {
            columns.push(Vec::new());
        }
        columns[of[*item]].push(*item);
    }
    columns
}

/// What pulls at an item, and how strongly.
fn neighbours(web: &Web, item: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
    let pull = |segment: &usize| {
        let segment = &web.segments[*segment];
        match (web.items[segment.up].kind, web.items[segment.down].kind) {
            (Kind::Real, Kind::Real) => 3.0,
            (Kind::Label, _) => 6.0,
            (Kind::Lane | Kind::Corner(_), Kind::Lane | Kind::Corner(_)) => 4.0,
            (Kind::Real, Kind::Label) | (_, Kind::Real) => 2.0,
            _ => 1.0,
        }
    };
    let above = web.above[item]
        .iter()
        .map(move |index| (web.segments[*index].up, pull(index)));
    let below = web.below[item]
        .iter()
        .map(move |index| (web.segments[*index].down, pull(index)));
    let host = match web.items[item].kind {
        Kind::Corner(host) => Some((host, 2.0)),
        _ => None,
    };
    above.chain(below).chain(host)
}

/// How far a column can go to the left (negative) and to the right.
fn room(web: &Web, column: &[usize], x: &[f64]) -> (f64, f64) {
    let (mut left, mut right) = (f64::MIN, f64::MAX);
    for item in column {
        let (layer, at) = (&web.layers[web.items[*item].rank], web.position[*item]);
        let gap = |other: usize| separation(&web.items[*item], &web.items[other]);
        if let Some(other) = at.checked_sub(1).and_then(|at| layer.get(at)) {
            left = left.max(x[*other] + gap(*other) - x[*item]);
        }
        if let Some(other) = layer.get(at + 1) {
            right = right.min(x[*other] - gap(*other) - x[*item]);
        }
    }
    (left.min(0.0), right.max(0.0))
}

/// The wish nearest to staying among those with which the total distance is smallest.
fn weighted_median(wishes: &mut [(f64, f64)]) -> f64 {
    wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = wishes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (index, (wish, weight)) in wishes.iter().enumerate() {
        sum += weight;
        if sum > half + 1e-9 {
            return *wish;
        }
        if sum > half - 1e-9 {
            let next = wishes.get(index + 1).map_or(*wish, |next| next.0);
            return 0f64.max(*wish).min(next);
        }
    }
    0.0
}
