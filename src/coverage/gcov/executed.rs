//! The lines that a test executed in one function: never one too few.

use super::data::Counters;
use super::notes::Function;
use super::solve::{Unsolved, solve};

/// What was executed in a function that was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// File and line, sorted. A file is an index into the notes' files: inlined code lies elsewhere.
    pub lines: Vec<(u32, u32)>,
    /// All lines of the function are there, because no count of a block can be trusted.
    pub doubt: Option<Doubt>,
}

/// Why a function counts as executed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The caller knows of something that breaks the sums.
    Widened,
    /// A loop without a way out.
    Endless,
    Unsolved(Unsolved),
    /// The data say nothing of the function: another object may have counted for it.
    NotCounted,
}

/// The executed lines; nothing when the function was not entered.
///
/// With `widen` the counters are used for one thing only: a function without a single counted arc was not entered. Sums are wrong where threads lose each other's updates, where `exec` succeeds (gcc takes it for a call that returns), and where a signal handler leaves a function by `exit` or `longjmp`. Then a block can come out as never executed that was. But what was once counted up is never zero again, and in code that is not optimized gcc counts the way in itself. `setjmp` and `fork` are harmless: each call has an arc that takes up how often it returned.
#[must_use]
pub fn executed_lines(function: &Function, counters: &Counters, widen: bool) -> Option<Executed> {
    let expected = function.counters();
    if counters.len() != expected || expected == 0 {
        return Some(whole(function, Doubt::Unsolved(Unsolved::Counters)));
    }
    if !counters.any() {
        return None;
    }
    if widen {
        return Some(whole(function, Doubt::Widened));
    }
    if function.endless {
        return Some(whole(function, Doubt::Endless));
    }
    let flow = match solve(function, counters) {
        Ok(flow) => flow,
        Err(unsolved) => return Some(whole(function, Doubt::Unsolved(unsolved))),
    };
    let ran = |block: u32| flow.blocks[block as usize] > 0;
    Some(Executed {
        lines: lines(function, ran),
        doubt: None,
    })
}

/// Every line of the function.
#[must_use]
pub fn whole(function: &Function, doubt: Doubt) -> Executed {
    Executed {
        lines: lines(function, |_| true),
        doubt: Some(doubt),
    }
}

fn lines(function: &Function, ran: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut lines: Vec<(u32, u32)> = function
        .lines
        .iter()
        .filter(|line| ran(line.block))
        .map(|line| (line.file, line.line))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::super::notes::{Arc, Line};
    use super::*;

    /// A way in, and a loop on line 2 that only a signal ends; the compiler counts the loop alone.
    fn spin() -> Function {
        let arc = |from, to, on_tree| Arc {
            from,
            to,
            on_tree,
            fake: false,
            fall_through: true,
        };
        let line = |block, line| Line {
            block,
            file: 0,
            line,
        };
        Function {
            blocks: 4,
            arcs: vec![arc(0, 2, true), arc(2, 3, true), arc(3, 3, false)],
            lines: vec![line(2, 1), line(3, 2)],
            endless: true,
            ..Function::default()
        }
    }

    #[test]
    fn the_way_into_an_endless_loop_is_executed() {
        let executed = executed_lines(&spin(), &Counters::Values(vec![9]), false);
        let executed = executed.expect("it was entered");
        assert_eq!(executed.lines, [(0, 1), (0, 2)]);
        assert_eq!(executed.doubt, Some(Doubt::Endless));
    }

    #[test]
    fn a_function_without_a_count_was_not_entered() {
        assert_eq!(executed_lines(&spin(), &Counters::Zero(1), true), None);
    }

    #[test]
    fn a_function_with_missing_counters_is_executed_as_a_whole() {
        let executed = executed_lines(&spin(), &Counters::Zero(0), false);
        assert_eq!(executed.expect("doubt widens").lines.len(), 2);
    }
}
