//! One open database of histories: its trees, its format, and what its troubles mean to people.

use std::path::{Path, PathBuf};

use super::database::{self, Trouble, guarded};
use super::lock::Lock;
use super::objects::{ObjectId, Objects};
use super::roots::Roots;
use crate::error::Error;
use crate::scratch::Scratch;

/// The format of everything in the database. A change of any encoding needs a new one.
pub(super) const FORMAT: u32 = 15;

/// The trees of a database that we have for ourselves until it is dropped.
pub(super) struct Store {
    /// Absent only while it is being dropped.
    trees: Option<Trees>,
    /// Where it is, if it is a copy that nobody else knows of: it goes when the database is closed.
    pub(super) scratch: Option<Scratch>,
}

pub(super) struct Trees {
    database: sled::Db,
    /// sled's own file, which it does not always bring to the disk.
    log: PathBuf,
    pub(super) objects: Objects,
    pub(super) roots: Roots,
    pub(super) numbers: sled::Tree,
    pub(super) experiences: sled::Tree,
}

/// What an opened database turned out to be.
pub(super) enum Readiness {
    Ready(Store),
    /// It was written by a program with another format.
    Other(u32),
}

impl Store {
    /// Opens the database in a folder, and makes a new one ours.
    pub(super) fn open(folder: &Path, lock: &Lock) -> Result<Readiness, Trouble> {
        let database = database::open(folder, lock)?;
        let trees = guarded(|| {
            Ok(Trees {
                objects: Objects::new(database.open_tree("objects")?),
                roots: Roots::new(database.open_tree("roots")?),
                numbers: database.open_tree("tests")?,
                experiences: database.open_tree("experiences")?,
                log: folder.join("db"),
                database,
            })
        })?;
        match guarded(|| trees.database.get("format"))? {
            Some(bytes) => match format_in(&bytes) {
                Some(FORMAT) => {}
                Some(other) => return Ok(Readiness::Other(other)),
                None => return Err(Trouble::Damage("the format is not readable".to_owned())),
            },
            None if trees.is_empty()? => {
                guarded(|| {
                    trees.database.insert("format", format_bytes(FORMAT))?;
                    trees.database.flush()
                })?;
            }
            None => return Err(Trouble::Damage("the format is missing".to_owned())),
        }
        Ok(Readiness::Ready(Store {
            trees: Some(trees),
            scratch: None,
        }))
    }

    pub(super) fn trees(&self) -> Result<&Trees, Trouble> {
        self.trees
            .as_ref()
            .ok_or_else(|| Trouble::Damage("the database is closed".to_owned()))
    }
}

impl Trees {
    fn is_empty(&self) -> Result<bool, Trouble> {
        Ok(self.numbers.is_empty() && self.objects.is_empty()? && self.roots.is_empty()?)
    }

    /// Everything written so far is on the disk when this returns, also if the power fails.
    pub(super) fn flush(&self) -> Result<(), Trouble> {
        guarded(|| self.database.flush())?;
        // On Linux sled asks only for the written range, which leaves a file that has grown without its new length.
        std::fs::File::open(&self.log)
            .and_then(|log| log.sync_all())
            .map_err(Trouble::Elsewhere)
    }

    /// Pretends to be a program with another format.
    #[cfg(test)]
    pub(super) fn set_format(&self, format: u32) {
        self.database
            .insert("format", format_bytes(format))
            .expect("the format can be written");
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let trees = self.trees.take();
        let _ = guarded(|| {
            drop(trees);
            Ok(())
        });
    }
}

fn format_bytes(format: u32) -> Vec<u8> {
    let number = format.to_be_bytes();
    [number.as_slice(), &ObjectId::of(&number).0].concat()
}

/// The number, if it is one: a flipped bit must not look like the format of another program.
fn format_in(bytes: &[u8]) -> Option<u32> {
    let number = bytes.first_chunk().copied().map(u32::from_be_bytes)?;
    (format_bytes(number) == bytes).then_some(number)
}

/// What a trouble means to whoever wanted to do something with the history.
pub(super) fn explained(doing: &str, trouble: Trouble) -> Error {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match trouble {
        Trouble::Locked => Error::new(format!("cannot {doing}: another process is using it"))
            .hint("try again when that 'git rts' has ended"),
        Trouble::Elsewhere(error) => {
            // sled's errors are not written for people, so the kinds that can be helped have words of ours.
            let full = match error.kind() {
                StorageFull => "the disk is full",
                QuotaExceeded => "your quota of the disk is used up",
                FileTooLarge => "files may not become larger",
                _ => return Error::new(format!("cannot {doing}: {error}")),
            };
            Error::new(format!("cannot {doing}: {full}"))
                .hint("make room on the disk and try again; the histories written before are as they were")
        }
        Trouble::Damage(reason) => {
            Error::new(format!("cannot {doing}: {reason}")).hint("'git rts record' records it anew")
        }
    }
}
