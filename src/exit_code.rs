//! The exit codes of `git rts`, each documented in the manual.

/// Why the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    Success = 0,
    /// Something could not be done; the message says what.
    Failure = 1,
    /// The command line was wrong (as clap and most Unix programs say it).
    Usage = 2,
    /// Tests failed.
    TestsFailed = 100,
    /// The project could not be built.
    BuildFailed = 101,
    /// Not in a git repository, or the repository cannot answer (git's own code).
    Repository = 128,
    /// Ctrl-C ended it (as a shell says it).
    Interrupted = 130,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
