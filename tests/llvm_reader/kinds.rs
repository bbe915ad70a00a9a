//! Binaries and profiles of other kinds: object files, static and stripped programs, instrumentation that we refuse.

use git_rts::coverage::llvm::binary::{Imports, imports};
use git_rts::coverage::llvm::{Unreadable, map, profile};

use crate::ours;
use crate::toolchain::{AT_EXIT, Bench, CONTINUOUS, VERSIONS};

fn imports_of(bench: &Bench, binary: &str) -> Imports {
    imports(&std::fs::read(bench.top().join(binary)).unwrap()).unwrap()
}

#[test]
fn imports_that_make_counters_lie_are_found() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let nothing = Imports::default();
        let jumps = Imports {
            returns_twice: true,
            ..nothing
        };
        let threads = Imports {
            threads: true,
            ..nothing
        };
        // Without coverage, because the runtime of a profile brings imports of its own.
        for (source, expected) in [
            ("jumps.c", jumps),
            ("threads.c", threads),
            ("statements.c", nothing),
        ] {
            bench.clang(&[source, "-o", "program"]);
            assert_eq!(imports_of(&bench, "program"), expected, "{source}");
            bench.clang(&["-s", source, "-o", "program"]);
            assert_eq!(imports_of(&bench, "program"), expected, "{source}");
            bench.clang(&["-c", source, "-o", "object.o"]);
            assert_eq!(imports_of(&bench, "object.o"), expected, "{source}");
        }
        bench.clang(&["-static", "threads.c", "-o", "program"]);
        assert!(imports_of(&bench, "program").threads);
        bench.clang(&["-static", "-s", "threads.c", "-o", "program"]);
        assert_eq!(imports_of(&bench, "program"), Imports::ANYTHING);
    }
}

#[test]
fn the_runtime_of_a_profile_does_not_look_like_the_program() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["statements.c", "-o", "program"]);
        assert_eq!(imports_of(&bench, "program"), Imports::default());
        bench.compile(&["ends.c", "-o", "program"]);
        assert!(imports_of(&bench, "program").forks);
    }
}

#[test]
fn object_files_have_the_same_functions_as_the_program() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["-c", "statements.c", "-o", "statements.o"]);
        bench.compile(&["statements.o", "-o", "statements"]);
        let object = ours::map_of(&bench.top().join("statements.o"));
        let program = ours::map_of(&bench.top().join("statements"));
        assert_eq!(object.functions.len(), program.functions.len());
        for function in &program.functions {
            assert!(object.functions.contains(function), "{}", function.name);
        }
    }
}

#[test]
fn a_real_function_is_kept_where_another_unit_did_not_use_it() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["macros.c", "other.c", "-o", "macros"]);
        let map = ours::map_of(&bench.top().join("macros"));
        let named = |name: &str| {
            let mut found: Vec<_> = map.functions.iter().filter(|f| f.name == name).collect();
            found.sort_by_key(|function| function.static_in.clone());
            found
        };
        let [shared] = &named("shared_inline")[..] else {
            panic!("one function with external linkage");
        };
        assert!(!shared.is_unused && shared.static_in.is_none());
        let [one, two] = &named("same_name")[..] else {
            panic!("a static function in each unit");
        };
        assert_eq!(one.static_in.as_deref(), Some("macros.c"));
        assert_eq!(two.static_in.as_deref(), Some("other.c"));
        let [used, unused] = &named("inline_in_header")[..] else {
            panic!("a static function in each unit");
        };
        assert!(!used.is_unused && unused.is_unused);
    }
}

#[test]
fn a_binary_without_a_map_says_so() {
    let bench = Bench::new(19);
    bench.clang(&["statements.c", "-o", "plain"]);
    let bytes = std::fs::read(bench.top().join("plain")).unwrap();
    assert_eq!(map::read(&bytes), Err(Unreadable::NoMap));
}

#[test]
fn single_byte_coverage_is_refused() {
    let bench = Bench::new(19);
    bench.clang(&[
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
        "-mllvm",
        "-enable-single-byte-coverage",
        "statements.c",
        "-o",
        "bytes",
    ]);
    let (_, files) = bench.run("bytes", AT_EXIT, &["1"]);
    let bytes = std::fs::read(&files[0]).unwrap();
    assert_eq!(
        profile::read(&bytes).map(|_| ()),
        Err(Unreadable::ByteCoverage)
    );
}

#[test]
fn the_compilers_own_instrumentation_is_refused() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.clang(&["-O1", "-fprofile-generate", "statements.c", "-o", "other"]);
        let (_, files) = bench.run("other", AT_EXIT, &["1"]);
        let bytes = std::fs::read(&files[0]).unwrap();
        assert!(matches!(
            profile::read(&bytes),
            Err(Unreadable::OtherInstrumentation(_))
        ));
    }
}

/// Profiles may be joined by `cat`; those with profiled values have bytes behind their names.
#[test]
fn joined_profiles_are_told_apart() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&[
            "-mllvm",
            "-enable-value-profiling",
            "statements.c",
            "-o",
            "values",
        ]);
        let mut joined = Vec::new();
        let mut lengths = Vec::new();
        for (pattern, arguments) in [
            (AT_EXIT, &["1", "2", "3"][..]),
            (CONTINUOUS, &[]),
            (AT_EXIT, &["5"]),
        ] {
            let (_, files) = bench.run("values", pattern, arguments);
            let bytes = std::fs::read(&files[0]).unwrap();
            lengths.push(bytes.len());
            joined.extend(bytes);
        }
        assert_ne!(lengths[0], lengths[1], "there are no profiled values");
        let profiles = profile::read(&joined).unwrap();
        assert_eq!(profiles.len(), 3);
        let map = ours::map_of(&bench.top().join("values"));
        let of_if = map.functions.iter().find(|f| f.name == "of_if").unwrap();
        let entries = profiles.iter().map(|profile| {
            let counters = ours::counters(of_if, std::slice::from_ref(profile));
            counters[0]
        });
        assert_eq!(entries.collect::<Vec<_>>(), [3, 0, 1]);
    }
}
