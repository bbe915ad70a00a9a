//! Controls: skipped tests that run all the same, so that a wrong skip does not stay unnoticed.
//!
//! The canary draws a few, shadow mode, `replay` and `audit` take all.

use std::collections::BTreeSet;

use crate::commands::built::{Built, How};
use crate::commands::results::Results;
use crate::digest;
use crate::history::{Outcome, TestRecord};
use crate::order::draw::Draw;
use crate::order::shard::Shard;
use crate::runner;
use crate::selection::Selection;
use crate::trust::{Judgement, Observed};

/// So often a skipped test that ended in another way runs again: one that then mostly ends as before is flaky.
const ATTEMPTS: usize = 3;

/// Draws controls among the skipped tests, each with the same chance, and adds whoever they need. Other draws in every session.
pub(super) fn drawn(
    built: &Built<'_>,
    selection: &Selection,
    share: f64,
    shard: Option<Shard>,
) -> Vec<usize> {
    let mut digest = digest::Digest::new();
    digest.absorb_bytes(format!("{:?}", built.version.tree).as_bytes());
    digest.absorb(selection.latest.session);
    let mut draw = Draw::new(digest.finish());
    let plan = &selection.plan;
    let skipped = (0..plan.tests.len()).filter(|place| !plan.tests[*place].is_selected());
    let drawn = skipped.filter(|_| draw.happens(share));
    let drawn: BTreeSet<usize> = drawn
        .enumerate()
        .filter(|(index, _)| shard.is_none_or(|shard| shard.has(*index)))
        .map(|(_, place)| place)
        .collect();
    let running: BTreeSet<usize> = plan.order.iter().copied().collect();
    let all = built.with_needed(&drawn).into_iter();
    all.filter(|place| !running.contains(place)).collect()
}

/// Runs a test again that ended in another way than before: whether it mostly does not.
pub(super) fn is_flaky(suspect: &Observed, mut again: impl FnMut() -> Outcome) -> bool {
    let attempts = (0..ATTEMPTS).map(|_| Some(again()));
    let as_before = attempts.filter(|outcome| *outcome == suspect.before);
    2 * as_before.count() > ATTEMPTS
}

/// Compares how the controls ended with what was known of them. Whoever ended in another way runs again, so that flaky tests are
/// told from wrong skips.
pub(super) fn judge(
    built: &Built<'_>,
    how: &How<'_>,
    selection: &Selection,
    results: &mut Results,
) {
    let observed = observed(selection, results);
    let suspects = observed
        .iter()
        .filter(|test| test.judge() == Judgement::Missed);
    for suspect in suspects {
        let is_meant = |index: &usize| built.tests[results.chosen[*index]].name == suspect.name;
        let Some(index) = results.controls.clone().find(is_meant) else {
            continue;
        };
        let place = results.chosen[index];
        let is_flaky = is_flaky(suspect, || built.again(how, selection, place));
        if built.session.interrupt.is_requested() {
            // Whoever was stopped says nothing; what failed before that stays selected.
            return;
        }
        match is_flaky {
            true => {
                results.flaky.insert(suspect.name.clone());
                // Nobody is stopped for a test that the change does not reach and that passes when it runs again.
                if let Some((outcome, _)) = &mut results.done[index] {
                    *outcome = runner::Outcome::Passed;
                }
            }
            // Who was skipped by itself and now passes, or the reverse, is no failure that was missed.
            false if suspect.after.is_fine() => {}
            false => results.missed.push(place),
        }
    }
}

/// What every test that ran did beside the change, in the order in which they ran.
pub(super) fn observed(selection: &Selection, results: &Results) -> Vec<Observed> {
    let known = selection.known.as_ref();
    let before = |name: &str| {
        let baseline = known.and_then(|known| known.record(name));
        let latest = selection.latest.tests.get(name);
        baseline.or(latest.map(AsRef::as_ref))
    };
    let tests = results.chosen.iter().enumerate();
    let observed = tests.filter_map(|(index, place)| {
        let test = &selection.plan.tests[*place];
        let is_control = results.controls.contains(&index);
        let ran = match is_control {
            true => &results.control_recording,
            false => &results.recording,
        };
        let record: &TestRecord = ran.record(&test.name)?;
        Some(Observed {
            name: test.name.clone(),
            // Who is needed by a control may be selected and only have no room.
            selected: test.is_selected(),
            before: before(&test.name).map(|record| record.outcome),
            after: record.outcome,
            milliseconds: record.milliseconds,
            flaky: results.flaky.contains(&test.name),
            moved: None,
        })
    });
    observed.collect()
}
