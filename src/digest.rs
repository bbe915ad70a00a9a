//! Content digests: a stable 64-bit hash over token streams, and the 32-bit hash by which names are mentioned.
//!
//! The values are stored in caches and histories, so they must not depend on the machine, the build or a library's version.

use serde::{Deserialize, Serialize};

const K0: u64 = 0x2d35_8dcc_aa6c_78a5;
const K1: u64 = 0x8bb8_4b93_962e_acc9;
const K2: u64 = 0x4b33_a62e_d433_d4a3;

/// Folded 64x64 multiplication: the mixing step of the wyhash family.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The stable hash of a byte string.
#[must_use]
pub fn bytes(text: &[u8]) -> u64 {
    let mut state = K0 ^ (text.len() as u64);
    let mut chunks = text.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]);
        state = mix(state ^ word ^ K1, K2);
    }
    let mut last = 0u64;
    for (index, byte) in chunks.remainder().iter().enumerate() {
        last |= u64::from(*byte) << (8 * index);
    }
    mix(mix(state ^ last ^ K1, K2), K0)
}

/// The stable 128-bit hash by which stored bytes are addressed: two hashes that go different ways over the same words.
#[must_use]
pub fn content(text: &[u8]) -> u128 {
    let (mut one, mut two) = (K0 ^ (text.len() as u64), K1);
    let mut absorb = |word: u64| {
        one = mix(one ^ word ^ K1, K2);
        two = mix(two ^ word, K0).wrapping_add(word.rotate_left(23));
    };
    let mut chunks = text.chunks_exact(8);
    for chunk in &mut chunks {
        absorb(u64::from_le_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]));
    }
    let mut last = 0u64;
    for (index, byte) in chunks.remainder().iter().enumerate() {
        last |= u64::from(*byte) << (8 * index);
    }
    absorb(last);
    (u128::from(mix(one, K0)) << 64) | u128::from(mix(two ^ one, K2))
}

/// An ordered accumulation of hashes: equal streams give equal digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(K0)
    }
}

impl Digest {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn absorb(&mut self, value: u64) {
        self.0 = mix(self.0 ^ K1, value ^ K2).wrapping_add(value.rotate_left(32) ^ K0);
    }

    pub fn absorb_bytes(&mut self, text: &[u8]) {
        self.absorb(bytes(text));
    }

    #[must_use]
    pub fn finish(self) -> u64 {
        mix(self.0 ^ K2, K1)
    }
}

/// A name as it is mentioned: 32 bits of its hash.
///
/// Two names that collide are taken for one another, so a collision can only widen what counts as affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name(pub u32);

impl Name {
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        Name((bytes(text) >> 32) as u32)
    }

    /// The name where only a macro can change its meaning: members, parameters, local names.
    #[must_use]
    pub fn weak(self) -> Self {
        Name(self.0.rotate_left(13) ^ 0x9e37_79b9)
    }

    /// The name of a struct, union or enum that is local to a function: tags have a name space of their own.
    #[must_use]
    pub fn tag(self) -> Self {
        Name(self.0.rotate_left(7) ^ 0x85eb_ca6b)
    }

    /// The name as a string holds it, for whoever looks symbols up by their names.
    #[must_use]
    pub fn quoted(self) -> Self {
        Name(self.0.rotate_left(19) ^ 0xc2b2_ae35)
    }

    /// The name under which a file is mentioned by an `#include`, given the path as it is written there.
    #[must_use]
    pub fn of_included(path: &[u8]) -> Self {
        let mut path = path;
        while let Some(rest) = path.strip_prefix(b"../").or(path.strip_prefix(b"./")) {
            path = rest;
        }
        let mut digest = Digest::new();
        digest.absorb_bytes(b"#include");
        digest.absorb_bytes(path);
        Name((digest.finish() >> 32) as u32)
    }

    /// All names by which a file can be mentioned: only the build knows how much of its path an `#include` leaves out.
    pub fn as_included(path: &[u8]) -> impl Iterator<Item = Name> + '_ {
        let inner = path
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(at, _)| at + 1);
        std::iter::once(0)
            .chain(inner)
            .map(|start| Name::of_included(&path[start..]))
    }
}

/// A sorted set of names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(Vec<Name>);

impl Names {
    #[must_use]
    pub fn new(mut names: Vec<Name>) -> Self {
        names.sort_unstable();
        names.dedup();
        names.shrink_to_fit();
        Names(names)
    }

    #[must_use]
    pub fn contains(&self, name: Name) -> bool {
        self.0.binary_search(&name).is_ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = Name> + '_ {
        self.0.iter().copied()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Name> for Names {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        Names::new(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_depends_on_order_and_on_token_borders() {
        let digest = |parts: &[&str]| {
            let mut digest = Digest::new();
            for part in parts {
                digest.absorb_bytes(part.as_bytes());
            }
            digest.finish()
        };
        assert_ne!(digest(&["a", "b"]), digest(&["b", "a"]));
        assert_ne!(digest(&["ab"]), digest(&["a", "b"]));
        assert_ne!(digest(&["a", ""]), digest(&["a"]));
        assert_eq!(digest(&["x", "y"]), digest(&["x", "y"]));
    }

    #[test]
    fn hashes_of_stored_values_never_change() {
        assert_eq!(bytes(b""), HASH_OF_NOTHING);
        assert_eq!(Name::of(b"json_object_set").0, NAME_OF_SAMPLE);
        assert_eq!(content(b"a history"), CONTENT_OF_SAMPLE);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_changes_the_content_hash() {
        let text: Vec<u8> = (0..67).collect();
        let mut seen = std::collections::BTreeSet::from([content(&text)]);
        for bit in 0..text.len() * 8 {
            let mut other = text.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(content(&other)), "bit {bit}");
        }
        for length in 0..text.len() {
            assert!(seen.insert(content(&text[..length])), "length {length}");
        }
    }

    const HASH_OF_NOTHING: u64 = 3_111_922_576_122_788_077;
    const NAME_OF_SAMPLE: u32 = 3_120_229_353;
    const CONTENT_OF_SAMPLE: u128 = 193_857_230_378_194_331_266_894_673_781_736_155_295;

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Names = [Name(3), Name(1), Name(3)].into_iter().collect();
        assert_eq!(names.len(), 2);
        assert!(names.contains(Name(1)) && !names.contains(Name(2)));
    }
}
