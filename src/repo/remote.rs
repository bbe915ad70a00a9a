//! What a remote has, as far as this clone knows.

use git2::Oid;

use super::failure::failed;
use super::{CommitId, Repository};
use crate::error::Result;

impl Repository {
    /// Whether a commit is on a remote: an ancestor of one of its branches as they were last seen, or of one of the objects that it is known to have.
    pub fn is_on_remote(
        &self,
        remote: Option<&str>,
        commit: CommitId,
        known: &[&str],
    ) -> Result<bool> {
        let cannot = |error: git2::Error| failed("look for what the remote has", &error);
        let mut walk = self.git.revwalk().map_err(cannot)?;
        walk.push(commit.oid()).map_err(cannot)?;
        // A remote that is given by its URL has no branches here.
        let is_name =
            |remote: &&str| git2::Reference::is_valid_name(&format!("refs/remotes/{remote}/x"));
        if let Some(remote) = remote.filter(is_name) {
            let branches = format!("refs/remotes/{remote}/*");
            walk.hide_glob(&branches).map_err(cannot)?;
        }
        for id in known {
            // What is there need not be here: somebody else pushed it.
            let commit = Oid::from_str(id)
                .and_then(|id| self.git.find_object(id, None))
                .and_then(|object| object.peel_to_commit());
            if let Ok(commit) = commit {
                walk.hide(commit.id()).map_err(cannot)?;
            }
        }
        Ok(walk.next().is_none())
    }
}
