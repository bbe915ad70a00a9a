//! Safe-random(n) (Kim and Porter, section 4.1): a draw from the safe selection, and a repository for what was left out.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::technique::{Chosen, Session};

/// The selected tests that have not run yet, with the session that left them out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    pub kept: Vec<Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub test: String,
    pub since: u64,
}

/// If the selection has no room, the rest of it goes to the repository; if there is room left, the repository fills it. What runs leaves the repository, however it came to run.
pub(super) fn safe_random(session: &Session<'_>, repository: &Repository) -> Chosen {
    let mut draw = session.draw();
    let mut run = session.selected.to_vec();
    draw.shuffle(&mut run);
    let left_out = run.split_off(session.room().min(run.len()));
    let mut kept = repository.kept.clone();
    // Two equal names are one test; who is in the repository already keeps its time.
    let known: FxHashSet<String> = kept.iter().map(|kept| kept.test.clone()).collect();
    let names = left_out.iter().map(|place| &session.suite[*place].name);
    kept.extend(
        names
            .filter(|name| !known.contains(*name))
            .map(|name| Kept {
                test: name.clone(),
                since: session.number,
            }),
    );
    let places: FxHashMap<&str, usize> = session
        .suite
        .iter()
        .enumerate()
        .map(|(place, ticket)| (ticket.name.as_str(), place))
        .collect();
    let mut is_run = vec![false; session.suite.len()];
    for place in &run {
        is_run[*place] = true;
    }
    if left_out.is_empty() {
        // Tests that are gone stay unless the caller takes them out: they may only be missing on this branch.
        let here = kept
            .iter()
            .filter_map(|kept| places.get(kept.test.as_str()).copied());
        let mut waiting: Vec<usize> = here.filter(|place| !is_run[*place]).collect();
        draw.shuffle(&mut waiting);
        waiting.truncate(session.room() - run.len());
        for place in &waiting {
            is_run[*place] = true;
        }
        run.extend(waiting);
    }
    kept.retain(|kept| {
        places
            .get(kept.test.as_str())
            .is_none_or(|place| !is_run[*place])
    });
    Chosen {
        run,
        repository: Repository { kept },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::Ticket;
    use super::*;

    fn suite(tests: usize) -> Vec<Ticket> {
        let ticket = |test: usize| Ticket {
            name: format!("test_{test}"),
            ..Ticket::default()
        };
        (0..tests).map(ticket).collect()
    }

    fn session<'a>(suite: &'a [Ticket], selected: &'a [usize], number: u64) -> Session<'a> {
        Session {
            suite,
            selected,
            percent: 30.0,
            number,
            seed: number,
        }
    }

    fn names(repository: &Repository) -> BTreeSet<String> {
        repository
            .kept
            .iter()
            .map(|kept| kept.test.clone())
            .collect()
    }

    #[test]
    fn what_has_no_room_is_kept_with_its_time_and_runs_when_there_is_room() {
        let suite = suite(10);
        let first = safe_random(
            &session(&suite, &[0, 1, 2, 3, 4], 1),
            &Repository::default(),
        );
        assert_eq!(first.run.len(), 3);
        assert_eq!(first.repository.kept.len(), 2);
        assert!(first.repository.kept.iter().all(|kept| kept.since == 1));
        let second = safe_random(&session(&suite, &[9], 2), &first.repository);
        assert_eq!(second.run.len(), 3);
        assert!(second.run.contains(&9));
        assert!(second.repository.kept.is_empty());
        let third = safe_random(&session(&suite, &[], 3), &second.repository);
        assert!(third.run.is_empty());
    }

    #[test]
    fn a_test_that_is_not_in_this_suite_stays_in_the_repository() {
        let gone = Repository {
            kept: vec![Kept {
                test: "gone".to_owned(),
                since: 1,
            }],
        };
        let suite = suite(3);
        assert_eq!(
            safe_random(&session(&suite, &[], 2), &gone).repository,
            gone
        );
    }

    proptest! {
        #[test]
        fn a_selected_test_runs_or_is_in_the_repository(
            sessions in proptest::collection::vec(proptest::collection::btree_set(0_usize..20, 0..15), 1..12),
        ) {
            let suite = suite(20);
            let mut repository = Repository::default();
            let mut waiting: BTreeSet<String> = BTreeSet::new();
            for (number, selected) in sessions.iter().enumerate() {
                let selected: Vec<usize> = selected.iter().copied().collect();
                let chosen = safe_random(&session(&suite, &selected, number as u64), &repository);
                prop_assert!(chosen.run.len() <= 6);
                waiting.extend(selected.iter().map(|place| suite[*place].name.clone()));
                for place in &chosen.run {
                    prop_assert!(waiting.remove(&suite[*place].name), "it was not asked for");
                }
                repository = chosen.repository;
                prop_assert_eq!(&names(&repository), &waiting);
                prop_assert_eq!(repository.kept.len(), waiting.len());
            }
        }
    }
}
