//! Objects that need not be compiled again where everything is built anew: the compiler says what it would read, and an earlier one
//! was made of the same by the same call.
//!
//! What was built before is set aside, with a note for each object: over the call, and over the content of all that it read. A call
//! asks the preprocessor for the headers of now, which finds whatever came or went; if the note is the same, the object is taken
//! over. A call that may read or write something else is made.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::{only_source, products};
use super::headers::{Report, Told};
use super::inputs::{self, Mark, Place, Surroundings, looks};
use crate::digest::{self, Digest};

/// What was built before, beside what is built now.
const BEFORE: &str = "before";
const NOTES: &str = "notes";

/// Sets aside what was built in some folders of the workshop, as far as it can be taken over.
pub fn set_aside(compilers: &Path, folders: &[&Path]) -> io::Result<()> {
    forget(compilers)?;
    let (Some(before), Some(root)) = (before(compilers), compilers.parent()) else {
        return Ok(());
    };
    let notes = inputs::newest(compilers).unwrap_or_default();
    let mut kept = Vec::new();
    for (_, note) in notes.into_values() {
        let (Some(mark), Some(made)) = (note.kept, &note.made) else {
            continue;
        };
        let path = made.below(root);
        let is_ours = folders.iter().any(|folder| path.starts_with(folder));
        if is_ours && looks(&path) == Some(mark.looks) {
            let bytes = postcard::to_stdvec(&(made, mark)).map_err(io::Error::other)?;
            kept.push((note_of(&before, made), bytes));
        }
    }
    if kept.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(before.join(NOTES))?;
    for (file, bytes) in kept {
        fs::write(file, bytes)?;
    }
    for folder in folders {
        let name = folder.file_name().unwrap_or_default();
        fs::rename(folder, before.join(name))?;
    }
    Ok(())
}

/// What was set aside is of no more use.
pub fn forget(compilers: &Path) -> io::Result<()> {
    match before(compilers).map(fs::remove_dir_all) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a folder is that of what was set aside.
#[must_use]
pub fn is_aside(folder: &Path) -> bool {
    folder.ends_with(BEFORE)
}

fn before(compilers: &Path) -> Option<PathBuf> {
    compilers.parent().map(|root| root.join(BEFORE))
}

fn note_of(before: &Path, made: &Place) -> PathBuf {
    let name = digest::bytes(made.as_bytes());
    before.join(NOTES).join(format!("{name:016x}"))
}

/// A call that makes one object of one source and does nothing else.
pub(super) struct Call<'a> {
    /// By its path.
    compiler: &'a Path,
    arguments: &'a [OsString],
    is_plus: bool,
}

impl<'a> Call<'a> {
    /// Nothing, if it may do something else.
    pub(super) fn plain(
        compiler: &'a Path,
        arguments: &'a [OsString],
        is_plus: bool,
    ) -> Option<Self> {
        is_plain(arguments).then_some(Call {
            compiler,
            arguments,
            is_plus,
        })
    }

    /// Puts the object of an earlier build in its place, if a preprocessor tells that it would be made of the same; answers what that
    /// read, and the digest over it.
    pub(super) fn take_over(
        &self,
        folder: &Path,
        report: &Report,
        preprocess: impl FnOnce(&[OsString]) -> Command,
    ) -> Option<(Told, u64)> {
        let before = before(folder)?;
        let mut workshop = Surroundings::of(folder);
        let [made] = &products(self.arguments)[..] else {
            return None;
        };
        let place = workshop.made(made);
        let note = fs::read(note_of(&before, &place)).ok()?;
        let (noted, mark): (Place, Mark) = postcard::from_bytes(&note).ok()?;
        let is_silent = is_silent(preprocess(&self.only_preprocessing()));
        let told = report.told(1);
        let is_same = is_silent && noted == place && self.digest(folder, &told) == Some(mark.call);
        is_same.then(|| put(&place.below(&before), made))?.ok()?;
        Some((told, mark.call))
    }

