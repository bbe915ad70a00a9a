//! Clang's counters: the profiles of one test to the edges it crossed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::binaries::{self, may_do};
use super::placer::Place;
use super::uncounted::{self, Brought, Counted};
use super::{Gone, Placer, Recorded, Recorder};
use crate::coverage::llvm::binary;
use crate::coverage::llvm::counts::Counts;
use crate::coverage::llvm::map::{self, CoverageMap, FunctionMap};
use crate::coverage::llvm::names::Names;
use crate::coverage::llvm::profile::{self, Profile};
use crate::history::Uncounted;
use crate::lang::facts::Flow;
use crate::trace::projection::{Belief, Projection};
use crate::trace::{Crossed, FunctionId};
use crate::workers;

/// Maps are large, and most tests run the binaries that the test before them ran.
const MAPS_KEPT: usize = 8;

pub struct Llvm<'a> {
    placer: &'a Placer,
    binaries: FxHashMap<Vec<u8>, PathBuf>,
    /// Every program and library of the build, with counters or without.
    linked: Vec<PathBuf>,
    strays: PathBuf,
    /// The maps that were used last.
    maps: Mutex<Vec<(PathBuf, Known)>>,
    /// Functions that several binaries share are placed once.
    placed: Mutex<FxHashMap<u64, Arc<Placed>>>,
    counted: Mutex<FxHashSet<FunctionId>>,
    seen: Mutex<BTreeSet<PathBuf>>,
}

/// A binary's map, or why there is none.
type Known = Result<Arc<Mapped>, String>;

/// A binary with its map.
struct Mapped {
    map: CoverageMap,
    by_key: FxHashMap<(u64, u64), Vec<usize>>,
    belief: Belief,
}

/// Where a function of a map stands in the tree.
enum Placed {
    /// In no file at all.
    Nowhere,
    /// In a file that the build made: what it counts for.
    Made(Vec<FunctionId>),
    /// In a file of the tree, but no function of ours is there: macros made it. Its name, for people.
    Remainder(FunctionId, String),
    Whole(FunctionId),
    Edges(FunctionId, Projection),
}

impl Placed {
    /// The name by which the tree knows the function.
    fn name(&self) -> Option<&str> {
        match self {
            Placed::Whole(id) | Placed::Edges(id, _) => Some(&id.name),
            Placed::Nowhere | Placed::Made(_) | Placed::Remainder(..) => None,
        }
    }
}

