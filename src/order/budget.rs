//! Budgets: the best tests that fit, and what is owed because it does not.

use std::str::FromStr;

use rustc_hash::FxHashSet;

use crate::config::duration;
use crate::error::{Error, Result};

use super::Ticket;
use super::estimate::estimates;
use super::technique::share_of;

/// How much may run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Milliseconds, by the estimates: `90s`, `2min`, `1.5 h`.
    Time(u64),
    /// Tests: `40`.
    Count(usize),
    /// Percent of the suite, at least one test (Kim and Porter's n): `25%`.
    Share(f64),
}

impl FromStr for Limit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let wanted = match text.bytes().last() {
            Some(b'%') => "a share is more than 0% and at most 100%",
            Some(b'0'..=b'9') => "a number of tests is 1 or more",
            _ => "a time is written as '90s', '2min' or '1.5h'",
        };
        let bad = |what: &str| Error::new(format!("'{text}' {what}")).hint(wanted);
        let limit = if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| bad("is not a limit"))?;
            if !(0.0..=100.0).contains(&percent) {
                return Err(bad("is not a share of the tests"));
            }
            Limit::Share(percent)
        } else if !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit()) {
            Limit::Count(text.parse().map_err(|_| bad("is too large"))?)
        } else {
            let time = duration(text).map_err(|_| bad("is not a limit"))?;
            Limit::Time(u64::try_from(time.as_millis()).map_err(|_| bad("is too large"))?)
        };
        match limit {
            Limit::Time(0) | Limit::Count(0) => Err(bad("leaves no room for any test")),
            Limit::Share(percent) if percent <= 0.0 => Err(bad("leaves no room for any test")),
            limit => Ok(limit),
        }
    }
}

/// What runs within a budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fit {
    /// In the order in which it should run.
    pub run: Vec<usize>,
    /// What was asked for and does not fit, in the order in which it was asked for.
    pub owed: Vec<usize>,
    /// Of those, the ones that this budget can never pay, because they need more than all of it.
    pub too_large: Vec<usize>,
    /// What runs takes so long, by the estimates.
    pub milliseconds: u64,
    /// Of what runs, so many have never been timed.
    pub untimed: usize,
}

/// What to fit.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The tests, also those that are only needed by others.
    pub tickets: &'a [Ticket],
    /// The places of the selected tests in their order.
    pub order: &'a [usize],
    /// The places of the tests that were owed before, the oldest debt first.
    pub debts: &'a [usize],
    /// How many tests the project has, for shares.
    pub suite: usize,
}

/// Fills a budget: first the debts by age, then the others in their order. A test goes in together with all that it needs, which `needs` tells, or not at all; smaller ones behind it may still fit. Because debts come first, a debt that the budget can pay is paid in the end; what is too large for the budget stays owed, and the caller should say so. Times are summed as if one test ran after the other; who runs several at once may give more time.
pub fn fit<'n>(wanted: &Wanted<'_>, limit: Limit, needs: impl Fn(usize) -> &'n [usize]) -> Fit {
    let times = estimates(wanted.tickets);
    let (room, cost): (u64, &dyn Fn(usize) -> u64) = match limit {
        Limit::Time(milliseconds) => (milliseconds, &|place| times[place]),
        Limit::Count(tests) => (tests as u64, &|_| 1),
        Limit::Share(percent) => (share_of(wanted.suite, percent) as u64, &|_| 1),
    };
    let mut fit = Fit::default();
    let mut left = room;
    let mut is_in = vec![false; wanted.tickets.len()];
    let mut is_asked = vec![false; wanted.tickets.len()];
    for place in wanted.debts.iter().chain(wanted.order).copied() {
        if std::mem::replace(&mut is_asked[place], true) || is_in[place] {
            continue;
        }
        let together = with_needs(place, &needs);
        let sum = |places: &mut dyn Iterator<Item = usize>| {
            places.map(cost).fold(0_u64, u64::saturating_add)
        };
        let missing: Vec<usize> = together
            .iter()
            .copied()
            .filter(|place| !is_in[*place])
            .collect();
        let price = sum(&mut missing.iter().copied());
        if price <= left {
            left -= price;
            for place in missing {
                is_in[place] = true;
                fit.run.push(place);
            }
        } else {
            fit.owed.push(place);
            if sum(&mut together.into_iter()) > room {
                fit.too_large.push(place);
            }
        }
    }
    // What did not fit for itself may have come in because another one needs it.
    fit.owed.retain(|place| !is_in[*place]);
    fit.too_large.retain(|place| !is_in[*place]);
    let run = || fit.run.iter().copied();
    fit.milliseconds = run().map(|place| times[place]).fold(0, u64::saturating_add);
    fit.untimed = run()
        .filter(|place| wanted.tickets[*place].milliseconds.is_none())
        .count();
    fit
}

