//! Traces: what one test did in one run, in terms of the control-flow graphs of the functions it entered.

pub mod carry;
pub mod edge_set;
pub mod lines;
pub mod projection;
mod regions;
pub mod text;
pub mod widening;

use serde::{Deserialize, Serialize};

use crate::repo::RepoPath;

pub use edge_set::EdgeSet;

/// What one test did in one function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Crossed {
    /// It crossed these edges of the function's graph.
    Edges(EdgeSet),
    /// It entered the function, and which edges it crossed is not known: perhaps all.
    Whole,
}

impl Crossed {
    /// Both together.
    pub fn join(&mut self, more: &Crossed) {
        match (&mut *self, more) {
            (Crossed::Edges(edges), Crossed::Edges(more)) => edges.union(more),
            (Crossed::Whole, _) => {}
            (_, Crossed::Whole) => *self = Crossed::Whole,
        }
    }
}

/// A function as a trace names it: by its place in the tree and its content, so that lines may move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionId {
    pub file: RepoPath,
    pub name: String,
    /// The digest of its graph, by which the edges are numbered.
    pub graph: u64,
}

impl FunctionId {
    /// What a file executes outside the functions that it is known to define: code that macros make at file scope.
    #[must_use]
    pub fn remainder(file: RepoPath) -> Self {
        FunctionId {
            file,
            name: String::new(),
            graph: 0,
        }
    }

    /// Code of files that are not in the tree, but that the build made.
    #[must_use]
    pub fn made() -> Self {
        Self::remainder(RepoPath::new(Vec::new()))
    }

    /// Whether it is known by its symbol alone.
    #[must_use]
    pub fn is_symbol(&self) -> bool {
        self.file.as_bytes().is_empty() && !self.name.is_empty()
    }

    /// Code that is not known by a function of the tree of the same name, but by its symbol alone.
    #[must_use]
    pub fn symbol(name: &str) -> Self {
        FunctionId {
            name: name.to_owned(),
            ..Self::made()
        }
    }
}

/// What one test did in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    pub functions: Vec<(FunctionId, Crossed)>,
}
