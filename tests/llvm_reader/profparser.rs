//! Our reader of raw profiles beside `llvm_profparser`, record by record.

use std::collections::BTreeMap;

use git_rts::coverage::llvm::profile;

use crate::toolchain::{Bench, CONTINUOUS, VERSIONS};

/// A function's name, its hash and its counters.
type Records = BTreeMap<(String, u64), Vec<u64>>;

fn ours(bytes: &[u8]) -> Records {
    let mut records = Records::new();
    for profile in profile::read(bytes).unwrap() {
        let names = profile.names().unwrap();
        for ((name, hash), sum) in profile.sums() {
            let name = String::from_utf8_lossy(names.get(name).unwrap()).into_owned();
            let other = records.insert((name, hash), sum.counters.to_vec());
            assert_eq!(other, None, "one profile in a file");
        }
    }
    records
}

fn theirs(bytes: &[u8]) -> Records {
    let parsed = llvm_profparser::parse_bytes(bytes).unwrap();
    let record =
        |record: &llvm_profparser::instrumentation_profile::types::NamedInstrProfRecord| {
            let key = (record.name_unchecked(), record.hash_unchecked());
            (key, record.counts().to_vec())
        };
    parsed.records().iter().map(record).collect()
}

#[test]
fn another_reader_finds_the_same_counters() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        for (program, arguments) in [
            ("ends", &["return"][..]),
            ("ends", &["abort"]),
            ("jumps", &[]),
            ("statements", &[]),
        ] {
            bench.compile(&[&format!("{program}.c"), "-o", program]);
            for pattern in [CONTINUOUS, "%m-%p.profraw"] {
                let (_, files) = bench.run(program, pattern, arguments);
                for file in files {
                    let bytes = std::fs::read(file).unwrap();
                    let found = ours(&bytes);
                    let is_empty = found.is_empty();
                    assert!(!is_empty, "clang {version}: {program} {pattern}");
                    assert_eq!(
                        found,
                        theirs(&bytes),
                        "clang {version}: {program} {pattern}"
                    );
                }
            }
        }
    }
}
