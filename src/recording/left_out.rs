//! What was not compiled here: compiled files that git does not know are no part of a version, and those that it knows count nothing. Whoever lacks something says so.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::repo::RepoPath;

/// So many are named.
const NAMED: usize = 3;

/// The error of a build, with a hint at the files that were left out if it speaks of them.
pub(super) fn blamed(error: Error, left_out: &BTreeSet<RepoPath>, log: &Path) -> Error {
    if error.exit_code != ExitCode::BuildFailed || left_out.is_empty() {
        return error;
    }
    let printed = std::fs::read(log).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let missing = left_out.iter().filter(|file| is_mentioned(file, &printed));
    let missing: Vec<String> = missing.map(|file| format!("'{file}'")).collect();
    if missing.is_empty() {
        return error;
    }
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = missing[..missing.len().min(NAMED)].join(", ");
    error.hint(format!(
        "compiled files that git does not know are left out of the copy that is built, here {named}{more}; 'git add' what belongs to the project"
    ))
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

/// Whether the build spoke of a file: by its name, or as a library.
fn is_mentioned(file: &RepoPath, printed: &str) -> bool {
    let path = file.to_string();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let stem = name.split('.').next().unwrap_or(name);
    let library = stem.strip_prefix("lib").map(|stem| format!("-l{stem}"));
    let is_word = |word: &str| {
        printed
            .split(|letter: char| {
                letter.is_whitespace() || "/'\"`:,;()\u{2018}\u{2019}".contains(letter)
            })
            .any(|found| found.trim_end_matches('.') == word)
    };
    is_word(name) || library.is_some_and(|library| is_word(&library))
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
}
