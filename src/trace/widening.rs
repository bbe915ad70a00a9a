//! The widening rules: where what was measured says too little, an edge counts as crossed rather than be missed.

/// Why an edge counts as crossed that perhaps was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    ReturnsTwice,
    LostUpdates,
    ComputedJump,
    FoldedCondition,
    Macro,
    HiddenJump,
    NoRegion,
    NotTold,
    NoRecord,
    NoProfile,
    Lines,
}

/// Each rule with what it says, for people and for the tests that show what fails without it.
pub const RULES: [(Rule, &str); 11] = [
    (
        Rule::ReturnsTwice,
        "control returns twice (setjmp, vfork, getcontext): a difference of counters is executed whenever its left side is",
    ),
    (
        Rule::LostUpdates,
        "threads or forked processes share the counters: a difference of counters is executed whenever its left side is",
    ),
    (
        Rule::ComputedJump,
        "a computed goto has no counter of its own: an edge to a label is crossed when both ends were executed",
    ),
    (
        Rule::FoldedCondition,
        "the compiler decided the condition: both outcomes count as the code around it",
    ),
    (
        Rule::Macro,
        "the condition lies in a macro: an outcome is crossed when both ends were executed",
    ),
    (
        Rule::HiddenJump,
        "a macro may hide a jump: an edge is crossed when its target was executed",
    ),
    (
        Rule::NoRegion,
        "no region belongs to the edge: it is crossed when both ends were executed",
    ),
    (
        Rule::NotTold,
        "the function is known only as a whole: whoever enters it crosses everything",
    ),
    (
        Rule::NoRecord,
        "the function was compiled without counters: whoever ran the binary crosses everything",
    ),
    (
        Rule::NoProfile,
        "the profile is missing or cannot be read: the test is always selected",
    ),
    (
        Rule::Lines,
        "gcov tells lines: every outcome of a line that ran counts",
    ),
];

impl Rule {
    /// What the rule says.
    #[must_use]
    pub fn text(self) -> &'static str {
        RULES
            .iter()
            .find(|(rule, _)| *rule == self)
            .map_or("", |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_rule_once() {
        let mut rules: Vec<Rule> = RULES.iter().map(|(rule, _)| *rule).collect();
        rules.dedup();
        assert_eq!(rules.len(), RULES.len());
        assert!(rules.is_sorted());
        assert!(Rule::Lines.text().contains("line"));
    }
}
