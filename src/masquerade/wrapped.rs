//! Where a linker is told to put another function in front of one of the C library (`--wrap`), as tests with mocks are linked, what
//! counts goes on calling the library's own: a mock that notes each call would see those of the counters, or be called too early.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::on_path;
use super::surroundings::looks;
use crate::digest::Digest;

/// The program that renames what an object asks for; it comes with the linker of GNU.
const OBJCOPY: &str = "objcopy";
/// What counts with gcc calls these in the name of the program, whose own calls go through it.
const FOR_THE_PROGRAM: [&str; 4] = ["fork", "execv", "execve", "execvp"];
const OF_CLANG: &str = "libclang_rt.profile";
const OF_GCC: &str = "-lgcov";

/// The words of a linker that is told to wrap functions, with copies of what counts; nothing, if they may stay as they are.
pub(super) fn apart(words: &[OsString], folder: &Path) -> Option<Vec<OsString>> {
    let functions = wrapped(words);
    if functions.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let objcopy = on_path(OBJCOPY.as_ref(), &path)?;
    let changed = words.iter().map(|word| {
        let copied = counting(word, words, folder)
            .and_then(|file| copy(&file, &functions, &objcopy, folder));
        copied.map_or_else(|| word.clone(), Into::into)
    });
    Some(changed.collect())
}

/// The functions that are wrapped.
fn wrapped(words: &[OsString]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        match word {
            "--wrap" | "-wrap" => found.extend(words.next()),
            other => {
                let value = other.strip_prefix("--wrap=");
                found.extend(value.or_else(|| other.strip_prefix("-wrap=")));
            }
        }
    }
    found.retain(|function| !FOR_THE_PROGRAM.contains(function));
    found.sort_unstable();
    found.dedup();
    found
}

/// The file that a word brings in, if that counts or tells of what does: the compiler's runtime, or the object that we add.
fn counting(word: &OsStr, words: &[OsString], folder: &Path) -> Option<PathBuf> {
    let file = Path::new(word);
    let name = file.file_name()?.to_str()?;
    let is_ours = file.parent() == Some(folder) && name.ends_with(".o");
    if is_ours || name.starts_with(OF_CLANG) && name.ends_with(".a") {
        return Some(file.to_owned());
    }
    if word != OF_GCC {
        return None;
    }
    let folders = words
        .iter()
        .filter_map(|word| word.to_str()?.strip_prefix("-L"));
    let mut places = folders.map(|folder| Path::new(folder).join("libgcov.a"));
    places.find(|place| place.is_file())
}

/// A copy that calls these functions by the names under which they are not wrapped. Nothing, if it cannot be made.
fn copy(file: &Path, functions: &[&str], objcopy: &Path, folder: &Path) -> Option<PathBuf> {
    let mut digest = Digest::new();
    digest.absorb_bytes(file.as_os_str().as_encoded_bytes());
    digest.absorb(looks(file)?);
    functions
        .iter()
        .for_each(|name| digest.absorb_bytes(name.as_bytes()));
    let ending = file.extension()?.to_str()?;
    let copy = folder.join(format!("apart-{:016x}.{ending}", digest.finish()));
    if copy.is_file() {
        return Some(copy);
    }
    // Several calls at once may all make it: each under a name of its own.
    let own = copy.with_extension(std::process::id().to_string());
    let renamed = functions
        .iter()
        .flat_map(|name| ["--redefine-sym".to_owned(), format!("{name}=__real_{name}")]);
    let mut call = Command::new(objcopy);
    call.args(renamed).arg(file).arg(&own);
    let made = call.stdin(Stdio::null()).stderr(Stdio::null()).status();
    let is_made = made.is_ok_and(|status| status.success());
    (is_made && fs::rename(&own, &copy).is_ok()).then_some(copy)
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::*;

    #[test]
    fn functions_are_wrapped_however_it_is_said() {
        let words = words("a.o --wrap=open -o p --wrap getenv -wrap open --wrapper=x --wrap=fork");
        assert_eq!(wrapped(&words), ["getenv", "open"]);
    }

    #[test]
    fn only_what_counts_is_told_apart() {
        let room = tempfile::tempdir().expect("there is room");
        fs::write(room.path().join("libgcov.a"), "").expect("there is room");
        let text = format!("a.o -L/nowhere -L{} -lgcov", room.path().display());
        let words = words(&text);
        let found = |word: &str| counting(word.as_ref(), &words, Path::new("/masquerade"));
        assert_eq!(found("-lgcov"), Some(room.path().join("libgcov.a")));
        for own in [
            "/masquerade/added-1.o",
            "/usr/lib/libclang_rt.profile-x86_64.a",
        ] {
            assert_eq!(found(own), Some(own.into()));
        }
        for other in ["a.o", "/elsewhere/added-1.o", "libm.a", "-lm"] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
