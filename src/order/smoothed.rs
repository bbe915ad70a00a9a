//! The smoothed histories of Kim and Porter (section 4): what past sessions say about a test, in one number each.
//!
//! A history is a row of observations h_1, h_2, ..., one a session, and
//!
//! ```text
//! P_0 = h_1
//! P_k = a * h_k + (1 - a) * P_(k-1)
//! ```
//!
//! so the last value is all that must be kept. Three definitions of h are in the paper:
//!
//! - execution: 0 if the test ran in the session, otherwise 1. With a small a the tests that did not run for long come first.
//! - fault detection: 0 if the test passed, 1 if it failed. Only sessions in which it ran are observations: a test that was left out showed neither.
//! - coverage: the sum of the [`weights`] of the functions that the test covers.

use serde::{Deserialize, Serialize};

/// A smoothed history; nothing before the first observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Smoothed(Option<f64>);

impl Smoothed {
    #[must_use]
    pub fn value(self) -> Option<f64> {
        self.0
    }

    /// After one more observation.
    #[must_use]
    pub fn next(self, h: f64, alpha: f64) -> Self {
        match self.0 {
            None => Smoothed(Some(h)),
            Some(before) => Smoothed(Some(alpha * h + (1.0 - alpha) * before)),
        }
    }

    /// After the same observation in several sessions: the recurrence solved, so that a test that was left out for long needs one step.
    #[must_use]
    pub fn next_times(self, h: f64, times: u32, alpha: f64) -> Self {
        if times == 0 {
            return self;
        }
        let Some(before) = self.0 else {
            return Smoothed(Some(h));
        };
        let remains = (1.0 - alpha).powf(f64::from(times));
        Smoothed(Some(h + remains * (before - h)))
    }
}

/// The smoothing constant of each history: a large one trusts the last sessions, a small one the early ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alphas {
    /// "As close to 0 as possible" (section 4.1). With a millionth, the differences that order tests are still far above the precision of the numbers.
    pub execution: f64,
    /// "High" (section 4): who failed lately fails again.
    pub faults: f64,
    /// "High" (section 4): what was not covered lately comes first.
    pub coverage: f64,
}

impl Default for Alphas {
    fn default() -> Self {
        Alphas {
            execution: 1e-6,
            faults: 0.8,
            coverage: 0.8,
        }
    }
}

/// What a session showed of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    NotRun,
    Passed,
    Failed,
}

/// The three histories of one test, to be kept in its record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub execution: Smoothed,
    pub faults: Smoothed,
    pub coverage: Smoothed,
}

impl Memory {
    /// After one more session. `coverage` is the observation that [`weights`] of the session give for what the test covers; where nobody counted, there is none.
    #[must_use]
    pub fn after(&self, happened: Happened, coverage: Option<f64>, alphas: &Alphas) -> Self {
        let faults = match happened {
            Happened::NotRun => self.faults,
            Happened::Passed => self.faults.next(0.0, alphas.faults),
            Happened::Failed => self.faults.next(1.0, alphas.faults),
        };
        let left_out = f64::from(u8::from(happened == Happened::NotRun));
        Memory {
            execution: self.execution.next(left_out, alphas.execution),
            faults,
            coverage: match coverage {
                Some(h) => self.coverage.next(h, alphas.coverage),
                None => self.coverage,
            },
        }
    }

    /// After sessions in which it did not run and nothing was counted. Who keeps beside the memory the session of its last change need not touch the records of tests that are left out.
    #[must_use]
    pub fn after_missed(&self, sessions: u32, alphas: &Alphas) -> Self {
        let execution = self.execution.next_times(1.0, sessions, alphas.execution);
        Memory { execution, ..*self }
    }
}

