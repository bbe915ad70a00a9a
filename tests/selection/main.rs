//! Selection from end to end: each scenario is a small project with a change, recorded and compared by real compilers and git.
//!
//! `tests/cases/selection` has a file for each, named like the fact that it shows; `scenario` tells how to read one.

#![allow(clippy::unwrap_used, clippy::panic)]

mod builds;
mod drivers;
mod facts;
mod foreign;
mod kept;
mod outsiders;
mod project;
mod same_code;
mod scenario;
mod stale;
mod steps;
#[path = "../test_repo/mod.rs"]
mod test_repo;
mod unseen;
mod versions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use project::Project;
use scenario::Scenario;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/selection")
}

/// Plays a scenario with both back ends: gcov may select more than llvm, and neither less than the change can reach.
fn holds(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    let scenario = Scenario::read(&text);
    let mut wrong = Vec::new();
    for backend in ["llvm", "gcov"] {
        let project = Project::recorded(&scenario, backend);
        let told = project.selected("HEAD~1");
        let selected: BTreeSet<String> = told.iter().map(|(name, _)| name.clone()).collect();
        let mut skipped = scenario.skipped.clone();
        if backend == "llvm" {
            skipped.extend(scenario.skipped_with_llvm.iter().cloned());
        }
        let missed: Vec<&String> = scenario.selected.difference(&selected).collect();
        let more: Vec<&String> = skipped.intersection(&selected).collect();
        if !missed.is_empty() {
            wrong.push(format!("{backend}: {missed:?} MISSED; selected: {told:?}"));
        }
        if !more.is_empty() {
            wrong.push(format!("{backend}: {more:?} need not run: {told:?}"));
        }
        if scenario.is_run && wrong.is_empty() {
            let mut expected: BTreeSet<String> = scenario.new.clone();
            match scenario.run.is_empty() {
                true => expected.extend(selected),
                false => {
                    expected.extend(scenario.run.iter().filter(|name| *name != "none").cloned());
                }
            }
            assert_eq!(project.would_run("HEAD~1"), expected, "{backend}");
            project.run("HEAD~1");
            let unsettled = project.unsettled();
            assert!(unsettled.is_subset(&expected), "{backend}: {unsettled:?}");
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}
