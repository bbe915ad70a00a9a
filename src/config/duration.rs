//! Durations as people write them: `90s`, `2m`, `1h`, `500ms`.

use std::time::Duration;

use crate::error::{Error, Result};

/// Reads a duration; a number without a unit is seconds.
pub fn duration(text: &str) -> Result<Duration> {
    let bad = || {
        Error::new(format!("'{text}' is not a duration")).hint("write '90s', '2m', '1h' or '500ms'")
    };
    let text = text.trim();
    let digits = text
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| bad())?;
    let seconds = match unit.trim() {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(bad()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("2m", 120_000),
            ("1.5h", 5_400_000),
            ("500ms", 500),
            ("7", 7000),
            (" 3 s ", 3000),
        ] {
            let read = duration(text).expect("it is a duration");
            assert_eq!(read, Duration::from_millis(milliseconds), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_a_hint() {
        for text in [
            "",
            "s",
            "-1s",
            "1 week",
            "1e400s",
            "..s",
            "99999999999999999999h",
        ] {
            let error = duration(text).expect_err("it is none");
            assert!(!error.hints.is_empty(), "{text}");
        }
    }
}
