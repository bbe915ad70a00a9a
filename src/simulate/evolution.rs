//! A program that evolves (Kim and Porter, section 3), tested session by session with one technique.
//!
//! - Model 1: each session brings the next version with its change and its faults; after the last one testing goes on until every fault is found.
//! - Model 2: all changes and faults are there at once, and what a session finds is removed before the next.
//!
//! Where no version comes, the difference to the correct program is under test: the changes whose faults are still there. The paper does not say so, but it fits its numbers: minimization goes on to run a test or two a session, and the safe technique needs little more than the suite once in Model 2. There a failing test shows one fault, the first of those that it reveals; that is why even retest-all needs a second session.

use std::collections::BTreeSet;

use crate::order::Ticket;
use crate::order::draw::Draw;
use crate::order::safe_random::Repository;
use crate::order::smoothed::{Alphas, Happened, Memory};
use crate::order::technique::{Session, Technique, choose};

use super::matrix::Matrix;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Changes come one by one.
    One,
    /// All faults are there from the beginning.
    Two,
}

/// How to test.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    pub model: Model,
    pub technique: Technique,
    /// n, of the techniques that have one.
    pub percent: f64,
    /// After so many sessions testing ends, whatever is left; under Model 1 there must be one for each version.
    pub sessions: usize,
    /// The smoothing constant of lru.
    pub alpha: f64,
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// For each fault, in how many sessions it was there; found at once is 1 (section 5.2.2).
    pub ages: Vec<u32>,
    /// How many faults were never found.
    pub missed: usize,
    /// How many tests ran in all sessions together (section 5.2.1).
    pub runs: u64,
    /// How long they took.
    pub milliseconds: u64,
}

#[must_use]
pub fn evolve(matrix: &Matrix, trial: &Trial) -> Outcome {
    let alphas = Alphas {
        execution: trial.alpha,
        ..Alphas::default()
    };
    // The traces come from the base version, on which every test ran.
    let ticket = |name: &String, milliseconds| Ticket {
        name: name.clone(),
        milliseconds: Some(milliseconds),
        memory: Memory::default().after(Happened::Passed, None, &alphas),
        ..Ticket::default()
    };
    let tests = matrix.tests.iter();
    let mut suite: Vec<Ticket> = tests
        .map(|test| ticket(&test.name, test.milliseconds))
        .collect();
    let mut draw = Draw::new(trial.seed);
    let mut repository = Repository::default();
    let mut changed = BTreeSet::new();
    let mut selected = Vec::new();
    let mut is_there = vec![false; matrix.faults.len()];
    let mut outcome = Outcome {
        ages: vec![0; matrix.faults.len()],
        missed: 0,
        runs: 0,
        milliseconds: 0,
    };
    for number in 0..trial.sessions {
        let is_version = trial.model == Model::One && number < matrix.versions.len();
        for (fault, there) in matrix.faults.iter().zip(&mut is_there) {
            *there |= match trial.model {
                Model::One => fault.version == number,
                Model::Two => number == 0,
            };
        }
        let next: BTreeSet<usize> = match is_version {
            true => [number].into(),
            false => {
                let faults = matrix.faults.iter().zip(&is_there);
                let there = faults.filter(|(_, there)| **there);
                there.map(|(fault, _)| fault.version).collect()
            }
        };
        if next != changed {
            selected = under_test(matrix, &next, &mut suite);
            changed = next;
        }
        let session = Session {
            suite: &suite,
            selected: &selected,
            percent: trial.percent,
            number: number as u64,
            seed: draw.number(),
        };
        let chosen = choose(trial.technique, &session, &repository);
        repository = chosen.repository;
        outcome.runs += chosen.run.len() as u64;
        let mut found = vec![false; matrix.faults.len()];
        let mut ran = vec![false; suite.len()];
        for place in chosen.run {
            let test = &matrix.tests[place];
            ran[place] = true;
            outcome.milliseconds = outcome.milliseconds.saturating_add(test.milliseconds);
            let shown = test
                .reveals
                .iter()
                .copied()
                .filter(|fault| is_there[*fault]);
            let shown = shown.take(match trial.model {
                Model::One => usize::MAX,
                Model::Two => 1,
            });
            shown.for_each(|fault| found[fault] = true);
        }
        for (fault, there) in is_there.iter_mut().enumerate().filter(|(_, there)| **there) {
            outcome.ages[fault] += 1;
            *there = !found[fault];
        }
        for (ticket, ran) in suite.iter_mut().zip(ran) {
            let happened = if ran {
                Happened::Passed
            } else {
                Happened::NotRun
            };
            ticket.memory = ticket.memory.after(happened, None, &alphas);
        }
        let is_over = number + 1 >= matrix.versions.len() || trial.model == Model::Two;
        if is_over && !is_there.contains(&true) {
            break;
        }
    }
    outcome.missed = is_there.iter().filter(|there| **there).count();
    outcome
}

