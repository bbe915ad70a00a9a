//! Shards: a suite split over machines that do not speak with each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use super::Ticket;
use super::estimate::estimates;

/// More machines than this is a slip of the finger.
const MOST: usize = 10_000;

/// One of several parts, counted from 1: `2/5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// Refuses numbers that are none of the parts.
    pub fn new(number: usize, of: usize) -> Result<Self> {
        let wrong = |what: String| Err(Error::new(what).hint("write '2/5' for the second of five"));
        match (number, of) {
            (_, 0) => wrong(format!("there is no shard '{number}/0'")),
            (_, of) if of > MOST => wrong(format!("{of} shards are too many: at most {MOST}")),
            (0, of) => wrong(format!(
                "there is no shard '0/{of}': they are counted from 1"
            )),
            (number, of) if number > of => wrong(format!(
                "there is no shard '{number}/{of}': there are only {of}"
            )),
            (number, of) => Ok(Shard { number, of }),
        }
    }

    /// The part that belongs to this shard.
    #[must_use]
    pub fn part(self, tickets: &[Ticket], groups: &[Vec<usize>]) -> Vec<usize> {
        shards(tickets, groups, self.of).swap_remove(self.number - 1)
    }

    /// Whether this shard has the test at a place, where it does not matter who has which.
    #[must_use]
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(one, all)| number(one).zip(number(all)));
        let Some((one, all)) = numbers else {
            return Err(Error::new(format!("'{text}' is not a shard"))
                .hint("write '2/5' for the second of five"));
        };
        Shard::new(one, all)
    }
}

/// Splits tests into parts of about the same time: the longest group first, always to the part with the least (Graham's rule, at most a third above the best). Nothing but names and times decides, so all machines with the same history agree. Groups that share a test are one.
#[must_use]
pub fn shards(tickets: &[Ticket], groups: &[Vec<usize>], count: usize) -> Vec<Vec<usize>> {
    let mut bundles = bundles(tickets, groups);
    bundles.sort_by(|one, other| (other.time, one.name).cmp(&(one.time, other.name)));
    // Tests of no measurable time are spread by their number.
    let mut parts: BinaryHeap<_> = (0..count).map(|part| Reverse((0_u64, 0, part))).collect();
    let mut shards = vec![Vec::new(); count];
    for bundle in bundles {
        if let Some(mut least) = parts.peek_mut() {
            let Reverse((time, tests, part)) = &mut *least;
            *time = time.saturating_add(bundle.time);
            *tests += bundle.places.len();
            shards[*part].extend(bundle.places);
        }
    }
    for shard in &mut shards {
        shard.sort_unstable();
    }
    shards
}

/// Tests that stay together.
struct Bundle<'a> {
    /// The first of the names.
    name: &'a str,
    time: u64,
    places: Vec<usize>,
}

fn bundles<'a>(tickets: &'a [Ticket], groups: &[Vec<usize>]) -> Vec<Bundle<'a>> {
    let mut parents: Vec<usize> = (0..tickets.len()).collect();
    fn root(parents: &mut [usize], mut place: usize) -> usize {
        while parents[place] != place {
            parents[place] = parents[parents[place]];
            place = parents[place];
        }
        place
    }
    for group in groups {
        for pair in group.windows(2) {
            let (one, other) = (root(&mut parents, pair[0]), root(&mut parents, pair[1]));
            parents[one] = other;
        }
    }
    let times = estimates(tickets);
    let mut bundles: Vec<Bundle<'a>> = Vec::new();
    let mut bundle_of = vec![usize::MAX; tickets.len()];
    for (place, ticket) in tickets.iter().enumerate() {
        let root = root(&mut parents, place);
        if bundle_of[root] == usize::MAX {
            bundle_of[root] = bundles.len();
            bundles.push(Bundle {
                name: &ticket.name,
                time: 0,
                places: Vec::new(),
            });
        }
        let bundle = &mut bundles[bundle_of[root]];
        bundle.name = bundle.name.min(&ticket.name);
        bundle.time = bundle.time.saturating_add(times[place]);
        bundle.places.push(place);
    }
    bundles
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tickets(times: &[u64]) -> Vec<Ticket> {
        let tickets = times.iter().enumerate();
        tickets
            .map(|(place, milliseconds)| Ticket {
                name: format!("test_{place}"),
                milliseconds: Some(*milliseconds),
                ..Ticket::default()
            })
            .collect()
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!(
            "2/5".parse::<Shard>().expect("it is one").to_string(),
            "2/5"
        );
        for text in [
            "0/5",
            "6/5",
            "1/0",
            "5",
            "a/b",
            "-1/5",
            "",
            "1/2/3",
            "1/99999999",
        ] {
            let error = text.parse::<Shard>().expect_err("it is none");
            assert!(!error.hints.is_empty(), "{text}");
        }
    }

    #[test]
    fn times_are_balanced() {
        let parts = shards(&tickets(&[70, 50, 40, 30, 20, 10]), &[], 2);
        assert_eq!(parts, [vec![0, 3, 5], vec![1, 2, 4]]);
    }

    #[test]
    fn tests_of_no_time_are_spread() {
        let parts = shards(&tickets(&[0; 9]), &[], 3);
        assert!(parts.iter().all(|part| part.len() == 3), "{parts:?}");
    }

    #[test]
    fn groups_stay_together() {
        let parts = shards(&tickets(&[10, 10, 10, 10]), &[vec![0, 2], vec![2, 3]], 2);
        assert_eq!(parts, [vec![0, 2, 3], vec![1]]);
    }

    #[test]
    fn more_shards_than_tests_leaves_some_empty() {
        let parts = shards(&tickets(&[10]), &[], 3);
        assert_eq!(parts.concat(), [0]);
        let last: Shard = "3/3".parse().expect("it is one");
        assert!(last.part(&tickets(&[10]), &[]).is_empty());
    }

    proptest! {
        #[test]
        fn shards_are_disjoint_complete_balanced_and_the_same_everywhere(
            times in proptest::collection::vec(0_u64..1000, 0..30),
            links in proptest::collection::vec((0_usize..30, 0_usize..30), 0..8),
            count in 1_usize..7,
        ) {
            let tickets = tickets(&times);
            let total = times.len();
            let links = links.into_iter().filter(|_| total > 0);
            let groups: Vec<Vec<usize>> = links.map(|(one, other)| vec![one % total, other % total]).collect();
            let parts = shards(&tickets, &groups, count);
            prop_assert_eq!(parts.len(), count);
            let mut all = parts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..total).collect::<Vec<_>>());
            for group in &groups {
                prop_assert!(parts.iter().any(|part| group.iter().all(|place| part.contains(place))));
            }
            if groups.is_empty() {
                let time = |part: &Vec<usize>| part.iter().map(|place| times[*place]).sum::<u64>();
                let longest = parts.iter().map(time).max().unwrap_or(0);
                let average = times.iter().sum::<u64>() as f64 / count as f64;
                let largest = times.iter().copied().max().unwrap_or(0);
                prop_assert!(longest as f64 <= average + largest as f64);
            }
            // Listed the other way round.
            let turned: Vec<Ticket> = tickets.iter().rev().cloned().collect();
            let there: Vec<Vec<usize>> = groups.iter().map(|group| group.iter().map(|place| total - 1 - place).collect()).collect();
            let again = shards(&turned, &there, count);
            for (part, other) in parts.iter().zip(&again) {
                let mut other: Vec<usize> = other.iter().map(|place| total - 1 - place).collect();
                other.sort_unstable();
                prop_assert_eq!(part, &other);
            }
        }
    }
}
