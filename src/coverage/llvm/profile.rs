//! Raw profiles, as the runtime writes them when a program ends or maps them while it runs.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::cursor::Cursor;
use super::names::Names;

const MAGIC: [u8; 8] = [0x81, b'r', b'f', b'o', b'r', b'p', b'l', 0xff];
const MAGIC_32: [u8; 8] = [0x81, b'R', b'f', b'o', b'r', b'p', b'l', 0xff];

/// Flags in the upper half of the version field.
const BYTE_COVERAGE: u32 = 1 << (60 - 32);

/// What one binary, program or library, counted in one process.
#[derive(Debug, Clone)]
pub struct Profile<'a> {
    /// Empty if the binary was linked without one.
    pub build_id: Vec<u8>,
    pub records: Vec<Record>,
    /// The counters of all records.
    pub counters: Vec<u64>,
    names: &'a [u8],
}

/// What was counted in one function. Several functions may have the same name and even the same hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The hash of the name.
    pub name: u64,
    /// The hash of the function's structure.
    pub hash: u64,
    /// Where its counters are.
    pub counters: Range<usize>,
}

/// All that was counted under one name and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum<'p> {
    pub counters: Cow<'p, [u64]>,
    /// More than one for an inline function of several units, and for static functions that share their file's name and their own.
    pub records: usize,
}

impl Profile<'_> {
    /// The counters by the name and the hash that a function of a coverage map has.
    #[must_use]
    pub fn sums(&self) -> FxHashMap<(u64, u64), Sum<'_>> {
        let mut sums: FxHashMap<(u64, u64), Sum<'_>> = FxHashMap::default();
        sums.reserve(self.records.len());
        for record in &self.records {
            let counters = self.counters(record);
            match sums.entry((record.name, record.hash)) {
                Entry::Vacant(entry) => {
                    entry.insert(Sum {
                        counters: Cow::Borrowed(counters),
                        records: 1,
                    });
                }
                Entry::Occupied(mut entry) => entry.get_mut().add(counters),
            }
        }
        sums
    }

    #[must_use]
    pub fn counters(&self, record: &Record) -> &[u64] {
        self.counters
            .get(record.counters.clone())
            .unwrap_or_default()
    }

    /// The names of the functions: not needed beside a coverage map, which has them too.
    pub fn names(&self) -> Result<Names, Unreadable> {
        let mut names = Names::default();
        names.add(self.names)?;
        Ok(names)
    }
}

impl Sum<'_> {
    fn add(&mut self, counters: &[u64]) {
        self.records += 1;
        let sum = self.counters.to_mut();
        // One hash means one number of counters, unless the file lies.
        sum.resize(sum.len().max(counters.len()), 0);
        for (sum, counter) in sum.iter_mut().zip(counters) {
            *sum = sum.saturating_add(*counter);
        }
    }
}

/// Reads a file of raw profiles. Usually there is one; files that were joined have several.
pub fn read(bytes: &[u8]) -> Result<Vec<Profile<'_>>, Unreadable> {
    let mut cursor = Cursor::new(bytes);
    let mut profiles = vec![profile(&mut cursor)?];
    // Every profile has a header, so this ends.
    loop {
        cursor.skip_zeros();
        if cursor.is_at_end() {
            return Ok(profiles);
        }
        profiles.push(profile(&mut cursor)?);
    }
}

fn profile<'a>(cursor: &mut Cursor<'a>) -> Result<Profile<'a>, Unreadable> {
    let (header, layout) = header(cursor)?;
    let build_id = build_id(cursor.take_long(header.build_ids)?)?;
    let records = cursor.take_long(product(header.records, layout.record as u64)?)?;
    cursor.take_long(header.before_counters)?;
    let counters = cursor.take_long(product(header.counters, 8)?)?;
    cursor.take_long(header.after_counters)?;
    cursor.take_long(header.bitmaps)?;
    cursor.take_long(header.after_bitmaps)?;
    let names = cursor.take_long(header.names)?;
    cursor.align(names.len());
    cursor.take_long(product(header.vtables, VTABLE)?)?;
    let vtable_names = cursor.take_long(header.vtable_names)?;
    cursor.align(vtable_names.len());

    let counters: Vec<u64> = counters
        .as_chunks()
        .0
        .iter()
        .map(|counter| u64::from_le_bytes(*counter))
        .collect();
    let mut has_values = 0usize;
    let records = records
        .chunks_exact(layout.record)
        .enumerate()
        .map(|(index, bytes)| {
            let at = (index * layout.record) as u64;
            let raw = raw_record(bytes, &layout)?;
            has_values += usize::from(raw.has_values);
            raw.placed(at, header.counters_delta, counters.len())
        })
        .collect::<Result<Vec<Record>, _>>()?;
    every_count_has_a_record(&records, &counters)?;
    skip_values(cursor, has_values)?;
    Ok(Profile {
        build_id,
        records,
        counters,
        names,
    })
}

