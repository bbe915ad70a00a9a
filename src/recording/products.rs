//! What the build made besides code, and tests may look at: files by their content, folders by their entries.
//!
//! Tests write into the build folder, too. What they leave there is told from what the build made by when it was last changed:
//! everything is looked over when the build is done, and again when the tests have run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::digest::{self, Digest};
use crate::history::{Compiled, Product, TestRecord};
use crate::objects::{Contents, digest_of_crate};
use crate::repo::RepoPath;
use crate::runner::cargo::dep_info;

/// What something is and who may do what with it, when it was last changed, and how long it is. Of folders only the first counts.
type Stamp = (u32, u128, u64);

const PIECE: usize = 1 << 20;

/// CMake writes where everything is into what CTest reads; no test looks at that.
const LIST_OF_CTEST: &str = "CTestTestfile.cmake";

/// What the build left in a workshop.
pub struct Products {
    /// The folder of the workshop, by whose places files are known.
    root: PathBuf,
    folders: Vec<PathBuf>,
    tracked: BTreeSet<RepoPath>,
    made: BTreeMap<RepoPath, Stamp>,
    /// Files of the tree that the build changed in its copy.
    altered: BTreeMap<RepoPath, Product>,
}

impl Products {
    /// Looks over some folders of a workshop when everything is built and no test has run. `tracked` are the places of what is
    /// in the tree, `altered` the files of the tree that are not what was copied.
    #[must_use]
    pub fn look_over(
        root: &Path,
        folders: &[&Path],
        tracked: BTreeSet<RepoPath>,
        altered: &[(RepoPath, PathBuf)],
    ) -> Self {
        let mut products = Products {
            root: root.to_owned(),
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            tracked,
            made: BTreeMap::new(),
            altered: BTreeMap::new(),
        };
        let left = products.read_left();
        products.made = products.now();
        products
            .made
            .retain(|place, stamp| left.get(place) != Some(stamp));
        let altered = altered.iter();
        products.altered = altered
            .map(|(file, path)| (file.clone(), products.content(path, None)))
            .collect();
        products
    }

