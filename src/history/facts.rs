//! The facts cache: a blob is read once, ever. It can be rebuilt, so damage is set aside and never stops anybody.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::database::{self, Trouble, guarded};
use super::lock::{self, Lock};

/// How long another process may hold the lock before we go on without the cache.
const PATIENCE: Duration = Duration::from_millis(400);

/// A store of encoded facts by key. Without a database it forgets everything and still works.
pub struct FactsStore {
    tree: Option<sled::Tree>,
    database: Option<sled::Db>,
    /// Dropped after the database, as the order of the fields says.
    _lock: Option<Lock>,
    /// What the user should know about the cache.
    pub notice: Option<String>,
}

impl FactsStore {
    /// Opens the cache in a folder, for one version of the front end.
    #[must_use]
    pub fn open(folder: &Path, version: u32) -> Self {
        let name = format!("facts-{version}");
        let unusable =
            |error| Self::without(Some(format!("the facts cache cannot be used: {error}")));
        let lock = match lock::take(&folder.with_extension("lock"), PATIENCE, |_| ()) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Self::without(None),
            Err(error) => return unusable(error),
        };
        match open_database(folder, &name, &lock) {
            Ok((database, tree)) => Self::with(database, tree, lock, None),
            Err(Trouble::Locked) => Self::without(None),
            Err(Trouble::Elsewhere(error)) => unusable(error),
            Err(Trouble::Damage(_)) => Self::set_aside(folder, &name, lock),
        }
    }

    fn with(database: sled::Db, tree: sled::Tree, lock: Lock, notice: Option<String>) -> Self {
        FactsStore {
            tree: Some(tree),
            database: Some(database),
            _lock: Some(lock),
            notice,
        }
    }

    /// A store that keeps nothing.
    #[must_use]
    pub fn without(notice: Option<String>) -> Self {
        FactsStore {
            tree: None,
            database: None,
            _lock: None,
            notice,
        }
    }

    /// Moves a damaged database away and starts anew.
    fn set_aside(folder: &Path, name: &str, lock: Lock) -> Self {
        let aside = (1..100)
            .map(|number| folder.with_extension(format!("damaged-{number}")))
            .find(|path| !path.exists())
            .unwrap_or_else(|| PathBuf::from(folder).with_extension("damaged"));
        let notice = match std::fs::rename(folder, &aside) {
            Ok(()) => format!(
                "the facts cache was damaged; it is now '{}'",
                aside.display()
            ),
            Err(error) => {
                return Self::without(Some(format!("the facts cache is damaged: {error}")));
            }
        };
        match open_database(folder, name, &lock) {
            Ok((database, tree)) => Self::with(database, tree, lock, Some(notice)),
            _ => Self::without(Some(notice)),
        }
    }

    /// The value under a key, if it is there and can be read.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &[u8]) -> Option<T> {
        let tree = self.tree.as_ref()?;
        let bytes = guarded(|| tree.get(key)).ok()??;
        postcard::from_bytes(&bytes).ok()
    }

    /// Keeps values; a failure costs only time later.
    pub fn put<'a, T: Serialize + 'a>(
        &mut self,
        values: impl IntoIterator<Item = (Vec<u8>, &'a T)>,
    ) {
        let (Some(tree), Some(database)) = (&self.tree, &self.database) else {
            return;
        };
        let mut batch = sled::Batch::default();
        let mut count = 0usize;
        for (key, value) in values {
            if let Ok(bytes) = postcard::to_stdvec(value) {
                batch.insert(key, bytes);
                count += 1;
            }
        }
        if count == 0 {
            return;
        }
        let kept = guarded(|| {
            tree.apply_batch(batch)?;
            database.flush()
        });
        if let Err(trouble) = kept {
            let reason = match trouble {
                Trouble::Elsewhere(error) => error.to_string(),
                Trouble::Damage(reason) => reason,
                Trouble::Locked => "another process has it".to_owned(),
            };
            self.notice = Some(format!("the facts cache could not be written: {reason}"));
            self.tree = None;
        }
    }
}

fn open_database(
    folder: &Path,
    name: &str,
    lock: &Lock,
) -> Result<(sled::Db, sled::Tree), Trouble> {
    let database = database::open(folder, lock)?;
    guarded(|| {
        // What another version of the front end found is of no use, and would only take room.
        for other in database.tree_names() {
            if other.starts_with(b"facts-") && other != name.as_bytes() {
                database.drop_tree(other)?;
            }
        }
        let tree = database.open_tree(name)?;
        Ok((database, tree))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_there_after_reopening() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("facts");
        let mut store = FactsStore::open(&path, 1);
        store.put([(b"k".to_vec(), &7u32)]);
        drop(store);
        assert_eq!(FactsStore::open(&path, 1).get::<u32>(b"k"), Some(7));
    }

    #[test]
    fn facts_of_another_front_end_are_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("facts");
        let mut store = FactsStore::open(&path, 1);
        store.put([(b"k".to_vec(), &7u32)]);
        drop(store);
        drop(FactsStore::open(&path, 2));
        assert_eq!(FactsStore::open(&path, 1).get::<u32>(b"k"), None);
    }

    #[test]
    fn a_locked_database_is_done_without() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("facts");
        let first = FactsStore::open(&path, 1);
        let mut second = FactsStore::open(&path, 1);
        second.put([(b"k".to_vec(), &7u32)]);
        assert_eq!(second.get::<u32>(b"k"), None);
        assert_eq!(second.notice, None);
        drop(first);
    }

    #[test]
    fn damage_is_set_aside_and_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("facts");
        let mut store = FactsStore::open(&path, 1);
        store.put((0..500u32).map(|key| (key.to_be_bytes().to_vec(), &[7u8; 32])));
        drop(store);
        std::fs::remove_file(path.join("db")).expect("the log can be removed");
        std::fs::create_dir(path.join("db")).expect("a folder can take its place");
        let mut store = FactsStore::open(&path, 1);
        assert!(
            store
                .notice
                .as_deref()
                .is_some_and(|notice| notice.contains("damaged"))
        );
        store.put([(b"k".to_vec(), &7u32)]);
        assert_eq!(store.get::<u32>(b"k"), Some(7));
    }

    #[test]
    fn flipped_bits_cost_facts_but_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("facts");
        let mut store = FactsStore::open(&path, 1);
        store.put((0..500u32).map(|key| (key.to_be_bytes().to_vec(), &7u64)));
        drop(store);
        let log = path.join("db");
        let mut bytes = std::fs::read(&log).expect("the log can be read");
        for at in (0..bytes.len()).step_by(97) {
            bytes[at] ^= 0x55;
        }
        std::fs::write(&log, bytes).expect("the log can be written");
        let mut store = FactsStore::open(&path, 1);
        for key in 0..500u32 {
            let found = store.get::<u64>(&key.to_be_bytes());
            assert!(
                found.is_none_or(|value| value == 7),
                "a fact came back changed"
            );
        }
        store.put([(b"k".to_vec(), &9u64)]);
        assert_eq!(store.get::<u64>(b"k"), Some(9));
    }

    #[test]
    fn a_value_of_another_shape_is_not_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = FactsStore::open(&folder.path().join("facts"), 1);
        store.put([(b"k".to_vec(), &1u8)]);
        assert_eq!(store.get::<(String, String)>(b"k"), None);
    }
}
