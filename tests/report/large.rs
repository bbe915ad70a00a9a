//! A page about thousands of tests: it stays small, says what it leaves out, and opens.

use std::fmt::Write as _;

use git_rts::config::Config;
use git_rts::difference::all_facts;
use git_rts::history::{About, Looked, Outcome, PATIENCE, Recording, TestRecord, VersionKey, keep};
use git_rts::lang::c;
use git_rts::repo::Repository;
use git_rts::trace::{Crossed, FunctionId, Trace};

use crate::browser::opened;
use crate::runs;
use crate::test_repo::TestRepo;

const TESTS: usize = 12_000;
const FUNCTIONS: usize = 90;

fn source(bound: usize) -> String {
    (0..FUNCTIONS).fold(String::new(), |mut text, function| {
        let _ = writeln!(
            text,
            "int f{function}(int x)\n{{\n    if (x > {bound})\n        return x;\n    return x * 2;\n}}"
        );
        text
    })
}

/// Writes a history in which a third of the tests entered one of the functions each.
fn record(repo: &TestRepo) {
    let repository = Repository::open(repo.top()).unwrap();
    let config = Config::read(&repository).unwrap();
    let version = repository.commit("HEAD").unwrap();
    let key = VersionKey {
        commit: version.commit(),
        tree: version.tree(),
    };
    let facts = all_facts(&repository, &config, &version).unwrap();
    let (path, facts) = &facts[0];
    let ids: Vec<FunctionId> = facts
        .entities
        .iter()
        .map(|entity| FunctionId {
            file: path.clone(),
            name: entity.name.clone(),
            graph: entity.graph(),
        })
        .collect();
    let mut recording = Recording::new(About {
        front_end: c::VERSION,
        created: 1,
        ..About::default()
    });
    for test in 0..TESTS {
        let entered = ids.get(test % (3 * FUNCTIONS)).cloned();
        let crossed = Crossed::Edges((0..6).collect());
        let name = format!("suite_{}/test_{test}", test % 100);
        let record = TestRecord {
            outcome: Outcome::Passed,
            milliseconds: 20,
            looked: Some(Looked::default()),
            ..TestRecord::unknown(&name, name.clone().into_bytes(), key)
        };
        let functions = entered.map(|id| (id, crossed)).into_iter().collect();
        recording.add(record, Trace { functions });
    }
    recording.know(ids);
    let rts = repository.create_rts_dir().unwrap();
    keep(&rts, key, &recording, PATIENCE, &mut |_| {}).unwrap();
}

#[test]
fn thousands_of_tests_stay_usable() {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", &source(3))]);
    record(&repo);
    repo.write("a.c", source(4));
    repo.commit_all();
    let page = repo.top().join(".git/report.html");
    runs(
        &repo,
        &["report", "HEAD~1..HEAD", "-o", page.to_str().unwrap()],
    );
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.len() < 8 << 20, "{} bytes", text.len());
    for words in [
        "2050 more selected tests are left out",
        "2950 names left out",
        "30 pictures left out",
        "and 15 more",
    ] {
        let notes: Vec<&str> = text.split("class=\"note\">").skip(1).collect();
        let notes: Vec<&str> = notes
            .iter()
            .filter_map(|note| note.split("</p>").next())
            .collect();
        assert!(text.contains(words), "{words}: {notes:?}");
    }
    let (dom, _) = opened(&page, "#filter=suite_7/", &[]);
    assert!(
        dom.contains("of 7000 tests</output>"),
        "the filter did not work"
    );
}
