//! Executed lines to edges, for gcov: an edge counts as crossed when both its ends may have been executed (rule `Lines`).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::cfg::{Cfg, Node, NodeKind};
use crate::trace::EdgeSet;
use crate::trace::text::Text;

/// The lines of one file, as far as a compiler put code on them.
#[derive(Debug, Default)]
pub struct Lines {
    /// Lines with code.
    pub known: FxHashSet<u32>,
    /// Lines of which some code was executed.
    pub executed: FxHashSet<u32>,
}

/// The edges that a test may have crossed, which entered the function.
#[must_use]
pub fn crossed(cfg: &Cfg, text: &Text<'_>, lines: &Lines) -> EdgeSet {
    let mut begin: FxHashMap<u32, usize> = FxHashMap::default();
    for node in cfg.nodes.iter().filter(|node| is_code(node)) {
        *begin.entry(node.span.line).or_default() += 1;
    }
    let executed: Vec<bool> = cfg
        .nodes
        .iter()
        .map(|node| {
            // Of several things on one line, an optimiser may have left only those that did not run.
            !is_code(node) || begin[&node.span.line] > 1 || may_have_run(node, text, lines)
        })
        .collect();
    let is_crossed = |from: u32, to: u32| {
        let from = executed[from as usize] || cfg.hidden_jumps;
        from && executed[to as usize]
    };
    cfg.edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| is_crossed(edge.from, edge.to))
        .map(|(index, _)| index)
        .collect()
}

fn is_code(node: &Node) -> bool {
    !matches!(
        node.kind,
        NodeKind::Entry | NodeKind::Exit | NodeKind::Header | NodeKind::Directive
    )
}

/// A statement without a line that the compiler knows may have been folded into another.
fn may_have_run(node: &Node, text: &Text<'_>, lines: &Lines) -> bool {
    let last = text.line(node.span.end.saturating_sub(1).max(node.span.start));
    let mut own = (node.span.line..=last)
        .filter(|line| lines.known.contains(line))
        .peekable();
    own.peek().is_none() || own.any(|line| lines.executed.contains(&line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::macros::MacroTable;
    use crate::lang::c::{Granularity, file_facts};
    use crate::lang::facts::Flow;
    use crate::trace::text::LineStarts;

    /// The crossed edges as pairs of lines.
    fn pairs(source: &str, known: &[u32], executed: &[u32]) -> Vec<(u32, u32)> {
        let facts = file_facts(
            source.as_bytes(),
            &MacroTable::default(),
            Granularity::Expression,
        );
        let body = facts.entities[0].body.as_ref().expect("a function");
        let Flow::Edges(cfg) = &body.flow else {
            return Vec::new();
        };
        let lines = Lines {
            known: known.iter().copied().collect(),
            executed: executed.iter().copied().collect(),
        };
        let starts = LineStarts::of(source.as_bytes());
        let set = crossed(cfg, &Text::new(source.as_bytes(), &starts), &lines);
        let line = |node: u32| cfg.nodes[node as usize].span.line;
        set.iter()
            .map(|edge| (line(cfg.edges[edge].from), line(cfg.edges[edge].to)))
            .filter(|(from, to)| *from > 1 && *to > 1)
            .collect()
    }

    const CHOICE: &str = "int f(int x) {\n  if (x)\n    a();\n  else\n    b();\n  return 0;\n}\n";

    #[test]
    fn an_edge_to_a_line_that_did_not_run_is_not_crossed() {
        assert_eq!(pairs(CHOICE, &[2, 3, 5, 6], &[2, 3, 6]), [(2, 3), (3, 6)]);
    }

    #[test]
    fn a_statement_of_which_the_compiler_left_no_line_may_have_run() {
        assert_eq!(
            pairs(CHOICE, &[2, 3, 6], &[2, 3, 6]),
            [(2, 3), (2, 5), (3, 6), (5, 6)]
        );
    }

    #[test]
    fn of_two_statements_on_a_line_each_may_have_run() {
        let source = "int f(int x) {\n  if (x)\n    { a(); b(); }\n  return 0;\n}\n";
        assert_eq!(pairs(source, &[2, 3, 4], &[2, 4]).len(), 4);
    }
}
