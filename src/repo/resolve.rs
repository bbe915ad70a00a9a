//! The two versions that a command line names.

use git2::{ErrorCode, ObjectType};

use super::failure::{failed, failure};
use super::shallow::too_shallow;
use super::{CommitId, Repository, TreeId, Version};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

impl Repository {
    /// The base and the head that `[BASE] [HEAD]` mean, where BASE may be a range `A..B` or `A...B`.
    ///
    /// Without HEAD it is the working tree, or in a bare repository the commit HEAD. Without BASE it is where HEAD left its upstream, else HEAD itself; in a bare repository, the first parent of HEAD.
    pub fn resolve(&self, base: Option<&str>, head: Option<&str>) -> Result<(Version, Version)> {
        match (base, head) {
            (None, None) => {
                // First the base: its failures are the clearer ones.
                let base = self.default_base()?;
                Ok((base, self.default_head()?))
            }
            (None, Some(head)) => Ok((self.default_base()?, self.commit(head)?)),
            (Some(base), head) => match (split_range(base)?, head) {
                (None, None) => Ok((self.commit(base)?, self.default_head()?)),
                (None, Some(head)) => Ok((self.commit(base)?, self.commit(head)?)),
                (Some(range), None) => self.ends_of(&range),
                (Some(_), Some(head)) => Err(usage(format!(
                    "'{base}' already names a head, so '{head}' is one too many"
                ))
                .hint("give either 'BASE..HEAD' or 'BASE HEAD'")),
            },
        }
    }

    /// The commit that a revision names, through tags.
    pub fn commit(&self, revision: &str) -> Result<Version> {
        if revision.is_empty() {
            // An unset variable of a CI script must not become HEAD.
            return Err(usage("the revision is empty").hint("is a variable unset?"));
        }
        if revision.contains("..") {
            return Err(usage(format!(
                "'{revision}' is a range, but one revision is wanted here"
            )));
        }
        let object = self
            .git
            .revparse_single(revision)
            .map_err(|error| self.unknown(revision, &error))?;
        let commit = object.peel_to_commit().map_err(|_| {
            let kind = object.kind().map_or("object", kind_name);
            failure(format!("'{revision}' is a {kind}, not a commit"))
                .hint("name a commit, a branch or a tag of a commit")
        })?;
        Ok(version(&commit))
    }

    fn ends_of(&self, range: &Range<'_>) -> Result<(Version, Version)> {
        let base = self.commit(range.base)?;
        let head = self.commit(range.head)?;
        if range.from_merge_base {
            return Ok((self.parting(&base, &head, [range.base, range.head])?, head));
        }
        Ok((base, head))
    }

    pub fn default_head(&self) -> Result<Version> {
        if self.git.is_bare() {
            self.commit("HEAD")
        } else {
            self.work_tree()
        }
    }

    fn default_base(&self) -> Result<Version> {
        let head = self.commit("HEAD")?;
        if self.git.is_bare() {
            return self.first_parent_of_head(&head);
        }
        match self
            .git
            .revparse_single("@{upstream}")
            .and_then(|object| object.peel_to_commit())
        {
            Ok(upstream) => self.parting(&version(&upstream), &head, ["@{upstream}", "HEAD"]),
            // Without a parent at hand, HEAD is the only base there is, and nothing would ever have changed.
            Err(_) if self.is_cut_off(&head)? => {
                Err(too_shallow("cannot tell what 'HEAD' is based on").hint("or name the base"))
            }
            Err(_) => Ok(head),
        }
    }

    fn first_parent_of_head(&self, head: &Version) -> Result<Version> {
        if self.is_cut_off(head)? {
            return Err(too_shallow("'HEAD~1' is not here"));
        }
        self.commit("HEAD~1").map_err(|_| {
            failure("'HEAD' has no parent to compare it with").hint("name another base")
        })
    }

    fn is_cut_off(&self, version: &Version) -> Result<bool> {
        let border = self.shallow_border()?;
        Ok(version
            .commit()
            .is_some_and(|commit| border.contains(&commit.oid())))
    }

    fn parting(&self, one: &Version, two: &Version, names: [&str; 2]) -> Result<Version> {
        let (Some(first), Some(second)) = (one.commit(), two.commit()) else {
            return Err(failure("only commits have a merge base"));
        };
        let base = self.merge_base(first.oid(), second.oid(), names)?;
        let commit = self
            .git
            .find_commit(base)
            .map_err(|error| failed("read the merge base", &error))?;
        Ok(version(&commit))
    }

    fn unknown(&self, revision: &str, error: &git2::Error) -> Error {
        let about_head = revision.starts_with("HEAD") || revision.starts_with('@');
        if about_head
            && self
                .git
                .head()
                .is_err_and(|error| error.code() == ErrorCode::UnbornBranch)
        {
            return failure("'HEAD' has no commits yet")
                .hint("commit something first, or name a base commit");
        }
        if error.code() == ErrorCode::Ambiguous {
            return failure(format!("revision '{revision}' is ambiguous"))
                .hint("give more digits of the commit id");
        }
        if revision.contains("@{u") {
            return failure(format!("no upstream for '{revision}'"))
                .hint("set one with 'git branch --set-upstream-to=<remote>/<branch>'");
        }
        if self.is_shallow() {
            return too_shallow(&format!("unknown revision '{revision}'"));
        }
        failure(format!("unknown revision '{revision}'"))
            .hint("check the spelling, or run 'git fetch' if it is new")
    }
}

struct Range<'a> {
    base: &'a str,
    head: &'a str,
    from_merge_base: bool,
}

/// `A..B` and `A...B`; an empty side means HEAD, as in git.
fn split_range(text: &str) -> Result<Option<Range<'_>>> {
    let Some((base, rest)) = text.split_once("..") else {
        return Ok(None);
    };
    let (head, from_merge_base) = rest
        .strip_prefix('.')
        .map_or((rest, false), |head| (head, true));
    if head.contains("..") {
        return Err(usage(format!("'{text}' is neither a revision nor a range"))
            .hint("a range is 'BASE..HEAD'"));
    }
    if base.is_empty() && head.is_empty() {
        return Err(usage(format!("'{text}' names no revision"))
            .hint("are the variables of a script unset?"));
    }
    Ok(Some(Range {
        base: if base.is_empty() { "HEAD" } else { base },
        head: if head.is_empty() { "HEAD" } else { head },
        from_merge_base,
    }))
}

fn version(commit: &git2::Commit<'_>) -> Version {
    Version::Commit {
        commit: CommitId::of(commit.id()),
        tree: TreeId::of(commit.tree_id()),
    }
}

fn kind_name(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Blob => "file",
        ObjectType::Tree => "directory",
        ObjectType::Tag => "tag of something else",
        ObjectType::Commit | ObjectType::Any => "object",
    }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(message).exit_code(ExitCode::Usage)
}