    /// The arguments with which the same call only preprocesses.
    fn only_preprocessing(&self) -> Vec<OsString> {
        let mut words = self.arguments.to_vec();
        let made = words.iter().position(|word| word == "-o");
        if let Some(made) = made.and_then(|at| words.get_mut(at + 1)) {
            *made = "/dev/null".into();
        }
        words.push("-E".into());
        words
    }

    /// Over all that decides what is made; nothing, if something may that nobody tells of.
    pub(super) fn digest(&self, folder: &Path, told: &Told) -> Option<u64> {
        let workshop = Surroundings::of(folder);
        let source = Path::new(only_source(self.arguments)?);
        let mut digest = Digest::new();
        digest.absorb(workshop.digest(self.arguments));
        digest.absorb(u64::from(self.is_plus));
        digest.absorb_bytes(workshop.here().as_bytes());
        digest.absorb(looks(self.compiler)?);
        for name in VARIABLES {
            let value = std::env::var_os(name).unwrap_or_default();
            let text = small(value.as_encoded_bytes());
            if asks_more(&text) || reads_more(&text) {
                return None;
            }
            digest.absorb_bytes(value.as_encoded_bytes());
        }
        for word in self.arguments {
            let word = small(word.as_encoded_bytes());
            if asks_more(&word) || reads_more(&word) || word.contains(HAS_INCLUDE) {
                return None;
            }
        }
        let mut files: Vec<&Path> = told.paths.iter().map(PathBuf::as_path).collect();
        files.push(source);
        files.sort();
        files.dedup();
        // Headers for which others ask, beside them and on the search path.
        let (mut asked, mut found) = (BTreeSet::new(), BTreeSet::new());
        for file in files.iter().filter(|_| told.is_whole) {
            let content = fs::read(file).ok()?;
            let text = small(&content);
            if reads_more(&text) {
                return None;
            }
            let (names, is_clear) = match text.contains(HAS_INCLUDE) {
                true => asked_for(&content),
                false => (Vec::new(), true),
            };
            if (!is_clear || asks_more(&text)) && workshop.holds(file) {
                return None;
            }
            let folder = file.parent().unwrap_or(file);
            asked.extend(
                names
                    .iter()
                    .map(|name| folder.join(OsStr::from_bytes(name))),
            );
            found.extend(names.into_iter().map(<[u8]>::to_vec));
            digest.absorb_bytes(workshop.place(file).as_bytes());
            let content = digest::content(&content);
            digest.absorb(content as u64);
            digest.absorb((content >> 64) as u64);
        }
        for folder in self.search_path() {
            asked.extend(
                found
                    .iter()
                    .map(|name| folder.join(OsStr::from_bytes(name))),
            );
        }
        for path in asked {
            digest.absorb(u64::from(path.exists()));
        }
        told.is_whole.then(|| digest.finish())
    }

    /// The folders in which headers are looked for, as far as the call tells.
    fn search_path(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for name in &VARIABLES[..4] {
            let value = std::env::var_os(name).unwrap_or_default();
            folders.extend(std::env::split_paths(&value));
        }
        let options = ["-I", "-isystem", "-iquote", "-idirafter"];
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            let text = word.as_encoded_bytes();
            let option = options
                .iter()
                .find_map(|option| text.strip_prefix(option.as_bytes()));
            match option {
                Some(b"") => folders.extend(words.next().map(PathBuf::from)),
                Some(joined) => folders.push(OsStr::from_bytes(joined).into()),
                None => {}
            }
        }
        folders
    }
}

/// Puts a copy in a place at once, as compilers do: what was there before may have other names.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    let mut beside = to.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let done = fs::copy(from, &beside).and_then(|_| fs::rename(&beside, to));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// By which compilers are told more than by their arguments.
const VARIABLES: [&str; 12] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "SOURCE_DATE_EPOCH",
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CLANG_CONFIG_FILE_SYSTEM_DIR",
    "SDKROOT",
    "LANG",
    "LC_ALL",
];

