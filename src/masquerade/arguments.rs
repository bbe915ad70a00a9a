//! The arguments of compilers: what a call is for, and what has to be said in another way.

use std::ffi::{OsStr, OsString};
use std::path::Path;

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
    let known = ["c", "cc", "cpp", "cxx", "C", "i"];
    !argument.as_encoded_bytes().starts_with(b"-")
        && extension.is_some_and(|own| known.iter().any(|known| own == *known))
}

/// Whether a call compiles headers in advance.
pub(super) fn compiles_headers(arguments: &[OsString]) -> bool {
    let words = arguments.iter().map(|argument| argument.to_string_lossy());
    let is_header = |word: &str| !word.starts_with('-') && word.ends_with(".h");
    let is_other = |word: &str| word == "-include" || is_source(OsStr::new(word));
    words.clone().any(|word| word.ends_with("-header"))
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
    fn headers_that_are_compiled_in_advance_are_known() {
        for call in [
            "pre.h",
            "-O2 -x c-header pre -o pre.pch",
            "-o d/pre.h.gch pre.h",
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
}
