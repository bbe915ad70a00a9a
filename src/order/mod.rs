//! The order of tests: those that will most likely tell something come first.
//!
//! `history`, the order by default, begins with the tests that failed last time, then those that are new, then those whose definition changed. Within each of these, and among all others, the next test is always the one with the greatest
//!
//! ```text
//! (F * failures + N * new + B * all + C * rare + floor) / (seconds + start)
//! ```
//!
//! - `failures` is the smoothed history of its failures (Kim and Porter, section 4): who failed lately fails again.
//! - `new` is the share of the dangerous edges that it crosses and no earlier test in the order does. A fault of this change is on one of these edges; once a test has crossed an edge, the next one there tells less.
//! - `all` is the share of the dangerous edges that it crosses at all: it tells apart the tests that remain when every edge has been crossed, and that not every test on an edge shows its fault.
//! - `rare` is the place in the order `coverage`, from 1 for the first to 0 for the last: who covers what few others covered lately tells most about a change of a single edge, which many cross.
//! - `floor` is the chance of everybody, so that among tests of which nothing is known the quick ones come first.
//! - the denominator is its estimated time with the time that starting a test takes; this makes it a chance a second, and sorting by it finds most failures in the least time when failures are independent (Smith's rule).
//!
//! Weights and constants are in [`Parameters`]. Equal tests are ordered by name, so the same history gives the same order everywhere.

pub mod budget;
pub mod ci;
pub mod draw;
pub mod estimate;
mod greedy;
mod minimize;
pub mod owed;
pub mod safe_random;
pub mod shard;
pub mod smoothed;
pub mod technique;
mod uncrossed;

use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use self::draw::Draw;
use self::smoothed::{Alphas, Memory, Smoothed};

/// What the order knows of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ticket {
    /// No two tests have the same.
    pub name: String,
    /// How long it will take ([`estimate::Durations`]); nothing if it never ran.
    pub milliseconds: Option<u64>,
    pub failed_last: bool,
    pub is_new: bool,
    /// Its definition changed.
    pub is_changed: bool,
    pub memory: Memory,
    /// The numbers of the dangerous edges, or other dangers, that it meets.
    pub dangers: Vec<u32>,
    /// Dangers that it only entered, while others are known to cross edges of them. They count for a cover, not for the order.
    pub doubts: Vec<u32>,
    /// In how many sessions it was left out since it last ran; nothing if it never ran.
    pub since_run: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Likely failures a second, as the comment of this module says.
    #[default]
    History,
    /// Who did not run for longest.
    Lru,
    /// Who failed lately.
    Faults,
    /// Who covers functions that few tests covered lately.
    Coverage,
    Fastest,
    /// A draw from the seed.
    Random,
    /// As the project lists them.
    Listed,
}

impl Order {
    pub const ALL: [Order; 7] = [
        Order::History,
        Order::Lru,
        Order::Faults,
        Order::Coverage,
        Order::Fastest,
        Order::Random,
        Order::Listed,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::History => "history",
            Order::Lru => "lru",
            Order::Faults => "faults",
            Order::Coverage => "coverage",
            Order::Fastest => "fastest",
            Order::Random => "random",
            Order::Listed => "listed",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut all = Order::ALL.into_iter();
        all.find(|order| order.name() == text).ok_or_else(|| {
            let names = Order::ALL.map(Order::name).join(", ");
            Error::new(format!("'{text}' is not an order")).hint(format!("one of {names}"))
        })
    }
}

/// The constants of the orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The smoothing constants (Kim and Porter, section 4), which the histories are kept with.
    pub alphas: Alphas,
    /// F: what a smoothed history of nothing but failures counts for.
    pub failures: f64,
    /// N: what crossing every dangerous edge first counts for.
    pub new_dangers: f64,
    /// B: what crossing every dangerous edge counts for.
    pub all_dangers: f64,
    /// C: what being the first by the order `coverage` counts for.
    pub coverage: f64,
    /// The chance of everybody.
    pub floor: f64,
    /// How many seconds it takes to start a test; it keeps tests of no measurable time from coming before all others.
    pub start: f64,
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            alphas: Alphas::default(),
            failures: 1.0,
            new_dangers: 1.0,
            all_dangers: 0.1,
            coverage: 0.3,
            floor: 0.01,
            start: 0.004,
            seed: 0,
        }
    }
}

