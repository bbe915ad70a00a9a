//! What each call of a compiler or a linker made, and what it read for that: so it can be told what a later build passed over.
//!
//! A call adds its notes with one write, because many run at once. Each note has its length and its digest in front, and the file
//! has a beginning of its own, so that what is torn or lost is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::arguments::{
    compiles_headers, files_given, is_preprocessed, products, reads_more_than_told,
};
use super::headers::Told;
use super::surroundings::{Place, Surroundings};
use crate::digest;

const BEGINNING: &[u8] = b"inputs 6\n";

/// Who made something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Maker {
    Compiler,
    Linker,
}

/// What one call made of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub by: Maker,
    /// Whether headers were compiled in advance: who uses them does not tell what they hold.
    pub is_header: bool,
    /// Nothing, if it cannot be told from the arguments.
    pub made: Option<Place>,
    /// The files that its arguments name.
    pub given: Vec<Place>,
    /// All that it read below the workshop, and how that looked; nothing, if it did not tell.
    pub read: Option<Vec<(Place, u64)>>,
    /// Over its arguments, wherever the workshop is.
    pub arguments: u64,
}

/// By what a note is known, and replaced by a newer one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    by: Maker,
    made: Option<Place>,
    given: Vec<Place>,
    arguments: u64,
}

impl Note {
    /// What is gone was renamed or went into something else: only the same call makes the same again. An object of other sources
    /// under the same name may have been copied before. Nothing, if the sources are gone, too: a trial of a configuration.
    fn key(&self, root: &Path) -> Option<Key> {
        let is_there = |place: &&Place| fs::symlink_metadata(place.below(root)).is_ok();
        let is_made = self.made.as_ref().is_some_and(|made| is_there(&made));
        let given = self.given.iter().filter(is_there).cloned();
        let given: Vec<Place> = match (self.by, is_made) {
            (Maker::Linker, true) => Vec::new(),
            _ => given.collect(),
        };
        let is_known = is_made || !given.is_empty();
        is_known.then(|| Key {
            by: self.by,
            made: self.made.clone(),
            given,
            arguments: if is_made { 0 } else { self.arguments },
        })
    }
}

/// The notes of the compilers and linkers in a folder.
#[must_use]
pub fn file(compilers: &Path) -> PathBuf {
    compilers.with_extension("inputs")
}

/// Nothing is made yet.
pub fn begin(compilers: &Path) -> io::Result<()> {
    fs::write(file(compilers), BEGINNING)
}

/// How long the list of notes is.
#[must_use]
pub fn length(compilers: &Path) -> u64 {
    fs::metadata(file(compilers)).map_or(0, |metadata| metadata.len())
}

/// The newest note of all that is still there, with the place where it ends; nothing, if some may be lost.
#[must_use]
pub fn newest(compilers: &Path) -> Option<BTreeMap<Key, (u64, Note)>> {
    let root = compilers.parent()?;
    let notes = read(&fs::read(file(compilers)).ok()?)?.into_iter();
    let known = notes.filter_map(|(end, note)| Some((note.key(root)?, (end, note))));
    Some(known.collect())
}

/// How a file was compiled by those who read nothing else below the workshop: over the arguments of their calls. Nothing, if somebody
/// read something else with it, or nobody is known.
#[must_use]
pub fn compiled_alone(
    compilers: &Path,
    notes: &BTreeMap<Key, (u64, Note)>,
    file: &Path,
) -> Option<u64> {
    let root = compilers.parent()?;
    let mut calls = BTreeSet::new();
    for (_, note) in notes
        .values()
        .filter(|(_, note)| note.by == Maker::Compiler)
    {
        let read = note.read.as_ref()?;
        if !read.iter().any(|(place, _)| place.below(root) == file) {
            continue;
        }
        if read.len() > 1 {
            return None;
        }
        calls.insert(note.arguments);
    }
    let mut digest = digest::Digest::new();
    calls.iter().for_each(|call| digest.absorb(*call));
    (!calls.is_empty()).then(|| digest.finish())
}

/// Whether something that is not there any more was made of files that still are: then it was no trial of a configuration. Where
/// notes may be lost, everything was.
#[must_use]
pub fn has_made(compilers: &Path, product: &Path) -> bool {
    let (Some(root), Some(notes)) = (compilers.parent(), newest(compilers)) else {
        return true;
    };
    let real = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.map(|folder| folder.join(path.file_name().unwrap_or_default()))
    };
    let wanted = real(product);
    let mut made = notes
        .values()
        .filter_map(|(_, note)| Some(note.made.as_ref()?.below(root)));
    made.any(|made| real(&made) == wanted)
}

/// Forgets what is older, so that the list does not grow with every build. A damaged list stays as it is, and is not believed.
pub fn keep_newest(compilers: &Path) -> io::Result<()> {
    keep(compilers, |_| true)
}

