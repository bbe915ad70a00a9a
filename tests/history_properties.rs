//! What must hold for every recording: it comes back as it was, shares what it can, and is found where one looks for it.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use git_rts::history::{
    About, Beyond, BeyondTrace, Histories, Kept, Looked, Outcome, PATIENCE, Recording, TestRecord,
    Uncounted, VersionKey, keep,
};
use git_rts::order::owed::Debt;
use git_rts::repo::{CommitId, RepoPath, TreeId};
use git_rts::trace::{Crossed, EdgeSet, FunctionId, Trace};
use proptest::prelude::*;

mod history_sample;

use history_sample::{Likeness, Suite, version};

fn open(folder: &Path) -> Histories {
    Histories::open(folder, PATIENCE, &mut |_| ()).unwrap()
}

fn any_version() -> impl Strategy<Value = VersionKey> {
    (proptest::option::of(0..4u8), 0..4u8).prop_map(|(commit, tree)| VersionKey {
        commit: commit.map(|commit| CommitId([commit; 20])),
        tree: TreeId([tree; 20]),
    })
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    proptest::sample::select(vec![
        Outcome::Passed,
        Outcome::Failed,
        Outcome::Skipped,
        Outcome::TimedOut,
        Outcome::Crashed,
        Outcome::NotRun,
    ])
}

fn any_trace() -> impl Strategy<Value = Trace> {
    let file = proptest::sample::select(vec![
        b"a.c".to_vec(),
        b"a.c\0".to_vec(),
        b"a".to_vec(),
        b"dir/a.c".to_vec(),
        b"\xff\xfe".to_vec(),
        Vec::new(),
    ]);
    let function = (file, "[a-f]{0,2}", 0..3u64).prop_map(|(file, name, graph)| FunctionId {
        file: RepoPath::new(file),
        name,
        graph: graph.wrapping_sub(1),
    });
    let crossed = prop_oneof![
        4 => proptest::collection::vec(0..70usize, 0..6)
            .prop_map(|edges| Crossed::Edges(edges.into_iter().collect::<EdgeSet>())),
        1 => Just(Crossed::Whole),
    ];
    proptest::collection::vec((function, crossed), 0..12).prop_map(|functions| Trace { functions })
}

fn any_test() -> impl Strategy<Value = (TestRecord, Trace)> {
    let words = || proptest::collection::vec("[a-c/]{0,3}", 0..3);
    let record = (
        "[a-zé ]{0,3}",
        any_outcome(),
        any::<u64>(),
        proptest::collection::vec(any::<u8>(), 0..20),
        (words(), words(), proptest::option::of(words())),
        proptest::option::of("[a-z ]{0,9}"),
        any::<(Option<u32>, bool)>(),
        (any::<u64>(), proptest::option::of(words())),
        any_version(),
    );
    let record = record.prop_map(
        |(
            name,
            outcome,
            milliseconds,
            definition,
            (binaries, unplaced, read),
            doubt,
            (flaky, varies),
            (at, owed),
            ran_on,
        )| {
            let owed = owed.map(|reasons| Debt {
                since: "v".to_owned(),
                at,
                reasons,
                until_built: at % 5 == 0,
            });
            let commit = CommitId([at as u8; 20]);
            let let_through = owed.iter().filter(|_| at % 3 == 0);
            TestRecord {
                name,
                outcome,
                milliseconds,
                let_through: let_through.map(|debt| (commit, debt.clone())).collect(),
                owed: owed.filter(|_| at % 2 == 0),
                definition,
                binaries,
                unplaced,
                looked: read.map(|read| {
                    let paths: BTreeSet<RepoPath> = read.into_iter().map(RepoPath::new).collect();
                    Looked {
                        beyond: (paths.len() != 1).then(|| Beyond {
                            missing: paths.clone(),
                            made_read: paths.iter().take(1).cloned().collect(),
                            ..Beyond::default()
                        }),
                        touched: paths,
                    }
                }),
                beyond_trace: doubt.clone().map(BeyondTrace::Reads),
                doubt,
                flaky,
                varies,
                ran_on,
            }
        },
    );
    (record, any_trace())
}

