//! Gcc's counters: the data files of one test to the edges it may have crossed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::binaries::{linked_below, may_do};
use super::copies::Made;
use super::placer::{Place, PlacedFile};
use super::uncounted::{self, Brought, Counted};
use super::{Placer, Recorded, Recorder};
use crate::coverage::gcov::collect::{Build, collect};
use crate::coverage::gcov::notes::{self, Notes};
use crate::coverage::llvm::binary::{Imports, imports};
use crate::history::Uncounted;
use crate::lang::facts::{Entity, Flow};
use crate::masquerade::mark;
use crate::repo::RepoPath;
use crate::trace::lines::{Lines, crossed};
use crate::trace::{Crossed, FunctionId};

/// Where gcc's runtime complains, in the folder of a test.
const ERRORS: &str = "errors";

pub struct Gcov<'a> {
    placer: &'a Placer,
    build: Build,
    /// The lines with code, by file.
    known: FxHashMap<RepoPath, FxHashSet<u32>>,
    /// Functions that count where the build copied them to.
    copied: BTreeSet<FunctionId>,
    /// The functions that count, as the linker knows them.
    symbols: BTreeSet<String>,
    /// Where programs leave their data if nobody tells them where: beside the notes.
    beside: Vec<PathBuf>,
    /// Every program and library of the build.
    linked: Vec<PathBuf>,
    /// What the programs of the build may do together: data files do not tell which of them ran.
    imports: Imports,
    /// Why no test can be believed.
    doubt: Option<String>,
}

impl<'a> Gcov<'a> {
    /// Over the objects and binaries below some folders.
    #[must_use]
    pub fn new(placer: &'a Placer, folders: &[&Path]) -> Self {
        let mut known: FxHashMap<RepoPath, FxHashSet<u32>> = FxHashMap::default();
        let mut copied = BTreeSet::new();
        let mut symbols = BTreeSet::new();
        let mut beside = Vec::new();
        for path in below(folders, "gcno") {
            beside.push(path.with_extension("gcda"));
            let notes = fs::read(path)
                .ok()
                .and_then(|bytes| notes::read(&bytes).ok());
            let Some(notes) = notes else {
                continue;
            };
            let names = notes.functions.iter().map(|function| function.name.clone());
            symbols.extend(names);
            let files = places(placer, &notes);
            let mut in_made: FxHashMap<u32, (Arc<Made>, FxHashSet<u32>)> = FxHashMap::default();
            for line in notes.functions.iter().flat_map(|function| &function.lines) {
                match files.get(line.file as usize) {
                    Some(Place::File(file)) => {
                        let lines = known.entry(file.path.clone()).or_default();
                        lines.insert(line.line);
                    }
                    Some(Place::Made(made)) => {
                        let lines = in_made
                            .entry(line.file)
                            .or_insert_with(|| (made.clone(), FxHashSet::default()));
                        lines.1.insert(line.line);
                    }
                    None => {}
                }
            }
            for (file, lines) in in_made.into_values() {
                copied.extend(file.originals_of(placer, |line| lines.contains(&line)));
            }
        }
        let mut all = Imports::default();
        let own = linked_below(folders);
        let mut doubt = None;
        for path in &own {
            let bytes = fs::read(path).ok();
            all = all.and(may_do((path, bytes.as_deref()), &own));
            doubt = doubt.or_else(|| cannot_be_followed(path));
        }
        Gcov {
            placer,
            build: Build::new("/"),
            known,
            copied,
            symbols,
            beside,
            linked: own,
            imports: all,
            doubt,
        }
    }

    /// Functions that may have been inlined before gcc gave out counters: no line of theirs is known, and no symbol.
    fn inlined_without_a_trace(&self) -> BTreeSet<String> {
        let nothing = FxHashSet::default();
        let mut found = BTreeSet::new();
        for path in self.placer.read_by(|path| self.known.contains_key(path)) {
            let known = self.known.get(&path).unwrap_or(&nothing);
            let Some(file) = self.placer.file(&path) else {
                continue;
            };
            let lost = file
                .functions()
                .filter(|function| !lines_of(function).any(|line| known.contains(&line)));
            found.extend(lost.map(|function| function.name.clone()));
        }
        found
    }

