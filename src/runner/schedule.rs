//! Which test may start next: a pure function of what has ended and what runs.

use std::collections::BTreeSet;

use super::needs::{Constraint, Constraints};

/// The state of a run of many tests.
#[derive(Debug, Clone)]
pub struct Schedule {
    constraints: Vec<Constraint>,
    jobs: usize,
    /// In the listed order.
    pending: BTreeSet<usize>,
    running: BTreeSet<usize>,
    /// Tests that wait for each other in a circle.
    circular: Vec<usize>,
}

impl Schedule {
    #[must_use]
    pub fn new(constraints: &Constraints, jobs: usize) -> Self {
        let mut constraints = constraints.tests.clone();
        let circular = without_circles(&mut constraints);
        Schedule {
            pending: (0..constraints.len()).collect(),
            constraints,
            jobs: jobs.max(1),
            running: BTreeSet::new(),
            circular,
        }
    }

    /// Tests that wait for each other in a circle; they run in the listed order.
    #[must_use]
    pub fn circular(&self) -> &[usize] {
        &self.circular
    }

    /// Takes the next test that may start now. None may mean: ask again when one has finished.
    pub fn start(&mut self) -> Option<usize> {
        let next = self
            .pending
            .iter()
            .copied()
            .find(|test| self.may_start(*test))?;
        self.pending.remove(&next);
        self.running.insert(next);
        Some(next)
    }

    pub fn finish(&mut self, test: usize) {
        self.running.remove(&test);
    }

    /// Gives up what has not started, and answers what that was.
    pub fn stop(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.pending)
    }

    /// Nothing is left to start.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.pending.is_empty()
    }

    fn may_start(&self, test: usize) -> bool {
        let wanted = &self.constraints[test];
        let ended = |other: &usize| !self.pending.contains(other) && !self.running.contains(other);
        if !wanted.after.iter().all(ended) {
            return false;
        }
        if self.running.is_empty() {
            return true;
        }
        let running = || self.running.iter().map(|other| &self.constraints[*other]);
        let used: usize = running().map(|other| other.processors).sum();
        !wanted.alone
            && running().all(|other| !other.alone && other.locks.is_disjoint(&wanted.locks))
            && used.saturating_add(wanted.processors) <= self.jobs
    }
}

/// Breaks circles: within one, a test waits only for those listed before it. Answers who was in one.
fn without_circles(constraints: &mut [Constraint]) -> Vec<usize> {
    let suspects = in_or_behind_circles(constraints);
    let circular: Vec<usize> = suspects
        .iter()
        .copied()
        .filter(|test| reaches(constraints, *test, *test))
        .collect();
    let broken: Vec<(usize, usize)> = circular
        .iter()
        .flat_map(|test| {
            constraints[*test]
                .after
                .iter()
                .map(|before| (*test, *before))
        })
        .filter(|(test, before)| before >= test && reaches(constraints, *before, *test))
        .collect();
    for (test, before) in broken {
        constraints[test].after.remove(&before);
    }
    circular
}

