//! What `ctest --show-only=json-v1` prints.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// One test as CTest lists it.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    /// None for a program that was not built.
    pub(super) command: Option<Vec<String>>,
    pub(super) properties: Properties,
}

/// The properties that decide how a test is run.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) environment: Vec<String>,
    pub(super) environment_modification: Vec<String>,
    pub(super) working_directory: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) will_fail: bool,
    pub(super) skip_code: Option<i32>,
    pub(super) skip_texts: Vec<String>,
    pub(super) disabled: bool,
    pub(super) required_files: Vec<String>,
    pub(super) depends: Vec<String>,
    pub(super) sets_up: Vec<String>,
    pub(super) requires: Vec<String>,
    pub(super) cleans_up: Vec<String>,
    pub(super) locks: Vec<String>,
    pub(super) alone: bool,
    pub(super) processors: usize,
    /// There is a property that only CTest can honour.
    pub(super) is_beyond_us: bool,
    /// All but those that a definition holds elsewhere, as text.
    pub(super) texts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Document {
    kind: String,
    version: Version,
    tests: Vec<RawTest>,
}

#[derive(Deserialize)]
struct Version {
    major: u64,
}

#[derive(Deserialize)]
struct RawTest {
    name: String,
    command: Option<Vec<String>>,
    #[serde(default)]
    properties: Vec<RawProperty>,
}

#[derive(Deserialize)]
struct RawProperty {
    name: String,
    value: Value,
}

pub(super) fn parse(text: &[u8]) -> Result<Vec<Listed>> {
    let hint = "git rts needs CMake 3.20 or newer";
    // Names may be in any encoding; CTest prints them as they are.
    let document: Document = serde_json::from_str(&String::from_utf8_lossy(text))
        .map_err(|error| Error::new(format!("cannot read ctest's list: {error}")).hint(hint))?;
    if document.kind != "ctestInfo" || document.version.major != 1 {
        return Err(Error::new("ctest's list is of an unknown kind").hint(hint));
    }
    let tests = document.tests.into_iter().map(|test| Listed {
        name: test.name,
        command: test.command,
        properties: properties(test.properties),
    });
    Ok(tests.collect())
}

fn properties(raw: Vec<RawProperty>) -> Properties {
    let mut all = Properties {
        processors: 1,
        ..Properties::default()
    };
    for RawProperty { name, value } in raw {
        let mut in_definition = true;
        match name.as_str() {
            "ENVIRONMENT" => {
                all.environment = list(&value);
                in_definition = false;
            }
            "WORKING_DIRECTORY" => {
                all.working_directory = value.as_str().map(str::to_owned);
                in_definition = false;
            }
            // It moves with every run.
            "COST" => in_definition = false,
            "ENVIRONMENT_MODIFICATION" => all.environment_modification = list(&value),
            "TIMEOUT" => {
                let seconds = number(&value).unwrap_or(0.0);
                all.timeout = Some(Duration::try_from_secs_f64(seconds).unwrap_or_default());
            }
            "WILL_FAIL" => all.will_fail = truth(&value),
            "SKIP_RETURN_CODE" => all.skip_code = number(&value).map(|code| code as i32),
            // As GoogleTest's discovery sets it for every test.
            "SKIP_REGULAR_EXPRESSION" => match literals(&value) {
                Some(texts) => all.skip_texts = texts,
                None => all.is_beyond_us = true,
            },
            "DISABLED" => all.disabled = truth(&value),
            "REQUIRED_FILES" => all.required_files = list(&value),
            "DEPENDS" => all.depends = list(&value),
            "FIXTURES_SETUP" => all.sets_up = list(&value),
            "FIXTURES_REQUIRED" => all.requires = list(&value),
            "FIXTURES_CLEANUP" => all.cleans_up = list(&value),
            "RESOURCE_LOCK" => all.locks = list(&value),
            "RUN_SERIAL" => all.alone = truth(&value),
            "PROCESSORS" => all.processors = number(&value).map_or(1, |count| count as usize),
            // These say nothing about how a test runs.
            "LABELS"
            | "MEASUREMENT"
            | "ATTACHED_FILES"
            | "ATTACHED_FILES_ON_FAIL"
            | "PROCESSOR_AFFINITY" => {}
            _ => all.is_beyond_us = true,
        }
        if in_definition {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            all.texts.insert(name, text);
        }
    }
    all
}

