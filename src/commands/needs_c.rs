//! Verbs that read C, and nothing else, say so where there is none.

use crate::error::{Error, Result};
use crate::program::Tree;
use crate::repo::Version;

/// The endings of sources of C++.
const OF_CPLUSPLUS: [&[u8]; 4] = [b".cpp", b".cc", b".cxx", b".c++"];

/// Refuses a version in which no file holds C; of one without files nothing is said that is not true. Headers that only sources of C++
/// are there for are no C, whatever they are called.
pub(super) fn check(tree: &Tree, version: Version) -> Result<()> {
    let mut others = tree.others.iter().map(|file| file.path.as_bytes());
    let is_of_cplusplus = |path: &[u8]| OF_CPLUSPLUS.iter().any(|end| path.ends_with(end));
    let is_for_cplusplus = others.any(is_of_cplusplus);
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
