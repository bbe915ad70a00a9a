//! Errors as git writes them: a lowercase sentence, then hints.

use std::fmt;

use crate::exit_code::ExitCode;

/// What went wrong, what to do about it, and the code to leave with.
#[derive(Debug)]
pub struct Error {
    pub message: String,
    pub hints: Vec<String>,
    pub exit_code: ExitCode,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Error {
            message: message.into(),
            hints: Vec::new(),
            exit_code: ExitCode::Failure,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    #[must_use]
    pub fn exit_code(mut self, exit_code: ExitCode) -> Self {
        self.exit_code = exit_code;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
