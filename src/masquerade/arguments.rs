//! The arguments of compilers: what a call is for, and what has to be said in another way.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::lang::cplusplus;

/// Whether a call compiles or links; questions to the compiler and mere preprocessing are passed on as they are.
pub(super) fn counts(arguments: &[OsString]) -> bool {
    let has = |wanted: &dyn Fn(&str) -> bool| {
        arguments
            .iter()
            .any(|argument| argument.to_str().is_some_and(wanted))
    };
    let asks = |word: &str| {
        matches!(
            word,
            "-E" | "-M" | "-MM" | "-fsyntax-only" | "--help" | "-###"
        ) || word.starts_with("-print")
            || word.starts_with("-dump")
            || word.starts_with("--version")
            || word.starts_with("--print")
    };
    has(&|word| !word.starts_with('-')) && !has(&asks)
}

pub(super) fn is_source(argument: &OsStr) -> bool {
    let extension = Path::new(argument).extension();
    let is_known = |own: &OsStr| {
        let mut known = ["c", "i"].iter().chain(&cplusplus::SOURCES);
        known.any(|known| own == *known)
    };
    !argument.as_encoded_bytes().starts_with(b"-") && extension.is_some_and(is_known)
}

/// Whether a call compiles headers in advance.
pub(super) fn compiles_headers(arguments: &[OsString]) -> bool {
    let words = arguments.iter().map(|argument| argument.to_string_lossy());
    let is_header = |word: &str| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        !word.starts_with('-') && (ending == "h" || cplusplus::HEADERS.contains(&ending))
    };
    let is_other = |word: &str| word == "-include" || is_source(OsStr::new(word));
    let is_told = |word: &str| word.ends_with("-header") || word == "-emit-pch";
    words.clone().any(|word| is_told(&word))
        || words.clone().any(|word| is_header(&word)) && !words.clone().any(|word| is_other(&word))
}

/// The source of a call that compiles just one.
pub(super) fn only_source(arguments: &[OsString]) -> Option<&OsString> {
    let mut sources = arguments.iter().filter(|argument| is_source(argument));
    sources.next().filter(|_| sources.next().is_none())
}

/// The options without those that write other paths into maps, by which nobody would find the sources.
pub(super) fn with_real_paths(arguments: &[OsString]) -> Vec<OsString> {
    let mut real = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let option = argument.to_str().and_then(|option| option.split_once('='));
        let others: &[&str] = match option.map(|(option, _)| option) {
            Some("-ffile-prefix-map") => &["-fmacro-prefix-map", "-fdebug-prefix-map"],
            Some("-ffile-compilation-dir") => &["-fdebug-compilation-dir"],
            Some(
                "-fcoverage-prefix-map" | "-fprofile-prefix-map" | "-fcoverage-compilation-dir",
            ) => &[],
            _ => {
                real.push(argument.clone());
                continue;
            }
        };
        let value = option.map_or("", |(_, value)| value);
        let others = others.iter().map(|other| format!("{other}={value}").into());
        real.extend(others);
    }
    real
}

/// The options without those that take the symbols away, by which what has no counters is known.
pub(super) fn with_symbols(arguments: &[OsString]) -> Vec<OsString> {
    let takes_away = |word: &str| matches!(word, "-s" | "--strip-all" | "-x" | "--discard-all");
    let keep = |argument: &OsString| {
        let Some(list) = argument.to_str().and_then(|word| word.strip_prefix("-Wl,")) else {
            return (argument != "-s").then(|| argument.clone());
        };
        let kept: Vec<&str> = list.split(',').filter(|word| !takes_away(word)).collect();
        (!kept.is_empty()).then(|| format!("-Wl,{}", kept.join(",")).into())
    };
    arguments.iter().filter_map(keep).collect()
}

/// Sources by their absolute paths: maps name files as the compiler was given them.
pub(super) fn absolute(arguments: &[OsString]) -> Vec<OsString> {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut takes_value = false;
    arguments
        .iter()
        .map(|argument| {
            let is_value = std::mem::replace(
                &mut takes_value,
                matches!(
                    argument.to_str(),
                    Some(
                        "-o" | "-I"
                            | "-include"
                            | "-isystem"
                            | "-MF"
                            | "-MT"
                            | "-MQ"
                            | "-x"
                            | "-D"
                            | "-U"
                            | "-L"
                            | "-Xlinker"
                            | "-Xclang"
                            | "-iquote"
                            | "-idirafter"
                            | "-imacros"
                            | "-mllvm"
                    )
                ),
            );
            if !is_value && is_source(argument) && Path::new(argument).is_relative() {
                folder.join(argument).into_os_string()
            } else {
                argument.clone()
            }
        })
        .collect()
}

