//! The headers from outside of the workshop that compilers read: nobody else sees when they change.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::arguments::is_source;

/// The file that names the headers which the compilers of a folder read from outside.
#[must_use]
pub fn outside(folder: &Path) -> PathBuf {
    folder.with_extension("headers")
}

/// The file to which a compiler that a wrapper calls for another of ours tells its headers, as one of ours asked for.
const NESTED: &str = "GIT_RTS_HEADERS";

/// How one call of a compiler tells which headers it reads.
pub(super) struct Report {
    file: PathBuf,
    /// Whether we were called for another of our compilers, which takes in what is told.
    pub(super) is_nested: bool,
    style: Style,
    /// The project's own list of dependencies, where gcc writes no other.
    own: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A header in each line.
    Lines,
    /// A rule for make.
    Rule,
}

/// What a compiler told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) paths: Vec<PathBuf>,
    /// Whether these are all headers that it read.
    pub(super) is_whole: bool,
}

impl Report {
    pub(super) fn of_clang(folder: &Path) -> Self {
        Self::new(folder, Style::Lines, None)
    }

    pub(super) fn of_gcc(folder: &Path, arguments: &[OsString]) -> Self {
        Self::new(folder, Style::Rule, own_list(arguments))
    }

    fn new(folder: &Path, style: Style, own: Option<PathBuf>) -> Self {
        let nested = std::env::var_os(NESTED).map(PathBuf::from);
        let nested = nested.filter(|file| file.parent() == folder.parent());
        let is_nested = nested.is_some();
        let beside = || folder.with_extension(format!("headers-{}", std::process::id()));
        Report {
            file: nested.unwrap_or_else(beside),
            is_nested,
            style,
            own,
        }
    }

    /// Asks clang, which tells each header in a line, or gcc, which writes a rule for make unless the project has it write another.
    pub(super) fn ask(&self, command: &mut Command) {
        match self.style {
            Style::Lines => command
                .env("CC_PRINT_HEADERS", "1")
                .env("CC_PRINT_HEADERS_FILE", &self.file),
            Style::Rule => command.env("SUNPRO_DEPENDENCIES", &self.file),
        };
        command.env(NESTED, &self.file);
    }

    /// What was told, once the call is done. With `sources` of one, the project's own list is about that one; of several, gcc keeps
    /// only the list of the last.
    pub(super) fn told(&self, sources: usize) -> Told {
        let told = fs::read_to_string(&self.file);
        let _ = fs::remove_file(&self.file);
        let own = self.own.as_ref();
        let own = own.and_then(|own| fs::read_to_string(own).ok());
        let own = own.unwrap_or_default();
        let is_whole = match (&told, self.style) {
            // The file is there even if there are no headers.
            (Ok(_), Style::Lines) => true,
            (Ok(text), Style::Rule) if !text.is_empty() => true,
            _ => sources <= 1 && !own.is_empty(),
        };
        let told = told.unwrap_or_default();
        let told = match self.style {
            Style::Lines => lines(&told),
            Style::Rule => words(&told),
        };
        let here = std::env::current_dir().unwrap_or_default();
        let paths = told.into_iter().chain(words(&own));
        Told {
            paths: paths.map(|path| here.join(path)).collect(),
            is_whole,
        }
    }
}

impl Told {
    /// Adds what lies outside of the workshop to what is known.
    pub(super) fn take_in(&self, folder: &Path) -> io::Result<()> {
        let root = folder.parent().unwrap_or(folder);
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        // A link in the tree may lead outside, and one to the repository inside.
        let leads_outside = |path: &Path| {
            let real = path.canonicalize();
            real.is_ok_and(|real| !real.starts_with(&real_root))
        };
        let is_outside = |path: &&PathBuf| {
            let is_below = path.starts_with(root) || path.starts_with(&real_root);
            match is_below {
                true => leads_outside(path),
                false => path.is_file(),
            }
        };
        let paths = self.paths.iter().filter(is_outside);
        let mut new: BTreeSet<String> = paths
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let list = outside(folder);
        let known = match fs::read_to_string(&list) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            known => known?,
        };
        for line in known.lines() {
            new.remove(line);
        }
        if new.is_empty() {
            return Ok(());
        }
        let text: String = new.iter().map(|line| format!("{line}\n")).collect();
        // One write, because several compilers run at once.
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(list)?
            .write_all(text.as_bytes())
    }
}

/// The names in a list of headers, as clang writes them.
fn lines(text: &str) -> Vec<String> {
    let plain = |line: &str| line.replace("\\\"", "\"").replace("\\\\", "\\");
    text.lines().map(plain).collect()
}

/// The names in a rule for make.
fn words(text: &str) -> Vec<String> {
    let spaced = text.replace("\\ ", "\0");
    let words = spaced
        .split_whitespace()
        .filter(|word| *word != "\\" && !word.ends_with(':'));
    let plain = |word: &str| {
        let word = word.replace('\0', " ");
        word.replace("\\#", "#").replace("$$", "$")
    };
    words.map(plain).collect()
}

/// With an option like this gcc leaves headers of the system out of its list; with the other it does not.
pub(super) fn with_all_headers(arguments: &[OsString]) -> Vec<OsString> {
    let all = arguments.iter().map(|argument| match argument.to_str() {
        Some("-MMD") => OsString::from("-MD"),
        Some(other) => OsString::from(other.replace("-Wp,-MMD,", "-Wp,-MD,")),
        None => argument.clone(),
    });
    all.collect()
}

