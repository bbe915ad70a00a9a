//! The histories of a repository: find one, write one, list them, clean up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::copy;
use super::database::Trouble;
use super::generations;
use super::history::History;
use super::inbox::{self, Found};
use super::lock::Lock;
use super::numbers;
use super::open::{self, Opened};
use super::record::{Outcome, VersionKey};
use super::recording::Recording;
use super::roots::Root;
use super::store::{Readiness, Store, Trees, explained};
use super::{compiled, experience, functions, tests_by_number};
use crate::error::{Error, Result};

/// How long to wait for a process that has the database, unless somebody knows better.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The database of histories, ours alone until this is dropped: open late, drop soon.
pub struct Histories {
    store: Store,
    folder: PathBuf,
    /// Dropped after the database, as the order of the fields says. A copy, which is read-only, has none.
    lock: Option<Lock>,
    /// What the user should know: damage that was set aside, records that came late.
    pub notices: Vec<String>,
}

/// What writing a history cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The bytes of all it holds.
    pub size: u64,
    /// The bytes that no other history held.
    pub added: u64,
}

/// Where a recording went.
#[derive(Debug)]
pub enum Kept {
    Written {
        written: Written,
        notices: Vec<String>,
    },
    /// Another process had the database for too long: the next one that opens it takes the record in.
    InInbox(PathBuf),
}

/// One line of the list of histories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub version: VersionKey,
    pub tests: usize,
    pub partial: bool,
    pub front_end: u32,
    /// When it was recorded, in seconds since 1970.
    pub created: u64,
    /// The bytes of all it holds, and of what only it held when it was written.
    pub size: u64,
    pub added: u64,
}

/// How a test went on one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastRun {
    pub version: VersionKey,
    pub created: u64,
    pub outcome: Outcome,
    pub milliseconds: u64,
}

/// What cleaning up brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freed {
    pub histories: usize,
    /// Those that were dropped because a part of them was missing.
    pub damaged: usize,
    pub objects: usize,
    /// On the disk.
    pub bytes: u64,
}

impl Histories {
    /// Opens the histories in the `rts` folder of a repository. `waiting` is called once if another process lets us wait,
    /// with its id if it is known.
    pub fn open(
        rts: &Path,
        patience: Duration,
        waiting: &mut dyn FnMut(Option<u32>),
    ) -> Result<Self> {
        Self::try_open(rts, patience, waiting)?
            .ok_or_else(|| explained("open the history", Trouble::Locked))
    }

    /// Opens a copy that goes away with it, as it is on the disk: whoever only looks changes nothing, not even what is damaged.
    /// Nothing, if another process has the database for too long.
    pub fn look(rts: &Path, patience: Duration) -> Result<Option<Self>> {
        let folder = rts.join("history");
        let store = match open::look(&folder, patience)? {
            Opened::Open(store, _) | Opened::Copy(store) => store,
            Opened::Busy => return Ok(None),
        };
        Ok(Some(Histories {
            store,
            folder,
            lock: None,
            notices: Vec::new(),
        }))
    }

    fn try_open(
        rts: &Path,
        patience: Duration,
        waiting: &mut dyn FnMut(Option<u32>),
    ) -> Result<Option<Self>> {
        let mut notices = Vec::new();
        let folder = rts.join("history");
        let (store, lock) = match open::open(&folder, patience, waiting, &mut notices)? {
            Opened::Open(store, lock) => (store, Some(lock)),
            Opened::Copy(store) => (store, None),
            Opened::Busy => return Ok(None),
        };
        let mut histories = Histories {
            store,
            folder,
            lock,
            notices,
        };
        histories.drain(&rts.join("inbox"));
        Ok(Some(histories))
    }

    /// Takes in what waits in the inbox. A record that cannot be written now goes on waiting.
    fn drain(&mut self, inbox: &Path) {
        inbox::sweep(inbox);
        for path in inbox::waiting(inbox) {
            match inbox::read(&path) {
                Ok(Found::Record(version, recording)) => {
                    let older = |root: Root| root.created > recording.about.created;
                    let outdated = self
                        .trees()
                        .and_then(|trees| trees.roots.exact(version))
                        .is_ok_and(|root| root.is_some_and(older));
                    let taken = outdated || self.write_to_store(version, &recording).is_ok();
                    if taken && self.lock.is_some() {
                        let _ = std::fs::remove_file(&path);
                    }
                }
                Ok(Found::Newer) => self.notices.push(format!(
                    "'{}' was recorded by a newer 'git rts' and waits for it",
                    path.display()
                )),
                Ok(Found::Older) => {
                    if let Some(aside) = inbox::set_aside(&path, "older") {
                        self.notices.push(format!(
                            "a record of an older 'git rts' was not taken in; it is now '{}'",
                            aside.display()
                        ));
                    }
                }
                Ok(Found::Damaged) => {
                    if let Some(aside) = inbox::set_aside(&path, "damaged") {
                        self.notices.push(format!(
                            "a record was damaged before it was taken in; it is now '{}'",
                            aside.display()
                        ));
                    }
                }
                // Another process was faster.
                Err(_) => {}
            }
        }
    }

