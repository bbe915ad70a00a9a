//! A list of patterns: what it matches, and which of its patterns match nothing.

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};
use crate::repo::RepoPath;

#[derive(Debug)]
pub(super) struct Patterns {
    /// As they are written, in the order of the set.
    texts: Vec<String>,
    set: GlobSet,
}

impl Patterns {
    /// `what` they are for, to people.
    pub(super) fn new(what: &str, texts: Vec<String>) -> Result<Self> {
        let mut patterns = GlobSetBuilder::new();
        for text in &texts {
            let glob = Glob::new(text).map_err(|error| {
                Error::new(format!("bad pattern '{text}' for {what}: {}", error.kind()))
            })?;
            patterns.add(glob);
        }
        let set = patterns
            .build()
            .map_err(|error| Error::new(format!("bad patterns for {what}: {error}")))?;
        Ok(Patterns { texts, set })
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        self.set.is_match(name)
    }

    /// Whether the path or its last part matches.
    pub(super) fn is_match_path(&self, path: &RepoPath) -> bool {
        words_of(path).iter().any(|word| self.set.is_match(word))
    }

    /// The patterns that match none of some names.
    pub(super) fn unmatched<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<&str> {
        let mut matched = vec![false; self.texts.len()];
        for name in names {
            for place in self.set.matches(name) {
                matched[place] = true;
            }
        }
        let texts = self.texts.iter().zip(matched);
        let unmatched = texts.filter(|(_, matched)| !matched);
        unmatched.map(|(text, _)| text.as_str()).collect()
    }

    /// The same of paths, which also match by their last part.
    pub(super) fn unmatched_paths(&self, paths: &[RepoPath]) -> Vec<&str> {
        let words: Vec<String> = paths.iter().flat_map(words_of).collect();
        self.unmatched(words.iter().map(String::as_str))
    }
}

fn words_of(path: &RepoPath) -> [String; 2] {
    [path.as_bytes(), path.file_name()].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