impl<'a> Llvm<'a> {
    /// Over the binaries below some folders, which count in the folder `strays` if nobody tells them where.
    #[must_use]
    pub fn new(placer: &'a Placer, folders: &[&Path], strays: &Path) -> Self {
        Llvm {
            placer,
            binaries: binaries::by_id(folders),
            linked: binaries::linked_below(folders),
            strays: strays.to_owned(),
            maps: Mutex::default(),
            placed: Mutex::default(),
            counted: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    fn mapped(&self, path: &Path) -> Known {
        {
            let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = maps.iter().position(|(known, _)| known == path) {
                let found = maps.remove(at);
                maps.push(found);
                return maps[maps.len() - 1].1.clone();
            }
        }
        let read = self.read_map(path).map(Arc::new);
        if let Ok(mapped) = &read {
            self.note_counted(path, &mapped.map);
        }
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        if maps.len() >= MAPS_KEPT {
            drop(maps.remove(0));
        }
        maps.push((path.to_owned(), read.clone()));
        read
    }

    /// Keeps the functions that have counters, whether a test executes them or not.
    fn note_counted(&self, path: &Path, map: &CoverageMap) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.insert(path.to_owned()) {
            return;
        }
        drop(seen);
        let mut found = Vec::new();
        for function in &map.functions {
            let placed = self.place(map, function);
            let symbol = symbol_of(function);
            if let Placed::Whole(id) | Placed::Edges(id, _) = &*placed {
                found.push(id.clone());
            }
            if placed.name() != Some(symbol) {
                found.push(FunctionId::symbol(symbol));
            }
        }
        found.extend(self.undescribed(map).map(FunctionId::symbol));
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.extend(found);
    }

    /// Functions of others that count and have no map.
    fn undescribed<'m>(&self, map: &'m CoverageMap) -> impl Iterator<Item = &'m str> {
        let names = map.undescribed.iter().map(String::as_str);
        names.filter(|name| self.placer.defining(name).is_empty())
    }

    fn place(&self, map: &CoverageMap, function: &FunctionMap) -> Arc<Placed> {
        let key = key_of(map, function);
        let lock = || self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let placed = Arc::new(self.find(map, function));
        lock().entry(key).or_insert(placed).clone()
    }

    fn find(&self, map: &CoverageMap, function: &FunctionMap) -> Placed {
        let Some(path) = source_of(map, function) else {
            return Placed::Nowhere;
        };
        if is_rust(&path) {
            // Rust is known by its symbols alone.
            return Placed::Nowhere;
        }
        let own = function.regions.iter().find(|region| region.file == 0);
        let file = match self.placer.place(&path) {
            Place::File(file) => file,
            Place::Made(made) => {
                let line = own.map_or(0, |region| region.start.line);
                let mut ids = made.originals_at(self.placer, line, &function.name);
                ids.extend(made.mark());
                return Placed::Made(ids);
            }
        };
        let text = file.text();
        let start = own.map_or(0, |region| text.offset(region.start));
        let is_here = |entity: &&crate::lang::facts::Entity| {
            (entity.span.start..entity.span.end).contains(&start)
        };
        let Some(entity) = file.functions().find(is_here) else {
            let name = format!("{} in {}", function.name, file.path);
            return Placed::Remainder(FunctionId::remainder(file.path.clone()), name);
        };
        let id = file.id_of(entity);
        match entity.body.as_ref().map(|body| &body.flow) {
            Some(Flow::Edges(cfg)) => {
                let projection = Projection::new(function, cfg, &text);
                Placed::Edges(id, projection)
            }
            _ => Placed::Whole(id),
        }
    }

    /// The symbol of a function that has no map; nothing, if it may be one of the tree.
    fn of_others(&self, names: Option<&Names>, name: u64) -> Option<String> {
        let full = names?.get(name)?;
        let is_of_the_tree = !self.placer.defining(&plain(full)).is_empty();
        (!is_of_the_tree).then(|| map::symbol(full))
    }

    /// Whether a binary that a test ran makes all counters of the test doubtful: its libraries run in its threads and processes.
    fn belief(&self, profiles: &[Profile<'_>]) -> Belief {
        let ran = profiles.iter();
        let mut ran = ran.filter_map(|profile| self.binaries.get(&profile.build_id));
        let is_wide = ran.any(|path| {
            let mapped = self.mapped(path);
            mapped.is_ok_and(|mapped| mapped.belief == Belief::Wide)
        });
        if is_wide { Belief::Wide } else { Belief::Exact }
    }

    fn read_map(&self, path: &Path) -> Result<Mapped, String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        let map = map::read(&bytes).map_err(|error| error.to_string())?;
        let mut by_key: FxHashMap<(u64, u64), Vec<usize>> = FxHashMap::default();
        for (index, function) in map.functions.iter().enumerate() {
            let key = (function.name_hash, function.hash);
            by_key.entry(key).or_default().push(index);
        }
        let imports = may_do((path, Some(&bytes)), &self.linked);
        let is_wide = imports.returns_twice || imports.forks || imports.threads;
        Ok(Mapped {
            map,
            by_key,
            belief: if is_wide { Belief::Wide } else { Belief::Exact },
        })
    }

    /// What a binary holds without counters. Since its map is read, it is asked what counts, too.
    fn uncounted_in(&self, path: &Path, brought: &Brought<'_>) -> Uncounted {
        let bytes = fs::read(path).ok();
        let map = bytes.as_deref().and_then(|bytes| map::read(bytes).ok());
        if let Some(map) = &map {
            self.note_counted(path, map);
        }
        let is_mute = bytes.as_deref().is_some_and(binary::is_mute);
        // Who loads a mute library of Rust, a procedural macro as a rule, is known to read it.
        let tells = |map: &CoverageMap, function: &FunctionMap| {
            !is_mute || source_of(map, function).is_some_and(|path| is_rust(&path))
        };
        let mut names = BTreeSet::new();
        if let Some(map) = &map {
            let described = map.functions.iter();
            let described = described.filter(|function| tells(map, function));
            names.extend(described.map(|function| function.name.as_str()));
            if !is_mute {
                names.extend(self.undescribed(map));
            }
        }
        let counted = match map {
            Some(_) => Counted::Mapped(&names),
            None => Counted::Nothing,
        };
        let binary = (path, bytes.as_deref());
        let mut found = Uncounted::default();
        uncounted::add(&mut found, binary, self.placer, &counted, brought);
        if is_mute && found.blind.is_some() {
            let name = path.file_name().unwrap_or_default().display();
            let why = format!(
                "'{name}' was not linked by the compiler, so that nobody writes what its code counts"
            );
            found.blind = Some(why);
        }
        found
    }

    fn read_profile(&self, profile: &Profile<'_>, belief: Belief, recorded: &mut Recorded) {
        let sums = profile.sums();
        let is_idle = |counters: &[u64]| counters.iter().all(|count| *count == 0);
        let Some(path) = self.binaries.get(&profile.build_id) else {
            if !sums.values().all(|sum| is_idle(&sum.counters)) {
                let executed = sums.iter().filter(|(_, sum)| !is_idle(&sum.counters));
                let names = profile.names().unwrap_or_default();
                let executed = executed.filter_map(|(key, _)| Some(plain(names.get(key.0)?)));
                recorded.gone.push(Gone {
                    id: profile.build_id.clone(),
                    executed: executed
                        .flat_map(|name| self.placer.defining(&name).to_vec())
                        .collect(),
                });
                recorded.doubt(|| "it ran a program that the build did not make; say under [build] what makes it".to_owned());
            }
            return;
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mapped = match self.mapped(path) {
            Ok(mapped) => mapped,
            Err(reason) => return recorded.doubt(|| format!("the map of '{name}': {reason}")),
        };
        if !recorded.binaries.contains(&name) {
            recorded.binaries.push(name.clone());
        }
        let names = profile.names().ok();
        for (key, sum) in &sums {
            if is_idle(&sum.counters) {
                continue;
            }
            let Some(functions) = mapped.by_key.get(key) else {
                // Functions of system headers count, but have no map.
                match self.of_others(names.as_ref(), key.0) {
                    Some(symbol) => {
                        let id = FunctionId::symbol(&symbol);
                        recorded.trace.functions.push((id, Crossed::Whole));
                    }
                    None => recorded
                        .doubt(|| format!("'{name}' executed a function that its map lacks")),
                }
                continue;
            };
            for index in functions {
                let function = &mapped.map.functions[*index];
                let source = source_of(&mapped.map, function);
                if source.is_some_and(|source| self.placer.is_check_of_meson(&source)) {
                    continue;
                }
                let placed = self.place(&mapped.map, function);
                let is_mixed = sum.records > 1 && function.static_in.is_some();
                let symbol = symbol_of(function);
                if placed.name() != Some(symbol) {
                    let id = FunctionId::symbol(symbol);
                    recorded.trace.functions.push((id, Crossed::Whole));
                }
                match (&*placed, Counts::new(function, &sum.counters)) {
                    (Placed::Nowhere, _) => {}
                    (Placed::Made(ids), _) => {
                        let whole = ids.iter().map(|id| (id.clone(), Crossed::Whole));
                        recorded.trace.functions.extend(whole);
                    }
                    (Placed::Remainder(id, name), _) => {
                        recorded.unplaced.push(name.clone());
                        recorded.trace.functions.push((id.clone(), Crossed::Whole));
                    }
                    (Placed::Edges(id, projection), Ok(counts)) if !is_mixed => {
                        let edges = projection.crossed(&counts, belief);
                        let crossed = Crossed::Edges(edges);
                        recorded.trace.functions.push((id.clone(), crossed));
                    }
                    (Placed::Whole(id) | Placed::Edges(id, _), _) => {
                        recorded.trace.functions.push((id.clone(), Crossed::Whole));
                    }
                }
            }
        }
    }
}

