//! What no test reaches: functions that nobody enters, edges that nobody crosses, and what only these mention (TestTube's `ttcoverage`).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::executed::{Executed, Function};
use super::pasting::Pasting;
use crate::digest::{Name, Names};
use crate::lang::cfg::{Cfg, ENTRY, EXIT, Label, NodeKind};
use crate::lang::facts::{Entity, FileFacts, Kind, MacroDefinition};
use crate::repo::RepoPath;

/// An edge that no test crosses, of a function that some test enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UncrossedEdge {
    /// Its place among the functions.
    pub function: usize,
    /// Its place in the graph.
    pub edge: usize,
}

/// Where tests part from the code: the edges that nobody crosses and whose beginning somebody reached. What lies beyond one of
/// them alone is not listed, nor what a compiler or a hidden macro decides.
#[must_use]
pub fn uncrossed_edges(functions: &[Function<'_>]) -> Vec<UncrossedEdge> {
    let mut found = Vec::new();
    for (place, function) in functions.iter().enumerate() {
        let (Executed::By(counts), Some(cfg)) = (&function.executed, function.graph()) else {
            continue;
        };
        if counts.entered == 0 {
            continue;
        }
        let reached = reached_nodes(cfg, &counts.edges);
        for (edge, count) in counts.edges.iter().enumerate() {
            let from = cfg.edges[edge].from as usize;
            let is_decided = cfg.nodes[from].kind != NodeKind::Directive
                && !matches!(cfg.edges[edge].label, Label::Jump(_));
            if *count == 0 && is_decided && reached[from] {
                found.push(UncrossedEdge {
                    function: place,
                    edge,
                });
            }
        }
    }
    found
}

fn reached_nodes(cfg: &Cfg, counts: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; cfg.nodes.len()];
    reached[ENTRY] = true;
    for (edge, count) in cfg.edges.iter().zip(counts) {
        reached[edge.to as usize] |= *count > 0;
    }
    reached
}

/// The line by which an edge is named: where it leads, or where it comes from if it leads out.
#[must_use]
pub fn line_of(cfg: &Cfg, edge: usize, entity: &Entity) -> u32 {
    let edge = &cfg.edges[edge];
    let (from, to) = (edge.from as usize, edge.to as usize);
    match (to, from) {
        (EXIT, ENTRY) => entity.span.line,
        (EXIT, from) => cfg.nodes[from].span.line,
        (to, _) => cfg.nodes[to].span.line.max(entity.span.line),
    }
}

/// The variables, types and macros that nothing mentions which a test executes, or may execute.
#[must_use]
pub fn unmentioned<'a>(
    files: &'a [(RepoPath, Arc<FileFacts>)],
    functions: &[Function<'_>],
    macros: impl Iterator<Item = &'a MacroDefinition> + Clone,
) -> Vec<(&'a RepoPath, &'a Entity)> {
    let mut seen = Seen::new(files, macros);
    for (_, entity) in entities(files) {
        if entity.kind == Kind::File || entity.unmentioned.is_some() {
            seen.mention(&entity.mentions);
        }
    }
    for function in functions {
        seen.execute(function);
    }
    seen.follow();
    let all = entities(files).filter(|(_, entity)| {
        let is_data = !matches!(entity.kind, Kind::Function | Kind::File);
        is_data && !entity.declaration && !entity.is_guard() && !seen.contains(entity)
    });
    all.filter(|(_, entity)| !seen.pasting.may_build(&entity.name))
        .collect()
}

fn entities(files: &[(RepoPath, Arc<FileFacts>)]) -> impl Iterator<Item = (&RepoPath, &Entity)> {
    let all = files.iter();
    all.flat_map(|(path, facts)| facts.entities.iter().map(move |entity| (path, entity)))
}

/// The names that executed code mentions, directly or through what it mentions.
struct Seen<'a> {
    names: FxHashSet<Name>,
    waiting: Vec<Name>,
    by_name: FxHashMap<Name, Vec<&'a Entity>>,
    pasting: Pasting,
}

impl<'a> Seen<'a> {
    fn new(
        files: &'a [(RepoPath, Arc<FileFacts>)],
        macros: impl Iterator<Item = &'a MacroDefinition> + Clone,
    ) -> Self {
        let mut by_name: FxHashMap<Name, Vec<&Entity>> = FxHashMap::default();
        for (_, entity) in entities(files).filter(|(_, entity)| entity.kind != Kind::File) {
            let name = Name::of(entity.name.as_bytes());
            by_name.entry(name).or_default().push(entity);
            if entity.kind == Kind::Macro {
                // A macro takes the place of members and local names, too.
                by_name.entry(name.weak()).or_default().push(entity);
            }
        }
        Seen {
            names: FxHashSet::default(),
            waiting: Vec::new(),
            by_name,
            pasting: Pasting::new(macros),
        }
    }

    fn mention(&mut self, mentions: &Names) {
        self.pasting.note(mentions);
        for name in mentions.iter() {
            if self.names.insert(name) {
                self.waiting.push(name);
            }
        }
    }

