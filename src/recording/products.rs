//! What the build made besides code, and tests may look at: files by their content, folders by their entries.
//!
//! Tests write into the build folder, too. What they leave there is told from what the build made by when it was last changed:
//! everything is looked over when the build is done, and again when the tests have run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::binaries::files_below;
use crate::digest::{self, Digest};
use crate::history::{Product, TestRecord};
use crate::repo::RepoPath;

/// When a file was last changed, and how long it is.
type Stamp = (u128, u64);

/// The files of a workshop that are not of the tree, as the build left them.
pub struct Products {
    /// The folder of the workshop, by whose places files are known.
    root: PathBuf,
    folders: Vec<PathBuf>,
    tracked: BTreeSet<RepoPath>,
    made: BTreeMap<RepoPath, Stamp>,
    /// What tests of this workshop left, and where that is kept.
    left: BTreeMap<RepoPath, Stamp>,
    kept: PathBuf,
}

impl Products {
    /// Looks over some folders of a workshop when everything is built and no test has run. `tracked` are the places of what is
    /// in the tree.
    #[must_use]
    pub fn look_over(root: &Path, folders: &[&Path], tracked: BTreeSet<RepoPath>) -> Self {
        let mut products = Products {
            root: root.to_owned(),
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            tracked,
            made: BTreeMap::new(),
            left: BTreeMap::new(),
            kept: left_in(root),
        };
        products.left = products.read_left();
        products.made = products.now();
        let left = &products.left;
        products
            .made
            .retain(|place, stamp| left.get(place) != Some(stamp));
        products.left.clear();
        products
    }

    fn now(&self) -> BTreeMap<RepoPath, Stamp> {
        let folders: Vec<&Path> = self.folders.iter().map(PathBuf::as_path).collect();
        let files = files_below(&folders).into_iter();
        let stamped = files.filter_map(|path| {
            let place = place_in(&self.root, &path)?;
            let stamp = stamp(&fs::symlink_metadata(&path).ok()?);
            (!self.tracked.contains(&place)).then_some((place, stamp))
        });
        stamped.collect()
    }

    /// Keeps in mind what the tests that ran left, for whoever looks over the workshop next.
    pub fn note_left(&self) {
        let mut left = self.read_left();
        let now = self.now();
        left.retain(|place, stamp| now.get(place) == Some(stamp));
        for (place, stamp) in now {
            if self.made.get(&place) != Some(&stamp) {
                left.insert(place, stamp);
            }
        }
        let mut text = Vec::new();
        for (place, (modified, length)) in &left {
            text.extend(format!("{modified}\t{length}\t").as_bytes());
            text.extend(place.as_bytes());
            text.push(0);
        }
        // Without it, what tests left is taken for the build's, which selects more.
        let _ = fs::write(&self.kept, text);
    }

    fn read_left(&self) -> BTreeMap<RepoPath, Stamp> {
        let text = fs::read(&self.kept).unwrap_or_default();
        let entry = |entry: &[u8]| {
            let mut parts = entry.splitn(3, |byte| *byte == b'\t');
            let mut number = || {
                std::str::from_utf8(parts.next()?)
                    .ok()?
                    .parse::<u128>()
                    .ok()
            };
            let stamp = (number()?, u64::try_from(number()?).ok()?);
            Some((RepoPath::new(parts.next()?), stamp))
        };
        text.split(|byte| *byte == 0).filter_map(entry).collect()
    }

    /// What the build made at a place, by its content.
    #[must_use]
    pub fn file(&self, place: &RepoPath) -> Product {
        let Some(made) = self.made.get(place) else {
            return self.other(place);
        };
        let path = place.under(&self.root);
        let (Ok(before), Ok(bytes)) = (fs::symlink_metadata(&path), fs::read(&path)) else {
            return Product::Altered;
        };
        match stamp(&before) == *made && before.len() == bytes.len() as u64 {
            true => Product::Made(digest::bytes(&bytes)),
            false => Product::Altered,
        }
    }

    /// Whether the build made something at a place.
    fn presence(&self, place: &RepoPath) -> Product {
        match self.made.contains_key(place) {
            true => Product::There,
            false => self.other(place),
        }
    }

