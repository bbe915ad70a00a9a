//! The counts of all arcs and blocks, from the counters of some: what flows into a block flows out of it.

use super::data::Counters;
use super::notes::{Arc, ENTRY, EXIT, Function};

/// How often each arc and each block was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// In the order of the function's arcs. Only that of a fake arc to the exit can be negative: a call that returned more often than it was made, as `fork` and `setjmp` do.
    pub arcs: Vec<i64>,
    pub blocks: Vec<i64>,
}

/// Why there is no flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsolved {
    /// The number of counters is not that of the arcs off the tree.
    Counters,
    /// The arcs without a counter are no tree, or the numbers are too large.
    NoSolution,
    /// Something happened less than zero times: updates were lost between threads, or a signal handler left the function.
    Negative,
}

/// Solves the flow of one run or of any sum of runs.
///
/// An imagined arc from the exit back to the entry makes every block alike. The arcs without a counter form a tree, so some block always has only one of them left: its flow is what the others leave over.
pub fn solve(function: &Function, counters: &Counters) -> Result<Flow, Unsolved> {
    if counters.len() != function.counters() {
        return Err(Unsolved::Counters);
    }
    let mut system = System::new(function);
    let mut measured = 0;
    for (number, arc) in function.arcs.iter().enumerate() {
        if arc.on_tree {
            system.leave_open(number);
        } else {
            let count = match counters {
                Counters::Zero(_) => 0,
                Counters::Values(values) => values[measured],
            };
            measured += 1;
            system.settle(number, count).ok_or(Unsolved::NoSolution)?;
        }
    }
    system.leave_open(function.arcs.len());
    system.run().ok_or(Unsolved::NoSolution)?;
    let blocks = block_counts(function, &system).ok_or(Unsolved::NoSolution)?;
    let mut arcs = system.counts;
    arcs.truncate(function.arcs.len());
    let impossible = |(arc, count): (&Arc, &i64)| *count < 0 && !(arc.fake && arc.to == EXIT);
    if function.arcs.iter().zip(&arcs).any(impossible) || blocks.iter().any(|count| *count < 0) {
        return Err(Unsolved::Negative);
    }
    Ok(Flow { arcs, blocks })
}

/// A block counts as often as it is entered.
fn block_counts(function: &Function, system: &System<'_>) -> Option<Vec<i64>> {
    let mut blocks = vec![0i64; function.blocks as usize];
    for (number, count) in system.counts.iter().enumerate() {
        let (_, to) = system.ends(number);
        blocks[to] = blocks[to].checked_add(*count)?;
    }
    // The exit counts what leaves through it, also by calls that returned twice.
    if let Some(exit) = blocks.get_mut(EXIT as usize) {
        *exit = (*exit).max(0);
    }
    Some(blocks)
}

/// The equations, one for each block.
struct System<'a> {
    function: &'a Function,
    /// Of the arcs, and behind them of the imagined arc from exit to entry.
    counts: Vec<i64>,
    /// For each block what came in less what went out, as far as it is known.
    surplus: Vec<i64>,
    /// How many arcs at each block are not known, and the exclusive or of their numbers: when one is left, its number.
    open: Vec<(u32, usize)>,
    unknown: usize,
}

impl<'a> System<'a> {
    fn new(function: &'a Function) -> Self {
        let blocks = function.blocks as usize;
        System {
            function,
            counts: vec![0; function.arcs.len() + 1],
            surplus: vec![0; blocks],
            open: vec![(0, 0); blocks],
            unknown: 0,
        }
    }

    fn ends(&self, number: usize) -> (usize, usize) {
        match self.function.arcs.get(number) {
            Some(arc) => (arc.from as usize, arc.to as usize),
            None => (EXIT as usize, ENTRY as usize),
        }
    }

    fn leave_open(&mut self, number: usize) {
        let (from, to) = self.ends(number);
        for block in [from, to] {
            let (degree, numbers) = &mut self.open[block];
            *degree += 1;
            *numbers ^= number;
        }
        self.unknown += 1;
    }

    fn settle(&mut self, number: usize, count: i64) -> Option<()> {
        let (from, to) = self.ends(number);
        self.counts[number] = count;
        self.surplus[from] = self.surplus[from].checked_sub(count)?;
        self.surplus[to] = self.surplus[to].checked_add(count)?;
        Some(())
    }

