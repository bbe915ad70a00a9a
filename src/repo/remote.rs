//! What a remote has, as far as this clone knows.

use std::collections::BTreeSet;

use git2::Oid;

use super::failure::failed;
use super::{CommitId, Repository};
use crate::error::Result;

impl Repository {
    /// Those of some commits that a remote does not have: they are no ancestors of its branches as they were last seen, nor of the objects that it is known to have.
    pub fn not_on_remote(
        &self,
        remote: Option<&str>,
        commits: &BTreeSet<CommitId>,
        known: &[&str],
    ) -> Result<BTreeSet<CommitId>> {
        let cannot = |error: git2::Error| failed("look for what the remote has", &error);
        let mut walk = self.git.revwalk().map_err(cannot)?;
        for commit in commits {
            walk.push(commit.oid()).map_err(cannot)?;
        }
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
        // One walk for all: a push may bring a thousand tags. It ends when all were met.
        let mut missing = BTreeSet::new();
        for id in walk {
            // Beyond the border of a shallow clone nothing is known, and nothing there is pushed.
            let Ok(id) = id else {
                break;
            };
            let id = CommitId::of(id);
            if commits.contains(&id) && missing.insert(id) && missing.len() == commits.len() {
                break;
            }
        }
        Ok(missing)
    }
}
