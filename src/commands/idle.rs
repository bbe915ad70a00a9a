//! Settings that do nothing are told whoever runs tests: a pin that is misspelt pins nobody.

use crate::config::{Config, misspelt};
use crate::error::Result;
use crate::repo::Repository;
use crate::runner::Test;

pub(super) fn warn(repository: &Repository, config: &Config, tests: &[Test]) -> Result<()> {
    for found in misspelt::in_git(repository)? {
        let name = &found.name;
        match found.meant {
            Some(meant) => anstream::eprintln!(
                "warning: nobody reads '{name}' of git's configuration; '{meant}' perhaps"
            ),
            None => anstream::eprintln!("warning: nobody reads '{name}' of git's configuration"),
        }
    }
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    for (setting, pattern) in config.idle_for_tests(&names) {
        anstream::eprintln!("warning: no test is called '{pattern}', as '{setting}' says");
    }
    Ok(())
}
