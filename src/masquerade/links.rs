//! How binaries were linked, kept for each by the id that its linker gave it, and what the objects that went in hold.
//!
//! Objects are read while the link is fresh, because compilers remove those that they made for a moment, and each only once,
//! however many binaries it is linked into.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::objects::{self, Link, Linked, ObjectDigest, ObjectKey, Opaque};

/// The notes of the linkers in a folder of compilers.
#[derive(Debug, Clone)]
pub struct Links {
    folder: PathBuf,
}

impl Links {
    #[must_use]
    pub fn of(compilers: &Path) -> Self {
        Links {
            folder: compilers.with_extension("links"),
        }
    }

    /// Everything is linked anew.
    pub fn forget(&self) {
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_dir_all(self.places());
    }

    /// Notes how the binary with this id and these bytes was linked.
    pub fn note(&self, id: &[u8], link: &Link, made: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut trouble = Ok(());
        let linked = Linked::note(
            link,
            made,
            &mut |path| Some((fs::read(path).ok()?, is_of_the_system(path))),
            &mut |key, bytes, unit| {
                let place = self.of_object(key);
                if trouble.is_ok() && !place.exists() {
                    let digest = objects::digest(bytes).map(|object| ObjectDigest {
                        unit: unit.to_owned(),
                        ..object
                    });
                    trouble = write(&place, &digest);
                }
            },
        );
        trouble?;
        write(&self.of_binary(id), &linked)
    }

    /// Notes where the binary with this id was made. Kept for as long as something may have been made by it.
    pub fn note_place(&self, id: &[u8], made: &Path) -> io::Result<()> {
        let made = std::env::current_dir()?.join(made);
        fs::create_dir_all(self.places())?;
        fs::write(self.place_of(id), made.as_os_str().as_encoded_bytes())
    }

    /// Where the binary with this id was made, if that was seen.
    #[must_use]
    pub fn place(&self, id: &[u8]) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let bytes = fs::read(self.place_of(id)).ok()?;
        Some(std::ffi::OsString::from_vec(bytes).into())
    }

    fn places(&self) -> PathBuf {
        self.folder.with_extension("places")
    }

    fn place_of(&self, id: &[u8]) -> PathBuf {
        self.places().join(hexadecimal(id))
    }

    /// How the binary with this id was linked, if that was seen.
    #[must_use]
    pub fn linked(&self, id: &[u8]) -> Option<Linked> {
        read(&self.of_binary(id))
    }

    /// What an object that went into a link holds.
    #[must_use]
    pub fn object(&self, key: ObjectKey) -> Option<Result<ObjectDigest, Opaque>> {
        read(&self.of_object(key))
    }

    /// Forgets all but these binaries, with their ids, and the objects that went into them.
    pub fn keep_only<'l>(&self, binaries: impl IntoIterator<Item = (&'l [u8], &'l Linked)>) {
        let mut kept = BTreeSet::new();
        for (id, linked) in binaries {
            kept.insert(self.of_binary(id));
            kept.extend(linked.objects.iter().map(|key| self.of_object(*key)));
        }
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if !kept.contains(&entry.path()) {
                // What cannot be removed costs room on the disk and nothing else.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn of_binary(&self, id: &[u8]) -> PathBuf {
        self.folder.join(hexadecimal(id) + ".link")
    }

    fn of_object(&self, key: ObjectKey) -> PathBuf {
        self.folder.join(format!("{key:032x}.object"))
    }
}

/// Whether a file lies where the system has its libraries: no build made it.
fn is_of_the_system(path: &str) -> bool {
    let real = fs::canonicalize(path);
    real.is_ok_and(|real| real.starts_with("/usr/lib") || real.starts_with("/lib"))
}

fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    postcard::from_bytes(&fs::read(file).ok()?).ok()
}

/// Appears whole or not at all: several linkers run at once.
fn write<T: Serialize>(file: &Path, value: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let beside = file.with_extension(format!("part-{}", std::process::id()));
    fs::write(&beside, bytes)?;
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_into_nothing_any_more_is_forgotten() {
        let folder = tempfile::tempdir().expect("there is room");
        let links = Links::of(&folder.path().join("compilers"));
        fs::create_dir_all(&links.folder).expect("there is room");
        let linked = |key: ObjectKey| Linked {
            objects: vec![key],
            ..Linked::default()
        };
        for (id, key) in [(b"old", 1), (b"new", 2)] {
            let object = Ok::<_, Opaque>(ObjectDigest::default());
            write(&links.of_object(key), &object).expect("there is room");
            write(&links.of_binary(id), &linked(key)).expect("there is room");
        }
        fs::write(links.folder.join("x.part-1"), "").expect("there is room");
        links.keep_only([(&b"new"[..], &linked(2))]);
        assert_eq!(links.linked(b"new"), Some(linked(2)));
        assert!(links.object(2).is_some());
        assert_eq!(fs::read_dir(&links.folder).expect("it is there").count(), 2);
    }
}
