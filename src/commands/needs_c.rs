//! Verbs that read C, and nothing else, say so where there is none.

use crate::error::{Error, Result};
use crate::program::Tree;
use crate::repo::Version;

/// Refuses a version in which no file holds C; of one without files nothing is said that is not true.
pub(super) fn check(tree: &Tree, version: Version) -> Result<()> {
    if !tree.sources.is_empty() || tree.others.is_empty() {
        return Ok(());
    }
    Err(
        Error::new(format!("there is no C in {version}, and this verb reads C only")).hint(
            "of other languages the compiled code tells: 'git rts run', 'git rts why TEST', 'git rts diff --objects BASE'",
        ),
    )
}
