//! The commits that some ref reaches.

use std::collections::BTreeSet;

use super::failure::failed;
use super::{CommitId, Repository};
use crate::error::Result;

impl Repository {
    /// Every commit that a branch, a tag, a remote or HEAD reaches.
    pub fn reachable(&self) -> Result<BTreeSet<CommitId>> {
        let walked = self.git.revwalk().and_then(|mut walk| {
            walk.push_glob("refs/*")?;
            // Without a commit there is no HEAD to begin from.
            let _ = walk.push_head();
            walk.map(|id| id.map(CommitId::of)).collect()
        });
        walked.map_err(|error| failed("walk the commits of all refs", &error))
    }
}
