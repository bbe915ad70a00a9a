//! What patterns mean in a version, and that one which means nothing is no answer.

use crate::difference::SameVersion;
use crate::error::{Error, Result};
use crate::lang::facts::Kind;
use crate::query::pattern::{Pattern, patterns};
use crate::repo::{RepoPath, Version};

/// The patterns of a command line, where the files of the version tell which words are files.
pub(super) fn read(arguments: &[String], same: &SameVersion) -> Result<Vec<Pattern>> {
    let all = patterns(arguments)?.into_iter();
    Ok(all.map(|one| one.among(files(same))).collect())
}

/// The same for verbs that list what files define: a file stands for all of that.
pub(super) fn of_entities(arguments: &[String], same: &SameVersion) -> Result<Vec<Pattern>> {
    let all = read(arguments, same)?.into_iter();
    Ok(all.map(Pattern::of_contents).collect())
}

/// Refuses patterns of which none means anything in the version: that nothing is listed would look like good news. Of several, those
/// that mean nothing are named.
pub(super) fn check(patterns: &[Pattern], same: &SameVersion, version: Version) -> Result<()> {
    let is_meant = |pattern: &Pattern| {
        same.facts().iter().any(|(file, facts)| {
            let mut entities = facts.entities.iter().filter(|one| !one.declaration);
            entities.any(|one| {
                let is_function = one.kind == Kind::Function;
                pattern.matches(one.kind, file, &one.name)
                    || is_function && pattern.matches_edges_of(file, &one.name)
            })
        }) || files(same).any(|file| pattern.matches(Kind::File, file, &file.to_string()))
    };
    let unmet: Vec<&Pattern> = patterns.iter().filter(|one| !is_meant(one)).collect();
    if unmet.len() == patterns.len() && !patterns.is_empty() {
        return Err(nothing(patterns, version));
    }
    for pattern in unmet {
        anstream::eprintln!("warning: nothing in {version} matches '{}'", pattern.text);
    }
    Ok(())
}

/// All files of a version.
fn files(same: &SameVersion) -> impl Iterator<Item = &RepoPath> + Clone {
    let tree = same.tree();
    let sources = tree.sources.iter().map(|file| &file.path);
    sources.chain(tree.others.iter().map(|file| &file.path))
}

/// That nothing is meant.
fn nothing(patterns: &[Pattern], version: Version) -> Error {
    let texts = patterns.iter().map(|pattern| format!("'{}'", pattern.text));
    let texts = texts.collect::<Vec<_>>().join(" or ");
    Error::new(format!("nothing in {version} matches {texts}")).hint(
        "a pattern is 'KIND NAME file=FILE', for instance 'function *print file=incl.c' or 'file parse.c'; \
         what only came after the history was recorded is not known to it",
    )
}
