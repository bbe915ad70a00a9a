//! One test's folder of data files, paired with the notes of the build.
//!
//! A test runs with `GCOV_PREFIX=<folder>`: each data file then lies below that folder under the absolute path of its object.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::data::{self, Data};
use super::executed::{Doubt, Executed, executed_lines, whole};
use super::notes::{self, Notes};

/// The notes of a build, each read when the first test needs it and kept for the others.
#[derive(Debug)]
pub struct Build {
    top: PathBuf,
    notes: Mutex<FxHashMap<PathBuf, Result<Arc<Notes>, Cause>>>,
}

/// What a folder of data files says.
#[derive(Debug, Default)]
pub struct Collected {
    /// The objects in the programs that the test ran, by path. Without any, nothing is known of the test.
    pub objects: Vec<Object>,
    /// What could not be read. With any, the test may have executed more than the objects tell.
    pub failures: Vec<Failure>,
}

#[derive(Debug)]
pub struct Object {
    pub notes: Arc<Notes>,
    pub hits: Vec<Hit>,
}

/// A function that was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// An index into the functions of the notes.
    pub function: usize,
    pub executed: Executed,
}

/// A file or folder that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub path: PathBuf,
    pub cause: Cause,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    Data(Unreadable),
    Notes(Unreadable),
    /// The operating system's words.
    CannotRead(String),
    NoNotes(PathBuf),
    /// Data and notes are of different builds.
    OtherBuild,
    /// A function that the notes do not know.
    UnknownFunction,
    /// A function occurs twice in the data.
    CountedTwice(String),
}

impl Build {
    /// A build whose notes lie below `top` under the paths that the data files have below a test's folder. That is `/`, unless `GCOV_PREFIX_STRIP` takes some of the path away.
    #[must_use]
    pub fn new(top: impl Into<PathBuf>) -> Self {
        Build {
            top: top.into(),
            notes: Mutex::default(),
        }
    }

    fn notes(&self, relative: &Path) -> Result<Arc<Notes>, Cause> {
        let path = self.top.join(relative).with_extension("gcno");
        let lock = || self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&path) {
            return known.clone();
        }
        // Two tests at once may both read a file; that is cheaper than to wait for each other.
        let read = read_notes(&path).map(Arc::new);
        lock().entry(path).or_insert(read).clone()
    }
}

/// Reads every data file below a folder. With `widen`, functions count as executed as a whole; see [`executed_lines`].
#[must_use]
pub fn collect(folder: &Path, build: &Build, widen: bool) -> Collected {
    let mut collected = Collected::default();
    let mut files = Vec::new();
    find(folder, &mut files, &mut collected.failures);
    files.sort();
    for path in files {
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        match object(&path, relative, build, widen) {
            Ok(object) => collected.objects.push(object),
            Err(cause) => collected.failures.push(Failure { path, cause }),
        }
    }
    collected
}

/// The data files below a folder. Links are not followed: gcc's library makes none.
fn find(folder: &Path, files: &mut Vec<PathBuf>, failures: &mut Vec<Failure>) {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if let Err(error) = list(&folder, &mut folders, files) {
            failures.push(Failure {
                path: folder,
                cause: Cause::CannotRead(error.to_string()),
            });
        }
    }
}

fn list(
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            folders.push(path);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "gcda")
        {
            files.push(path);
        }
    }
    Ok(())
}

fn object(path: &Path, relative: &Path, build: &Build, widen: bool) -> Result<Object, Cause> {
    let bytes = std::fs::read(path).map_err(|error| Cause::CannotRead(error.to_string()))?;
    let data = data::read(&bytes).map_err(Cause::Data)?;
    let notes = build.notes(relative)?;
    let hits = hits(&notes, &data, widen)?;
    Ok(Object { notes, hits })
}

fn read_notes(path: &Path) -> Result<Notes, Cause> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Cause::NoNotes(path.to_path_buf()),
        _ => Cause::CannotRead(error.to_string()),
    })?;
    notes::read(&bytes).map_err(Cause::Notes)
}

/// The functions that were entered, in the order of the notes.
pub fn hits(notes: &Notes, data: &Data, widen: bool) -> Result<Vec<Hit>, Cause> {
    if (notes.version, notes.stamp) != (data.version, data.stamp) {
        return Err(Cause::OtherBuild);
    }
    let mut counters = vec![None; notes.functions.len()];
    for counted in &data.functions {
        let number = notes.find(counted.identity).ok_or(Cause::UnknownFunction)?;
        if counters[number].replace(&counted.counters).is_some() {
            return Err(Cause::CountedTwice(notes.functions[number].name.clone()));
        }
    }
    let executed = notes.functions.iter().zip(counters);
    let executed = executed.map(|(function, counters)| match counters {
        Some(counters) => executed_lines(function, counters, widen),
        None => Some(whole(function, Doubt::NotCounted)),
    });
    let hits = executed.enumerate().filter_map(|(function, executed)| {
        Some(Hit {
            function,
            executed: executed?,
        })
    });
    Ok(hits.collect())
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "cannot use '{}': {}",
            self.path.display(),
            self.cause
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Data(unreadable) => unreadable.fmt(formatter),
            Cause::Notes(unreadable) => write!(formatter, "its notes: {unreadable}"),
            Cause::CannotRead(error) => formatter.write_str(error),
            Cause::NoNotes(path) => write!(formatter, "no notes in '{}'", path.display()),
            Cause::OtherBuild => formatter.write_str("its notes are of another build"),
            Cause::UnknownFunction => {
                formatter.write_str("its notes do not know one of its functions")
            }
            Cause::CountedTwice(name) => write!(formatter, "'{name}' is counted twice"),
        }
    }
}

impl std::error::Error for Failure {}
