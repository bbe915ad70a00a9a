//! Which object of one build is which of the other, and the symbols in which two of them differ.
//!
//! Any pairing is safe: two objects that agree in everything are the same, and where they do not, symbols come out as changed.
//! A good pairing only makes the difference small.

use std::collections::BTreeMap;

use super::ObjectDigest;
use crate::digest::Digest;

/// How a symbol differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    Changed,
    Appeared,
    Disappeared,
}

/// A symbol that differs between two objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Differing<'a> {
    pub(super) name: &'a str,
    pub(super) is_own: bool,
    pub(super) is_code: bool,
    pub(super) is_data: bool,
    /// All of the name that is code tells when it is executed.
    pub(super) counts: bool,
    pub(super) change: Change,
}

/// Which object is which, by their places.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each object before, its partner after.
    pub(super) partners: Vec<Option<usize>>,
    /// The objects after that have none.
    pub(super) left: Vec<usize>,
}

/// Finds for each object before its partner after.
pub(super) fn pair(before: &[&ObjectDigest], after: &[&ObjectDigest]) -> Pairs {
    let mut partners = vec![None; before.len()];
    let mut free = vec![true; after.len()];
    let mut same: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, object) in after.iter().enumerate() {
        same.entry(fingerprint(object)).or_default().push(number);
    }
    for (number, object) in before.iter().enumerate() {
        let candidates = same.get_mut(&fingerprint(object));
        if let Some(partner) = candidates.and_then(Vec::pop) {
            partners[number] = Some(partner);
            free[partner] = false;
        }
    }
    let mut places: BTreeMap<(&str, bool), Vec<(usize, u64)>> = BTreeMap::new();
    for (number, object) in after.iter().enumerate().filter(|(number, _)| free[*number]) {
        for symbol in &object.symbols {
            let places = places.entry((&symbol.name, symbol.is_own)).or_default();
            places.push((number, symbol.digest));
        }
    }
    let mut scores: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (number, object) in before.iter().enumerate() {
        if partners[number].is_some() {
            continue;
        }
        for symbol in &object.symbols {
            let places = places.get(&(symbol.name.as_str(), symbol.is_own));
            for (place, digest) in places.into_iter().flatten() {
                // A name that others see belongs to one object; one of its own may be anywhere.
                let by_name = if symbol.is_own { 1 } else { 8 };
                let score = by_name + usize::from(symbol.digest == *digest);
                *scores.entry((number, *place)).or_default() += score;
            }
        }
    }
    let mut scores: Vec<_> = scores.into_iter().collect();
    scores.sort_by_key(|(pair, score)| (std::cmp::Reverse(*score), *pair));
    for ((number, place), _) in scores {
        if partners[number].is_none() && free[place] {
            partners[number] = Some(place);
            free[place] = false;
        }
    }
    let left = (0..after.len()).filter(|number| free[*number]).collect();
    Pairs { partners, left }
}

/// The symbols in which two objects differ; an absent object has none.
pub(super) fn differing<'a>(
    before: Option<&'a ObjectDigest>,
    after: Option<&'a ObjectDigest>,
) -> Vec<Differing<'a>> {
    type Digests = Vec<(u64, bool, bool)>;
    let mut groups: BTreeMap<(&str, bool), (Digests, Digests)> = BTreeMap::new();
    let symbols =
        |object: Option<&'a ObjectDigest>| object.into_iter().flat_map(|one| &one.symbols);
    for symbol in symbols(before) {
        let group = groups.entry((&symbol.name, symbol.is_own)).or_default();
        group
            .0
            .push((symbol.digest, symbol.is_code, symbol.counts()));
    }
    for symbol in symbols(after) {
        let group = groups.entry((&symbol.name, symbol.is_own)).or_default();
        group
            .1
            .push((symbol.digest, symbol.is_code, symbol.counts()));
    }
    let mut found = Vec::new();
    for ((name, is_own), (before, after)) in groups {
        // Symbols of one name are in the order of their digests.
        if before == after {
            continue;
        }
        let change = match (before.is_empty(), after.is_empty()) {
            (true, _) => Change::Appeared,
            (_, true) => Change::Disappeared,
            _ => Change::Changed,
        };
        let both = || before.iter().chain(&after);
        found.push(Differing {
            name,
            is_own,
            is_code: both().any(|(_, is_code, _)| *is_code),
            is_data: both().any(|(_, is_code, _)| !*is_code),
            counts: both().all(|(_, is_code, counts)| !*is_code || *counts),
            change,
        });
    }
    found
}

/// Over all that an object holds.
pub(super) fn fingerprint(object: &ObjectDigest) -> u64 {
    let mut digest = Digest::new();
    for symbol in &object.symbols {
        digest.absorb_bytes(symbol.name.as_bytes());
        digest.absorb(u64::from(symbol.is_own) * 2 + u64::from(symbol.is_code));
        digest.absorb(symbol.digest);
    }
    for list in &object.lists {
        digest.absorb_bytes(list.name.as_bytes());
        digest.absorb(list.digest);
    }
    digest.absorb(object.at_load.digest);
    digest.absorb(object.remainder);
    digest.finish()
}
