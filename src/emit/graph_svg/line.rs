//! Lines: the edges with their arrowheads, and their labels.

use std::fmt::Write as _;

use super::strand::Strand;
use super::{cells, escaped};
use crate::emit::graph_layout::{LABEL_HEIGHT, Point, Route};

/// The width of a character of a label, which has 10 pixels.
const CELL: f64 = 6.1;

pub(super) fn edge(out: &mut String, strand: &Strand, route: &Route) {
    let Some(end) = route.points.last() else {
        return;
    };
    let Point { x, y } = *end;
    let head = if route.back {
        format!("M{x:.1} {y:.1}l-7 -3.5v7z")
    } else {
        format!("M{x:.1} {y:.1}l-3.5 -7h7z")
    };
    let _ = writeln!(
        out,
        r#"<g class="{}"><title>{}</title><path class="line" d="{}"/><path class="tip" d="{head}"/></g>"#,
        strand.class(),
        escaped(&strand.tooltip),
        line_through(&route.points)
    );
}

/// Straight steps with rounded corners, and curves with vertical ends for the steps that go sideways.
fn line_through(points: &[Point]) -> String {
    let mut path = String::new();
    if let Some(Point { x, y }) = points.first() {
        let _ = write!(path, "M{x:.1} {y:.1}");
    }
    for (index, pair) in points.windows(2).enumerate() {
        let (from, Point { x, y }) = (pair[0], pair[1]);
        let next = points.get(index + 2);
        if is_curve(from, pair[1]) {
            let middle = f64::midpoint(from.y, y);
            let _ = write!(
                path,
                "C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}",
                from.x
            );
        } else if let Some(next) = next.filter(|next| !is_curve(pair[1], **next)) {
            let (before, after) = (toward(pair[1], from), toward(pair[1], *next));
            let _ = write!(path, "L{:.1} {:.1}", before.x, before.y);
            let _ = write!(path, "Q{x:.1} {y:.1} {:.1} {:.1}", after.x, after.y);
        } else {
            let _ = write!(path, "L{x:.1} {y:.1}");
        }
    }
    path
}

fn is_curve(from: Point, to: Point) -> bool {
    (from.x - to.x).abs() > 0.01 && (from.y - to.y).abs() > 0.01
}

/// Where the rounding of a corner begins on the way to another point.
fn toward(corner: Point, other: Point) -> Point {
    let (x, y) = (other.x - corner.x, other.y - corner.y);
    let length = x.hypot(y).max(0.01);
    let share = (length / 2.0).min(6.0) / length;
    Point {
        x: corner.x + x * share,
        y: corner.y + y * share,
    }
}

pub(super) fn label(out: &mut String, strand: &Strand, route: &Route) {
    if strand.label.is_empty() || route.points.is_empty() {
        return;
    }
    let Point { x, y } = route.label;
    let width = label_width(&strand.label);
    let _ = writeln!(
        out,
        r#"<g class="label{}"><title>{}</title><rect x="{:.1}" y="{:.1}" width="{width:.1}" height="{LABEL_HEIGHT}" rx="3"/><text x="{x:.1}" y="{:.1}">{}</text></g>"#,
        strand.class().trim_start_matches("edge"),
        escaped(&strand.tooltip),
        x - width / 2.0,
        y - LABEL_HEIGHT / 2.0,
        y + 3.6,
        escaped(&strand.label)
    );
}

pub(super) fn label_width(label: &str) -> f64 {
    cells(label) as f64 * CELL + 7.0
}
