//! Who includes whom: by the end of the path, because only the build knows the search path.

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::Name;
use crate::lang::facts::{Include, MacroDefinition};
use crate::program::SourceFile;
use crate::program::links::{self, Link};

/// A path under which a file can be included, and the file.
type Candidate = (Vec<u8>, u32);

#[derive(Debug)]
pub(super) struct Includes {
    /// An edge leads from a file to each file that it may include.
    graph: DiGraph<(), (), u32>,
    by_name: FxHashMap<Vec<u8>, Vec<Candidate>>,
    /// Further paths of files, through symbolic links.
    aliases: FxHashMap<u32, Vec<Vec<u8>>>,
    /// The paths that macros make, by the words of the `#include`.
    computed: FxHashMap<String, Vec<String>>,
}

impl Includes {
    pub(super) fn new(files: &[SourceFile], links: &[Link]) -> Self {
        let mut includes = Includes {
            graph: DiGraph::with_capacity(files.len(), files.len() * 4),
            by_name: FxHashMap::default(),
            aliases: FxHashMap::default(),
            computed: computed_paths(files),
        };
        let paths = files.iter().enumerate();
        let paths = paths.map(|(index, file)| (file.path.as_bytes().to_vec(), index as u32));
        let paths: Vec<Candidate> = paths.collect();
        for (path, index) in links::through(links, &paths) {
            includes
                .aliases
                .entry(index)
                .or_default()
                .push(path.clone());
            includes.add_path(path, index);
        }
        for (path, index) in paths {
            includes.graph.add_node(());
            includes.add_path(path, index);
        }
        for (index, file) in files.iter().enumerate() {
            for include in &file.lex.includes {
                for target in includes.meant(file.path.as_bytes(), index, include) {
                    includes
                        .graph
                        .add_edge(NodeIndex::new(index), NodeIndex::new(target), ());
                }
            }
        }
        includes
    }

    fn add_path(&mut self, path: Vec<u8>, index: u32) {
        let name = file_name(&path).to_vec();
        self.by_name.entry(name).or_default().push((path, index));
    }

    /// The files that the path of an `#include` may mean; a file beside the includer comes before all others.
    fn resolve(&self, path: &str, beside: Option<&[u8]>) -> Vec<usize> {
        let path = without_dots(path);
        let Some(candidates) = self.by_name.get(file_name(path.as_bytes())) else {
            return Vec::new();
        };
        if let Some((_, index)) = candidates
            .iter()
            .find(|(candidate, _)| Some(candidate.as_slice()) == beside)
        {
            return vec![*index as usize];
        }
        candidates
            .iter()
            .filter(|(candidate, _)| may_mean(path, candidate))
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

    /// The files that an `#include` in some file may mean.
    pub(super) fn meant(&self, includer: &[u8], index: usize, include: &Include) -> Vec<usize> {
        let own = std::slice::from_ref(&include.path);
        let paths = match include.is_computed {
            true => self.computed.get(&include.path).map_or(own, Vec::as_slice),
            false => own,
        };
        let is_quoted = include.quoted || include.is_computed;
        // Through a link, a file is looked for beside the link.
        let aliases = self.aliases.get(&(index as u32)).into_iter().flatten();
        let includers = std::iter::once(includer).chain(aliases.map(Vec::as_slice));
        let mut found: Vec<usize> = includers
            .flat_map(|includer| paths.iter().map(move |path| (includer, path)))
            .flat_map(|(includer, path)| {
                let beside = is_quoted.then(|| beside(includer, path));
                self.resolve(path, beside.as_deref())
            })
            .collect();
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    pub(super) fn included(&self, includer: &[u8], index: usize, include: &Include) -> Vec<usize> {
        let mut found = Vec::new();
        for start in self.meant(includer, index, include) {
            let mut walk = Dfs::new(&self.graph, NodeIndex::new(start));
            while let Some(node) = walk.next(&self.graph) {
                found.push(node.index());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn aliases(&self, file: usize) -> &[Vec<u8>] {
        self.aliases.get(&(file as u32)).map_or(&[], Vec::as_slice)
    }
}

/// For each `#include` whose path macros make, the paths that it may become.
fn computed_paths(files: &[SourceFile]) -> FxHashMap<String, Vec<String>> {
    let includes = files.iter().flat_map(|file| &file.lex.includes);
    let computed: Vec<&Include> = includes.filter(|include| include.is_computed).collect();
    let mut paths = FxHashMap::default();
    if computed.is_empty() {
        return paths;
    }
    let mut by_name: FxHashMap<Name, Vec<&MacroDefinition>> = FxHashMap::default();
    for definition in files.iter().flat_map(|file| &file.lex.macros) {
        let name = Name::of(definition.name.as_bytes());
        by_name.entry(name).or_default().push(definition);
    }
    for include in computed {
        paths
            .entry(include.path.clone())
            .or_insert_with(|| paths_of(&include.path, &by_name));
    }
    paths
}

/// What the words of a computed `#include` may stand for; where nothing is found, whatever any macro names.
fn paths_of(words: &str, macros: &FxHashMap<Name, Vec<&MacroDefinition>>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    if let (Some(open), Some(close)) = (words.find('('), words.rfind(')'))
        && open < close
    {
        // `STRING(sub/h.h)`
        paths.push(words[open + 1..close].trim().to_owned());
    }
    let mut waiting: Vec<Name> = names_in(words).collect();
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    let mut is_found = false;
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        for definition in macros.get(&name).into_iter().flatten() {
            is_found |= definition.path.is_some();
            paths.extend(definition.path.clone());
            waiting.extend(definition.mentions.iter());
        }
    }
    if !is_found {
        let all = macros.values().flatten();
        paths.extend(all.filter_map(|definition| definition.path.clone()));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn names_in(words: &str) -> impl Iterator<Item = Name> + '_ {
    words
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'))
        .filter(|word| !word.is_empty())
        .map(|word| Name::of(word.as_bytes()))
}

pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Where `..` leads is the build's secret; the rest of the path must match.
fn without_dots(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("../").or(path.strip_prefix("./")) {
        path = rest;
    }
    path
}

/// Whether the path of an `#include` may mean a file, if the build says so.
pub(super) fn may_mean(path: &str, candidate: &[u8]) -> bool {
    let path = without_dots(path);
    path.contains("..") || ends_with_path(candidate, path.as_bytes())
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
