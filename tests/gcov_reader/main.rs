//! The reader of gcc's coverage files, held against `gcov` itself, against what programs say they executed, and against bytes that are not what they should be.

#![allow(clippy::unwrap_used, clippy::panic)]

mod blind_spots;
mod gcov;
mod hostile;
mod program;

use std::collections::BTreeSet;

use git_rts::coverage::gcov::collect::{Build, Cause, Collected, collect};
use git_rts::coverage::gcov::executed::Doubt;
use git_rts::coverage::gcov::solve::{Unsolved, solve};

use program::{COMPILERS, Compiled, Compiler, Run, compile};

type Words = &'static [&'static str];

/// Each program: its sources, what must be a shared library, and the arguments of its runs.
const PROGRAMS: [(Words, Words, &[Words]); 5] = [
    (
        &["statements.c"],
        &[],
        &[&[], &["1"], &["2"], &["3"], &["7"], &["100"]],
    ),
    (
        &["first.c", "second.c"],
        &[],
        &[&[], &["1"], &["5"], &["40"]],
    ),
    (&["user.c"], &["library.c"], &[&[], &["3"], &["20"]]),
    (
        &["jumps.c"],
        &[],
        &[
            &[],
            &["4"],
            &["5"],
            &["9"],
            &["2", "middle"],
            &["3", "middle"],
        ],
    ),
    (
        &["processes.c"],
        &[],
        &[
            &[],
            &["child"],
            &["fork"],
            &["exec"],
            &["missing"],
            &["become"],
        ],
    ),
];

const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// Calls `check` with every program in every build and run.
fn every_run(check: impl Fn(&Compiled, &Run, &Build, &str)) {
    for compiler in COMPILERS {
        for level in LEVELS {
            for (sources, libraries, runs) in PROGRAMS {
                let compiled = compile(compiler, &[level], sources, libraries);
                let build = Build::new("/");
                for arguments in runs {
                    let run = compiled.run(arguments);
                    let what = format!("{} {level} {sources:?} {arguments:?}", compiler.gcc);
                    check(&compiled, &run, &build, &what);
                }
            }
        }
    }
}

fn complete(run: &Run, build: &Build, widen: bool, what: &str) -> Collected {
    let collected = collect(&run.folder(), build, widen);
    let failures: Vec<String> = collected.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{what}: {failures:?}");
    assert!(!collected.objects.is_empty(), "{what}: no data");
    collected
}

/// File and line of everything executed.
fn lines(collected: &Collected) -> BTreeSet<(String, u32)> {
    let mut lines = BTreeSet::new();
    for object in &collected.objects {
        for hit in &object.hits {
            for &(file, line) in &hit.executed.lines {
                let file = &object.notes.files[file as usize];
                lines.insert((String::from_utf8(file.clone()).unwrap(), line));
            }
        }
    }
    lines
}

#[test]
fn functions_lines_and_counts_are_those_of_gcov() {
    every_run(|_, run, build, what| {
        let collected = complete(run, build, false, what);
        for hit in collected.objects.iter().flat_map(|object| &object.hits) {
            assert_eq!(hit.executed.doubt, None, "{what}");
        }
        let ours = gcov::ours(run, &collected);
        let theirs = gcov::theirs(run);
        assert_eq!(ours.functions, theirs.functions, "{what}");
        assert_eq!(ours.lines, theirs.lines, "{what}");
        let executed = theirs.lines.iter().filter(|(_, (executed, _))| *executed);
        let executed = executed.map(|((_, file, line), _)| (file.clone(), *line as u32));
        let executed: BTreeSet<(String, u32)> = executed.collect();
        assert!(executed.is_subset(&lines(&collected)), "{what}");
    });
}

#[test]
fn no_line_that_says_it_ran_is_missing() {
    every_run(|_, run, build, what| {
        let truth = run.truth();
        assert!(!truth.is_empty(), "{what}");
        for widen in [false, true] {
            let found = lines(&complete(run, build, widen, what));
            let missing: Vec<_> = truth.difference(&found).collect();
            assert!(missing.is_empty(), "{what}: {missing:?}");
        }
    });
}

#[test]
fn widening_adds_lines_but_no_functions() {
    every_run(|_, run, build, what| {
        let exact = complete(run, build, false, what);
        let wide = complete(run, build, true, what);
        assert!(lines(&exact).is_subset(&lines(&wide)), "{what}");
        for (exact, wide) in exact.objects.iter().zip(&wide.objects) {
            let functions = |hits: &[git_rts::coverage::gcov::collect::Hit]| -> Vec<usize> {
                hits.iter().map(|hit| hit.function).collect()
            };
            assert_eq!(functions(&exact.hits), functions(&wide.hits), "{what}");
            for hit in &wide.hits {
                assert_eq!(hit.executed.doubt, Some(Doubt::Widened), "{what}");
            }
        }
    });
}

#[test]
fn threads_are_safe_when_widened() {
    for compiler in COMPILERS {
        for level in LEVELS {
            let compiled = compile(compiler, &[level], &["threads.c"], &[]);
            let build = Build::new("/");
            let run = compiled.run(&[]);
            let what = format!("{} {level}", compiler.gcc);
            let found = lines(&complete(&run, &build, true, &what));
            assert!(run.truth().is_subset(&found), "{what}");
            let both = ["odd++;", "even++;"].map(|text| compiled.line("threads.c", text));
            assert!(both.iter().all(|line| found.contains(line)), "{what}");
        }
    }
}

