//! A selection for people: the one line that sums it up, and the story of one test.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::emit::progress::span;
use crate::emit::reasons::{Teller, Told};
use crate::select::{Plan, Reason};
use crate::selection::Selection;
use crate::witness::{FileClass, Way};

const NAME: Style = Style::new().bold();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// So many files are named when they reach every test.
const FILES_NAMED: usize = 3;

/// How many tests, how long, compared with what.
#[must_use]
pub fn summary(selection: &Selection) -> String {
    let plan = &selection.plan;
    let selected = plan.order.len();
    let mut text = format!(
        "{selected} of {}, {}",
        count(plan.tests.len(), "test"),
        time(plan)
    );
    if !plan.owed.is_empty() {
        let _ = write!(text, "; {} more do not fit", plan.owed.len());
    }
    let _ = write!(text, "; base {}", selection.base);
    match &selection.baseline {
        Some(baseline) => {
            let _ = write!(text, ", history of {baseline}");
        }
        None => text.push_str(", no history"),
    }
    if let Some(difference) = &selection.difference {
        let files = count(difference.changes.len(), "file");
        let _ = write!(text, "; {files} changed");
    }
    text
}

/// How long the selected tests will take, as far as that is known, and how long all would.
fn time(plan: &Plan) -> String {
    let (selected, unknown) = plan.time_of(plan.order.iter().copied());
    let (all, never) = plan.time_of(0..plan.tests.len());
    let about = |time| span(Duration::from_millis(time));
    match unknown {
        _ if never == plan.tests.len() => "of unknown length".to_owned(),
        0 => format!("about {} of {}", about(selected), about(all)),
        unknown => format!(
            "about {} and {unknown} of unknown length, of {}",
            about(selected),
            about(all)
        ),
    }
}

/// `1 test`, `2 tests`.
#[must_use]
pub fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// What selects every test, each in a line, with what to do about it.
#[must_use]
pub fn warnings(selection: &Selection) -> Vec<String> {
    if let Some(reason) = &selection.everything {
        return vec![format!("everything is selected: {reason}")];
    }
    let mut wide: BTreeMap<usize, (Way, usize)> = BTreeMap::new();
    for test in &selection.plan.tests {
        if test.reasons.contains(&Reason::New) {
            continue;
        }
        let mut last = None;
        for reason in &test.reasons {
            if let Reason::File { file, way } = reason
                && last != Some(*file)
            {
                wide.entry(*file).or_insert((*way, 0)).1 += 1;
                last = Some(*file);
            }
        }
    }
    let mut lines: Vec<String> = wide
        .iter()
        .take(FILES_NAMED)
        .map(|(file, (way, tests))| {
            let file = &selection.plan.files[*file].file;
            let why = match (file.class, way) {
                (FileClass::Global, _) => "'files.global' says so",
                (FileClass::Special, _) => "it is a link or a submodule",
                (FileClass::Outside, _) => "it is outside of the tree",
                _ if !file.is_only_modified => "it came, went or moved",
                (_, Way::CompiledIn) => "the build may read it",
                (_, Way::Read) => "it may be read at run time",
                (_, Way::Defines) => "it may define them",
            };
            format!("{} selects {}: {why}", file.path, count(*tests, "test"))
        })
        .collect();
    if wide.len() > FILES_NAMED {
        let more = count(wide.len() - FILES_NAMED, "more file");
        lines.push(format!("so do {more}"));
    }
    let is_other = |file: &usize| selection.plan.files[*file].file.class == FileClass::Other;
    if wide.keys().any(is_other) {
        let hint = match selection.knows_builds {
            true => "hint: if no test can notice them, name them in 'files.ignore'",
            false => "hint: 'git rts run' sees what the build makes of them, and may select fewer",
        };
        lines.push(hint.to_owned());
    }
    lines
}

/// Why a test is selected, or why it may be skipped.
#[must_use]
pub fn story(selection: &Selection, teller: &Teller<'_>, place: usize) -> String {
    let test = &selection.plan.tests[place];
    let mut text = String::new();
    if test.is_selected() {
        let _ = writeln!(text, "{NAME}{}{NAME:#} is selected", test.name);
        for told in test.reasons.iter().map(|reason| teller.tell(reason)) {
            tell(&mut text, &told);
        }
        return text;
    }
    let _ = writeln!(text, "{NAME}{}{NAME:#} may be skipped", test.name);
    if selection.plan.files.is_empty() {
        let _ = writeln!(text, "  nothing changed");
    }
    for file in &selection.plan.files {
        let _ = writeln!(text, "  {PLACE}{}{PLACE:#}", file.file.path);
        for way in Way::ALL {
            for certificate in file.certifying(way, place).take(1) {
                let _ = writeln!(
                    text,
                    "    {:<12} {}: {}",
                    way.word(),
                    certificate.witness.word(),
                    certificate.evidence
                );
            }
        }
    }
    text
}

fn tell(text: &mut String, told: &Told) {
    let _ = writeln!(text, "  {}", told.text);
    let place = |step: &crate::emit::reasons::Step| format!("{}:{}", step.file, step.line);
    let width = told.chain.iter().map(|step| place(step).len()).max();
    for step in &told.chain {
        let width = width.unwrap_or(0);
        let _ = writeln!(
            text,
            "    {PLACE}{:<width$}{PLACE:#}  {}",
            place(step),
            step.text
        );
    }
}
