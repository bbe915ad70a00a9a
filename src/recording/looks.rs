//! From what the processes of a test asked the system to what the test looked at, in the tree and in what the build made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::products::place_in;
use crate::history::{Beyond, Looked};
use crate::repo::RepoPath;
use crate::runner::follow::Seen;

/// The tree and the workshop around it.
pub(super) struct Surroundings<'a> {
    pub(super) root: &'a Path,
    pub(super) tree: &'a Path,
    /// A folder of ours in the build.
    pub(super) own: &'a Path,
    pub(super) files: &'a BTreeSet<RepoPath>,
    /// The folders of the tree, without its top.
    pub(super) folders: &'a BTreeSet<RepoPath>,
}

impl Surroundings<'_> {
    /// What a test looked at.
    pub(super) fn looked(&self, seen: &Seen) -> Looked {
        let mut touched = BTreeSet::new();
        let mut beyond = Beyond::default();
        for path in seen.touched.iter().filter(|path| !self.is_ours(path)) {
            match self.in_tree(path) {
                Some(place) => {
                    if !self.is_of_the_tree(path) {
                        // Inside of a submodule or behind a link the build may have made it, too.
                        beyond.made.extend(place_in(self.root, path));
                    }
                    if !seen.read.contains(path) {
                        beyond.asked.insert(place.clone());
                    }
                    touched.insert(place);
                }
                None => beyond.made.extend(place_in(self.root, path)),
            }
        }
        for path in seen.missing.iter().filter(|path| !self.is_ours(path)) {
            if let Ok(place) = path.strip_prefix(self.tree) {
                let place = RepoPath::new(place.as_os_str().as_encoded_bytes());
                beyond.missing.insert(place);
            }
            beyond.made.extend(place_in(self.root, path));
        }
        for path in seen.listed.iter().filter(|path| !self.is_ours(path)) {
            beyond.listed.extend(self.in_tree(path));
            beyond.made_listed.extend(place_in(self.root, path));
        }
        // One path may lead to a file that was asked about, and another to the same one that was read.
        for path in &seen.read {
            if let Some(place) = self.in_tree(path) {
                beyond.asked.remove(&place);
            }
        }
        let is_made = |path: &&PathBuf| !self.is_of_the_tree(path) && !self.is_ours(path);
        let read = seen.read.iter().filter(is_made);
        beyond.made_read = read.filter_map(|path| place_in(self.root, path)).collect();
        let behind = seen.behind.iter().filter(is_made);
        let behind = behind.filter_map(|path| place_in(self.root, path));
        beyond.made_behind = behind.filter(|place| beyond.made.contains(place)).collect();
        Looked {
            touched,
            beyond: Some(beyond),
        }
    }

    fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(self.own)
    }

    /// Whether the tree itself has a file or folder at a path.
    fn is_of_the_tree(&self, path: &Path) -> bool {
        let place = path.strip_prefix(self.tree);
        place.is_ok_and(|place| {
            let place = RepoPath::new(place.as_os_str().as_encoded_bytes());
            place.as_bytes().is_empty()
                || self.files.contains(&place)
                || self.folders.contains(&place)
        })
    }

    /// The file or folder of the tree that a path leads to; inside of a submodule or behind a link, that one.
    fn in_tree(&self, path: &Path) -> Option<RepoPath> {
        let place = path.strip_prefix(self.tree).ok()?;
        let place = RepoPath::new(place.as_os_str().as_encoded_bytes());
        if self.is_of_the_tree(path) {
            return Some(place);
        }
        place.ancestors().find(|above| self.files.contains(above))
    }
}
