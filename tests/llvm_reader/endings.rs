//! However a process ends, a continuous profile has what it counted.

use std::os::unix::process::ExitStatusExt;

use git_rts::coverage::llvm::counts::Counts;
use git_rts::coverage::llvm::map::{CoverageMap, FunctionMap, RegionKind};
use git_rts::coverage::llvm::profile::{self, Profile};

use crate::ours;
use crate::toolchain::{Bench, CONTINUOUS, COUNT_IN_MEMORY, VERSIONS};

fn function<'a>(map: &'a CoverageMap, name: &str) -> &'a FunctionMap {
    let mut named = map.functions.iter().filter(|f| f.name == name);
    named.next().unwrap()
}

/// How often a function was entered.
fn entered(map: &CoverageMap, profiles: &[Profile<'_>], name: &str) -> u64 {
    ours::counters(function(map, name), profiles)[0]
}

#[test]
fn no_ending_loses_counts() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        for level in ["-O0", "-O2"] {
            bench.compile(&[level, "ends.c", "-o", "ends"]);
            let map = ours::map_of(&bench.top().join("ends"));
            for (how, signal) in [
                ("return", None),
                ("_exit", None),
                ("abort", Some(6)),
                ("segv", Some(11)),
                ("kill", Some(9)),
            ] {
                let (status, files) = bench.run("ends", CONTINUOUS, &[how]);
                assert_eq!(status.signal(), signal);
                let bytes = std::fs::read(&files[0]).unwrap();
                let profiles = profile::read(&bytes).unwrap();
                assert_eq!(entered(&map, &profiles, "before"), 5, "{how}");
                assert_eq!(entered(&map, &profiles, "main"), 1, "{how}");
                assert_eq!(entered(&map, &profiles, "in_child"), 0, "{how}");
            }
        }
    }
}

#[test]
fn a_loop_that_never_ended_is_counted_if_counters_stay_in_memory() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        for level in ["-O0", "-O2"] {
            let flags = [&[level], &COUNT_IN_MEMORY[..], &["loops.c", "-o", "loops"]].concat();
            bench.compile(&flags);
            let map = ours::map_of(&bench.top().join("loops"));
            for (arguments, name, signal) in [(&[][..], "sum_up", 11), (&["spin"], "spin", 14)] {
                let (status, files) = bench.run("loops", CONTINUOUS, arguments);
                assert_eq!(status.signal(), Some(signal));
                let bytes = std::fs::read(&files[0]).unwrap();
                let profiles = profile::read(&bytes).unwrap();
                let counters = ours::counters(function(&map, name), &profiles);
                assert_eq!(counters[0], 1);
                assert!(counters[1] > 100, "clang {version} {level}: {counters:?}");
            }
        }
    }
}

/// The same process goes on under the same number, and the same binary in the same file.
#[test]
fn counts_before_and_after_an_exec_are_both_there() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["ends.c", "-o", "ends"]);
        let map = ours::map_of(&bench.top().join("ends"));
        let (_, files) = bench.run("ends", CONTINUOUS, &["exec"]);
        assert_eq!(files.len(), 1);
        let bytes = std::fs::read(&files[0]).unwrap();
        let profiles = profile::read(&bytes).unwrap();
        assert_eq!(entered(&map, &profiles, "before"), 5);
        assert_eq!(entered(&map, &profiles, "after_exec"), 1);
        assert_eq!(entered(&map, &profiles, "main"), 2);
    }
}

/// Parent and child count in one file, but the call that both came from was counted once: differences are too small.
#[test]
fn after_a_fork_only_the_widened_count_tells_the_truth() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["ends.c", "-o", "ends"]);
        let map = ours::map_of(&bench.top().join("ends"));
        let (_, files) = bench.run("ends", CONTINUOUS, &["fork"]);
        assert_eq!(files.len(), 1);
        let bytes = std::fs::read(&files[0]).unwrap();
        let profiles = profile::read(&bytes).unwrap();
        assert_eq!(entered(&map, &profiles, "in_child"), 1);
        assert_eq!(entered(&map, &profiles, "in_parent"), 1);

        let splits = function(&map, "splits");
        let counters = ours::counters(splits, &profiles);
        let counts = Counts::new(splits, &counters).unwrap();
        let last = splits
            .regions
            .iter()
            .rfind(|region| region.kind == RegionKind::Code)
            .unwrap();
        assert_eq!(counts.count(last.counter), 0, "the parent went there");
        assert!(counts.may_be_nonzero(last.counter));
    }
}

#[test]
fn after_a_jump_back_only_the_widened_count_tells_the_truth() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.compile(&["jumps.c", "-o", "jumps"]);
        let map = ours::map_of(&bench.top().join("jumps"));
        let (_, files) = bench.run("jumps", CONTINUOUS, &[]);
        let bytes = std::fs::read(&files[0]).unwrap();
        let profiles = profile::read(&bytes).unwrap();
        // Every region of both functions is executed at least once.
        for name in ["lands", "lands_in_a_loop"] {
            let function = function(&map, name);
            let counters = ours::counters(function, &profiles);
            let counts = Counts::new(function, &counters).unwrap();
            for region in &function.regions {
                assert!(counts.may_be_nonzero(region.counter), "{name}: {region:?}");
                if let RegionKind::Branch { false_counter } = region.kind {
                    assert!(counts.may_be_nonzero(false_counter), "{name}: {region:?}");
                }
            }
        }
    }
}
