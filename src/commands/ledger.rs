//! What a run enters in the ledger: how many tests were skipped, how many of them ran all the same, and the evidence of wrong skips.

use std::path::PathBuf;

use anstyle::{AnsiColor, Style};

use crate::commands::built::Built;
use crate::commands::history::name_of;
use crate::commands::results::{Results, telling_lines};
use crate::commands::testing::now;
use crate::config::Config;
use crate::emit::edges::Texts;
use crate::emit::plan_json::test_json;
use crate::emit::reasons::Teller;
use crate::error::Result;
use crate::history::{Entry, Ledger, Miss};
use crate::runner::Test;
use crate::selection::Selection;

const LOUD: Style = AnsiColor::Red.on_default().bold();

/// Enters a run, and answers where the evidence of each wrong skip is.
pub(super) fn enter(
    built: &Built<'_>,
    config: &Config,
    selection: &Selection,
    results: &Results,
) -> Result<Vec<PathBuf>> {
    let ledger = Ledger::of(&built.repository.create_rts_dir()?);
    let at = now();
    let version = name_of(built.version);
    let changes = selection.difference.as_ref().map(|one| &one.changes);
    if changes.is_some_and(Vec::is_empty) && results.missed.is_empty() {
        // Where nothing changed there is nothing that a selection could have got wrong.
        return Ok(Vec::new());
    }
    let controls = results.done[results.controls.clone()].iter();
    ledger.add(&Entry {
        at,
        version: version.clone(),
        change: format!(
            "{:?}..{:?}",
            selection.baseline.map(|baseline| baseline.tree()),
            built.version.tree
        ),
        tests: built.tests.len(),
        skipped: selection.plan.tests.len() - selection.plan.selected().count(),
        controls: controls.flatten().count(),
        missed: results.missed.len(),
        flaky: results.flaky.len(),
        shadow: config.is_shadow,
    })?;
    if results.missed.is_empty() {
        return Ok(Vec::new());
    }
    let teller = Teller::new(selection, &mut Texts::new(built.repository)?)?;
    let accused = results.missed.iter().map(|place| {
        let name = &built.tests[*place].name;
        let record = results.control_recording.record(name);
        ledger.accuse(&Miss {
            at,
            version: version.clone(),
            baseline: selection.baseline.as_ref().map(ToString::to_string),
            test: name.clone(),
            outcome: record.map_or("", |record| record.outcome.word()).to_owned(),
            certificate: test_json(selection, &teller, *place),
            printed: telling_lines(&built.session.workshop, name).join("\n"),
            acknowledged: None,
        })
    });
    accused.collect()
}

/// Says loudly what must never happen.
pub(super) fn accuse(tests: &[Test], results: &Results, evidence: &[PathBuf]) {
    for name in &results.flaky {
        notice!("'{name}' is flaky: it was skipped, failed, and passed when it ran again");
    }
    for (place, evidence) in results.missed.iter().zip(evidence) {
        anstream::eprintln!(
            "{LOUD}MISS{LOUD:#} {}: it was skipped, and it fails\n     {}",
            tests[*place].name,
            evidence.display()
        );
    }
}