fn list(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many
            .iter()
            .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// The texts that regular expressions of CMake's kind match, if each matches one text only.
fn literals(value: &Value) -> Option<Vec<String>> {
    let literal = |pattern: &String| {
        let mut text = String::new();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => text.push(letters.next()?),
                '^' | '$' | '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '|' => return None,
                _ => text.push(letter),
            }
        }
        Some(text)
    };
    list(value).iter().map(literal).collect()
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// As CMake reads it.
fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        Value::String(text) => matches!(
            text.to_ascii_uppercase().as_str(),
            "1" | "ON" | "YES" | "TRUE" | "Y"
        ),
        other => other.as_f64().is_some_and(|number| number != 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_that_matches_one_text_is_that_text() {
        let read = |patterns: &[&str]| literals(&serde_json::json!(patterns));
        let skipped = Some(vec!["[  SKIPPED ]".to_owned()]);
        assert_eq!(read(&[r"\[  SKIPPED \]"]), skipped);
        for pattern in ["a.", "^a", "a|b", "[ab]", "a+", "(a)", "a\\"] {
            assert_eq!(read(&[pattern]), None, "{pattern}");
        }
    }

    /// As printed by CTest 3.25.
    const PRINTED: &str = r#"{
        "backtraceGraph": {"commands": [], "files": [], "nodes": []},
        "kind": "ctestInfo", "version": {"major": 1, "minor": 0},
        "tests": [
          {"backtrace": 1, "name": "all", "command": ["/usr/bin/sh", "-c", "a;b\"c"], "properties": [
            {"name": "ATTACHED_FILES", "value": ["f"]},
            {"name": "COST", "value": 3.0},
            {"name": "DEPENDS", "value": ["lock"]},
            {"name": "ENVIRONMENT", "value": ["A=b", "C=d e"]},
            {"name": "ENVIRONMENT_MODIFICATION", "value": ["PATH=path_list_prepend:/x"]},
            {"name": "FIXTURES_REQUIRED", "value": ["F"]},
            {"name": "LABELS", "value": ["a", "b"]},
            {"name": "MEASUREMENT", "value": [{"measurement": "x", "value": "y"}]},
            {"name": "PROCESSORS", "value": 2},
            {"name": "REQUIRED_FILES", "value": ["a.txt", "b c"]},
            {"name": "RESOURCE_LOCK", "value": ["l1", "l2"]},
            {"name": "RUN_SERIAL", "value": true},
            {"name": "SKIP_RETURN_CODE", "value": 77},
            {"name": "TIMEOUT", "value": 0.5},
            {"name": "WILL_FAIL", "value": true},
            {"name": "WORKING_DIRECTORY", "value": "/b"}]},
          {"name": "not built", "properties": [
            {"name": "DISABLED", "value": true},
            {"name": "FIXTURES_SETUP", "value": ["F"]},
            {"name": "FIXTURES_CLEANUP", "value": ["G"]},
            {"name": "PASS_REGULAR_EXPRESSION", "value": ["a", "b"]},
            {"name": "WORKING_DIRECTORY", "value": "/b"}]}]}"#;

    #[test]
    fn every_property_is_read() {
        let tests = parse(PRINTED.as_bytes()).expect("it is CTest's own");
        let all = &tests[0].properties;
        assert_eq!(tests[0].command.as_ref().expect("it is built")[2], "a;b\"c");
        assert_eq!(all.environment, ["A=b", "C=d e"]);
        assert_eq!(all.working_directory.as_deref(), Some("/b"));
        assert_eq!(all.timeout, Some(Duration::from_millis(500)));
        assert!(all.will_fail && all.alone && !all.disabled && !all.is_beyond_us);
        assert_eq!((all.skip_code, all.processors), (Some(77), 2));
        assert_eq!(all.required_files, ["a.txt", "b c"]);
        assert_eq!(all.locks, ["l1", "l2"]);
        assert_eq!(
            (&all.depends[..], &all.requires[..]),
            (&["lock".to_owned()][..], &["F".to_owned()][..])
        );
        assert!(!all.texts.contains_key("COST") && !all.texts.contains_key("ENVIRONMENT"));
        assert_eq!(all.texts["WILL_FAIL"], "true");

        let other = &tests[1].properties;
        assert!(tests[1].command.is_none() && other.disabled && other.is_beyond_us);
        assert_eq!(
            (&other.sets_up[..], &other.cleans_up[..]),
            (&["F".to_owned()][..], &["G".to_owned()][..])
        );
    }

    #[test]
    fn a_property_that_nobody_knows_is_left_to_ctest() {
        let raw = RawProperty {
            name: "RESOURCE_GROUPS".to_owned(),
            value: Value::Null,
        };
        assert!(properties(vec![raw]).is_beyond_us);
    }

    #[test]
    fn another_kind_of_list_is_an_error() {
        for text in [
            "",
            "[]",
            r#"{"kind": "x", "version": {"major": 1}, "tests": []}"#,
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
