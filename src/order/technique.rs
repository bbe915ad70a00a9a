//! The techniques of Kim and Porter (sections 2.2 and 4.1): which tests a session runs.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use super::draw::Draw;
use super::minimize::minimize;
use super::safe_random::{Repository, safe_random};
use super::{Order, Parameters, Ticket, order};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Technique {
    /// Every test that the change can affect.
    #[default]
    Safe,
    /// A small set of tests that meets every danger.
    Minimize,
    /// As many of the safe ones as there is room for, by a draw, and what was left out earlier.
    SafeRandom,
    /// Those that did not run for longest.
    Lru,
    /// A draw from all tests.
    Random,
    /// Retest-all.
    All,
}

impl Technique {
    pub const ALL: [Technique; 6] = [
        Technique::Safe,
        Technique::Minimize,
        Technique::SafeRandom,
        Technique::Lru,
        Technique::Random,
        Technique::All,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Technique::Safe => "safe",
            Technique::Minimize => "minimize",
            Technique::SafeRandom => "safe-random",
            Technique::Lru => "lru",
            Technique::Random => "random",
            Technique::All => "all",
        }
    }

    /// Whether it runs everything that the change can affect, so that no fault that the suite shows is missed.
    #[must_use]
    pub fn is_safe(self) -> bool {
        matches!(self, Technique::Safe | Technique::All)
    }

    /// Whether it runs n % of the suite.
    #[must_use]
    pub fn has_room(self) -> bool {
        matches!(
            self,
            Technique::SafeRandom | Technique::Lru | Technique::Random
        )
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Technique {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Technique::ALL.into_iter();
        all.find(|technique| technique.name() == text)
            .ok_or_else(|| {
                let names = Technique::ALL.map(Technique::name).join(", ");
                Error::new(format!("'{text}' is not a technique")).hint(format!("one of {names}"))
            })
    }
}

/// What a technique chooses from.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// The whole suite.
    pub suite: &'a [Ticket],
    /// The places of the tests that the safe technique selects.
    pub selected: &'a [usize],
    /// n: how many percent of the suite there is room for.
    pub percent: f64,
    /// Counts the sessions; the repository keeps it as its time.
    pub number: u64,
    pub seed: u64,
}

impl Session<'_> {
    /// How many tests there is room for: never more than n %, but one at least.
    #[must_use]
    pub fn room(&self) -> usize {
        share_of(self.suite.len(), self.percent)
    }

    pub(super) fn draw(&self) -> Draw {
        Draw::new(self.seed)
    }
}

pub(super) fn share_of(suite: usize, percent: f64) -> usize {
    // What is a whole number but for rounding is one.
    let share = (suite as f64 * percent / 100.0 + 1e-9).floor() as usize;
    share.max(1).min(suite)
}

/// What runs in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Places in the suite.
    pub run: Vec<usize>,
    /// What safe-random has still to run, for its next session; for all others it is as it was.
    pub repository: Repository,
}

#[must_use]
pub fn choose(technique: Technique, session: &Session<'_>, repository: &Repository) -> Chosen {
    let run = match technique {
        Technique::SafeRandom => return safe_random(session, repository),
        Technique::Safe => session.selected.to_vec(),
        Technique::All => (0..session.suite.len()).collect(),
        Technique::Minimize => minimize(session.suite, session.selected, &mut session.draw()),
        Technique::Lru => lru(session),
        Technique::Random => random(session),
    };
    Chosen {
        run,
        repository: repository.clone(),
    }
}

/// The tests with the highest probability by their execution histories. Equal ones are drawn.
fn lru(session: &Session<'_>) -> Vec<usize> {
    let suite = session.suite;
    let mut places: Vec<usize> = (0..suite.len()).collect();
    session.draw().shuffle(&mut places);
    let probability = |place: &usize| {
        suite[*place]
            .memory
            .execution
            .value()
            .unwrap_or(f64::INFINITY)
    };
    places.sort_by(|one, other| probability(other).total_cmp(&probability(one)));
    places.truncate(session.room());
    places
}

fn random(session: &Session<'_>) -> Vec<usize> {
    let parameters = Parameters {
        seed: session.seed,
        ..Parameters::default()
    };
    let mut places = order(session.suite, Order::Random, &parameters);
    places.truncate(session.room());
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::smoothed::{Alphas, Happened, Memory};
    use super::*;

    fn suite(tests: usize) -> Vec<Ticket> {
        let ticket = |test: usize| Ticket {
            name: format!("test_{test:03}"),
            memory: Memory::default().after(Happened::Passed, None, &Alphas::default()),
            ..Ticket::default()
        };
        (0..tests).map(ticket).collect()
    }

    fn session<'a>(
        suite: &'a [Ticket],
        selected: &'a [usize],
        percent: f64,
        seed: u64,
    ) -> Session<'a> {
        Session {
            suite,
            selected,
            percent,
            number: seed,
            seed,
        }
    }

    fn run(technique: Technique, session: &Session<'_>) -> Vec<usize> {
        choose(technique, session, &Repository::default()).run
    }

    #[test]
    fn room_is_a_share_of_the_suite_and_one_test_at_least() {
        for (tests, percent, room) in [
            (100, 29.0, 29),
            (80, 5.0, 4),
            (10, 5.0, 1),
            (0, 50.0, 0),
            (3, 100.0, 3),
        ] {
            assert_eq!(share_of(tests, percent), room, "{percent} % of {tests}");
        }
    }

    #[test]
    fn safe_runs_what_is_selected_and_all_runs_everything() {
        let suite = suite(4);
        let session = session(&suite, &[1, 3], 25.0, 0);
        assert_eq!(run(Technique::Safe, &session), [1, 3]);
        assert_eq!(run(Technique::All, &session), [0, 1, 2, 3]);
    }

    #[test]
    fn lru_cycles_through_the_suite() {
        let mut suite = suite(20);
        for cycle in 0..3 {
            let mut seen = BTreeSet::new();
            for number in 0..4 {
                let run = run(
                    Technique::Lru,
                    &session(&suite, &[], 25.0, cycle * 4 + number),
                );
                for (place, ticket) in suite.iter_mut().enumerate() {
                    let happened = if run.contains(&place) {
                        Happened::Passed
                    } else {
                        Happened::NotRun
                    };
                    ticket.memory = ticket.memory.after(happened, None, &Alphas::default());
                }
                seen.extend(run);
            }
            assert_eq!(seen.len(), 20, "cycle {cycle}");
        }
    }

    #[test]
    fn random_draws_other_tests_from_another_seed_and_the_same_from_the_same() {
        let suite = suite(100);
        let drawn = |seed| run(Technique::Random, &session(&suite, &[], 10.0, seed));
        assert_eq!(drawn(1).len(), 10);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn names_are_read_back() {
        for technique in Technique::ALL {
            assert_eq!(
                technique.name().parse::<Technique>().expect("its own name"),
                technique
            );
        }
        let error = "best".parse::<Technique>().expect_err("there is none");
        assert!(!error.hints.is_empty());
    }
}
