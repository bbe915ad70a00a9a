//! Minimization (Kim and Porter, section 2.2.3): few tests that together meet every danger that any test meets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Ticket;
use super::draw::Draw;
use super::uncrossed::Uncrossed;

/// A greedy cover: the test with the most dangers that are left, until none is left; then without those whose dangers the others meet. Equal tests are drawn. The smallest cover is a hard problem; this one is at most ln d + 1 times as large, for d dangers.
pub(super) fn minimize(suite: &[Ticket], selected: &[usize], draw: &mut Draw) -> Vec<usize> {
    let mut candidates: Vec<usize> = selected.to_vec();
    draw.shuffle(&mut candidates);
    let dangers: Vec<Vec<u32>> = candidates
        .iter()
        .map(|place| [suite[*place].dangers.as_slice(), &suite[*place].doubts].concat())
        .collect();
    let dangers: Vec<&[u32]> = dangers.iter().map(Vec::as_slice).collect();
    let mut uncrossed = Uncrossed::new(&dangers);
    let all = 0..candidates.len();
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> = all
        .map(|index| (uncrossed.edges(index).len(), Reverse(index)))
        .collect();
    let mut chosen = Vec::new();
    while uncrossed.left() > 0 {
        let Some((count, Reverse(index))) = heap.pop() else {
            break;
        };
        // A count only falls; so who is best with its count of now is best of all.
        let now = uncrossed.crossed_first_by(index);
        if now < count {
            heap.push((now, Reverse(index)));
        } else {
            uncrossed.cross(index);
            chosen.push(index);
        }
    }
    without_needless(&mut chosen, &uncrossed);
    chosen.into_iter().map(|index| candidates[index]).collect()
}

/// Takes out tests all of whose dangers other chosen ones meet; later choices may have made an early one needless.
fn without_needless(chosen: &mut Vec<usize>, uncrossed: &Uncrossed) {
    let mut times = vec![0_u32; uncrossed.len()];
    for index in chosen.iter() {
        for edge in uncrossed.edges(*index) {
            times[*edge as usize] += 1;
        }
    }
    chosen.retain(|index| {
        let edges = uncrossed.edges(*index);
        let is_needed = edges.iter().any(|edge| times[*edge as usize] == 1);
        if !is_needed {
            for edge in edges {
                times[*edge as usize] -= 1;
            }
        }
        is_needed
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn suite(dangers: &[Vec<u32>]) -> Vec<Ticket> {
        let tickets = dangers.iter().enumerate();
        tickets
            .map(|(place, dangers)| Ticket {
                name: format!("test_{place}"),
                dangers: dangers.clone(),
                ..Ticket::default()
            })
            .collect()
    }

    fn minimized(dangers: &[Vec<u32>], seed: u64) -> Vec<usize> {
        let all: Vec<usize> = (0..dangers.len()).collect();
        let mut chosen = minimize(&suite(dangers), &all, &mut Draw::new(seed));
        chosen.sort_unstable();
        chosen
    }

    /// The size of the smallest cover, by trying all.
    fn smallest(dangers: &[Vec<u32>]) -> usize {
        let all: BTreeSet<u32> = dangers.iter().flatten().copied().collect();
        let covers = |set: u32| {
            let chosen = (0..dangers.len()).filter(|test| set & (1 << test) != 0);
            chosen
                .flat_map(|test| &dangers[test])
                .copied()
                .collect::<BTreeSet<u32>>()
                == all
        };
        let sets = (0_u32..1 << dangers.len()).filter(|set| covers(*set));
        sets.map(u32::count_ones).min().unwrap_or(0) as usize
    }

    #[test]
    fn small_cases_have_the_smallest_answers() {
        for (dangers, answer) in [
            (vec![], vec![]),
            (vec![vec![]], vec![]),
            (vec![vec![1], vec![1, 2], vec![2]], vec![1]),
            (
                vec![vec![1, 2], vec![3, 4], vec![1, 2, 3], vec![4, 5]],
                vec![2, 3],
            ),
            // The first choice, of three dangers, is needless in the end.
            (
                vec![vec![1, 2, 3], vec![1, 2, 4], vec![3, 5, 6]],
                vec![1, 2],
            ),
        ] {
            for seed in 0..10 {
                assert_eq!(
                    minimized(&dangers, seed).len(),
                    smallest(&dangers),
                    "{dangers:?}"
                );
            }
            if answer.len() == 1 {
                assert_eq!(minimized(&dangers, 0), answer);
            }
        }
    }

    #[test]
    fn tests_that_are_not_selected_are_not_chosen() {
        let suite = suite(&[vec![1, 2, 3], vec![1], vec![2]]);
        let mut chosen = minimize(&suite, &[1, 2], &mut Draw::new(0));
        chosen.sort_unstable();
        assert_eq!(chosen, [1, 2]);
    }

    proptest! {
        #[test]
        fn every_danger_that_can_be_met_is_met_with_few_tests(
            dangers in proptest::collection::vec(proptest::collection::vec(0_u32..12, 0..6), 0..9),
            seed in any::<u64>(),
        ) {
            let chosen = minimized(&dangers, seed);
            let of = |tests: &[usize]| tests.iter().flat_map(|test| &dangers[*test]).copied().collect::<BTreeSet<u32>>();
            let all: Vec<usize> = (0..dangers.len()).collect();
            prop_assert_eq!(of(&chosen), of(&all));
            for place in &chosen {
                let others: Vec<usize> = chosen.iter().copied().filter(|other| other != place).collect();
                prop_assert!(of(&others) != of(&all), "{} is needless", place);
            }
            // The bound of the greedy cover: the harmonic number of the largest set, here at most 1 + 1/2 + ... + 1/5.
            prop_assert!(chosen.len() as f64 <= 2.29 * smallest(&dangers) as f64);
        }
    }
}
