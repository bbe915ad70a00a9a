//! What the reports on trust share, whatever their form: what was done, the verdict, and numbers as people read them.

use crate::emit::plan_text::count;
use crate::simulate::statistics::median;
use crate::trust::score::Score;
use crate::trust::{Judgement, Times, Trial};

/// What a report is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub deed: Deed,
    /// The version of git rts that did it.
    pub git_rts: String,
    /// How many tests the last version has.
    pub tests: usize,
    /// Where what the terminal leaves out can be read, as people write it: the path of the page, or an option.
    pub elsewhere: String,
    /// When it was written, in seconds since 1970.
    pub written: u64,
}

/// Where the changes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The commits of a range.
    Replay { range: String },
    /// Mutants of one version.
    Audit { version: String },
}

impl Subject {
    #[must_use]
    pub fn title(&self) -> String {
        match &self.deed {
            Deed::Replay { range } => format!("Replay of {range}"),
            Deed::Audit { version } => format!("Audit of {version}"),
        }
    }

    #[must_use]
    pub fn is_audit(&self) -> bool {
        matches!(self.deed, Deed::Audit { .. })
    }

    /// What one trial is called.
    #[must_use]
    pub fn change(&self) -> &'static str {
        if self.is_audit() { "mutant" } else { "change" }
    }

    /// A change as a line has room for it.
    pub(super) fn short<'a>(&self, change: &'a str) -> &'a str {
        match self.is_audit() {
            true => change,
            false => change
                .char_indices()
                .nth(9)
                .map_or(change, |(end, _)| &change[..end]),
        }
    }
}

/// How much there is to worry about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Doubtful,
    Bad,
}

/// The one sentence, without a full stop. A sample in which nothing could be missed is no good news.
pub(super) fn verdict(subject: &Subject, score: &Score) -> (Tone, String) {
    let change = subject.change();
    if score.changes == 0 {
        return (Tone::Doubtful, "Nothing could be compared".to_owned());
    }
    match (score.missed.len(), score.miss_rate().0) {
        (0, _) if score.noticed == 0 => {
            let text = format!("Nothing was missed, but no test noticed a {change} either");
            (Tone::Doubtful, text)
        }
        (0, _) => (Tone::Good, "Nothing was missed".to_owned()),
        (1, _) => (Tone::Bad, "1 test was missed".to_owned()),
        (tests, 1) => (Tone::Bad, format!("{tests} tests were missed")),
        (tests, changes) => {
            let text = format!("{tests} tests were missed, in {}", count(changes, change));
            (Tone::Bad, text)
        }
    }
}

/// What the sample says about changes that are not in it.
pub(super) fn promise(subject: &Subject, score: &Score) -> String {
    let change = subject.change();
    match score.miss_rate() {
        (_, None) => format!("No test noticed a {change}, so this sample bounds nothing."),
        (missed, Some(bound)) => format!(
            "{missed} of {} that a test noticed had a test that was missed: with 95 % confidence, at most {} of such {change}s do.",
            count(score.noticed, change),
            at_most(bound)
        ),
    }
}

/// The trials that could be compared.
pub(super) fn compared(trials: &[Trial]) -> impl Iterator<Item = &Trial> {
    trials.iter().filter(|trial| trial.obstacle.is_none())
}

/// The tests that ended in another way, selected or not.
pub(super) fn noticing(trial: &Trial) -> usize {
    trial.judged(Judgement::Caught).count() + trial.judged(Judgement::Missed).count()
}

/// The mutants that no test noticed: behind the others those that none reaches.
pub(super) fn survivors(trials: &[Trial]) -> Vec<&Trial> {
    let mut survivors: Vec<&Trial> = compared(trials)
        .filter(|trial| noticing(trial) == 0)
        .collect();
    survivors.sort_by_key(|trial| trial.is_unreached());
    survivors
}

/// What selected tests did that were worth it, and how many of them it is known of.
pub(super) fn worth(score: &Score) -> Option<String> {
    let share = percent(score.precision()?);
    let (part, whole) = (score.moved, score.known_to_move);
    Some(format!(
        "{share} reached it or did something else ({part} of {whole})"
    ))
}