/// How deep files of arguments may name each other.
const DEPTH: usize = 8;

/// The arguments with those that stand in files, which builds and compilers use where there are many.
pub(super) fn expanded(given: &[OsString]) -> Vec<OsString> {
    fn add(words: &mut Vec<OsString>, word: &OsStr, depth: usize) {
        let file = word.to_str().and_then(|word| word.strip_prefix('@'));
        match file.filter(|_| depth < DEPTH).map(fs::read_to_string) {
            Some(Ok(text)) => split(&text)
                .iter()
                .for_each(|word| add(words, word.as_ref(), depth + 1)),
            _ => words.push(word.to_owned()),
        }
    }
    let mut words = Vec::new();
    given.iter().for_each(|word| add(&mut words, word, 0));
    words
}

/// The words of such a file: quotes hold them together, and a backslash keeps the next letter as it is.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Whether a file is a source with headers of its own.
pub(super) fn is_preprocessed_source(argument: &OsStr) -> bool {
    let extension = Path::new(argument).extension();
    let extension = extension.and_then(OsStr::to_str).unwrap_or_default();
    is_source(argument) && extension != "i"
        || !argument.as_encoded_bytes().starts_with(b"-") && matches!(extension, "S" | "sx")
}

/// Whether a call reads headers, so that it has something to tell.
pub(super) fn is_preprocessed(arguments: &[OsString]) -> bool {
    let apart = arguments.windows(2).filter(|pair| pair[0] == "-x");
    let apart = apart.filter_map(|pair| pair[1].to_str());
    let joined = arguments
        .iter()
        .filter_map(|word| word.to_str()?.strip_prefix("-x"));
    let mut languages = apart.chain(joined);
    languages.any(|language| !matches!(language, "" | "assembler" | "none"))
        || compiles_headers(arguments)
        || arguments.iter().any(|word| is_preprocessed_source(word))
}

/// Whether a call reads what no compiler tells of: a source that comes through a pipe, or modules.
pub(super) fn reads_more_than_told(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter();
    words.any(|word| word == "-" || word.as_encoded_bytes().starts_with(b"-fmodule"))
}

/// The files that a call makes, as far as its arguments tell.
pub(super) fn products(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut named = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.as_encoded_bytes();
        if word == "-o" || word == "--output" {
            named = words.next().map(PathBuf::from).or(named);
        } else if let Some(name) = text
            .strip_prefix(b"--output=")
            .or_else(|| text.strip_prefix(b"-o"))
        {
            named = Some(OsStr::from_bytes(name).into());
        }
    }
    if let Some(named) = named {
        return vec![named];
    }
    let has = |option: &str| arguments.iter().any(|word| word == option);
    let extension = match (has("-S"), has("-c")) {
        (true, _) => "s",
        (false, true) => "o",
        _ if compiles_headers(arguments) => {
            let gch = |mut path: PathBuf| {
                path.as_mut_os_string().push(".gch");
                path
            };
            return files_given(arguments).into_iter().map(gch).collect();
        }
        _ => return vec!["a.out".into()],
    };
    let sources = files_given(arguments).into_iter();
    let names = sources.filter_map(|source| Some(PathBuf::from(source.file_name()?)));
    names.map(|name| name.with_extension(extension)).collect()
}