/// What was counted and belongs to nobody was executed, but nobody would know where.
fn every_count_has_a_record(records: &[Record], counters: &[u64]) -> Result<(), Unreadable> {
    let mut has_record = vec![false; counters.len()];
    for record in records {
        has_record[record.counters.clone()].fill(true);
    }
    let mut counted = counters.iter().zip(has_record);
    if counted.any(|(count, has_record)| *count > 0 && !has_record) {
        return Err(Unreadable::Damaged("a count that belongs to no record"));
    }
    Ok(())
}

/// Where the versions differ.
struct Layout {
    /// The size of a record.
    record: usize,
    /// Where the number of counters stands in a record.
    counter_count: usize,
    /// How many kinds of values may be profiled beside the counters.
    value_kinds: usize,
}

/// The size of the description of a C++ vtable.
const VTABLE: u64 = 24;

#[derive(Default)]
struct Header {
    build_ids: u64,
    records: u64,
    before_counters: u64,
    counters: u64,
    after_counters: u64,
    bitmaps: u64,
    after_bitmaps: u64,
    names: u64,
    counters_delta: u64,
    vtables: u64,
    vtable_names: u64,
}

fn header(cursor: &mut Cursor<'_>) -> Result<(Header, Layout), Unreadable> {
    let magic = cursor.take(MAGIC.len())?;
    if magic != MAGIC {
        let reversed = |other: [u8; 8]| magic.iter().rev().eq(&other);
        return Err(if magic == MAGIC_32 {
            Unreadable::Bits32
        } else if reversed(MAGIC) || reversed(MAGIC_32) {
            Unreadable::BigEndian
        } else {
            Unreadable::NotAProfile
        });
    }
    let version = cursor.u32()?;
    let flags = cursor.u32()?;
    let layout = match version {
        8 => Layout {
            record: 48,
            counter_count: 40,
            value_kinds: 2,
        },
        9 => Layout {
            record: 64,
            counter_count: 48,
            value_kinds: 2,
        },
        10 => Layout {
            record: 64,
            counter_count: 48,
            value_kinds: 3,
        },
        other => return Err(Unreadable::ProfileVersion(other)),
    };
    if flags & BYTE_COVERAGE != 0 {
        return Err(Unreadable::ByteCoverage);
    }
    if flags != 0 {
        return Err(Unreadable::OtherInstrumentation(flags));
    }
    let mut header = Header {
        build_ids: cursor.u64()?,
        records: cursor.u64()?,
        before_counters: cursor.u64()?,
        counters: cursor.u64()?,
        after_counters: cursor.u64()?,
        ..Header::default()
    };
    if version >= 9 {
        header.bitmaps = cursor.u64()?;
        header.after_bitmaps = cursor.u64()?;
    }
    header.names = cursor.u64()?;
    header.counters_delta = cursor.u64()?;
    if version >= 9 {
        let _bitmaps_delta = cursor.u64()?;
    }
    let _names_delta = cursor.u64()?;
    if version >= 10 {
        header.vtables = cursor.u64()?;
        header.vtable_names = cursor.u64()?;
    }
    let _last_value_kind = cursor.u64()?;
    Ok((header, layout))
}

/// The first of the build ids, each behind its length and filled up to eight bytes.
fn build_id(bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut cursor = Cursor::new(bytes);
    let length = cursor.u64()?;
    Ok(cursor.take_long(length)?.to_vec())
}

struct RawRecord {
    name: u64,
    hash: u64,
    counters: u64,
    counter_count: u32,
    has_values: bool,
}

