//! What git-rts says about the work tree of a mutant: who is selected, and whether each reason is one of the change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::test_repo::TestRepo;

/// What a change of source may select a test for; all else would be a selection without a danger.
const KINDS: [&str; 5] = ["edge", "uncounted", "file", "program", "definition"];

pub(crate) struct Answer {
    /// The selected tests with their reasons.
    pub(crate) selected: BTreeMap<String, Vec<Value>>,
    /// The tests that were skipped.
    pub(crate) skipped: BTreeSet<String>,
}

impl Answer {
    pub(crate) fn of(repo: &TestRepo) -> Self {
        let plan = repo.json(&["select", "HEAD", "--format", "json"]);
        let mut answer = Answer {
            selected: BTreeMap::new(),
            skipped: BTreeSet::new(),
        };
        for test in plan["tests"].as_array().unwrap() {
            let name = test["name"].as_str().unwrap().to_owned();
            if test["selected"].as_bool().unwrap() {
                let reasons = test["reasons"].as_array().unwrap().clone();
                answer.selected.insert(name, reasons);
            } else {
                answer.skipped.insert(name);
            }
        }
        answer
    }

    /// Reasons that the difference does not bear out.
    pub(crate) fn unfounded(&self, repo: &TestRepo) -> Vec<String> {
        if self.selected.is_empty() {
            return Vec::new();
        }
        let difference = repo.json(&["diff", "HEAD", "--format", "json"]);
        let functions = difference["functions"].as_array().unwrap();
        let in_danger: BTreeSet<(&str, &str)> = functions
            .iter()
            .filter(|function| function["edges"].as_u64().unwrap() > 0)
            .map(|function| (word(function, "file"), word(function, "name")))
            .collect();
        let is_founded = |reason: &Value| match word(reason, "kind") {
            "edge" | "uncounted" => {
                in_danger.contains(&(word(reason, "file"), word(reason, "function")))
            }
            kind => KINDS.contains(&kind),
        };
        let mut unfounded = Vec::new();
        for (test, reasons) in &self.selected {
            let wrong = reasons.iter().filter(|reason| !is_founded(reason));
            unfounded.extend(wrong.map(|reason| format!("{test}: {reason}")));
            if reasons.is_empty() {
                unfounded.push(format!("{test}: no reason"));
            }
        }
        unfounded
    }
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}
