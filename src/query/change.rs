//! A change seen from its dangerous edges: who crosses each, and which nobody does.

use std::collections::{BTreeMap, BTreeSet};

use crate::difference::Difference;
use crate::witness::source::{DangerKind, Source};

/// Who meets the dangerous edges of a change; functions by their places in the difference, tests by theirs among the candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crossing {
    /// Who crosses an edge, by function and edge.
    edges: BTreeMap<(usize, usize), Vec<usize>>,
    /// Who is only known to enter the function, and so may cross any edge of it.
    entering: BTreeMap<usize, Vec<usize>>,
    /// Functions that have no counters: anybody may execute them.
    uncounted: BTreeSet<usize>,
    /// Functions that are part of what was built.
    built: BTreeSet<usize>,
}

/// Who crosses a dangerous edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossers<'a> {
    /// These tests do; and these may.
    Tests(&'a [usize], &'a [usize]),
    Nobody,
    /// The function has no counters.
    Anybody,
    /// The function was not built, so nobody could.
    NotBuilt,
}

impl Crossing {
    #[must_use]
    pub fn new(source: &Source) -> Self {
        let mut crossing = Crossing::default();
        for danger in &source.dangers {
            match danger.kind {
                DangerKind::Edges { function } => {
                    crossing.built.insert(function);
                }
                DangerKind::Uncounted { function, .. } => {
                    crossing.uncounted.insert(function);
                }
                _ => {}
            }
        }
        for (test, hits) in source.hits.iter().enumerate() {
            for hit in hits {
                let DangerKind::Edges { function } = source.dangers[hit.danger].kind else {
                    continue;
                };
                if hit.edges.is_empty() {
                    crossing.entering.entry(function).or_default().push(test);
                }
                for edge in hit.edges.iter() {
                    let tests = crossing.edges.entry((function, *edge)).or_default();
                    tests.push(test);
                }
            }
        }
        crossing
    }

    #[must_use]
    pub fn of(&self, function: usize, edge: usize) -> Crossers<'_> {
        let tests = self.edges.get(&(function, edge));
        let tests = tests.map_or(&[][..], Vec::as_slice);
        let entering = self.entering.get(&function);
        let entering = entering.map_or(&[][..], Vec::as_slice);
        if self.uncounted.contains(&function) {
            Crossers::Anybody
        } else if !self.built.contains(&function) {
            Crossers::NotBuilt
        } else if tests.is_empty() && entering.is_empty() {
            Crossers::Nobody
        } else {
            Crossers::Tests(tests, entering)
        }
    }

    /// The dangerous edges of a difference that nobody crosses.
    #[must_use]
    pub fn uncrossed(&self, difference: &Difference) -> Vec<(usize, usize)> {
        let functions = difference.functions.iter().enumerate();
        let edges = functions.flat_map(|(function, found)| {
            let edges = found.walk.dangerous.iter();
            edges.map(move |edge| (function, *edge))
        });
        edges
            .filter(|(function, edge)| self.of(*function, *edge) == Crossers::Nobody)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::repo::RepoPath;
    use crate::witness::source::{Danger, Hit};

    fn danger(kind: DangerKind) -> Danger {
        Danger {
            file: RepoPath::new(*b"a.c"),
            name: "f".to_owned(),
            kind,
        }
    }

    fn hit(danger: usize, edges: &[usize]) -> Hit {
        Hit {
            danger,
            edges: Arc::from(edges),
        }
    }

    #[test]
    fn an_edge_is_crossed_by_those_who_cross_it_and_perhaps_by_those_who_enter() {
        let why = String::new();
        let source = Source {
            dangers: vec![
                danger(DangerKind::Edges { function: 0 }),
                danger(DangerKind::Edges { function: 1 }),
                danger(DangerKind::Uncounted { function: 2, why }),
            ],
            hits: vec![
                vec![hit(0, &[3, 4]), hit(2, &[])],
                vec![hit(1, &[]), hit(2, &[])],
            ],
        };
        let crossing = Crossing::new(&source);
        assert_eq!(crossing.of(0, 3), Crossers::Tests(&[0], &[]));
        assert_eq!(crossing.of(0, 5), Crossers::Nobody);
        assert_eq!(crossing.of(1, 5), Crossers::Tests(&[], &[1]));
        assert_eq!(crossing.of(2, 0), Crossers::Anybody);
        assert_eq!(crossing.of(3, 0), Crossers::NotBuilt);
    }
}