/// A test behind everything that it needs, directly or not.
fn with_needs<'n>(place: usize, needs: &impl Fn(usize) -> &'n [usize]) -> Vec<usize> {
    let mut seen = FxHashSet::from_iter([place]);
    let mut together = vec![place];
    let mut next = 0;
    while let Some(place) = together.get(next) {
        together.extend(
            needs(*place)
                .iter()
                .copied()
                .filter(|need| seen.insert(*need)),
        );
        next += 1;
    }
    together.reverse();
    together
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tickets(times: &[Option<u64>]) -> Vec<Ticket> {
        let tickets = times.iter().enumerate();
        tickets
            .map(|(place, milliseconds)| Ticket {
                name: format!("test_{place}"),
                milliseconds: *milliseconds,
                ..Ticket::default()
            })
            .collect()
    }

    fn fitted(times: &[u64], debts: &[usize], limit: Limit, needs: &[&'static [usize]]) -> Fit {
        let times: Vec<Option<u64>> = times.iter().copied().map(Some).collect();
        let order: Vec<usize> = (0..times.len()).collect();
        let wanted = Wanted {
            tickets: &tickets(&times),
            order: &order,
            debts,
            suite: times.len(),
        };
        fit(&wanted, limit, |place| {
            needs.get(place).copied().unwrap_or_default()
        })
    }

    #[test]
    fn limits_are_read_as_people_write_them() {
        for (text, limit) in [
            ("90s", Limit::Time(90_000)),
            ("2min", Limit::Time(120_000)),
            ("1.5 h", Limit::Time(5_400_000)),
            ("25%", Limit::Share(25.0)),
            (" 2.5 % ", Limit::Share(2.5)),
            ("40", Limit::Count(40)),
        ] {
            assert_eq!(
                text.parse::<Limit>().expect("it is a limit"),
                limit,
                "{text}"
            );
        }
        for text in [
            "",
            "%",
            "fast",
            "-3",
            "-3%",
            "101%",
            "NaN%",
            "0",
            "0s",
            "0%",
            "1 week",
            "99999999999999999999",
        ] {
            let error = text.parse::<Limit>().expect_err("it is none");
            assert!(!error.hints.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_owed_and_smaller_tests_behind_it_run() {
        let fit = fitted(&[50, 80, 30, 20], &[], Limit::Time(100), &[]);
        assert_eq!(fit.run, [0, 2, 3]);
        assert_eq!(fit.owed, [1]);
        assert!(fit.too_large.is_empty());
        assert_eq!(fit.milliseconds, 100);
    }

    #[test]
    fn old_debts_come_first() {
        let fit = fitted(&[50, 50, 50, 50], &[3, 1], Limit::Count(3), &[]);
        assert_eq!(fit.run, [3, 1, 0]);
        assert_eq!(fit.owed, [2]);
    }

    #[test]
    fn a_test_that_needs_more_than_the_whole_budget_is_owed_and_told() {
        let fit = fitted(&[500, 50], &[], Limit::Time(100), &[]);
        assert_eq!(
            (fit.run, fit.owed, fit.too_large),
            (vec![1], vec![0], vec![0])
        );
    }

    #[test]
    fn tests_go_in_with_what_they_need_or_not_at_all() {
        // 0 needs 1, which needs 2.
        let needs: [&'static [usize]; 3] = [&[1], &[2], &[]];
        assert_eq!(
            fitted(&[10, 10, 10], &[], Limit::Count(3), &needs).run,
            [2, 1, 0]
        );
        let fit = fitted(&[10, 10, 10], &[], Limit::Count(2), &needs);
        assert_eq!(
            (fit.run, fit.owed, fit.too_large),
            (vec![2, 1], vec![0], vec![0])
        );
        // Two that need each other.
        let needs: [&'static [usize]; 2] = [&[1], &[0]];
        let fit = fitted(&[10, 10], &[], Limit::Count(1), &needs);
        assert_eq!((fit.run, fit.owed), (vec![], vec![0, 1]));
    }

    #[test]
    fn a_share_is_of_the_suite() {
        let fit = fitted(&[1; 12], &[], Limit::Share(25.0), &[]);
        assert_eq!(fit.run.len(), 3);
    }

    #[test]
    fn tests_that_were_never_timed_are_counted() {
        let wanted = Wanted {
            tickets: &tickets(&[None, Some(10), None]),
            order: &[0, 1, 2],
            debts: &[],
            suite: 3,
        };
        let fit = fit(&wanted, Limit::Time(1500), |_| &[]);
        assert_eq!((fit.run, fit.owed, fit.untimed), (vec![0, 1], vec![2], 1));
        assert_eq!(fit.milliseconds, 1010);
    }

    proptest! {
        #[test]
        fn no_budget_is_exceeded_and_nothing_is_lost(
            times in proptest::collection::vec(proptest::option::of(0_u64..3000), 1..20),
            links in proptest::collection::vec((0_usize..20, 0_usize..20), 0..10),
            debts in proptest::collection::vec(0_usize..20, 0..5),
            limit in prop_oneof![
                (1_u64..20_000).prop_map(Limit::Time),
                (1_usize..20).prop_map(Limit::Count),
                (0.1_f64..100.0).prop_map(Limit::Share),
            ],
        ) {
            let count = times.len();
            let tickets = tickets(&times);
            let mut needs = vec![Vec::new(); count];
            for (one, other) in links {
                needs[one % count].push(other % count);
            }
            let debts: Vec<usize> = debts.into_iter().map(|debt| debt % count).collect();
            let order: Vec<usize> = (0..count).rev().collect();
            let wanted = Wanted { tickets: &tickets, order: &order, debts: &debts, suite: count };
            let fit = fit(&wanted, limit, |place| &needs[place]);
            match limit {
                Limit::Time(room) => prop_assert!(fit.milliseconds <= room),
                Limit::Count(room) => prop_assert!(fit.run.len() <= room),
                Limit::Share(percent) => prop_assert!(fit.run.len() <= share_of(count, percent)),
            }
            let estimates = estimates(&tickets);
            prop_assert_eq!(fit.milliseconds, fit.run.iter().map(|place| estimates[*place]).sum::<u64>());
            for place in &fit.run {
                prop_assert!(needs[*place].iter().all(|need| fit.run.contains(need)));
            }
            let mut all = [fit.run.clone(), fit.owed.clone()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..count).collect::<Vec<_>>());
            prop_assert!(fit.too_large.iter().all(|place| fit.owed.contains(place)));
        }
    }
}
