//! The exit codes of `git rts`: help, manual and README tell them from here.

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
    /// A test was skipped that should not have been.
    Missed = 102,
    /// Not in a git repository, or the repository cannot answer (git's own code).
    Repository = 128,
    /// Ctrl-C ended it (as a shell says it).
    Interrupted = 130,
}

impl ExitCode {
    pub const ALL: [ExitCode; 8] = [
        ExitCode::Success,
        ExitCode::Failure,
        ExitCode::Usage,
        ExitCode::TestsFailed,
        ExitCode::BuildFailed,
        ExitCode::Missed,
        ExitCode::Repository,
        ExitCode::Interrupted,
    ];

    /// What it says, in a few words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            ExitCode::Success => "done",
            ExitCode::Failure => "something could not be done",
            ExitCode::Usage => "wrong usage",
            ExitCode::TestsFailed => "tests failed",
            ExitCode::BuildFailed => "the project could not be built",
            ExitCode::Missed => "a test was skipped wrongly",
            ExitCode::Repository => "the repository cannot answer",
            ExitCode::Interrupted => "interrupted",
        }
    }

    /// All of them in one sentence.
    #[must_use]
    pub fn sentence() -> String {
        let all = Self::ALL.map(|code| format!("{} {}", code as u8, code.meaning()));
        format!("Exit codes: {}.", all.join(", "))
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
