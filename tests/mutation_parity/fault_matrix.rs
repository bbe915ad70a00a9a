//! The mutants as a fault matrix for `git rts simulate`: each one that a test notices is a version with one fault.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::answer::Answer;
use crate::plain::Outcomes;

/// As many faulty changes as a program of the paper has, more or less.
const VERSIONS: usize = 40;

/// Where matrices go, if the environment says so.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os("GIT_RTS_FAULT_MATRICES").map(Into::into)
}

/// What one mutant brings to the matrix: who crosses which edges of it, and who notices it.
pub(crate) fn version(answer: &Answer, changed: &Outcomes) -> Option<String> {
    if changed.is_empty() {
        return None;
    }
    let mut text = String::new();
    for (test, reasons) in &answer.selected {
        let edges: BTreeSet<String> = reasons.iter().flat_map(edges).collect();
        let _ = write!(text, "crosses\t{test}");
        for edge in edges {
            let _ = write!(text, "\t{edge}");
        }
        text.push('\n');
    }
    for test in changed.keys() {
        let _ = writeln!(text, "reveals\t{test}\tFAULT");
    }
    Some(text)
}

/// The dangerous edges that a reason names, by their places.
fn edges(reason: &Value) -> Vec<String> {
    let steps = reason["chain"].as_array().into_iter().flatten();
    let crossed = steps.filter(|step| step["text"].as_str().unwrap_or("").contains("->"));
    crossed
        .map(|step| format!("{}:{}", step["file"].as_str().unwrap(), step["line"]))
        .collect()
}

/// The whole matrix. Versions come in the order of their texts, so that the threads make no difference.
pub(crate) fn matrix<'a>(tests: impl Iterator<Item = &'a String>, versions: &[String]) -> String {
    let mut text = String::from("fault-matrix\t1\n");
    for test in tests {
        let _ = writeln!(text, "test\t{test}\t10");
    }
    let mut versions: Vec<&String> = versions.iter().collect();
    versions.sort();
    versions.dedup();
    let step = versions.len().div_ceil(VERSIONS).max(1);
    for (number, version) in versions.into_iter().step_by(step).enumerate() {
        let _ = write!(
            text,
            "version\tv{number}\n{}",
            version.replace("FAULT", &format!("f{number}"))
        );
    }
    text
}
