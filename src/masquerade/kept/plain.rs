//! Which calls of a compiler make one object of one source, and do nothing else.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::super::arguments::only_source;

/// Options that stand alone.
const ALONE: [&str; 37] = [
    "-c",
    "-w",
    "-g",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "-ggdb",
    "-ggdb3",
    "-gdwarf-4",
    "-gdwarf-5",
    "-ansi",
    "-pipe",
    "-pthread",
    "-pedantic",
    "-pedantic-errors",
    "-MD",
    "-MMD",
    "-MP",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fcommon",
    "-fwrapv",
    "-fexceptions",
    "-frtti",
    "-fomit-frame-pointer",
    "-ffunction-sections",
    "-fdata-sections",
    "-fdiagnostics-color",
    "-fcolor-diagnostics",
    "-fsigned-char",
    "-funsigned-char",
    "-fstrict-aliasing",
    "-fvisibility-inlines-hidden",
    "-ffast-math",
];
/// Those that something follows, in the same word or, for those of the second list, in the next.
const JOINED: [&str; 12] = [
    "-D",
    "-U",
    "-I",
    "-W",
    "-O",
    "-m",
    "-std=",
    "-isystem",
    "-fno-",
    "-fvisibility=",
    "-fdiagnostics-color=",
    "-fstack-protector",
];
const FOLLOWED: [&str; 10] = [
    "-D",
    "-U",
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-o",
    "-MT",
    "-MQ",
    "-MF",
];
/// Words that begin like these and are for others than the compiler, or bring something along.
const OTHERS: [&str; 4] = ["-Wp,", "-Wa,", "-Wl,", "-mllvm"];

/// Whether a call compiles one source to one object, with options of which we know that they do nothing else.
pub(super) fn is_plain(arguments: &[OsString]) -> bool {
    let Some(source) = only_source(arguments).filter(|source| is_text(source)) else {
        return false;
    };
    let mut words = arguments.iter();
    let mut found = BTreeSet::new();
    while let Some(argument) = words.next() {
        let Some(word) = argument.to_str() else {
            return false;
        };
        if FOLLOWED.contains(&word) {
            found.insert(word);
            if words.next().is_none_or(|value| value == source) {
                return false;
            }
            continue;
        }
        let is_known = ALONE.contains(&word)
            || JOINED.iter().any(|option| word.starts_with(option))
                && !OTHERS.iter().any(|option| word.starts_with(option));
        if !is_known && argument != source {
            return false;
        }
        if ALONE.contains(&word) {
            found.insert(word);
        }
    }
    // A list of dependencies names its target after the product, if nothing else is said.
    let has = |option: &str| found.contains(option);
    let is_listed = has("-MD") || has("-MMD");
    has("-c") && has("-o") && (!is_listed || has("-MF") && (has("-MT") || has("-MQ")))
}

/// Whether a source is C or C++ as people write it.
fn is_text(source: &OsStr) -> bool {
    let extension = Path::new(source).extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| extension != "i")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::words;
    use super::*;

    #[test]
    fn calls_that_may_do_more_are_known() {
        for plain in [
            "-c a.c -o a.o",
            "-DX=1 -D Y -I../i -isystem /i -O2 -g -Wall -std=gnu99 -fPIC -MD -MT a.o -MF a.d -o d/a.o -c /s/a.c",
            "-std=c++17 -o a.o -c a.cpp",
        ] {
            assert!(is_plain(&words(plain)), "{plain}");
        }
        for other in [
            "a.c -o a",
            "-c a.c",
            "-c a.c b.c -o a.o",
            "-c a.i -o a.o",
            "-c a.S -o a.o",
            "-c a.c -o a.o -MD",
            "-c a.c -o a.o -MD -MF a.d",
            "-c a.c -o a.o -include x.h",
            "-c a.c -o a.o -gsplit-dwarf",
            "-c a.c -o a.o -save-temps",
            "-c a.c -o a.o -Wa,-adhln=a.s",
            "-c a.c -o a.o -Wp,-MD,a.d",
            "-c a.c -o a.o -mllvm -x",
            "-c a.c -o a.o -fprofile-use=p",
            "-c a.c -o a.o -fplugin=x.so",
            "-c a.c -o a.o @more",
            "-c a.c -o a.o -x c",
            "-c a.c -o",
        ] {
            assert!(!is_plain(&words(other)), "{other}");
        }
    }
}
