//! Items of Rust that are what they were, wherever they lie: rustc spreads a crate over many objects by their sizes, so that an edit moves functions that it does not touch from one object to another.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ObjectDigest, Symbol, content};
use crate::digest::Name;

/// Whether rustc gave a name to one item of one crate. Whatever has it is a copy of that item, in whichever of the crate's objects it
/// lies, and whether the other objects see it there or not.
pub(super) fn is_item(name: &str) -> bool {
    // Names with an ending are of parts, or were changed by LLVM.
    name.starts_with("_R") && !name.contains('.') && rustc_demangle::try_demangle(name).is_ok()
}

/// An object, and whether the other build has the same.
pub(super) type Compared<'a> = (&'a ObjectDigest, bool);

/// The items of the objects that differ which both builds define once. Of several copies each user has its own address, and of several
/// variables its own value: where these are is a part of what they are.
#[derive(Debug, Default)]
pub(super) struct Items<'a> {
    /// In whatever object.
    pub(super) of_both: BTreeSet<&'a str>,
    /// Those of them that are defined in the same way.
    pub(super) unchanged: BTreeSet<&'a str>,
}

/// What became of the items of two builds.
pub(super) fn items<'a>(before: &[Compared<'a>], after: &[Compared<'a>]) -> Items<'a> {
    let both = || before.iter().chain(after);
    let differing = both().filter(|(_, is_same)| !is_same);
    let names = differing.flat_map(|(object, _)| &object.symbols);
    let names: FxHashSet<&str> = names.map(|symbol| symbol.name.as_str()).collect();
    let items = names.into_iter().filter(|name| is_item(name));
    let items: FxHashSet<&str> = items.collect();
    let (was, is) = (definitions(before, &items), definitions(after, &items));
    let mut found = Items::default();
    for (item, was) in &was {
        let ([was], Some([is])) = (was.as_slice(), is.get(item).map(Vec::as_slice)) else {
            continue;
        };
        found.of_both.insert(item);
        if was.is_some() && was == is {
            found.unchanged.insert(item);
        }
    }
    found
}

/// What tells one definition of an item from another.
type Definition = (u64, bool, u64);

/// How each of some items is defined, by each object that does; nothing, where that is by what only the object has.
fn definitions<'a>(
    objects: &[Compared<'a>],
    items: &FxHashSet<&str>,
) -> FxHashMap<&'a str, Vec<Option<Definition>>> {
    let mut found: FxHashMap<&str, Vec<Option<Definition>>> = FxHashMap::default();
    for (object, is_same) in objects {
        let own = match is_same {
            // What it has is the same, too.
            true => FxHashSet::default(),
            false => own_names(object),
        };
        let defined = object.symbols.iter();
        for symbol in defined.filter(|symbol| items.contains(symbol.name.as_str())) {
            let depends = symbol.mentions.iter().any(|name| own.contains(&name));
            let definition = (symbol.digest, symbol.is_code, symbol.counters);
            let definition = (!depends).then_some(definition);
            found.entry(&symbol.name).or_default().push(definition);
        }
    }
    found
}

/// What only an object sees, and that is no item: another object may have something else of the same name.
fn own_names(object: &ObjectDigest) -> FxHashSet<Name> {
    let is_own = |symbol: &&Symbol| symbol.is_own && !is_item(&symbol.name);
    let own = object.symbols.iter().filter(is_own);
    own.map(|symbol| content::own(&symbol.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Names;

    const ITEM: &str = "_RNvCs1234_4base5twice";

    fn symbol(name: &str, is_own: bool, digest: u64, mentions: &[Name]) -> Symbol {
        Symbol {
            name: name.to_owned(),
            is_own,
            is_code: true,
            counters: 1,
            digest,
            mentions: Names::new(mentions.to_vec()),
        }
    }

    fn object(symbols: Vec<Symbol>) -> ObjectDigest {
        ObjectDigest {
            symbols,
            ..ObjectDigest::default()
        }
    }

    fn is_unchanged(before: &[ObjectDigest], after: &[ObjectDigest]) -> bool {
        let [before, after] = [before, after].map(|objects| {
            let compared = objects.iter().map(|object| (object, false));
            compared.collect::<Vec<Compared<'_>>>()
        });
        items(&before, &after).unchanged.contains(ITEM)
    }

    #[test]
    fn items_are_known_by_names_of_rustc_alone() {
        assert!(is_item(ITEM) && is_item("_RNvXsa_NtCs1234_4base1aNtB5_1bNtB7_1c1d"));
        for name in ["main", "_Rfoo", "_R", "_ZN4base5twice17h0123456789abcdefE"] {
            assert!(!is_item(name), "{name}");
        }
        assert!(!is_item("_RNvCs1234_4base5twice.llvm.17"));
    }

    #[test]
    fn an_item_may_move_and_be_hidden_but_not_be_copied() {
        let with = |is_own| object(vec![symbol(ITEM, is_own, 1, &[])]);
        let without = || object(vec![symbol("_RNvCs1234_4base3one", false, 1, &[])]);
        assert!(is_unchanged(
            &[with(false), without()],
            &[without(), with(true)]
        ));
        // Who takes its address now has another one, and of a variable another value.
        assert!(!is_unchanged(&[with(true)], &[with(true), with(true)]));
        assert!(!is_unchanged(
            &[with(true), with(true)],
            &[with(true), without(), with(true)]
        ));
        let other = object(vec![symbol(ITEM, true, 2, &[])]);
        assert!(!is_unchanged(&[with(true)], &[with(true), other.clone()]));
        assert!(!is_unchanged(&[with(true)], &[other]));
        assert!(!is_unchanged(&[with(true)], &[without()]));
    }

    #[test]
    fn what_uses_something_of_its_object_is_not_the_same_elsewhere() {
        let using = |count: u64| {
            let counter = content::own("count");
            let used = symbol("count", true, count, &[]);
            object(vec![symbol(ITEM, false, 1, &[counter]), used])
        };
        assert!(!is_unchanged(&[using(1)], &[using(2)]));
        // Another item is the same wherever it is seen.
        let item = "_RNvCs1234_4base3one";
        let using = |is_own| {
            let used = symbol(item, is_own, 1, &[]);
            object(vec![symbol(ITEM, false, 1, &[content::own(item)]), used])
        };
        assert!(is_unchanged(&[using(true)], &[using(false)]));
    }
}
