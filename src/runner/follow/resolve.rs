//! Where a path leads: which links it passes, what it ends at, and what of it is not there.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::FileType;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::places::{components, goes_up};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a device, a socket: nothing that a version could hold.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Met {
    /// As it was written, without detours; links are not followed in it.
    pub(super) written: Vec<u8>,
    /// Where it leads.
    pub(super) resolved: Vec<u8>,
    /// The links on the way.
    pub(super) links: Vec<Vec<u8>>,
    /// What it ends at; nothing, if it is not there.
    pub(super) kind: Option<Kind>,
    /// How much of `resolved` is there, if not all of it.
    pub(super) there: usize,
}

/// Resolves an absolute path as a thread sees it. Folders that a relative path was added to must be resolved already.
pub(super) fn resolve(path: &[u8], thread: u32, follows: bool) -> Met {
    let follows = follows || path.ends_with(b"/") || path.ends_with(b"/.");
    let written = normal(path);
    // Most paths contain no link, and then the kernel says so at once.
    if !goes_up(path) && !written.starts_with(b"/proc/") {
        match kind_without_links(&written, follows) {
            Ok(kind) => return Met::at(written, kind),
            Err(Errno::NOENT) => return Met::absent(written),
            Err(_) => {}
        }
    }
    walk(path, written, thread, follows)
}

impl Met {
    fn at(written: Vec<u8>, kind: Kind) -> Self {
        Met {
            resolved: written.clone(),
            there: written.len(),
            links: Vec::new(),
            kind: Some(kind),
            written,
        }
    }

    /// No link is on the way to the first part that is not there.
    fn absent(written: Vec<u8>) -> Self {
        let mut there = written.len();
        while there > 0 {
            there = written[..there]
                .iter()
                .rposition(|byte| *byte == b'/')
                .unwrap_or(0);
            if there == 0 || as_path(&written[..there]).symlink_metadata().is_ok() {
                break;
            }
        }
        Met {
            resolved: written.clone(),
            there,
            links: Vec::new(),
            kind: None,
            written,
        }
    }
}

/// Everything below a folder that is resolved; nothing, if it is more than anybody should wait for.
pub(super) fn all_below(folder: &[u8], most: usize) -> Option<Vec<Met>> {
    let mut all = Vec::new();
    let mut left = vec![as_path(folder).to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let kind = entry.file_type().map_or(Kind::Other, Kind::of);
            if kind == Kind::Folder {
                left.push(entry.path());
            }
            all.push(Met::at(entry.path().into_os_string().into_vec(), kind));
            if all.len() > most {
                return None;
            }
        }
    }
    Some(all)
}

/// What an absolute path without links ends at.
fn kind_without_links(path: &[u8], follows: bool) -> Result<Kind, Errno> {
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follows);
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve)?;
    let mode = rustix::fs::fstat(&file)?.st_mode;
    Ok(match rustix::fs::FileType::from_raw_mode(mode) {
        rustix::fs::FileType::RegularFile => Kind::File,
        rustix::fs::FileType::Directory => Kind::Folder,
        rustix::fs::FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    })
}

