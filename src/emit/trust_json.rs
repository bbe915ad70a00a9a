//! A report on trust for programs: the sums, and every trial with its tests.

use serde_json::{Value, json};

use crate::emit::trust::{
    Deed, Subject, mean_analysis, middle, noticing, noticing_among_selected, verdict,
};
use crate::history::Outcome;
use crate::trust::bound::CONFIDENCE;
use crate::trust::score::Score;
use crate::trust::{Judgement, Observed, Times, Trial};

/// Grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

#[must_use]
pub fn json(subject: &Subject, trials: &[Trial], score: &Score) -> Value {
    let (kind, of) = match &subject.deed {
        Deed::Replay { range } => ("replay", range),
        Deed::Audit { version } => ("audit", version),
    };
    json!({
        "version": VERSION,
        "git_rts": subject.git_rts,
        "kind": kind,
        "of": of,
        "written": subject.written,
        "tests": subject.tests,
        "verdict": verdict(subject, score).1,
        "score": sums(trials, score),
        "trials": trials.iter().map(one).collect::<Vec<_>>(),
    })
}

fn sums(trials: &[Trial], score: &Score) -> Value {
    let (changes_missed, bound) = score.miss_rate();
    let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
        let pairs = pairs.iter();
        pairs
            .map(|(change, test)| json!({"change": change, "test": test}))
            .collect()
    };
    let ratios = |ratio: fn(&Times) -> Option<f64>| json!({"median": middle(trials, ratio), "of_the_sums": ratio(&score.times)});
    json!({
        "changes_compared": score.changes,
        "changes_stopped": score.stopped,
        "changes_seen_to_be_reached_or_not": score.seen,
        "changes_unreached": score.unreached,
        "test_runs": score.tests,
        "test_runs_selected": score.selected,
        "mean_share_selected": score.mean_share,
        "changes_selecting_everything": score.selecting_all,
        "reasons_for_everything": score.everything,
        "changes_noticed": score.noticed,
        "changes_caught": score.caught,
        "change_recall": score.change_recall(),
        "tests_noticing": score.noticing,
        "tests_noticing_selected": score.noticing_selected,
        "test_recall": score.test_recall(),
        "noticing_among_selected": noticing_among_selected(score),
        "selected_known_to_move_or_not": score.known_to_move,
        "selected_that_moved": score.moved,
        "precision": score.precision(),
        "changes_missed": changes_missed,
        "miss_rate_at_most": bound,
        "confidence": CONFIDENCE,
        "missed": pairs(&score.missed),
        "strayed": pairs(&score.strayed),
        "flaky": score.flaky,
        "milliseconds": score.times,
        "mean_analysis_milliseconds": mean_analysis(score),
        "time_with_build": ratios(Times::with_build),
        "time_without_build": ratios(Times::without_build),
        "time_beside_plain": ratios(Times::beside_plain),
    })
}

fn one(trial: &Trial) -> Value {
    json!({
        "change": trial.change,
        "title": trial.title,
        "obstacle": trial.obstacle,
        "everything": trial.everything,
        "selected": trial.selected(),
        "reaching": trial.reaching,
        "noticing": noticing(trial),
        "milliseconds": trial.times,
        "tests": trial.tests.iter().map(observed).collect::<Vec<_>>(),
        "stories": trial.stories,
    })
}

fn observed(test: &Observed) -> Value {
    let judgement = match test.judge() {
        Judgement::Unchanged => "unchanged",
        Judgement::Caught => "caught",
        Judgement::Missed => "missed",
        Judgement::Flaky => "flaky",
    };
    json!({
        "name": test.name,
        "selected": test.selected,
        "before": test.before.map(Outcome::word),
        "after": test.after.word(),
        "milliseconds": test.milliseconds,
        "judgement": judgement,
        "moved": test.moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::trust::made_up::{audit, caught, idle, missed, replay, trial};
    use crate::trust::score::score;

    #[test]
    fn every_trial_has_its_tests() {
        let trials = [
            trial("1", vec![missed("a"), caught("b"), idle("c")]),
            Trial::stopped("2".to_owned(), String::new(), "no".to_owned()),
        ];
        let json = json(&replay(), &trials, &score(&trials));
        assert_eq!(json["version"], 1);
        assert_eq!(
            (&json["kind"], &json["of"]),
            (&"replay".into(), &"v1..v2".into())
        );
        assert_eq!(json["score"]["test_recall"], 0.5);
        assert_eq!(json["score"]["missed"][0]["test"], "a");
        assert_eq!(json["score"]["milliseconds"]["all"], 2000);
        assert_eq!(json["score"]["time_with_build"]["median"], 0.5);
        assert_eq!(json["score"]["time_beside_plain"]["median"], 0.5);
        assert_eq!(json["trials"][0]["tests"][0]["judgement"], "missed");
        assert_eq!(json["trials"][0]["tests"][2]["after"], "passed");
        assert_eq!(json["trials"][0]["noticing"], 2);
        assert_eq!(json["trials"][1]["obstacle"], "no");
    }

    #[test]
    fn what_nobody_knows_is_null() {
        let json = json(&audit(), &[], &score(&[]));
        for name in [
            "test_recall",
            "precision",
            "miss_rate_at_most",
            "mean_share_selected",
        ] {
            assert!(json["score"][name].is_null(), "{name}");
        }
        assert!(json["score"]["time_with_build"]["median"].is_null());
        assert_eq!(json["kind"], "audit");
    }
}