/// Forgets those whose product was taken away.
pub fn keep_made(compilers: &Path) -> io::Result<()> {
    keep(compilers, existing(compilers))
}

/// Forgets programs that were linked after the list was this long, are gone, and went into nothing else: tests make some for
/// themselves, which no build passes over.
pub fn forget_gone(compilers: &Path, before: u64) -> io::Result<()> {
    if length(compilers) == before {
        return Ok(());
    }
    let is_there = existing(compilers);
    let Some(notes) = read(&fs::read(file(compilers))?) else {
        return Ok(());
    };
    let read: BTreeSet<&Place> = notes
        .iter()
        .flat_map(|(_, note)| note.read.iter().flatten())
        .map(|(place, _)| place)
        .collect();
    let is_read = |note: &Note| note.made.as_ref().is_none_or(|made| read.contains(made));
    let kept = notes.iter().filter(|(end, note)| {
        *end <= before || note.by == Maker::Compiler || is_there(note) || is_read(note)
    });
    rewrite(compilers, kept.map(|(_, note)| note))
}

/// Whether the product of a note is there.
fn existing(compilers: &Path) -> impl Fn(&Note) -> bool {
    let root = compilers.parent().unwrap_or(compilers);
    let is_there = |made: &Place| fs::symlink_metadata(made.below(root)).is_ok();
    move |note| note.made.as_ref().is_some_and(is_there)
}

fn keep(compilers: &Path, wanted: impl Fn(&Note) -> bool) -> io::Result<()> {
    let Some(newest) = newest(compilers) else {
        return Ok(());
    };
    let notes = newest.values().map(|(_, note)| note);
    rewrite(compilers, notes.filter(|note| wanted(note)))
}

fn rewrite<'n>(compilers: &Path, notes: impl Iterator<Item = &'n Note>) -> io::Result<()> {
    let mut bytes = BEGINNING.to_vec();
    for note in notes {
        write(&mut bytes, note)?;
    }
    let file = file(compilers);
    if bytes.len() as u64 == length(compilers) {
        return Ok(());
    }
    let beside = file.with_extension("inputs-new");
    fs::write(&beside, bytes)?;
    fs::rename(beside, file)
}

/// Notes what a compiler made that was called with these arguments.
pub(super) fn note_compiled(folder: &Path, arguments: &[OsString], told: &Told) -> io::Result<()> {
    let mut workshop = Surroundings::of(folder);
    let given = files_given(arguments);
    let is_hidden = reads_more_than_told(arguments);
    if given.is_empty() && told.paths.is_empty() && !is_hidden {
        return Ok(());
    }
    let is_known = (told.is_whole || !is_preprocessed(arguments)) && !is_hidden;
    let read = workshop.all_read(arguments, told);
    if is_known && read.is_empty() {
        return Ok(());
    }
    let given: Vec<Place> = given.iter().map(|path| workshop.place(path)).collect();
    let said = workshop.digest(arguments);
    let is_header = compiles_headers(arguments);
    // Trials of a configuration often come through a pipe and make nothing that stays.
    let is_kept = |path: &PathBuf| !is_hidden || workshop.has(path);
    let products: Vec<PathBuf> = products(arguments).into_iter().filter(is_kept).collect();
    let notes = products.into_iter().map(|path| Note {
        by: Maker::Compiler,
        is_header,
        made: path.exists().then(|| workshop.made(&path)),
        given: given.clone(),
        read: is_known.then(|| read.clone()),
        arguments: said,
    });
    add(folder, notes)
}

/// Notes what a linker made of these files.
pub(super) fn note_linked<'f>(
    folder: &Path,
    made: &Path,
    files: impl Iterator<Item = &'f str>,
) -> io::Result<()> {
    let mut workshop = Surroundings::of(folder);
    // A shared library may be made again alone.
    let files = files.filter(|file| !file.ends_with(".so") && !file.contains(".so."));
    let mut read: Vec<_> = files
        .filter_map(|file| workshop.read(Path::new(file)))
        .collect();
    read.sort();
    read.dedup();
    if read.is_empty() {
        return Ok(());
    }
    let note = Note {
        by: Maker::Linker,
        is_header: false,
        made: made.exists().then(|| workshop.made(made)),
        given: read.iter().map(|(place, _)| place.clone()).collect(),
        read: Some(read),
        arguments: 0,
    };
    add(folder, std::iter::once(note))
}

fn add(folder: &Path, notes: impl Iterator<Item = Note>) -> io::Result<()> {
    let mut bytes = Vec::new();
    for note in notes {
        write(&mut bytes, &note)?;
    }
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file(folder))?
        .write_all(&bytes)
}

