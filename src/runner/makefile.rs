//! Questions to a Makefile: the values of variables and the targets it knows, as make itself sees them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Site, ask, shell};
use crate::error::Result;

/// The names that GNU make looks for, in its order.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Begins a line of ours in what make prints.
const OURS: &str = "git-rts: ";

/// The Makefile of a folder, if it has one.
pub(super) fn find(folder: &Path) -> Option<PathBuf> {
    let mut files = NAMES.iter().map(|name| folder.join(name));
    files.find(|file| file.is_file())
}

/// The beginning of a makefile that has all that the folder's Makefile has.
pub(super) fn including(folder: &Path) -> String {
    let file = find(folder).unwrap_or_else(|| folder.join(NAMES[2]));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    format!("include {name}\n")
}

/// What make knows after it has read a Makefile.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    variables: BTreeMap<String, Vec<String>>,
    /// With what each is made after.
    targets: BTreeMap<String, Vec<String>>,
}

impl Makefile {
    /// Reads the Makefile of a folder and evaluates these variables.
    pub(super) fn read(site: &Site, folder: &Path, variables: &[&str]) -> Result<Self> {
        let mut text = including(folder) + ".PHONY: git-rts-ask\ngit-rts-ask:\n";
        for variable in variables {
            text += &format!("$(info {OURS}{variable} $(strip $({variable})))\n");
        }
        // The database tells which targets there are; `-q` keeps everything from being made.
        let command = make(["-p", "-q", "-f", "-", "git-rts-ask"].map(Into::into));
        let answer = ask::answer(site, folder, &command, &text)?;
        // Exit code 1 says that something would have been made.
        if !matches!(answer.status.code(), Some(0 | 1)) {
            return Err(ask::failure(&command, &answer));
        }
        Ok(Self::parse(&String::from_utf8_lossy(&answer.stdout)))
    }

    fn parse(printed: &str) -> Self {
        let mut makefile = Makefile::default();
        let mut is_target = true;
        for line in printed.lines() {
            if let Some(answer) = line.strip_prefix(OURS) {
                let mut words = answer.split_ascii_whitespace().map(str::to_owned);
                if let Some(variable) = words.next() {
                    makefile.variables.insert(variable, words.collect());
                }
            } else if line == "# Not a target:" {
                is_target = false;
            } else if !line.starts_with(['#', '\t', ' ']) {
                let rule = line
                    .split_once(':')
                    .filter(|(_, rest)| !rest.starts_with('='));
                if let Some((target, after)) =
                    rule.filter(|(target, _)| !target.contains(['=', ' ']))
                    && is_target
                {
                    let after = after.trim_start_matches(':').split_ascii_whitespace();
                    let known = makefile.targets.entry(target.to_owned()).or_default();
                    known.extend(after.map(str::to_owned));
                }
                is_target = true;
            }
        }
        makefile
    }

    /// The words of a variable.
    pub(super) fn words(&self, variable: &str) -> &[String] {
        self.variables.get(variable).map_or(&[], Vec::as_slice)
    }

    /// Whether there is a rule for a target of this name.
    pub(super) fn has_target(&self, target: &str) -> bool {
        self.targets.contains_key(target)
    }

    /// What a target is made after.
    pub(super) fn prerequisites(&self, target: &str) -> &[String] {
        self.targets.get(target).map_or(&[], Vec::as_slice)
    }

    /// The variables that have a value, as texts.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, String)> {
        let values = self.variables.iter().filter(|(_, words)| !words.is_empty());
        values.map(|(variable, words)| (variable.as_str(), words.join(" ")))
    }
}

/// The command that runs make.
pub(super) fn make<const N: usize>(arguments: [OsString; N]) -> Vec<OsString> {
    let mut command = shell::words(["make".as_ref(), "--no-print-directory".as_ref()]);
    command.extend(arguments);
    command
}

/// The steps' command that builds with many jobs.
pub(super) fn build<const N: usize>(site: &Site, arguments: [&str; N]) -> Vec<OsString> {
    let mut command = make([format!("-j{}", site.jobs.max(1)).into()]);
    command.extend(arguments.map(OsString::from));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[&str]) -> Result<Makefile> {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(folder.path().join("Makefile"), text).expect("there is room");
        let site = Site {
            tree: folder.path().to_owned(),
            build: folder.path().join("build"),
            environment: Vec::new(),
            jobs: 1,
        };
        Makefile::read(&site, folder.path(), variables)
    }

    #[test]
    fn variables_are_evaluated_by_make() {
        let makefile = read(
            "include more.mk\nmore.mk:\n\techo 'B = b.sh' > $@\nTESTS = a.sh $(B) \\\n  $(addsuffix .t,x y)\nall:\n",
            &["TESTS", "NONE"],
        )
        .expect("it is valid");
        assert_eq!(makefile.words("TESTS"), ["a.sh", "b.sh", "x.t", "y.t"]);
        assert!(makefile.words("NONE").is_empty());
    }

    #[test]
    fn targets_are_told_from_files_and_variables() {
        let makefile = read(
            "test = 1\nTEST := 2\nall: x.c test.dir\n.PHONY: check\ncheck: all\n\techo 'no: thing'\n",
            &[],
        )
        .expect("it is valid");
        assert!(makefile.has_target("check") && makefile.has_target("all"));
        assert_eq!(makefile.prerequisites("all"), ["x.c", "test.dir"]);
        for other in ["test", "TEST", "x.c", "test.dir", "no", "\techo 'no"] {
            assert!(!makefile.has_target(other), "{other}");
        }
    }

    #[test]
    fn a_broken_makefile_is_an_error() {
        let error = read("ifeq (a,a)\n", &[]).expect_err("it has no endif");
        assert!(!error.hints.is_empty());
    }
}
