//! What tests executed of every function: how many entered it, and how many may have crossed each edge.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::{FunctionTraces, Uncounted};
use crate::lang::cfg::{Cfg, ENTRY};
use crate::lang::facts::{Entity, FileFacts, Flow, Kind};
use crate::repo::RepoPath;
use crate::trace::Crossed;

/// A function that a file defines.
#[derive(Debug)]
pub struct Function<'a> {
    pub file: &'a RepoPath,
    pub entity: &'a Entity,
    pub executed: Executed,
}

/// What is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executed {
    /// It has no counters: anybody may have executed it.
    Unknown,
    /// It is not part of what was built.
    NotBuilt,
    By(Counts),
}

/// How many tests did it. An edge counts as crossed rather than be missed, so only a zero is certain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    pub entered: usize,
    /// For each edge of the graph; of a function without one, nothing.
    pub edges: Vec<usize>,
}

impl Function<'_> {
    #[must_use]
    pub fn graph(&self) -> Option<&Cfg> {
        graph_of(self.entity)
    }

    /// It has counters, and no test entered it.
    #[must_use]
    pub fn is_never_entered(&self) -> bool {
        matches!(&self.executed, Executed::By(counts) if counts.entered == 0)
    }
}

impl Counts {
    /// How many tests may have executed a node: those that crossed an edge into it, at least those of the busiest one.
    #[must_use]
    pub fn of_node(&self, cfg: &Cfg, node: usize) -> usize {
        if node == ENTRY {
            return self.entered;
        }
        let edges = cfg.edges.iter().zip(&self.edges);
        let into = edges.filter(|(edge, _)| edge.to as usize == node);
        into.map(|(_, count)| *count).max().unwrap_or(0)
    }
}

/// The graph of a function, if it has one.
#[must_use]
pub fn graph_of(entity: &Entity) -> Option<&Cfg> {
    match &entity.body.as_ref()?.flow {
        Flow::Edges(cfg) => Some(cfg),
        Flow::Whole(_) => None,
    }
}

/// Every function of a tree with what the traces of its tests say about it.
#[must_use]
pub fn functions<'a>(
    files: &'a [(RepoPath, Arc<FileFacts>)],
    traces: &[FunctionTraces],
    uncounted: &Uncounted,
) -> Vec<Function<'a>> {
    let mut traced: FxHashMap<(&RepoPath, &str), Vec<&FunctionTraces>> = FxHashMap::default();
    for one in traces {
        let key = (&one.id.file, one.id.name.as_str());
        traced.entry(key).or_default().push(one);
    }
    let mut found = Vec::new();
    for (file, facts) in files {
        let defined = facts.entities.iter();
        let defined: Vec<&Entity> = defined
            .filter(|entity| entity.kind == Kind::Function && entity.body.is_some())
            .collect();
        let mut graphs: FxHashMap<&str, FxHashSet<u64>> = FxHashMap::default();
        for entity in &defined {
            let own = graphs.entry(&entity.name).or_default();
            own.insert(entity.graph());
        }
        for entity in defined {
            let known = traced.get(&(file, entity.name.as_str()));
            let executed = if uncounted.may_hold(&entity.name, known.is_some()) {
                Executed::Unknown
            } else {
                let known = known.map_or(&[][..], Vec::as_slice);
                executed(entity, known, &graphs[entity.name.as_str()])
            };
            found.push(Function {
                file,
                entity,
                executed,
            });
        }
    }
    found
}

