//! What the counters of one record say about the regions of its function.

use std::cell::OnceCell;

use super::Unreadable;
use super::map::{Counter, Expression, ExpressionKind, FunctionMap};

/// The counters of one function in one profile. Its expressions are evaluated once, when the first of them is asked for.
#[derive(Debug, Clone)]
pub struct Counts<'a> {
    counters: &'a [u64],
    expressions: &'a [Expression],
    values: OnceCell<Vec<i64>>,
    possible: OnceCell<Vec<bool>>,
}

impl<'a> Counts<'a> {
    /// Takes the counters of a record that has the function's name and hash.
    pub fn new(function: &'a FunctionMap, counters: &'a [u64]) -> Result<Self, Unreadable> {
        if counters.len() < function.counters {
            return Err(Unreadable::TooFewCounters);
        }
        Ok(Counts {
            counters,
            expressions: &function.expressions,
            values: OnceCell::new(),
            possible: OnceCell::new(),
        })
    }

    /// How often, where control flows as it is written. A difference below zero counts as zero.
    #[must_use]
    pub fn count(&self, counter: Counter) -> u64 {
        let values = || self.values.get_or_init(|| self.all_values());
        self.value(counter, values).max(0).unsigned_abs()
    }

    /// Whether the region may have been executed, where a difference can be too small: calls that return twice, and updates that threads or processes lost.
    ///
    /// What was executed came from somewhere, so the left side of a subtraction is above zero whatever the right side says.
    #[must_use]
    pub fn may_be_nonzero(&self, counter: Counter) -> bool {
        let possible = || self.possible.get_or_init(|| self.all_possible());
        self.is_possible(counter, possible)
    }

    fn all_values(&self) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.expressions.len());
        for expression in self.expressions {
            let value = |part| self.value(part, || &values);
            let (left, right) = (value(expression.left), value(expression.right));
            values.push(match expression.kind {
                ExpressionKind::Subtract => left.saturating_sub(right),
                ExpressionKind::Add => left.saturating_add(right),
            });
        }
        values
    }

    fn all_possible(&self) -> Vec<bool> {
        let mut possible = Vec::with_capacity(self.expressions.len());
        for expression in self.expressions {
            let is_possible = |part| self.is_possible(part, || &possible);
            let left = is_possible(expression.left);
            possible.push(match expression.kind {
                ExpressionKind::Subtract => left,
                ExpressionKind::Add => left || is_possible(expression.right),
            });
        }
        possible
    }

    /// Below zero only on the way to a sum. What no sound map mentions counts as executed.
    fn value<'v>(&self, counter: Counter, values: impl FnOnce() -> &'v Vec<i64>) -> i64 {
        match counter {
            Counter::Zero => 0,
            Counter::Count(index) => self
                .counters
                .get(index)
                .map_or(i64::MAX, |count| i64::try_from(*count).unwrap_or(i64::MAX)),
            Counter::Expression(index) => values().get(index).copied().unwrap_or(i64::MAX),
        }
    }

    fn is_possible<'v>(&self, counter: Counter, possible: impl FnOnce() -> &'v Vec<bool>) -> bool {
        match counter {
            Counter::Zero => false,
            Counter::Count(index) => self.counters.get(index).is_none_or(|count| *count > 0),
            Counter::Expression(index) => possible().get(index).copied().unwrap_or(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Counter::{Count, Expression as Of, Zero};

    fn function(expressions: &[(Counter, char, Counter)], counters: usize) -> FunctionMap {
        let expressions = expressions
            .iter()
            .map(|(left, kind, right)| Expression {
                kind: match kind {
                    '-' => ExpressionKind::Subtract,
                    _ => ExpressionKind::Add,
                },
                left: *left,
                right: *right,
            })
            .collect();
        FunctionMap {
            name: "f".to_owned(),
            static_in: None,
            name_hash: 0,
            hash: 1,
            is_unused: false,
            files: vec![0],
            expressions,
            regions: Vec::new(),
            counters,
        }
    }

    #[test]
    fn sums_and_differences_are_evaluated() {
        let function = function(
            &[
                (Count(0), '-', Count(1)),
                (Of(0), '+', Count(2)),
                (Zero, '+', Of(1)),
            ],
            3,
        );
        let counts = Counts::new(&function, &[10, 4, 1]).expect("there are three counters");
        assert_eq!(counts.count(Zero), 0);
        assert_eq!(counts.count(Count(1)), 4);
        assert_eq!(counts.count(Of(0)), 6);
        assert_eq!(counts.count(Of(1)), 7);
        assert_eq!(counts.count(Of(2)), 7);
    }

    #[test]
    fn a_difference_below_zero_is_zero_but_its_sum_is_right() {
        let function = function(&[(Count(0), '-', Count(1)), (Of(0), '+', Count(2))], 3);
        let counts = Counts::new(&function, &[1, 3, 5]).expect("there are three counters");
        assert_eq!(counts.count(Of(0)), 0);
        assert_eq!(counts.count(Of(1)), 3);
    }

    #[test]
    fn a_difference_may_have_been_executed_when_its_left_side_was() {
        let function = function(
            &[
                (Count(0), '-', Count(1)),
                (Count(2), '-', Count(1)),
                (Of(1), '+', Zero),
                (Of(1), '+', Of(0)),
            ],
            3,
        );
        let counts = Counts::new(&function, &[1, 1, 0]).expect("there are three counters");
        assert_eq!(counts.count(Of(0)), 0);
        assert!(counts.may_be_nonzero(Of(0)));
        assert!(!counts.may_be_nonzero(Of(1)));
        assert!(!counts.may_be_nonzero(Of(2)));
        assert!(counts.may_be_nonzero(Of(3)));
        assert!(!counts.may_be_nonzero(Zero));
        assert!(!counts.may_be_nonzero(Count(2)));
    }

    #[test]
    fn counts_beyond_all_bounds_stay_at_the_bound() {
        let mut expressions = vec![(Count(0), '+', Count(0))];
        expressions.extend((0..300).map(|index| (Of(index), '+', Of(index))));
        let counters = [u64::MAX];
        let function = function(&expressions, 1);
        let counts = Counts::new(&function, &counters).expect("there is a counter");
        assert_eq!(counts.count(Of(300)), i64::MAX as u64);
    }

    #[test]
    fn too_few_counters_are_refused() {
        let function = function(&[], 2);
        assert_eq!(
            Counts::new(&function, &[1]).map(|_| ()),
            Err(Unreadable::TooFewCounters)
        );
        assert!(Counts::new(&function, &[1, 2, 3]).is_ok());
    }
}
