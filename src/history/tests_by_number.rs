//! The tests of a history in pages by number: what seldom changes apart from what each run brings anew.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::database::Trouble;
use super::looked::{Beyond, Looked};
use super::objects::{ObjectId, Objects, Writer};
use super::pages;
use super::record::{BeyondTrace, Outcome, TestRecord, VersionKey};
use super::test_set::{self, TestNumber};
use crate::order::owed::Debt;
use crate::repo::{CommitId, RepoPath};

/// So many numbers share a page. A run is two bytes, and the tests that run together are all over the numbers.
const TRAITS_A_PAGE: u32 = 16;
const RUNS_A_PAGE: u32 = 256;

/// What a test is: the same on most versions.
#[derive(Serialize, Deserialize)]
struct Traits {
    number: u32,
    name: String,
    definition: Vec<u8>,
    /// Places in the page's list of words.
    binaries: Vec<u32>,
    unplaced: Vec<u32>,
    /// Places in the page's list of files.
    touched: Option<Vec<u32>>,
    beyond: Option<[Vec<u32>; 7]>,
    doubt: Option<String>,
    beyond_trace: Option<BeyondTrace>,
    flaky: Option<u32>,
    varies: bool,
    owed: Option<Debt>,
    let_through: BTreeMap<CommitId, Debt>,
}

#[derive(Default, Serialize, Deserialize)]
struct TraitsPage {
    words: Vec<String>,
    files: Vec<RepoPath>,
    tests: Vec<Traits>,
}

/// How the last runs went, and where that was: two bytes a test, because each run brings them anew.
#[derive(Default, Serialize, Deserialize)]
struct RunsPage {
    /// The tests that ended in the same way on the same version stand together.
    groups: Vec<(Outcome, VersionKey, Vec<u8>)>,
    /// In the order of the numbers.
    milliseconds: Vec<u64>,
}

impl RunsPage {
    fn new(tests: &BTreeMap<u32, &TestRecord>) -> Self {
        let mut groups: BTreeMap<(Outcome, VersionKey), Vec<u32>> = BTreeMap::new();
        for (number, test) in tests {
            let group = groups.entry((test.outcome, test.ran_on)).or_default();
            group.push(*number);
        }
        let groups = groups.into_iter();
        RunsPage {
            groups: groups
                .map(|((outcome, ran_on), tests)| (outcome, ran_on, test_set::encode(&tests)))
                .collect(),
            milliseconds: tests.values().map(|test| test.milliseconds).collect(),
        }
    }

    /// The runs by the tests' numbers; nothing, if the page does not fit together.
    fn runs(&self) -> Option<BTreeMap<u32, Run>> {
        let mut runs = BTreeMap::new();
        for (outcome, ran_on, tests) in &self.groups {
            for number in test_set::decode(tests, self.milliseconds.len())? {
                let run = Run {
                    outcome: *outcome,
                    ran_on: *ran_on,
                    milliseconds: 0,
                };
                runs.insert(number, run);
            }
        }
        if runs.len() != self.milliseconds.len() {
            return None;
        }
        for (run, milliseconds) in runs.values_mut().zip(&self.milliseconds) {
            run.milliseconds = *milliseconds;
        }
        Some(runs)
    }
}

#[derive(Clone, Copy)]
struct Run {
    outcome: Outcome,
    ran_on: VersionKey,
    milliseconds: u64,
}

/// Where the tests of a history are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestPages {
    pub(super) traits: ObjectId,
    pub(super) runs: ObjectId,
}

/// Writes the tests, each with its number.
pub(super) fn write<'t>(
    writer: &mut Writer<'_>,
    tests: &'t [TestRecord],
    numbers: &[u32],
) -> Result<TestPages, Trouble> {
    let sorted: BTreeMap<u32, &TestRecord> = numbers.iter().copied().zip(tests).collect();
    let mut traits: BTreeMap<u32, TraitsPage> = BTreeMap::new();
    let mut runs: BTreeMap<u32, BTreeMap<u32, &TestRecord>> = BTreeMap::new();
    // A test may look at thousands of files.
    let mut files: FxHashMap<(u32, &RepoPath), u32> = FxHashMap::default();
    for (number, test) in sorted {
        let page = traits.entry(number / TRAITS_A_PAGE).or_default();
        let mut places = |words: &[String]| -> Vec<u32> {
            words
                .iter()
                .map(|word| place(&mut page.words, word))
                .collect()
        };
        let (binaries, unplaced) = (places(&test.binaries), places(&test.unplaced));
        let known = &mut page.files;
        let mut places = |set: &'t BTreeSet<RepoPath>| -> Vec<u32> {
            let place = |file: &'t RepoPath| {
                let key = (number / TRAITS_A_PAGE, file);
                *files.entry(key).or_insert_with(|| {
                    known.push(file.clone());
                    (known.len() - 1) as u32
                })
            };
            set.iter().map(place).collect()
        };
        let looked = test.looked.as_ref();
        let touched = looked.map(|looked| places(&looked.touched));
        let beyond = looked.and_then(|looked| looked.beyond.as_ref());
        let beyond = beyond.map(|beyond| beyond.sets().map(&mut places));
        page.tests.push(Traits {
            number,
            name: test.name.clone(),
            definition: test.definition.clone(),
            binaries,
            unplaced,
            touched,
            beyond,
            doubt: test.doubt.clone(),
            beyond_trace: test.beyond_trace.clone(),
            flaky: test.flaky,
            varies: test.varies,
            owed: test.owed.clone(),
            let_through: test.let_through.clone(),
        });
        let page = runs.entry(number / RUNS_A_PAGE).or_default();
        page.insert(number, test);
    }
    let runs = runs
        .into_iter()
        .map(|(index, tests)| (index, RunsPage::new(&tests)))
        .collect();
    Ok(TestPages {
        traits: write_pages(writer, traits)?,
        runs: write_pages(writer, runs)?,
    })
}

