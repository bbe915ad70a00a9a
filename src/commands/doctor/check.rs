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

    /// What an error says, with its hints as one.
    pub(super) fn failed(name: &'static str, error: &Error) -> Self {
        let hint = match error.hints.as_slice() {
            [] => None,
            hints => Some(hints.join("; ")),
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
        let mut text = format!("{style}{word}{style:#}  {:<10}  {}\n", self.name, self.says);
        if let Some(hint) = &self.hint {
            text += &format!("{:18}hint: {hint}\n", "");
        }
        text
    }
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