/// The files that a call is given to read, without objects and libraries, which only the linker reads.
pub(super) fn files_given(arguments: &[OsString]) -> Vec<PathBuf> {
    let is_for_linker = |name: &[u8]| {
        [&b".o"[..], b".a", b".so", b".lo", b".la"]
            .iter()
            .any(|end| name.ends_with(end))
            || name.windows(4).any(|part| part == b".so.")
    };
    let mut files = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(
            word.to_str(),
            Some("-o" | "--output" | "-MF" | "-MT" | "-MQ" | "-D" | "-U" | "-x")
        ) {
            words.next();
            continue;
        }
        let path = Path::new(word);
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_for_linker = !is_source(word) && is_for_linker(name);
        if !word.as_encoded_bytes().starts_with(b"-") && !is_for_linker && path.is_file() {
            files.push(PathBuf::from(word));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::*;

    #[test]
    fn symbols_are_not_taken_away() {
        let given = words("-s -o p a.o -Wl,-s -Wl,-O1,--strip-all,-z,now -Wl,--gc-sections");
        let kept = words("-o p a.o -Wl,-O1,-z,now -Wl,--gc-sections");
        assert_eq!(with_symbols(&given), kept);
    }

    #[test]
    fn what_no_compiler_tells_of_is_known() {
        for call in [
            "-x c++ -c - -o a.o",
            "-fmodules -c a.cc",
            "-fmodules-ts -c a.cc",
        ] {
            assert!(reads_more_than_told(&words(call)), "{call}");
        }
        assert!(!reads_more_than_told(&words("-c a.cc -o a-b.o")));
    }

    #[test]
    fn what_reads_headers_is_told_by_its_ending_or_its_language() {
        for call in [
            "-c a.c++",
            "-c a.CPP",
            "-xc++ -c a.tpl",
            "-x c -c a.x",
            "-c a.S",
        ] {
            assert!(is_preprocessed(&words(call)), "{call}");
        }
        for call in ["-xassembler -c a.x", "-xnone a.o", "-c a.s", "-o p a.o"] {
            assert!(!is_preprocessed(&words(call)), "{call}");
        }
    }

    #[test]
    fn headers_that_are_compiled_in_advance_are_known() {
        for call in [
            "pre.h",
            "-O2 -x c-header pre -o pre.pch",
            "-o d/pre.h.gch pre.h",
            "pre.hpp",
            "-o pre.hh.gch pre.hh",
            "-Xclang -emit-pch -c -o pre.pch pre.cc",
        ] {
            assert!(compiles_headers(&words(call)), "{call}");
        }
        for call in [
            "-c a.c",
            "-include pre.h -o p a.o",
            "-include pre.h -c a.c",
            "-o p a.o",
        ] {
            assert!(!compiles_headers(&words(call)), "{call}");
        }
    }

    #[test]
    fn questions_are_not_counted() {
        for call in [
            "--version",
            "-E a.c",
            "-dumpversion",
            "-print-file-name=x a.c",
            "-v",
            "-MM a.c",
        ] {
            assert!(!counts(&words(call)), "{call}");
        }
        for call in ["-c a.c", "-o p a.o -lm", "-MD -c a.c"] {
            assert!(counts(&words(call)), "{call}");
        }
    }

    #[test]
    fn only_sources_become_absolute() {
        let folder = std::env::current_dir().expect("there is one");
        let made = absolute(&words("-c a.c -o b.c -Dx.c -I d.c /x/y.c a.o"));
        assert_eq!(made[1], folder.join("a.c").into_os_string());
        assert_eq!(made[2..], words("-o b.c -Dx.c -I d.c /x/y.c a.o"));
    }

    #[test]
    fn arguments_in_files_are_read_as_linkers_read_them() {
        assert_eq!(
            split("-o \"a b\" 'c\"d'\n e\\ f \"\" g"),
            ["-o", "a b", "c\"d", "e f", "", "g"]
        );
    }

    #[test]
    fn arguments_in_files_stand_for_themselves() {
        let room = tempfile::tempdir().expect("there is room");
        let file = |name: &str| format!("@{}", room.path().join(name).display());
        fs::write(room.path().join("one"), format!("-c {}", file("two"))).expect("there is room");
        fs::write(room.path().join("two"), "'a b.c'").expect("there is room");
        fs::write(room.path().join("ring"), file("ring")).expect("there is room");
        let given: Vec<OsString> = vec![file("one").into(), "-g".into()];
        assert_eq!(expanded(&given), ["-c", "a b.c", "-g"]);
        assert_eq!(expanded(&[file("ring").into()]), [file("ring").as_str()]);
        assert_eq!(expanded(&words("@none")), words("@none"));
    }

    #[test]
    fn what_a_call_makes_is_known_by_its_arguments() {
        let room = tempfile::tempdir().expect("there is room");
        for name in ["a.c", "b.S", "pre.h"] {
            fs::write(room.path().join(name), "").expect("there is room");
        }
        let root = format!("{}/", room.path().display());
        let header = format!("{root}pre.h.gch");
        for (call, made) in [
            ("-c ^a.c -o d/x.o", vec!["d/x.o"]),
            ("-od/x ^a.c", vec!["d/x"]),
            ("--output=x ^a.c", vec!["x"]),
            ("-c ^a.c ^b.S -MF ^pre.h", vec!["a.o", "b.o"]),
            ("-S ^a.c", vec!["a.s"]),
            ("^a.c -lm", vec!["a.out"]),
            ("^pre.h", vec![header.as_str()]),
        ] {
            let arguments = words(&call.replace('^', &root));
            let made: Vec<PathBuf> = made.into_iter().map(PathBuf::from).collect();
            assert_eq!(products(&arguments), made, "{call}");
        }
    }
}
