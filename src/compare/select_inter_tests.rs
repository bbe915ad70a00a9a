//! `SelectInterTests` (paper 000, Fig. 7): the walk through a whole program, which stops behind calls that every test notices.

use crate::compare::select_tests::{LEquivalent, Walk, Walker, exit_is_reachable};
use crate::lang::cfg::{Cfg, Node};

/// A procedure of the base program with its counterpart in the head.
#[derive(Clone, Copy)]
pub struct Procedure<'a> {
    pub base: &'a Cfg,
    pub head: &'a Cfg,
}

/// The program as the walk needs it.
pub trait Program {
    type Equivalent: LEquivalent;

    fn procedure(&self, index: usize) -> Procedure<'_>;

    /// The procedures that are certainly called whenever the node is executed; doubtful calls are left out.
    fn called(&self, procedure: usize, node: &Node) -> Vec<usize>;

    fn equivalent(&self, procedure: usize) -> &Self::Equivalent;
}

/// The status field of a procedure in `proctable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Visited,
    /// Every test that enters the procedure is selected in it.
    SelectsAll,
}

/// What the walk knows of one procedure; `None` if it never got there.
pub type ProcTable = Vec<Option<(Status, Walk)>>;

/// Walks from each of the entry procedures.
pub fn select_inter_tests<P: Program>(
    program: &P,
    count: usize,
    entries: impl IntoIterator<Item = usize>,
) -> ProcTable {
    let mut table: ProcTable = vec![None; count];
    for entry in entries {
        if table[entry].is_none() {
            select_tests_2(program, entry, &mut table);
        }
    }
    table
}

/// A procedure whose walk is under way.
struct Frame<'a> {
    procedure: usize,
    walker: Walker<'a>,
    /// The pair behind whose calls the walk goes on, if none of the called procedures selects all.
    waiting: Option<(usize, usize)>,
}

/// `SelectTests2` and `Compare2`, with a stack of their own instead of recursion.
fn select_tests_2<P: Program>(program: &P, entry: usize, table: &mut ProcTable) {
    let start = |procedure: usize, table: &mut ProcTable| {
        let Procedure { base, head } = program.procedure(procedure);
        table[procedure] = Some((Status::Visited, Walk::default()));
        Frame {
            procedure,
            walker: Walker::start(base, head),
            waiting: None,
        }
    };
    let mut stack = vec![start(entry, table)];
    while let Some(frame) = stack.last_mut() {
        let procedure = frame.procedure;
        let pair = match frame.waiting.take() {
            Some(pair) => Some(pair),
            None => frame.walker.next(program.equivalent(procedure)),
        };
        let Some((node, partner)) = pair else {
            if let Some(frame) = stack.pop() {
                let walk = frame.walker.finish();
                let base = program.procedure(procedure).base;
                // A procedure that never returns would look as if every test were selected in it.
                let selects_all = !walk.reaches_exit() && exit_is_reachable(base);
                let status = if selects_all {
                    Status::SelectsAll
                } else {
                    Status::Visited
                };
                table[procedure] = Some((status, walk));
            }
            continue;
        };
        let called = program.called(procedure, &program.procedure(procedure).base.nodes[node]);
        if let Some(next) = called
            .iter()
            .copied()
            .find(|callee| table[*callee].is_none())
        {
            frame.waiting = Some((node, partner));
            let callee = start(next, table);
            stack.push(callee);
            continue;
        }
        // Line 29, as the text explains it: one called procedure that selects all tests is enough.
        let selected = called
            .iter()
            .any(|callee| matches!(table[*callee], Some((Status::SelectsAll, _))));
        if selected {
            frame.walker.pass_over(node, partner);
        } else {
            frame.walker.compare(node, partner);
        }
    }
}
