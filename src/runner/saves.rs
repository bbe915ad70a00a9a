//! When somebody saves a file of a work tree: the kernel tells (inotify), also of editors that write another file and rename it.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::repo::RepoPath;

/// Whether a file or folder is worth a look.
type Counts<'a> = &'a dyn Fn(&RepoPath) -> bool;

/// A watch over all folders of a work tree that count.
pub struct Saves {
    top: PathBuf,
    inotify: OwnedFd,
    folders: BTreeMap<i32, RepoPath>,
}

/// What the kernel told of one file.
struct Told {
    folder: i32,
    flags: ReadFlags,
    name: Option<Vec<u8>>,
}

impl Saves {
    /// Watches from now on.
    pub fn below(top: &Path, counts: Counts<'_>) -> Result<Self> {
        let inotify =
            inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(cannot)?;
        let mut saves = Saves {
            top: top.to_path_buf(),
            inotify,
            folders: BTreeMap::new(),
        };
        saves.add(RepoPath::new(""), counts)?;
        Ok(saves)
    }

    /// Waits for a save, but not longer than that; whether there was one.
    pub fn wait(&mut self, longest: Duration, counts: Counts<'_>) -> Result<bool> {
        let mut ready = [PollFd::new(&self.inotify, PollFlags::IN)];
        let longest = Timespec::try_from(longest).ok();
        match poll(&mut ready, longest.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(cannot(error)),
        }
        let mut is_saved = false;
        for told in self.told()? {
            if told.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                // Folders may have come that we were not told of.
                self.add(RepoPath::new(""), counts)?;
                is_saved = true;
            }
            if told.flags.contains(ReadFlags::IGNORED) {
                self.folders.remove(&told.folder);
            }
            let (Some(folder), Some(name)) = (self.folders.get(&told.folder), told.name) else {
                continue;
            };
            let path = folder.join(&name);
            if !counts(&path) {
                continue;
            }
            is_saved = true;
            let comes = ReadFlags::CREATE | ReadFlags::MOVED_TO;
            if told.flags.contains(ReadFlags::ISDIR) && told.flags.intersects(comes) {
                self.add(path, counts)?;
            }
        }
        Ok(is_saved)
    }

    fn told(&self) -> Result<Vec<Told>> {
        let mut all = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => all.push(Told {
                    folder: event.wd(),
                    flags: event.events(),
                    name: event.file_name().map(|name| name.to_bytes().to_vec()),
                }),
                Err(Errno::WOULDBLOCK) => return Ok(all),
                Err(Errno::INTR) => {}
                Err(error) => return Err(cannot(error)),
            }
        }
    }

    /// Watches a folder and those below it. One that was moved is known by its new name afterwards.
    fn add(&mut self, folder: RepoPath, counts: Counts<'_>) -> Result<()> {
        let flags = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::ONLYDIR;
        let mut waiting = vec![folder];
        while let Some(folder) = waiting.pop() {
            let path = folder.under(&self.top);
            match inotify::add_watch(&self.inotify, &path, flags) {
                Ok(number) => self.folders.insert(number, folder.clone()),
                // It went before we came, or nobody here can build from it.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => continue,
                Err(error) => return Err(cannot(error)),
            };
            // After the watch, so that no folder comes in between.
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let path = folder.join(entry.file_name().as_encoded_bytes());
                if is_folder && counts(&path) {
                    waiting.push(path);
                }
            }
        }
        Ok(())
    }
}

fn cannot(error: Errno) -> Error {
    let message = Error::new(format!("cannot watch the work tree: {error}"));
    match error {
        Errno::NOSPC => message.hint("allow more: 'sysctl fs.inotify.max_user_watches=1000000'"),
        Errno::MFILE => message.hint("allow more: 'sysctl fs.inotify.max_user_instances=1000'"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn counts(path: &RepoPath) -> bool {
        !path.as_bytes().starts_with(b"left")
    }

    /// Takes in what was told until nothing more is.
    fn settle(saves: &mut Saves) -> bool {
        let mut is_saved = false;
        loop {
            let told = saves.wait(Duration::ZERO, &counts).expect("inotify works");
            if !told {
                return is_saved;
            }
            is_saved = true;
        }
    }

    #[test]
    fn saves_are_seen_wherever_they_happen() {
        let folder = tempfile::tempdir().expect("there is room");
        let top = folder.path();
        fs::create_dir_all(top.join("a/b")).expect("there is room");
        let mut saves = Saves::below(top, &counts).expect("inotify works here");
        assert!(!settle(&mut saves));
        let write = |file: &str| fs::write(top.join(file), "x").expect("there is room");
        write("a/b/file");
        assert!(saves.wait(SOON, &counts).expect("inotify works"));
        settle(&mut saves);
        // Folders that come all at once, and one that is moved.
        fs::create_dir_all(top.join("c/d/e")).expect("there is room");
        fs::rename(top.join("a"), top.join("moved")).expect("it can be moved");
        assert!(settle(&mut saves));
        for file in ["c/d/e/file", "moved/b/file"] {
            write(file);
            assert!(settle(&mut saves), "{file}");
        }
        // As editors do it.
        write("left_out");
        assert!(!settle(&mut saves));
        fs::rename(top.join("left_out"), top.join("c/d/e/file")).expect("it can be moved");
        assert!(settle(&mut saves));
        fs::remove_file(top.join("c/d/e/file")).expect("it is there");
        assert!(settle(&mut saves));
    }

    #[test]
    fn what_does_not_count_is_not_watched() {
        let folder = tempfile::tempdir().expect("there is room");
        let top = folder.path();
        fs::create_dir_all(top.join("left/alone")).expect("there is room");
        let mut saves = Saves::below(top, &counts).expect("inotify works here");
        assert_eq!(saves.folders.len(), 1);
        fs::create_dir(top.join("left_too")).expect("there is room");
        fs::write(top.join("left_too/file"), "x").expect("there is room");
        assert!(!settle(&mut saves));
        assert_eq!(saves.folders.len(), 1);
    }
}
