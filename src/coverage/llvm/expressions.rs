//! The expressions of one function, put in an order in which each needs only earlier ones.

use super::Unreadable;
use super::cursor::Cursor;
use super::map::{Counter, Expression, ExpressionKind};

pub(super) struct Expressions {
    expressions: Vec<Expression>,
}

impl Expressions {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Unreadable> {
        let count = cursor.length()?;
        let unread = Expression {
            kind: ExpressionKind::Subtract,
            left: Counter::Zero,
            right: Counter::Zero,
        };
        let mut expressions = Expressions {
            expressions: vec![unread; count],
        };
        for index in 0..count {
            let left = cursor.small_number()?;
            let left = expressions.counter(left)?;
            let right = cursor.small_number()?;
            let right = expressions.counter(right)?;
            expressions.expressions[index].left = left;
            expressions.expressions[index].right = right;
        }
        Ok(expressions)
    }

    /// A counter as it is written. What an expression does stands only where it is mentioned.
    pub(super) fn counter(&mut self, written: u32) -> Result<Counter, Unreadable> {
        let unknown = Unreadable::Damaged("a counter of an unknown expression");
        let index = usize::try_from(written >> 2).map_err(|_| unknown.clone())?;
        let kind = match written & 3 {
            0 => return Ok(Counter::Zero),
            1 => return Ok(Counter::Count(index)),
            2 => ExpressionKind::Subtract,
            _ => ExpressionKind::Add,
        };
        self.expressions.get_mut(index).ok_or(unknown)?.kind = kind;
        Ok(Counter::Expression(index))
    }

    /// Sorts the expressions, so that whoever evaluates them needs neither recursion nor a look for circles.
    pub(super) fn sorted(self) -> Result<(Vec<Expression>, Renumbering), Unreadable> {
        let count = self.expressions.len();
        let mut states = vec![State::Unseen; count];
        let mut sorted = Vec::with_capacity(count);
        let mut stack = Vec::new();
        for root in 0..count {
            stack.push(root);
            while let Some(&index) = stack.last() {
                if let State::Done(_) = states[index] {
                    stack.pop();
                    continue;
                }
                states[index] = State::Open;
                let Expression { kind, left, right } = self.expressions[index];
                let mut is_ready = true;
                for part in [left, right] {
                    if let Counter::Expression(part) = part {
                        match states[part] {
                            State::Done(_) => {}
                            State::Unseen => {
                                stack.push(part);
                                is_ready = false;
                            }
                            State::Open => {
                                return Err(Unreadable::Damaged("expressions in a circle"));
                            }
                        }
                    }
                }
                if is_ready {
                    let renumber = |counter| renumbered(&states, counter);
                    let (left, right) = (renumber(left), renumber(right));
                    states[index] = State::Done(sorted.len());
                    sorted.push(Expression { kind, left, right });
                    stack.pop();
                }
            }
        }
        Ok((sorted, Renumbering { states }))
    }
}

#[derive(Debug, Clone, Copy)]
enum State {
    Unseen,
    /// On the way to its parts.
    Open,
    /// With its new index.
    Done(usize),
}

/// Where each expression went.
pub(super) struct Renumbering {
    states: Vec<State>,
}

impl Renumbering {
    pub(super) fn counter(&self, counter: Counter) -> Counter {
        renumbered(&self.states, counter)
    }
}

fn renumbered(states: &[State], counter: Counter) -> Counter {
    match counter {
        Counter::Expression(index) => match states.get(index) {
            Some(State::Done(index)) => Counter::Expression(*index),
            // Expressions are renumbered only after their parts.
            _ => counter,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(bytes: &[u8]) -> Result<Vec<Expression>, Unreadable> {
        let expressions = Expressions::read(&mut Cursor::new(bytes))?;
        expressions.sorted().map(|(sorted, _)| sorted)
    }

    #[test]
    fn parts_come_before_what_needs_them() {
        // 0: #0 - e1; 1: #1 + e2; 2: #2 + #3
        let sorted = sorted(&[3, 1, 7, 5, 11, 9, 13]).expect("there is no circle");
        for (index, expression) in sorted.iter().enumerate() {
            for part in [expression.left, expression.right] {
                if let Counter::Expression(part) = part {
                    assert!(part < index);
                }
            }
        }
        assert_eq!(sorted[2].kind, ExpressionKind::Subtract);
        assert_eq!(sorted[2].right, Counter::Expression(1));
        assert_eq!(sorted[1].kind, ExpressionKind::Add);
    }

    #[test]
    fn a_part_that_is_needed_often_is_kept_once() {
        // 0: e1 + e1; 1: e2 + e2; 2: #0 + #0
        assert_eq!(
            sorted(&[3, 7, 7, 11, 11, 1, 1]).map(|sorted| sorted.len()),
            Ok(3)
        );
    }

    #[test]
    fn circles_are_refused() {
        let circle = Err(Unreadable::Damaged("expressions in a circle"));
        assert_eq!(sorted(&[1, 2, 1]), circle);
        assert_eq!(sorted(&[2, 6, 1, 3, 1]), circle);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let count = 200_000u32;
        let mut bytes = Vec::new();
        let mut write = |mut number: u32| {
            while number > 0x7f {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        };
        write(count);
        for index in 1..count {
            write(index << 2 | 2);
            write(1);
        }
        write(1);
        write(1);
        assert_eq!(sorted(&bytes).map(|sorted| sorted.len()), Ok(200_000));
    }
}
