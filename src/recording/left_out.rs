//! What was not compiled here: compiled files that git does not know are no part of a version, and those that it knows count nothing. Whoever lacks something says so.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::repo::{RepoPath, Repository};

/// So many are named.
const NAMED: usize = 3;

/// What a build may lack.
pub(super) struct LeftOut {
    /// Compiled files of the work tree that are no part of the version.
    compiled: BTreeSet<RepoPath>,
    work_tree: Option<PathBuf>,
}

impl LeftOut {
    pub(super) fn of(repository: &Repository) -> Self {
        LeftOut {
            compiled: repository.left_out(),
            work_tree: repository.workdir().map(Path::to_owned),
        }
    }

    /// The error of a build of a copy, with a hint at what was left out if it speaks of that: compiled files that git does not know,
    /// and whatever is in the work tree and not in the copy.
    pub(super) fn blamed(&self, error: Error, copy: &Path, log: &Path) -> Error {
        if error.exit_code != ExitCode::BuildFailed {
            return error;
        }
        let printed = std::fs::read(log).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed);
        let missing = self
            .compiled
            .iter()
            .filter(|file| is_mentioned(file, &printed));
        let mut missing: BTreeSet<String> = missing.map(RepoPath::to_string).collect();
        let work_tree = self.work_tree.iter();
        missing.extend(work_tree.flat_map(|top| missed(&printed, top, copy)));
        if missing.is_empty() {
            return error;
        }
        let missing: Vec<String> = missing.iter().map(|file| format!("'{file}'")).collect();
        let more = match missing.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = missing[..missing.len().min(NAMED)].join(", ");
        error.hint(format!(
        "what git ignores and compiled files that it does not know are left out of the copy that is built, here {named}{more}; 'git add' what belongs to the project ('-f' what is ignored)"
    ))
    }
}

/// That a test left no counters, with the likely cause: a file of the version that is compiled already.
pub(super) fn no_counters(compiled: Option<&RepoPath>) -> String {
    match compiled {
        Some(file) => format!(
            "it left no counters; '{file}' is in the repository as it was compiled elsewhere, where nothing counts"
        ),
        None => "it left no counters".to_owned(),
    }
}

/// Whether the build lacked a file: by its name, or as a library.
fn is_mentioned(file: &RepoPath, printed: &str) -> bool {
    let path = file.to_string();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let stem = name.split('.').next().unwrap_or(name);
    let library = stem.strip_prefix("lib").map(|stem| format!("-l{stem}"));
    let is_word = |word: &str| words(printed).any(|found| found.rsplit('/').next() == Some(word));
    is_word(name) || library.is_some_and(|library| is_word(&library))
}

/// The files that a build lacked, from the top of the tree, that are in the work tree and not in its copy.
fn missed<'p>(
    printed: &'p str,
    work_tree: &'p Path,
    copy: &'p Path,
) -> impl Iterator<Item = String> + 'p {
    let inner = move |word: &'p str| {
        let path = Path::new(word);
        let path = path.strip_prefix(copy).unwrap_or(path);
        let mut parts = path.components();
        let is_inner = parts.all(|part| matches!(part, Component::Normal(_)));
        is_inner.then_some(path)
    };
    let is_missed = move |path: &&Path| {
        work_tree.join(path).is_file() && copy.join(path).symlink_metadata().is_err()
    };
    let missed = words(printed).filter_map(inner).filter(is_missed);
    missed.map(|path| path.display().to_string())
}

/// How tools say that something is not there.
const ABSENCE: [&str; 4] = ["o such file", "annot find", "o rule to make", "ot found"];

/// What may be names of files that a build lacked, by what it printed.
fn words(printed: &str) -> impl Iterator<Item = &str> {
    let tells = |line: &&str| ABSENCE.iter().any(|absence| line.contains(absence));
    let is_between =
        |letter: char| letter.is_whitespace() || "'\"`:,;()\u{2018}\u{2019}".contains(letter);
    let words = printed.lines().filter(tells);
    let words = words.flat_map(move |line| line.split(is_between));
    words.map(|word| word.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn a_file_is_mentioned_by_its_name_or_as_a_library() {
        let lacks = "make: *** No rule to make target 'lib/extra.o', needed by 'all'.  Stop.";
        assert!(is_mentioned(&path("lib/extra.o"), lacks));
        assert!(!is_mentioned(&path("tra.o"), lacks));
        let library = "/usr/bin/ld: cannot find -lextra: No such file";
        assert!(is_mentioned(&path("libextra.a"), library));
        assert!(!is_mentioned(&path("libex.a"), library));
        let compiler = "clang: error: no such file or directory: 'prog'.";
        assert!(is_mentioned(&path("bin/prog"), compiler));
    }

    #[test]
    fn what_is_in_the_work_tree_alone_is_missed() {
        let room = tempfile::tempdir().expect("there is room");
        let (top, copy) = (room.path().join("top"), room.path().join("copy"));
        for folder in [&top, &copy] {
            std::fs::create_dir_all(folder.join("lib")).expect("there is room");
            std::fs::write(folder.join("main.c"), "").expect("there is room");
        }
        std::fs::write(top.join("lib/x.a"), "").expect("there is room");
        let absolute = copy.join("lib/x.a").display().to_string();
        for printed in [
            "cc: 'lib/x.a': No such file in main.c, lib or ../top/main.c",
            &format!("ld: cannot find {absolute}: No such file"),
        ] {
            let missed: Vec<String> = missed(printed, &top, &copy).collect();
            assert_eq!(missed, ["lib/x.a"], "{printed}");
        }
        // Who makes it does not lack it.
        let made = "ar rcs lib/x.a x.o\nx.c:1: error";
        assert_eq!(missed(made, &top, &copy).count(), 0);
    }
}
