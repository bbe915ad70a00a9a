//! The legend below the graphs.

use std::fmt::Write as _;

use super::node::{hexagonal, shape};
use crate::emit::graph_layout::Block;
use crate::lang::cfg::NodeKind;

pub(super) const LEGEND_WIDTH: f64 = 840.0;

pub(super) fn legend(out: &mut String, y: f64) {
    let mut x = 20.0;
    let entries = [
        ("statement equal", "equal"),
        ("statement changed", "changed"),
        ("statement unvisited", "beyond a change"),
        ("predicate equal", "condition"),
        ("directive equal", "#if"),
        ("opaque equal", "not understood"),
        ("danger", "dangerous edge"),
    ];
    out.push_str("<g class=\"legend\">\n");
    for (class, text) in entries {
        let kind = match class.split(' ').next() {
            Some("predicate" | "directive") => NodeKind::Predicate,
            _ => NodeKind::Statement,
        };
        let block = Block {
            width: 26.0,
            height: 14.0,
            inset: if hexagonal(kind) { 5.0 } else { 0.0 },
            source: 0,
        };
        let draw = |class: &str| shape(class, &block, kind, x, y - 10.5);
        let sample = match class {
            "danger" => arrow(x, y - 3.5),
            "opaque equal" => draw("box") + &draw("hatch"),
            _ => draw("box"),
        };
        let _ = writeln!(
            out,
            r#"<g class="node {class}">{sample}</g><text x="{:.1}" y="{y:.1}">{text}</text>"#,
            x + 32.0
        );
        x += 32.0 + text.len() as f64 * 6.7 + 20.0;
    }
    out.push_str("</g>\n");
}

fn arrow(x: f64, y: f64) -> String {
    let tip = x + 26.0;
    format!(
        r#"<g class="edge danger"><path class="line" d="M{x} {y:.1}h20"/><path class="tip" d="M{tip} {y:.1}l-7 -3.5v7z"/></g>"#
    )
}
