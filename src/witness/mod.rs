//! Witnesses: each can certify that a changed file does not reach a test in one of three ways.
//!
//! A test is skipped only if some witness certifies it for every changed file and every way. A witness that does not understand a change abstains.

pub mod assumption;
pub mod code;
pub mod definition;
pub mod driver;
pub mod files;
pub mod rules;
pub mod source;
pub mod versioned;

use crate::repo::{Change, ChangeKind, FileEntry, FileKind, RepoPath};

/// How a changed file can reach a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It is compiled into what the test runs.
    CompiledIn,
    /// The test reads it when it runs.
    Read,
    /// It says what the test is.
    Defines,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::CompiledIn, Way::Read, Way::Defines];

    /// For people and programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Way::CompiledIn => "compiled in",
            Way::Read => "read",
            Way::Defines => "defines",
        }
    }
}

/// Who certifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Witness {
    Source,
    Object,
    Files,
    Definition,
    Rules,
    /// Not seen, but assumed, as the assumptions say.
    Assumption,
}

impl Witness {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Witness::Source => "source",
            Witness::Object => "object",
            Witness::Files => "files",
            Witness::Definition => "definition",
            Witness::Rules => "rules",
            Witness::Assumption => "assumption",
        }
    }
}

/// The tests that a certificate speaks for, by their places among the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certified {
    All,
    Those(Vec<bool>),
}

impl Certified {
    #[must_use]
    pub fn contains(&self, test: usize) -> bool {
        match self {
            Certified::All => true,
            Certified::Those(tests) => tests.get(test).copied().unwrap_or(false),
        }
    }
}

/// What a witness says about a changed file: in this way it does not reach these tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    pub way: Way,
    pub witness: Witness,
    pub evidence: String,
    pub tests: Certified,
}

/// What a changed file is to the witnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileClass {
    /// C, before and after.
    Source,
    /// The project says that it affects no test.
    Ignored,
    /// The project says that it affects every test.
    Global,
    /// A link or a submodule, before or after.
    Special,
    /// A header that compilers find outside of the tree.
    Outside,
    /// Anything else.
    Other,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Where it is, or was before it was removed.
    pub path: RepoPath,
    /// Where it was, if it moved.
    pub moved_from: Option<RepoPath>,
    pub class: FileClass,
    /// It is a file in both versions, at the same place, and nothing but its content differs.
    pub is_only_modified: bool,
}

impl ChangedFile {
    /// A file that the build changes, in another way than before.
    #[must_use]
    pub fn altered(path: &RepoPath) -> Self {
        ChangedFile {
            path: path.clone(),
            moved_from: None,
            class: FileClass::Other,
            is_only_modified: false,
        }
    }

    /// A header outside of the tree.
    #[must_use]
    pub fn outside(path: &str) -> Self {
        ChangedFile {
            path: RepoPath::new(path.as_bytes()),
            moved_from: None,
            class: FileClass::Outside,
            is_only_modified: true,
        }
    }

    /// Classes a change by what the configuration says of its paths.
    #[must_use]
    pub fn of(change: &Change, class_of: impl Fn(&RepoPath) -> FileClass) -> Option<Self> {
        let path = &change.new.as_ref().or(change.old.as_ref())?.path;
        let sides = || change.old.iter().chain(&change.new);
        let is_special = sides().any(|file| file.kind != FileKind::File);
        let mut classes = sides().map(|file| match class_of(&file.path) {
            FileClass::Source | FileClass::Other if is_special => FileClass::Special,
            class => class,
        });
        let first = classes.next()?;
        // A file that moved from one class to another is both; what is certain of neither is something else.
        let class = classes.fold(first, |one, two| match (one, two) {
            (one, two) if one == two => one,
            (FileClass::Global, _) | (_, FileClass::Global) => FileClass::Global,
            (FileClass::Special, _) | (_, FileClass::Special) => FileClass::Special,
            (FileClass::Ignored, other) | (other, FileClass::Ignored) => other,
            _ => FileClass::Other,
        });
        let is_executable =
            |file: &Option<FileEntry>| file.as_ref().is_some_and(|file| file.executable);
        let old = change.old.as_ref().map(|file| file.path.clone());
        Some(ChangedFile {
            path: path.clone(),
            moved_from: old.filter(|old| old != path),
            class,
            is_only_modified: change.kind == ChangeKind::Modified
                && !is_special
                && is_executable(&change.old) == is_executable(&change.new),
        })
    }
}
