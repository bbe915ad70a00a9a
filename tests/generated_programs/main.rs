//! Random C programs, random edits of them, and a small interpreter: whatever behaves differently crossed a dangerous edge.

#![allow(clippy::unwrap_used, clippy::panic)]

mod analyse;
mod ast;
mod choices;
mod compiles;
mod crossing;
mod edit;
mod expand;
mod generate;
mod noise;
mod print;
mod recorded;
mod repository;
mod run;
mod safety;
mod visit;

use git_rts::lang::c::Granularity;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::{TestCaseError, TestError, TestRunner};

use choices::Choices;
use safety::{Dangers, Verdict};

/// The number of cases, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 1500;

fn check(cases: u32, property: impl Fn(&[u16]) -> Result<(), TestCaseError>) {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&vec(any::<u16>(), 10..250), |numbers| property(&numbers));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(story, numbers)) => panic!("{story}\n{numbers:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn whoever_behaves_differently_crossed_a_dangerous_edge() {
    check(CASES, |numbers| {
        match safety::check(numbers, Dangers::All) {
            Verdict::Unsafe(story) => Err(TestCaseError::fail(story)),
            _ => Ok(()),
        }
    });
}

#[test]
fn comments_white_space_and_moved_functions_endanger_nobody() {
    check(CASES / 3, |numbers| {
        let mut choices = Choices::new(numbers);
        let mut base = generate::program(&mut choices);
        let base_text = print::print(&mut base);
        let mut head = base;
        let at = choices.below(head.functions.len());
        head.functions.swap(0, at);
        let head_text = noise::dress(&print::print(&mut head), &mut choices);
        let analysis = analyse::analyse(&base_text, &head_text, Granularity::Expression);
        if analysis.is_quiet() {
            return Ok(());
        }
        Err(TestCaseError::fail(format!(
            "{:#?}\n{:#?}\n{base_text}\n---\n{head_text}",
            analysis.entities, analysis.functions
        )))
    });
}

/// A fixed list of numbers, for tests that must not depend on luck.
fn numbers(seed: u64) -> Vec<u16> {
    let mut state = seed;
    std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u16
    })
    .take(200)
    .collect()
}

#[test]
fn the_property_fails_when_edges_are_forgotten() {
    for dangers in [Dangers::NoEdges, Dangers::OnlyEntries, Dangers::NoOutcomes] {
        let caught = (0..150)
            .filter(|seed| {
                let numbers = numbers(*seed);
                matches!(safety::check(&numbers, dangers), Verdict::Unsafe(_))
            })
            .count();
        assert!(caught >= 5, "{dangers:?}: {caught} caught");
    }
}

#[test]
fn many_edits_change_what_a_program_does() {
    let different = (0..150)
        .filter(|seed| {
            let numbers = numbers(*seed);
            matches!(safety::check(&numbers, Dangers::All), Verdict::Different)
        })
        .count();
    assert!(different >= 40, "{different} of 150");
}

#[test]
fn the_program_reports_the_same_edges_for_a_repository() {
    repository::check((0..36).map(numbers));
}

#[test]
fn a_recorded_trace_has_every_edge_that_was_crossed() {
    let mut tally = recorded::Tally::default();
    for (compiler, flags) in [("clang-14", ["-O0"]), ("clang-19", ["-O2"])] {
        for seed in 0..45 {
            recorded::check(compiler, &flags, &numbers(seed), &mut tally);
        }
    }
    assert!(tally.compared > 200, "{tally:?}");
    assert!(tally.widened < tally.crossed, "{tally:?}");
}

#[test]
fn without_macros_a_recorded_trace_has_no_edge_that_was_not_crossed() {
    let mut tally = recorded::Tally::default();
    let plain = (0..5000).filter(|seed| {
        let case = safety::generate(&numbers(*seed));
        case.as_ref().is_some_and(recorded::is_plain)
    });
    for seed in plain.take(40) {
        recorded::check("clang-16", &["-O1"], &numbers(seed), &mut tally);
    }
    assert!(tally.exact > 100, "{tally:?}");
}
