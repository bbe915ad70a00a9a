//! Values of options, refused in words that say what is wanted.

use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::error::Error;

/// A number that may not be zero.
pub(super) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let wanted = |_| "a number is wanted, 1 or more".to_owned();
    text.parse().map_err(wanted)
}

/// What reads itself; of an error the hints are told, too.
pub(super) fn with_hints<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: Error| {
        let hints = error.hints.iter().map(String::as_str);
        let parts: Vec<&str> = std::iter::once(error.message.as_str())
            .chain(hints)
            .collect();
        parts.join("; ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::budget::Limit;

    #[test]
    fn a_value_that_is_refused_is_answered_with_what_is_wanted() {
        assert_eq!(at_least_one("3").map(NonZeroUsize::get), Ok(3));
        for text in ["0", "-1", "x", ""] {
            let wanted = "a number is wanted, 1 or more".to_owned();
            assert_eq!(at_least_one(text), Err(wanted), "{text}");
        }
        let told = with_hints::<Limit>("5x").expect_err("it is no limit");
        assert!(
            told.contains("is not a limit") && told.contains("2min"),
            "{told}"
        );
    }
}