impl Recorder for Llvm<'_> {
    fn environment(&self, folder: &Path) -> Vec<(String, OsString)> {
        // Continuous (%c), a file for each binary (%m) and process (%p): a test may run many.
        let pattern = folder.join("%c%m-%p.profraw");
        vec![("LLVM_PROFILE_FILE".to_owned(), pattern.into_os_string())]
    }

    fn read(&self, folder: &Path) -> Recorded {
        let mut recorded = Recorded::default();
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        recorded.is_empty = files.is_empty();
        let mut contents = Vec::new();
        for file in &files {
            let name = file.file_name().unwrap_or_default().display();
            match fs::read(file) {
                Ok(bytes) => contents.push((name, bytes)),
                Err(error) => recorded.doubt(|| format!("its profile '{name}': {error}")),
            }
        }
        let mut profiles = Vec::new();
        for (name, bytes) in &contents {
            match profile::read(bytes) {
                Ok(found) => profiles.extend(found),
                Err(error) => recorded.doubt(|| format!("its profile '{name}': {error}")),
            }
        }
        let belief = self.belief(&profiles);
        for profile in &profiles {
            let processes = recorded.processes.entry(profile.build_id.clone());
            *processes.or_default() += 1;
            self.read_profile(profile, belief, &mut recorded);
        }
        recorded.unplaced.sort();
        recorded.unplaced.dedup();
        recorded
    }

    fn strays(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.strays).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    fn counted(&self) -> Vec<FunctionId> {
        // Binaries that no test ran hold functions, too.
        for path in self.binaries.values() {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = seen.contains(path);
            drop(seen);
            if !is_known && let Ok(mapped) = self.read_map(path) {
                self.note_counted(path, &mapped.map);
            }
        }
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.iter().cloned().collect()
    }

    fn uncounted(&self, brought: &Brought<'_>) -> Uncounted {
        let mut seen = BTreeSet::new();
        let mut files: Vec<&PathBuf> = self.linked.iter().collect();
        files.retain(|path| {
            // Cargo gives most of its programs two names.
            let place = path.metadata().map(|data| (data.dev(), data.ino()));
            uncounted::is_of_the_build(path, self.placer)
                && place.map_or(true, |place| seen.insert(place))
        });
        let found = workers::map(
            &files,
            || Ok(()),
            |(), path| Ok(self.uncounted_in(path, brought)),
        );
        match found {
            Ok(found) => found.into_iter().fold(Uncounted::default(), Uncounted::and),
            Err(error) => Uncounted {
                blind: Some(error.message),
                ..Uncounted::default()
            },
        }
    }
}

