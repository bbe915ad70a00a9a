//! Damaged data is refused or read, in little memory and time, and never with a panic.

use std::ops::Range;
use std::process::Command;

use git_rts::coverage::llvm::binary::imports;
use git_rts::coverage::llvm::counts::Counts;
use git_rts::coverage::llvm::{Unreadable, map, profile};
use object::{Object, ObjectSection};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::toolchain::{Bench, CONTINUOUS};

struct Subject {
    binary: Vec<u8>,
    profile: Vec<u8>,
    /// The bytes of the binary that hold its map.
    tables: Vec<Range<usize>>,
}

impl Subject {
    fn new(version: u32) -> Self {
        let bench = Bench::new(version);
        bench.compile(&["macros.c", "other.c", "-s", "-o", "macros"]);
        let (_, files) = bench.run("macros", CONTINUOUS, &["1", "5"]);
        let binary = std::fs::read(bench.top().join("macros")).unwrap();
        let tables = {
            let elf = object::File::parse(&binary[..]).unwrap();
            let is_table = |name: &str| name.starts_with("__llvm_") && !name.ends_with("cnts");
            elf.sections()
                .filter(|section| section.name().is_ok_and(is_table))
                .filter_map(|section| section.file_range())
                .map(|(start, size)| start as usize..(start + size) as usize)
                .filter(|range| !range.is_empty())
                .collect()
        };
        Subject {
            binary,
            profile: std::fs::read(&files[0]).unwrap(),
            tables,
        }
    }
}

/// Reads everything that can be read.
fn read_all(binary: &[u8], bytes: &[u8]) -> Result<usize, Unreadable> {
    let profiles = profile::read(bytes);
    if let Ok(profiles) = &profiles {
        for profile in profiles {
            let _ = profile.names();
        }
    }
    let _ = imports(binary);
    let map = map::read(binary)?;
    let profiles = profiles?;
    let mut executed = 0;
    for profile in &profiles {
        for record in &profile.records {
            for function in &map.functions {
                if function.name_hash != record.name {
                    continue;
                }
                let Ok(counts) = Counts::new(function, profile.counters(record)) else {
                    continue;
                };
                for region in &function.regions {
                    executed += usize::from(counts.count(region.counter) > 0);
                    executed += usize::from(counts.may_be_nonzero(region.counter));
                }
            }
        }
    }
    Ok(executed)
}

#[test]
fn data_cut_anywhere_is_refused() {
    for version in [14, 19] {
        let subject = Subject::new(version);
        assert!(read_all(&subject.binary, &subject.profile).is_ok_and(|executed| executed > 50));
        // What the last bytes fill up is no loss.
        for length in 0..subject.profile.len() - 7 {
            let cut = profile::read(&subject.profile[..length]).map(|_| ());
            assert_eq!(cut, Err(Unreadable::Truncated), "{length}");
        }
        for length in 0..subject.binary.len() {
            let cut = map::read(&subject.binary[..length]);
            assert!(cut.is_err(), "{length} of {}", subject.binary.len());
            let _ = imports(&subject.binary[..length]);
        }
    }
}

#[test]
fn damage_costs_little_memory() {
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -v 1000000 && exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::flipped_bits", "--ignored"])
        .args(["--test-threads", "1"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "runs with a limit on its memory, see damage_costs_little_memory"]
fn flipped_bits() {
    for version in [14, 19] {
        let subject = Subject::new(version);
        let tables: Vec<usize> = subject.tables.iter().flat_map(Clone::clone).collect();
        let flip = |bytes: &[u8], flips: &[(prop::sample::Index, u8)], places: Option<&[usize]>| {
            let mut bytes = bytes.to_vec();
            for (index, value) in flips {
                let at = match places {
                    Some(places) => places[index.index(places.len())],
                    None => index.index(bytes.len()),
                };
                bytes[at] ^= value;
            }
            bytes
        };
        let flips = || prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..4);
        let mut runner = TestRunner::new(Config {
            cases: 4000,
            failure_persistence: None,
            ..Config::default()
        });
        let strategy = (flips(), flips(), flips());
        let outcome = runner.run(&strategy, |(everywhere, in_tables, in_profile)| {
            let binary = flip(&subject.binary, &everywhere, None);
            let binary = flip(&binary, &in_tables, Some(&tables));
            let profile = flip(&subject.profile, &in_profile, None);
            let _ = read_all(&binary, &profile);
            // Damage in the tables alone gets further than damage in the headers.
            let binary = flip(&subject.binary, &in_tables, Some(&tables));
            let _ = read_all(&binary, &subject.profile);
            Ok(())
        });
        outcome.unwrap();
    }
}