    fn functions_in(&self, file: &PlacedFile, executed: &FxHashSet<u32>, recorded: &mut Recorded) {
        let nothing = FxHashSet::default();
        let lines = Lines {
            known: self.known.get(&file.path).unwrap_or(&nothing).clone(),
            executed: executed.clone(),
        };
        let text = file.text();
        let is_in_a_function = |line: &u32| {
            file.functions()
                .any(|function| lines_of(function).contains(line))
        };
        if !executed.iter().all(is_in_a_function) {
            let remainder = FunctionId::remainder(file.path.clone());
            recorded.trace.functions.push((remainder, Crossed::Whole));
        }
        for function in file.functions() {
            if !lines_of(function).any(|line| executed.contains(&line)) {
                continue;
            }
            let did = match function.body.as_ref().map(|body| &body.flow) {
                Some(Flow::Edges(cfg)) => Crossed::Edges(crossed(cfg, &text, &lines)),
                _ => Crossed::Whole,
            };
            recorded.trace.functions.push((file.id_of(function), did));
        }
    }
}

impl Recorder for Gcov<'_> {
    fn environment(&self, folder: &Path) -> Vec<(String, OsString)> {
        vec![
            ("GCOV_PREFIX".to_owned(), folder.into()),
            (mark::VARIABLE.to_owned(), folder.into()),
            ("GCOV_ERROR_FILE".to_owned(), folder.join(ERRORS).into()),
        ]
    }

    fn read(&self, folder: &Path) -> Recorded {
        let mut recorded = Recorded::default();
        let marks = mark::left_in(folder);
        let Imports {
            threads,
            returns_twice,
            handles_signals,
            ..
        } = self.imports;
        let widen = threads || returns_twice || handles_signals || marks.became_another;
        let mut collected = collect(folder, &self.build, widen);
        let objects = &mut collected.objects;
        objects.retain(|object| !is_check_of_meson(self.placer, &object.notes));
        if let Some(failure) = collected.failures.first() {
            recorded.doubt(|| failure.to_string());
        }
        recorded.is_empty = collected.objects.is_empty();
        if let Some(program) = marks.lost.first() {
            recorded
                .doubt(|| format!("a process of '{program}' ended without writing its counters"));
        }
        // The file is there as soon as something went wrong, even where the words did not fit on the disk.
        if let Ok(errors) = fs::read(folder.join(ERRORS)) {
            let errors = String::from_utf8_lossy(&errors).into_owned();
            let first = errors.lines().next().unwrap_or("no room on the disk");
            recorded.doubt(|| format!("counters could not be written: {first}"));
        }
        if let Some(doubt) = &self.doubt {
            recorded.doubt(|| doubt.clone());
        }
        let mut executed: FxHashMap<RepoPath, FxHashSet<u32>> = FxHashMap::default();
        for object in &collected.objects {
            let files = places(self.placer, &object.notes);
            let mut in_made: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
            for (file, line) in object.hits.iter().flat_map(|hit| &hit.executed.lines) {
                match files.get(*file as usize) {
                    Some(Place::File(placed)) => {
                        let lines = executed.entry(placed.path.clone()).or_default();
                        lines.insert(*line);
                    }
                    Some(Place::Made(_)) => {
                        in_made.entry(*file).or_default().insert(*line);
                    }
                    None => {}
                }
            }
            for (file, lines) in in_made {
                if let Some(Place::Made(made)) = files.get(file as usize) {
                    let mut ids = made.originals_of(self.placer, |line| lines.contains(&line));
                    ids.extend(made.mark());
                    let whole = ids.into_iter().map(|id| (id, Crossed::Whole));
                    recorded.trace.functions.extend(whole);
                }
            }
        }
        for (path, lines) in &executed {
            if let Some(file) = self.placer.file(path) {
                self.functions_in(&file, lines, &mut recorded);
            }
        }
        let known = recorded.trace.functions.iter();
        let known: FxHashSet<String> = known.map(|(id, _)| id.name.clone()).collect();
        let entered = collected.objects.iter().flat_map(|object| {
            let functions = &object.notes.functions;
            let hits = object.hits.iter();
            hits.filter_map(|hit| Some(functions.get(hit.function)?.name.as_str()))
        });
        let others: BTreeSet<&str> = entered.filter(|name| !known.contains(*name)).collect();
        let others = others.into_iter().map(FunctionId::symbol);
        let others = others.map(|id| (id, Crossed::Whole));
        recorded.trace.functions.extend(others);
        recorded.trace.functions.sort();
        recorded
    }

    fn strays(&self) -> Vec<PathBuf> {
        let left = self.beside.iter().filter(|path| path.exists());
        left.cloned().collect()
    }

    fn counted(&self) -> Vec<FunctionId> {
        let mut counted = self.counted_in_tree();
        let known: BTreeSet<String> = counted.iter().map(|id| id.name.clone()).collect();
        let others = self.symbols.iter().filter(|name| !known.contains(*name));
        counted.extend(others.map(|name| FunctionId::symbol(name)));
        counted.into_iter().collect()
    }

    fn uncounted(&self, brought: &Brought<'_>) -> Uncounted {
        let counted = self.counted_in_tree();
        // Where counters are is known by object, not by binary.
        let names: BTreeSet<&str> = counted.iter().map(|id| id.name.as_str()).collect();
        let mut found = Uncounted::default();
        for path in &self.linked {
            if !uncounted::is_of_the_build(path, self.placer) {
                continue;
            }
            let bytes = fs::read(path).unwrap_or_default();
            // What was made past our compilers counts nothing, whatever counts elsewhere under the same names.
            let counted = match mark::is_counting(&bytes) {
                true => Counted::Somewhere(&names),
                false => Counted::Nothing,
            };
            uncounted::add(
                &mut found,
                (path, Some(&bytes)),
                self.placer,
                &counted,
                brought,
            );
        }
        found.counted = found.symbols.intersection(&self.symbols).cloned().collect();
        let inlined = self.inlined_without_a_trace().into_iter();
        // A name that counts somewhere is that of a function which an `#if` chose.
        found
            .symbols
            .extend(inlined.filter(|name| !names.contains(name.as_str())));
        found
    }
}