    fn trees(&self) -> std::result::Result<&Trees, Trouble> {
        self.store.trees()
    }

    /// Writes a history, whole or not at all, in place of the one that the version had.
    pub fn write(&mut self, version: VersionKey, recording: &Recording) -> Result<Written> {
        self.lock("write the history")?;
        let written = match self.write_to_store(version, recording) {
            Err(Trouble::Damage(_)) => {
                self.start_anew()?;
                self.write_to_store(version, recording)
            }
            other => other,
        };
        written.map_err(|trouble| explained("write the history", trouble))
    }

    fn write_to_store(
        &self,
        version: VersionKey,
        recording: &Recording,
    ) -> std::result::Result<Written, Trouble> {
        let written = write_history(self.trees()?, version, recording);
        // A database that cannot grow may say anything; the disk knows better.
        if let Err(Trouble::Damage(_)) = written {
            generations::disk_is_writable(&self.folder).map_err(Trouble::Elsewhere)?;
        }
        written
    }

    /// Goes on with a new database that has what is complete in the damaged one.
    fn start_anew(&mut self) -> Result<()> {
        let lock = self.lock("write the history")?;
        let damaged = generations::current(&self.folder);
        let aside = generations::set_aside(&self.folder, damaged, "damaged")
            .map_err(|error| explained("write the history", Trouble::Elsewhere(error)))?;
        let mut notices = Vec::new();
        let store = open::open_locked(&self.folder, lock, &mut notices, Some(aside))?;
        self.store = store.ok_or_else(|| explained("write the history", Trouble::Locked))?;
        self.notices.extend(notices);
        Ok(())
    }

    /// Who has no lock may not change anything.
    fn lock(&self, doing: &str) -> Result<&Lock> {
        self.lock.as_ref().ok_or_else(|| {
            Error::new(format!("cannot {doing}: its folder is read-only"))
                .hint(format!("the folder is '{}'", self.folder.display()))
        })
    }

    /// The history of a commit, or of another version with the same tree.
    pub fn find(&self, version: VersionKey) -> Result<Option<History>> {
        let found = self.trees().and_then(|trees| {
            let root = trees.roots.find(version)?;
            Ok(root.map(|root| History::new(trees.objects.clone(), root)))
        });
        found.map_err(|trouble| explained("read the history", trouble))
    }

    /// All histories, the newest first.
    pub fn list(&self) -> Result<Vec<Summary>> {
        let roots = self.trees().and_then(|trees| trees.roots.all());
        let (roots, _) = roots.map_err(|trouble| explained("list the histories", trouble))?;
        Ok(roots.iter().map(summary).collect())
    }

    /// What is remembered of the runs of tests.
    pub fn experiences(&self) -> Result<experience::Experiences> {
        let trees = self.trees();
        let trees = trees.map_err(|trouble| explained("read the history", trouble))?;
        Ok(experience::read(&trees.experiences))
    }

    /// How a test went wherever it ran, the newest first. Histories that cannot be read are left out.
    pub fn runs_of(&self, test: &str) -> Result<Vec<PastRun>> {
        let runs = self.trees().and_then(|trees| {
            let number = numbers::of(&trees.numbers, test)?;
            let (roots, _) = trees.roots.all()?;
            let mut told = std::collections::BTreeSet::new();
            let runs = roots.into_iter().filter_map(|root| {
                let read = |only| tests_by_number::read(&trees.objects, root.tests, only).ok();
                let named = |tests: std::collections::BTreeMap<_, _>| {
                    tests
                        .into_values()
                        .find(|record: &super::record::TestRecord| record.name == test)
                };
                // The table of numbers may have been lost; the history itself knows.
                let record = number
                    .and_then(|number| read(Some(number)))
                    .and_then(named)
                    .or_else(|| read(None).and_then(named))?;
                // Uncommitted work that ran before it was committed ran as what is the commit now.
                let ran_here = record.ran_on.tree == root.version.tree;
                let version = match record.ran_on.commit {
                    Some(_) => record.ran_on,
                    None => root.version,
                };
                (ran_here && told.insert(version)).then_some(PastRun {
                    version,
                    created: root.created,
                    outcome: record.outcome,
                    milliseconds: record.milliseconds,
                })
            });
            Ok(runs.collect())
        });
        runs.map_err(|trouble| explained("read the history", trouble))
    }

