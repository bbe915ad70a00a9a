//! Nodes: rounded boxes for statements, hexagons for conditions, pills for the entry and the exit.

use std::fmt::Write as _;

use super::{cells, escaped};
use crate::emit::graph::{NodeState, Side, line_number};
use crate::emit::graph_layout::{Block, Point};
use crate::lang::cfg::{Node, NodeKind};

/// The width of a character of the text, which has 12 pixels.
const CELL: f64 = 7.25;
const BOX_HEIGHT: f64 = 24.0;
const PILL_HEIGHT: f64 = 20.0;
const INSET: f64 = 9.0;

/// How large a node is drawn, with this much room for the line numbers.
pub(super) fn block(side: &Side, index: usize, gutter: f64) -> Block {
    let node = &side.cfg.nodes[index];
    let text = cells(&side.short_text(index)) as f64 * CELL;
    let inset = if hexagonal(node.kind) { INSET } else { 0.0 };
    let line = if line_number(node).is_some() {
        gutter + 9.0
    } else {
        0.0
    };
    let (width, source) = match node.kind {
        NodeKind::Entry => (text + 24.0, 0),
        NodeKind::Exit => (text + 24.0, u32::MAX),
        _ => (
            (text + line + 18.0 + 2.0 * inset).max(56.0),
            node.span.start.max(1),
        ),
    };
    Block {
        width: width.ceil(),
        height: if is_pill(node.kind) {
            PILL_HEIGHT
        } else {
            BOX_HEIGHT
        },
        inset,
        source,
    }
}

fn is_pill(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Entry | NodeKind::Exit)
}

/// Whether a node decides where to go on.
pub(super) fn hexagonal(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Predicate | NodeKind::Switch | NodeKind::Directive
    )
}

pub(super) fn node(
    out: &mut String,
    side: &Side,
    index: usize,
    block: &Block,
    centre: Point,
    gutter: f64,
) {
    let node = &side.cfg.nodes[index];
    let (left, top) = (centre.x - block.width / 2.0, centre.y - block.height / 2.0);
    let mut tooltip = escaped(side.text(index));
    if let Some(line) = line_number(node) {
        tooltip = format!("line {line}: {tooltip}");
    }
    let _ = write!(
        out,
        r#"<g class="node {} {}"><title>{tooltip}</title>"#,
        kind_class(node),
        state_class(side.state(index))
    );
    out.push_str(&shape("box", block, node.kind, left, top));
    if node.kind == NodeKind::Opaque {
        out.push_str(&shape("hatch", block, node.kind, left, top));
    }
    let base = centre.y + 4.2;
    let mut text_x = left + block.inset + 9.0;
    if let Some(line) = line_number(node) {
        let _ = write!(
            out,
            r#"<text class="number" x="{:.1}" y="{base:.1}">{line}</text>"#,
            text_x + gutter
        );
        text_x += gutter + 9.0;
    }
    if is_pill(node.kind) {
        text_x = left + 12.0;
    }
    let _ = writeln!(
        out,
        r#"<text x="{text_x:.1}" y="{base:.1}">{}</text></g>"#,
        escaped(&side.short_text(index))
    );
}

pub(super) fn shape(class: &str, block: &Block, kind: NodeKind, left: f64, top: f64) -> String {
    let Block {
        width,
        height,
        inset,
        ..
    } = *block;
    if hexagonal(kind) {
        let (flat, half) = (width - 2.0 * inset, height / 2.0);
        return format!(
            r#"<path class="{class}" d="M{:.1} {top:.1}h{flat:.1}l{inset} {half}l-{inset} {half}h-{flat:.1}l-{inset} -{half}z"/>"#,
            left + inset
        );
    }
    let radius = if is_pill(kind) { height / 2.0 } else { 5.0 };
    format!(
        r#"<rect class="{class}" x="{left:.1}" y="{top:.1}" width="{width}" height="{height}" rx="{radius}"/>"#
    )
}

fn kind_class(node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Entry | NodeKind::Exit => "pill",
        NodeKind::Header => "header",
        NodeKind::Statement => "statement",
        NodeKind::Predicate | NodeKind::Switch => "predicate",
        NodeKind::Directive => "directive",
        NodeKind::Opaque => "opaque",
    }
}

fn state_class(state: NodeState) -> &'static str {
    match state {
        NodeState::Equal => "equal",
        NodeState::Changed => "changed",
        NodeState::Unvisited => "unvisited",
    }
}
