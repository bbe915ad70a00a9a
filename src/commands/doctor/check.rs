//! One check: what it is about, how it went, and what to do.

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    /// It works, but not as well as it could.
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) says: String,
    pub(super) hint: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, says: impl Into<String>) -> Self {
        Check {
            name,
            status: Status::Ok,
            says: says.into(),
            hint: None,
        }
    }

    pub(super) fn warn(
        name: &'static str,
        says: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Check {
            status: Status::Warn,
            hint: Some(hint.into()),
            ..Self::ok(name, says)
        }
    }

    pub(super) fn fail(
        name: &'static str,
        says: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Check {
            status: Status::Fail,
            ..Self::warn(name, says, hint)
        }
    }

    /// What an error says, with its hints as one, a line each: some are lines to be copied into a file.
    pub(super) fn failed(name: &'static str, error: &Error) -> Self {
        let hint = match error.hints.as_slice() {
            [] => None,
            hints => Some(hints.join("\n")),
        };
        Check {
            status: Status::Fail,
            hint,
            ..Self::ok(name, error.message.as_str())
        }
    }

    /// For people.
    pub(super) fn lines(&self) -> String {
        let (word, style): (_, Style) = match self.status {
            Status::Ok => ("ok  ", AnsiColor::Green.on_default()),
            Status::Warn => ("warn", AnsiColor::Yellow.on_default().bold()),
            Status::Fail => ("fail", AnsiColor::Red.on_default().bold()),
        };
        let says = below(&self.says, 18);
        let mut text = format!("{style}{word}{style:#}  {:<10}  {says}\n", self.name);
        if let Some(hint) = &self.hint {
            text += &format!("{:18}hint: {}\n", "", below(hint, 24));
        }
        text
    }
}

/// A text whose further lines begin below its first.
fn below(text: &str, column: usize) -> String {
    text.replace('\n', &format!("\n{:column$}", ""))
}

/// The first of many, for people.
pub(super) fn some_of(names: &[String]) -> String {
    const TOLD: usize = 3;
    let told = names.iter().take(TOLD).map(|name| format!("'{name}'"));
    let told = told.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TOLD) {
        0 => told,
        rest => format!("{told} and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_hint_stand_below_each_other() {
        let error = Error::new("no tests were found")
            .hint("say how they are run:")
            .hint("[tests]")
            .hint("run = \"run {test}\"");
        let check = Check::failed("runner", &error);
        let text = anstream::adapter::strip_str(&check.lines()).to_string();
        let wanted = [
            "fail  runner      no tests were found",
            "                  hint: say how they are run:",
            "                        [tests]",
            "                        run = \"run {test}\"",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
        let hint = check.hint.expect("the error has hints");
        assert_eq!(hint.lines().collect::<Vec<_>>(), error.hints);
    }
}
