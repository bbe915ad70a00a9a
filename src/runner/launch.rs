//! How one test is run alone, and what its end means.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::process::End;

/// Everything it takes to run one test.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    pub command: Vec<OsString>,
    /// Over what we inherited: a value to set, or none to unset. Later entries win.
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub folder: PathBuf,
    pub timeout: Option<Duration>,
    /// Without these the test is not run; tests before it may make them.
    pub required_files: Vec<PathBuf>,
    /// What it starts may be meant for other tests: it goes on until all have ended.
    pub prepares: bool,
    /// Its project says that it is not to run.
    pub is_disabled: bool,
    /// Why it cannot be run at all, if so.
    pub unavailable: Option<String>,
    /// Where its harness puts what it prints, if not before everybody.
    pub printed_to: Option<PathBuf>,
    pub judge: Judge,
}

/// What tells whether a test passed.
#[derive(Debug, Clone)]
pub enum Judge {
    /// Its exit code.
    Exit {
        skip: Vec<i32>,
        /// Who prints one of these skipped itself, whatever its code.
        skip_texts: Vec<String>,
        expected: Expected,
        /// Codes that are a failure even where one is expected.
        always_failure: Vec<i32>,
    },
    /// What a harness wrote: a file, or without one what it printed.
    Report {
        file: Option<PathBuf>,
        read: fn(text: &str, code: i32) -> Outcome,
    },
}

/// What a test must do to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Success,
    Failure,
    FailureOrCrash,
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Passed,
    Failed {
        code: i32,
    },
    Skipped,
    TimedOut,
    Crashed {
        signal: i32,
    },
    /// It was not run, or not to its end; the reason is for people.
    NotRun(String),
}

impl Default for Judge {
    fn default() -> Self {
        Judge::Exit {
            skip: Vec::new(),
            skip_texts: Vec::new(),
            expected: Expected::Success,
            always_failure: Vec::new(),
        }
    }
}

impl Judge {
    /// The exit codes that GNU, Meson and the runner `command` share: 77 skips.
    pub(super) fn gnu() -> Self {
        Judge::Exit {
            skip: vec![77],
            skip_texts: Vec::new(),
            expected: Expected::Success,
            always_failure: Vec::new(),
        }
    }

    /// The outcome of a test that ended so and printed to `log`.
    pub(super) fn outcome(&self, end: End, log: &std::path::Path) -> Outcome {
        let code = match end {
            End::Exited(code) => code,
            End::Signalled(signal) => {
                return match self {
                    Judge::Exit {
                        expected: Expected::FailureOrCrash,
                        ..
                    } => Outcome::Passed,
                    _ => Outcome::Crashed { signal },
                };
            }
            End::TimedOut => return Outcome::TimedOut,
            End::Interrupted => return Outcome::NotRun("interrupted".to_owned()),
        };
        match self {
            Judge::Exit {
                skip,
                skip_texts,
                expected,
                always_failure,
            } => {
                if skip.contains(&code) || prints(log, skip_texts) {
                    Outcome::Skipped
                } else if (code == 0) == (*expected == Expected::Success)
                    && !always_failure.contains(&code)
                {
                    Outcome::Passed
                } else {
                    Outcome::Failed { code }
                }
            }
            Judge::Report { file, read } => {
                let text = std::fs::read(file.as_deref().unwrap_or(log)).unwrap_or_default();
                read(&String::from_utf8_lossy(&text), code)
            }
        }
    }
}

/// Whether one of these texts is in a log.
fn prints(log: &std::path::Path, texts: &[String]) -> bool {
    if texts.is_empty() {
        return false;
    }
    let printed = std::fs::read(log).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    texts.iter().any(|text| printed.contains(text.as_str()))
}

impl Outcome {
    #[must_use]
    pub fn has_passed(&self) -> bool {
        *self == Outcome::Passed
    }

    /// For people.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed { code } => format!("failed with exit code {code}"),
            Outcome::Skipped => "skipped itself".to_owned(),
            Outcome::TimedOut => "timed out".to_owned(),
            Outcome::Crashed { signal } => format!("crashed with signal {signal}"),
            Outcome::NotRun(reason) => format!("not run: {reason}"),
        }
    }

    /// It passed, or had a reason not to run.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        matches!(self, Outcome::Passed | Outcome::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn judged(judge: &Judge, end: End) -> Outcome {
        judge.outcome(end, Path::new("/nonexistent"))
    }

    #[test]
    fn an_expected_failure_passes_unless_it_is_a_crash() {
        let mut judge = Judge::Exit {
            skip: vec![77],
            skip_texts: Vec::new(),
            expected: Expected::Failure,
            always_failure: vec![99],
        };
        assert_eq!(judged(&judge, End::Exited(1)), Outcome::Passed);
        assert_eq!(judged(&judge, End::Exited(0)), Outcome::Failed { code: 0 });
        assert_eq!(judged(&judge, End::Exited(77)), Outcome::Skipped);
        assert_eq!(
            judged(&judge, End::Exited(99)),
            Outcome::Failed { code: 99 }
        );
        assert_eq!(
            judged(&judge, End::Signalled(11)),
            Outcome::Crashed { signal: 11 }
        );
        assert_eq!(judged(&judge, End::TimedOut), Outcome::TimedOut);
        if let Judge::Exit { expected, .. } = &mut judge {
            *expected = Expected::FailureOrCrash;
        }
        assert_eq!(judged(&judge, End::Signalled(11)), Outcome::Passed);
    }

    #[test]
    fn a_test_that_says_so_skipped_itself() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let judge = Judge::Exit {
            skip: Vec::new(),
            skip_texts: vec!["[  SKIPPED ]".to_owned()],
            expected: Expected::Success,
            always_failure: Vec::new(),
        };
        std::fs::write(&log, "[       OK ] A.B\n").expect("there is room");
        assert_eq!(judge.outcome(End::Exited(0), &log), Outcome::Passed);
        std::fs::write(&log, "x\n[  SKIPPED ] A.B\n").expect("there is room");
        assert_eq!(judge.outcome(End::Exited(0), &log), Outcome::Skipped);
        assert_eq!(judge.outcome(End::Exited(1), &log), Outcome::Skipped);
    }

    #[test]
    fn a_report_that_was_not_written_is_judged_as_empty() {
        let judge = Judge::Report {
            file: Some("/nonexistent/report".into()),
            read: |text, code| {
                assert!(text.is_empty());
                Outcome::Failed { code }
            },
        };
        assert_eq!(judged(&judge, End::Exited(2)), Outcome::Failed { code: 2 });
    }
}
