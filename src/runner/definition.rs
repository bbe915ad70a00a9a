//! A test's definition: what a change of build files can change about it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Site;

/// What defines a test. Our own folders are written `{tree}` and `{build}`, so that it is the same on every machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub working_directory: String,
    pub properties: BTreeMap<String, String>,
}

impl Definition {
    /// As bytes, to be kept and compared.
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        // Maps of strings with sorted keys can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// From such bytes.
    #[must_use]
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// What differs between two encoded definitions, for people.
    #[must_use]
    pub fn what_differs(old: &[u8], new: &[u8]) -> Vec<String> {
        let read = |bytes| Definition::decoded(bytes).unwrap_or_default();
        let (old, new) = (read(old), read(new));
        let mut found = Vec::new();
        if old.command != new.command {
            found.push("command".to_owned());
        }
        if old.working_directory != new.working_directory {
            found.push("working directory".to_owned());
        }
        for (what, old, new) in [
            ("variable", &old.environment, &new.environment),
            ("property", &old.properties, &new.properties),
        ] {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let other = names
                .into_iter()
                .filter(|name| old.get(*name) != new.get(*name));
            found.extend(other.map(|name| format!("{what} {name}")));
        }
        found
    }
}

/// The folders of a site under every name that tools may print for them, longest first.
pub(super) struct Places(Vec<(String, &'static str)>);

impl Places {
    pub(super) fn of(site: &Site) -> Self {
        let mut names = Vec::new();
        for (folder, name) in [(&site.build, "{build}"), (&site.tree, "{tree}")] {
            names.push((folder.to_string_lossy().into_owned(), name));
            if let Ok(real) = folder.canonicalize() {
                names.push((real.to_string_lossy().into_owned(), name));
            }
        }
        names.retain(|(folder, _)| folder.len() > 1);
        names.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        Places(names)
    }

    /// The text without our folders.
    pub(super) fn general(&self, text: impl AsRef<OsStr>) -> String {
        let mut text = text.as_ref().to_string_lossy().into_owned();
        for (folder, name) in &self.0 {
            text = replace_folder(&text, folder, name);
        }
        text
    }

    /// A file's path within the tree or the build, if it is in one of them.
    pub(super) fn within(&self, file: &str) -> Option<String> {
        self.0.iter().find_map(|(folder, _)| {
            let rest = Path::new(file).strip_prefix(folder).ok()?;
            Some(rest.to_string_lossy().into_owned())
        })
    }
}

/// Replaces a folder where its name ends as a path's part does: `/a/tree` is not in `/a/tree2`.
fn replace_folder(text: &str, folder: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let after = &rest[at + folder.len()..];
        let ends_here = !after
            .chars()
            .next()
            .is_some_and(|next| next.is_alphanumeric() || matches!(next, '-' | '_' | '.' | '+'));
        out.push_str(&rest[..at]);
        out.push_str(if ends_here { name } else { folder });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places::of(&Site {
            tree: "/x/site/tree".into(),
            build: "/x/site/tree/build".into(),
            environment: Vec::new(),
            jobs: 1,
        })
    }

    #[test]
    fn folders_are_replaced_wherever_they_stand() {
        let general = places()
            .general("-I/x/site/tree/include:/x/site/tree/build --in=/x/site/tree; /x/site/tree");
        assert_eq!(general, "-I{tree}/include:{build} --in={tree}; {tree}");
    }

    #[test]
    fn longer_names_are_left_alone() {
        for text in ["/x/site/tree2", "/x/site/tree-b/c", "/x/site/tree.old"] {
            assert_eq!(places().general(text), text);
        }
    }

    #[test]
    fn a_path_within_is_relative() {
        assert_eq!(
            places().within("/x/site/tree/t/a.sh").as_deref(),
            Some("t/a.sh")
        );
        assert_eq!(
            places().within("/x/site/tree/build/a").as_deref(),
            Some("a")
        );
        assert_eq!(places().within("/usr/bin/env"), None);
    }
}
