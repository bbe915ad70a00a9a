//! Which functions of a binary do not increment the same counters as before: of these, traces do not tell the same any more.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectDigest;
use super::contents::BinaryDigest;
use super::counters::UNKNOWN;
use super::naming::function_of;
use super::pairing::Pairs;

/// What the code of a function is and which counters it increments, each piece of it.
type Pieces<'a> = BTreeMap<&'a str, Vec<(u64, u64)>>;

/// One binary, with its objects.
pub(super) type Linked<'a> = (&'a BinaryDigest, &'a [&'a ObjectDigest]);

/// The functions whose code is made of other functions than before; nothing, if that is not known.
///
/// A function that only its object sees is compared there. That another object has got a copy of it, as of every inline function
/// of a header, is nothing to who executes the old ones. One that all objects see may come from any of them.
pub(super) fn recounted(
    before: Linked<'_>,
    after: Linked<'_>,
    pairs: &Pairs,
) -> Option<BTreeSet<String>> {
    if before.0.opaque.is_some() || after.0.opaque.is_some() {
        return None;
    }
    let (before, after) = (before.1, after.1);
    let mut symbols = before
        .iter()
        .chain(after)
        .flat_map(|object| &object.symbols);
    if symbols.any(|symbol| symbol.is_code && symbol.counters == UNKNOWN) {
        return None;
    }
    let mut found = BTreeSet::new();
    if before == after {
        return Some(found);
    }
    let mut compare = |before: &Pieces<'_>, after: &Pieces<'_>| {
        let differing = before
            .iter()
            .filter(|(function, pieces)| after.get(*function) != Some(*pieces));
        found.extend(differing.map(|(function, _)| (*function).to_owned()));
    };
    for (object, partner) in before.iter().zip(&pairs.partners) {
        let partner = partner.map(|partner| after[partner]);
        compare(&pieces([*object], true), &pieces(partner, true));
    }
    compare(
        &pieces(before.iter().copied(), false),
        &pieces(after.iter().copied(), false),
    );
    Some(found)
}

/// The pieces of the functions of some objects: of those that only the object sees, or of the others.
fn pieces<'a>(objects: impl IntoIterator<Item = &'a ObjectDigest>, is_own: bool) -> Pieces<'a> {
    let mut found = Pieces::new();
    let symbols = objects.into_iter().flat_map(|object| &object.symbols);
    for symbol in symbols.filter(|symbol| symbol.is_code && symbol.is_own == is_own) {
        let pieces = found.entry(function_of(&symbol.name)).or_default();
        pieces.push((symbol.digest, symbol.counters));
    }
    for pieces in found.values_mut() {
        pieces.sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::pairing::pair;
    use super::*;
    use crate::digest::Names;
    use crate::objects::Symbol;

    /// An object with functions that only it sees, or that all see: each with its code and its counters.
    fn object(is_own: bool, functions: &[(&str, u64, u64)]) -> ObjectDigest {
        let symbols = functions.iter().map(|(name, digest, counters)| Symbol {
            name: (*name).to_owned(),
            is_own,
            is_code: true,
            counters: *counters,
            digest: *digest,
            mentions: Names::default(),
        });
        ObjectDigest {
            symbols: symbols.collect(),
            ..ObjectDigest::default()
        }
    }

    fn found(before: &[ObjectDigest], after: &[ObjectDigest]) -> Option<Vec<String>> {
        let [before, after]: [Vec<&ObjectDigest>; 2] =
            [before, after].map(|side| side.iter().collect());
        let binary = BinaryDigest::default();
        let pairs = pair(&before, &after);
        let found = recounted((&binary, &before), (&binary, &after), &pairs);
        found.map(|found| found.into_iter().collect())
    }

    fn nothing() -> Option<Vec<String>> {
        Some(Vec::new())
    }

    #[test]
    fn a_new_object_with_a_copy_of_an_inline_function_is_nothing_to_the_old_ones() {
        let old = || object(true, &[("inline", 1, 1), ("a", 2, 2)]);
        let copy = object(true, &[("inline", 7, 7), ("b", 3, 3)]);
        assert_eq!(found(&[old()], &[old(), copy.clone()]), nothing());
        // Whose object went, is not where it was.
        let gone = Some(vec!["b".to_owned(), "inline".to_owned()]);
        assert_eq!(found(&[old(), copy], &[old()]), gone);
    }

    #[test]
    fn other_counters_in_the_same_code_are_found_where_only_the_object_sees_it() {
        let with = |counters| object(true, &[("f", 1, counters), ("g", 2, 2)]);
        let other = || object(true, &[("f", 1, 5)]);
        let f = Some(vec!["f".to_owned()]);
        assert_eq!(found(&[with(4), other()], &[with(5), other()]), f);
        assert_eq!(found(&[with(4), other()], &[with(4), other()]), nothing());
    }

    #[test]
    fn what_all_objects_see_may_come_from_any() {
        let with = |digest| object(false, &[("f", digest, 1)]);
        let f = Some(vec!["f".to_owned()]);
        assert_eq!(found(&[with(1)], &[with(1), with(2)]), f);
        assert_eq!(found(&[with(1)], &[with(1)]), nothing());
    }

    #[test]
    fn counters_of_which_nobody_knows_whose_they_are_tell_nothing() {
        let unknown = [object(true, &[("f", 1, UNKNOWN)])];
        assert_eq!(found(&unknown, &unknown), None);
    }
}
