//! What make would run for each test of the parallel harness, so that it can be run without a make.
//!
//! A large Makefile costs make more time than most tests take.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::makefile::{self, Makefile};
use super::super::{Site, ask};

/// What make sets for its recipes that is about make, or about the process and not the test.
const NOT_OF_THE_TEST: [&str; 10] = [
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "MAKEFILES",
    "MAKE_TERMOUT",
    "MAKE_TERMERR",
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
];

pub(super) struct Recipes {
    /// The shell's text for each log.
    by_log: BTreeMap<String, String>,
    shell: String,
    /// What the Makefile exports.
    pub(super) environment: Vec<(OsString, Option<OsString>)>,
}

impl Recipes {
    /// Asks make for the recipes of all logs. None if it would do anything else for them.
    pub(super) fn read(site: &Site, folder: &Path, makefile: &Makefile) -> Option<Self> {
        let logs = makefile.words("TEST_LOGS");
        if logs.is_empty() || makefile.has_target(".ONESHELL") {
            return None;
        }
        for log in logs {
            // Where one is there, make would do nothing for it.
            let _ = std::fs::remove_file(folder.join(log));
        }
        let mut command = makefile::make(["-n".into()]);
        command.extend(logs.iter().map(Into::into));
        let printed = ask::ask(site, folder, &command, "").ok()?;
        let by_log = parse(&String::from_utf8(printed).ok()?)?;
        let wanted: BTreeSet<&String> = logs.iter().collect();
        if by_log.keys().collect::<BTreeSet<_>>() != wanted {
            return None;
        }
        let [shell] = makefile.words("SHELL") else {
            return None;
        };
        Some(Recipes {
            by_log,
            shell: shell.clone(),
            environment: exported(site, folder)?,
        })
    }

    pub(super) fn command(&self, log: &str) -> Option<Vec<OsString>> {
        let recipe = self.by_log.get(log)?;
        Some([self.shell.as_str(), "-c", recipe].map(Into::into).to_vec())
    }

    /// The recipe without the list of tests that are expected to fail: it is in the recipes of all.
    pub(super) fn definition(&self, log: &str) -> Option<String> {
        let recipe = self.by_log.get(log)?;
        let list = recipe.find("am__expect_failure=yes").and_then(|after| {
            let start = recipe[..after].rfind("case \"")? + "case \"".len();
            Some(start..start + recipe[start..after].find("\" in")?)
        });
        let mut recipe = recipe.clone();
        if let Some(list) = list {
            recipe.replace_range(list, "");
        }
        Some(recipe)
    }
}

/// Each recipe is one command over several lines, and names the log that it writes.
fn parse(printed: &str) -> Option<BTreeMap<String, String>> {
    let mut by_log = BTreeMap::new();
    let mut lines = printed.lines();
    while let Some(first) = lines.next() {
        if !first.starts_with("p='") {
            return None;
        }
        let mut recipe = first.to_owned();
        while recipe.ends_with('\\') {
            recipe.push('\n');
            recipe.push_str(lines.next()?);
        }
        let (_, rest) = recipe.split_once("; log='")?;
        let (log, _) = rest.split_once('\'')?;
        by_log.insert(log.to_owned(), recipe);
    }
    Some(by_log)
}

/// What a recipe finds in its environment that we do not have.
fn exported(site: &Site, folder: &Path) -> Option<Vec<(OsString, Option<OsString>)>> {
    let text = makefile::including(folder) + "git-rts-environment:\n\t@env -0\n";
    let command = makefile::make(["-s", "-f", "-", "git-rts-environment"].map(Into::into));
    let printed = ask::ask(site, folder, &command, &text).ok()?;
    let ours = |name: &OsStr| {
        let set = site
            .environment
            .iter()
            .rev()
            .find(|(other, _)| other == name);
        set.map_or_else(|| std::env::var_os(name), |(_, value)| value.clone())
    };
    let entries = printed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty());
    let changed = entries.filter_map(|entry| {
        let equals = entry.iter().position(|byte| *byte == b'=')?;
        let name = OsStr::from_bytes(&entry[..equals]);
        let value = OsStr::from_bytes(&entry[equals + 1..]);
        let is_new = ours(name).as_deref() != Some(value);
        let of_the_test = !NOT_OF_THE_TEST.iter().any(|other| name == *other);
        (is_new && of_the_test).then(|| (name.to_owned(), Some(value.to_owned())))
    });
    Some(changed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by make for Automake 1.16, shortened.
    const PRINTED: &str = "p='a'; \\\nb='a'; \\\nsrcdir=.; export srcdir; tst=$dir$f; log='a.log'; case \" x y \" in *[\\ \\\t]$f[\\ \\\t]*) am__expect_failure=yes;; esac; ./test-driver \\\n\"$tst\" \np='t/b.sh'; \\\ntst=$dir$f; log='t/b.log'; \\\n\"$tst\" \n";

    #[test]
    fn recipes_are_told_apart() {
        let by_log = parse(PRINTED).expect("it is make's own");
        assert_eq!(by_log.keys().collect::<Vec<_>>(), ["a.log", "t/b.log"]);
        assert!(by_log["a.log"].starts_with("p='a'") && by_log["a.log"].ends_with("\"$tst\" "));
    }

    #[test]
    fn anything_else_is_left_to_make() {
        assert!(parse(&format!("gcc -c a.c\n{PRINTED}")).is_none());
        assert!(parse("p='a'; \\\n").is_none());
        assert!(parse("p='a'; ./a\n").is_none());
    }

    #[test]
    fn the_definition_of_one_test_does_not_name_the_others() {
        let recipes = Recipes {
            by_log: parse(PRINTED).expect("it is make's own"),
            shell: "/bin/sh".to_owned(),
            environment: Vec::new(),
        };
        let definition = recipes.definition("a.log").expect("it is there");
        assert!(definition.contains("case \"\" in") && !definition.contains("x y"));
        assert_eq!(
            recipes.definition("t/b.log").as_ref(),
            recipes.by_log.get("t/b.log")
        );
    }
}