    fn execute(&mut self, function: &Function<'_>) {
        let entity = function.entity;
        let Some(body) = &entity.body else {
            return;
        };
        match (&function.executed, function.graph()) {
            (Executed::NotBuilt, _) => {}
            (Executed::By(counts), _) if counts.entered == 0 => {}
            (Executed::By(counts), Some(cfg)) => {
                self.mention(&entity.mentions);
                for (edge, count) in cfg.edges.iter().zip(&counts.edges) {
                    if *count > 0 {
                        self.mention(&cfg.nodes[edge.to as usize].mentions);
                        if let Label::Case(case) = &edge.label {
                            self.mention(&case.mentions);
                        }
                    }
                }
            }
            (Executed::By(_), None) | (Executed::Unknown, _) => {
                self.mention(&entity.mentions);
                self.mention(&body.mentions);
            }
        }
    }

    /// Through nonfunctions, and through the signatures of functions.
    fn follow(&mut self) {
        while let Some(name) = self.waiting.pop() {
            for entity in self.by_name.remove(&name).unwrap_or_default() {
                self.mention(&entity.mentions);
            }
        }
    }

    fn contains(&self, entity: &Entity) -> bool {
        let name = Name::of(entity.name.as_bytes());
        let is_weak = entity.kind == Kind::Macro && self.names.contains(&name.weak());
        self.names.contains(&name) || is_weak
    }
}

#[cfg(test)]
mod tests {
    use super::super::executed::functions;
    use super::super::executed::tests::{Files, file, traced};
    use super::*;
    use crate::history::{FunctionTraces, Uncounted};
    use crate::lang::c::lex_facts;

    const TEXT: &str = "#define YES 1\n#define NO ZERO\n#define ZERO 0\n#define CAT(a, b) a##b\n\
        static int limit = 3;\nstruct unused { int x; };\nint f(int x)\n{\n    if (x > limit)\n\
        \x20       return YES;\n    return NO;\n}\n";

    fn listed(text: &str, name: &str, tests: &[&[usize]]) -> (Vec<u32>, Vec<String>) {
        let files: Files = vec![file("a.c", text)];
        let traces: [FunctionTraces; 1] = [traced(&files, name, tests)];
        let all = functions(&files, &traces, &Uncounted::default());
        let edges = uncrossed_edges(&all).into_iter().map(|one| {
            let function = &all[one.function];
            line_of(
                function.graph().expect("a graph"),
                one.edge,
                function.entity,
            )
        });
        let lex = lex_facts(text.as_bytes());
        let data = unmentioned(&files, &all, lex.macros.iter());
        let names = data.iter().map(|(_, entity)| entity.name.clone());
        (edges.collect(), names.collect())
    }

    /// The edges of the way that leads over some lines.
    fn over(text: &str, lines: &[u32]) -> Vec<usize> {
        let (_, facts) = file("a.c", text);
        let entity = facts.entities.iter().find(|entity| entity.body.is_some());
        let entity = entity.expect("a function");
        let cfg = super::super::executed::graph_of(entity).expect("a graph");
        let is_on = |node: u32| {
            let node = &cfg.nodes[node as usize];
            let is_inside = !matches!(
                node.kind,
                NodeKind::Statement | NodeKind::Predicate | NodeKind::Switch
            );
            is_inside || lines.contains(&node.span.line)
        };
        let edges = cfg.edges.iter().enumerate();
        let on = edges.filter(|(_, edge)| is_on(edge.from) && is_on(edge.to));
        on.map(|(place, _)| place).collect()
    }

    #[test]
    fn an_edge_that_nobody_crosses_is_named_by_the_line_it_leads_to() {
        let (edges, _) = listed(TEXT, "f", &[&over(TEXT, &[9, 11])]);
        assert_eq!(edges, [10]);
    }

    #[test]
    fn what_only_an_uncrossed_edge_mentions_is_not_covered() {
        let (_, names) = listed(TEXT, "f", &[&over(TEXT, &[9, 11])]);
        assert_eq!(names, ["YES", "CAT", "unused"]);
        let (_, names) = listed(TEXT, "f", &[&over(TEXT, &[9, 10])]);
        assert_eq!(names, ["NO", "ZERO", "CAT", "unused"]);
    }

    #[test]
    fn the_edges_of_a_function_that_nobody_enters_are_not_listed() {
        let (edges, names) = listed(TEXT, "f", &[]);
        assert!(edges.is_empty());
        assert_eq!(names.len(), 6);
    }

    #[test]
    fn a_name_that_may_be_pasted_counts_as_mentioned() {
        let text = "#define CAT(a, b) a##b\nint pre_fix = 1;\nint other = 2;\nint f(void)\n{\n    return CAT(pre_, fix);\n}\n";
        let (_, names) = listed(text, "f", &[&over(text, &[6])]);
        assert_eq!(names, ["other"]);
    }
}
