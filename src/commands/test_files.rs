//! Which files hold the tests themselves: those with the word `test` or `tests` in their path.

use crate::repo::RepoPath;

/// `tests/a.c`, `test_a.c` and `a-test.c` do, `contest.c` does not.
pub(super) fn holds_tests(path: &RepoPath) -> bool {
    let path = path.to_string();
    let mut words = path.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| {
        ["test", "tests"]
            .iter()
            .any(|test| word.eq_ignore_ascii_case(test))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_path_tells() {
        let holds = |path: &str| holds_tests(&RepoPath::new(path.as_bytes()));
        for path in [
            "tests/a.c",
            "lib/Test/a.h",
            "test_a.c",
            "a-test.c",
            "test.c",
        ] {
            assert!(holds(path), "{path}");
        }
        for path in ["contest.c", "src/attest/a.c", "testament.c", "a.c"] {
            assert!(!holds(path), "{path}");
        }
    }
}