prop_compose! {
    fn any_recording()(
        fingerprint in proptest::collection::btree_map("[a-z]{1,4}", "[a-z]{0,4}", 0..4),
        symbols in proptest::collection::btree_set("[a-z]{1,4}", 0..4),
        blind in proptest::option::of("[a-z]{1,4}"),
        opened in proptest::option::of(proptest::collection::vec("[a-z/]{1,4}", 0..4)),
        (partial, front_end, created) in any::<(bool, u32, u64)>(),
        tests in proptest::collection::vec(any_test(), 0..40),
    ) -> Recording {
        let mut recording = Recording::new(About {
            outside: git_rts::history::Outside::default(),
            fingerprint,
            executed_by_build: symbols.iter().map(|name| FunctionId::symbol(name)).collect(),
            uncounted: Uncounted {
                counted: symbols.iter().take(1).cloned().collect(),
                symbols,
                blind,
            },
            opened_by_build: opened.map(|opened| opened.into_iter().map(RepoPath::new).collect()),
            made: Vec::new(),
            session: created % 100,
            partial,
            front_end,
            created,
        });
        for (test, trace) in tests {
            recording.add(test, trace);
        }
        recording
    }
}

type Everything = (About, BTreeMap<String, (TestRecord, Trace)>);

fn everything(recording: &Recording) -> Everything {
    let tests = recording.tests().iter().map(|test| {
        let trace = recording.trace_of(&test.name).unwrap();
        (test.name.clone(), (test.clone(), trace))
    });
    (recording.about.clone(), tests.collect())
}

