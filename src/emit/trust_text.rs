//! A report on trust for the terminal: a line for each commit, the sums, the story of each miss, the mutants that survived.

mod lines;
mod steps;
mod sums;

pub use steps::steps;

use std::fmt::Write as _;

use crate::emit::plan_text::count;
use crate::emit::trust::{Subject, plain, survivors, verdict};
use crate::history::Outcome;
use crate::trust::score::Score;
use crate::trust::{Judgement, Trial};

/// How wide a terminal is taken to be.
const WIDTH: usize = 100;

/// So many survivors and strayed tests are told here; the page and the JSON have more.
const LISTED: usize = 20;

#[must_use]
pub fn text(subject: &Subject, trials: &[Trial], score: &Score) -> String {
    let mut out = plain(&subject.title());
    let tests = count(subject.tests, "test");
    let _ = writeln!(out, ", {tests}, git rts {}\n", subject.git_rts);
    if !subject.is_audit() {
        lines::write(&mut out, subject, trials);
    }
    sums::write(&mut out, subject, trials, score);
    misses(&mut out, subject, trials);
    if subject.is_audit() {
        surviving(&mut out, subject, trials);
    }
    let _ = writeln!(out, "\n{}.", verdict(subject, score).1);
    out
}

/// Each miss as it was found; what a test printed is not broken into lines of another length.
fn misses(out: &mut String, subject: &Subject, trials: &[Trial]) {
    for trial in trials {
        for test in trial.judged(Judgement::Missed) {
            let before = test.before.map_or("new", Outcome::word);
            let _ = write!(out, "\nMISS {}", plain(subject.short(&trial.change)));
            flow(
                out,
                &format!(
                    "{}: {before}, then {}",
                    plain(&test.name),
                    test.after.word()
                ),
                5,
            );
            // What a mutant changes has lines of its own.
            match subject.is_audit() {
                true => block(out, &trial.title),
                false => {
                    out.push_str("    ");
                    flow(out, &plain(&trial.title), 4);
                }
            }
            match trial.stories.get(&test.name) {
                Some(story) => block(out, story),
                None => out.push_str("    nothing more is known of it\n"),
            }
        }
    }
}

fn surviving(out: &mut String, subject: &Subject, trials: &[Trial]) {
    let all = survivors(trials);
    let reached_ones = all.partition_point(|trial| !trial.is_unreached());
    let (passed_by, unreached) = all.split_at(reached_ones);
    for (some, what) in [(passed_by, "noticed"), (unreached, "reaches")] {
        if some.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n{} that no test {what}:",
            count(some.len(), "mutant")
        );
        for trial in some.iter().take(LISTED) {
            let _ = writeln!(out, "\n  {}  ({})", plain(&trial.change), reached(trial));
            block(out, &trial.title);
        }
        if some.len() > LISTED {
            let more = some.len() - LISTED;
            let _ = writeln!(out, "\n  {more} more: see {}", subject.elsewhere);
        }
    }
}

/// Whether the tests pass by a mutant, or never come there.
pub(super) fn reached(trial: &Trial) -> String {
    let selected = match trial.selected() {
        0 => "no test selected".to_owned(),
        some => format!("{} selected", count(some, "test")),
    };
    match trial.reaching {
        None | Some(0) => selected,
        Some(1) => format!("1 test reaches it, {selected}"),
        Some(some) => format!("{some} tests reach it, {selected}"),
    }
}

/// Lines of others, indented.
fn block(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "    {}", plain(line).trim_end());
    }
}

