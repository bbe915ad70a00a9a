//! Mutants of C++: every test that notices one is selected for it.

use std::collections::BTreeSet;

use crate::test_repo::TestRepo;
use crate::{ALL, BACKENDS, change, recorded, recorded_with, would_run};

/// Small mistakes, each in a file.
const MUTANTS: [(&str, &str, &str); 24] = [
    ("shapes.hpp", "return \"shape\"", "return \"\""),
    ("shapes.hpp", "return 4;", "return 0;"),
    ("shapes.hpp", "return 0;", "return 4;"),
    ("shapes.hpp", "left = 7;", ";"),
    ("shapes.hpp", "RED = 1, GREEN = 2", "RED = 1, GREEN = 1"),
    ("shapes.hpp", "LIMIT = 10", "LIMIT = -10"),
    ("shapes.hpp", "return x + x", "return x"),
    ("shapes.hpp", "return held", "return T()"),
    ("shapes.hpp", "3 * x", "3 + x"),
    ("shapes.hpp", "3 * x", "2 * x"),
    ("shapes.hpp", "factor = 2", "factor = 1"),
    (
        "shapes.hpp",
        "amount == other.amount",
        "amount < other.amount",
    ),
    (
        "shapes.hpp",
        "struct Circle",
        "struct Round : Shape { int sides() const override { return 1; } };\nstruct Circle",
    ),
    ("shapes.cpp", "x = 5", "x = 0"),
    ("shapes.cpp", "\"square\"", "\"\""),
    ("shapes.cpp", "x * factor", "x + factor"),
    ("shapes.cpp", "x * factor", "x"),
    ("shapes.cpp", "x > LIMIT", "x < LIMIT"),
    ("shapes.cpp", "x < 0", "x <= 0"),
    ("shapes.cpp", "throw High()", "throw Low()"),
    ("shapes.cpp", "throw Low()", "return 1"),
    ("shapes.cpp", "typeid(shape)", "typeid(&shape)"),
    ("main.cpp", "catch (const Low &)", "catch (const High &)"),
    ("main.cpp", "return x + 1;", "return x - 1;"),
];

#[test]
fn every_test_that_notices_a_mutant_is_selected_for_it() {
    let mut noticed = 0;
    for backend in BACKENDS {
        let repo = recorded(backend);
        // Builds take their time: a third will do for the second.
        let step = if backend == "llvm" { 1 } else { 3 };
        for (file, old, new) in MUTANTS.into_iter().step_by(step) {
            change(&repo, file, old, new);
            let selected = would_run(&repo);
            let failing = failing(&repo);
            noticed += usize::from(!failing.is_empty());
            assert!(
                selected.is_superset(&failing),
                "{backend} {new}: {failing:?}, {selected:?}"
            );
            repo.git(&["checkout", "--quiet", "."]);
        }
    }
    assert!(noticed > MUTANTS.len() / 2, "{noticed}");
}

/// The tests that fail, as a build of its own judges.
fn failing(repo: &TestRepo) -> BTreeSet<String> {
    let sh = |command: &str| repo.command("sh").args(["-c", command]).output().unwrap();
    let built = sh("c++ -w -O1 -std=c++17 -o ../mutant main.cpp shapes.cpp");
    assert!(built.status.success(), "{built:?}");
    let fails = |test: &&str| !sh(&format!("../mutant {test}")).status.success();
    ALL.split(' ').filter(fails).map(str::to_owned).collect()
}

#[test]
fn a_header_of_cplusplus_under_a_name_that_c_has_too_is_not_taken_for_c() {
    for header in ["shapes.h", "shapes.inl", "shapes.inc"] {
        let repo = recorded_with(header, "llvm");
        let of_header = MUTANTS.iter().filter(|(file, ..)| *file == "shapes.hpp");
        for (_, old, new) in of_header {
            change(&repo, header, old, new);
            let failing = failing(&repo);
            let run = would_run(&repo);
            assert!(
                run.is_superset(&failing),
                "{header} {new}: {failing:?}, {run:?}"
            );
            // Without a build, too.
            let listed = repo.rts(&["select", "HEAD"]).stdout;
            let listed = String::from_utf8(listed).unwrap();
            let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
            assert!(
                listed.is_superset(&failing),
                "{header} {new}: {failing:?}, {listed:?}"
            );
            repo.git(&["checkout", "--quiet", "."]);
        }
    }
}
