//! The order `history`: always the test with the most likely failures a second, given those before it.

use std::collections::BinaryHeap;

use super::estimate::estimates;
use super::uncrossed::Uncrossed;
use super::{Parameters, Ticket, by_urgency, sorted};

/// The formula is in the comment of the room.
pub(super) fn history(tickets: &[Ticket], parameters: &Parameters) -> Vec<usize> {
    let dangers: Vec<&[u32]> = tickets
        .iter()
        .map(|ticket| ticket.dangers.as_slice())
        .collect();
    let mut edges = Uncrossed::new(&dangers);
    let times = estimates(tickets);
    let all = edges.len().max(1) as f64;
    let share = |edges: usize, weight: f64| weight * edges as f64 / all;
    // What does not depend on the tests before.
    let rarity = rarity(tickets);
    let fixed: Vec<f64> = tickets
        .iter()
        .enumerate()
        .map(|(place, ticket)| {
            let failures = ticket.memory.faults.value().unwrap_or(0.0);
            let crossed = edges.edges(place).len();
            parameters.failures * failures
                + share(crossed, parameters.all_dangers)
                + parameters.coverage * rarity[place]
                + parameters.floor
        })
        .collect();
    let chance = |place: usize, first: usize| {
        let seconds = times[place] as f64 / 1000.0 + parameters.start;
        (fixed[place] + share(first, parameters.new_dangers)) / seconds
    };
    let mut classes: [Vec<Candidate>; 4] = Default::default();
    for (rank, place) in sorted(tickets, |_, _| std::cmp::Ordering::Equal)
        .into_iter()
        .enumerate()
    {
        classes[class(&tickets[place])].push(Candidate {
            chance: chance(place, edges.edges(place).len()),
            left: edges.left(),
            rank,
            place,
        });
    }
    let mut order = Vec::with_capacity(tickets.len());
    for class in classes {
        let mut heap = BinaryHeap::from(class);
        while let Some(mut candidate) = heap.pop() {
            // A chance only falls while others are put before; so who is best with what is known now is best of all.
            if candidate.left != edges.left() {
                let first = edges.crossed_first_by(candidate.place);
                candidate.left = edges.left();
                candidate.chance = chance(candidate.place, first);
                if heap.peek().is_some_and(|next| *next > candidate) {
                    heap.push(candidate);
                    continue;
                }
            }
            edges.cross(candidate.place);
            order.push(candidate.place);
        }
    }
    order
}

/// The place of each test in the order `coverage`, from 1 for the first down to 0; equal ones share theirs.
fn rarity(tickets: &[Ticket]) -> Vec<f64> {
    let coverage = |place: usize| tickets[place].memory.coverage;
    let mut places: Vec<usize> = (0..tickets.len()).collect();
    places.sort_by(|one, other| by_urgency(coverage(*one), coverage(*other)));
    let mut rarity = vec![0.0; tickets.len()];
    let mut before = 0;
    for (rank, place) in places.iter().enumerate() {
        if by_urgency(coverage(places[before]), coverage(*place)).is_ne() {
            before = rank;
        }
        rarity[*place] = 1.0 - before as f64 / tickets.len() as f64;
    }
    rarity
}

/// The tests that come first whatever their chance.
fn class(ticket: &Ticket) -> usize {
    match ticket {
        Ticket {
            failed_last: true, ..
        } => 0,
        Ticket { is_new: true, .. } => 1,
        Ticket {
            is_changed: true, ..
        } => 2,
        _ => 3,
    }
}

/// A test with the chance that it had when it was last looked at.
struct Candidate {
    chance: f64,
    /// How many edges were left then; nothing has changed for it while they are.
    left: usize,
    /// Its place among the names.
    rank: usize,
    place: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let chance = self.chance.total_cmp(&other.chance);
        chance.then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}
