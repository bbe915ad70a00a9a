//! What the build took from outside of the tree: headers, by their content, and what these include in turn.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::digest::{self, Name, Names};
use crate::history::Outside;
use crate::masquerade::named::{Named, joined};

/// The headers of a list with what is in them; those that are gone are left out.
fn contents(list: &Path) -> Vec<(String, Vec<u8>)> {
    let text = fs::read_to_string(list).unwrap_or_default();
    let read = |path: &str| Some((path.to_owned(), fs::read(path).ok()?));
    text.lines().filter_map(read).collect()
}

/// The headers of a list, each with a digest.
pub(super) fn digests(list: &Path) -> BTreeMap<String, u64> {
    let digest = |(path, content): (String, Vec<u8>)| (path, digest::bytes(&content));
    contents(list).into_iter().map(digest).collect()
}

/// The same, with the names of all that they include or ask for.
pub(super) fn outside(list: &Path) -> Outside {
    let (mut headers, mut names) = (BTreeMap::new(), Vec::new());
    for (path, content) in contents(list) {
        let text = joined(&content);
        let included = Named::of(&text).included.into_iter();
        names.extend(included.map(|name| Name::of_included(name.as_bytes())));
        headers.insert(path, digest::bytes(&content));
    }
    Outside {
        headers,
        names: Names::new(names),
    }
}

/// A header that differs between two builds, or took the place of another, if there is one.
#[must_use]
pub fn what_differs<'a>(
    before: &'a BTreeMap<String, u64>,
    after: &'a BTreeMap<String, u64>,
) -> Option<&'a str> {
    let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    let differs = |(path, digest): &(&'a String, &u64)| match after.get(*path) {
        Some(now) => now != *digest,
        // Who is not read any more may have been replaced by another of the same name.
        None => after
            .keys()
            .any(|other| !before.contains_key(other) && name(other) == name(path)),
    };
    before.iter().find(differs).map(|(path, _)| path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(headers: &[(&str, u64)]) -> BTreeMap<String, u64> {
        let headers = headers.iter();
        headers
            .map(|(path, digest)| ((*path).to_owned(), *digest))
            .collect()
    }

    #[test]
    fn headers_that_change_or_are_shadowed_are_noticed() {
        let before = build(&[("/usr/include/a.h", 1), ("/usr/include/b.h", 2)]);
        let after = |headers| build(headers);
        let same = after(&[
            ("/usr/include/a.h", 1),
            ("/usr/include/b.h", 2),
            ("/x/c.h", 3),
        ]);
        assert_eq!(what_differs(&before, &same), None);
        // That a source no longer includes one is the source's change.
        assert_eq!(
            what_differs(&before, &after(&[("/usr/include/a.h", 1)])),
            None
        );
        let changed = after(&[("/usr/include/a.h", 1), ("/usr/include/b.h", 4)]);
        assert_eq!(what_differs(&before, &changed), Some("/usr/include/b.h"));
        let shadowed = after(&[("/usr/include/a.h", 1), ("/opt/b.h", 2)]);
        assert_eq!(what_differs(&before, &shadowed), Some("/usr/include/b.h"));
    }
}