/// The places of the tests in the order in which they should run.
#[must_use]
pub fn order(tickets: &[Ticket], order: Order, parameters: &Parameters) -> Vec<usize> {
    match order {
        Order::History => greedy::history(tickets, parameters),
        Order::Lru => sorted(tickets, |one, other| {
            let left_out = |ticket: &Ticket| Reverse(ticket.since_run.unwrap_or(u32::MAX));
            by_urgency(one.memory.execution, other.memory.execution)
                .then(left_out(one).cmp(&left_out(other)))
        }),
        Order::Faults => sorted(tickets, |one, other| {
            by_urgency(one.memory.faults, other.memory.faults)
        }),
        Order::Coverage => sorted(tickets, |one, other| {
            by_urgency(one.memory.coverage, other.memory.coverage)
        }),
        Order::Fastest => sorted(tickets, |one, other| {
            let time = |ticket: &Ticket| ticket.milliseconds.unwrap_or(u64::MAX);
            time(one).cmp(&time(other))
        }),
        Order::Random => {
            // From the names, so that how the tests are listed makes no difference.
            let mut places = sorted(tickets, |_, _| Ordering::Equal);
            Draw::new(parameters.seed).shuffle(&mut places);
            places
        }
        Order::Listed => (0..tickets.len()).collect(),
    }
}

/// The greatest probability first. Of whom nothing is known, everything may be.
fn by_urgency(one: Smoothed, other: Smoothed) -> Ordering {
    let probability = |smoothed: Smoothed| smoothed.value().unwrap_or(f64::INFINITY);
    probability(other).total_cmp(&probability(one))
}

