//! The few lines of what a failed test printed that tell why: the last ones, those that speak of a failure before the others, and none that tells of a success.

/// So many lines are shown, and so much of each: its beginning, which often is a long path, and its end, which tells what was found.
const LINES: usize = 10;
const LETTERS: usize = 400;
const LAST_LETTERS: usize = 200;
const LEFT_OUT: &str = " [...] ";

/// The lines of what was printed without colours, and without anything else that a terminal would obey.
#[must_use]
pub fn excerpt(printed: &str) -> Vec<String> {
    let lines = printed.lines().map(|line| {
        let letters = line.chars().filter(|letter| !letter.is_control());
        letters.collect::<String>()
    });
    let lines = lines.filter(|line| !line.trim().is_empty());
    let lines = without_backtraces(lines.collect());
    let tones = tones(&lines);
    // A test may fail without a word of it.
    let is_praise = tones.iter().all(|tone| *tone == Tone::Success);
    let mut places: Vec<usize> = (0..lines.len()).rev().collect();
    places.retain(|place| is_praise || tones[*place] != Tone::Success);
    places.sort_by_key(|place| tones[*place]);
    places.truncate(LINES);
    places.sort_unstable();
    let told = places.into_iter();
    told.map(|place| shortened(&lines[place])).collect()
}

/// A line without its middle, if it is too long.
fn shortened(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= LETTERS {
        return line.to_owned();
    }
    let first = &letters[..LETTERS - LAST_LETTERS - LEFT_OUT.len()];
    let last = &letters[letters.len() - LAST_LETTERS..];
    let first = first.iter().collect::<String>();
    first + LEFT_OUT + &last.iter().collect::<String>()
}

/// Where a panic was noticed is told before the way that led there, whose functions have failure in their names.
fn without_backtraces(lines: Vec<String>) -> Vec<String> {
    let mut is_inside = false;
    let is_told = |line: &String| {
        let text = line.trim_start();
        let is_step = text.starts_with("at ")
            || text.split_once(": ").is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
        is_inside = text == "stack backtrace:" || is_inside && is_step;
        !is_inside
    };
    lines.into_iter().filter(is_told).collect()
}

/// What a line is about, in the order in which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tone {
    Failure,
    /// What stands below a failure and tells what was compared.
    Details,
    Neither,
    Success,
}

fn tones(lines: &[String]) -> Vec<Tone> {
    let mut before = Tone::Neither;
    let tones = lines.iter().map(|line| {
        let is_below = matches!(before, Tone::Failure | Tone::Details);
        before = match tone(line) {
            Tone::Neither if is_below && compares(line) => Tone::Details,
            tone => tone,
        };
        before
    });
    tones.collect()
}

/// Whether a line looks like a part of what a framework prints below a failure.
fn compares(line: &str) -> bool {
    let word = line.split(|letter: char| !letter.is_alphanumeric()).next();
    let word = word.unwrap_or_default().to_lowercase();
    let words = ["actual", "expected", "found", "got", "value", "was", "with"];
    line.starts_with(' ') || words.contains(&word.as_str())
}