    fn now(&self) -> BTreeMap<RepoPath, Stamp> {
        let mut found = BTreeMap::new();
        let mut waiting = self.folders.clone();
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(metadata) = fs::symlink_metadata(&path) else {
                    continue;
                };
                let place = place_in(&self.root, &path);
                let place = place.filter(|place| !self.tracked.contains(place));
                found.extend(place.map(|place| (place, stamp(&metadata))));
                if metadata.is_dir() {
                    waiting.push(path);
                }
            }
        }
        found
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
        for (place, (mode, modified, length)) in &left {
            text.extend(format!("{mode}\t{modified}\t{length}\t").as_bytes());
            text.extend(place.as_bytes());
            text.push(0);
        }
        // Without it, what tests left is taken for the build's, which selects more.
        let _ = fs::write(left_in(&self.root), text);
    }

    fn read_left(&self) -> BTreeMap<RepoPath, Stamp> {
        let text = fs::read(left_in(&self.root)).unwrap_or_default();
        let entry = |entry: &[u8]| {
            let mut parts = entry.splitn(4, |byte| *byte == b'\t');
            let mut number = || {
                std::str::from_utf8(parts.next()?)
                    .ok()?
                    .parse::<u128>()
                    .ok()
            };
            let mode = u32::try_from(number()?).ok()?;
            let stamp = (mode, number()?, u64::try_from(number()?).ok()?);
            Some((RepoPath::new(parts.next()?), stamp))
        };
        text.split(|byte| *byte == 0).filter_map(entry).collect()
    }

    /// What the build made at a place.
    #[must_use]
    pub fn file(&self, place: &RepoPath, is_read: bool) -> Product {
        let Some(made) = self.made.get(place) else {
            return Product::default();
        };
        let path = place.under(&self.root);
        let before = fs::symlink_metadata(&path);
        if !before.is_ok_and(|now| stamp(&now) == *made) {
            return Product {
                mode: made.0,
                ..Product::default()
            };
        }
        self.content(&path, Some(is_read))
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
        Product {
            mode: 1,
            is_code: false,
            digest: Some(digest.finish()),
        }
    }

    /// What the build made of which code, wherever some tests looked.
    #[must_use]
    pub fn compiled<'t>(
        &self,
        contents: Contents,
        tests: impl IntoIterator<Item = &'t TestRecord>,
    ) -> Compiled {
        let mut products = self.seen_by(tests);
        let links = products.keys().filter_map(|place| {
            let path = place.under(&self.root);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
            let end = is_link.then(|| path.canonicalize().ok()).flatten()?;
            let end = place_in(&self.root, &end).filter(|end| self.made.contains_key(end))?;
            Some((place.clone(), end))
        });
        let links: BTreeMap<RepoPath, RepoPath> = links.collect();
        for end in links.values() {
            if !products.contains_key(end) {
                products.insert(end.clone(), self.file(end, false));
            }
        }
        Compiled {
            contents,
            products,
            links,
            altered: self.altered.clone(),
        }
    }

    /// What is at a path. Code is only looked into if it is read, or if that is not known.
    fn content(&self, path: &Path, is_read: Option<bool>) -> Product {
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return Product::default();
        };
        let mut product = Product {
            mode: metadata.mode(),
            ..Product::default()
        };
        if metadata.is_symlink() {
            let target = fs::read_link(path).ok();
            product.digest =
                target.map(|target| digest::bytes(target.as_os_str().as_encoded_bytes()));
        } else if metadata.is_file() {
            product.is_code = is_code(path);
            if !product.is_code || is_read != Some(false) {
                product.digest = self.digest_of(path);
            }
        } else {
            // What is in a folder is for who lists it.
            product.digest = Some(0);
        }
        product
    }

    /// Of the content of a file. What is not of a kind that we know is read piece by piece: it may not fit into memory.
    fn digest_of(&self, path: &Path) -> Option<u64> {
        if dep_info::is_dep_info(path)
            && let Ok(note) = fs::read(path)
            && let Some(parts) = dep_info::sorted(&note)
        {
            let mut digest = Digest::new();
            parts.iter().for_each(|part| digest.absorb_bytes(part));
            return Some(digest.finish());
        }
        if path.file_name().is_some_and(|name| name == LIST_OF_CTEST)
            && let Ok(text) = fs::read(path)
        {
            let place = self.root.as_os_str().as_encoded_bytes();
            return Some(digest::bytes(&without(&text, place)));
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "rlib")
            && let Ok(library) = fs::read(path)
            && let Some(digest) = digest_of_crate(&library)
        {
            return Some(digest);
        }
        let mut file = fs::File::open(path).ok()?;
        let mut digest = Digest::new();
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            let length = file.by_ref().take(PIECE as u64).read_to_end(&mut piece);
            if length.ok()? == 0 {
                return Some(digest.finish());
            }
            digest.absorb_bytes(&piece);
        }
    }

    fn seen_by<'t>(
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
                let is_known = found
                    .get(place)
                    .is_some_and(|known: &Product| known.digest.is_some() || !is_read);
                if !is_known {
                    found.insert(place.clone(), self.file(place, is_read));
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

/// A text without the place where the project is built.
fn without(text: &[u8], place: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest
        .windows(place.len().max(1))
        .position(|part| part == place)
    {
        out.extend(&rest[..at]);
        rest = &rest[at + place.len()..];
    }
    out.extend(rest);
    out
}

/// Whether a file is an object, a program or a library, by its first bytes: most are large.
fn is_code(path: &Path) -> bool {
    let mut first = Vec::new();
    let file = fs::File::open(path);
    let read = file.and_then(|file| file.take(8).read_to_end(&mut first));
    let magic: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"!<thin>\n"];
    read.is_ok() && magic.iter().any(|magic| first.starts_with(magic))
}

