//! One pattern with `*`, `?`, `[...]` and `{a,b}`, as the lists of the configuration have them.

use globset::{Glob, GlobMatcher};

use crate::error::{Error, Result};
use crate::repo::RepoPath;

#[derive(Debug, Clone)]
pub struct NameGlob(GlobMatcher);

impl NameGlob {
    pub fn new(text: &str) -> Result<Self> {
        let parsed = Glob::new(text)
            .map_err(|error| Error::new(format!("bad pattern '{text}': {}", error.kind())))?;
        Ok(NameGlob(parsed.compile_matcher()))
    }

    #[must_use]
    pub fn is_match(&self, name: &str) -> bool {
        self.0.is_match(name)
    }

    /// Whether the path or its last part matches.
    #[must_use]
    pub fn is_match_path(&self, path: &RepoPath) -> bool {
        let name = String::from_utf8_lossy(path.file_name()).into_owned();
        self.is_match(&path.to_string()) || self.is_match(&name)
    }
}
