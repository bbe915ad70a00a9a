//! The two control-flow graphs of a function in the language of Graphviz.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use super::graph::{GraphPair, NodeState, Side, line_number, missing};
use crate::lang::cfg::{Label, NodeKind};

/// One cluster for each version, in the colours of the SVG picture.
#[must_use]
pub fn dot(pair: &GraphPair) -> String {
    let mut title = format!("{}() in {}", pair.function, pair.file);
    if let Some(note) = missing(pair) {
        let _ = write!(title, "\n{note}");
    }
    let mut out = format!(
        r##"digraph {} {{
  graph [label={}, labelloc=t, fontname="monospace", fontsize=14];
  node [fontname="monospace", fontsize=10, height=0.3, style="filled,rounded", shape=box, fillcolor="#f6f8fa", color="#6e7781", fontcolor="#1f2328"];
  edge [fontname="monospace", fontsize=9, color="#6e7781", fontcolor="#424a53", arrowsize=0.6];
"##,
        quoted(&pair.function),
        quoted(&title)
    );
    for (side, role) in [(&pair.base, "base"), (&pair.head, "head")] {
        if let Some(side) = side {
            cluster(&mut out, side, role);
        }
    }
    out.push_str("}\n");
    out
}

fn cluster(out: &mut String, side: &Side, role: &str) {
    let title = quoted(&format!("{role} {}", side.title));
    let _ = writeln!(out, "  subgraph cluster_{role} {{");
    let _ = writeln!(out, "    label={title}; color=\"#d1d9e0\";");
    for (index, node) in side.cfg.nodes.iter().enumerate() {
        let text = side.short_text(index);
        let label = match line_number(node) {
            Some(line) => format!("{line}  {text}"),
            None => text,
        };
        let _ = writeln!(
            out,
            "    {role}{index} [label={}, tooltip={}{}{}];",
            quoted(&label),
            quoted(side.text(index)),
            look(node.kind),
            colours(side.state(index))
        );
    }
    let count = side.cfg.nodes.len();
    let dangerous: FxHashSet<usize> = side.dangerous_edges.iter().copied().collect();
    for (index, edge) in side.cfg.edges.iter().enumerate() {
        if edge.from as usize >= count || edge.to as usize >= count {
            continue;
        }
        let mut attributes = Vec::new();
        if edge.label != Label::Next {
            attributes.push(format!("label={}", quoted(&edge.label.text())));
        }
        if dangerous.contains(&index) {
            attributes.push("color=\"#cf222e\", fontcolor=\"#cf222e\", penwidth=2.4".to_owned());
        }
        let _ = writeln!(
            out,
            "    {role}{} -> {role}{} [{}];",
            edge.from,
            edge.to,
            attributes.join(", ")
        );
    }
    out.push_str("  }\n");
}

fn look(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Entry | NodeKind::Exit => {
            ", fillcolor=\"#59636e\", color=\"#59636e\", fontcolor=\"#ffffff\""
        }
        NodeKind::Header | NodeKind::Statement => "",
        NodeKind::Predicate | NodeKind::Switch => {
            ", shape=hexagon, style=filled, fillcolor=\"#eaeef2\""
        }
        NodeKind::Directive => {
            ", shape=hexagon, style=filled, fillcolor=\"#eef0fb\", color=\"#a5aacb\", fontcolor=\"#5a5f86\""
        }
        NodeKind::Opaque => ", style=\"filled,rounded,dashed\"",
    }
}

/// A later attribute overrides an earlier one of the same name.
fn colours(state: NodeState) -> &'static str {
    match state {
        NodeState::Equal => "",
        NodeState::Changed => ", fillcolor=\"#ffdf80\", color=\"#9a6700\", fontcolor=\"#1f2328\"",
        NodeState::Unvisited => ", fillcolor=\"#fcfcfd\", color=\"#d1d9e0\", fontcolor=\"#8c959f\"",
    }
}

/// A quoted string whose backslashes are text: Graphviz reads `\n` and `\N` as commands.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Graphviz reads entities such as `&lt;` in labels.
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::graph::NodeState;
    use super::super::graph::samples::{Draft, large, pair};
    use super::*;

    #[test]
    fn both_versions_have_a_cluster_with_all_nodes_and_edges() {
        let draft = large();
        let dot = dot(&pair(Some(draft.side("a")), Some(draft.side("b"))));
        assert_eq!(dot.matches("subgraph cluster_").count(), 2);
        assert_eq!(dot.matches("tooltip=").count(), 2 * draft.cfg.nodes.len());
        assert_eq!(dot.matches(" -> ").count(), 2 * draft.cfg.edges.len());
    }

    #[test]
    fn quotes_backslashes_and_entities_stay_text() {
        assert_eq!(quoted("\"a\\n\" &lt;\u{7}"), r#""\"a\\n\" &amp;lt; ""#);
    }

    #[test]
    fn changes_have_the_colours_of_the_picture() {
        let mut draft = Draft::new();
        draft.stmt("f();");
        let draft = draft.done();
        let mut side = draft.side("a");
        side.dangerous_edges = vec![0];
        side.node_states[2] = NodeState::Changed;
        let dot = dot(&pair(Some(side), None));
        assert!(dot.contains("base0 -> base2 [color=\"#cf222e\""));
        assert!(dot.contains("fillcolor=\"#ffdf80\""));
        assert!(dot.contains("removed: not in the head version"));
    }
}
