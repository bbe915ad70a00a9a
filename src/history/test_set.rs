//! A set of tests in few bytes: as gaps, as runs or as a bitmap, whichever is shortest.

use serde::{Deserialize, Serialize};

/// A test's number. It stays the same in all histories of a repository, so that records which agree are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestNumber(pub u32);

const GAPS: u8 = 0;
const RUNS: u8 = 1;
const BITMAP: u8 = 2;

/// Encodes numbers that ascend.
pub(super) fn encode(numbers: &[u32]) -> Vec<u8> {
    let mut gaps = vec![GAPS];
    let mut runs = vec![RUNS];
    let mut next = 0;
    let mut at = 0;
    for number in numbers {
        push(&mut gaps, number.wrapping_sub(next));
        next = number.wrapping_add(1);
    }
    next = 0;
    while let Some(first) = numbers.get(at) {
        let mut length = 1;
        let follows =
            |length: usize, number: &u32| u64::from(*number) == u64::from(*first) + length as u64;
        while numbers
            .get(at + length)
            .is_some_and(|number| follows(length, number))
        {
            length += 1;
        }
        push(&mut runs, first.wrapping_sub(next));
        push(&mut runs, length as u32 - 1);
        next = first.wrapping_add(length as u32);
        at += length;
    }
    let mut best = if runs.len() < gaps.len() { runs } else { gaps };
    if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
        let base = first / 8;
        let length = (last / 8 - base) as usize + 1;
        // The size is known before any bit is set: far numbers cost no memory.
        if length + 6 < best.len() {
            let mut bitmap = vec![BITMAP];
            push(&mut bitmap, base);
            let start = bitmap.len();
            bitmap.resize(start + length, 0);
            for number in numbers {
                bitmap[start + (number / 8 - base) as usize] |= 1 << (number % 8);
            }
            best = bitmap;
        }
    }
    best
}

/// Decodes a set; nothing, if these are not the bytes of one. There are never more numbers than `most`.
pub(super) fn decode(bytes: &[u8], most: usize) -> Option<Vec<u32>> {
    let (kind, mut rest) = bytes.split_first()?;
    let mut numbers = Vec::new();
    let mut next = 0u64;
    match *kind {
        GAPS => {
            while !rest.is_empty() {
                let number = next + u64::from(pull(&mut rest)?);
                numbers.push(u32::try_from(number).ok()?);
                next = number + 1;
            }
        }
        RUNS => {
            while !rest.is_empty() {
                let first = next + u64::from(pull(&mut rest)?);
                next = first + u64::from(pull(&mut rest)?) + 1;
                if next > u64::from(u32::MAX) + 1 || next - first > (most - numbers.len()) as u64 {
                    return None;
                }
                numbers.extend((first..next).map(|number| number as u32));
            }
        }
        BITMAP => {
            let base = u64::from(pull(&mut rest)?) * 8;
            for (index, byte) in rest.iter().enumerate() {
                let mut byte = *byte;
                while byte != 0 {
                    let number = base + index as u64 * 8 + u64::from(byte.trailing_zeros());
                    numbers.push(u32::try_from(number).ok()?);
                    byte &= byte - 1;
                }
            }
        }
        _ => return None,
    }
    (numbers.len() <= most).then_some(numbers)
}

fn push(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn pull(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_tests_take_a_few_bytes() {
        let all: Vec<u32> = (0..10_000).collect();
        assert!(encode(&all).len() <= 5);
        assert_eq!(decode(&encode(&all), 10_000), Some(all));
    }

    #[test]
    fn a_third_of_all_tests_takes_a_bit_for_each_test() {
        let third: Vec<u32> = (0..9_000).filter(|number| number % 3 == 0).collect();
        assert!(encode(&third).len() < 9_000 / 8 + 8);
    }

    #[test]
    fn numbers_far_apart_take_no_memory() {
        let far = [0, u32::MAX];
        assert!(encode(&far).len() < 10);
        assert_eq!(decode(&encode(&far), 2).as_deref(), Some(far.as_slice()));
    }

    #[test]
    fn a_run_beyond_all_tests_is_refused() {
        let mut bytes = vec![RUNS];
        push(&mut bytes, 0);
        push(&mut bytes, u32::MAX);
        assert_eq!(decode(&bytes, 1000), None);
    }

    proptest! {
        #[test]
        fn every_set_comes_back(
            set in proptest::collection::btree_set(
                prop_oneof![0..50u32, 0..5_000u32, any::<u32>(), u32::MAX - 9..=u32::MAX],
                0..300,
            ),
        ) {
            let numbers: Vec<u32> = set.into_iter().collect();
            prop_assert_eq!(decode(&encode(&numbers), numbers.len()), Some(numbers));
        }

        #[test]
        fn arbitrary_bytes_decode_to_an_ascending_set_or_nothing(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            if let Some(numbers) = decode(&bytes, 10_000) {
                prop_assert!(numbers.is_sorted_by(|one, two| one < two));
            }
        }
    }
}