/// Where the project has its list of dependencies written.
fn own_list(arguments: &[OsString]) -> Option<PathBuf> {
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .collect();
    let after = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).map(|word| PathBuf::from(&**word))
    };
    let joined = |option: &str| {
        let mut words = words.iter();
        words.find_map(|word| word.strip_prefix(option).map(PathBuf::from))
    };
    let is_asked = words.iter().any(|word| *word == "-MD" || *word == "-MMD");
    let source = || {
        let source = arguments.iter().find(|argument| is_source(argument))?;
        Path::new(source).file_name().map(PathBuf::from)
    };
    let beside = || Some(after("-o").or_else(source)?.with_extension("d"));
    let passed = || joined("-Wp,-MD,").or_else(|| joined("-Wp,-MMD,"));
    passed().or_else(|| {
        let named = || after("-MF").or_else(|| joined("-MF"));
        is_asked.then(|| named().or_else(beside)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::words as arguments;
    use super::*;

    #[test]
    fn the_list_of_the_project_is_found() {
        for (call, list) in [
            ("-MD -MF d/a.d -c a.c", Some("d/a.d")),
            ("-MMD -c a.c -o b/a.o", Some("b/a.d")),
            ("-MMD -c /s/a.c", Some("a.d")),
            ("-Wp,-MMD,a.dep -c a.c", Some("a.dep")),
            ("-c a.c -o a.o", None),
        ] {
            assert_eq!(
                own_list(&arguments(call)),
                list.map(PathBuf::from),
                "{call}"
            );
        }
        let all = with_all_headers(&arguments("-MMD -Wp,-MMD,x -MF y"));
        assert_eq!(all, arguments("-MD -Wp,-MD,x -MF y"));
    }

    #[test]
    fn only_headers_from_outside_are_kept_and_each_once() {
        let room = tempfile::tempdir().expect("there is room");
        let (work, other) = (room.path().join("work"), room.path().join("a b.h"));
        let folder = work.join("compilers");
        fs::create_dir_all(&folder).expect("there is room");
        let own = work.join("tree.h");
        for file in [&other, &own] {
            fs::write(file, "").expect("there is room");
        }
        let named = other.to_string_lossy().replace(' ', "\\ ");
        for _ in 0..2 {
            let report = Report::of_gcc(&folder, &[]);
            let rule = format!("a.o: {named} \\\n {}\n", own.display());
            fs::write(&report.file, rule).expect("there is room");
            report.told(1).take_in(&folder).expect("there is room");
        }
        let kept = fs::read_to_string(outside(&folder)).expect("it was written");
        assert_eq!(kept, format!("{}\n", other.display()));
    }

    #[test]
    fn where_links_lead_decides_what_is_outside() {
        let room = tempfile::tempdir().expect("there is room");
        let room = room.path().canonicalize().expect("it is there");
        let link = |to: &str, from: &str| {
            std::os::unix::fs::symlink(room.join(to), room.join(from)).expect("there is room");
        };
        for folder in ["work/compilers", "other"] {
            fs::create_dir_all(room.join(folder)).expect("there is room");
        }
        for file in ["work/own.h", "other/a.h"] {
            fs::write(room.join(file), "").expect("there is room");
        }
        link("work", "moved");
        link("other", "work/ext");
        // By either name of the workshop; compilers may call its files by its real one.
        for (root, names) in [
            ("work", &["work/own.h", "work/ext/a.h"][..]),
            ("moved", &["work/own.h", "moved/own.h", "work/ext/a.h"]),
        ] {
            let folder = room.join(root).join("compilers");
            let _ = fs::remove_file(outside(&folder));
            let told = Told {
                paths: names.iter().map(|name| room.join(name)).collect(),
                is_whole: true,
            };
            told.take_in(&folder).expect("there is room");
            let kept = fs::read_to_string(outside(&folder)).expect("it was written");
            let through_link = format!("{}\n", room.join("work/ext/a.h").display());
            assert_eq!(kept, through_link, "{root}");
        }
    }

    #[test]
    fn odd_names_are_read_as_compilers_write_them() {
        assert_eq!(
            words("a.o: d\\ e/q\"u$$\\#.h \\\n b.h\n"),
            ["d e/q\"u$#.h", "b.h"]
        );
        assert_eq!(lines("./d e/q\\\"u$#.h\nb.h\n"), ["./d e/q\"u$#.h", "b.h"]);
    }

    #[test]
    fn a_list_of_several_sources_is_not_whole() {
        let room = tempfile::tempdir().expect("there is room");
        let folder = room.path().join("compilers");
        let list = room.path().join("p.d");
        fs::write(&list, "p: b.c b.h\n").expect("there is room");
        let mut given = arguments("-MD -o p a.c b.c -MF");
        given.push(list.into());
        for (sources, is_whole) in [(1, true), (2, false)] {
            let told = Report::of_gcc(&folder, &given).told(sources);
            assert_eq!(told.is_whole, is_whole, "{sources}");
        }
        assert!(!Report::of_gcc(&folder, &[]).told(1).is_whole);
        assert!(!Report::of_clang(&folder).told(1).is_whole);
    }
}
