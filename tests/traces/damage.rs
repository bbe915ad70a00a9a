//! Counters that are damaged on their way to the reader: it never panics, and it never believes less than was executed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use git_rts::recording::{Recorded, Recorder};

use crate::bench::{Bench, Compiler};

const COMPILERS: [Compiler; 4] = [
    Compiler::Clang(14),
    Compiler::Clang(19),
    Compiler::Gcc("gcc"),
    Compiler::Gcc("gcc-11"),
];

/// What is executed is executed three times: no single bit makes that nothing.
const SOURCE: &str = "static int n;\nstatic void f(void) {\n  n++;\n}\nvoid g(void) {\n  n += 2;\n}\nint h(int x) {\n  return x;\n}\nint main(void) {\n  for (int i = 0; i < 3; i++) {\n    f();\n    g();\n  }\n  return 0;\n}\n";

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn names(recorded: &Recorded) -> BTreeSet<&str> {
    let functions = recorded.trace.functions.iter();
    functions
        .map(|(function, _)| function.name.as_str())
        .collect()
}

/// Calls `check` with what is read from each damaged version of what a program left.
fn every_damage(damage: impl Fn(&[u8]) -> Vec<Vec<u8>>, check: impl Fn(&Recorded, usize)) {
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, SOURCE);
        bench.with_recorder(|recorder: &dyn Recorder| {
            let folder = bench.run(recorder, &[]);
            let whole = recorder.read(folder.path());
            assert_eq!(whole.doubt, None);
            assert_eq!(names(&whole), BTreeSet::from(["f", "g", "main"]));
            let mut files = Vec::new();
            files_below(folder.path(), &mut files);
            assert_eq!(files.len(), 1);
            let bytes = std::fs::read(&files[0]).unwrap();
            for (index, damaged) in damage(&bytes).iter().enumerate() {
                std::fs::write(&files[0], damaged).unwrap();
                check(&recorder.read(folder.path()), index);
            }
        });
    }
}

#[test]
fn counters_that_were_cut_are_a_doubt() {
    let cut = |bytes: &[u8]| {
        // What the last bytes fill up is no loss.
        let lengths = 0..bytes.len() - 8;
        lengths.map(|length| bytes[..length].to_vec()).collect()
    };
    every_damage(cut, |recorded, length| {
        let is_safe = recorded.doubt.is_some() || names(recorded).is_superset(&["f", "g"].into());
        assert!(is_safe, "{length}: {recorded:?}");
    });
}

#[test]
fn no_flipped_bit_hides_what_was_executed() {
    let flip = |bytes: &[u8]| {
        let flipped = |bit: usize| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        };
        (0..bytes.len() * 8).map(flipped).collect()
    };
    every_damage(flip, |recorded, bit| {
        let is_safe = recorded.doubt.is_some() || names(recorded).is_superset(&["f", "g"].into());
        assert!(is_safe, "bit {bit}: {recorded:?}");
    });
}
