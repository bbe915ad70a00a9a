//! The folders that matter, and those in which nothing leads to them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Folders of the system, whose links lead to the system: what is looked at below them is dropped before anything is resolved.
const OF_THE_SYSTEM: [&[u8]; 9] = [
    b"/usr/", b"/lib/", b"/lib32/", b"/lib64/", b"/bin/", b"/sbin/", b"/etc/", b"/sys/", b"/dev/",
];

/// What people link into by hand, or what stands for the files of a process.
const LIVELY: [&[u8]; 4] = [b"/usr/local/", b"/dev/fd", b"/dev/std", b"/dev/shm/"];

/// What leads out of a process's folder in `/proc`.
const DOORS: [&[u8]; 6] = [b"cwd", b"root", b"exe", b"fd", b"map_files", b"task"];

pub(super) struct Places {
    roots: Vec<Vec<u8>>,
    quiet: Vec<&'static [u8]>,
}

impl Places {
    pub(super) fn new(roots: &[&Path]) -> Self {
        let roots: Vec<Vec<u8>> = roots
            .iter()
            .map(|root| root.canonicalize().unwrap_or_else(|_| root.to_path_buf()))
            .map(|root| root.as_os_str().as_bytes().to_vec())
            .collect();
        let is_apart = |place: &&[u8]| {
            let bare = place.strip_suffix(b"/").unwrap_or(place);
            !roots
                .iter()
                .any(|root| is_below(root, bare) || is_below(bare, root))
        };
        let quiet = OF_THE_SYSTEM.into_iter().filter(is_apart).collect();
        Places { roots, quiet }
    }

    /// Whether a path lies in one of the folders that matter, or is one.
    pub(super) fn contain(&self, path: &[u8]) -> bool {
        self.roots.iter().any(|root| is_below(path, root))
    }

    /// Whether an absolute path can be dropped as it is written.
    pub(super) fn are_far_from(&self, path: &[u8]) -> bool {
        if let Some(rest) = path.strip_prefix(b"/proc/") {
            return !components(rest).any(|part| part == b".." || DOORS.contains(&part));
        }
        self.quiet.iter().any(|place| path.starts_with(place))
            && !LIVELY.iter().any(|place| path.starts_with(place))
            && !goes_up(path)
    }
}

/// Whether a path names a folder, or something in it.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    folder == b"/"
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// The parts of a path that mean something.
pub(super) fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
}

pub(super) fn goes_up(path: &[u8]) -> bool {
    path.windows(2).any(|pair| pair == b"..") && components(path).any(|part| part == b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_unseen_cannot_lead_to_a_root() {
        let places = Places::new(&[Path::new("/nonexistent/tree")]);
        for far in [
            "/usr/lib/libc.so",
            "/etc/passwd",
            "/proc/self/maps",
            "/dev/null",
        ] {
            assert!(places.are_far_from(far.as_bytes()), "{far}");
        }
        for near in [
            "/usr/../nonexistent/tree/a",
            "/usr/local/lib/x",
            "/proc/self/cwd/a",
            "/proc/17/fd/3",
            "/dev/stdin",
            "/tmp/a",
            "/usrlocal",
        ] {
            assert!(!places.are_far_from(near.as_bytes()), "{near}");
        }
        let places = Places::new(&[Path::new("/usr/src/tree")]);
        assert!(!places.are_far_from(b"/usr/lib/libc.so"));
        assert!(places.contain(b"/usr/src/tree/a") && places.contain(b"/usr/src/tree"));
        assert!(!places.contain(b"/usr/src/trees"));
    }
}
