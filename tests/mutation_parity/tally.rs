//! What came out of many mutants, as numbers and as stories of what went wrong.

use std::collections::BTreeSet;
use std::fmt;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Mutants that do not compile or link, and so do not count.
    pub(crate) not_built: usize,
    /// Mutants that do not behave the same each time: their changes are checked, but not counted.
    pub(crate) unsteady: usize,
    pub(crate) mutants: usize,
    /// Tests times mutants.
    pub(crate) runs: usize,
    pub(crate) changed: usize,
    pub(crate) selected: usize,
    /// All tests, and the mutants that some of them notice, as parts of a fault matrix.
    pub(crate) tests: BTreeSet<String>,
    pub(crate) versions: Vec<String>,
    pub(crate) misses: Vec<String>,
    pub(crate) unfounded: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.not_built += other.not_built;
        self.unsteady += other.unsteady;
        self.mutants += other.mutants;
        self.runs += other.runs;
        self.changed += other.changed;
        self.selected += other.selected;
        self.tests.extend(other.tests);
        self.versions.extend(other.versions);
        self.misses.extend(other.misses);
        self.unfounded.extend(other.unfounded);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize| 100.0 * part as f64 / self.runs.max(1) as f64;
        writeln!(out, "  mutants          {:>8}", self.mutants)?;
        writeln!(out, "  do not build     {:>8}", self.not_built)?;
        writeln!(out, "  unsteady         {:>8}", self.unsteady)?;
        writeln!(out, "  tests x mutants  {:>8}", self.runs)?;
        let rows = [("changed", self.changed), ("selected", self.selected)];
        for (name, count) in rows {
            writeln!(out, "  {name:<16} {count:>8} {:>5.1} %", share(count))?;
        }
        writeln!(out, "  unfounded        {:>8}", self.unfounded.len())?;
        writeln!(out, "  misses           {:>8}", self.misses.len())
    }
}