fn raw_record(bytes: &[u8], layout: &Layout) -> Result<RawRecord, Unreadable> {
    let mut cursor = Cursor::new(bytes);
    let name = cursor.u64()?;
    let hash = cursor.u64()?;
    let counters = cursor.u64()?;
    cursor.take(layout.counter_count - 24)?;
    Ok(RawRecord {
        name,
        hash,
        counters,
        counter_count: cursor.u32()?,
        has_values: cursor
            .take(2 * layout.value_kinds)?
            .iter()
            .any(|byte| *byte != 0),
    })
}

impl RawRecord {
    /// The record's pointer is relative to the record itself, as both were in memory; `delta` is from the first record to the first counter.
    fn placed(self, at: u64, delta: u64, counters: usize) -> Result<Record, Unreadable> {
        let outside = Unreadable::Damaged("a record points outside the counters");
        let offset = self.counters.wrapping_sub(delta).wrapping_add(at);
        if !offset.is_multiple_of(8) {
            return Err(outside);
        }
        let range = usize::try_from(offset / 8)
            .ok()
            .zip(usize::try_from(self.counter_count).ok())
            .and_then(|(start, count)| Some(start..start.checked_add(count)?))
            .filter(|range| range.end <= counters)
            .ok_or(outside)?;
        Ok(Record {
            name: self.name,
            hash: self.hash,
            counters: range,
        })
    }
}

/// Steps over the profiled values of so many records; a continuous profile has none.
fn skip_values(cursor: &mut Cursor<'_>, records: usize) -> Result<(), Unreadable> {
    for _ in 0..records {
        if cursor.is_at_end() || cursor.rest().starts_with(&MAGIC) {
            break;
        }
        let size = Cursor::new(cursor.rest()).u32()?;
        if size < 8 {
            return Err(Unreadable::Damaged("the profiled values"));
        }
        cursor.take_long(u64::from(size))?;
    }
    Ok(())
}