fn everything_of(histories: &Histories, version: VersionKey) -> Everything {
    let history = histories.find(version).unwrap().expect("it was written");
    let read = everything(&history.to_recording().unwrap());
    // The two ways to read must agree.
    for (name, (record, trace)) in &read.1 {
        assert_eq!(history.trace_of(name).unwrap().as_ref(), Some(trace));
        assert!(history.tests().unwrap().values().any(|test| test == record));
    }
    for file in history.files().unwrap() {
        let functions = history.functions_in(std::slice::from_ref(&file)).unwrap();
        assert!(!functions.is_empty());
        assert!(functions.iter().all(|function| function.id.file == file));
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_and_nothing_else(
        recordings in proptest::collection::vec((any_version(), any_recording()), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut last = BTreeMap::new();
        for (version, recording) in &recordings {
            open(folder.path()).write(*version, recording).unwrap();
            last.insert(version.tree, recording);
            if let Some(commit) = version.commit {
                // A history of the same tree would do, but the commit's own goes first.
                last.insert(TreeId(commit.0.map(|byte| byte + 100)), recording);
            }
        }
        let histories = open(folder.path());
        for (version, _) in &recordings {
            let key = version.commit.map_or(version.tree, |commit| TreeId(commit.0.map(|byte| byte + 100)));
            prop_assert_eq!(everything_of(&histories, *version), everything(last[&key]));
        }
        let absent = VersionKey { commit: Some(CommitId([9; 20])), tree: TreeId([9; 20]) };
        prop_assert!(histories.find(absent).unwrap().is_none());
        prop_assert!(histories.notices.is_empty());
    }

    #[test]
    fn writing_twice_adds_nothing(recording in any_recording()) {
        let folder = tempfile::tempdir().unwrap();
        let mut histories = open(folder.path());
        let first = histories.write(version(1), &recording).unwrap();
        let again = histories.write(version(1), &recording).unwrap();
        prop_assert_eq!(again.added, 0);
        prop_assert_eq!(again.size, first.size);
        let other = histories.write(version(2), &recording).unwrap();
        prop_assert_eq!(other.added, 0);
        prop_assert_eq!(histories.list().unwrap().len(), 2);
    }

    #[test]
    fn a_record_in_the_inbox_is_read_back_exactly(recording in any_recording()) {
        let folder = tempfile::tempdir().unwrap();
        let holder = open(folder.path());
        let kept = keep(folder.path(), version(1), &recording, Duration::ZERO, &mut |_| ()).unwrap();
        prop_assert!(matches!(kept, Kept::InInbox(_)));
        drop(holder);
        let histories = open(folder.path());
        prop_assert_eq!(everything_of(&histories, version(1)), everything(&recording));
        prop_assert_eq!(std::fs::read_dir(folder.path().join("inbox")).unwrap().count(), 0);
    }

    #[test]
    fn replaced_tests_are_new_and_the_others_as_they_were(
        recording in any_recording(),
        others in proptest::collection::vec(any_test(), 0..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut histories = open(folder.path());
        histories.write(version(1), &recording).unwrap();
        let mut merged = histories.find(version(1)).unwrap().unwrap().to_recording().unwrap();
        let mut expected = everything(&recording);
        for (test, trace) in others {
            let mut alone = Recording::new(recording.about.clone());
            alone.add(test.clone(), trace.clone());
            expected.1.extend(everything(&alone).1);
            merged.add(test, trace);
        }
        histories.write(version(1), &merged).unwrap();
        prop_assert_eq!(everything_of(&histories, version(1)), expected);
    }
}

#[test]
fn committing_recorded_work_finds_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::new(5, 40, Likeness::Features);
    let committed = version(1);
    let uncommitted = VersionKey {
        commit: None,
        ..committed
    };
    let recording = suite.recording(uncommitted, 10);
    let mut histories = open(folder.path());
    histories.write(uncommitted, &recording).unwrap();
    let found = histories.find(committed).unwrap().unwrap();
    assert_eq!(found.version(), uncommitted);
    assert_eq!(everything_of(&histories, committed), everything(&recording));
}

#[test]
fn one_changed_function_adds_little() {
    let folder = tempfile::tempdir().unwrap();
    let mut suite = Suite::new(200, 800, Likeness::Features);
    let mut histories = open(folder.path());
    let first = histories
        .write(version(1), &suite.recording(version(1), 1))
        .unwrap();
    suite.changes.insert(17, 1);
    let mut next = histories
        .find(version(1))
        .unwrap()
        .unwrap()
        .to_recording()
        .unwrap();
    let again: Vec<u64> = (0..200).filter(|test| suite.enters(*test, 17)).collect();
    for test in again {
        next.add(suite.record(test, version(2)), suite.trace(test));
    }
    let second = histories.write(version(2), &next).unwrap();
    assert!(
        second.added * 100 < first.size * 5,
        "{} of {}",
        second.added,
        first.size
    );
}

#[test]
fn a_new_test_leaves_the_records_of_functions_it_does_not_enter() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::new(100, 400, Likeness::Features);
    let mut histories = open(folder.path());
    let mut recording = suite.recording(version(1), 1);
    histories.write(version(1), &recording).unwrap();
    let mut test = suite.record(0, version(2));
    test.name = "a new one, first in the alphabet".to_owned();
    recording.add(test, Trace::default());
    let second = histories.write(version(2), &recording).unwrap();
    assert!(second.added < 8_000, "{}", second.added);
}

#[test]
fn runs_of_a_test_are_told_where_it_ran_and_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::new(3, 40, Likeness::Features);
    let mut histories = open(folder.path());
    let mut recording = suite.recording(version(1), 1);
    histories.write(version(1), &recording).unwrap();
    // On the second version the test did not run: its record says where it did.
    recording.about.created = 2;
    histories.write(version(2), &recording).unwrap();
    let mut test = suite.record(1, version(3));
    test.outcome = Outcome::Crashed;
    let name = test.name.clone();
    recording.about.created = 3;
    recording.add(test, suite.trace(1));
    histories.write(version(3), &recording).unwrap();
    let runs = histories.runs_of(&name).unwrap();
    let versions: Vec<VersionKey> = runs.iter().map(|run| run.version).collect();
    assert_eq!(versions, [version(3), version(1)]);
    assert_eq!(runs[0].outcome, Outcome::Crashed);
    assert!(histories.runs_of("no such test").unwrap().is_empty());
}