#[test]
fn a_negative_count_makes_the_whole_function_executed() {
    let compiled = compile(COMPILERS[0], &["-O0"], &["statements.c"], &[]);
    let run = compiled.run(&["7"]);
    let (notes, mut data) = run.pair("statements");
    let number = notes
        .functions
        .iter()
        .position(|function| function.name == "choose")
        .unwrap();
    let function = &notes.functions[number];
    let counted = data
        .functions
        .iter_mut()
        .find(|counted| counted.identity == function.identity)
        .unwrap();
    let git_rts::coverage::gcov::data::Counters::Values(values) = &mut counted.counters else {
        panic!("'choose' was not executed");
    };
    // As if the entry were counted, and a later update of another thread lost.
    values[0] = 0;
    assert_eq!(solve(function, &counted.counters), Err(Unsolved::Negative));
    let hits = git_rts::coverage::gcov::collect::hits(&notes, &data, false).unwrap();
    let hit = hits.iter().find(|hit| hit.function == number).unwrap();
    assert_eq!(
        hit.executed.doubt,
        Some(Doubt::Unsolved(Unsolved::Negative))
    );
    let all: BTreeSet<(u32, u32)> = function
        .lines
        .iter()
        .map(|line| (line.file, line.line))
        .collect();
    assert_eq!(hit.executed.lines, all.into_iter().collect::<Vec<_>>());
}

#[test]
fn stripped_prefixes_are_found_below_the_top_of_the_build() {
    let compiled = compile(COMPILERS[0], &["-O0"], &["first.c", "second.c"], &[]);
    let levels = compiled.build_folder().components().count() - 1;
    let run = compiled.run_with(&["5"], &[("GCOV_PREFIX_STRIP", &levels.to_string())]);
    let build = Build::new(compiled.build_folder());
    let stripped = complete(&run, &build, false, "stripped");
    assert!(run.folder().join("first.gcda").exists());
    let plain = complete(&compiled.run(&["5"]), &Build::new("/"), false, "plain");
    assert_eq!(lines(&stripped), lines(&plain));
}

#[test]
fn data_without_notes_is_a_failure() {
    let compiled = compile(COMPILERS[0], &["-O0"], &["first.c", "second.c"], &[]);
    let run = compiled.run(&[]);
    let notes = compiled.build_folder().join("second.gcno");
    std::fs::remove_file(&notes).unwrap();
    let collected = collect(&run.folder(), &Build::new("/"), false);
    assert_eq!(collected.objects.len(), 1);
    let [failure] = &collected.failures[..] else {
        panic!("{:?}", collected.failures);
    };
    assert_eq!(failure.cause, Cause::NoNotes(notes.clone()));
    let text = failure.to_string();
    assert!(
        text.starts_with("cannot use '")
            && text.ends_with(&format!("no notes in '{}'", notes.display())),
        "{text}"
    );
}

#[test]
fn notes_of_another_build_are_a_failure() {
    let compiled = compile(COMPILERS[0], &["-O0"], &["statements.c"], &[]);
    let run = compiled.run(&[]);
    let other = compile(COMPILERS[0], &["-O2"], &["statements.c"], &[]);
    let notes = |compiled: &Compiled| compiled.build_folder().join("statements.gcno");
    std::fs::copy(notes(&other), notes(&compiled)).unwrap();
    let collected = collect(&run.folder(), &Build::new("/"), false);
    assert!(collected.objects.is_empty());
    assert_eq!(collected.failures[0].cause, Cause::OtherBuild);
}

#[test]
fn notes_are_read_once() {
    let compiled = compile(COMPILERS[0], &["-O0"], &["statements.c"], &[]);
    let build = Build::new("/");
    let first = complete(&compiled.run(&[]), &build, false, "first");
    std::fs::remove_file(compiled.build_folder().join("statements.gcno")).unwrap();
    let second = complete(&compiled.run(&["3"]), &build, false, "second");
    assert!(std::sync::Arc::ptr_eq(
        &first.objects[0].notes,
        &second.objects[0].notes
    ));
}

#[test]
fn clang_writes_a_format_that_is_refused_by_name() {
    // The format of gcc 4.8, which clang writes.
    let mut bytes = u32::from_be_bytes(*b"gcno").to_ne_bytes().to_vec();
    bytes.extend(u32::from_be_bytes(*b"408*").to_ne_bytes());
    bytes.extend([0; 64]);
    let unreadable = git_rts::coverage::gcov::notes::read(&bytes).unwrap_err();
    assert_eq!(
        unreadable.to_string(),
        "written in the unknown gcov format '408*'"
    );
}

fn compiler_named(gcc: &str) -> Compiler {
    COMPILERS
        .into_iter()
        .find(|compiler| compiler.gcc == gcc)
        .unwrap()
}

#[test]
fn the_two_layouts_of_files_are_told_apart() {
    // gcc 11 counts words and has no checksum, gcc 12 counts bytes and has one.
    let compiled = compile(compiler_named("gcc-11"), &["-O0"], &["statements.c"], &[]);
    let (notes, data) = compiled.run(&[]).pair("statements");
    assert_eq!((notes.checksum, data.checksum), (None, None));
    assert_eq!(&notes.version[..2], b"B1");
    assert_eq!(notes.version, data.version);
    assert_eq!(
        notes.working_directory,
        compiled.build_folder().as_os_str().as_encoded_bytes()
    );
    let main = notes
        .functions
        .iter()
        .find(|function| function.name == "main")
        .unwrap();
    let (_, line) = compiled.line("statements.c", "int main(");
    assert_eq!(
        (main.start_line, main.start_column, main.artificial),
        (line, 5, false)
    );
    assert_eq!(main.end_column, Some(1));
}
