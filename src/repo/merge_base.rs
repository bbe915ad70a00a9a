//! The commit at which two histories parted, or the refusal to guess it.

use git2::{ErrorCode, Oid};
use rustc_hash::FxHashSet;

use super::failure::{failed, failure};
use super::shallow::too_shallow;
use super::{Repository, Version};
use crate::error::Result;

impl Repository {
    /// Whether a commit has one in common with HEAD; in doubt it has.
    #[must_use]
    pub fn is_related(&self, version: Version) -> bool {
        let head = self.commit("HEAD").ok().and_then(|head| head.commit());
        let (Some(head), Some(commit)) = (head, version.commit()) else {
            return true;
        };
        let bases = self.git.merge_bases(head.oid(), commit.oid());
        self.is_shallow() || !bases.is_err_and(|error| error.code() == ErrorCode::NotFound)
    }

    /// `names` are what the user called the two commits.
    pub(super) fn merge_base(&self, one: Oid, two: Oid, names: [&str; 2]) -> Result<Oid> {
        let [first, second] = names;
        let border = self.shallow_border()?;
        let shallow = || {
            too_shallow(&format!(
                "cannot tell the merge base of '{first}' and '{second}'"
            ))
        };
        let attempt = |error: git2::Error| failed("find the merge base", &error);

        let whole;
        let git = if border.is_empty() || !self.git.is_worktree() {
            &self.git
        } else {
            // From a linked worktree libgit2 would not see the border and would stumble over it.
            whole = git2::Repository::open(self.git.commondir()).map_err(attempt)?;
            &whole
        };
        let bases = match git.merge_bases(one, two) {
            Ok(bases) => bases,
            Err(error) if error.code() == ErrorCode::NotFound && border.is_empty() => {
                return Err(
                    failure(format!("'{first}' and '{second}' have no merge base")).hint(format!(
                        "their histories are unrelated; compare them with '{first}..{second}'"
                    )),
                );
            }
            Err(error) if error.code() == ErrorCode::NotFound => return Err(shallow()),
            Err(error) => return Err(attempt(error)),
        };
        if !border.is_empty() && may_be_false(git, [one, two], &bases, &border).map_err(attempt)? {
            return Err(shallow());
        }
        bases
            .first()
            .copied()
            .ok_or_else(|| failure(format!("'{first}' and '{second}' have no merge base")))
    }
}

/// A commit found from both ends is a common ancestor, but a better one may hide beyond the border, unless every way there leads through those found.
fn may_be_false(
    git: &git2::Repository,
    ends: [Oid; 2],
    bases: &[Oid],
    border: &FxHashSet<Oid>,
) -> std::result::Result<bool, git2::Error> {
    // Both ends are the one commit at hand, as in a checkout of depth 1: true, but it would say that nothing ever changed.
    if ends[0] == ends[1] && border.contains(&ends[0]) {
        return Ok(true);
    }
    let mut walk = git.revwalk()?;
    for end in ends {
        walk.push(end)?;
    }
    for base in bases {
        walk.hide(*base)?;
    }
    for commit in walk {
        if border.contains(&commit?) {
            return Ok(true);
        }
    }
    Ok(false)
}
