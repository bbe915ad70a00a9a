//! Mutation parity: thousands of small changes of three projects, each built and run plainly; whoever behaves differently must have been selected.
//!
//! `GIT_RTS_MUTANTS=all` tries every mutant, a number so many of each project. `GIT_RTS_FAULT_MATRICES=FOLDER` also writes them as fault matrices for `git rts simulate`.

#![allow(clippy::unwrap_used, clippy::panic)]

mod answer;
mod check;
mod fault_matrix;
mod kinds;
mod mutants;
mod plain;
mod structure;
mod subject;
mod tally;
mod tokens;

#[path = "../test_repo/mod.rs"]
mod test_repo;

use std::sync::Mutex;
use std::time::Instant;

use subject::Subject;

/// Each subject uses all cores, so that they take turns.
static TURN: Mutex<()> = Mutex::new(());

#[track_caller]
fn never_skips_what_a_mutant_changes(name: &str, backend: &str, tried: usize, at_least: usize) {
    let _turn = TURN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let start = Instant::now();
    let wanted = check::wanted();
    let subject = Subject::recorded(name, backend);
    let tally = check::check(&subject, wanted.unwrap_or(tried));
    let seconds = start.elapsed().as_secs();
    println!("{name}, {backend}, {seconds} s\n{tally}");
    if let Some(folder) = fault_matrix::folder() {
        let matrix = fault_matrix::matrix(tally.tests.iter(), &tally.versions);
        std::fs::write(folder.join(format!("{name}-{backend}.tsv")), matrix).unwrap();
    }
    assert!(tally.misses.is_empty(), "tests are skipped, see above");
    assert!(tally.unfounded.is_empty(), "reasons are wrong, see above");
    let is_enough = wanted.is_some() || tally.mutants >= at_least;
    assert!(is_enough, "too few mutants compile");
    assert!(tally.changed > 0 && tally.selected < tally.runs, "{tally}");
}

#[test]
fn a_parser_with_tables_of_functions_is_safe_under_mutation() {
    never_skips_what_a_mutant_changes("json", "llvm", 460, 335);
}

#[test]
fn containers_with_inline_functions_and_x_macros_are_safe_under_mutation() {
    never_skips_what_a_mutant_changes("containers", "llvm", 485, 335);
}

#[test]
fn a_machine_that_leaves_by_longjmp_is_safe_under_mutation() {
    never_skips_what_a_mutant_changes("machine", "llvm", 430, 335);
}

#[test]
fn a_project_recorded_by_gcov_is_safe_under_mutation() {
    never_skips_what_a_mutant_changes("json", "gcov", 195, 150);
}
