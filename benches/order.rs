//! What ordering costs: `cargo bench --bench order`.
//!
//! 10,000 selected tests that cross up to 100,000 dangerous edges, in the order `history`, beside a plain sort of the same list by name, in one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use git_rts::order::draw::Draw;
use git_rts::order::smoothed::{Happened, Memory};
use git_rts::order::{Order, Parameters, Ticket, order};

const TESTS: usize = 10_000;
const EDGES: usize = 100_000;
/// Each is timed this often, and the best time counts.
const RUNS: usize = 5;

fn main() {
    println!("| edges of a test | crossings | order `history` | sort by name | ratio |");
    println!("|---|---|---|---|---|");
    for edges_a_test in [0, 10, 100, 1000] {
        for is_local in [true, false] {
            println!("{}", line(edges_a_test, is_local));
        }
    }
}

fn line(edges_a_test: usize, is_local: bool) -> String {
    let tickets = tickets(edges_a_test, is_local);
    let shape = if is_local { "neighbours" } else { "anywhere" };
    let parameters = Parameters::default();
    let ordering = best(|| order(black_box(&tickets), Order::History, &parameters));
    let sorting = best(|| {
        let mut places: Vec<usize> = (0..tickets.len()).collect();
        places.sort_by(|one, other| tickets[*one].name.cmp(&tickets[*other].name));
        places
    });
    format!(
        "| {edges_a_test} {shape} | {} | {:.1} ms | {:.1} ms | {:.1} |",
        tickets
            .iter()
            .map(|ticket| ticket.dangers.len())
            .sum::<usize>(),
        ordering.as_secs_f64() * 1e3,
        sorting.as_secs_f64() * 1e3,
        ordering.as_secs_f64() / sorting.as_secs_f64()
    )
}

/// Tests cross mostly neighbouring edges, as they do in programs; or edges anywhere, all in the same time, which is the worst: every test takes something from all others, and none stands out.
fn tickets(edges_a_test: usize, is_local: bool) -> Vec<Ticket> {
    let parameters = Parameters::default();
    let mut draw = Draw::new(1);
    let mut ticket = |test: usize| {
        let begin = draw.below(EDGES);
        let edge = |step: usize| match is_local && !step.is_multiple_of(4) {
            true => (begin + step) % EDGES,
            false => draw.below(EDGES),
        };
        let dangers: Vec<u32> = (0..edges_a_test)
            .map(edge)
            .map(|edge| edge as u32)
            .collect();
        let happened =
            [Happened::Failed, Happened::Passed][usize::from(!is_local || draw.below(20) > 0)];
        Ticket {
            name: format!("suite_{}/test_{test}", draw.below(100)),
            milliseconds: Some(if is_local {
                draw.below(2000) as u64
            } else {
                100
            }),
            failed_last: is_local && draw.below(100) == 0,
            memory: Memory::default().after(happened, None, &parameters.alphas),
            dangers,
            ..Ticket::default()
        }
    };
    (0..TESTS).map(&mut ticket).collect()
}

fn best(work: impl Fn() -> Vec<usize>) -> Duration {
    let once = || {
        let begin = Instant::now();
        black_box(work());
        begin.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}
