//! The tests that are not to run, as results: whoever runs the others reports those.

use std::fmt::Write as _;
use std::time::Duration;

use crate::emit::junit::{Case, Result, junit};

/// As JUnit's XML. A test is a name and why it is not to run.
#[must_use]
pub fn as_junit(tests: &[(&str, &str)]) -> String {
    let cases = tests.iter().map(|(name, why)| Case {
        name,
        duration: Duration::ZERO,
        result: Result::Skipped(why),
        output: String::new(),
    });
    junit(&cases.collect::<Vec<_>>())
}

/// As TAP, version 13.
#[must_use]
pub fn as_tap(tests: &[(&str, &str)]) -> String {
    let results: Vec<(&str, Result<'_>)> = tests
        .iter()
        .map(|(name, why)| (*name, Result::Skipped(why)))
        .collect();
    tap(&results)
}

/// Results as TAP.
#[must_use]
pub fn tap(results: &[(&str, Result<'_>)]) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", results.len());
    if results.is_empty() {
        text = "TAP version 13\n1..0 # SKIP no test\n".to_owned();
    }
    for (number, (name, result)) in (1..).zip(results) {
        let (word, why) = match result {
            Result::Passed => ("ok", String::new()),
            Result::Skipped(why) => ("ok", format!(" # SKIP {}", escaped(why))),
            Result::Failed(why) => ("not ok", format!("\n  ---\n  message: {why:?}\n  ...")),
        };
        let _ = writeln!(text, "{word} {number} - {}{why}", escaped(name));
    }
    text
}

/// Text that does not begin a directive or a line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '#' => out.push_str("\\#"),
            '\\' => out.push_str("\\\\"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_numbered_and_odd_names_are_no_directives() {
        let text = tap(&[
            ("a # TODO", Result::Passed),
            ("b", Result::Skipped("safely")),
            ("c\nd", Result::Failed("exit 1")),
        ]);
        assert_eq!(
            text,
            "TAP version 13\n1..3\nok 1 - a \\# TODO\nok 2 - b # SKIP safely\nnot ok 3 - c d\n  ---\n  message: \"exit 1\"\n  ...\n"
        );
        assert!(as_tap(&[]).contains("1..0"));
        assert!(as_junit(&[("a", "why")]).contains("<skipped message=\"why\"/>"));
    }
}
