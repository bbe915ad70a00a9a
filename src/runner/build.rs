//! Building a site: a runner's steps, one after the other, in a log.

use std::path::Path;

use super::complaints::complaints;
use super::process::{self, End};
use super::{Interrupt, Launch, Runner, Settings, Site, ask};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only as far as it takes to list the tests.
    Configure,
    All,
}

/// Runs the steps that configure and build; what they print goes to `log`.
pub fn build(
    runner: &dyn Runner,
    site: &Site,
    settings: &Settings,
    interrupt: &Interrupt,
    log: &Path,
    extent: Extent,
) -> Result<()> {
    let cannot_write =
        |error: std::io::Error| Error::new(format!("cannot write '{}': {error}", log.display()));
    std::fs::create_dir_all(&site.build)
        .map_err(|error| Error::new(format!("cannot make '{}': {error}", site.build.display())))?;
    std::fs::write(log, "").map_err(cannot_write)?;
    let steps = runner.build(site, settings).into_iter();
    let wanted = steps.filter(|step| extent == Extent::All || step.what == "configure");
    for step in wanted {
        let command = ask::for_people(&step.command);
        let line = format!("$ {command}\n");
        process::note(log, &line).map_err(cannot_write)?;
        let launch = Launch {
            command: step.command,
            environment: site.environment.clone(),
            folder: step.folder,
            ..Launch::default()
        };
        let ended = process::run(&launch, log, interrupt).map_err(|error| {
            ask::missing(&launch.command[0], &error)
                .unwrap_or_else(|| Error::new(format!("cannot run '{command}': {error}")))
        })?;
        let how = match ended.end {
            End::Exited(0) => continue,
            End::Interrupted => {
                return Err(Error::new("interrupted").exit_code(ExitCode::Interrupted));
            }
            End::Exited(code) => format!("exit code {code}"),
            End::Signalled(signal) => format!("signal {signal}"),
            End::TimedOut => "timeout".to_owned(),
        };
        let said = std::fs::read(log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let error = Error::new(format!(
            "cannot {} the project: '{command}' ended with {how}",
            step.what
        ))
        .exit_code(ExitCode::BuildFailed);
        // Earlier steps did what they should, whatever they said.
        let begun = said.rfind(&line).map_or(0, |begun| begun + line.len());
        // People look for the files in their own tree, not in the copy.
        let copy = format!("{}/", site.tree.display());
        let told = complaints(&said[begun..]).into_iter();
        let error = told
            .map(|line| line.replace(&copy, ""))
            .fold(error, Error::hint);
        return Err(error.hint(format!("all it printed is in '{}'", log.display())));
    }
    Ok(())
}