    /// Peels leaves off the tree; nothing when what is left has none.
    fn run(&mut self) -> Option<()> {
        let leaf = |(block, (degree, _)): (usize, &(u32, usize))| (*degree == 1).then_some(block);
        let mut leaves: Vec<usize> = self.open.iter().enumerate().filter_map(leaf).collect();
        while let Some(block) = leaves.pop() {
            let (1, number) = self.open[block] else {
                continue;
            };
            let (from, to) = self.ends(number);
            let surplus = self.surplus[block];
            let count = if block == from {
                surplus
            } else {
                surplus.checked_neg()?
            };
            self.settle(number, count)?;
            self.unknown -= 1;
            for end in [from, to] {
                let (degree, numbers) = &mut self.open[end];
                *degree -= 1;
                *numbers ^= number;
                if *degree == 1 {
                    leaves.push(end);
                }
            }
        }
        (self.unknown == 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with the arcs `(from, to, flags)`: t on the tree, f fake.
    fn function(blocks: u32, arcs: &[(u32, u32, &str)]) -> Function {
        let arcs = arcs.iter().map(|&(from, to, flags)| Arc {
            from,
            to,
            on_tree: flags.contains('t'),
            fake: flags.contains('f'),
            fall_through: false,
        });
        Function {
            blocks,
            arcs: arcs.collect(),
            ..Function::default()
        }
    }

    fn flow(function: &Function, counters: &[i64]) -> Result<Flow, Unsolved> {
        solve(function, &Counters::Values(counters.to_vec()))
    }

    /// `if (a) call(); return;` with the call in block 3.
    fn branch() -> Function {
        let arcs = [
            (0, 2, ""),
            (2, 3, ""),
            (2, 4, "t"),
            (3, 1, "tf"),
            (3, 4, ""),
            (4, 1, "t"),
        ];
        function(5, &arcs)
    }

    #[test]
    fn what_enters_a_block_leaves_it() {
        let flow = flow(&branch(), &[5, 2, 2]).expect("it can be solved");
        assert_eq!(flow.blocks, [5, 5, 5, 2, 5]);
        assert_eq!(flow.arcs, [5, 2, 3, 0, 2, 5]);
    }

    #[test]
    fn a_call_that_exits_flows_to_the_exit() {
        let flow = flow(&branch(), &[1, 1, 0]).expect("it can be solved");
        assert_eq!(flow.blocks, [1, 1, 1, 1, 0]);
    }

    #[test]
    fn a_call_may_return_more_often_than_it_is_made() {
        let flow = flow(&branch(), &[1, 1, 2]).expect("it can be solved");
        assert_eq!(flow.blocks, [1, 1, 1, 1, 2]);
        assert_eq!(flow.arcs[3], -1);
    }

    #[test]
    fn a_branch_taken_less_than_never_is_no_flow() {
        assert_eq!(flow(&branch(), &[1, 2, 2]), Err(Unsolved::Negative));
    }

    #[test]
    fn zeros_need_no_counters() {
        let flow = solve(&branch(), &Counters::Zero(3)).expect("it can be solved");
        assert_eq!(flow.blocks, [0; 5]);
    }

    #[test]
    fn another_number_of_counters_is_no_flow() {
        assert_eq!(flow(&branch(), &[1, 1]), Err(Unsolved::Counters));
        assert_eq!(flow(&branch(), &[1, 1, 1, 1]), Err(Unsolved::Counters));
    }

    #[test]
    fn circles_without_counters_are_no_tree() {
        let circle = function(4, &[(0, 2, "t"), (2, 3, "t"), (3, 2, "t"), (3, 1, "")]);
        assert_eq!(flow(&circle, &[1]), Err(Unsolved::NoSolution));
        let loops = function(3, &[(0, 2, ""), (2, 2, "t"), (2, 1, "t")]);
        assert_eq!(flow(&loops, &[1]), Err(Unsolved::NoSolution));
    }

    #[test]
    fn numbers_that_are_too_large_are_no_flow() {
        let counters = [i64::MAX, i64::MAX, i64::MIN];
        assert!(flow(&branch(), &counters).is_err());
    }
}
