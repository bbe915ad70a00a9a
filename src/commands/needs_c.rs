//! Verbs that read C, and nothing else, say so where there is none.

use crate::error::{Error, Result};
use crate::lang::cplusplus;
use crate::program::Tree;
use crate::repo::Version;

/// Refuses a version in which no file holds C; of one without files nothing is said that is not true. Headers that only sources of C++
/// are there for are no C, whatever they are called.
pub(super) fn check(tree: &Tree, version: Version) -> Result<()> {
    let mut others = tree.others.iter();
    let is_for_cplusplus = others.any(|file| cplusplus::is_source(&file.path));
    let mut sources = tree.sources.iter().map(|file| file.path.as_bytes());
    let holds_c = match is_for_cplusplus {
        true => sources.any(|path| !path.ends_with(b".h")),
        false => sources.next().is_some(),
    };
    if holds_c || tree.others.is_empty() {
        return Ok(());
    }
    Err(
        Error::new(format!("there is no C in {version}, and this verb reads C only")).hint(
            "of other languages the compiled code tells: 'git rts run', 'git rts why TEST', 'git rts diff --objects BASE'",
        ),
    )
}
