//! A selection for people: the one line that sums it up, and the story of one test.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::emit::progress::span;
use crate::emit::reasons::{Teller, Told};
use crate::history::Looked;
use crate::repo::{Change, ChangeKind, RepoPath, Version};
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
        let do_not = if plan.owed.len() == 1 {
            "does not"
        } else {
            "do not"
        };
        let _ = write!(text, "; {} more {do_not} fit", plan.owed.len());
        let has_failed = |place: &&usize| {
            let reasons = &plan.tests[**place].reasons;
            reasons
                .iter()
                .any(|reason| matches!(reason, Reason::NotPassed(..)))
        };
        match plan.owed.iter().filter(has_failed).count() {
            0 => {}
            failed => {
                let _ = write!(text, ", {failed} of which did not pass last time");
            }
        }
    }
    let base = selection.base;
    let _ = match &selection.baseline {
        // A hook names what it tests itself: that is no base, and what came before it is.
        Some(known) if base.tree() == selection.head.tree() && known.tree() != base.tree() => {
            write!(text, "; history of {known}")
        }
        Some(known) => write!(text, "; base {base}, history of {known}"),
        None => write!(text, "; base {base}, no history"),
    };
    if let Some(difference) = &selection.difference {
        match difference.changes.len() {
            // What is pushed, say, was tested before: it differs from others, and not from what is known.
            0 if is_built_otherwise(plan) => {
                text.push_str("; no file changed since, but what was built differs");
            }
            0 => text.push_str("; nothing changed since"),
            files => {
                let _ = write!(text, "; {} changed", count(files, "file"));
                // What is told begins there, and not at the base.
                let is_other = |known: &&Version| {
                    known.tree() != base.tree() && base.tree() != selection.head.tree()
                };
                if let Some(known) = selection.baseline.as_ref().filter(is_other) {
                    let _ = write!(text, " since {known}");
                }
            }
        }
    }
    text
}

fn is_built_otherwise(plan: &Plan) -> bool {
    let mut reasons = plan.tests.iter().flat_map(|test| &test.reasons);
    reasons.any(|reason| matches!(reason, Reason::Built(_)))
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
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for test in &selection.plan.tests {
        if test.reasons.iter().any(is_selected_anyway) {
            continue;
        }
        let known = selection.latest.tests.get(&test.name);
        let looked = known.and_then(|record| record.looked.as_ref());
        let mut last = None;
        for reason in &test.reasons {
            if let Reason::File { file, way } = reason
                && last != Some(*file)
            {
                wide.entry(*file).or_insert((*way, 0)).1 += 1;
                let path = &selection.plan.files[*file].file.path;
                if looked.is_some_and(|looked| was_seen(looked, path)) {
                    *seen.entry(*file).or_default() += 1;
                }
                last = Some(*file);
            }
        }
    }
    let mut lines: Vec<String> = wide
        .iter()
        .take(FILES_NAMED)
        .map(|(file, (way, tests))| {
            let is_seen = seen.get(file) == Some(tests);
            let file = &selection.plan.files[*file].file;
            let why = match (file.class, way) {
                (FileClass::Global, _) => "'files.global' says so",
                (FileClass::Special, _) => "it is a link or a submodule",
                (FileClass::Outside, _) => "it is outside of the tree",
                _ if !file.is_only_modified => fate(selection, &file.path),
                (_, Way::CompiledIn) => "the build may read it",
                (_, Way::Read) if is_seen => "it was looked at in the last run",
                (_, Way::Read) => "it may be read at run time",
                (_, Way::Defines) => "it may define them",
            };
            format!("{} selects {}: {why}", file.path, count(*tests, "test"))
        })
        .collect();
    if wide.len() > FILES_NAMED {
        let left = wide.len() - FILES_NAMED;
        let verb = if left == 1 { "does" } else { "do" };
        lines.push(format!("so {verb} {}", count(left, "more file")));
    }
    let files = wide
        .keys()
        .map(|file| (file, &selection.plan.files[*file].file));
    let new = wide.keys().map(|file| &selection.plan.files[*file].file);
    let new = new.filter(|file| !file.is_only_modified && fate(selection, &file.path) == NEW);
    let made_in = build_folder(new.map(|file| &file.path));
    lines.extend(made_in.map(|folder| {
        format!(
            "hint: '{folder}' looks like a build: let .gitignore name it, so that it is no change"
        )
    }));
    let others = files.filter(|(_, file)| file.class == FileClass::Other);
    let others: Vec<(&usize, &RepoPath)> = others.map(|(at, file)| (at, &file.path)).collect();
    if selection.knows_builds {
        // Nobody ignores what a test was seen to look at; of one that never ran, nobody knows what it does.
        let mut tests = selection.plan.tests.iter();
        let is_any_new = tests.any(|test| test.reasons.contains(&Reason::New));
        let ignorable = others.into_iter();
        let ignorable = ignorable.filter(|(at, _)| !is_any_new && !seen.contains_key(at));
        let ignorable = ignorable.map(|(_, path)| path);
        let ignorable = ignorable.filter(|path| !selection.opened_by_builds.contains(*path));
        lines.extend(hint_to_ignore(ignorable));
    } else if others
        .iter()
        .any(|(_, path)| selection.opened_by_builds.contains(*path))
    {
        let hint = "hint: 'git rts run' sees what the build makes of them: it may select fewer, and finds tests that are new";
        lines.push(hint.to_owned());
    }
    lines.extend(ignored_in_vain(selection));
    lines
}