const HAS_INCLUDE: &str = "__has_include";

/// A text in small letters: assemblers take either. Every header of every call is looked through, and this is how that is fast.
fn small(content: &[u8]) -> String {
    String::from_utf8_lossy(content).to_ascii_lowercase()
}

/// Whether a text in small letters may ask for more than for headers: what is in other files, or what time it is.
fn asks_more(text: &str) -> bool {
    let words = ["__has_embed", "__date__", "__time__", "__timestamp__"];
    let is_directive = |at: usize| {
        let before = text[..at].trim_end();
        before.ends_with('#') || before.ends_with("%:")
    };
    words.iter().any(|word| text.contains(word))
        || text.contains("embed") && text.match_indices("embed").any(|(at, _)| is_directive(at))
}

/// Whether an assembler may read more for what is in a text in small letters.
fn reads_more(text: &str) -> bool {
    text.contains("incbin") || text.contains(".include")
}

/// The headers for which a text asks whether they are there, by their names, and whether these are all.
fn asked_for(content: &[u8]) -> (Vec<&[u8]>, bool) {
    let word = HAS_INCLUDE.as_bytes();
    let (mut names, mut is_clear) = (Vec::new(), true);
    let places = content.windows(word.len()).enumerate();
    for (at, _) in places.filter(|(_, part)| *part == word) {
        let behind = &content[at + word.len()..];
        let behind = behind.strip_prefix(b"_next").unwrap_or(behind);
        let behind = behind.trim_ascii_start();
        let Some(operand) = behind.strip_prefix(b"(") else {
            // Who asks whether one can ask; but another name for it may be used anywhere.
            let before = content[..at].trim_ascii_end();
            let before = before.strip_suffix(b"(").unwrap_or(before).trim_ascii_end();
            let asks = [&b"defined"[..], b"ifdef", b"ifndef"];
            is_clear &= asks.iter().any(|asks| before.ends_with(asks));
            continue;
        };
        let operand = operand.trim_ascii_start();
        let end = match operand.first() {
            Some(b'<') => b'>',
            Some(b'"') => b'"',
            _ => {
                is_clear = false;
                continue;
            }
        };
        names.extend(operand[1..].split(|byte| *byte == end).next());
    }
    (names, is_clear)
}

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
fn is_plain(arguments: &[OsString]) -> bool {
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

/// Whether a preprocessor succeeds, without a word.
fn is_silent(mut command: Command) -> bool {
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    output.is_ok_and(|output| output.status.success() && output.stderr.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
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

    #[test]
    fn a_preprocessor_writes_no_object() {
        let given = words("-c a.c -o a.o");
        let call = Call::plain(Path::new("clang"), &given, false).expect("it is plain");
        assert_eq!(call.only_preprocessing(), words("-c a.c -o /dev/null -E"));
    }

    #[test]
    fn files_that_may_ask_or_read_more_are_known() {
        for more in [
            "puts(__DATE__);",
            "puts(__TIMESTAMP__);",
            "#embed \"x\"",
            "a\n #\tembed <x>",
        ] {
            assert!(asks_more(&small(more.as_bytes())), "{more}");
        }
        assert!(!asks_more(&small(b"int time(void); /* DATE, embedded */")));
        assert!(reads_more(&small(b".INCBIN \"x\"")));
        assert!(reads_more(&small(b"asm(\".incbin \\\"x\\\"\");")));
        assert!(!reads_more(&small(b"#include <x.h>")));
        let text = b"#if defined(__has_include) && __has_include(<a/b.h>) || __has_include_next( \"c.h\" )";
        assert_eq!(asked_for(text), (vec![&b"a/b.h"[..], b"c.h"], true));
        for text in [
            "__has_include(X)",
            "#define HAS __has_include\n",
            "#define H(x) __has_include(x)",
        ] {
            assert!(!asked_for(text.as_bytes()).1, "{text}");
        }
    }
}
