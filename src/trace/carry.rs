//! Carry-over: the trace of a test that was not run, moved from the base version to the head along the edges that the walk paired.

use rustc_hash::FxHashMap;

use super::{Crossed, EdgeSet, FunctionId};
use crate::repo::RepoPath;

/// What becomes of one function of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Unchanged,
    /// It is gone.
    Removed,
    /// It is another graph now; the edges that did not change have partners, by their numbers, in ascending order.
    Changed {
        id: FunctionId,
        partners: Vec<(usize, usize)>,
    },
}

/// How traces get from one version to another: what is not named here stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// Under `#if` a file may define a function twice with the same graph: then the trace goes with both.
    pub functions: FxHashMap<FunctionId, Vec<Fate>>,
    /// Files that moved.
    pub moved: FxHashMap<RepoPath, RepoPath>,
}

impl Carry {
    /// What a test that is skipped does in the head's versions of a function; nothing, if the function is gone.
    ///
    /// A skipped test crosses no dangerous edge, so each edge that it crosses has a partner. Should one have none, nothing is
    /// known but that the test enters the function.
    #[must_use]
    pub fn carry(&self, id: &FunctionId, crossed: &Crossed) -> Vec<(FunctionId, Crossed)> {
        let fates = self.functions.get(id);
        let fates = fates.map_or(&[Fate::Unchanged][..], Vec::as_slice);
        let carried = fates.iter().filter_map(|fate| match fate {
            Fate::Removed => None,
            Fate::Changed { id, partners } => Some((id.clone(), through(crossed, partners))),
            Fate::Unchanged => Some((self.moved_with_its_file(id), crossed.clone())),
        });
        carried.collect()
    }

    fn moved_with_its_file(&self, id: &FunctionId) -> FunctionId {
        let file = self.moved.get(&id.file).unwrap_or(&id.file);
        FunctionId {
            file: file.clone(),
            ..id.clone()
        }
    }
}

fn through(crossed: &Crossed, partners: &[(usize, usize)]) -> Crossed {
    let Crossed::Edges(edges) = crossed else {
        return Crossed::Whole;
    };
    let mut carried = EdgeSet::default();
    for edge in edges.iter() {
        let first = partners.partition_point(|(base, _)| *base < edge);
        let mut own = partners[first..]
            .iter()
            .take_while(|(base, _)| *base == edge)
            .peekable();
        if own.peek().is_none() {
            return Crossed::Whole;
        }
        own.for_each(|(_, head)| carried.insert(*head));
    }
    Crossed::Edges(carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(file: &str, name: &str, graph: u64) -> FunctionId {
        FunctionId {
            file: RepoPath::new(file.as_bytes()),
            name: name.to_owned(),
            graph,
        }
    }

    fn edges(edges: &[usize]) -> Crossed {
        Crossed::Edges(edges.iter().copied().collect())
    }

    #[test]
    fn edges_follow_their_partners() {
        let mut carry = Carry::default();
        let fate = Fate::Changed {
            id: id("a.c", "f", 2),
            partners: vec![(0, 0), (1, 3), (1, 4), (2, 5)],
        };
        carry.functions.insert(id("a.c", "f", 1), vec![fate]);
        let carried = |crossed: &Crossed| carry.carry(&id("a.c", "f", 1), crossed);
        assert_eq!(
            carried(&edges(&[0, 1])),
            [(id("a.c", "f", 2), edges(&[0, 3, 4]))]
        );
        assert_eq!(
            carried(&Crossed::Whole),
            [(id("a.c", "f", 2), Crossed::Whole)]
        );
    }

    #[test]
    fn an_edge_without_a_partner_leaves_only_the_entry() {
        let mut carry = Carry::default();
        let fate = Fate::Changed {
            id: id("a.c", "f", 2),
            partners: vec![(0, 0)],
        };
        carry.functions.insert(id("a.c", "f", 1), vec![fate]);
        let carried = carry.carry(&id("a.c", "f", 1), &edges(&[0, 7]));
        assert_eq!(carried, [(id("a.c", "f", 2), Crossed::Whole)]);
    }

    #[test]
    fn what_did_not_change_stays_and_moves_with_its_file() {
        let mut carry = Carry::default();
        carry
            .functions
            .insert(id("a.c", "gone", 1), vec![Fate::Removed]);
        carry
            .moved
            .insert(RepoPath::new(*b"a.c"), RepoPath::new(*b"b.c"));
        let crossed = edges(&[2]);
        assert_eq!(carry.carry(&id("a.c", "gone", 1), &crossed), []);
        assert_eq!(
            carry.carry(&id("a.c", "f", 1), &crossed),
            [(id("b.c", "f", 1), crossed.clone())]
        );
        assert_eq!(
            carry.carry(&id("c.c", "f", 1), &crossed),
            [(id("c.c", "f", 1), crossed.clone())]
        );
    }
}
