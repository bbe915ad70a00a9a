//! Tests that only CTest can judge, by regular expressions for instance: run one through it.

use std::time::Duration;

use super::super::{Judge, Launch, OWN_FOLDER, Outcome, Site};
use crate::error::{Error, Result};

/// More than CTest allows, because it should be CTest that stops the test.
const MARGIN: Duration = Duration::from_secs(10);

/// Makes the launch one of CTest itself, for the test of this number.
pub(super) fn ctest(launch: &mut Launch, number: usize, site: &Site) -> Result<()> {
    // Each has a folder of its own, because CTest writes logs there and several run at once.
    let folder = site.build.join(OWN_FOLDER).join(format!("ctest-{number}"));
    let file = folder.join("CTestTestfile.cmake");
    let build = site.build.to_string_lossy().replace('\\', "/");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, format!("subdirs([==[{build}]==])\n")))
        .map_err(|error| Error::new(format!("cannot write '{}': {error}", file.display())))?;
    launch.command = ["ctest", "-V", "--no-tests=error", "-I"]
        .map(Into::into)
        .to_vec();
    launch.command.push(format!("{number},{number}").into());
    // What sets up a fixture is run by us, once.
    launch.command.extend(["-FA", "."].map(Into::into));
    if let Some(timeout) = &mut launch.timeout {
        launch.command.push("--timeout".into());
        launch
            .command
            .push(timeout.as_secs_f64().to_string().into());
        *timeout += MARGIN;
    }
    launch.folder = folder;
    launch.required_files.clear();
    launch.judge = Judge::Report {
        file: None,
        read: outcome,
    };
    Ok(())
}

/// Reads a line such as `1/1 Test #3: name .....***Failed    0.01 sec`.
fn outcome(printed: &str, code: i32) -> Outcome {
    let line = printed
        .lines()
        .rev()
        .find(|line| line.contains(" Test ") && line.contains("#") && line.starts_with("1/1 "));
    let Some(line) = line else {
        return Outcome::NotRun("ctest did not say how it went".to_owned());
    };
    let Some((_, status)) = line.rsplit_once("***") else {
        return if code == 0 {
            Outcome::Passed
        } else {
            Outcome::Failed { code }
        };
    };
    let status = status.trim();
    if status.starts_with("Skipped") {
        Outcome::Skipped
    } else if status.starts_with("Timeout") {
        Outcome::TimedOut
    } else if status.starts_with("Not Run") {
        Outcome::NotRun("ctest could not run it".to_owned())
    } else if let Some(exception) = status.strip_prefix("Exception:") {
        let signal = match exception.split_ascii_whitespace().next() {
            Some("SegFault") => 11,
            Some("Illegal") => 4,
            Some("Interrupt") => 2,
            Some("Numerical") => 8,
            // Most others are an abort.
            _ => 6,
        };
        Outcome::Crashed { signal }
    } else {
        Outcome::Failed { code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_test_tells_the_outcome() {
        let read =
            |line: &str, code| outcome(&format!("7: ***Failed\n{line}\n\n100% tests\n"), code);
        assert_eq!(
            read("1/1 Test #3: a b ....   Passed    0.01 sec", 0),
            Outcome::Passed
        );
        assert_eq!(
            read("1/1 Test  #12: a ....***Failed    0.01 sec", 8),
            Outcome::Failed { code: 8 }
        );
        assert_eq!(
            read("1/1 Test #3: a ....***Skipped   0.02 sec", 0),
            Outcome::Skipped
        );
        assert_eq!(
            read("1/1 Test #3: a ....***Timeout   0.02 sec", 8),
            Outcome::TimedOut
        );
        assert_eq!(
            read("1/1 Test #3: a ....***Exception: SegFault  0.02 sec", 8),
            Outcome::Crashed { signal: 11 }
        );
        assert_eq!(
            read(
                "1/1 Test #3: a ....***Failed  Error regular expression found in output. Regex=[x] 0.1 sec",
                8
            ),
            Outcome::Failed { code: 8 }
        );
        assert!(matches!(
            read("1/1 Test #4: nb ..***Not Run   0.00 sec", 8),
            Outcome::NotRun(_)
        ));
        assert!(matches!(
            outcome("No tests were found!!!", 8),
            Outcome::NotRun(_)
        ));
    }
}