/// Under `#if` a name is defined more than once: what belongs to another definition is not this one's, and what belongs to
/// none may be anything.
fn executed(entity: &Entity, known: &[&FunctionTraces], graphs: &FxHashSet<u64>) -> Executed {
    let edges = graph_of(entity).map_or(0, |cfg| cfg.edges.len());
    let mut counts = Counts {
        entered: 0,
        edges: vec![0; edges],
    };
    let mut is_built = false;
    for one in known {
        let is_own = one.id.graph == entity.graph();
        if !is_own && graphs.contains(&one.id.graph) {
            continue;
        }
        is_built = true;
        for (crossed, tests) in &one.groups {
            counts.entered += tests.len();
            for (edge, count) in counts.edges.iter_mut().enumerate() {
                let is_crossed = match crossed {
                    Crossed::Edges(edges) if is_own => edges.contains(edge),
                    _ => true,
                };
                *count += if is_crossed { tests.len() } else { 0 };
            }
        }
    }
    match is_built {
        true => Executed::By(counts),
        false => Executed::NotBuilt,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::history::TestNumber;
    use crate::lang::c::macros::MacroTable;
    use crate::lang::c::{Granularity, file_facts};
    use crate::trace::FunctionId;

    pub(in super::super) type Files = Vec<(RepoPath, Arc<FileFacts>)>;

    pub(in super::super) fn file(path: &str, text: &str) -> (RepoPath, Arc<FileFacts>) {
        let facts = file_facts(
            text.as_bytes(),
            &MacroTable::default(),
            Granularity::Expression,
        );
        (RepoPath::new(path.as_bytes()), Arc::new(facts))
    }

    /// The traces of some tests in one function: for each test the edges that it crossed.
    pub(in super::super) fn traced(
        files: &Files,
        name: &str,
        tests: &[&[usize]],
    ) -> FunctionTraces {
        let all = files
            .iter()
            .flat_map(|(path, facts)| facts.entities.iter().map(move |entity| (path, entity)));
        let (path, entity) = all
            .filter(|(_, entity)| entity.body.is_some())
            .find(|(_, entity)| entity.name == name)
            .expect("the function");
        let groups = tests.iter().zip(0..).map(|(edges, number)| {
            let crossed = Crossed::Edges(edges.iter().copied().collect());
            (crossed, vec![TestNumber(number)])
        });
        FunctionTraces {
            id: FunctionId {
                file: path.clone(),
                name: name.to_owned(),
                graph: entity.graph(),
            },
            groups: groups.collect(),
        }
    }

    fn counts_of<'a>(function: &'a Function<'_>) -> &'a Counts {
        let counts = match &function.executed {
            Executed::By(counts) => Some(counts),
            _ => None,
        };
        counts.expect("it was executed")
    }

    const TEXT: &str = "int f(int x)\n{\n    if (x)\n        return 1;\n    return 0;\n}\nint g(void) { return 2; }\n";

    #[test]
    fn edges_are_counted_over_all_tests() {
        let files = vec![file("a.c", TEXT)];
        let traces = [traced(
            &files,
            "f",
            &[&[0, 1, 2, 4], &[0, 1, 3, 5], &[0, 1, 2, 4]],
        )];
        let found = functions(&files, &traces, &Uncounted::default());
        let counts = counts_of(&found[0]);
        assert_eq!(counts.entered, 3);
        assert_eq!(counts.edges[..4], [3, 3, 2, 1]);
        assert_eq!(found[1].executed, Executed::NotBuilt);
    }

    #[test]
    fn what_has_counters_and_was_not_entered_is_known() {
        let files = vec![file("a.c", TEXT)];
        let found = functions(&files, &[traced(&files, "g", &[])], &Uncounted::default());
        assert!(found[1].is_never_entered() && !found[0].is_never_entered());
    }

    #[test]
    fn of_what_has_no_counters_nothing_is_known() {
        let files = vec![file("a.c", TEXT)];
        let mut uncounted = Uncounted::default();
        uncounted.symbols.insert("g".to_owned());
        let found = functions(&files, &[], &uncounted);
        assert_eq!(found[1].executed, Executed::Unknown);
    }

    #[test]
    fn a_trace_of_no_graph_that_is_there_may_have_crossed_everything() {
        let files = vec![file("a.c", TEXT)];
        let mut other = traced(&files, "f", &[&[0]]);
        other.id.graph ^= 1;
        let found = functions(&files, &[other], &Uncounted::default());
        let counts = counts_of(&found[0]);
        assert!(counts.edges.iter().all(|count| *count == 1));
    }
}