/// A function as the linker knows it.
fn symbol_of(function: &FunctionMap) -> &str {
    // Clang marks names that are to be taken as they are.
    function.name.trim_start_matches('\u{1}')
}

/// What tells one function of a map from another, wherever it is linked.
fn key_of(map: &CoverageMap, function: &FunctionMap) -> u64 {
    let mut hasher = FxHasher::default();
    (function.name_hash, function.hash, function.counters).hash(&mut hasher);
    for file in &function.files {
        map.paths.get(*file).hash(&mut hasher);
    }
    (&function.regions, &function.expressions).hash(&mut hasher);
    hasher.finish()
}

/// The name of a function as its source has it.
fn plain(full: &[u8]) -> String {
    let plain = map::symbol(full);
    // Wrappers that a compiler puts around library functions, as `_FORTIFY_SOURCE` asks for.
    plain.strip_suffix(".inline").unwrap_or(&plain).to_owned()
}

/// The file in which a function begins.
fn source_of(map: &CoverageMap, function: &FunctionMap) -> Option<PathBuf> {
    let path = map.paths.get(*function.files.first()?)?;
    Some(to_path(path))
}

fn is_rust(source: &Path) -> bool {
    source
        .extension()
        .is_some_and(|extension| extension == "rs")
}

fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
