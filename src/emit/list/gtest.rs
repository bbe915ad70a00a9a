//! A filter for programs made with GoogleTest.

use super::without;
use crate::error::Result;

/// For `--gtest_filter=`. Where nothing is selected, it takes all away from all.
pub fn filter(names: &[&str]) -> Result<String> {
    if names.is_empty() {
        return Ok("-*\n".to_owned());
    }
    let names = without(
        names,
        &['\n', ':', '-', '*', '?'],
        "GoogleTest may read a pattern in a name",
    )?;
    Ok(format!("{}\n", names.join(":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_and_no_name_is_no_test() {
        assert_eq!(filter(&[]).expect("it can"), "-*\n");
        let text = filter(&["Suite.Test", "All/Suite.Test/0"]).expect("it can");
        assert_eq!(text, "Suite.Test:All/Suite.Test/0\n");
        assert!(filter(&["a:b"]).is_err());
    }
}
