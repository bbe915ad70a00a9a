//! A change between two small trees, and what `git rts diff` says of it.

#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::test_repo::{TestRepo, edges};

pub(crate) type Files<'a> = [(&'a str, &'a str)];

/// The difference between two trees.
pub(crate) struct Change {
    pub(crate) document: Value,
}

impl Change {
    pub(crate) fn between(base: &Files, head: &Files) -> Self {
        let repo = TestRepo::new();
        let (base, head) = (repo.commit(base), repo.commit(head));
        Change {
            document: repo.diff_json(&base, &head),
        }
    }

    /// Of a program of one file.
    pub(crate) fn of(base: &str, head: &str) -> Self {
        Self::between(&[("a.c", base)], &[("a.c", head)])
    }

    /// Exactly these edges are dangerous, in the whole program; the bystanders are not even mentioned.
    #[track_caller]
    pub(crate) fn endangers(self, expected: &[&str], bystanders: &[&str]) -> Self {
        let expected: BTreeSet<String> = expected.iter().map(|edge| (*edge).to_owned()).collect();
        assert_eq!(edges(&self.document), expected, "{:#}", self.document);
        for bystander in bystanders {
            for list in ["functions", "entities"] {
                let named = self
                    .list(list)
                    .iter()
                    .any(|item| item["name"] == *bystander);
                assert!(
                    !named,
                    "'{bystander}' is among the {list}: {:#}",
                    self.document
                );
            }
        }
        self
    }

    /// Nothing is in danger, nobody is affected.
    #[track_caller]
    pub(crate) fn endangers_nothing(self) -> Self {
        let change = self.endangers(&[], &[]);
        assert!(change.list("functions").is_empty(), "{:#}", change.document);
        let wide = change
            .list("entities")
            .iter()
            .any(|entity| entity["reach"] != "mentions" || entity["change"] == "affected");
        assert!(!wide, "{:#}", change.document);
        change
    }

    /// An entity is reported with this reach.
    #[track_caller]
    pub(crate) fn reaches(self, name: &str, reach: &str) -> Self {
        let found: Vec<&Value> = self
            .list("entities")
            .iter()
            .filter(|entity| entity["name"] == name)
            .map(|entity| &entity["reach"])
            .collect();
        assert!(
            !found.is_empty() && found.iter().any(|found| *found == reach),
            "'{name}' reaches {found:?}, not {reach}: {:#}",
            self.document
        );
        self
    }

    pub(crate) fn list(&self, name: &str) -> &[Value] {
        self.document[name].as_array().unwrap()
    }
}

/// A text with one place changed.
#[track_caller]
pub(crate) fn edit(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "'{old}' in {text}");
    text.replace(old, new)
}

#[track_caller]
pub(crate) fn edited(text: &str, old: &str, new: &str) -> Change {
    Change::of(text, &edit(text, old, new))
}

pub(crate) const BYSTANDER: &str = "int bystander(int x) { return x; }\n";

pub(crate) fn with_bystander(text: &str) -> String {
    format!("{text}{BYSTANDER}")
}