/// Goes on with words, in lines that begin after an indent and end before the width does. A word is never cut: people copy names.
fn flow(out: &mut String, words: &str, indent: usize) {
    for word in words.split_whitespace() {
        let last = out.rsplit('\n').next();
        let column = last.map_or(0, |line| line.chars().count());
        if column > indent && column + 1 + word.chars().count() > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
        } else if column > indent {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::trust::made_up::{audit, caught, idle, missed, replay, trial, vain};
    use crate::trust::score::score;

    fn told(subject: &Subject, trials: &[Trial]) -> String {
        text(subject, trials, &score(trials))
    }

    #[track_caller]
    fn has(text: &str, line: &str) {
        assert!(
            text.lines().any(|own| own == line),
            "no '{line}' in:\n{text}"
        );
    }

    #[test]
    fn a_replay_has_a_line_for_each_change_and_the_sums() {
        let mut everything = trial("0123456789ab", vec![vain("a"), caught("b")]);
        everything.everything = Some("'Makefile' came".to_owned());
        let mut broken = trial("fffffffff000", vec![]);
        broken.obstacle = Some("does not build: cc: error\nmore".to_owned());
        let mut miss = trial("abcdefabcdef", vec![missed("b"), idle("a"), caught("c")]);
        miss.stories
            .insert("b".to_owned(), "the story\n  \u{1b}[31mred".to_owned());
        let text = told(&replay(), &[everything, broken, miss]);
        has(&text, "Replay of v1..v2, 3 tests, git rts 0.1.0");
        has(
            &text,
            "012345678       2/2   1.5 s of 3.0 s  50 %    100 ms  everything: 'Makefile' came",
        );
        has(&text, "fffffffff  does not build: cc: error");
        has(
            &text,
            "abcdefabc       1/3   1.5 s of 3.0 s  50 %    100 ms  MISS b",
        );
        has(&text, "  changes compared     2, and 1 stopped");
        has(
            &text,
            "  tests selected       67 % on average, 3 of 5 in all",
        );
        has(
            &text,
            "  time with build      50 % of everything (median), 50 % in all",
        );
        has(
            &text,
            "  time beside plain    50 % of everything (median), 50 % in all",
        );
        has(
            &text,
            "  time without build   25 % of everything (median), 25 % in all",
        );
        has(&text, "  analysis             100 ms on average");
        has(&text, "  everything selected  by 1 change");
        has(&text, "                         1  'Makefile' came");
        has(&text, "  change recall        100 % (2 of 2)");
        has(&text, "  test recall          67 % (2 of 3)");
        has(
            &text,
            "  precision            unknown: no trace tells who did something else",
        );
        has(&text, "MISS abcdefabc b: passed, then failed");
        has(&text, "    the story");
        has(&text, "      \u{fffd}[31mred");
        has(&text, "1 test was missed.");
    }

    #[test]
    fn nothing_noticed_is_said() {
        let text = told(&replay(), &[trial("1", vec![idle("a")])]);
        has(&text, "  changes compared     1");
        has(&text, "  change recall        no test noticed a change");
        has(&text, "  test recall          no test noticed a change");
        has(&text, "  everything selected  never");
        assert!(!text.contains("MISS") && !text.contains("flaky"));
        let text = told(&replay(), &[]);
        has(&text, "Nothing could be compared.");
        has(&text, "  time with build      unknown");
    }

    #[test]
    fn flaky_and_strayed_tests_are_named() {
        let mut flaky = missed("shaky");
        flaky.flaky = true;
        let mut strayed = idle("stray");
        strayed.moved = Some(true);
        let text = told(&replay(), &[trial("1234567890", vec![flaky, strayed])]);
        has(&text, "  flaky                shaky");
        has(
            &text,
            "  strayed              1 test did something else though skipped, and ended as before: 'git rts",
        );
        has(&text, "                           1  stray");
        has(
            &text,
            "Nothing was missed, but no test noticed a change either.",
        );
    }

    #[test]
    fn an_audit_lists_the_first_survivors() {
        let mutant = |number: usize, tests| {
            let mut mutant = trial(&format!("a.c:{number}"), tests);
            mutant.title = "-\treturn x;\n+\treturn 0;".to_owned();
            mutant
        };
        let mut trials = vec![mutant(1, vec![caught("a"), vain("b")])];
        trials.extend((2..24).map(|number| mutant(number, vec![idle("a"), idle("b")])));
        let text = told(&audit(), &trials);
        has(&text, "Audit of HEAD, 3 tests, git rts 0.1.0");
        has(&text, "  mutants compared     23");
        has(&text, "  noticed              1 (4.3 %), 22 survived");
        has(&text, "  missed               nothing");
        has(
            &text,
            "  precision            50 % of the selected tests noticed the mutant (1 of 2)",
        );
        has(&text, "22 mutants that no test noticed:");
        has(&text, "  a.c:2  (no test selected)");
        has(&text, "    - return x;");
        has(&text, "  2 more: see audit.html");
        assert!(!text.contains("a.c:22") && text.contains("a.c:21"));
        has(&text, "Nothing was missed.");
    }

    #[test]
    fn mutants_that_nobody_reaches_have_a_list_of_their_own() {
        let mutant = |name: &str, reaching, test| {
            let mut mutant = trial(name, vec![test]);
            mutant.reaching = reaching;
            mutant
        };
        let mut seen = vain("a");
        seen.moved = Some(true);
        let trials = [
            mutant("a.c:1", Some(0), idle("a")),
            mutant("a.c:2", Some(1), seen),
            mutant("a.c:3", None, vain("a")),
            mutant("a.c:4", Some(1), caught("a")),
        ];
        let text = told(&audit(), &trials);
        has(&text, "  mutants compared     4, 3 of them built at once");
        has(
            &text,
            "  noticed              1 (25 %), 3 survived, 1 of them unreached",
        );
        has(&text, "2 mutants that no test noticed:");
        has(&text, "  a.c:2  (1 test reaches it, 1 test selected)");
        has(&text, "  a.c:3  (1 test selected)");
        has(&text, "1 mutant that no test reaches:");
        has(&text, "  a.c:1  (no test selected)");
        let words: Vec<&str> = text.split_whitespace().collect();
        let worth = "100 % reached it or did something else (1 of 1)";
        assert!(words.join(" ").contains(worth), "{text}");
    }

    #[test]
    fn no_line_is_too_long() {
        let names: Vec<String> = (0..40)
            .map(|number| format!("suite/test_{number}"))
            .collect();
        let mut wide = trial(
            "0123456789",
            names.iter().map(|name| missed(name)).collect(),
        );
        wide.title = "a long subject ".repeat(20);
        let mut all = trial("1123456789", vec![caught("a")]);
        all.everything = Some("words that say why ".repeat(12));
        let text = told(&replay(), &[wide, all]);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(names.iter().all(|name| text.contains(name)));
    }
}
