//! Submodules in a work tree of our own: as the user has them, at the commits that a version wants.

use std::path::Path;

use crate::commands::own_tree::git;
use crate::error::{Error, Result};
use crate::repo::{FileKind, Repository, Version};

/// Checks out the submodules of a version in our work tree, with the objects of those in the user's. Where one is not checked out there,
/// nobody builds with it, so it stays out here, too.
pub(super) fn bring(user: Option<&Path>, ours: &Repository, version: &Version) -> Result<()> {
    let files = ours.files(version)?.into_iter();
    for module in files.filter(|file| file.kind == FileKind::Submodule) {
        let from = user.map(|user| module.path.under(user));
        let from = from.filter(|folder| folder.is_dir());
        let (Some(from), Some(top)) = (from, ours.workdir()) else {
            return Err(Error::new(format!(
                "{version} has submodule '{}', which is not in the work tree",
                module.path
            )));
        };
        if !from.join(".git").exists() {
            continue;
        }
        let (to, id) = (module.path.under(top), module.id.to_string());
        check_out(&from, &to, &id).map_err(|error| {
            error.hint(format!(
                "{version} has submodule '{}' at {id:.7}; 'git fetch' in it may bring that",
                module.path
            ))
        })?;
        let inner = Repository::open(&to)?;
        bring(Some(&from), &inner, &inner.commit(&id)?)?;
    }
    Ok(())
}

/// Makes a folder a clone of another that borrows its objects, at a commit and without anything else.
fn check_out(from: &Path, to: &Path, id: &str) -> Result<()> {
    if !to.join(".git").exists() {
        let into = to.to_string_lossy();
        git(
            from,
            &["clone", "--quiet", "--shared", "--no-checkout", ".", &into],
        )?;
    }
    git(to, &["checkout", "--quiet", "--force", "--detach", id])
        .map_err(|_| Error::new(format!("a submodule has no commit {id:.7}")))?;
    git(to, &["clean", "--quiet", "-ffdx"]).map(|_| ())
}
