//! Coverage as an lcov tracefile, for genhtml, editors and services: how many tests executed each function, line and branch.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::lang::cfg::{Cfg, NodeKind};
use crate::query::executed::{Counts, Executed, Function};
use crate::repo::RepoPath;

/// The tracefile. What was not built, or has no counters, is not in it. A statement counts with the line on which it begins.
#[must_use]
pub fn lcov(functions: &[Function<'_>]) -> String {
    let mut files: BTreeMap<&RepoPath, Vec<(&Function<'_>, &Counts)>> = BTreeMap::new();
    for function in functions {
        if let Executed::By(counts) = &function.executed {
            let own = files.entry(function.file).or_default();
            own.push((function, counts));
        }
    }
    let mut text = String::new();
    for (path, functions) in files {
        let _ = writeln!(text, "TN:\nSF:{path}");
        file(&mut text, &functions);
        text.push_str("end_of_record\n");
    }
    text
}

fn file(text: &mut String, functions: &[(&Function<'_>, &Counts)]) {
    let mut lines: BTreeMap<u32, usize> = BTreeMap::new();
    let mut branches: Vec<String> = Vec::new();
    let mut taken = 0;
    for (function, counts) in functions {
        let (line, name) = (function.entity.span.line, &function.entity.name);
        let _ = writeln!(text, "FN:{line},{}", one_field(name));
        lines.insert(line, counts.entered);
        if let Some(cfg) = function.graph() {
            for (line, count) in lines_of(cfg, counts) {
                let known = lines.entry(line).or_default();
                *known = count.max(*known);
            }
            taken += branches_of(cfg, counts, &mut branches);
        }
    }
    for (function, counts) in functions {
        let name = one_field(&function.entity.name);
        let _ = writeln!(text, "FNDA:{},{name}", counts.entered);
    }
    let entered = functions.iter().filter(|(_, counts)| counts.entered > 0);
    let _ = writeln!(text, "FNF:{}\nFNH:{}", functions.len(), entered.count());
    branches.iter().for_each(|branch| text.push_str(branch));
    let _ = writeln!(text, "BRF:{}\nBRH:{taken}", branches.len());
    for (line, count) in &lines {
        let _ = writeln!(text, "DA:{line},{count}");
    }
    let hit = lines.values().filter(|count| **count > 0).count();
    let _ = writeln!(text, "LF:{}\nLH:{hit}", lines.len());
}

/// Fields end at commas; a macro that makes a name may have some in its arguments.
fn one_field(name: &str) -> String {
    name.replace([',', '\n', '\r'], " ")
}

fn lines_of<'a>(cfg: &'a Cfg, counts: &'a Counts) -> impl Iterator<Item = (u32, usize)> + 'a {
    let nodes = cfg.nodes.iter().enumerate();
    let executed = nodes.filter(|(_, node)| {
        matches!(
            node.kind,
            NodeKind::Statement | NodeKind::Predicate | NodeKind::Switch | NodeKind::Opaque
        )
    });
    executed.map(|(place, node)| (node.span.line, counts.of_node(cfg, place)))
}

/// Adds the ways on from every decision; answers how many of them were taken.
fn branches_of(cfg: &Cfg, counts: &Counts, branches: &mut Vec<String>) -> usize {
    let mut taken = 0;
    for (place, node) in cfg.nodes.iter().enumerate() {
        let ways: Vec<usize> = cfg.successors(place).map(|(edge, _)| edge).collect();
        let decides = matches!(node.kind, NodeKind::Predicate | NodeKind::Switch);
        if !decides || ways.len() < 2 {
            continue;
        }
        let is_reached = counts.of_node(cfg, place) > 0;
        for (branch, edge) in ways.into_iter().enumerate() {
            let count = counts.edges.get(edge).copied().unwrap_or(0);
            taken += usize::from(is_reached && count > 0);
            let count = match is_reached {
                true => count.to_string(),
                false => "-".to_owned(),
            };
            let line = node.span.line;
            branches.push(format!("BRDA:{line},{place},{branch},{count}\n"));
        }
    }
    taken
}