    /// Drops the histories that `keep` does not want, and gives their room back to the disk.
    ///
    /// sled never shrinks, so the others are copied to a new database, which then takes the place of the old one.
    pub fn gc(self, keep: &mut dyn FnMut(&Summary) -> bool) -> Result<Freed> {
        let lock = self.lock("clean up the history")?;
        self.compact(lock, keep)
            .map_err(|trouble| explained("clean up the history", trouble))
    }

    fn compact(
        &self,
        lock: &Lock,
        keep: &mut dyn FnMut(&Summary) -> bool,
    ) -> std::result::Result<Freed, Trouble> {
        let before = generations::size_on_disk(&self.folder);
        let trees = self.trees()?;
        let (roots, _) = trees.roots.all()?;
        let objects = trees.objects.len()?;
        let next = generations::workshop(&self.folder).map_err(Trouble::Elsewhere)?;
        let prepared = Store::open(&next, lock).and_then(|readiness| match readiness {
            Readiness::Ready(store) => {
                copy::copy(trees, store.trees()?, &mut |root| keep(&summary(root)))
            }
            Readiness::Other(_) => Err(Trouble::Damage("the new database is not ours".to_owned())),
        });
        let copied = match prepared {
            Ok(copied) => copied,
            Err(trouble) => {
                let _ = generations::workshop(&self.folder);
                return Err(trouble);
            }
        };
        generations::take_over(&self.folder, &next).map_err(Trouble::Elsewhere)?;
        generations::sweep(&self.folder, generations::current(&self.folder));
        generations::sweep_aside(&self.folder);
        let after = generations::size_on_disk(&self.folder);
        Ok(Freed {
            histories: roots.len().saturating_sub(copied.histories),
            damaged: copied.lost,
            objects: objects.saturating_sub(copied.objects),
            bytes: before.saturating_sub(after),
        })
    }
}

/// Objects first; the root makes them a history only when they are on the disk.
fn write_history(
    trees: &Trees,
    version: VersionKey,
    recording: &Recording,
) -> std::result::Result<Written, Trouble> {
    let numbers = numbers::assign(&trees.numbers, recording.tests())?;
    let mut writer = trees.objects.writer();
    let fingerprint = writer.write(&recording.about.fingerprint)?;
    let uncounted = writer.write(&recording.about.uncounted)?;
    let opened_by_build = writer.write(&recording.about.opened_by_build)?;
    let made = writer.write(&recording.about.made)?;
    let outside = writer.write(&recording.about.outside)?;
    let executed_by_build = writer.write(&recording.about.executed_by_build)?;
    let compiled = compiled::write(&mut writer, &recording.compiled)?;
    let tests = tests_by_number::write(&mut writer, recording.tests(), &numbers)?;
    let functions = functions::write(&mut writer, recording.functions(), &numbers)?;
    experience::write(&trees.experiences, &recording.experiences)?;
    trees.flush()?;
    let mut root = Root {
        version,
        created: recording.about.created,
        front_end: recording.about.front_end,
        partial: recording.about.partial,
        test_count: recording.tests().len() as u32,
        fingerprint,
        uncounted,
        opened_by_build,
        made,
        compiled,
        outside,
        executed_by_build,
        session: recording.about.session,
        tests,
        functions,
        size: writer.size,
        added: writer.added,
    };
    let written = Written {
        size: writer.size,
        added: writer.added,
    };
    // Written again, it is still the history that brought what it brought.
    let before = trees.roots.exact(version).ok().flatten();
    if let Some(before) = before.filter(|before| before.same_content(&root)) {
        root.added = root.added.max(before.added);
    }
    trees.roots.insert(&root)?;
    trees.flush()?;
    Ok(written)
}

fn summary(root: &Root) -> Summary {
    Summary {
        version: root.version,
        tests: root.test_count as usize,
        partial: root.partial,
        front_end: root.front_end,
        created: root.created,
        size: root.size,
        added: root.added,
    }
}

/// Keeps a recording: in the database, or in the inbox if another process has the database for longer than `patience`.
pub fn keep(
    rts: &Path,
    version: VersionKey,
    recording: &Recording,
    patience: Duration,
    waiting: &mut dyn FnMut(Option<u32>),
) -> Result<Kept> {
    match Histories::try_open(rts, patience, waiting)? {
        Some(mut histories) => {
            let written = histories.write(version, recording)?;
            Ok(Kept::Written {
                written,
                notices: histories.notices,
            })
        }
        None => inbox::leave(&rts.join("inbox"), version, recording)
            .map(Kept::InInbox)
            .map_err(|trouble| explained("write the history", trouble)),
    }
}
