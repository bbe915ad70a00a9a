//! What gcc records by itself, and what it does not: facts that whoever believes a trace must know. What is lost here is noticed by the mark that the masquerade adds, see `tests/traces/lost.rs`. They hold for gcc 11 and 12; when a later compiler fails here, the news may be good.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use git_rts::coverage::gcov::collect::{Build, Collected, collect};
use git_rts::coverage::gcov::notes;

use crate::lines;
use crate::program::{COMPILERS, Compiled, compile, sources};

fn functions(collected: &Collected) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for object in &collected.objects {
        let hits = object.hits.iter();
        names.extend(hits.map(|hit| object.notes.functions[hit.function].name.as_str()));
    }
    names
}

fn recorded(compiled: &Compiled, arguments: &[&str]) -> Collected {
    let run = compiled.run(arguments);
    let collected = collect(&run.folder(), &Build::new("/"), false);
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    collected
}

fn every_compiler(check: impl Fn(&Compiled)) {
    for compiler in COMPILERS {
        check(&compile(compiler, &["-O0"], &["ends.c"], &[]));
    }
}

#[test]
fn unclean_ends_leave_nothing() {
    every_compiler(|ends| {
        for end in [
            "_exit",
            "_Exit",
            "quick_exit",
            "abort",
            "SEGV",
            "TERM",
            "KILL",
            // gcc puts its own function in the place of a call by name only.
            "pointer",
        ] {
            let collected = recorded(ends, &[end]);
            assert!(collected.objects.is_empty(), "{end}");
        }
        assert!(
            ends.run(&["_exit"]).status.success(),
            "the end may look clean"
        );
    });
}

#[test]
fn exec_by_name_leaves_data() {
    every_compiler(|ends| {
        let collected = recorded(ends, &["exec"]);
        assert_eq!(functions(&collected), BTreeSet::from(["before", "main"]));
    });
}

#[test]
fn the_sums_of_a_function_that_became_another_program_are_wrong() {
    // gcc takes exec for a call that returns, so the way that ended there is missing from the sums; only a widened reading is safe.
    every_compiler(|ends| {
        let run = ends.run(&["exec in a loop"]);
        let read = |widen| lines(&collect(&run.folder(), &Build::new("/"), widen));
        let line = ends.line("ends.c", "execv(\"/bin/true\", arguments);");
        assert!(!read(false).contains(&line));
        assert!(read(true).contains(&line));
    });
}

#[test]
fn dumping_before_the_end_rescues() {
    every_compiler(|ends| {
        let collected = recorded(ends, &["dump"]);
        assert_eq!(functions(&collected), BTreeSet::from(["before", "main"]));
    });
}

#[test]
fn a_child_that_ends_uncleanly_is_missed_in_silence() {
    every_compiler(|ends| {
        let clean = recorded(ends, &["", "exit"]);
        assert!(functions(&clean).contains("child"));
        for end in ["_exit", "abort"] {
            let collected = recorded(ends, &["", end]);
            let parent = BTreeSet::from(["after", "before", "forked", "main"]);
            assert_eq!(functions(&collected), parent, "{end}");
        }
    });
}

#[test]
fn exec_after_vfork_silences_the_parent() {
    // The child shares the parent's memory and marks the counters as already written.
    every_compiler(|ends| {
        let collected = recorded(ends, &["vfork"]);
        assert_eq!(functions(&collected), BTreeSet::from(["before", "main"]));
    });
}

#[test]
fn a_function_that_a_handler_leaves_is_still_seen_without_optimization() {
    every_compiler(|ends| {
        let collected = recorded(ends, &["handler"]);
        assert!(functions(&collected).contains("straight"));
    });
}

#[test]
fn the_way_in_is_counted_without_optimization() {
    for compiler in COMPILERS {
        for program in ["statements.c", "jumps.c", "processes.c", "ends.c"] {
            let compiled = compile(compiler, &["-O0"], &[program], &[]);
            let (notes, _) = compiled.run(&[]).pair(program.trim_end_matches(".c"));
            for function in &notes.functions {
                let way_in = function
                    .arcs
                    .iter()
                    .filter(|arc| arc.from == 0 && !arc.fake);
                assert!(way_in.clone().count() == 1, "{}", function.name);
                assert!(way_in.clone().all(|arc| !arc.on_tree), "{}", function.name);
            }
        }
    }
}

#[test]
fn a_function_with_the_attribute_has_no_record() {
    every_compiler(|ends| {
        let (notes, _) = ends.run(&[]).pair("ends");
        assert!(
            notes
                .functions
                .iter()
                .all(|function| function.name != "uncounted")
        );
    });
}

#[test]
fn an_inlined_function_is_seen_by_its_lines_only() {
    for compiler in COMPILERS {
        let plain = compile(compiler, &["-O0"], &["first.c", "second.c"], &[]);
        let inlined = compile(compiler, &["-O2"], &["first.c", "second.c"], &[]);
        let line = plain.line("first.c", "return n + 1;");
        let [plain, inlined] = [&plain, &inlined].map(|compiled| recorded(compiled, &["1"]));
        assert!(functions(&plain).contains("hidden") && lines(&plain).contains(&line));
        assert!(!functions(&inlined).contains("hidden") && lines(&inlined).contains(&line));
    }
}

#[test]
fn functions_of_one_name_have_a_record_in_each_object() {
    for compiler in COMPILERS {
        let compiled = compile(compiler, &["-O0"], &["first.c", "second.c"], &[]);
        let collected = recorded(&compiled, &["1"]);
        for name in ["hidden", "clamp"] {
            let records = collected.objects.iter().filter(|object| {
                let mut hits = object.hits.iter();
                hits.any(|hit| object.notes.functions[hit.function].name == name)
            });
            assert_eq!(records.count(), 2, "{name}");
        }
    }
}

#[test]
fn file_names_are_absolute_only_with_the_flag() {
    for compiler in COMPILERS {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::copy(sources().join("ends.c"), folder.join("ends.c")).unwrap();
        for (flag, name) in [
            ("-w", Path::new("ends.c")),
            ("-fprofile-abs-path", &folder.join("ends.c")),
        ] {
            let mut command = Command::new(compiler.gcc);
            command.args(["--coverage", flag, "-c", "ends.c"]);
            compiler.call(compiler.gcc, command.current_dir(&folder));
            let notes = notes::read(&std::fs::read(folder.join("ends.gcno")).unwrap()).unwrap();
            let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
            assert_eq!(notes.files, [bytes(name)]);
            assert_eq!(notes.working_directory, bytes(&folder));
        }
    }
}