    /// At a place where the build made no file there may be a folder, or a link.
    fn other(&self, place: &RepoPath) -> Product {
        let path = place.under(&self.root);
        if let Ok(target) = fs::read_link(&path) {
            return Product::Made(digest::bytes(target.as_os_str().as_encoded_bytes()));
        }
        let within = place.entries();
        let mut after = self.made.range(within.clone()..);
        let is_folder = after
            .next()
            .is_some_and(|(first, _)| first.as_bytes().starts_with(within.as_bytes()));
        match is_folder {
            true => Product::Made(0),
            false => Product::Nothing,
        }
    }

    /// The entries that the build made in a folder.
    #[must_use]
    pub fn entries(&self, folder: &RepoPath) -> Product {
        let within = folder.entries();
        let names: BTreeSet<&[u8]> = self
            .made
            .range(within.clone()..)
            .map_while(|(place, _)| place.as_bytes().strip_prefix(within.as_bytes()))
            .filter_map(|rest| rest.split(|byte| *byte == b'/').next())
            .collect();
        let mut digest = Digest::new();
        for name in names {
            digest.absorb_bytes(name);
        }
        Product::Made(digest.finish())
    }

    /// What the build made wherever some tests looked.
    #[must_use]
    pub fn seen_by<'t>(
        &self,
        tests: impl IntoIterator<Item = &'t TestRecord>,
    ) -> BTreeMap<RepoPath, Product> {
        let mut found = BTreeMap::new();
        for test in tests {
            let looked = test.looked.as_ref();
            let Some(beyond) = looked.and_then(|looked| looked.beyond.as_ref()) else {
                continue;
            };
            for place in &beyond.made {
                let is_read = beyond.made_read.contains(place);
                match found.get(place) {
                    Some(Product::There) if is_read => {
                        found.insert(place.clone(), self.file(place));
                    }
                    Some(_) => {}
                    None if is_read => {
                        found.insert(place.clone(), self.file(place));
                    }
                    None => {
                        found.insert(place.clone(), self.presence(place));
                    }
                }
            }
            for folder in &beyond.made_listed {
                let key = folder.entries();
                found.entry(key).or_insert_with(|| self.entries(folder));
            }
        }
        found
    }
}

/// Where what tests left in a workshop is kept.
#[must_use]
pub fn left_in(root: &Path) -> PathBuf {
    root.join("left")
}

/// The place of a path in a workshop.
#[must_use]
pub fn place_in(root: &Path, path: &Path) -> Option<RepoPath> {
    let place = path.strip_prefix(root).ok()?;
    Some(RepoPath::new(place.as_os_str().as_encoded_bytes()))
}

fn stamp(metadata: &Metadata) -> Stamp {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let modified = modified.duration_since(UNIX_EPOCH);
    let modified = modified.map_or(0, |time| time.as_nanos());
    (modified, metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn what_tests_leave_is_not_of_the_build() {
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path();
        let out = root.join("out");
        fs::create_dir_all(out.join("data")).expect("there is room");
        let write =
            |name: &str, text: &str| fs::write(out.join(name), text).expect("there is room");
        write("data/table", "1");
        write("config", "a");
        let look = || Products::look_over(root, &[&out], BTreeSet::new());
        let first = look();
        let made = first.file(&place("out/config"));
        assert!(matches!(made, Product::Made(_)));
        assert_eq!(first.presence(&place("out/config")), Product::There);
        assert_eq!(first.file(&place("out/log")), Product::Nothing);
        assert_eq!(first.file(&place("out/data")), Product::Made(0));
        let entries = first.entries(&place("out"));
        // A test writes a log and changes what the build made.
        write("log", "x");
        write("config", "changed");
        assert_eq!(first.file(&place("out/config")), Product::Altered);
        assert_eq!(first.file(&place("out/log")), Product::Nothing);
        first.note_left();
        let second = look();
        assert_eq!(second.file(&place("out/log")), Product::Nothing);
        assert_eq!(second.file(&place("out/config")), Product::Nothing);
        assert_ne!(second.entries(&place("out")), entries);
        // The build makes it anew.
        std::thread::sleep(std::time::Duration::from_millis(20));
        write("config", "a");
        let third = look();
        assert_eq!(third.file(&place("out/config")), made);
        assert_eq!(third.entries(&place("out")), entries);
    }
}
