//! A report on trust as one HTML page that needs nothing else: the verdict, the numbers, what was missed, how it went change by change, what survived.

mod changes;
mod limits;
mod missed;
mod overview;
mod plots;
mod survivors;

use std::fmt::Write as _;

use crate::emit::date::date;
use crate::emit::page::{escaped, escaped_lines, page as framed};
use crate::emit::trust::Subject;
use crate::trust::Trial;
use crate::trust::score::Score;

/// The page.
#[must_use]
pub fn page(subject: &Subject, trials: &[Trial], score: &Score) -> String {
    let mut body = String::new();
    overview::write(&mut body, subject, trials, score);
    body.push_str("<main>\n");
    missed::write(&mut body, subject, trials);
    plots::write(&mut body, subject, trials);
    overview::write_more(&mut body, subject, score);
    changes::write(&mut body, subject, trials);
    if subject.is_audit() {
        survivors::write(&mut body, trials);
    }
    body.push_str("</main>\n");
    let _ = writeln!(
        body,
        "<footer>\n<p>Written by git rts {} on {}.</p>\n</footer>",
        escaped(&subject.git_rts),
        date(subject.written)
    );
    framed(&format!("git rts: {}", subject.title()), &body)
}

/// What a trial changes: the subject of a commit, or the lines of a mutant.
fn title(subject: &Subject, trial: &Trial) -> String {
    match subject.is_audit() {
        true => difference(&trial.title),
        false => format!("<span>{}</span>", escaped(&trial.title)),
    }
}

/// A small difference, with its lines coloured.
fn difference(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let own = escaped_lines(line);
        match line.as_bytes().first() {
            Some(b'-') => format!("<span class=\"less\">{own}</span>"),
            Some(b'+') => format!("<span class=\"more\">{own}</span>"),
            _ => own,
        }
    });
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("<pre>{}</pre>", lines.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::trust::made_up::{audit, caught, idle, missed, replay, trial, vain};
    use crate::trust::score::score;

    #[test]
    fn the_verdict_comes_first() {
        let trials = [trial("1", vec![caught("a"), idle("b")])];
        let good = page(&replay(), &trials, &score(&trials));
        assert!(good.contains("<p class=\"verdict good\">Nothing was missed</p>"));
        assert!(good.contains("Replay of v1..v2"));
        let trials = [trial("1", vec![missed("a"), missed("b")])];
        let bad = page(&replay(), &trials, &score(&trials));
        assert!(bad.contains("<p class=\"verdict bad\">2 tests were missed</p>"));
        assert!(bad.contains("id=\"missed\""));
    }

    #[test]
    fn what_comes_from_outside_is_nothing_but_text() {
        let hostile = "<script>x</script>";
        let mut one = trial(
            hostile,
            vec![missed(hostile), caught(hostile), vain(hostile)],
        );
        one.title = format!("-{hostile}\n+{hostile}");
        one.everything = Some(hostile.to_owned());
        one.stories
            .insert(hostile.to_owned(), format!("{hostile}\n{hostile}"));
        let mut flaky = missed(hostile);
        flaky.flaky = true;
        let mut strayed = idle(hostile);
        strayed.moved = Some(true);
        let stopped = Trial::stopped(hostile.to_owned(), hostile.to_owned(), hostile.to_owned());
        let trials = [one, trial(hostile, vec![flaky, strayed]), stopped];
        for mut subject in [replay(), audit()] {
            subject.git_rts = hostile.to_owned();
            let text = page(&subject, &trials, &score(&trials));
            assert_eq!(text.matches("<script>").count(), 1);
            assert!(!text.contains(" style="));
        }
    }

    #[test]
    fn an_audit_shows_survivors_and_nothing_at_all_is_no_page_of_nonsense() {
        let trials = [trial("a.c:7", vec![vain("a"), idle("b")])];
        let text = page(&audit(), &trials, &score(&trials));
        assert!(text.contains("Survivors") && text.contains("a.c:7"));
        assert!(text.contains("1 test selected"));
        let text = page(&replay(), &[], &score(&[]));
        assert!(text.contains("Nothing could be compared"));
        assert!(!text.contains("NaN") && !text.contains("<svg viewBox"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let tests = (0..200).map(|number| vain(&format!("t{number}"))).collect();
        let trials: Vec<Trial> = vec![trial("1", tests)];
        let text = page(&replay(), &trials, &score(&trials));
        assert!(text.contains("and 100 more"), "{text}");
        let trials = vec![trial("1", vec![idle("a")]); limits::CHANGES + 1];
        let text = page(&audit(), &trials, &score(&trials));
        assert!(text.contains("1 more mutant is left out"));
    }
}
