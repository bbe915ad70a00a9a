//! Values of git's configuration.

use super::Repository;
use super::failure::failed;
use crate::error::Result;

impl Repository {
    /// Every value of a variable that may be given more than once, the farthest file's first; none if it is not set.
    pub fn config_list(&self, name: &str) -> Result<Vec<String>> {
        let attempt =
            |error: git2::Error| failed(&format!("read '{name}' from the configuration"), &error);
        let config = self.git.config().map_err(attempt)?;
        let entries = match config.multivar(name, None) {
            Err(error) if error.code() == git2::ErrorCode::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(attempt)?,
        };
        let mut values = Vec::new();
        entries
            .for_each(|entry| {
                // A name without '=' has no value to give, and asking libgit2 for it panics.
                if entry.has_value() {
                    values.push(String::from_utf8_lossy(entry.value_bytes()).into_owned());
                }
            })
            .map_err(attempt)?;
        Ok(values)
    }

    /// The names of the variables that begin with this, each once, as git keeps them: in lower case.
    pub fn config_names(&self, beginning: &str) -> Result<Vec<String>> {
        let attempt = |error: git2::Error| failed("read the configuration", &error);
        let config = self.git.config().map_err(attempt)?;
        let mut names = Vec::new();
        let entries = config.entries(None).map_err(attempt)?;
        entries
            .for_each(|entry| {
                let name = String::from_utf8_lossy(entry.name_bytes());
                if name.starts_with(beginning) {
                    names.push(name.into_owned());
                }
            })
            .map_err(attempt)?;
        names.sort();
        names.dedup();
        Ok(names)
    }
}