/// The places of the tests, sorted; equal ones by name.
fn sorted(tickets: &[Ticket], compare: impl Fn(&Ticket, &Ticket) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..tickets.len()).collect();
    places.sort_by(|one, other| {
        let (one, other) = (&tickets[*one], &tickets[*other]);
        compare(one, other).then_with(|| one.name.cmp(&other.name))
    });
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::smoothed::Happened;
    use super::*;

    fn ticket(name: &str, milliseconds: u64, dangers: &[u32]) -> Ticket {
        Ticket {
            name: name.to_owned(),
            milliseconds: Some(milliseconds),
            dangers: dangers.to_vec(),
            ..Ticket::default()
        }
    }

    fn names(tickets: &[Ticket], by: Order) -> Vec<&str> {
        let places = order(tickets, by, &Parameters::default());
        places
            .into_iter()
            .map(|place| tickets[place].name.as_str())
            .collect()
    }

    #[test]
    fn failed_then_new_then_changed_tests_come_first() {
        let tickets = [
            ticket("quick", 1, &[1, 2, 3]),
            Ticket {
                is_changed: true,
                ..ticket("changed", 9000, &[])
            },
            Ticket {
                is_new: true,
                milliseconds: None,
                ..ticket("new", 0, &[])
            },
            Ticket {
                failed_last: true,
                is_changed: true,
                ..ticket("failed", 9000, &[])
            },
        ];
        assert_eq!(
            names(&tickets, Order::History),
            ["failed", "new", "changed", "quick"]
        );
    }

    #[test]
    fn what_earlier_tests_crossed_counts_little() {
        let tickets = [
            ticket("most", 100, &[1, 2, 3, 4]),
            ticket("same", 100, &[2, 3, 4]),
            ticket("other", 100, &[5]),
        ];
        assert_eq!(names(&tickets, Order::History), ["most", "other", "same"]);
    }

    #[test]
    fn of_equal_chances_the_quick_ones_come_first_and_then_the_names_decide() {
        let tickets = [
            ticket("d", 50, &[]),
            ticket("c", 20, &[]),
            ticket("b", 20, &[]),
            ticket("a", 900, &[]),
        ];
        assert_eq!(names(&tickets, Order::History), ["b", "c", "d", "a"]);
    }

    #[test]
    fn who_failed_lately_comes_before_who_failed_long_ago() {
        let alphas = Alphas::default();
        let with = |name: &str, sessions: &[Happened]| {
            let memory = sessions.iter().fold(Memory::default(), |memory, happened| {
                memory.after(*happened, None, &alphas)
            });
            Ticket {
                memory,
                ..ticket(name, 100, &[])
            }
        };
        let tickets = [
            with(
                "never",
                &[Happened::Passed, Happened::Passed, Happened::Passed],
            ),
            with(
                "long ago",
                &[Happened::Failed, Happened::Passed, Happened::Passed],
            ),
            with(
                "lately",
                &[Happened::Passed, Happened::Failed, Happened::Passed],
            ),
        ];
        assert_eq!(
            names(&tickets, Order::History),
            ["lately", "long ago", "never"]
        );
        assert_eq!(
            names(&tickets, Order::Faults),
            ["lately", "long ago", "never"]
        );
    }

    #[test]
    fn the_greedy_order_is_the_one_found_by_looking_at_everybody_each_time() {
        let mut draw = Draw::new(5);
        for _ in 0..50 {
            let tickets: Vec<Ticket> = (0..30)
                .map(|test| {
                    let dangers: Vec<u32> =
                        (0..draw.below(8)).map(|_| draw.below(20) as u32).collect();
                    let happened = [Happened::Passed, Happened::Failed][draw.below(2)];
                    Ticket {
                        memory: Memory::default().after(
                            happened,
                            Some(draw.below(4) as f64 / 8.0),
                            &Alphas::default(),
                        ),
                        is_changed: draw.below(5) == 0,
                        ..ticket(&format!("{test:02}"), draw.below(3) as u64 * 100, &dangers)
                    }
                })
                .collect();
            assert_eq!(
                order(&tickets, Order::History, &Parameters::default()),
                naive(&tickets)
            );
        }
    }

    /// The formula of this room's comment, word for word.
    fn naive(tickets: &[Ticket]) -> Vec<usize> {
        let parameters = Parameters::default();
        let all: BTreeSet<u32> = tickets
            .iter()
            .flat_map(|ticket| ticket.dangers.iter().copied())
            .collect();
        let coverage = |place: usize| tickets[place].memory.coverage.value();
        let coverage = |place: usize| coverage(place).unwrap_or(f64::INFINITY);
        let rarity = |place: usize| {
            let places = 0..tickets.len();
            let before = places.filter(|other| coverage(*other) > coverage(place));
            1.0 - before.count() as f64 / tickets.len() as f64
        };
        let mut crossed: BTreeSet<u32> = BTreeSet::new();
        let mut left: Vec<usize> = (0..tickets.len()).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let chance = |place: usize| {
                let ticket = &tickets[place];
                let own: BTreeSet<u32> = ticket.dangers.iter().copied().collect();
                let share =
                    |count: usize, weight: f64| weight * count as f64 / all.len().max(1) as f64;
                let chance = parameters.failures * ticket.memory.faults.value().unwrap_or(0.0)
                    + share(own.len(), parameters.all_dangers)
                    + parameters.coverage * rarity(place)
                    + parameters.floor
                    + share(own.difference(&crossed).count(), parameters.new_dangers);
                let seconds =
                    ticket.milliseconds.unwrap_or(1000) as f64 / 1000.0 + parameters.start;
                (ticket.is_changed, chance / seconds)
            };
            let best = left.iter().copied().reduce(|one, other| {
                let is_better = chance(other)
                    .0
                    .cmp(&chance(one).0)
                    .then(chance(other).1.total_cmp(&chance(one).1));
                if is_better.is_gt() { other } else { one }
            });
            let best = best.expect("some are left");
            crossed.extend(&tickets[best].dangers);
            left.retain(|place| *place != best);
            order.push(best);
        }
        order
    }

    #[test]
    fn lru_begins_with_who_never_ran_and_then_who_was_left_out_for_longest() {
        let left_out = |name: &str, sessions: Option<u32>| Ticket {
            memory: match sessions {
                Some(sessions) => Memory::default()
                    .after(Happened::Passed, None, &Alphas::default())
                    .after_missed(sessions, &Alphas::default()),
                None => Memory::default(),
            },
            since_run: sessions,
            ..ticket(name, 1, &[])
        };
        let tickets = [
            left_out("a", Some(0)),
            left_out("b", Some(7)),
            left_out("c", None),
            left_out("d", Some(3)),
        ];
        assert_eq!(names(&tickets, Order::Lru), ["c", "b", "d", "a"]);
    }

    #[test]
    fn names_are_read_back() {
        for order in Order::ALL {
            assert_eq!(order.name().parse::<Order>().expect("its own name"), order);
        }
        let error = "best".parse::<Order>().expect_err("there is none");
        assert!(error.hints[0].contains("fastest"));
    }

    proptest! {
        #[test]
        fn every_order_is_a_permutation_that_the_same_seed_gives_again(
            tests in proptest::collection::vec(
                (
                    proptest::option::of(0_u64..10_000),
                    any::<(bool, bool, bool)>(),
                    proptest::collection::vec(any::<u32>(), 0..6),
                    proptest::option::of(0_u32..9),
                ),
                0..30,
            ),
            seed in any::<u64>(),
        ) {
            let tickets: Vec<Ticket> = tests.into_iter().enumerate().map(|(test, (milliseconds, flags, dangers, since_run))| Ticket {
                name: format!("test_{}", test * 7 % 31),
                milliseconds,
                failed_last: flags.0,
                is_new: flags.1,
                is_changed: flags.2,
                dangers,
                since_run,
                ..Ticket::default()
            }).collect();
            let parameters = Parameters { seed, ..Parameters::default() };
            let mut turned = tickets.clone();
            turned.reverse();
            for by in Order::ALL {
                let places = order(&tickets, by, &parameters);
                prop_assert_eq!(&places, &order(&tickets, by, &parameters));
                let mut sorted = places.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..tickets.len()).collect::<Vec<_>>());
                if by != Order::Listed {
                    // However the tests are listed.
                    let again = order(&turned, by, &parameters);
                    let one = places.iter().map(|place| &tickets[*place].name);
                    prop_assert!(one.eq(again.iter().map(|place| &turned[*place].name)), "{}", by);
                }
            }
        }
    }
}
