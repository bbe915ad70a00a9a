//! How long a test will take, from how long it took.

use serde::{Deserialize, Serialize};

use super::Ticket;

/// So many durations are kept: one machine that was busy, or two, cannot move the median of five.
const KEPT: usize = 5;

/// A test of unknown time is not taken for quick, however quick the others are.
const LEAST_UNKNOWN: u64 = 1000;

/// The last durations of one test, in milliseconds, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations(Vec<u64>);

impl Durations {
    /// After one more run.
    #[must_use]
    pub fn after(&self, milliseconds: u64) -> Self {
        let surplus = (self.0.len() + 1).saturating_sub(KEPT);
        let kept = self.0.iter().skip(surplus).copied();
        Durations(kept.chain([milliseconds]).collect())
    }

    /// The median, the longer of the two in the middle; nothing if it never ran.
    #[must_use]
    pub fn estimate(&self) -> Option<u64> {
        median(self.0.clone())
    }
}

/// The estimate for each test. Who never ran counts as the median of those that did, and at least as a second: too much, so that a budget holds.
#[must_use]
pub fn estimates(tickets: &[Ticket]) -> Vec<u64> {
    let known = tickets.iter().filter_map(|ticket| ticket.milliseconds);
    let unknown = median(known.collect()).unwrap_or(0).max(LEAST_UNKNOWN);
    let estimate = |ticket: &Ticket| ticket.milliseconds.unwrap_or(unknown);
    tickets.iter().map(estimate).collect()
}

fn median(mut durations: Vec<u64>) -> Option<u64> {
    let middle = durations.len() / 2;
    if durations.is_empty() {
        return None;
    }
    Some(*durations.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(all: &[u64]) -> Durations {
        let begin = Durations::default();
        all.iter()
            .fold(begin, |durations, time| durations.after(*time))
    }

    #[test]
    fn a_test_that_never_ran_has_no_estimate() {
        assert_eq!(Durations::default().estimate(), None);
    }

    #[test]
    fn outliers_do_not_move_the_estimate() {
        assert_eq!(durations(&[100, 90, 60_000, 110, 0]).estimate(), Some(100));
    }

    #[test]
    fn a_lasting_change_does() {
        assert_eq!(
            durations(&[100, 100, 100, 100, 100, 900, 900, 900]).estimate(),
            Some(900)
        );
    }

    #[test]
    fn of_two_in_the_middle_the_longer_counts() {
        assert_eq!(durations(&[10, 30]).estimate(), Some(30));
    }

    #[test]
    fn few_durations_are_kept() {
        assert_eq!(durations(&[1, 2, 3, 4, 5, 6, 7]).0, [3, 4, 5, 6, 7]);
    }

    #[test]
    fn unknown_times_are_taken_for_long() {
        let tickets = |times: &[Option<u64>]| {
            let ticket = |milliseconds: &Option<u64>| Ticket {
                milliseconds: *milliseconds,
                ..Ticket::default()
            };
            times.iter().map(ticket).collect::<Vec<_>>()
        };
        let some = tickets(&[Some(10), None, Some(5000), Some(9000)]);
        assert_eq!(estimates(&some), [10, 5000, 5000, 9000]);
        assert_eq!(estimates(&tickets(&[Some(10), None])), [10, 1000]);
        assert_eq!(estimates(&tickets(&[None])), [1000]);
    }
}