fn product(count: u64, size: u64) -> Result<u64, Unreadable> {
    count.checked_mul(size).ok_or(Unreadable::Truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile of two functions with one and two counters, as each version would write it.
    fn written(version: u64, padding: u64) -> Vec<u8> {
        let record_size: u64 = if version == 8 { 48 } else { 64 };
        let before_counters = 0x5000u64;
        let mut words = vec![
            u64::from_le_bytes(MAGIC),
            version,
            16,
            2,
            padding,
            3,
            padding,
        ];
        if version >= 9 {
            words.extend([0, padding]);
        }
        words.extend([6, before_counters]);
        if version >= 9 {
            words.push(0);
        }
        words.push(0x9000);
        if version >= 10 {
            words.extend([0, 0]);
        }
        words.push(1);
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend(3u64.to_le_bytes());
        bytes.extend(b"\xaa\xbb\xcc\0\0\0\0\0");
        for (index, (first, count)) in [(0u64, 1u32), (1, 2)].into_iter().enumerate() {
            let at = index as u64 * record_size;
            let start = bytes.len();
            let pointer = before_counters.wrapping_add(first * 8).wrapping_sub(at);
            for word in [100 + index as u64, 200 + index as u64, pointer, 0, 0] {
                bytes.extend(word.to_le_bytes());
            }
            if version >= 9 {
                bytes.extend([0; 8]);
            }
            bytes.extend(count.to_le_bytes());
            bytes.resize(start + record_size as usize, 0);
        }
        bytes.resize(bytes.len() + padding as usize, 0);
        for counter in [7u64, 8, 9] {
            bytes.extend(counter.to_le_bytes());
        }
        bytes.resize(bytes.len() + padding as usize, 0);
        if version >= 9 {
            bytes.resize(bytes.len() + padding as usize, 0);
        }
        bytes.extend(b"\x04\0main\0\0");
        bytes
    }

    fn error(bytes: &[u8]) -> Unreadable {
        read(bytes).expect_err("the bytes are not a profile that we know")
    }

    #[test]
    fn every_version_is_read_with_and_without_padding() {
        for version in [8, 9, 10] {
            for padding in [0, 4096] {
                let bytes = written(version, padding);
                let profiles = read(&bytes).expect("the profile is sound");
                let [profile] = &profiles[..] else {
                    unreachable!("one profile was written");
                };
                assert_eq!(profile.build_id, [0xaa, 0xbb, 0xcc]);
                let seen: Vec<_> = profile
                    .records
                    .iter()
                    .map(|record| (record.name, record.hash, profile.counters(record)))
                    .collect();
                assert_eq!(seen, [(100, 200, &[7][..]), (101, 201, &[8, 9])]);
                let names = profile.names().expect("the names are sound");
                assert_eq!(names.len(), 1);
            }
        }
    }

    #[test]
    fn records_of_one_name_and_hash_are_added_up() {
        let bytes = written(10, 0);
        let mut profile = read(&bytes).expect("the profile is sound").remove(0);
        let sums = profile.sums();
        assert_eq!(sums.len(), 2);
        assert_eq!(sums[&(101, 201)].counters[..], [8, 9]);
        assert_eq!(sums[&(101, 201)].records, 1);
        profile.records[1].name = 100;
        profile.records[1].hash = 200;
        let sums = profile.sums();
        assert_eq!(sums.len(), 1);
        assert_eq!(sums[&(100, 200)].counters[..], [15, 9]);
        assert_eq!(sums[&(100, 200)].records, 2);
    }

    #[test]
    fn joined_profiles_are_read_one_after_the_other() {
        let mut bytes = written(10, 0);
        bytes.extend(written(8, 4096));
        assert_eq!(read(&bytes).expect("both are sound").len(), 2);
        bytes.push(1);
        assert_eq!(error(&bytes), Unreadable::Truncated);
        bytes.extend([1; 200]);
        assert_eq!(error(&bytes), Unreadable::NotAProfile);
    }

    #[test]
    fn a_profile_cut_anywhere_is_truncated() {
        for version in [8, 9, 10] {
            let bytes = written(version, 16);
            // The last two bytes are fillers.
            for length in 0..bytes.len() - 2 {
                assert_eq!(error(&bytes[..length]), Unreadable::Truncated, "{length}");
            }
        }
    }

    #[test]
    fn what_we_cannot_read_is_named() {
        let with_version = |word: u64| {
            let mut bytes = written(10, 0);
            bytes[8..16].copy_from_slice(&word.to_le_bytes());
            error(&bytes)
        };
        assert_eq!(with_version(7), Unreadable::ProfileVersion(7));
        assert_eq!(with_version(11), Unreadable::ProfileVersion(11));
        assert_eq!(with_version(10 | 1 << 60), Unreadable::ByteCoverage);
        assert_eq!(
            with_version(10 | 1 << 56),
            Unreadable::OtherInstrumentation(1 << 24)
        );
        let with_magic = |magic: [u8; 8]| {
            let mut bytes = written(10, 0);
            bytes[..8].copy_from_slice(&magic);
            error(&bytes)
        };
        let reversed = |mut magic: [u8; 8]| {
            magic.reverse();
            magic
        };
        assert_eq!(with_magic(MAGIC_32), Unreadable::Bits32);
        assert_eq!(with_magic(reversed(MAGIC)), Unreadable::BigEndian);
        assert_eq!(with_magic(reversed(MAGIC_32)), Unreadable::BigEndian);
        assert_eq!(with_magic(*b"profdata"), Unreadable::NotAProfile);
    }

    #[test]
    fn sizes_that_no_file_has_are_refused() {
        let bytes = written(10, 0);
        for word in 2..10 {
            for huge in [u64::MAX, u64::MAX / 8, 1 << 61, 1 << 40] {
                let mut bytes = bytes.clone();
                bytes[word * 8..word * 8 + 8].copy_from_slice(&huge.to_le_bytes());
                assert_eq!(error(&bytes), Unreadable::Truncated, "word {word}");
            }
        }
    }

    #[test]
    fn a_record_outside_the_counters_is_refused() {
        let bytes = written(8, 0);
        let delta = 8 * 8;
        for wrong in [0x5001u64, 0x4ff8, 0x5008, 0, u64::MAX] {
            let mut bytes = bytes.clone();
            bytes[delta..delta + 8].copy_from_slice(&wrong.to_le_bytes());
            assert_eq!(
                error(&bytes),
                Unreadable::Damaged("a record points outside the counters")
            );
        }
    }
}
