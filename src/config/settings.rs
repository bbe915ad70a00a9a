//! Every setting: its name in the file and in git's configuration, its default, and what it is for.
//!
//! This is the one list: the configuration is read by it, the file that `git rts init` writes and the search for misspelt names are made of it.

use std::fmt::Write as _;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// The table of the file and the name in it; nothing for what only git's configuration has.
    pub place: Option<(&'static str, &'static str)>,
    /// The name behind `rts.` in git's configuration, if it can be set there.
    pub git: Option<&'static str>,
    /// What git has is added to what the file has, rather than put in its place.
    pub is_list: bool,
    /// The default as it is written; an example where it is not set by default.
    pub value: &'static str,
    /// For people, in a few words.
    pub what: &'static str,
}

const fn one(
    place: (&'static str, &'static str),
    git: &'static str,
    value: &'static str,
    what: &'static str,
) -> Setting {
    Setting {
        place: Some(place),
        git: Some(git),
        is_list: false,
        value,
        what,
    }
}

const fn list(place: (&'static str, &'static str), what: &'static str) -> Setting {
    Setting {
        place: Some(place),
        git: Some(place.1),
        is_list: true,
        value: "[]",
        what,
    }
}

/// A number of the file alone.
const fn number(name: &'static str, value: &'static str, what: &'static str) -> Setting {
    Setting {
        place: Some(("order", name)),
        git: None,
        is_list: false,
        value,
        what,
    }
}

/// One that belongs to a clone, and so to git's configuration alone.
const fn of_clone(git: &'static str, value: &'static str, what: &'static str) -> Setting {
    Setting {
        place: None,
        git: Some(git),
        is_list: false,
        value,
        what,
    }
}

pub const PRE_PUSH_BUDGET: Setting =
    of_clone("prePushBudget", "2min", "how long a push may be tested");
pub const PRE_COMMIT_BUDGET: Setting =
    of_clone("preCommitBudget", "30s", "how long a commit may be tested");

/// All of them, in the order in which the file has them.
pub const SETTINGS: [Setting; 28] = [
    one(
        ("build", "configure"),
        "configure",
        "\"\"",
        "options for cmake, configure, meson setup or cargo test, such as \"-DWITH_X=ON\"",
    ),
    one(
        ("build", "command"),
        "build",
        "\"make -j2\"",
        "how to build; default: what the runner does, with all cores",
    ),
    one(
        ("tests", "runner"),
        "runner",
        "\"command\"",
        "ctest | automake | meson | cargo | make | command; default: detected",
    ),
    one(
        ("tests", "list"),
        "list",
        "\"cat tests/list\"",
        "runner \"command\": prints one test name a line; default: none",
    ),
    one(
        ("tests", "run"),
        "run",
        "\"tests/run-one {test}\"",
        "runner \"command\": runs one test; exit 0 pass, 77 skip; default: none",
    ),
    one(
        ("tests", "timeout"),
        "timeout",
        "\"25m\"",
        "for tests that have no limit of their own",
    ),
    list(
        ("tests", "environment"),
        "variables that count for the fingerprint of the toolchain",
    ),
    list(
        ("tests", "always"),
        "tests that run whatever changed, as patterns",
    ),
    list(
        ("tests", "nondeterministic"),
        "tests that may do something else each time, as patterns",
    ),
    one(
        ("coverage", "backend"),
        "backend",
        "\"auto\"",
        "llvm | gcov | auto: llvm if clang is there",
    ),
    list(
        ("files", "sources"),
        "further patterns of files that hold C, beside *.c, *.h, *.inc and *.inl",
    ),
    list(
        ("files", "ignore"),
        "changes here affect no test, such as [\"docs/**\", \"*.md\"]",
    ),
    list(
        ("files", "global"),
        "changes here affect every test, such as [\"ci/toolchain.cmake\"]",
    ),
    one(
        ("order", "by"),
        "order",
        "\"history\"",
        "history | lru | faults | coverage | fastest | random | listed",
    ),
    one(
        ("order", "seed"),
        "seed",
        "0",
        "where draws at random begin",
    ),
    number(
        "alpha_execution",
        "1e-6",
        "smoothing of \"was it left out\", from 0 to 1",
    ),
    number("alpha_faults", "0.8", "smoothing of \"did it fail\""),
    number(
        "alpha_coverage",
        "0.8",
        "smoothing of \"does it cover what few others do\"",
    ),
    number(
        "failures",
        "1.0",
        "weights and constants of the order \"history\"",
    ),
    number("new_dangers", "1.0", ""),
    number("all_dangers", "0.1", ""),
    number("coverage", "0.3", ""),
    number("floor", "0.01", ""),
    number("start", "0.004", ""),
    one(
        ("trust", "mode"),
        "mode",
        "\"enforce\"",
        "enforce | shadow: everything runs, and the selection is only compared",
    ),
    one(
        ("trust", "canary"),
        "canary",
        "\"0%\"",
        "the share of the skipped tests that run all the same, such as \"1%\"",
    ),
    PRE_PUSH_BUDGET,
    PRE_COMMIT_BUDGET,
];

/// The column at which the file's comments begin.
const COMMENTS: usize = 32;

/// The file as it is written for a project: every setting with its default, commented out, but for those that are set here, by their table and name.
#[must_use]
pub fn file_with(set: &[((&str, &str), String)]) -> String {
    let mut text = String::from(
        "# What 'git rts' knows of this project. Nothing here is needed: a line behind '#' shows a default or an example.\n\
         # 'git rts doctor' checks this file, and 'git config rts.NAME' has the last word in one clone.\n",
    );
    let mut table = "";
    for setting in &SETTINGS {
        let Some(place) = setting.place else {
            continue;
        };
        if place.0 != table {
            table = place.0;
            let _ = writeln!(text, "\n[{table}]");
        }
        let chosen = set.iter().find(|(name, _)| *name == place);
        let line = match chosen {
            Some((_, value)) => format!("{} = {value}", place.1),
            None => format!("#{} = {}", place.1, setting.value),
        };
        let _ = match setting.what {
            "" => writeln!(text, "{line}"),
            what => writeln!(text, "{line:<COMMENTS$}# {what}"),
        };
    }
    text.push_str("\n# Of one clone, by 'git config':\n");
    for setting in SETTINGS.iter().filter(|setting| setting.place.is_none()) {
        let name = format!("rts.{}", setting.git.unwrap_or_default());
        let _ = writeln!(text, "# {name} {} ({})", setting.value, setting.what);
    }
    text
}
