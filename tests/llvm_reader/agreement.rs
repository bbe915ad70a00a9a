//! Element by element, we read what LLVM's tools read.

use std::path::Path;

use git_rts::coverage::llvm::profile;

use crate::toolchain::{AT_EXIT, Bench, CONTINUOUS, VERSIONS};
use crate::{llvm_cov, ours};

const ARGUMENTS: [&[&str]; 3] = [
    &[],
    &["0", "1", "2", "3", "7", "12", "-2", "65", "4"],
    &["6", "101", "9"],
];

/// Compares everything about one binary and one of its profiles; answers how many regions and branches were executed.
fn compare(bench: &Bench, binary: &str, file: &Path) -> usize {
    let bytes = std::fs::read(file).unwrap();
    compare_records(bench, file, &bytes);
    let binary = bench.top().join(binary);
    let map = ours::map_of(&binary);
    let profiles = profile::read(&bytes).unwrap();
    assert_eq!(map.build_id, profiles[0].build_id);
    assert!(!map.build_id.is_empty());
    let ours = ours::functions(&map, &bytes);
    let theirs = llvm_cov::functions(bench, &binary, file);
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "clang {}", bench.version);
    }
    let executed = |function: &ours::Function| {
        let regions = function.regions.iter().filter(|region| region[4] > 0);
        let branches = function.branches.iter().filter(|b| b[4] + b[5] > 0);
        regions.count() + branches.count()
    };
    ours.iter().map(executed).sum()
}

fn compare_records(bench: &Bench, file: &Path, bytes: &[u8]) {
    let profiles = profile::read(bytes).unwrap();
    let [profile] = &profiles[..] else {
        panic!("{} profiles in one file", profiles.len());
    };
    let names = profile.names().unwrap();
    let mut ours: Vec<_> = profile
        .records
        .iter()
        .map(|record| {
            let name = names.get(record.name).unwrap();
            (
                String::from_utf8(name.to_vec()).unwrap(),
                record.hash,
                profile.counters(record).to_vec(),
            )
        })
        .collect();
    ours.sort();
    assert_eq!(ours, llvm_cov::records(bench, file));
}

/// For each version of clang, without and with optimisation, with both ways of writing profiles.
fn everywhere(check: impl Fn(&Bench, &str, &str)) {
    for version in VERSIONS {
        let bench = Bench::new(version);
        for (level, pattern) in [("-O0", AT_EXIT), ("-O0", CONTINUOUS), ("-O2", CONTINUOUS)] {
            check(&bench, level, pattern);
        }
    }
}

#[test]
fn every_kind_of_statement_is_counted_as_llvm_cov_counts_it() {
    everywhere(|bench, level, pattern| {
        bench.compile(&[level, "statements.c", "-o", "statements"]);
        let mut most = 0;
        for arguments in ARGUMENTS {
            let (_, profiles) = bench.run("statements", pattern, arguments);
            let [profile] = &profiles[..] else {
                panic!("one process leaves one profile: {profiles:?}");
            };
            most = most.max(compare(bench, "statements", profile));
        }
        assert!(most > 150, "only {most} regions and branches were executed");
    });
}

#[test]
fn macros_headers_and_several_units_are_read_as_llvm_cov_reads_them() {
    everywhere(|bench, level, pattern| {
        bench.compile(&[level, "macros.c", "./other.c", "-o", "macros"]);
        let mut most = 0;
        for arguments in ARGUMENTS {
            let (_, profiles) = bench.run("macros", pattern, arguments);
            most = most.max(compare(bench, "macros", &profiles[0]));
        }
        assert!(most > 150, "only {most} regions and branches were executed");
    });
}

#[test]
fn a_program_and_its_library_leave_a_profile_each() {
    everywhere(|bench, level, pattern| {
        bench.compile(&[level, "-fPIC", "-shared", "library.c", "-o", "libours.so"]);
        bench.compile(&[level, "uses_library.c", "-L.", "-lours", "-o", "program"]);
        let (_, profiles) = bench.run("program", pattern, &["1", "2", "3", "0"]);
        assert_eq!(profiles.len(), 2);
        let mut binaries = ["program", "libours.so"].to_vec();
        for profile in profiles {
            let bytes = std::fs::read(&profile).unwrap();
            let id = &profile::read(&bytes).unwrap()[0].build_id;
            let is_its = |name: &&str| ours::map_of(&bench.top().join(name)).build_id == *id;
            let index = binaries.iter().position(is_its).unwrap();
            assert!(compare(bench, binaries.swap_remove(index), &profile) > 5);
        }
        assert!(binaries.is_empty());
    });
}

#[test]
fn jumps_back_are_evaluated_as_llvm_cov_evaluates_them() {
    everywhere(|bench, level, pattern| {
        bench.compile(&[level, "jumps.c", "-o", "jumps"]);
        let (_, profiles) = bench.run("jumps", pattern, &[]);
        assert!(compare(bench, "jumps", &profiles[0]) > 10);
    });
}

#[test]
fn conditions_of_mcdc_are_branches() {
    let bench = Bench::new(19);
    bench.clang(&[
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
        "-fcoverage-mcdc",
        "statements.c",
        "-o",
        "mcdc",
    ]);
    let (_, profiles) = bench.run("mcdc", AT_EXIT, &["1", "2", "4", "6"]);
    assert!(compare(&bench, "mcdc", &profiles[0]) > 100);
}

/// What `..` means behind a symbolic link only the file system knows, so our paths keep it.
#[test]
fn files_named_by_a_detour_are_found() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        std::fs::create_dir(bench.top().join("build")).unwrap();
        let source = bench.top().join("build/../other.c");
        bench.compile(&[
            "-I",
            "build/..",
            "build/../macros.c",
            source.to_str().unwrap(),
            "-o",
            "macros",
        ]);
        let (_, profiles) = bench.run("macros", CONTINUOUS, &["3"]);
        compare(&bench, "macros", &profiles[0]);
    }
}