fn stamp(metadata: &Metadata) -> Stamp {
    if metadata.is_dir() {
        return (metadata.mode(), 0, 0);
    }
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let modified = modified.duration_since(UNIX_EPOCH);
    let modified = modified.map_or(0, |time| time.as_nanos());
    (metadata.mode(), modified, metadata.len())
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
        write("code", "\x7fELF");
        let look = || Products::look_over(root, &[&out], BTreeSet::new(), &[]);
        let first = look();
        let file = |products: &Products, name: &str| products.file(&place(name), false);
        let made = file(&first, "out/config");
        assert!(made.digest.is_some() && made.is_same(made, false));
        assert_eq!(file(&first, "out/log"), Product::default());
        assert!(file(&first, "out/data").mode != 0);
        assert_eq!(file(&first, "out/code").digest, None);
        assert!(first.file(&place("out/code"), true).digest.is_some());
        let entries = first.entries(&place("out"));
        // A test writes a log and changes what the build made.
        write("log", "x");
        write("config", "changed");
        let changed = file(&first, "out/config");
        assert!(!changed.is_same(changed, false));
        assert_eq!(file(&first, "out/log"), Product::default());
        first.note_left();
        let second = look();
        assert_eq!(file(&second, "out/log"), Product::default());
        assert_eq!(file(&second, "out/config"), Product::default());
        assert_ne!(second.entries(&place("out")), entries);
        // The build makes it anew.
        std::thread::sleep(std::time::Duration::from_millis(20));
        write("config", "a");
        let third = look();
        assert_eq!(file(&third, "out/config"), made);
        assert_eq!(third.entries(&place("out")), entries);
    }

    #[test]
    fn where_a_project_is_built_is_nothing_to_what_ctest_lists() {
        let list = |folder: &str, more: &str| {
            let room = tempfile::tempdir().expect("there is room");
            let root = room.path().join(folder);
            fs::create_dir_all(&root).expect("there is room");
            let text = format!("add_test([=[a]=] \"{}/out/a\"{more})\n", root.display());
            fs::write(root.join(LIST_OF_CTEST), text).expect("there is room");
            let look = Products::look_over(&root, &[&root], BTreeSet::new(), &[]);
            look.file(&place(LIST_OF_CTEST), true).digest
        };
        assert!(list("one", "").is_some());
        assert_eq!(list("one", ""), list("another", ""));
        assert_ne!(list("one", ""), list("one", " \"x\""));
    }

    #[test]
    fn a_library_of_rust_is_the_same_whichever_compilation_its_objects_are_from() {
        let folder = tempfile::tempdir().expect("there is room");
        let look = Products::look_over(folder.path(), &[], BTreeSet::new(), &[]);
        let library = |name: &str, member: &str, content: &str| {
            let length = content.len();
            let text = format!(
                "!<arch>\n{:48}{:<10}`\n{member}/\n{:16}{:32}{length:<10}`\n{content}",
                "//",
                member.len() + 2,
                "/0",
                "",
            );
            let path = folder.path().join(name);
            fs::write(&path, text).expect("there is room");
            look.digest_of(&path).expect("it is there")
        };
        let first = library("one.rlib", "ones-1a2b.4c5d.6e7f.rcgu.o", "code");
        let others = [
            ("one.rlib", "ones-1a2b.4c5d.8g9h.rcgu.o", "code", true),
            ("one.rlib", "ones-1a2b.4c5d.6e7f.rcgu.o", "edoc", false),
            ("one.rlib", "ones-1a2b.0c5d.6e7f.rcgu.o", "code", false),
            ("one.a", "ones-1a2b.4c5d.6e7f.rcgu.o", "code", false),
        ];
        // Of a thin one, the members are elsewhere.
        let thin = folder.path().join("thin.rlib");
        fs::write(&thin, "!<thin>\n").expect("there is room");
        let raw = folder.path().join("thin");
        fs::write(&raw, "!<thin>\n").expect("there is room");
        assert_eq!(look.digest_of(&thin), look.digest_of(&raw));
        for (name, member, content, is_same) in others {
            let other = library(name, member, content);
            assert_eq!(first == other, is_same, "{name} {member} {content}");
        }
    }

    #[test]
    fn modes_links_and_empty_folders_count() {
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path();
        let out = root.join("out");
        fs::create_dir_all(out.join("empty")).expect("there is room");
        let link = |target: &str| {
            let _ = fs::remove_file(out.join("link"));
            std::os::unix::fs::symlink(target, out.join("link")).expect("there is room");
        };
        link("one");
        fs::write(out.join("script"), "x").expect("there is room");
        let look = || Products::look_over(root, &[&out], BTreeSet::new(), &[]);
        let before = look();
        let seen = |products: &Products| {
            ["out/empty", "out/link", "out/script"].map(|name| products.file(&place(name), false))
        };
        let then = seen(&before);
        link("two");
        fs::remove_dir(out.join("empty")).expect("it is there");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(out.join("script"), mode).expect("it is there");
        let now = seen(&look());
        for (then, now) in then.into_iter().zip(now) {
            assert!(
                then.is_same(then, false) && !then.is_same(now, false),
                "{then:?} {now:?}"
            );
        }
    }
}