/// A changed file of which the project says that no test notices it, though one was seen to open it.
fn ignored_in_vain(selection: &Selection) -> Option<String> {
    let files = selection.plan.files.iter().map(|file| &file.file);
    let mut ignored = files.filter(|file| file.class == FileClass::Ignored);
    ignored.find_map(|file| {
        let opened = |looked: &Looked| {
            looked.touched.contains(&file.path) && !looked.only_asked_about(&file.path)
        };
        let mut tests = selection.latest.tests.values();
        let test = tests.find(|test| test.looked.as_ref().is_some_and(opened))?;
        Some(format!(
            "warning: 'files.ignore' says that no test notices '{}', which changed, but '{}' opened it when it last ran",
            file.path, test.name
        ))
    })
}

/// A folder in which a build tool left what it leaves nowhere else.
fn build_folder<'a>(new: impl IntoIterator<Item = &'a RepoPath>) -> Option<String> {
    let marks: [&[u8]; 3] = [b"CMakeCache.txt", b"build.ninja", b"config.status"];
    let marks = new
        .into_iter()
        .filter(|path| marks.contains(&path.file_name()));
    // Nobody ignores the whole tree because somebody built in it.
    let mut folders = marks.filter_map(|mark| {
        let path = mark.to_string();
        Some(path.rsplit_once('/')?.0.to_owned())
    });
    folders.next()
}

const NEW: &str = "it is new";

/// What became of a file that is not only modified.
fn fate(selection: &Selection, path: &RepoPath) -> &'static str {
    let mut changes = selection.difference.iter().flat_map(|one| &one.changes);
    let is_it = |change: &&Change| {
        let mut sides = change.new.iter().chain(&change.old);
        sides.next().is_some_and(|file| file.path == *path)
    };
    match changes.find(is_it).map(|change| change.kind) {
        Some(ChangeKind::Added) => NEW,
        Some(ChangeKind::Removed) => "it is gone",
        Some(ChangeKind::Renamed) => "it moved",
        Some(ChangeKind::Modified) => "it became executable, or ceased to be",
        Some(ChangeKind::TypeChanged) | None => "it came, went or moved",
    }
}

/// Whether a reason has nothing to do with what changed, so that no file is to blame.
fn is_selected_anyway(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::New
            | Reason::Pinned
            | Reason::Owed(_)
            | Reason::NotPassed(..)
            | Reason::Flaky
            | Reason::Doubt(_)
    )
}

/// Whether a test looked at a path, or for it, or into its folder.
fn was_seen(looked: &Looked, path: &RepoPath) -> bool {
    let folder = path.ancestors().next();
    let folder = folder.unwrap_or_else(|| RepoPath::new(Vec::new()));
    let beyond = looked.beyond.as_ref();
    looked.touched.contains(path)
        || beyond.is_some_and(|one| one.missing.contains(path) || one.listed.contains(&folder))
}

/// What could be named in `files.ignore`. Never what a build reads: whoever ignores a Makefile skips tests that it affects.
fn hint_to_ignore<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> Option<String> {
    let names: Vec<String> = paths.map(|path| format!("'{path}'")).collect();
    let them = match names.len() {
        0 => return None,
        1 => "it",
        _ => "them",
    };
    let mut named = names[..names.len().min(FILES_NAMED)].join(", ");
    if names.len() > FILES_NAMED {
        let more = count(names.len() - FILES_NAMED, "more file");
        let _ = write!(named, " and {more}");
    }
    Some(format!(
        "hint: if no test can notice {named}, name {them} in 'files.ignore'"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Beyond;

    #[test]
    fn no_file_is_to_blame_for_a_test_that_is_selected_anyway() {
        assert!(is_selected_anyway(&Reason::Doubt("it varies".to_owned())));
        assert!(is_selected_anyway(&Reason::Flaky));
        let way = Way::CompiledIn;
        assert!(!is_selected_anyway(&Reason::File { file: 0, way }));
    }

    #[test]
    fn a_build_that_nobody_ignores_is_known_by_what_its_tool_leaves() {
        let folder = |paths: &[&str]| {
            let paths = paths.iter().map(|path| RepoPath::new(path.as_bytes()));
            build_folder(&paths.collect::<Vec<_>>())
        };
        assert_eq!(
            folder(&["a.c", "out/x/CMakeCache.txt"]).as_deref(),
            Some("out/x")
        );
        assert_eq!(folder(&["config.status"]), None);
        assert_eq!(folder(&["build/a.c", "CMakeLists.txt"]), None);
    }

    #[test]
    fn who_looked_at_a_file_or_for_it_or_into_its_folder_was_seen_to() {
        let path = |text: &str| RepoPath::new(text.as_bytes());
        let mut looked = Looked::default();
        assert!(!was_seen(&looked, &path("d/x")));
        looked.touched.insert(path("d/x"));
        assert!(was_seen(&looked, &path("d/x")) && !was_seen(&looked, &path("d/y")));
        let mut beyond = Beyond::default();
        beyond.missing.insert(path("d/y"));
        beyond.listed.insert(path("e"));
        looked.beyond = Some(beyond);
        assert!(was_seen(&looked, &path("d/y")) && was_seen(&looked, &path("e/z")));
        assert!(!was_seen(&looked, &path("z")));
    }
}
