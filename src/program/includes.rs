//! Who includes whom: by the end of the path, because only the build knows the search path.

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed};
use rustc_hash::FxHashMap;

use crate::program::SourceFile;

#[derive(Debug)]
pub(super) struct Includes {
    /// An edge leads from a file to each file that it may include.
    graph: DiGraph<(), (), u32>,
    by_name: FxHashMap<Vec<u8>, Vec<(Vec<u8>, u32)>>,
}

impl Includes {
    pub(super) fn new(files: &[SourceFile]) -> Self {
        let mut graph = DiGraph::with_capacity(files.len(), files.len() * 4);
        let mut by_name: FxHashMap<Vec<u8>, Vec<(Vec<u8>, u32)>> = FxHashMap::default();
        for (index, file) in files.iter().enumerate() {
            graph.add_node(());
            by_name
                .entry(file.path.file_name().to_vec())
                .or_default()
                .push((file.path.as_bytes().to_vec(), index as u32));
        }
        let mut includes = Includes { graph, by_name };
        for (index, file) in files.iter().enumerate() {
            for include in &file.lex.includes {
                let beside = include
                    .quoted
                    .then(|| beside(file.path.as_bytes(), &include.path));
                for target in includes.resolve(&include.path, beside.as_deref()) {
                    includes
                        .graph
                        .add_edge(NodeIndex::new(index), NodeIndex::new(target), ());
                }
            }
        }
        includes
    }

    /// The files that the path of an `#include` may mean; a file beside the includer comes before all others.
    fn resolve(&self, path: &str, beside: Option<&[u8]>) -> Vec<usize> {
        let mut path = path;
        // Where `..` leads is the build's secret; the rest of the path must match.
        while let Some(rest) = path.strip_prefix("../").or(path.strip_prefix("./")) {
            path = rest;
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        let Some(candidates) = self.by_name.get(name.as_bytes()) else {
            return Vec::new();
        };
        if let Some((_, index)) = candidates
            .iter()
            .find(|(candidate, _)| Some(candidate.as_slice()) == beside)
        {
            return vec![*index as usize];
        }
        let plain = !path.contains("..");
        candidates
            .iter()
            .filter(|(candidate, _)| !plain || ends_with_path(candidate, path.as_bytes()))
            .map(|(_, index)| *index as usize)
            .collect()
    }

    pub(super) fn includers(&self, file: usize) -> Vec<usize> {
        let graph = Reversed(&self.graph);
        let mut walk = Dfs::new(graph, NodeIndex::new(file));
        std::iter::from_fn(|| walk.next(graph))
            .map(NodeIndex::index)
            .collect()
    }

    pub(super) fn meant(&self, includer: &[u8], path: &str, quoted: bool) -> Vec<usize> {
        let beside = quoted.then(|| beside(includer, path));
        self.resolve(path, beside.as_deref())
    }

    pub(super) fn included(&self, includer: &[u8], path: &str, quoted: bool) -> Vec<usize> {
        let mut found = Vec::new();
        for start in self.meant(includer, path, quoted) {
            let mut walk = Dfs::new(&self.graph, NodeIndex::new(start));
            while let Some(node) = walk.next(&self.graph) {
                found.push(node.index());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The path of a file named relative to the folder of another.
fn beside(includer: &[u8], path: &str) -> Vec<u8> {
    let folder = includer
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at);
    let mut parts: Vec<&[u8]> = includer[..folder]
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.as_bytes().split(|byte| *byte == b'/') {
        match part {
            b"." | b"" => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join(&b'/')
}

fn ends_with_path(candidate: &[u8], path: &[u8]) -> bool {
    candidate.ends_with(path)
        && (candidate.len() == path.len() || candidate[candidate.len() - path.len() - 1] == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_from_the_includers_folder() {
        assert_eq!(beside(b"src/a/x.c", "../b/y.h"), b"src/b/y.h");
        assert_eq!(beside(b"x.c", "y.h"), b"y.h");
        assert_eq!(beside(b"src/x.c", "./y.h"), b"src/y.h");
    }

    #[test]
    fn only_whole_parts_of_a_path_match() {
        assert!(ends_with_path(b"include/git2/types.h", b"git2/types.h"));
        assert!(!ends_with_path(b"deps/xtypes.h", b"types.h"));
    }
}
