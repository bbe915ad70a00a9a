//! What is noted while a test runs, and what that comes to.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Seen;
use super::places::Places;
use super::resolve::{Kind, Met};

/// A test that meets more than this is not followed further.
const MOST: usize = 1_000_000;

/// What somebody wanted of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To know about it.
    Look,
    /// To execute it, or to have it at hand for that.
    Execute,
    /// Its content or its entries.
    Read,
    /// Its content, under another name.
    Give,
    /// Its code.
    Load,
    /// Its content, by a tool that reads what it executes, such as valgrind: only the code counts if it does.
    Inspect,
    /// Its place.
    Replace,
    /// The names of what a process has opened or loaded, wherever links led.
    Learn,
}

/// One look at one file by one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) thread: u32,
    pub(super) used: Use,
    pub(super) met: Met,
}

#[derive(Default)]
pub(super) struct Notes {
    /// As it was written, with the links on the way.
    touched: FxHashSet<Vec<u8>>,
    /// Where links lead.
    behind: FxHashSet<Vec<u8>>,
    missing: FxHashSet<Vec<u8>>,
    listed: FxHashSet<Vec<u8>>,
    contents: FxHashMap<Vec<u8>, Openings>,
    executed: FxHashSet<Vec<u8>>,
    /// The system told it the names of what it had opened or loaded.
    learns_names: bool,
    /// Something cannot be known any more.
    pub(super) is_broken: bool,
    pub(super) is_disturbed: bool,
}

/// How often a file was opened, without those openings after which the same thread mapped its code.
#[derive(Default)]
struct Openings {
    count: usize,
    /// Threads that opened it and have mapped nothing yet.
    last: FxHashSet<u32>,
    /// Threads that mapped its code.
    loaded: FxHashSet<u32>,
    /// Threads of tools that opened it, and have not mapped its code yet.
    inspected: FxHashSet<u32>,
}

impl Notes {
    pub(super) fn add(&mut self, finding: &Finding, places: &Places) {
        let Finding { thread, used, met } = finding;
        if *used == Use::Learn {
            self.learns_names = true;
            return;
        }
        for link in &met.links {
            insert(&mut self.touched, link, places);
        }
        if *used == Use::Replace {
            self.add_place(met, places);
            return;
        }
        let Some(kind) = met.kind else {
            self.add_missing(met, places);
            return;
        };
        if *used == Use::Load {
            // A second mapping after one opening is another part of the same file.
            if let Some(openings) = self.contents.get_mut(&met.resolved) {
                openings.count -= usize::from(openings.last.remove(thread));
                openings.inspected.remove(thread);
                openings.loaded.insert(*thread);
            }
            return;
        }
        insert(&mut self.touched, &met.written, places);
        if met.resolved != met.written {
            insert(&mut self.behind, &met.resolved, places);
        }
        if *used == Use::Execute {
            insert(&mut self.executed, &met.resolved, places);
        }
        match (used, kind) {
            (_, Kind::Link) if places.contain(&met.resolved) => {
                let openings = self.contents.entry(met.resolved.clone()).or_default();
                openings.count += 1;
            }
            (Use::Read | Use::Give | Use::Inspect, Kind::Folder) => {
                insert(&mut self.listed, &met.resolved, places);
            }
            (Use::Read | Use::Give | Use::Inspect, Kind::File) if places.contain(&met.resolved) => {
                let openings = match self.contents.get_mut(&met.resolved) {
                    Some(openings) => openings,
                    None => self.contents.entry(met.resolved.clone()).or_default(),
                };
                if *used == Use::Inspect {
                    if !openings.loaded.contains(thread) {
                        openings.inspected.insert(*thread);
                    }
                    return;
                }
                openings.count += 1;
                if *used == Use::Read {
                    openings.last.insert(*thread);
                }
            }
            _ => {}
        }
        self.is_broken |= self.touched.len() + self.missing.len() > MOST;
    }

    /// Whoever puts something somewhere needs the folder.
    fn add_place(&mut self, met: &Met, places: &Places) {
        let end = met.resolved.iter().rposition(|byte| *byte == b'/');
        let folder = &met.resolved[..end.unwrap_or(0)];
        if met.there >= folder.len() {
            insert(&mut self.touched, folder, places);
        } else {
            self.add_absent(folder, met.there, places);
        }
    }

    fn add_missing(&mut self, met: &Met, places: &Places) {
        // A link that leads nowhere is there itself.
        if !met.links.contains(&met.written) {
            insert(&mut self.missing, &met.written, places);
        }
        self.add_absent(&met.resolved, met.there, places);
    }

    /// If any part of this came as a link or a file, the path would end elsewhere.
    fn add_absent(&mut self, resolved: &[u8], there: usize, places: &Places) {
        let ends = (there + 1..resolved.len()).filter(|end| resolved[*end] == b'/');
        for end in ends.chain([resolved.len()]) {
            insert(&mut self.missing, &resolved[..end], places);
        }
    }

    /// What was seen, unless something may have been overlooked.
    pub(super) fn seen(self) -> Option<Seen> {
        let opened = self.contents.keys().cloned();
        let entered = paths(self.executed.into_iter().chain(opened));
        let read = self.contents.into_iter();
        let is_read = |openings: &Openings| openings.count > 0 || !openings.inspected.is_empty();
        let read = read.filter(|(_, openings)| is_read(openings));
        (!self.is_broken).then(|| Seen {
            disturbed: self.is_disturbed,
            behind: match self.learns_names {
                true => BTreeSet::new(),
                false => paths(self.behind.difference(&self.touched).cloned()),
            },
            touched: paths(self.touched.into_iter().chain(self.behind)),
            missing: paths(self.missing),
            listed: paths(self.listed),
            read: paths(read.map(|(path, _)| path)),
            entered,
        })
    }
}

fn insert(set: &mut FxHashSet<Vec<u8>>, path: &[u8], places: &Places) {
    if places.contain(path) && !set.contains(path) {
        set.insert(path.to_vec());
    }
}

fn paths(found: impl IntoIterator<Item = Vec<u8>>) -> BTreeSet<PathBuf> {
    found
        .into_iter()
        .map(|path| PathBuf::from(OsString::from_vec(path)))
        .collect()
}