#[test]
fn a_run_of_uncommitted_work_is_one_of_the_commit_that_it_became() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::new(3, 40, Likeness::Features);
    let mut histories = open(folder.path());
    let uncommitted = VersionKey {
        commit: None,
        ..version(1)
    };
    let mut recording = suite.recording(uncommitted, 1);
    let name = recording.tests()[0].name.clone();
    let versions = |histories: &Histories| -> Vec<VersionKey> {
        let runs = histories.runs_of(&name).unwrap().into_iter();
        runs.map(|run| run.version).collect()
    };
    histories.write(uncommitted, &recording).unwrap();
    assert_eq!(versions(&histories), [uncommitted]);
    // Nothing had to run again.
    recording.about.created = 2;
    histories.write(version(1), &recording).unwrap();
    assert_eq!(versions(&histories), [version(1)]);
    // Nor where another commit has the same tree.
    let again = VersionKey {
        commit: version(2).commit,
        ..version(1)
    };
    let recording = suite.recording(version(1), 3);
    histories.write(again, &recording).unwrap();
    assert_eq!(versions(&histories), [version(1)]);
}

#[test]
fn cleaning_up_keeps_what_is_wanted_and_gives_room_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut suite = Suite::new(60, 600, Likeness::None);
    let mut expected = BTreeMap::new();
    {
        let mut histories = open(folder.path());
        for number in 0..8 {
            suite.seed = number;
            let recording = suite.recording(version(number), number);
            histories.write(version(number), &recording).unwrap();
            expected.insert(version(number), everything(&recording));
        }
    }
    let wanted: BTreeSet<VersionKey> = [version(2), version(5)].into();
    let freed = open(folder.path())
        .gc(&mut |summary| wanted.contains(&summary.version))
        .unwrap();
    assert_eq!((freed.histories, freed.damaged), (6, 0));
    assert!(freed.objects > 100 && freed.bytes > 200_000, "{freed:?}");
    let mut histories = open(folder.path());
    let listed: BTreeSet<VersionKey> = histories
        .list()
        .unwrap()
        .iter()
        .map(|summary| summary.version)
        .collect();
    assert_eq!(listed, wanted);
    for version in &wanted {
        assert_eq!(everything_of(&histories, *version), expected[version]);
    }
    // It is a database like any other.
    suite.seed = 99;
    histories
        .write(version(99), &suite.recording(version(99), 99))
        .unwrap();
    assert_eq!(histories.list().unwrap()[0].version, version(99));
}

#[test]
fn a_function_that_has_counters_and_that_nobody_entered_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let about = About {
        outside: git_rts::history::Outside::default(),
        fingerprint: BTreeMap::new(),
        uncounted: Uncounted::default(),
        opened_by_build: None,
        made: Vec::new(),
        executed_by_build: BTreeSet::new(),
        session: 0,
        partial: false,
        front_end: 1,
        created: 1,
    };
    let file = RepoPath::new(b"a.c".to_vec());
    let idle = FunctionId {
        file: file.clone(),
        name: "idle".to_owned(),
        graph: 7,
    };
    let mut recording = Recording::new(about);
    recording.know([idle.clone()]);
    recording.forget(&BTreeSet::from(["nobody"]));
    let mut histories = open(folder.path());
    histories.write(version(1), &recording).unwrap();
    let history = histories.find(version(1)).unwrap().unwrap();
    let found = history.functions_in(&[file]).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, idle);
    assert!(found[0].groups.is_empty());
    let again = history.to_recording().unwrap();
    histories.write(version(2), &again).unwrap();
    let history = histories.find(version(2)).unwrap().unwrap();
    let files = history.files().unwrap();
    assert_eq!(history.functions_in(&files).unwrap().len(), 1);
}