fn write(bytes: &mut Vec<u8>, note: &Note) -> io::Result<()> {
    let note = postcard::to_stdvec(note).map_err(io::Error::other)?;
    bytes.extend((note.len() as u64).to_le_bytes());
    bytes.extend(digest::bytes(&note).to_le_bytes());
    bytes.extend(note);
    Ok(())
}

/// All notes in a list, each with the place where it ends.
fn read(bytes: &[u8]) -> Option<Vec<(u64, Note)>> {
    let mut rest = bytes.strip_prefix(BEGINNING)?;
    let mut notes = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk()?;
        let (sum, behind) = behind.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (note, behind) = behind.split_at_checked(length)?;
        if digest::bytes(note) != u64::from_le_bytes(*sum) {
            return None;
        }
        let end = (bytes.len() - behind.len()) as u64;
        notes.push((end, postcard::from_bytes(note).ok()?));
        rest = behind;
    }
    Some(notes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::*;

    /// A workshop with these files, and the folder of its compilers.
    fn workshop(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let room = tempfile::tempdir().expect("there is room");
        let compilers = room.path().join("compilers");
        fs::create_dir_all(room.path().join("tree/d e")).expect("there is room");
        for file in files {
            fs::write(room.path().join(file), "").expect("there is room");
        }
        begin(&compilers).expect("there is room");
        (room, compilers)
    }

    fn told(root: &Path, paths: &[&str]) -> Told {
        Told {
            paths: paths.iter().map(|path| root.join(path)).collect(),
            is_whole: true,
        }
    }

    /// A call of which all files have absolute paths, because the tests share their folder with each other.
    fn call(root: &Path, text: &str) -> Vec<OsString> {
        let root = format!("{}/", root.display());
        words(text)
            .iter()
            .map(|word| word.to_string_lossy().replace('^', &root).into())
            .collect()
    }

    fn noted(compilers: &Path) -> Vec<Note> {
        let newest = newest(compilers).expect("nothing is lost");
        newest.into_values().map(|(_, note)| note).collect()
    }

    fn names(places: &[Place]) -> Vec<String> {
        let name = |place: &Place| String::from_utf8_lossy(&place.0).into_owned();
        places.iter().map(name).collect()
    }

    #[test]
    fn a_note_says_what_was_made_and_read() {
        let (room, compilers) = workshop(&["tree/a.c", "tree/d e/a b.h", "tree/a.o"]);
        let root = room.path();
        let arguments = call(root, "-c ^tree/a.c -o ^tree/a.o");
        let headers = told(root, &["tree/d e/a b.h", "/dev/null", "tree/gone.h"]);
        note_compiled(&compilers, &arguments, &headers).expect("there is room");
        let notes = noted(&compilers);
        assert_eq!(notes.len(), 1);
        let note = &notes[0];
        assert_eq!(note.made, Some(Place(b"tree/a.o".to_vec())));
        assert_eq!(names(&note.given), ["tree/a.c"]);
        let read = note.read.clone().expect("it told");
        let places: Vec<Place> = read.into_iter().map(|(place, _)| place).collect();
        assert_eq!(names(&places), ["tree/a.c", "tree/d e/a b.h"]);
    }

    #[test]
    fn what_is_made_of_the_same_again_has_one_note() {
        let (room, compilers) = workshop(&["tree/a.c", "tree/b.c", "tree/a.o"]);
        let root = room.path();
        for source in ["a.c", "b.c", "b.c", "a.c"] {
            // Once the product stays, once it is renamed, and nobody knows to what: an object may have been copied, too.
            for made in ["^tree/a.o", "^tree/d/../gone.o"] {
                let arguments = call(root, &format!("-c ^tree/{source} -o {made}"));
                note_compiled(&compilers, &arguments, &told(root, &[])).expect("there is room");
            }
        }
        assert_eq!(noted(&compilers).len(), 4);
        let long = length(&compilers);
        keep_newest(&compilers).expect("there is room");
        assert!(length(&compilers) < long);
        assert_eq!(noted(&compilers).len(), 4);
        fs::remove_file(root.join("tree/b.c")).expect("it is there");
        assert_eq!(noted(&compilers).len(), 3);
    }

    #[test]
    fn calls_that_say_something_else_make_something_else_of_one_source() {
        let (room, compilers) = workshop(&["tree/a.c"]);
        let root = room.path();
        for number in [1, 2, 1] {
            let arguments = call(root, &format!("-DN={number} ^tree/a.c -o ^tree/gone"));
            note_compiled(&compilers, &arguments, &told(root, &[])).expect("there is room");
        }
        assert_eq!(noted(&compilers).len(), 2);
    }

    #[test]
    fn what_came_through_a_pipe_is_unknown_and_a_trial_is_forgotten() {
        let (room, compilers) = workshop(&["tree/a.o"]);
        for made in ["^tree/a.o", "/dev/null", "^tree/gone.o"] {
            let arguments = call(room.path(), &format!("-x c -c - -o {made}"));
            let silent = told(room.path(), &[]);
            note_compiled(&compilers, &arguments, &silent).expect("there is room");
        }
        let noted = noted(&compilers);
        assert_eq!(noted.len(), 1);
        assert_eq!(noted[0].made, Some(Place(b"tree/a.o".to_vec())));
        assert!(noted[0].read.is_none());
    }

    #[test]
    fn what_a_test_linked_for_itself_is_forgotten() {
        let files = ["tree/a.c", "tree/a.o", "tree/p", "tree/gone.o", "tree/gone"];
        let (room, compilers) = workshop(&files);
        let root = room.path();
        let link = |made: &str, object: &str| {
            let object = root.join(object).to_string_lossy().into_owned();
            let files = std::iter::once(object.as_str());
            note_linked(&compilers, &root.join(made), files).expect("there is room");
        };
        link("tree/gone", "tree/a.o");
        let before = length(&compilers);
        let arguments = call(root, "-c ^tree/a.c -o ^tree/gone.o");
        note_compiled(&compilers, &arguments, &told(root, &[])).expect("there is room");
        link("tree/p", "tree/gone.o");
        link("tree/gone", "tree/a.o");
        fs::remove_file(root.join("tree/gone")).expect("it is there");
        // Its program is still there.
        fs::remove_file(root.join("tree/gone.o")).expect("it is there");
        forget_gone(&compilers, before).expect("there is room");
        let noted = read(&fs::read(file(&compilers)).expect("it is there")).expect("it is whole");
        let made = noted.iter().filter_map(|(_, note)| note.made.clone());
        let made: Vec<Place> = made.collect();
        assert_eq!(names(&made), ["tree/gone", "tree/gone.o", "tree/p"]);
    }

    #[test]
    fn who_does_not_tell_is_noted_as_unknown() {
        let silent = Told::default();
        for (source, is_known) in [("a.c", false), ("a.s", true)] {
            let (room, compilers) = workshop(&["tree/a.c", "tree/a.s", "tree/p"]);
            let arguments = call(room.path(), &format!("^tree/{source} -o ^tree/p"));
            note_compiled(&compilers, &arguments, &silent).expect("there is room");
            assert_eq!(noted(&compilers)[0].read.is_some(), is_known, "{source}");
        }
    }

    #[test]
    fn a_link_is_made_of_objects_and_archives() {
        let (room, compilers) = workshop(&["tree/a.o", "tree/l.a", "tree/l.so", "tree/p"]);
        let path = |name: &str| room.path().join(name).to_string_lossy().into_owned();
        fs::create_dir_all(&compilers).expect("there is room");
        fs::write(compilers.join("added.o"), "").expect("there is room");
        let files = ["tree/a.o", "tree/l.a", "tree/l.so", "compilers/added.o"].map(path);
        let files = files.iter().map(String::as_str);
        note_linked(&compilers, &room.path().join("tree/p"), files).expect("there is room");
        assert_eq!(names(&noted(&compilers)[0].given), ["tree/a.o", "tree/l.a"]);
    }

    #[test]
    fn a_list_that_is_not_whole_is_not_believed() {
        let (room, compilers) = workshop(&["tree/a.c", "tree/a.o"]);
        let arguments = call(room.path(), "-c ^tree/a.c -o ^tree/a.o");
        note_compiled(&compilers, &arguments, &told(room.path(), &[])).expect("there is room");
        let whole = fs::read(file(&compilers)).expect("it was written");
        for end in (0..whole.len()).filter(|end| *end != BEGINNING.len()) {
            assert!(read(&whole[..end]).is_none(), "{end}");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            assert!(read(&damaged).is_none(), "{place}");
        }
        fs::remove_file(file(&compilers)).expect("it is there");
        assert!(newest(&compilers).is_none());
        // Nor is one that somebody began without us.
        note_compiled(&compilers, &arguments, &told(room.path(), &[])).expect("there is room");
        assert!(newest(&compilers).is_none());
    }

    #[test]
    fn notes_of_many_at_once_are_all_kept() {
        let (room, compilers) = workshop(&[]);
        let root = room.path();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let compilers = &compilers;
                scope.spawn(move || {
                    for call_ in 0..25 {
                        let name = format!("{thread}-{call_}.c");
                        fs::write(root.join("tree").join(&name), "").expect("there is room");
                        let arguments = call(root, &format!("-c ^tree/{name}"));
                        note_compiled(compilers, &arguments, &told(root, &[]))
                            .expect("there is room");
                    }
                });
            }
        });
        assert_eq!(noted(&compilers).len(), 200);
    }
}
