//! Words for the variable TESTS of Makefiles.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::without;
use crate::error::Result;

/// What ends a word or means something else in a Makefile or in the shell that calls make.
const SPECIAL: [char; 14] = [
    ' ', '\t', '\n', '$', '#', '%', '\\', '"', '\'', '`', ';', '&', '|', '*',
];

/// For `make check TESTS="..."`: the words on one line.
pub fn words(names: &[&str]) -> Result<String> {
    let names = without(names, &SPECIAL, "make cannot hold it in one word")?;
    Ok(format!("{}\n", names.join(" ")))
}

/// For each folder with selected tests a line: the folder, then the words for TESTS of the Makefile there. Without a selected test there is no line.
///
/// A test is a folder and a word.
pub fn folders(tests: &[(&str, &str)]) -> Result<String> {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for (folder, word) in tests {
        without(&[folder, word], &SPECIAL, "make cannot hold it in one word")?;
        let line = lines.entry(folder).or_default();
        let _ = write!(line, " {word}");
    }
    let lines = lines.into_iter();
    Ok(lines
        .map(|(folder, words)| format!("{folder}{words}\n"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_on_a_line_and_what_is_no_word_is_refused() {
        assert_eq!(words(&["b", "a/c.test"]).expect("it can"), "b a/c.test\n");
        assert_eq!(words(&[]).expect("it can"), "\n");
        assert!(words(&["two words"]).is_err() && words(&["$x"]).is_err());
    }

    #[test]
    fn each_folder_has_a_line() {
        let text = folders(&[("sub", "b"), (".", "z"), ("sub", "a")]).expect("it can");
        assert_eq!(text, ". z\nsub b a\n");
        assert_eq!(folders(&[]).expect("it can"), "");
    }
}