impl Gcov<'_> {
    /// The functions of the tree that count.
    fn counted_in_tree(&self) -> BTreeSet<FunctionId> {
        let mut counted = self.copied.clone();
        for (path, known) in &self.known {
            let Some(file) = self.placer.file(path) else {
                continue;
            };
            for function in file.functions() {
                if lines_of(function).any(|line| known.contains(&line)) {
                    counted.insert(file.id_of(function));
                }
            }
        }
        counted
    }
}

/// Why processes of a program may lose their counters without a mark.
fn cannot_be_followed(path: &Path) -> Option<String> {
    let bytes = fs::read(path).unwrap_or_default();
    if !mark::is_counting(&bytes) {
        return None;
    }
    let name = path.file_name().unwrap_or_default().display();
    if !mark::is_in(&bytes) {
        return Some(format!(
            "'{name}' was linked in a way that hides whether its processes write their counters"
        ));
    }
    let imports = imports(&bytes).unwrap_or(Imports::ANYTHING);
    let starts = imports.forks_unseen;
    starts.then(|| format!("'{name}' starts processes in a way that gcov cannot follow"))
}

fn lines_of(function: &Entity) -> RangeInclusive<u32> {
    function.span.line..=function.end_line
}

/// Where the files of some notes are.
fn places(placer: &Placer, notes: &Notes) -> Vec<Place> {
    let folder = to_path(&notes.working_directory);
    let place = |file: &Vec<u8>| placer.place(&folder.join(to_path(file)));
    notes.files.iter().map(place).collect()
}

fn is_check_of_meson(placer: &Placer, notes: &Notes) -> bool {
    let folder = to_path(&notes.working_directory);
    let mut files = notes.files.iter().map(|file| folder.join(to_path(file)));
    !notes.files.is_empty() && files.all(|file| placer.is_check_of_meson(&file))
}

fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The files with an extension below some folders.
fn below(folders: &[&Path], extension: &str) -> Vec<PathBuf> {
    let mut found = super::binaries::files_below(folders);
    found.retain(|path| path.extension().is_some_and(|own| own == extension));
    found
}
