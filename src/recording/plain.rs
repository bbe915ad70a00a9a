//! The build that people would make without us, and its whole suite: only how long both take is of interest.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::settings;
use super::site::{all_processors, site_of};
use crate::config::Config;
use crate::error::Result;
use crate::masquerade;
use crate::repo::Repository;
use crate::runner::needs::constraints;
use crate::runner::{self, Extent, Interrupt, Limits, Run, run_all};
use crate::workshop::Workshop;

/// How long the project as it lies in the work tree takes to build, on top of what was built before, and to test whole: with the
/// compilers that it chooses, without counters, and with nobody looking on.
pub fn time_plainly(
    repository: &Repository,
    config: &Config,
    jobs: usize,
    interrupt: &Arc<Interrupt>,
) -> Result<Duration> {
    let workshop = Workshop::of_plain(repository);
    workshop.make_folders()?;
    workshop.copy(repository)?;
    // What outlives its test is known by the variable, and nothing else looks at it.
    let own = workshop.compilers.clone();
    let marked = vec![(masquerade::FOLDER.into(), own.into_os_string())];
    let site = site_of(&workshop, marked, all_processors());
    let settings = settings(config);
    let runner = runner::detect(&workshop.tree, &settings)?;
    let started = Instant::now();
    let log = workshop.build_log();
    runner::build(runner, &site, &settings, interrupt, &log, Extent::All)?;
    let tests = runner.list(&site, &settings)?;
    let tests: Vec<_> = tests.iter().collect();
    let runs: Vec<Run> = tests
        .iter()
        .map(|test| Run {
            launch: test.launch.clone(),
            log: workshop.log_of(&test.name),
        })
        .collect();
    let limits = Limits {
        jobs,
        failures: None,
    };
    run_all(
        &runs,
        &constraints(&tests),
        limits,
        interrupt,
        |_| {},
        |_, finished| finished,
        |_, _| {},
    );
    let took = started.elapsed();
    runner::end_survivors(masquerade::FOLDER, workshop.compilers.as_os_str());
    Ok(took)
}
