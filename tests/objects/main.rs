//! Digests of compiled code against real compilers: edits that must not matter change nothing, and others change just what they touch.

#![allow(clippy::unwrap_used, clippy::panic)]

mod build;
mod kinds;
mod links;
mod program;
mod rust;

use build::{Counting, Setting};
use program::{Edit, Noise, Program};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn settings(compilers: &[&'static str]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for compiler in compilers {
        for level in ["-O0", "-O1", "-O2"] {
            for position in ["-fPIC", "-fno-pic"] {
                for counting in [Counting::No, Counting::Yes] {
                    settings.push(Setting {
                        compiler,
                        level,
                        position,
                        counting,
                    });
                }
            }
        }
    }
    settings
}

/// One random program in each setting, with one edit of each sort.
fn check(compilers: &[&'static str]) {
    for (number, setting) in settings(compilers).into_iter().enumerate() {
        let config = Config {
            cases: 1,
            max_shrink_iters: 40,
            failure_persistence: None,
            ..Config::default()
        };
        // Always the same programs, another one for each setting: a compiler's surprise must not come and go.
        let seed = [number as u8 + 1; 32];
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config, random);
        let outcome = runner.run(
            &(program::programs(), program::edits()),
            |(program, edit)| {
                check_one(setting, &program, edit);
                Ok(())
            },
        );
        if let Err(failure) = outcome {
            panic!("{setting:?}: {failure}");
        }
    }
}

fn check_one(setting: Setting, program: &Program, edit: Edit) {
    let before = build::build(setting, &program.sources(), &[]);
    // Without optimisation gcc makes a place to stop at, a `nop`, where a jump and its target stand on different lines.
    let noise = match (setting.compiler, setting.level) {
        ("gcc", "-O0") => Noise::Moved,
        _ => Noise::Reformatted,
    };
    let noisy = build::build_elsewhere(setting, &program.with(noise).sources(), &["-g"]);
    let found = build::compare(&before, &noisy);
    assert!(found.is_empty(), "{setting:?}: {found:#?}\n{program:#?}");
    let (edited, expected) = program.edited(edit);
    let after = build::build(setting, &edited.with(noise).sources(), &[]);
    let found = build::compare(&before, &after);
    let difference = &found.binaries["p"];
    assert_eq!(
        difference.everybody, None,
        "{setting:?}: {edit:?}\n{program:#?}"
    );
    let affected: Vec<&str> = difference.affected.keys().map(String::as_str).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_eq!(
        affected, expected,
        "{setting:?}: {edit:?}\n{found:#?}\n{program:#?}"
    );
}

#[test]
fn what_gcc_makes_differs_only_where_it_was_edited() {
    check(&["gcc"]);
}

#[test]
fn what_clang_makes_differs_only_where_it_was_edited() {
    check(&["clang-14", "clang-19"]);
}
