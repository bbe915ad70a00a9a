//! The numbers by which the paper describes many: median, average, deviation, and the parts of a box plot.

/// The middle one, or the average of the two in the middle.
#[must_use]
pub fn median(numbers: &[f64]) -> f64 {
    quantile(&sorted(numbers), 0.5)
}

#[must_use]
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// The standard deviation of a sample.
#[must_use]
pub fn deviation(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let mean = mean(numbers);
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / (numbers.len() - 1) as f64).sqrt()
}

/// A distribution as the paper draws it (section 6).
#[derive(Debug, Clone, PartialEq)]
pub struct BoxParts {
    /// The quartiles and the median.
    pub low: f64,
    pub median: f64,
    pub high: f64,
    /// The last numbers within 1.5 times the distance of the quartiles.
    pub tails: (f64, f64),
    /// What is beyond, each number once.
    pub outliers: Vec<f64>,
}

/// The parts of the box plot; none of no numbers.
#[must_use]
pub fn box_parts(numbers: &[f64]) -> Option<BoxParts> {
    let sorted = sorted(numbers);
    let (low, high) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let reach = 1.5 * (high - low);
    let is_within = |number: &f64| (low - reach..=high + reach).contains(number);
    let within = || sorted.iter().copied().filter(is_within);
    let tails = (within().next()?, within().next_back()?);
    let mut outliers: Vec<f64> = sorted
        .iter()
        .copied()
        .filter(|number| !is_within(number))
        .collect();
    outliers.dedup();
    Some(BoxParts {
        low,
        median: quantile(&sorted, 0.5),
        high,
        tails,
        outliers,
    })
}

fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Between the two nearest numbers, in proportion.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share * last as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_worked_out_by_hand() {
        let numbers = [4.0, 1.0, 3.0, 8.0];
        assert_eq!(median(&numbers), 3.5);
        assert_eq!(mean(&numbers), 4.0);
        // 0 + 9 + 1 + 16 = 26, over 3.
        assert!((deviation(&numbers) - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(deviation(&[5.0]), 0.0);
    }

    #[test]
    fn a_box_has_quartiles_tails_and_outliers() {
        let parts =
            box_parts(&[1.0, 2.0, 3.0, 4.0, 5.0, 50.0, 50.0, 2.0, 3.0]).expect("there are numbers");
        // Sorted: 1 2 2 3 3 4 5 50 50.
        assert_eq!((parts.low, parts.median, parts.high), (2.0, 3.0, 5.0));
        assert_eq!(parts.tails, (1.0, 5.0));
        assert_eq!(parts.outliers, [50.0]);
        assert_eq!(box_parts(&[]), None);
    }
}
