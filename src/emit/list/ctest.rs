//! What `ctest` reads: numbers for `-I`, a regular expression for `-R`, names for `--tests-from-file`, costs for the order.
//!
//! What is not understood, CTest silently takes for "everything" or "nothing" (`-I 0,0,0`, an expression that is too long), so each list is made such that this cannot happen. Tried on 3.20, 3.25 and 4.4.

use std::fmt::Write as _;

use super::without;
use crate::error::{Error, Result};

/// No build has so many tests.
const NOBODY: usize = i32::MAX as usize;

/// CTest compiles an expression into less than 64 KiB, and an argument has at most 128 KiB.
const PROGRAM: usize = 65_000;
const ARGUMENT: usize = 120_000;

/// For `ctest -I FILE`, which every version reads, however long: the places of the tests in the listing of the build, from 1.
#[must_use]
pub fn numbers(numbers: &[usize]) -> String {
    // Start, end and stride take nothing; alone they would take everything.
    let mut text = String::from("0,0,0");
    for number in if numbers.is_empty() {
        &[NOBODY][..]
    } else {
        numbers
    } {
        let _ = write!(text, ",{number}");
    }
    text + "\n"
}

/// For `ctest -R`.
pub fn regex(names: &[&str]) -> Result<String> {
    if names.is_empty() {
        // A letter before the beginning: nothing is like that.
        return Ok("a^\n".to_owned());
    }
    let names = without(names, &['\n'], "a line cannot hold a line break")?;
    let escaped: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    let text = format!("^({})$\n", escaped.join("|"));
    let program: usize = names.iter().map(|name| compiled(name)).sum();
    if program > PROGRAM || text.len() > ARGUMENT {
        return Err(Error::new(format!(
            "{} tests are too many for one regular expression of CTest",
            names.len()
        ))
        .hint("'--format ctest' (for 'ctest -I') and '--format ctest-file' (for 'ctest --tests-from-file', since 3.29) have no limit"));
    }
    Ok(text)
}

fn is_special(letter: char) -> bool {
    r"^$.[]()*+?|\".contains(letter)
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        if is_special(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// The bytes that CTest's compiler makes of one name: a branch, and a node for each run of plain letters and each escaped one.
fn compiled(name: &str) -> usize {
    let runs = name.split(is_special).filter(|run| !run.is_empty());
    let special = name.chars().filter(|letter| is_special(*letter)).count();
    3 + runs.map(|run| run.len() + 4).sum::<usize>() + special * 5
}

/// For `ctest --tests-from-file`, since 3.29; older versions ignore the option and run everything.
pub fn file(names: &[&str]) -> Result<String> {
    super::lines::plain(names)
}

/// A `CTestTestfile.cmake` for an empty folder: the tests of the build, with costs that put the chosen ones into our order. Numbers stay the same.
pub fn testfile(build: &str, names: &[&str]) -> Result<String> {
    let mut text = format!("subdirs({})\n", bracketed(build));
    for (cost, name) in (1..=names.len()).rev().zip(names) {
        // A bracket argument loses a line break at its beginning.
        if name.starts_with('\n') {
            return Err(super::cannot_name(
                name,
                "CMake drops a line break at the beginning",
            ));
        }
        let _ = writeln!(
            text,
            "set_tests_properties({} PROPERTIES COST {cost})",
            bracketed(name)
        );
    }
    Ok(text)
}

/// An argument that CMake takes as it is.
fn bracketed(text: &str) -> String {
    let mut equals = "=".to_owned();
    while text.contains(&format!("]{equals}]")) || text.ends_with(&format!("]{equals}")) {
        equals.push('=');
    }
    format!("[{equals}[{text}]{equals}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_names_a_test_that_is_not_there() {
        assert_eq!(numbers(&[]), "0,0,0,2147483647\n");
        assert_eq!(numbers(&[5, 1]), "0,0,0,5,1\n");
        assert_eq!(regex(&[]).expect("it can"), "a^\n");
        assert_eq!(file(&[]).expect("it can"), "");
    }

    #[test]
    fn letters_of_expressions_mean_themselves() {
        let text = regex(&["a.b*c", "(x)", "back\\slash", "ü;"]).expect("it can");
        assert_eq!(text, "^(a\\.b\\*c|\\(x\\)|back\\\\slash|ü;)$\n");
    }

    #[test]
    fn an_expression_that_ctest_would_not_understand_is_refused() {
        let names: Vec<String> = (0..6000).map(|number| format!("{number:06}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(regex(&names[..4900]).is_ok());
        let error = regex(&names[..5100]).expect_err("it is too long");
        assert!(error.hints[0].contains("ctest-file"));
        let dots = ["......"; 2000];
        assert!(regex(&dots).is_err(), "each dot is a node of its own");
    }

    #[test]
    fn a_bracket_argument_holds_any_text() {
        assert_eq!(bracketed("a;b"), "[=[a;b]=]");
        assert_eq!(bracketed("a]=]b"), "[==[a]=]b]==]");
        assert_eq!(bracketed("a]="), "[==[a]=]==]");
        let text = testfile("/b", &["x", "y"]).expect("it can");
        assert_eq!(
            text,
            "subdirs([=[/b]=])\nset_tests_properties([=[x]=] PROPERTIES COST 2)\nset_tests_properties([=[y]=] PROPERTIES COST 1)\n"
        );
        assert!(testfile("/b", &["\nx"]).is_err());
    }
}
