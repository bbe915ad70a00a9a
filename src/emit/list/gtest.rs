//! A filter for programs made with GoogleTest.

use super::{cannot_name, without};
use crate::error::Result;

/// A test by its name and, if it is known, by the filter that it is run with: names may have something in front of them
/// (`TEST_PREFIX`), and types where GoogleTest has numbers.
pub type Called<'a> = (&'a str, Option<String>);

/// For `--gtest_filter=`. Where nothing is selected, it takes all away from all. `is_strict` refuses tests whose filter is not known.
pub fn filter(tests: &[Called<'_>], is_strict: bool) -> Result<String> {
    if tests.is_empty() {
        return Ok("-*\n".to_owned());
    }
    let mut patterns: Vec<String> = Vec::new();
    for (name, own) in tests {
        let pattern = match own {
            Some(own) => pattern(own)?,
            None if is_strict => {
                let what =
                    "what GoogleTest calls a test is not known before it was built with counters";
                return Err(cannot_name(name, what));
            }
            None => pattern(&without_type(name))?,
        };
        // All instances of a test have the same.
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Ok(format!("{}\n", patterns.join(":")))
}

/// A name in which a number may stand for the type behind a test (`Suite.test<int>` for `Suite/0.test`).
fn without_type(name: &str) -> String {
    let types = name.find('<').zip(name.rfind('>'));
    let Some((begins, ends)) = types.filter(|(begins, ends)| begins < ends) else {
        return name.to_owned();
    };
    let plain = format!("{}{}", &name[..begins], &name[ends + 1..]);
    plain.replacen('.', "/0.", 1)
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
    use super::{Called, Result};

    fn filter(names: &[&str]) -> Result<String> {
        let tests: Vec<Called<'_>> = names.iter().map(|name| (*name, None)).collect();
        super::filter(&tests, false)
    }

    #[test]
    fn what_a_test_was_run_with_tells_what_it_is_called() {
        let called = |name, own: &str| (name, Some(own.to_owned()));
        let all = [
            called("my_A.g", "A.g"),
            called("my_N/P.h/1", "N/P.h/0"),
            called("my_T.f<int>", "T/0.f"),
        ];
        let text = super::filter(&all, true).expect("it can");
        assert_eq!(text, "A.g:N/*.h/*:T/*.f\n");
        // Who goes by names alone may be given those of CMake.
        assert!(super::filter(&[("my_B.g", None)], true).is_err());
    }

    #[test]
    fn types_that_cmake_puts_for_numbers_are_all_meant() {
        for (name, meant) in [("Ty.f<int>", "Ty/*.f\n"), ("My.h<a::b<c.d>>", "My/*.h\n")] {
            assert_eq!(filter(&[name]).expect("it can"), meant);
        }
    }

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
