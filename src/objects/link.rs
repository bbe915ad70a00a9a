//! How a binary was linked: the options of the linker, and the objects that it took, as it tells with `--trace`.
//!
//! The trace is the one answer that all linkers give alike, and it is given while objects that a compiler makes for a moment
//! are still there. GNU ld has to be asked twice (`-t -t`) to name the members of archives.

use serde::{Deserialize, Serialize};

/// What a linker is told, so that it names the objects that it takes.
pub const LINKER_FLAGS: [&str; 2] = ["-t", "-t"];

/// How a binary was linked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What decides how objects are put together, without inputs and places.
    pub options: Vec<String>,
    /// Files that options name and that the linker reads.
    pub read_by_options: Vec<String>,
    /// The linker follows a script of the project's own, which can do anything.
    pub has_script: bool,
    /// In the linker's order.
    pub inputs: Vec<Input>,
}

/// A file, or a member of an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Input {
    pub path: String,
    pub member: Option<String>,
}

/// Options with a value that only says where something is, or that the binary itself shows.
const PLACES: [&str; 13] = [
    "-o",
    "--output",
    "-L",
    "--library-path",
    "-rpath",
    "--rpath",
    "-rpath-link",
    "--rpath-link",
    "-Map",
    "--Map",
    "-plugin",
    "-plugin-opt",
    "--dependency-file",
];

/// Options whose value is a file that the linker reads.
const READ: [&str; 8] = [
    "--version-script",
    "--dynamic-list",
    "--retain-symbols-file",
    "--export-dynamic-symbol-list",
    "--symbol-ordering-file",
    "--just-symbols",
    "--undefined-version-script",
    "-R",
];

const SCRIPTS: [&str; 6] = [
    "-T",
    "--script",
    "-dT",
    "--default-script",
    "-c",
    "--mri-script",
];

/// Other options that take the next argument for their value.
const WITH_VALUE: [&str; 26] = [
    "-m",
    "-z",
    "-e",
    "--entry",
    "-u",
    "--undefined",
    "-h",
    "-soname",
    "--soname",
    "-dynamic-linker",
    "--dynamic-linker",
    "-I",
    "-y",
    "--wrap",
    "--defsym",
    "-init",
    "-fini",
    "-a",
    "-A",
    "-b",
    "-f",
    "-F",
    "-G",
    "-Y",
    "--section-start",
    "--exclude-libs",
];

impl Link {
    /// From the arguments of a linker and what it printed with `-t -t`.
    #[must_use]
    pub fn from_trace(arguments: &[String], trace: &str) -> Self {
        let mut link = Link {
            inputs: inputs(trace),
            ..Link::default()
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with('-') {
                // An input, which the trace names, or a file of further arguments.
                link.read_by_options
                    .extend(argument.strip_prefix('@').map(str::to_owned));
                continue;
            }
            let (option, mut value) = match argument.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let mut take = |list: &[&str]| {
                let is_in = list.iter().any(|known| same_option(known, option));
                if is_in && value.is_none() {
                    value = arguments.next().cloned();
                }
                is_in
            };
            if take(&PLACES) {
            } else if take(&READ) {
                link.options.push(option.to_owned());
                link.read_by_options.extend(value);
            } else if take(&SCRIPTS) || option.starts_with("-T") && is_script(option) {
                link.has_script = true;
            } else if take(&WITH_VALUE) {
                link.options
                    .push(format!("{option}={}", value.unwrap_or_default()));
            } else if !is_place(option) {
                link.options.push(argument.clone());
            }
        }
        link
    }
}

/// Long options may begin with one dash or two.
fn same_option(known: &str, given: &str) -> bool {
    known == given
        || known.len() > 2 && known.trim_start_matches('-') == given.trim_start_matches('-')
}

/// `-Tfile`, but not `-Ttext`, `-Tdata` and `-Tbss`, which are followed by an address.
fn is_script(option: &str) -> bool {
    ![
        "-Ttext",
        "-Tdata",
        "-Tbss",
        "-Ttext-segment",
        "-Trodata-segment",
    ]
    .contains(&option)
}

/// Options in one word that only say where something is, name inputs, or ask for what we read.
fn is_place(option: &str) -> bool {
    option.starts_with("-L")
        || option.starts_with("-l")
        || option == "-t"
        || option == "--trace"
        || option == "--build-id"
}

/// The files that a trace names, each once: GNU ld writes `(archive)member`, the others `archive(member)`.
fn inputs(trace: &str) -> Vec<Input> {
    let mut found: Vec<Input> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in trace.lines().filter(|line| !line.is_empty()) {
        let of_gnu = line.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let of_others = || {
            line.strip_suffix(')')
                .and_then(|front| front.rsplit_once('('))
        };
        let input = match of_gnu.or_else(of_others) {
            Some((path, member)) => Input {
                path: path.to_owned(),
                member: Some(member.to_owned()),
            },
            None => Input {
                path: line.to_owned(),
                member: None,
            },
        };
        if seen.insert(input.clone()) {
            found.push(input);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_told_from_places_and_inputs() {
        let link = Link::from_trace(
            &words(
                "-o p --wrap=malloc a.o -L/x -L /y -lm -z now --version-script v.map --build-id --gc-sections",
            ),
            "",
        );
        assert_eq!(
            link.options,
            [
                "--wrap=malloc",
                "-z=now",
                "--version-script",
                "--gc-sections"
            ]
        );
        assert_eq!(link.read_by_options, ["v.map"]);
        assert!(!link.has_script);
    }

    #[test]
    fn scripts_are_noticed_however_they_are_given() {
        for call in ["-T x.ld", "-Tx.ld", "--script=x.ld", "-dT x.ld"] {
            assert!(Link::from_trace(&words(call), "").has_script, "{call}");
        }
        assert!(!Link::from_trace(&words("-Ttext=0x400000"), "").has_script);
    }

    #[test]
    fn members_are_read_as_each_linker_writes_them() {
        let of_gnu = inputs("/a/crt1.o\n./libx.a\n(./libx.a)a.o\n(./libx.a)a.o\n");
        let of_others = inputs("/a/crt1.o\n./libx.a(a.o)\n");
        let member = Input {
            path: "./libx.a".to_owned(),
            member: Some("a.o".to_owned()),
        };
        assert_eq!(of_gnu[2], member);
        assert_eq!(of_others[1], member);
        assert_eq!((of_gnu.len(), of_others.len()), (3, 2));
    }
}
