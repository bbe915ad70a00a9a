//! Libraries with their version in their name: the link by which programs find them stays, and leads to another name.
//!
//! To who only follows the link it is the same library, if its code is; to who names the library itself, or asks where the link
//! leads, it is not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Beyond, Compiled};
use crate::repo::RepoPath;

/// Libraries that have other names in another build.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Versioned {
    /// The name after, and the one before.
    names: BTreeMap<RepoPath, RepoPath>,
    /// The links that lead to them.
    links: BTreeSet<RepoPath>,
}

impl Versioned {
    /// Finds them by the links that both builds have.
    #[must_use]
    pub fn find(before: &Compiled, after: &Compiled) -> Self {
        let mut found = Versioned::default();
        let mut taken = BTreeSet::new();
        for (link, old) in &before.links {
            let Some(new) = after.links.get(link).filter(|new| *new != old) else {
                continue;
            };
            let is_moved = is_library(before, old)
                && is_library(after, new)
                && !is_there(before, new)
                && !is_there(after, old);
            if !is_moved {
                continue;
            }
            let is_sure = match found.names.get(new) {
                Some(known) => known == old,
                None => taken.insert(old),
            };
            if !is_sure {
                return Versioned::default();
            }
            found.names.insert(new.clone(), old.clone());
            found.links.insert(link.clone());
        }
        found
    }

    /// The build after, with the names that the build before has.
    #[must_use]
    pub fn under_the_old_names<'a>(
        &self,
        before: &Compiled,
        after: &'a Compiled,
    ) -> Cow<'a, Compiled> {
        if self.names.is_empty() {
            return Cow::Borrowed(after);
        }
        let mut after = after.clone();
        for (new, old) in &self.names {
            let binaries = &mut after.contents.binaries;
            if let Some(binary) = binaries.remove(&new.to_string()) {
                binaries.insert(old.to_string(), binary);
            }
            if let Some(product) = after.products.remove(new) {
                after.products.insert(old.clone(), product);
            }
        }
        for link in &self.links {
            if let Some(product) = before.products.get(link) {
                after.products.insert(link.clone(), *product);
            }
        }
        Cow::Owned(after)
    }

    /// What a test that followed the links looks at from now on.
    pub fn rename(&self, looked: &mut Beyond) {
        for (new, old) in &self.names {
            for set in [&mut looked.made, &mut looked.made_behind] {
                if set.remove(old) {
                    set.insert(new.clone());
                }
            }
        }
    }

    /// Whether a test notices that something it looked at has another name.
    #[must_use]
    pub fn is_noticed(&self, place: &RepoPath, by: &Beyond) -> bool {
        let is_read = by.made_read.contains(place);
        let is_named = !by.made_behind.contains(place);
        let mut old = self.names.values();
        self.links.contains(place) && is_read
            || (is_read || is_named) && old.any(|old| old == place)
    }
}

fn is_library(build: &Compiled, place: &RepoPath) -> bool {
    let binary = build.contents.binaries.get(&place.to_string());
    binary.is_some_and(|binary| !binary.is_program)
}

/// Whether a build has something at a place, as far as anybody knows.
fn is_there(build: &Compiled, place: &RepoPath) -> bool {
    let product = build.products.get(place);
    product.is_some_and(|product| product.mode != 0)
        || build.contents.binaries.contains_key(&place.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Product;
    use crate::objects::BinaryDigest;

    fn place(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn product(mode: u32, digest: u64) -> Product {
        Product {
            mode,
            is_code: mode == 0o100_755,
            digest: Some(digest),
        }
    }

    /// A build with a library behind a link.
    fn build(name: &str, is_program: bool) -> Compiled {
        let mut compiled = Compiled::default();
        let binary = BinaryDigest {
            is_program,
            ..BinaryDigest::default()
        };
        compiled.contents.binaries.insert(name.to_owned(), binary);
        let link = product(0o120_777, name.len() as u64);
        compiled.products.insert(place("lib.so.1"), link);
        let library = product(0o100_755, 7);
        compiled.products.insert(place(name), library);
        compiled.links.insert(place("lib.so.1"), place(name));
        compiled
    }

    fn looking(behind: &[&str], read: &[&str]) -> Beyond {
        let made = ["lib.so.1", "lib.so.1.9"].map(place);
        Beyond {
            made: made.into(),
            made_behind: behind.iter().map(|text| place(text)).collect(),
            made_read: read.iter().map(|text| place(text)).collect(),
            ..Beyond::default()
        }
    }

    #[test]
    fn a_library_with_another_version_is_the_same_to_who_follows_the_link() {
        let (before, after) = (build("lib.so.1.9", false), build("lib.so.1.10", false));
        let versioned = Versioned::find(&before, &after);
        let aligned = versioned.under_the_old_names(&before, &after);
        assert_eq!(aligned.contents, before.contents);
        assert_eq!(aligned.products, before.products);
        let is_noticed = |beyond: &Beyond| {
            let mut places = beyond.made.iter();
            places.any(|place| versioned.is_noticed(place, beyond))
        };
        let mut follower = looking(&["lib.so.1.9"], &[]);
        assert!(!is_noticed(&follower));
        versioned.rename(&mut follower);
        assert_eq!(follower.made, ["lib.so.1", "lib.so.1.10"].map(place).into());
        assert_eq!(follower.made_behind, [place("lib.so.1.10")].into());
        assert!(is_noticed(&looking(&[], &[])));
        assert!(is_noticed(&looking(&["lib.so.1.9"], &["lib.so.1"])));
        assert!(is_noticed(&looking(&["lib.so.1.9"], &["lib.so.1.9"])));
    }

    #[test]
    fn where_a_version_may_mean_something_names_stay() {
        let before = build("lib.so.1.9", false);
        let stays = |after: &Compiled| {
            assert_eq!(Versioned::find(&before, after), Versioned::default());
        };
        stays(&before);
        stays(&build("lib.so.1.10", true));
        // The old one is still there.
        let mut both = build("lib.so.1.10", false);
        both.products.extend(before.products.clone());
        stays(&both);
        // Two libraries become one.
        let mut other = build("lib.so.1.10", false);
        other.links.insert(place("other.so"), place("lib.so.1.10"));
        let mut two = before.clone();
        two.links.insert(place("other.so"), place("other.so.1"));
        let binary = BinaryDigest::default();
        two.contents
            .binaries
            .insert("other.so.1".to_owned(), binary);
        assert_eq!(Versioned::find(&two, &other), Versioned::default());
    }
}
