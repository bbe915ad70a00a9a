//! What patterns mean in a version, and that one which means nothing is no answer.

use crate::difference::SameVersion;
use crate::error::{Error, Result};
use crate::lang::facts::Kind;
use crate::query::pattern::{Pattern, patterns};
use crate::repo::Version;

/// The patterns of a command line, where the files of the version tell which words are files.
pub(super) fn read(arguments: &[String], same: &SameVersion) -> Result<Vec<Pattern>> {
    let tree = same.tree();
    let sources = tree.sources.iter().map(|file| &file.path);
    let files = sources.chain(tree.others.iter().map(|file| &file.path));
    let all = patterns(arguments)?.into_iter();
    Ok(all.map(|one| one.among(files.clone())).collect())
}

/// The same for verbs that list what files define: a file stands for all of that.
pub(super) fn of_entities(arguments: &[String], same: &SameVersion) -> Result<Vec<Pattern>> {
    let all = read(arguments, same)?.into_iter();
    Ok(all.map(Pattern::of_contents).collect())
}

/// Refuses patterns that mean nothing in the version: that nothing is listed would look like good news.
pub(super) fn check(patterns: &[Pattern], same: &SameVersion, version: Version) -> Result<()> {
    let is_meant = |pattern: &Pattern| {
        same.facts().iter().any(|(file, facts)| {
            let mut entities = facts.entities.iter().filter(|one| !one.declaration);
            entities.any(|one| {
                let is_function = one.kind == Kind::Function;
                pattern.matches(one.kind, file, &one.name)
                    || is_function && pattern.matches_edges_of(file, &one.name)
            })
        })
    };
    match patterns.is_empty() || patterns.iter().any(is_meant) {
        true => Ok(()),
        false => Err(nothing(patterns, version)),
    }
}

/// That nothing is meant.
pub(super) fn nothing(patterns: &[Pattern], version: Version) -> Error {
    let texts = patterns.iter().map(|pattern| format!("'{}'", pattern.text));
    let texts = texts.collect::<Vec<_>>().join(" or ");
    Error::new(format!("nothing in {version} matches {texts}")).hint(
        "a pattern is 'KIND NAME file=FILE', for instance 'function *print file=incl.c' or 'file parse.c'; \
         what only came after the history was recorded is not known to it",
    )
}
