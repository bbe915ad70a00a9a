//! What a test looked at.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The files and folders below those that matter, by absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// There, and opened, executed, or asked about: as the path was written, as it resolves, and the links on the way.
    pub touched: BTreeSet<PathBuf>,
    /// Those of the touched that no path named: links lead to them.
    pub behind: BTreeSet<PathBuf>,
    /// Looked for, and not there: as the path was written, and as it resolves, with those of its folders that are not there.
    pub missing: BTreeSet<PathBuf>,
    /// Folders that were opened, so that their entries could be read.
    pub listed: BTreeSet<PathBuf>,
    /// Those of the touched files that were opened for their content, other than to be executed or loaded; and links that were
    /// asked where they lead.
    pub read: BTreeSet<PathBuf>,
    /// Those of the touched files that were executed, loaded or read, as they resolve, and not only asked about.
    pub entered: BTreeSet<PathBuf>,
    /// A signal broke into a call while we were about to hear of it. Without us that call could not have been interrupted, so a
    /// test whose handler does not ask for calls to be repeated (`SA_RESTART`) may have failed because of that.
    pub disturbed: bool,
}

impl Seen {
    /// Adds a file that somebody else looked for, to decide whether the test runs.
    pub fn look_for(&mut self, file: PathBuf) {
        match file.symlink_metadata() {
            Ok(_) => self.touched.insert(file),
            Err(_) => self.missing.insert(file),
        };
    }
}
