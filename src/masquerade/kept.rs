//! Objects that need not be compiled again where everything is built anew: they would be made of the same by the same call.
//!
//! What was built before is set aside, with a note for each object: over the call, over the content of all that it read, and over
//! what lies where a compiler looks for headers. If all that is as it was, the object is taken over. If there is more or less where it
//! looks, or nobody can tell where that is, the preprocessor is asked what it would read now. A call that may read or write something
//! else is made.

mod plain;
mod same;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use self::plain::is_plain;
pub(super) use self::same::Same;
use super::arguments::products;
use super::headers::{Report, Told};
use super::surroundings::{Place, Surroundings, looks};
use crate::digest;

/// What was built before, beside what is built now.
const BEFORE: &str = "before";
const NOTES: &str = "notes";

/// What is known of an object.
#[derive(Serialize, Deserialize)]
struct Note {
    made: Place,
    /// How it looked when it was made, and when it was last written to: who changes it in place may set its time back.
    looks: (u64, i64, i64),
    same: Same,
    /// All that was read for it.
    read: Vec<Place>,
    /// The list of that for make, if the call writes one.
    list: Option<Vec<u8>>,
}

/// Sets aside what was built in some folders of the workshop, as far as it can be taken over.
pub fn set_aside(compilers: &Path, folders: &[&Path]) -> io::Result<()> {
    forget(compilers)?;
    let notes = notes(compilers);
    let Some(before) = before(compilers).filter(|_| notes.exists()) else {
        return Ok(());
    };
    fs::create_dir_all(&before)?;
    fs::rename(notes, before.join(NOTES))?;
    for folder in folders {
        let name = folder.file_name().unwrap_or_default();
        fs::rename(folder, before.join(name))?;
    }
    Ok(())
}

/// What was set aside is of no more use.
pub fn forget(compilers: &Path) -> io::Result<()> {
    before(compilers).map_or(Ok(()), |before| remove(&before))
}

/// Nothing that was made is of use any more.
pub fn forget_all(compilers: &Path) -> io::Result<()> {
    forget(compilers)?;
    remove(&notes(compilers))
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
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

/// The notes of what is built now.
fn notes(compilers: &Path) -> PathBuf {
    compilers.with_extension("kept")
}

fn note_in(folder: &Path, made: &Place) -> PathBuf {
    let name = digest::bytes(made.as_bytes());
    folder.join(format!("{name:016x}"))
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

    /// Puts the object of an earlier build in its place, if it would be made of the same; answers what that is. A preprocessor is
    /// asked where the note does not tell.
    pub(super) fn take_over(
        &self,
        folder: &Path,
        report: &Report,
        preprocess: impl FnOnce(&[OsString]) -> Command,
    ) -> Option<(Told, Same)> {
        let before = before(folder)?;
        let mut workshop = Surroundings::of(folder);
        let [made] = &products(self.arguments)[..] else {
            return None;
        };
        let place = workshop.made(made);
        let note = fs::read(note_in(&before.join(NOTES), &place)).ok()?;
        let note: Note = postcard::from_bytes(&note).ok()?;
        let kept = place.below(&before);
        if note.made != place || looks_of(&kept) != Some(note.looks) {
            return None;
        }
        let told = workshop.told(&note.read);
        let same = self.same(folder, &told)?;
        // If what was read is another by now, so is whatever is read now.
        if same.call != note.same.call {
            return None;
        }
        if note.same.is_found() && same == note.same {
            if let (Some(file), Some(list)) = (self.list(), note.list) {
                fs::write(file, list).ok()?;
            }
            put(&kept, made).ok()?;
            return Some((told, note.same));
        }
        let is_silent = is_silent(preprocess(&self.only_preprocessing()));
        let told = report.told(1);
        let same = self.same(folder, &told).filter(|_| is_silent)?;
        if same.call != note.same.call {
            return None;
        }
        put(&kept, made).ok()?;
        Some((told, same))
    }

    /// Notes what was made of what, so that it can be taken over.
    pub(super) fn note(&self, folder: &Path, told: &Told, same: Same) -> io::Result<()> {
        let mut workshop = Surroundings::of(folder);
        let products = products(self.arguments);
        let made = products.first().filter(|made| {
            let real = workshop.real_file(made);
            workshop.has(&real)
        });
        let Some((made, looks)) = made.and_then(|made| Some((made, looks_of(made)?))) else {
            return Ok(());
        };
        let list = match self.list().map(fs::read) {
            Some(Err(_)) => return Ok(()),
            list => list.and_then(Result::ok),
        };
        let note = Note {
            made: workshop.made(made),
            looks,
            same,
            read: told.paths.iter().map(|path| workshop.place(path)).collect(),
            list,
        };
        let bytes = postcard::to_stdvec(&note).map_err(io::Error::other)?;
        let notes = notes(folder);
        fs::create_dir_all(&notes)?;
        at_once(&note_in(&notes, &note.made), |file| fs::write(file, bytes))
    }

    /// Where the call writes for make what it read.
    fn list(&self) -> Option<&Path> {
        let at = self.arguments.iter().position(|word| word == "-MF")?;
        self.arguments.get(at + 1).map(Path::new)
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
}

fn looks_of(object: &Path) -> Option<(u64, i64, i64)> {
    let metadata = fs::metadata(object).ok()?;
    Some((looks(object)?, metadata.ctime(), metadata.ctime_nsec()))
}

/// Puts a copy in a place, as a file of its own: what was there before may have other names.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    at_once(to, |beside| fs::copy(from, beside).map(|_| ()))
}

/// Makes a file that is there as a whole or not at all.
fn at_once(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let done = make(&beside).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
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
    fn a_preprocessor_writes_no_object() {
        let given = words("-c a.c -o a.o");
        let call = Call::plain(Path::new("clang"), &given, false).expect("it is plain");
        assert_eq!(call.only_preprocessing(), words("-c a.c -o /dev/null -E"));
    }
}
