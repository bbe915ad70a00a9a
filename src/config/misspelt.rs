//! Names of settings that nobody reads, and what was probably meant.

use super::settings::SETTINGS;
use crate::error::Result;
use crate::nearest::nearest;
use crate::repo::Repository;

/// A name that is none of a setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Misspelt {
    pub name: String,
    /// The right name that is nearest to it, if one is near.
    pub meant: Option<String>,
}

/// The variables `rts.*` of git's configuration that nobody reads.
pub fn in_git(repository: &Repository) -> Result<Vec<Misspelt>> {
    let known = SETTINGS.iter().filter_map(|setting| setting.git);
    let known: Vec<String> = known.map(|name| format!("rts.{name}")).collect();
    let names = repository.config_names("rts.")?.into_iter();
    // Git does not tell upper from lower case in them.
    let unknown = names.filter(|name| !known.iter().any(|known| known.eq_ignore_ascii_case(name)));
    Ok(unknown.map(|name| misspelt(name, &known)).collect())
}

/// The names in a file that nobody reads.
pub(super) fn in_file(text: &str) -> Vec<Misspelt> {
    let places = || SETTINGS.iter().filter_map(|setting| setting.place);
    let known: Vec<String> = places()
        .map(|(table, name)| format!("{table}.{name}"))
        .collect();
    let tables: Vec<String> = places().map(|(table, _)| table.to_owned()).collect();
    let mut found = Vec::new();
    let document: toml::Table = toml::from_str(text).unwrap_or_default();
    for (table, value) in &document {
        let Some(entries) = value.as_table() else {
            found.push(misspelt(table.clone(), &known));
            continue;
        };
        if !tables.contains(table) {
            found.push(misspelt(table.clone(), &tables));
            continue;
        }
        let names = entries.keys().map(|name| format!("{table}.{name}"));
        let unknown = names.filter(|name| !known.contains(name));
        found.extend(unknown.map(|name| misspelt(name, &known)));
    }
    found
}

fn misspelt(name: String, known: &[String]) -> Misspelt {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_lowercase();
    // The right word in the wrong table.
    let elsewhere = known.iter().find(|known| last(known) == last(&name));
    let near = || nearest(&name, known.iter().map(String::as_str));
    Misspelt {
        meant: elsewhere
            .map(String::as_str)
            .or_else(near)
            .map(str::to_owned),
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found_in_the_file() {
        let meant = |text: &str| {
            let found = in_file(text).into_iter();
            found
                .map(|name| (name.name, name.meant))
                .collect::<Vec<_>>()
        };
        let is = |name: &str, right: Option<&str>| (name.to_owned(), right.map(str::to_owned));
        assert_eq!(
            meant("[files]\nsuorces = []\nignore = []\n[build]\ntimeout = \"1s\""),
            [
                is("build.timeout", Some("tests.timeout")),
                is("files.suorces", Some("files.sources"))
            ]
        );
        assert_eq!(
            meant("[test]\nrunner = \"make\""),
            [is("test", Some("tests"))]
        );
        assert_eq!(
            meant("runner = \"make\""),
            [is("runner", Some("tests.runner"))]
        );
        assert_eq!(
            meant("[tests]\nsomething_else = 1"),
            [is("tests.something_else", None)]
        );
        assert_eq!(meant("not toml ["), []);
    }
}