/// Whom these changes select, with the edges that they cross.
fn under_test(matrix: &Matrix, changed: &BTreeSet<usize>, suite: &mut [Ticket]) -> Vec<usize> {
    let mut is_selected = vec![false; suite.len()];
    for ticket in suite.iter_mut() {
        ticket.dangers.clear();
    }
    let versions = changed.iter().map(|version| &matrix.versions[*version]);
    for (test, edges) in versions.flat_map(|version| &version.crossed_by) {
        is_selected[*test] = true;
        suite[*test].dangers.extend(edges);
    }
    (0..suite.len()).filter(|test| is_selected[*test]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::matrix::{Fault, Test, Version};
    use super::*;

    fn tried(matrix: &Matrix, model: Model, technique: Technique) -> Outcome {
        let trial = Trial {
            model,
            technique,
            percent: 50.0,
            sessions: 50,
            alpha: 1e-6,
            seed: 1,
        };
        evolve(matrix, &trial)
    }

    fn matrix(lines: &str) -> Matrix {
        Matrix::parse(&format!("fault-matrix\t1\n{}", lines.replace(' ', "\t"))).expect("it is one")
    }

    /// The first change reaches only `a`, the second both; `a` meets the faults one after the other.
    const HIDING: &str = "test a 10
test b 30
version v1
crosses a e1
reveals a f1
version v2
crosses a e2
crosses b e2
reveals a f2
";

    #[test]
    fn efforts_and_ages_of_model_1_are_those_counted_by_hand() {
        let matrix = matrix(HIDING);
        let safe = tried(&matrix, Model::One, Technique::Safe);
        assert_eq!(
            (safe.ages, safe.runs, safe.milliseconds),
            (vec![1, 1], 3, 50)
        );
        let all = tried(&matrix, Model::One, Technique::All);
        assert_eq!((all.ages, all.runs, all.milliseconds), (vec![1, 1], 4, 80));
    }

    #[test]
    fn in_model_2_a_fault_hides_the_next() {
        let matrix = matrix(HIDING);
        let all = tried(&matrix, Model::Two, Technique::All);
        assert_eq!((all.ages, all.runs, all.missed), (vec![1, 2], 4, 0));
        let safe = tried(&matrix, Model::Two, Technique::Safe);
        assert_eq!((safe.ages, safe.runs), (vec![1, 2], 4));
        // `a` crosses both edges; then only `e2` is left, which `b` may be drawn for.
        let minimize = tried(&matrix, Model::Two, Technique::Minimize);
        assert!(minimize.ages[0] == 1 && minimize.runs == u64::from(minimize.ages[1]));
    }

    #[test]
    fn a_fault_that_nobody_selects_for_is_there_until_the_end() {
        let matrix = matrix("test a 1\ntest b 1\nversion v1\ncrosses b e1\nreveals a f1\n");
        let safe = tried(&matrix, Model::One, Technique::Safe);
        assert_eq!((safe.ages, safe.missed, safe.runs), (vec![50], 1, 50));
    }

    fn matrices() -> impl Strategy<Value = Matrix> {
        let versions = proptest::collection::vec(
            (
                proptest::collection::btree_map(
                    0_usize..8,
                    proptest::collection::vec(0_u32..6, 0..3),
                    0..8,
                ),
                proptest::collection::btree_set(0_usize..8, 0..4),
            ),
            1..6,
        );
        versions.prop_map(|versions| {
            let test = |name: usize| Test {
                name: name.to_string(),
                milliseconds: name as u64,
                reveals: Vec::new(),
            };
            let mut matrix = Matrix {
                tests: (0..8).map(test).collect(),
                ..Matrix::default()
            };
            for (version, (crossed_by, revealing)) in versions.into_iter().enumerate() {
                let name = version.to_string();
                matrix.versions.push(Version {
                    name: name.clone(),
                    crossed_by: crossed_by.into_iter().collect(),
                });
                if !revealing.is_empty() {
                    for test in revealing {
                        matrix.tests[test].reveals.push(matrix.faults.len());
                    }
                    matrix.faults.push(Fault { name, version });
                }
            }
            matrix
        })
    }

    proptest! {
        #[test]
        fn every_fault_has_an_age_and_no_session_runs_more_than_the_suite(matrix in matrices()) {
            for model in [Model::One, Model::Two] {
                for technique in Technique::ALL {
                    let outcome = tried(&matrix, model, technique);
                    prop_assert!(outcome.ages.iter().all(|age| (1..=50).contains(age)));
                    prop_assert!(outcome.runs <= 50 * 8);
                    let finds_all = matches!(technique, Technique::All | Technique::Lru);
                    prop_assert!(!finds_all || outcome.missed == 0);
                }
            }
            let all = tried(&matrix, Model::One, Technique::All);
            prop_assert!(all.ages.iter().all(|age| *age == 1));
        }
    }
}
