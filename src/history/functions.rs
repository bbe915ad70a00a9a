//! The traces of all tests, seen from the functions: a selection reads only the files in danger, and a changed function costs one record.
//!
//! A record holds a few neighbouring functions of one file. The sets of tests are listed once a record, because functions that call each other are entered by the same tests.

use serde::{Deserialize, Serialize};

use super::database::Trouble;
use super::objects::{ObjectId, Objects, Writer, encode};
use super::pages;
use super::recording::Groups;
use super::test_set::{self, TestNumber};
use crate::digest;
use crate::repo::RepoPath;
use crate::trace::{Crossed, FunctionId};

/// One function in so many ends its record, by the hash of its name: a function more or less moves no other border.
const FUNCTIONS_A_RECORD: u64 = 8;

/// Who crossed what in one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTraces {
    pub id: FunctionId,
    /// Tests that crossed the same edges stand together.
    pub groups: Vec<(Crossed, Vec<TestNumber>)>,
}

#[derive(Serialize, Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    sets: Vec<&'a [u8]>,
    #[serde(borrow)]
    functions: Vec<Function<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Function<'a> {
    name: &'a str,
    graph: [u8; 8],
    /// With the place of the tests in the list of sets.
    groups: Vec<(Crossed, u32)>,
}

/// Writes all functions, which come in order; the tests of each group by the numbers of their places.
pub(super) fn write<'a>(
    writer: &mut Writer<'_>,
    functions: impl IntoIterator<Item = (&'a FunctionId, &'a Groups)>,
    numbers: &[u32],
) -> Result<ObjectId, Trouble> {
    let mut list = Vec::new();
    let mut record: Vec<(&FunctionId, &Groups)> = Vec::new();
    let mut ordinal = 0u32;
    for (id, groups) in functions {
        let last = record.last().map(|(last, _)| *last);
        let elsewhere = last.is_some_and(|last| last.file != id.file);
        if last.is_some_and(|last| elsewhere || ends_record(&last.name)) {
            list.push(write_record(writer, &record, ordinal, numbers)?);
            record.clear();
            ordinal = if elsewhere { 0 } else { ordinal + 1 };
        }
        record.push((id, groups));
    }
    if !record.is_empty() {
        list.push(write_record(writer, &record, ordinal, numbers)?);
    }
    pages::write(writer, list)
}

fn ends_record(name: &str) -> bool {
    digest::bytes(name.as_bytes()).is_multiple_of(FUNCTIONS_A_RECORD)
}

fn write_record(
    writer: &mut Writer<'_>,
    record: &[(&FunctionId, &Groups)],
    ordinal: u32,
    numbers: &[u32],
) -> Result<(Vec<u8>, ObjectId), Trouble> {
    let mut sets: Vec<Vec<u8>> = Vec::new();
    let mut places = rustc_hash::FxHashMap::default();
    let mut functions = Vec::with_capacity(record.len());
    for (id, groups) in record {
        let mut groups: Vec<(&Crossed, &Vec<u32>)> = groups.iter().collect();
        groups.sort_unstable();
        let mut stored = Vec::with_capacity(groups.len());
        for (crossed, tests) in groups {
            let mut tests: Vec<u32> = tests
                .iter()
                .filter_map(|test| numbers.get(*test as usize).copied())
                .collect();
            tests.sort_unstable();
            let set = test_set::encode(&tests);
            let place = *places.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() as u32 - 1
            });
            stored.push((crossed.clone(), place));
        }
        functions.push(Function {
            name: &id.name,
            graph: id.graph.to_le_bytes(),
            groups: stored,
        });
    }
    let sets = sets.iter().map(Vec::as_slice).collect();
    let object = writer.put(&encode(&Record { sets, functions })?)?;
    let key = match record.first() {
        Some((id, _)) => key(&id.file, ordinal),
        None => Vec::new(),
    };
    Ok((key, object))
}

/// A record's place in the list: the file, then its place in the file.
fn key(file: &RepoPath, ordinal: u32) -> Vec<u8> {
    let mut key = file.as_bytes().to_vec();
    key.push(0);
    key.extend(ordinal.to_be_bytes());
    key
}

fn file_of(key: &[u8]) -> Option<RepoPath> {
    let file = key.get(..key.len().checked_sub(5)?)?;
    Some(RepoPath::new(file))
}

/// Hands out the functions of some files, or of all, file by file.
pub(super) fn read(
    objects: &Objects,
    top: ObjectId,
    files: Option<&[RepoPath]>,
    most_tests: usize,
    each: &mut dyn FnMut(FunctionTraces),
) -> Result<(), Trouble> {
    let mut files = files.map(<[RepoPath]>::to_vec);
    if let Some(files) = &mut files {
        files.sort_unstable();
        files.dedup();
    }
    let wants = |first: &[u8], next: Option<&[u8]>| {
        let Some(files) = &files else {
            return true;
        };
        // The first file whose records may stand at or behind `first`; it is wanted if it begins before `next`.
        let candidate = files.partition_point(|file| key(file, u32::MAX).as_slice() < first);
        files
            .get(candidate)
            .is_some_and(|file| next.is_none_or(|next| key(file, 0).as_slice() < next))
    };
    pages::visit(objects, top, &wants, &mut |key, object| {
        let file = file_of(key).ok_or_else(|| unreadable("a record has no file"))?;
        if files
            .as_ref()
            .is_some_and(|files| files.binary_search(&file).is_err())
        {
            return Ok(());
        }
        read_record(&objects.bytes(object)?, &file, most_tests, each)
    })
}

fn read_record(
    bytes: &[u8],
    file: &RepoPath,
    most_tests: usize,
    each: &mut dyn FnMut(FunctionTraces),
) -> Result<(), Trouble> {
    let record: Record<'_> = postcard::from_bytes(bytes)
        .map_err(|error| unreadable(&format!("a record cannot be decoded: {error}")))?;
    let sets: Option<Vec<Vec<u32>>> = record
        .sets
        .iter()
        .map(|set| test_set::decode(set, most_tests))
        .collect();
    let sets = sets.ok_or_else(|| unreadable("a set of tests cannot be decoded"))?;
    for function in record.functions {
        let mut groups = Vec::with_capacity(function.groups.len());
        for (crossed, set) in function.groups {
            let set = sets
                .get(set as usize)
                .ok_or_else(|| unreadable("a record has too few sets of tests"))?;
            groups.push((crossed, set.iter().copied().map(TestNumber).collect()));
        }
        each(FunctionTraces {
            id: FunctionId {
                file: file.clone(),
                name: function.name.to_owned(),
                graph: u64::from_le_bytes(function.graph),
            },
            groups,
        });
    }
    Ok(())
}

/// The files that some test entered.
pub(super) fn files(objects: &Objects, top: ObjectId) -> Result<Vec<RepoPath>, Trouble> {
    let mut files: Vec<RepoPath> = Vec::new();
    pages::visit(objects, top, &|_, _| true, &mut |key, _| {
        let file = file_of(key).ok_or_else(|| unreadable("a record has no file"))?;
        if files.last() != Some(&file) {
            files.push(file);
        }
        Ok(())
    })?;
    Ok(files)
}

fn unreadable(what: &str) -> Trouble {
    Trouble::Damage(what.to_owned())
}