/// The weight of each function in a session, from how many of the tests that ran in it covered the function (section 4, third approach): inversely exponential in the number, and 1 in sum.
///
/// The caller counts, function by function, the executed tests of one session, also for functions that nobody covered. The observation of a test is then the sum over the functions that it covers, whether or not it ran; what it covers is in its trace. Because the sum and the smoothing are linear, one [`Smoothed`] a function, summed when it is asked for, comes to the same as long as the trace stays.
#[must_use]
pub fn weights(covered_by: &[u32]) -> Vec<f64> {
    // Only differences of counts matter once the sum is 1; without the least one, large counts would all become 0.
    let least = covered_by.iter().copied().min().unwrap_or(0);
    let raw = |count: &u32| (-f64::from(count - least)).exp();
    let sum: f64 = covered_by.iter().map(raw).sum();
    covered_by.iter().map(|count| raw(count) / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    fn smoothed(observations: &[f64], alpha: f64) -> f64 {
        let history = observations
            .iter()
            .fold(Smoothed::default(), |history, h| history.next(*h, alpha));
        history.value().expect("there were observations")
    }

    #[test]
    fn the_first_observation_is_the_first_value() {
        assert_eq!(Smoothed::default().value(), None);
        assert_eq!(Smoothed::default().next(0.7, 0.1).value(), Some(0.7));
    }

    #[test]
    fn values_are_those_worked_out_by_hand() {
        // 1; 0.5*0 + 0.5*1 = 0.5; 0.5*1 + 0.5*0.5 = 0.75; 0.5*0 + 0.5*0.75 = 0.375
        assert!(is_near(smoothed(&[1.0, 0.0, 1.0, 0.0], 0.5), 0.375));
        // 0; 0.8; 0.8*0 + 0.2*0.8 = 0.16
        assert!(is_near(smoothed(&[0.0, 1.0, 0.0], 0.8), 0.16));
        // The extremes: only the last, only the first.
        assert!(is_near(smoothed(&[0.0, 1.0, 0.3], 1.0), 0.3));
        assert!(is_near(smoothed(&[0.0, 1.0, 0.3], 0.0), 0.0));
    }

    #[test]
    fn many_equal_observations_at_once_are_the_same_as_one_by_one() {
        let start = Smoothed::default().next(0.25, 0.3);
        let one_by_one = (0..7).fold(start, |history, _| history.next(1.0, 0.3));
        let at_once = start.next_times(1.0, 7, 0.3);
        assert!(is_near(
            one_by_one.value().expect("observed"),
            at_once.value().expect("observed")
        ));
        assert_eq!(start.next_times(1.0, 0, 0.3), start);
    }

    #[test]
    fn a_memory_tells_the_three_histories_apart() {
        let alphas = Alphas {
            execution: 0.5,
            faults: 0.8,
            coverage: 0.5,
        };
        let memory = Memory::default()
            .after(Happened::Passed, Some(0.4), &alphas)
            .after(Happened::Failed, Some(0.2), &alphas)
            .after(Happened::NotRun, None, &alphas);
        // Execution 0, 0, 1; faults 0, 1; coverage 0.4, 0.2.
        assert!(is_near(memory.execution.value().expect("observed"), 0.5));
        assert!(is_near(memory.faults.value().expect("observed"), 0.8));
        assert!(is_near(memory.coverage.value().expect("observed"), 0.3));
        let later = memory.after_missed(2, &alphas);
        assert!(is_near(later.execution.value().expect("observed"), 0.875));
        assert_eq!(later.faults, memory.faults);
    }

    #[test]
    fn a_tiny_alpha_orders_by_how_long_ago_a_test_ran() {
        let alphas = Alphas::default();
        let ran_in = |session: usize| {
            let begin = Memory::default().after(Happened::Passed, None, &alphas);
            let memory = (0..50).fold(begin, |memory, now| {
                let happened = if now == session {
                    Happened::Passed
                } else {
                    Happened::NotRun
                };
                memory.after(happened, None, &alphas)
            });
            memory.execution.value().expect("observed")
        };
        assert!((1..50).all(|session| ran_in(session - 1) > ran_in(session)));
    }

    #[test]
    fn weights_are_inversely_exponential_and_sum_to_one() {
        // e^0 = 1, e^-1 = 0.36787944..., e^-2 = 0.13533528...: the sum is 1.50321472...
        let weights = weights(&[0, 1, 2]);
        for (weight, by_hand) in
            weights
                .iter()
                .zip([0.665_240_955_8, 0.244_728_471_1, 0.090_030_573_2])
        {
            assert!((weight - by_hand).abs() < 1e-9, "{weight}");
        }
        assert!(is_near(weights.iter().sum(), 1.0));
    }

    #[test]
    fn large_counts_leave_weights_that_tell_functions_apart() {
        let weights = weights(&[100_000, 100_001, u32::MAX]);
        assert!(weights[0] > 0.7 && weights[1] > 0.2 && weights[2] >= 0.0);
        assert!(super::weights(&[]).is_empty());
    }
}
