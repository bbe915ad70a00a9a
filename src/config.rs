//! The configuration: `.git-rts.toml` at the top of the repository, and git's own `rts.*` beside it.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::repo::{RepoPath, Repository};

/// The file's name at the top of the work tree.
pub const FILE: &str = ".git-rts.toml";

/// What C sources are called unless the configuration adds to it.
const SOURCES: [&str; 3] = ["*.c", "*.h", "*.inc"];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    files: Files,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    /// Further patterns of files that hold C.
    #[serde(default)]
    sources: Vec<String>,
}

#[derive(Debug)]
pub struct Config {
    sources: GlobSet,
}

impl Config {
    /// Reads the configuration of a repository; without a file, the defaults.
    pub fn read(repository: &Repository) -> Result<Self> {
        let text = match repository
            .workdir()
            .map(|top| std::fs::read_to_string(top.join(FILE)))
        {
            Some(Ok(text)) => text,
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::new(format!("cannot read '{FILE}': {error}")));
            }
            _ => String::new(),
        };
        let from_git = repository.config_list("rts.sources")?;
        Self::parse(&text, &from_git)
    }

    fn parse(text: &str, more_sources: &[String]) -> Result<Self> {
        let document: Document = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            let before = text.bytes().take(place);
            let line = 1 + before.filter(|byte| *byte == b'\n').count();
            Error::new(format!(
                "'{FILE}' line {line} is not valid: {}",
                error.message()
            ))
            .hint("the README lists every setting with its default")
        })?;
        let mut sources = GlobSetBuilder::new();
        let defaults = SOURCES.iter().map(|pattern| (*pattern).to_owned());
        for pattern in defaults
            .chain(document.files.sources)
            .chain(more_sources.iter().cloned())
        {
            let glob = Glob::new(&pattern).map_err(|error| {
                Error::new(format!(
                    "bad pattern '{pattern}' for sources: {}",
                    error.kind()
                ))
            })?;
            sources.add(glob);
        }
        let sources = sources
            .build()
            .map_err(|error| Error::new(format!("bad patterns for sources: {error}")))?;
        Ok(Config { sources })
    }

    /// Whether a file is read as C.
    #[must_use]
    pub fn is_source(&self, path: &RepoPath) -> bool {
        let text = String::from_utf8_lossy(path.as_bytes());
        let name = String::from_utf8_lossy(path.file_name());
        self.sources.is_match(text.as_ref()) || self.sources.is_match(name.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_source(config: &Config, path: &str) -> bool {
        config.is_source(&RepoPath::new(path.as_bytes()))
    }

    #[test]
    fn c_sources_are_known_without_a_file() {
        let config = Config::parse("", &[]).expect("nothing is valid");
        assert!(
            is_source(&config, "src/a.c")
                && is_source(&config, "a.h")
                && is_source(&config, "t/x.inc")
        );
        assert!(!is_source(&config, "a.cc") && !is_source(&config, "c"));
    }

    #[test]
    fn the_file_and_git_add_patterns() {
        let config = Config::parse("[files]\nsources = [\"*.def\"]", &["gen/*.tab".to_owned()])
            .expect("valid");
        assert!(
            is_source(&config, "a/b.def")
                && is_source(&config, "gen/x.tab")
                && is_source(&config, "a.c")
        );
    }

    #[test]
    fn a_misspelt_setting_is_an_error_with_a_hint() {
        let error = Config::parse("[files]\nsuorces = []", &[]).expect_err("it is unknown");
        assert!(error.message.contains("suorces"), "{}", error.message);
        assert!(!error.hints.is_empty());
    }
}