/// The place of something in a list, which gets it if it is new. The lists are short.
fn place(words: &mut Vec<String>, word: &str) -> u32 {
    let found = words.iter().position(|known| known == word);
    found.unwrap_or_else(|| {
        words.push(word.to_owned());
        words.len() - 1
    }) as u32
}

fn write_pages<T: Serialize>(
    writer: &mut Writer<'_>,
    pages: BTreeMap<u32, T>,
) -> Result<ObjectId, Trouble> {
    let mut list = Vec::with_capacity(pages.len());
    for (index, page) in pages {
        list.push((index.to_be_bytes().to_vec(), writer.write(&page)?));
    }
    pages::write(writer, list)
}

/// Reads all tests, or the one with a number.
pub(super) fn read(
    objects: &Objects,
    pages: TestPages,
    only: Option<TestNumber>,
) -> Result<BTreeMap<TestNumber, TestRecord>, Trouble> {
    let mut runs = BTreeMap::new();
    let wanted = only.map(|number| number.0 / RUNS_A_PAGE);
    each_page(objects, pages.runs, wanted, |page: RunsPage| {
        runs.extend(page.runs()?);
        Some(())
    })?;
    let mut tests = BTreeMap::new();
    let wanted = only.map(|number| number.0 / TRAITS_A_PAGE);
    each_page(objects, pages.traits, wanted, |page: TraitsPage| {
        let words = |places: &[u32]| -> Option<Vec<String>> {
            places
                .iter()
                .map(|place| page.words.get(*place as usize).cloned())
                .collect()
        };
        let files = |places: &[u32]| -> Option<BTreeSet<RepoPath>> {
            places
                .iter()
                .map(|place| page.files.get(*place as usize).cloned())
                .collect()
        };
        let wanted = |test: &&Traits| only.is_none_or(|only| only.0 == test.number);
        for test in page.tests.iter().filter(wanted) {
            let run: &Run = runs.get(&test.number)?;
            tests.insert(
                TestNumber(test.number),
                TestRecord {
                    name: test.name.clone(),
                    outcome: run.outcome,
                    milliseconds: run.milliseconds,
                    definition: test.definition.clone(),
                    binaries: words(&test.binaries)?,
                    unplaced: words(&test.unplaced)?,
                    looked: match &test.touched {
                        Some(places) => Some(Looked {
                            touched: files(places)?,
                            beyond: match &test.beyond {
                                Some([one, two, three, four, five, six, seven]) => {
                                    Some(Beyond::from_sets([
                                        files(one)?,
                                        files(two)?,
                                        files(three)?,
                                        files(four)?,
                                        files(five)?,
                                        files(six)?,
                                        files(seven)?,
                                    ]))
                                }
                                None => None,
                            },
                        }),
                        None => None,
                    },
                    doubt: test.doubt.clone(),
                    beyond_trace: test.beyond_trace.clone(),
                    flaky: test.flaky,
                    varies: test.varies,
                    owed: test.owed.clone(),
                    let_through: test.let_through.clone(),
                    ran_on: run.ran_on,
                },
            );
        }
        Some(())
    })?;
    Ok(tests)
}

fn each_page<T: serde::de::DeserializeOwned>(
    objects: &Objects,
    top: ObjectId,
    wanted: Option<u32>,
    mut each: impl FnMut(T) -> Option<()>,
) -> Result<(), Trouble> {
    let wanted = wanted.map(u32::to_be_bytes);
    let wants = |first: &[u8], next: Option<&[u8]>| {
        wanted.is_none_or(|wanted| {
            first <= wanted.as_slice() && next.is_none_or(|next| wanted.as_slice() < next)
        })
    };
    pages::visit(objects, top, &wants, &mut |_, object| {
        each(objects.read(object)?)
            .ok_or_else(|| Trouble::Damage("a page of tests does not fit together".to_owned()))
    })
}
