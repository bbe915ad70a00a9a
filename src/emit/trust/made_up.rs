//! Made-up trials for the tests of the reports.

use super::{Deed, Subject};
use crate::history::Outcome::{self, Failed, Passed};
use crate::trust::{Observed, Times, Trial};

pub(in crate::emit) fn replay() -> Subject {
    Subject {
        deed: Deed::Replay {
            range: "v1..v2".to_owned(),
        },
        git_rts: "0.1.0".to_owned(),
        tests: 3,
        elsewhere: "replay.html".to_owned(),
        written: 0,
    }
}

pub(in crate::emit) fn audit() -> Subject {
    let version = "HEAD".to_owned();
    Subject {
        deed: Deed::Audit { version },
        elsewhere: "audit.html".to_owned(),
        ..replay()
    }
}

fn test(name: &str, selected: bool, after: Outcome) -> Observed {
    Observed {
        name: name.to_owned(),
        selected,
        before: Some(Passed),
        after,
        milliseconds: 10,
        flaky: false,
        moved: None,
    }
}

pub(in crate::emit) fn caught(name: &str) -> Observed {
    test(name, true, Failed)
}

pub(in crate::emit) fn missed(name: &str) -> Observed {
    test(name, false, Failed)
}

/// Skipped, and ends as before.
pub(in crate::emit) fn idle(name: &str) -> Observed {
    test(name, false, Passed)
}

/// Selected, and ends as before.
pub(in crate::emit) fn vain(name: &str) -> Observed {
    test(name, true, Passed)
}

pub(in crate::emit) fn trial(change: &str, tests: Vec<Observed>) -> Trial {
    Trial {
        obstacle: None,
        tests,
        times: Times {
            plain: Some(3000),
            build: 1000,
            analysis: 100,
            selected: 400,
            all: 2000,
        },
        ..Trial::stopped(
            change.to_owned(),
            format!("title of {change}"),
            String::new(),
        )
    }
}
