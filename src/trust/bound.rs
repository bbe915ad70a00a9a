//! How large a rate may be, given how often something was seen: the upper confidence bound of Clopper and Pearson.

/// How sure the bound is.
pub const CONFIDENCE: f64 = 0.95;

/// The largest rate at which `seen` or fewer in `of` tries are still believable; nothing without a try. With none seen it is
/// about three divided by the number of tries.
#[must_use]
pub fn upper_bound(seen: usize, of: usize) -> Option<f64> {
    if of == 0 {
        return None;
    }
    if seen >= of {
        return Some(1.0);
    }
    let (mut low, mut high) = (seen as f64 / of as f64, 1.0);
    // The chance falls as the rate grows: halving finds where it crosses.
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if at_most(seen, of, middle) > 1.0 - CONFIDENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// How many tries in a row without a hit it takes to be sure that the rate is at most this.
#[must_use]
pub fn tries_for(rate: f64) -> usize {
    ((1.0 - CONFIDENCE).ln() / (-rate).ln_1p()).ceil() as usize
}

/// The chance of at most `seen` hits in `of` tries at a rate, summed in logarithms so that nothing vanishes.
fn at_most(seen: usize, of: usize, rate: f64) -> f64 {
    if rate <= 0.0 {
        return 1.0;
    }
    if rate >= 1.0 {
        return 0.0;
    }
    let odds = rate.ln() - (-rate).ln_1p();
    let mut term = of as f64 * (-rate).ln_1p();
    let mut sum = term.exp();
    for hits in 1..=seen {
        term += ((of - hits + 1) as f64 / hits as f64).ln() + odds;
        sum += term.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: Option<f64>, other: f64) -> bool {
        one.is_some_and(|one| (one - other).abs() < 5e-5)
    }

    #[test]
    fn the_bound_is_that_of_the_tables() {
        assert_eq!(upper_bound(0, 0), None);
        // 1 - 0.05^(1/n)
        assert!(is_near(upper_bound(0, 1), 0.95));
        assert!(is_near(upper_bound(0, 59), 0.0495));
        assert!(is_near(upper_bound(0, 1000), 0.002_991));
        // R: qbeta(0.95, k + 1, n - k)
        assert!(is_near(upper_bound(1, 20), 0.2161));
        assert!(is_near(upper_bound(3, 100), 0.0757));
        assert_eq!(upper_bound(7, 7), Some(1.0));
    }

    #[test]
    fn two_hundred_and_ninety_nine_tries_make_one_percent() {
        assert_eq!(tries_for(0.01), 299);
        assert!(upper_bound(0, 299).is_some_and(|bound| bound <= 0.01));
        assert!(upper_bound(0, 298).is_some_and(|bound| bound > 0.01));
    }

    #[test]
    fn many_tries_do_not_make_the_sum_vanish() {
        let bound = upper_bound(2000, 100_000).unwrap_or(1.0);
        assert!(bound > 0.02 && bound < 0.0212, "{bound}");
    }
}