/// Goes part by part, as the kernel does.
fn walk(path: &[u8], written: Vec<u8>, thread: u32, follows: bool) -> Met {
    let mut met = Met {
        written,
        resolved: Vec::with_capacity(path.len()),
        links: Vec::new(),
        kind: Some(Kind::Folder),
        there: 0,
    };
    let mut left: VecDeque<Vec<u8>> = components(path).map(<[u8]>::to_vec).collect();
    while let Some(part) = left.pop_front() {
        if part == b".." {
            let end = met.resolved.iter().rposition(|byte| *byte == b'/');
            met.resolved.truncate(end.unwrap_or(0));
            continue;
        }
        let parent = met.resolved.len();
        met.resolved.push(b'/');
        met.resolved.extend(&part);
        // These two are whoever asks, and that is not us.
        if met.resolved == b"/proc/self" || met.resolved == b"/proc/thread-self" {
            met.resolved.truncate(parent);
            left.push_front(thread.to_string().into_bytes());
            continue;
        }
        let Ok(metadata) = as_path(&met.resolved).symlink_metadata() else {
            met.there = parent;
            met.kind = None;
            for part in left {
                met.resolved.push(b'/');
                met.resolved.extend(part);
            }
            return met;
        };
        let kind = Kind::of(metadata.file_type());
        met.kind = Some(kind);
        if kind != Kind::Link || (left.is_empty() && !follows) {
            continue;
        }
        let target = std::fs::read_link(as_path(&met.resolved));
        let Ok(target) = target.map(|target| target.into_os_string().into_vec()) else {
            break;
        };
        met.links.push(met.resolved.clone());
        if met.links.len() > MOST_LINKS {
            break;
        }
        met.resolved
            .truncate(if target.starts_with(b"/") { 0 } else { parent });
        met.kind = Some(Kind::Folder);
        for part in components(&target).rev() {
            left.push_front(part.to_vec());
        }
    }
    if met.resolved.is_empty() {
        met.resolved.push(b'/');
    }
    met.there = met.resolved.len();
    met
}

impl Kind {
    fn of(kind: FileType) -> Self {
        if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Other
        }
    }
}

/// An absolute path without empty parts, `.` and `..`.
fn normal(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(path.len());
    for part in components(path) {
        if part == b".." {
            let end = normal.iter().rposition(|byte| *byte == b'/');
            normal.truncate(end.unwrap_or(0));
        } else {
            normal.push(b'/');
            normal.extend(part);
        }
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_passed_and_told() {
        let folder = tempfile::tempdir().expect("there is room");
        let top = folder.path().canonicalize().expect("it is there");
        let place = |name: &str| top.join(name).into_os_string().into_vec();
        std::fs::create_dir_all(top.join("real/deep")).expect("there is room");
        std::fs::write(top.join("real/file"), "").expect("there is room");
        symlink("real/deep", top.join("folder")).expect("there is room");
        symlink("to-file", top.join("chain")).expect("there is room");
        symlink("folder/../file", top.join("to-file")).expect("there is room");
        symlink("nowhere/at/all", top.join("dangling")).expect("there is room");
        symlink("loop", top.join("loop")).expect("there is room");
        let resolve = |name: &str, follows| resolve(&place(name), 1, follows);

        assert_eq!(
            resolve("real//./file", true),
            Met::at(place("real/file"), Kind::File)
        );
        assert_eq!(resolve("chain", false), Met::at(place("chain"), Kind::Link));
        let met = resolve("chain", true);
        assert_eq!(
            (met.resolved, met.kind),
            (place("real/file"), Some(Kind::File))
        );
        assert_eq!(met.links, ["chain", "to-file", "folder"].map(place));
        // Without detours it would be 'file', but a detour through a link is none.
        let met = resolve("folder/../file", true);
        assert_eq!(
            (met.written, met.resolved),
            (place("file"), place("real/file"))
        );
        let met = resolve("folder/", false);
        assert_eq!(
            (met.resolved, met.kind),
            (place("real/deep"), Some(Kind::Folder))
        );
        let met = resolve("dangling", true);
        assert_eq!((met.resolved, met.kind), (place("nowhere/at/all"), None));
        assert_eq!(
            (met.links, met.there),
            (vec![place("dangling")], place("").len() - 1)
        );
        let met = resolve("real/a/b", true);
        assert_eq!((met.kind, met.there), (None, place("real").len()));
        assert_eq!(resolve("loop", true).links.len(), MOST_LINKS + 1);
        assert_eq!(super::resolve(b"/", 1, true).resolved, b"/");
        assert_eq!(super::resolve(b"/..", 1, true).resolved, b"/");
    }
}