/// The share of the selected tests that noticed the change.
pub(super) fn noticing_among_selected(score: &Score) -> Option<f64> {
    crate::trust::ratio(score.noticing_selected as u64, score.selected as u64)
}

/// The middle of a ratio over the trials that have it.
pub(super) fn middle(trials: &[Trial], ratio: fn(&Times) -> Option<f64>) -> Option<f64> {
    let all: Vec<f64> = compared(trials)
        .filter_map(|trial| ratio(&trial.times))
        .collect();
    (!all.is_empty()).then(|| median(&all))
}

/// How long the analysis of a change took on average, in milliseconds.
pub(super) fn mean_analysis(score: &Score) -> Option<u64> {
    score.times.analysis.checked_div(score.changes as u64)
}

/// A share for people; what is not all never reads as all, nor what is not nothing as nothing.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if (percent - percent.round()).abs() < 1e-9 => format!("{percent:.0} %"),
        0.0..0.1 => "under 0.1 %".to_owned(),
        99.9..100.0 => "over 99.9 %".to_owned(),
        ..10.0 | 90.0..100.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// A bound for people, rounded to the safe side.
pub(super) fn at_most(share: f64) -> String {
    // Halving leaves a bound a little above what it should be.
    format!("{:.1} %", (1000.0 * share - 1e-6).ceil() / 10.0)
}

/// A text of others as the terminal may show it: no colours and no moves of the cursor.
pub(super) fn plain(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\t' => ' ',
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
pub(super) mod made_up;

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::made_up::{audit, caught, idle, missed, replay, trial};
    use super::*;
    use crate::trust::score::score;

    #[test]
    fn a_share_never_reads_as_more_than_it_is() {
        let told = [0.0, 0.0004, 0.042, 0.5, 0.125, 0.998, 0.99996, 1.0, 1.31].map(percent);
        let wanted = [
            "0 %",
            "under 0.1 %",
            "4.2 %",
            "50 %",
            "12 %",
            "99.8 %",
            "over 99.9 %",
            "100 %",
            "131 %",
        ];
        assert_eq!(told, wanted);
        assert_eq!(at_most(0.0494), "5.0 %");
        assert_eq!(at_most(0.95 + 1e-12), "95.0 %");
    }

    #[test]
    fn the_verdict_counts_tests_and_changes() {
        let said = |trials: &[Trial]| verdict(&replay(), &score(trials));
        let one = trial("1", vec![missed("a"), caught("b")]);
        assert_eq!(
            said(from_ref(&one)),
            (Tone::Bad, "1 test was missed".to_owned())
        );
        let two = trial("2", vec![missed("a"), missed("b")]);
        assert_eq!(said(from_ref(&two)).1, "2 tests were missed");
        assert_eq!(said(&[one, two]).1, "3 tests were missed, in 2 changes");
        let good = trial("3", vec![caught("a"), idle("b")]);
        assert_eq!(said(&[good]), (Tone::Good, "Nothing was missed".to_owned()));
    }

    #[test]
    fn where_nothing_could_be_missed_nothing_is_praised() {
        let quiet = [trial("1", vec![idle("a")])];
        let (tone, text) = verdict(&audit(), &score(&quiet));
        assert_eq!(tone, Tone::Doubtful);
        assert_eq!(
            text,
            "Nothing was missed, but no test noticed a mutant either"
        );
        let (tone, text) = verdict(&audit(), &score(&[]));
        assert_eq!(
            (tone, text.as_str()),
            (Tone::Doubtful, "Nothing could be compared")
        );
        assert_eq!(
            promise(&audit(), &score(&quiet)),
            "No test noticed a mutant, so this sample bounds nothing."
        );
        assert_eq!(middle(&[], Times::with_build), None);
        assert_eq!(mean_analysis(&score(&[])), None);
    }

    #[test]
    fn commits_are_shortened_and_places_are_not() {
        assert_eq!(replay().short("0123456789abcdef"), "012345678");
        assert_eq!(replay().short("worktree"), "worktree");
        assert_eq!(audit().short("src/long/name.c:120"), "src/long/name.c:120");
    }
}
