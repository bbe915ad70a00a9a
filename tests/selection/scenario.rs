//! The format of a scenario: a project, a change, and the tests that the change must and must not select.
//!
//! A file begins with a sentence; sections follow, each behind a line `-- what`:
//!
//! ```text
//! -- base: PATH            a file of the base version, in full
//! -- base shell            commands that finish the base version
//! -- head: PATH            a file that the head adds or replaces
//! -- change: PATH          lines to take out (-) and to put in (+) between lines that stay ( ); `@@` parts two places
//! -- remove: PATH
//! -- move: PATH -> PATH
//! -- head shell            commands that finish the head version
//! -- selected              the tests that must be selected
//! -- skipped               those that must not
//! -- skipped with llvm     those that gcov, which knows lines only, may select
//! -- either                those that it cannot reach, but that nobody can tell from those that it can
//! -- new                   tests that only a build of the head finds
//! -- run                   the scenario also runs what is selected; or fewer, which are named, if a build shows that (`none`)
//! ```
//!
//! A scenario without a `.git-rts.toml` of its own is one program, made of all C files at the top: a test NAME is the function
//! `test_NAME`, which returns 0 if it passes.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct Scenario {
    pub(crate) base: Vec<(String, String)>,
    pub(crate) base_shell: String,
    pub(crate) head: Vec<Step>,
    pub(crate) selected: BTreeSet<String>,
    pub(crate) skipped: BTreeSet<String>,
    pub(crate) skipped_with_llvm: BTreeSet<String>,
    pub(crate) either: BTreeSet<String>,
    pub(crate) new: BTreeSet<String>,
    pub(crate) is_run: bool,
    /// What a run selects, if not what is selected without a build.
    pub(crate) run: BTreeSet<String>,
}

/// One step from the base version to the head.
#[derive(Debug)]
pub(crate) enum Step {
    Write(String, String),
    Change(String, Vec<Place>),
    Remove(String),
    Move(String, String),
    Shell(String),
}

/// Lines as they were and as they are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    old: String,
    new: String,
}

impl Scenario {
    /// Reads a scenario; what is not understood is a mistake of its author.
    pub(crate) fn read(text: &str) -> Self {
        let mut scenario = Scenario::default();
        let mut sections = text.split("\n-- ");
        let title = sections.next().unwrap_or_default();
        assert!(title.trim_end().ends_with('.'), "no sentence: '{title}'");
        for section in sections {
            let (what, body) = section.split_once('\n').unwrap_or((section, ""));
            let body = match body.trim_end() {
                "" => String::new(),
                body => format!("{body}\n"),
            };
            scenario.add(what.trim(), body);
        }
        assert!(!scenario.tests().is_empty(), "no tests");
        scenario
    }

    fn add(&mut self, what: &str, body: String) {
        let names = || body.split_whitespace().map(str::to_owned).collect();
        let (what, of) = what.split_once(": ").unwrap_or((what, ""));
        let of = of.to_owned();
        match what {
            "base" => self.base.push((of, body)),
            "base shell" => self.base_shell = body,
            "head" => self.head.push(Step::Write(of, body)),
            "change" => self.head.push(Step::Change(of, places(&body))),
            "remove" => self.head.push(Step::Remove(of)),
            "move" => {
                let (from, to) = of.split_once(" -> ").expect("PATH -> PATH");
                self.head.push(Step::Move(from.to_owned(), to.to_owned()));
            }
            "head shell" => self.head.push(Step::Shell(body)),
            "selected" => self.selected = names(),
            "skipped" => self.skipped = names(),
            "skipped with llvm" => self.skipped_with_llvm = names(),
            "either" => self.either = names(),
            "new" => self.new = names(),
            "run" => {
                self.is_run = true;
                self.run = names();
            }
            _ => panic!("no such section: '{what}'"),
        }
    }

    /// The tests of the base version.
    pub(crate) fn tests(&self) -> BTreeSet<String> {
        let all = self.selected.iter().chain(&self.skipped);
        let all = all.chain(&self.skipped_with_llvm).chain(&self.either);
        all.cloned().collect()
    }

    /// Whether it says itself how it is built and tested.
    pub(crate) fn is_project(&self) -> bool {
        self.base.iter().any(|(path, _)| path == ".git-rts.toml")
    }
}

fn places(body: &str) -> Vec<Place> {
    let parts = body.split("@@\n");
    let read = parts.map(|part| {
        let mut place = Place::default();
        for line in part.lines() {
            let rest = format!("{}\n", line.get(1..).unwrap_or_default());
            match line.bytes().next() {
                Some(b'-') => place.old.push_str(&rest),
                Some(b'+') => place.new.push_str(&rest),
                Some(b' ') | None => {
                    place.old.push_str(&rest);
                    place.new.push_str(&rest);
                }
                _ => panic!("neither stays nor goes nor comes: '{line}'"),
            }
        }
        place
    });
    read.collect()
}

/// The text with every place changed; each must be found exactly once, at whole lines.
pub(crate) fn changed(text: &str, places: &[Place]) -> String {
    let mut lines = format!("\n{text}");
    for place in places {
        let (old, new) = (format!("\n{}", place.old), format!("\n{}", place.new));
        assert_eq!(lines.matches(&old).count(), 1, "'{old}' in '{lines}'");
        lines = lines.replace(&old, &new);
    }
    lines[1..].to_owned()
}
