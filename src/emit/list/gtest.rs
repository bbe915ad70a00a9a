//! A filter for programs made with GoogleTest.

use super::{cannot_name, without};
use crate::error::Result;

/// For `--gtest_filter=`. Where nothing is selected, it takes all away from all.
pub fn filter(names: &[&str]) -> Result<String> {
    if names.is_empty() {
        return Ok("-*\n".to_owned());
    }
    let mut patterns: Vec<String> = Vec::new();
    for name in names {
        let pattern = pattern(name)?;
        // All instances of a test have the same.
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Ok(format!("{}\n", patterns.join(":")))
}

/// What stands for a test. Behind a slash CMake puts the value or the type, where GoogleTest has a number: there all are meant.
fn pattern(name: &str) -> Result<String> {
    let Some((suite, test)) = name.split_once('.') else {
        return Err(cannot_name(
            name,
            "GoogleTest knows no test without a suite",
        ));
    };
    let (suite, of_suite) = suite
        .rsplit_once('/')
        .map_or((suite, ""), |(own, _)| (own, "/*"));
    let (test, of_test) = test
        .split_once('/')
        .map_or((test, ""), |(own, _)| (own, "/*"));
    without(
        &[suite, test],
        &['\n', ':', '-', '*', '?', '.'],
        "GoogleTest may read a pattern in a name",
    )?;
    Ok(format!("{suite}{of_suite}.{test}{of_test}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_and_no_name_is_no_test() {
        assert_eq!(filter(&[]).expect("it can"), "-*\n");
        let text = filter(&["Suite.Test", "Other.Test"]).expect("it can");
        assert_eq!(text, "Suite.Test:Other.Test\n");
        assert!(filter(&["a:b.c"]).is_err());
    }

    #[test]
    fn values_and_types_that_cmake_puts_for_numbers_are_all_meant() {
        for (name, meant) in [
            ("All/Suite.Test/1", "All/*.Test/*\n"),
            ("All/Suite.Test/1.5-x", "All/*.Test/*\n"),
            ("Suite/int.Test", "Suite/*.Test\n"),
        ] {
            assert_eq!(filter(&[name]).expect("it can"), meant);
        }
        let instances = ["All/Suite.Test/1", "A.B", "All/Suite.Test/2"];
        let once = filter(&instances).expect("it can");
        assert_eq!(once, "All/*.Test/*:A.B\n");
    }

    #[test]
    fn a_program_that_is_one_test_or_has_a_prefix_cannot_be_named() {
        assert!(filter(&["unit"]).is_err());
        assert!(filter(&["prefix.Suite.Test"]).is_err());
    }
}
