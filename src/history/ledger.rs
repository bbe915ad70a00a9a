//! The ledger: how selections went that were checked, and the evidence of those that were wrong. Plain files, so that they outlive every format of histories.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One run that selected tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// In seconds since 1970.
    pub at: u64,
    pub version: String,
    /// What was compared: the same change twice is no further evidence.
    pub change: String,
    pub tests: usize,
    /// Tests that the selection skipped, and those of them that ran all the same.
    pub skipped: usize,
    pub controls: usize,
    pub missed: usize,
    pub flaky: usize,
    pub shadow: bool,
}

/// A test that was skipped and yet ended in another way, with all that spoke for skipping it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    pub at: u64,
    pub version: String,
    /// The version whose traces were used.
    pub baseline: Option<String>,
    pub test: String,
    /// How it ended.
    pub outcome: String,
    pub certificate: serde_json::Value,
    /// The last that it printed.
    pub printed: String,
    /// Why people trust the selection again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

/// Where all of it is, below the `rts` folder.
#[derive(Debug, Clone)]
pub struct Ledger {
    folder: PathBuf,
}

impl Ledger {
    #[must_use]
    pub fn of(rts: &Path) -> Self {
        Ledger {
            folder: rts.join("trust"),
        }
    }

    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn open_misses(&self) -> PathBuf {
        self.folder.join("misses")
    }

    fn acknowledged(&self) -> PathBuf {
        self.folder.join("acknowledged")
    }

    /// Adds a run: one line in one write, so that two processes do not mix theirs.
    pub fn add(&self, entry: &Entry) -> Result<()> {
        let path = self.runs();
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            let line = format!("{}\n", serde_json::to_string(entry)?);
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(line.as_bytes())
        };
        write().map_err(|error| cannot("write", &path, &error))
    }

    /// All runs, the oldest first, and how many lines cannot be read.
    pub fn entries(&self) -> Result<(Vec<Entry>, usize)> {
        let path = self.runs();
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(cannot("read", &path, &error)),
        };
        let (mut entries, mut unread) = (Vec::new(), 0);
        for line in text.lines().filter(|line| !line.is_empty()) {
            match serde_json::from_str(line) {
                Ok(entry) => entries.push(entry),
                Err(_) => unread += 1,
            }
        }
        Ok((entries, unread))
    }

    /// Keeps the evidence of a wrong skip, and answers where.
    pub fn accuse(&self, miss: &Miss) -> Result<PathBuf> {
        let folder = self.open_misses();
        let digest = crate::digest::bytes(miss.test.as_bytes()) as u32;
        let path = folder.join(format!("{}-{digest:08x}.json", miss.at));
        let write = || -> io::Result<()> {
            fs::create_dir_all(&folder)?;
            fs::write(&path, serde_json::to_vec_pretty(miss)?)
        };
        write().map_err(|error| cannot("write", &path, &error))?;
        Ok(path)
    }

    /// The wrong skips that nobody has acknowledged, by file; nothing in place of one that cannot be read, which counts all the same.
    pub fn misses(&self) -> Result<Vec<(PathBuf, Option<Miss>)>> {
        let folder = self.open_misses();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(cannot("read", &folder, &error)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(
                entry
                    .map_err(|error| cannot("read", &folder, &error))?
                    .path(),
            );
        }
        paths.sort();
        let read = |path: PathBuf| {
            let miss = fs::read(&path).ok();
            let miss = miss.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            (path, miss)
        };
        Ok(paths.into_iter().map(read).collect())
    }

    /// Why nothing can be skipped: a skip was wrong, and nobody has said that its cause is known.
    #[must_use]
    pub fn distrust(&self) -> Option<String> {
        let misses = match self.misses() {
            Ok(misses) => misses,
            Err(error) => return Some(error.message),
        };
        let (_, first) = misses.first()?;
        Some(match first {
            Some(miss) => format!(
                "'{}' was skipped wrongly at {} (see 'git rts trust')",
                miss.test, miss.version
            ),
            None => "a test was skipped wrongly (see 'git rts trust')".to_owned(),
        })
    }

    /// Puts all evidence away, with the reason why selection is trusted again; answers how much there was.
    pub fn acknowledge(&self, because: &str) -> Result<usize> {
        let to = self.acknowledged();
        let misses = self.misses()?;
        for (path, miss) in &misses {
            let move_away = || -> io::Result<()> {
                fs::create_dir_all(&to)?;
                if let Some(miss) = miss {
                    let known = Miss {
                        acknowledged: Some(because.to_owned()),
                        ..miss.clone()
                    };
                    fs::write(path, serde_json::to_vec_pretty(&known)?)?;
                }
                fs::rename(path, to.join(path.file_name().unwrap_or_default()))
            };
            move_away().map_err(|error| cannot("put away", path, &error))?;
        }
        Ok(misses.len())
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {what} '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn entry(at: u64) -> Entry {
        Entry {
            at,
            version: "a1b2c3d".to_owned(),
            change: "0..1".to_owned(),
            tests: 10,
            skipped: 8,
            controls: 2,
            missed: 0,
            flaky: 0,
            shadow: false,
        }
    }

    fn miss() -> Miss {
        Miss {
            at: 7,
            version: "a1b2c3d".to_owned(),
            baseline: None,
            test: "parse".to_owned(),
            outcome: "failed".to_owned(),
            certificate: serde_json::Value::Null,
            printed: String::new(),
            acknowledged: None,
        }
    }

    #[test]
    fn a_damaged_line_costs_only_itself() {
        let scratch = Scratch::new().expect("there is room");
        let ledger = Ledger::of(scratch.path());
        assert_eq!(ledger.entries().expect("nothing is there").0, []);
        ledger.add(&entry(1)).expect("it is written");
        let mut file = OpenOptions::new()
            .append(true)
            .open(ledger.runs())
            .expect("it is there");
        file.write_all(b"{\"at\": 3, \xff\n")
            .expect("it is written");
        ledger.add(&entry(2)).expect("it is written");
        let (entries, unread) = ledger.entries().expect("it is read");
        assert_eq!((entries, unread), (vec![entry(1), entry(2)], 1));
    }

    #[test]
    fn a_miss_is_distrusted_until_it_is_acknowledged() {
        let scratch = Scratch::new().expect("there is room");
        let ledger = Ledger::of(scratch.path());
        assert_eq!(ledger.distrust(), None);
        let path = ledger.accuse(&miss()).expect("it is kept");
        assert!(ledger.distrust().is_some_and(|why| why.contains("parse")));
        // Evidence that cannot be read is evidence all the same.
        fs::write(&path, "{").expect("it is written");
        assert!(ledger.distrust().is_some());
        assert_eq!(ledger.acknowledge("fixed").expect("it is moved"), 1);
        assert_eq!(ledger.distrust(), None);
    }

    #[test]
    fn acknowledged_evidence_says_why() {
        let scratch = Scratch::new().expect("there is room");
        let ledger = Ledger::of(scratch.path());
        let path = ledger.accuse(&miss()).expect("it is kept");
        ledger
            .acknowledge("a test that reads the clock")
            .expect("it is moved");
        let kept = ledger
            .acknowledged()
            .join(path.file_name().expect("a name"));
        let kept: Miss =
            serde_json::from_slice(&fs::read(kept).expect("it is there")).expect("it is whole");
        assert_eq!(
            kept.acknowledged.as_deref(),
            Some("a test that reads the clock")
        );
    }
}
