//! Test drivers that CMake makes: what they do for a test depends on a row, unless something else was compiled with them.

use std::collections::BTreeSet;

use crate::builds::{names, succeeds, would_run};
use crate::test_repo::TestRepo;

/// A driver for two tests, with more lines before and after it is made.
fn lists(before: &str, after: &str) -> String {
    format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nenable_testing()\n{before}\ncreate_test_sourcelist(sources driver.c one.c two.c)\nadd_executable(driver ${{sources}})\nforeach(test one two)\n  add_test(NAME ${{test}} COMMAND driver ${{test}})\nendforeach()\n{after}\n"
    )
}

fn recorded(backend: &str, cmake: &str, files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "rts.backend", backend]);
    repo.write(".git-rts.toml", "[tests]\nrunner = \"ctest\"\n");
    repo.write("CMakeLists.txt", cmake);
    for test in ["one", "two"] {
        repo.write(
            format!("{test}.c"),
            format!("int {test}(int count, char **words) {{ return 0; }}\n"),
        );
    }
    for (name, text) in files {
        repo.write(name, text);
    }
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo
}

/// What differs for the driver reaches both tests.
#[track_caller]
fn reaches_both(repo: &TestRepo, what: &str) {
    let both: BTreeSet<String> = names(&["one", "two"]);
    let selected = would_run(repo, &[]);
    assert!(selected.is_superset(&both), "{what}: {selected:?}");
}

#[test]
fn a_macro_that_is_given_to_a_driver_reaches_its_tests() {
    for backend in ["llvm", "gcov"] {
        let define = |name: &str| {
            lists(
                "",
                &format!(
                    "set_source_files_properties(${{CMAKE_CURRENT_BINARY_DIR}}/driver.c PROPERTIES COMPILE_DEFINITIONS free={name})\ntarget_sources(driver PRIVATE frees.c)"
                ),
            )
        };
        let frees = "void exit(int);\nvoid mine(void *p) {}\nvoid other(void *p) { exit(3); }\n";
        let repo = recorded(backend, &define("mine"), &[("frees.c", frees)]);
        repo.write("CMakeLists.txt", define("other"));
        reaches_both(&repo, backend);
    }
}

#[test]
fn a_header_that_is_put_before_a_driver_reaches_its_tests() {
    for backend in ["llvm", "gcov"] {
        let cmake = lists(
            "set(CMAKE_C_FLAGS \"-include ${CMAKE_CURRENT_SOURCE_DIR}/first.h\")",
            "",
        );
        let repo = recorded(backend, &cmake, &[("first.h", "#define EXTRA 0\n")]);
        repo.write("first.h", "#include <string.h>\n#define strcmp(a, b) 1\n");
        reaches_both(&repo, backend);
    }
}

#[test]
fn a_driver_does_not_speak_for_another_with_the_same_rows() {
    for backend in ["llvm", "gcov"] {
        let second = |code: &str| {
            lists(
                "",
                &format!(
                    "set(CMAKE_TESTDRIVER_BEFORE_TESTMAIN \"if (ac > {code}) return 5;\")\ncreate_test_sourcelist(others second.c one.c two.c)\nadd_executable(second ${{others}})\nadd_test(NAME three COMMAND second one)"
                ),
            )
        };
        let repo = recorded(backend, &second("99"), &[]);
        repo.write("CMakeLists.txt", second("0"));
        let selected = would_run(&repo, &[]);
        assert!(selected.contains("three"), "{backend}: {selected:?}");
    }
}

#[test]
fn a_driver_beside_a_program_of_the_tree_leaves_the_traces_of_skipped_tests_as_they_were() {
    for backend in ["llvm", "gcov"] {
        // Both have a `main`: one is known by its symbol, the other by its place.
        let cmake = |comment: &str| lists(comment, "add_executable(tool tool.c)");
        let repo = recorded(
            backend,
            &cmake(""),
            &[
                ("tool.c", "int main(void) { return 0; }\n"),
                // Nobody compiles this one.
                (
                    "one.h",
                    "#ifdef ALONE\nint main(void) { return 1; }\n#endif\n",
                ),
            ],
        );
        repo.write("CMakeLists.txt", cmake("# Nothing else."));
        repo.commit_all();
        let (_, said) = succeeds(&repo, &["run", "HEAD~1"]);
        assert!(said.contains("0 of 2 tests"), "{backend}: {said}");
        repo.write(
            "one.c",
            "#include \"one.h\"\nint one(int count, char **words) { return count > 9; }\n",
        );
        assert_eq!(would_run(&repo, &[]), names(&["one"]), "{backend}");
    }
}
