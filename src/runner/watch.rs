//! Which files of a tree somebody opens: the kernel tells (inotify), for every process, at next to no cost.
//!
//! It does not tell who looks at a file without opening it, who looks for one that is not there, nor who opens a file through a
//! hard link elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::repo::RepoPath;

/// The files that were opened; nothing, if some may be missing.
pub type Opened = Option<BTreeSet<RepoPath>>;

/// A watch over the folders of a tree.
pub struct Watch {
    inotify: OwnedFd,
    folders: BTreeMap<i32, RepoPath>,
}

impl Watch {
    /// Watches the folders of some files; nothing, if the system does not let us.
    #[must_use]
    pub fn over(tree: &Path, files: &BTreeSet<RepoPath>) -> Option<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let parents: BTreeSet<RepoPath> = files.iter().map(parent).collect();
        let mut folders = BTreeMap::new();
        for folder in parents {
            let path = folder.under(tree);
            // A file that was moved is opened where we do not look.
            let flags = WatchFlags::OPEN | WatchFlags::MOVED_FROM | WatchFlags::ONLYDIR;
            let number = inotify::add_watch(&inotify, path, flags).ok()?;
            folders.insert(number, folder);
        }
        Some(Watch { inotify, folders })
    }

    /// What was opened since this was last asked.
    #[must_use]
    pub fn opened(&self) -> Opened {
        let mut opened = BTreeSet::new();
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::WOULDBLOCK) => return Some(opened),
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return None;
            }
            if let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name()) {
                opened.insert(folder.join(name.to_bytes()));
            }
        }
    }
}

fn parent(file: &RepoPath) -> RepoPath {
    file.ancestors().next().unwrap_or(RepoPath::new(""))
}

/// Tells the files that tests open apart, as far as that can be: what is opened while several run counts for each of them.
pub struct Readers<'a> {
    watch: Option<&'a Watch>,
    running: Mutex<BTreeMap<usize, Opened>>,
}

impl<'a> Readers<'a> {
    #[must_use]
    pub fn new(watch: Option<&'a Watch>) -> Self {
        Readers {
            watch,
            running: Mutex::default(),
        }
    }

    pub fn start(&self, test: usize) {
        let mut running = self.lock();
        self.share_out(&mut running);
        running.insert(test, self.watch.map(|_| BTreeSet::new()));
    }

    /// Takes in what was opened, so that the kernel's queue does not overflow.
    pub fn look(&self) {
        self.share_out(&mut self.lock());
    }

    /// What a test that has ended opened.
    pub fn end(&self, test: usize) -> Opened {
        let mut running = self.lock();
        self.share_out(&mut running);
        running.remove(&test).flatten()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Opened>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share_out(&self, running: &mut BTreeMap<usize, Opened>) {
        let Some(watch) = self.watch else {
            return;
        };
        let opened = watch.opened();
        for known in running.values_mut() {
            match (&opened, &mut *known) {
                (Some(opened), Some(known)) => known.extend(opened.iter().cloned()),
                _ => *known = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn tree() -> (tempfile::TempDir, BTreeSet<RepoPath>) {
        let folder = tempfile::tempdir().expect("there is room");
        let top = folder.path();
        std::fs::create_dir(top.join("d")).expect("there is room");
        for file in ["a", "d/b", "d/c"] {
            std::fs::write(top.join(file), "x").expect("there is room");
        }
        (folder, ["a", "d/b", "d/c"].map(path).into())
    }

    #[test]
    fn what_is_opened_or_moved_is_seen() {
        let (folder, files) = tree();
        let watch = Watch::over(folder.path(), &files).expect("inotify works here");
        assert_eq!(watch.opened(), Some(BTreeSet::new()));
        let read = |file: &str| std::fs::read(folder.path().join(file)).expect("it is there");
        read("a");
        assert_eq!(watch.opened(), Some([path("a")].into()));
        std::fs::metadata(folder.path().join("d/b")).expect("it is there");
        assert_eq!(watch.opened(), Some(BTreeSet::new()));
        let elsewhere = tempfile::tempdir_in(folder.path()).expect("there is room");
        std::fs::rename(folder.path().join("d/c"), elsewhere.path().join("c"))
            .expect("it can be moved");
        assert!(watch.opened().expect("all is seen").contains(&path("d/c")));
    }

    #[test]
    fn too_much_to_tell_is_told() {
        let (folder, files) = tree();
        let watch = Watch::over(folder.path(), &files).expect("inotify works here");
        for turn in 0..200_000 {
            // Equal neighbours are told once.
            let file = if turn % 2 == 0 { "a" } else { "d/b" };
            std::fs::File::open(folder.path().join(file)).expect("it is there");
        }
        assert_eq!(watch.opened(), None);
    }

    #[test]
    fn what_is_opened_while_two_run_counts_for_both() {
        let (folder, files) = tree();
        let watch = Watch::over(folder.path(), &files).expect("inotify works here");
        let readers = Readers::new(Some(&watch));
        let read = |file: &str| std::fs::read(folder.path().join(file)).expect("it is there");
        readers.start(1);
        read("a");
        readers.start(2);
        read("d/b");
        assert_eq!(readers.end(1), Some(["a", "d/b"].map(path).into()));
        read("d/c");
        assert_eq!(readers.end(2), Some(["d/b", "d/c"].map(path).into()));
        let blind = Readers::new(None);
        blind.start(1);
        assert_eq!(blind.end(1), None);
    }
}