/// Who cannot be started by taking away, again and again, those who wait for nobody.
fn in_or_behind_circles(constraints: &[Constraint]) -> BTreeSet<usize> {
    let mut waiting: Vec<usize> = constraints.iter().map(|test| test.after.len()).collect();
    let mut followers = vec![Vec::new(); constraints.len()];
    for (index, test) in constraints.iter().enumerate() {
        for before in &test.after {
            followers[*before].push(index);
        }
    }
    let mut free: Vec<usize> = (0..constraints.len())
        .filter(|test| waiting[*test] == 0)
        .collect();
    let mut left: BTreeSet<usize> = (0..constraints.len()).collect();
    while let Some(test) = free.pop() {
        left.remove(&test);
        for follower in &followers[test] {
            waiting[*follower] -= 1;
            if waiting[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    left
}

/// Whether `from` waits, over one or more steps, for `to`.
fn reaches(constraints: &[Constraint], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut next: Vec<usize> = constraints[from].after.iter().copied().collect();
    while let Some(test) = next.pop() {
        if test == to {
            return true;
        }
        if seen.insert(test) {
            next.extend(&constraints[test].after);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn constraint(after: &[usize]) -> Constraint {
        Constraint {
            after: after.iter().copied().collect(),
            processors: 1,
            ..Constraint::default()
        }
    }

    fn order(after: &[&[usize]]) -> (Vec<usize>, Vec<usize>) {
        let tests = after.iter().map(|after| constraint(after)).collect();
        let mut schedule = Schedule::new(&Constraints { tests }, 1);
        let circular = schedule.circular().to_vec();
        let mut order = Vec::new();
        while let Some(test) = schedule.start() {
            order.push(test);
            schedule.finish(test);
        }
        (order, circular)
    }

    #[test]
    fn tests_run_in_the_listed_order_unless_they_wait() {
        assert_eq!(order(&[&[2], &[], &[], &[0]]), (vec![1, 2, 0, 3], vec![]));
    }

    #[test]
    fn a_circle_runs_in_the_listed_order_and_is_reported() {
        // 1 -> 2 -> 3 -> 1, 0 waits for the circle, 4 for itself.
        assert_eq!(
            order(&[&[2], &[2], &[3], &[1], &[4]]),
            (vec![1, 2, 0, 3, 4], vec![1, 2, 3, 4])
        );
    }

    #[test]
    fn a_test_that_runs_alone_waits_for_the_others() {
        let mut tests = vec![constraint(&[]), constraint(&[]), constraint(&[])];
        tests[1].alone = true;
        let mut schedule = Schedule::new(&Constraints { tests }, 4);
        assert_eq!(schedule.start(), Some(0));
        assert_eq!(schedule.start(), Some(2));
        assert_eq!(schedule.start(), None);
        schedule.finish(0);
        assert_eq!(schedule.start(), None);
        schedule.finish(2);
        assert_eq!(schedule.start(), Some(1));
    }

    #[test]
    fn a_test_may_want_more_than_there_is() {
        let mut tests = vec![constraint(&[]), constraint(&[])];
        tests[0].processors = 100;
        let mut schedule = Schedule::new(&Constraints { tests }, 2);
        assert_eq!(schedule.start(), Some(0));
        assert_eq!(schedule.start(), None);
    }

    fn any_constraints() -> impl Strategy<Value = Constraints> {
        let indices = |length: usize| prop::collection::btree_set(0..length, 0..4);
        (1usize..24)
            .prop_flat_map(move |length| {
                let locks = prop::collection::btree_set(0usize..4, 0..3);
                let test = (indices(length), locks, prop::bool::weighted(0.1), 1usize..4);
                prop::collection::vec(test, length)
            })
            .prop_map(|tests| Constraints {
                tests: tests
                    .into_iter()
                    .map(|(after, locks, alone, processors)| Constraint {
                        after,
                        only_if_passed: BTreeSet::new(),
                        locks,
                        alone,
                        processors,
                    })
                    .collect(),
            })
    }

    proptest! {
        #[test]
        fn every_test_runs_once_after_what_it_waits_for_and_never_beside_what_it_excludes(
            constraints in any_constraints(),
            jobs in 1usize..6,
            choices in prop::collection::vec(any::<prop::sample::Index>(), 64),
        ) {
            let mut schedule = Schedule::new(&constraints, jobs);
            let tests = constraints.tests;
            let circular: BTreeSet<usize> = schedule.circular().iter().copied().collect();
            let mut running: Vec<usize> = Vec::new();
            let mut ended = BTreeSet::new();
            let mut choices = choices.into_iter().cycle();
            loop {
                while let Some(test) = schedule.start() {
                    for before in &tests[test].after {
                        let in_a_circle = circular.contains(&test) && circular.contains(before);
                        let excused = in_a_circle && before >= &test;
                        prop_assert!(excused || ended.contains(before), "{test} before {before}");
                    }
                    for other in &running {
                        prop_assert!(!tests[test].alone && !tests[*other].alone);
                        prop_assert!(tests[test].locks.is_disjoint(&tests[*other].locks));
                    }
                    running.push(test);
                    let used: usize = running.iter().map(|test| tests[*test].processors).sum();
                    prop_assert!(running.len() == 1 || used <= jobs);
                }
                if running.is_empty() {
                    break;
                }
                let choice = choices.next().expect("it never ends").index(running.len());
                let test = running.swap_remove(choice);
                schedule.finish(test);
                prop_assert!(ended.insert(test), "{test} ran twice");
            }
            prop_assert_eq!(ended.len(), tests.len());
            prop_assert!(schedule.is_exhausted());
        }
    }
}