fn tone(line: &str) -> Tone {
    let line = line.to_lowercase();
    let words = line.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    // What a panic of Rust compared stands below it.
    let is_compared = ["left: ", "right: "]
        .iter()
        .any(|side| line.trim_start().starts_with(side));
    let speaks_of_failure = is_compared
        || words.iter().enumerate().any(|(place, word)| {
            let is_failure = ["fail", "error", "assert", "panicked"]
                .iter()
                .any(|stem| word.starts_with(stem));
            let before = place.checked_sub(1).map(|before| words[before]);
            // "0 failures" is none, "not ok" is one.
            match before {
                Some("0" | "no") => false,
                Some("not") => is_failure || *word == "ok",
                _ => is_failure,
            }
        });
    let is_success = |word: Option<&&str>| matches!(word, Some(&("pass" | "passed" | "ok")));
    match is_success(words.first()) || is_success(words.last()) {
        _ if speaks_of_failure => Tone::Failure,
        true => Tone::Success,
        false => Tone::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_tell_of_a_success_are_left_out() {
        let printed = "PASS: one\nok 1 - two\n[       OK ] three (0 ms)\nt.c:9:four:PASS\nfive ... ok\n\nexpected 3, got 4\nnot ok 2 - six\n";
        assert_eq!(excerpt(printed), ["expected 3, got 4", "not ok 2 - six"]);
        // Where there is nothing else they are better than nothing.
        assert_eq!(excerpt("ok 1\nok 2\n"), ["ok 1", "ok 2"]);
        assert!(excerpt("\n \n").is_empty());
    }

    #[test]
    fn a_failure_is_told_however_much_comes_behind_it() {
        let mut printed = String::from("begin\nt.c:7: Assertion `x' failed.\n");
        for number in 0..50 {
            printed += &format!("line {number}, 0 errors\n");
        }
        let told = excerpt(&printed);
        assert_eq!(told.len(), LINES);
        assert_eq!(told[0], "t.c:7: Assertion `x' failed.");
        assert_eq!(told[1], "line 41, 0 errors");
        assert_eq!(told[9], "line 49, 0 errors");
    }

    #[test]
    fn of_many_failures_the_last_are_told() {
        let printed: String = (0..30)
            .map(|number| format!("FAIL {number}\nmore\n"))
            .collect();
        assert_eq!(excerpt(&printed)[9], "FAIL 29");
        assert_eq!(excerpt(&printed)[0], "FAIL 20");
    }

    #[test]
    fn a_panic_is_told_and_not_the_way_to_it() {
        let mut printed = String::from(
            "\nrunning 1 test\nthread 'tests::sum' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n right: 4\nstack backtrace:\n",
        );
        for number in 0..30 {
            printed += &format!(
                "  {number:>2}: core::panicking::assert_failed\n             at /rustc/library/core/src/panicking.rs:1:5\n"
            );
        }
        printed += "note: Some details are omitted\ntest tests::sum ... FAILED\n";
        assert_eq!(
            excerpt(&printed),
            [
                "running 1 test",
                "thread 'tests::sum' panicked at src/lib.rs:9:9:",
                "assertion `left == right` failed",
                "  left: 3",
                " right: 4",
                "note: Some details are omitted",
                "test tests::sum ... FAILED",
            ]
        );
    }

    #[test]
    fn nothing_of_it_moves_a_terminal() {
        let long = "x".repeat(1000);
        let told = excerpt(&format!("re\u{7}d\n{long}"));
        assert_eq!(told[0], "red");
        assert_eq!(told[1].len(), LETTERS);
    }

    #[test]
    fn what_was_found_is_told_at_the_end_of_a_long_line() {
        let line = format!("/{}/t.c:9:sum:FAIL: Expected 3 Was 4. sum", "x".repeat(500));
        let told = excerpt(&line);
        assert!(told[0].starts_with("/xxx"), "{told:?}");
        assert!(told[0].contains("x [...] x"), "{told:?}");
        assert!(
            told[0].ends_with(":FAIL: Expected 3 Was 4. sum"),
            "{told:?}"
        );
        let short = "x".repeat(LETTERS);
        assert_eq!(excerpt(&short), [short]);
    }

    #[test]
    fn what_was_compared_is_told_before_what_a_framework_says_at_its_end() {
        let printed = "Running main() from gtest_main.cc\nNote: Google Test filter = Sum.one\n[==========] Running 1 test from 1 test suite.\n[----------] Global test environment set-up.\n[----------] 1 test from Sum\n[ RUN      ] Sum.one\nt.cc:5: Failure\nExpected equality of these values:\n  add(1, 2)\n    Which is: 4\n  3\n\n[  FAILED  ] Sum.one (0 ms)\n[----------] 1 test from Sum (0 ms total)\n\n[----------] Global test environment tear-down\n[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 0 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.one\n\n 1 FAILED TEST\n";
        let told = excerpt(printed);
        for line in ["t.cc:5: Failure", "    Which is: 4", "  3"] {
            assert!(told.contains(&line.to_owned()), "{told:?}");
        }
    }
}
