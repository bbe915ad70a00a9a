//! Tests of GoogleTest that CMake discovers: each is a test of its own, run without CTest around it.

use crate::test_repo::TestRepo;
use crate::{change, would_run};

const LISTS: &str = "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nset(CMAKE_CXX_STANDARD 17)\nenable_testing()\n\
    find_package(GTest REQUIRED)\ninclude(GoogleTest)\nadd_executable(one one.cpp)\ntarget_link_libraries(one GTest::gtest_main)\n\
    gtest_discover_tests(one)\nadd_executable(two two.cpp)\ntarget_link_libraries(two GTest::gtest_main)\ngtest_discover_tests(two)\n";

const ONE: &str = "#include <gtest/gtest.h>\nstatic int half(int x) { return x / 2; }\nstatic int next(int x) { return x + 1; }\n\
    TEST(One, Half) { EXPECT_EQ(half(4), 2); }\nTEST(One, Next) { EXPECT_EQ(next(4), 5); }\n\
    TEST(One, Left) { GTEST_SKIP(); }\n";

const TWO: &str = "#include <gtest/gtest.h>\nTEST(Two, Truth) { EXPECT_TRUE(true); }\n";

#[test]
fn a_change_selects_the_tests_of_a_program_that_execute_it() {
    let repo = TestRepo::new();
    repo.write("CMakeLists.txt", LISTS);
    repo.write("one.cpp", ONE);
    repo.write("two.cpp", TWO);
    repo.commit_all();
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let skipped = repo.json(&["history", "show", "One.Left", "--format", "json"]);
    assert!(skipped.to_string().contains("skipped"), "{skipped}");
    change(&repo, "one.cpp", "x / 2", "x / 2 * 1 + x % 1 + 1");
    assert_eq!(would_run(&repo), ["One.Half".to_owned()].into());
    repo.git(&["checkout", "--quiet", "."]);
    // A new test is met by all of its program, because it is made known before any of them runs; by nobody else.
    change(
        &repo,
        "two.cpp",
        "TEST(",
        "TEST(Two, Fresh) { EXPECT_FALSE(false); }\nTEST(",
    );
    let both = ["Two.Fresh", "Two.Truth"].map(str::to_owned);
    assert_eq!(would_run(&repo), both.into());
}

#[test]
fn a_main_that_the_system_brings_along_leaves_no_doubt_beside_one_of_the_tree() {
    let repo = TestRepo::new();
    let tool = "add_executable(tool tool.c)\nadd_test(NAME tool COMMAND tool)\n";
    let lists = LISTS.replace("project(p CXX)", "project(p C CXX)") + tool;
    repo.write("CMakeLists.txt", lists);
    repo.write("one.cpp", ONE);
    repo.write("two.cpp", TWO);
    let idle = "int idle(int a) { return a - 1; }\nint main(void) { return 0; }\n";
    repo.write("tool.c", idle);
    repo.commit_all();
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // The program is linked anew each time, and lists its tests while the project is built.
    for (old, new) in [("x / 2", "x / 2 + x % 1"), ("x % 1", "x % 2")] {
        change(&repo, "one.cpp", old, new);
        let run = repo.rts(&["run", "HEAD"]);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(said.contains("1 passed, 4 skipped safely"), "{said}");
        repo.commit_all();
    }
    change(&repo, "tool.c", "a - 1", "a - 2");
    assert_eq!(would_run(&repo), [].into());
    change(&repo, "tool.c", "return 0", "return 0 * 2");
    change(&repo, "tool.c", "main(void) {", "main(void) { idle(1);");
    assert_eq!(would_run(&repo), ["tool".to_owned()].into());
}

#[test]
fn the_filter_for_googletest_runs_what_is_selected_whatever_cmake_calls_it() {
    let repo = TestRepo::new();
    let lists = LISTS.replace(
        "gtest_discover_tests(one)",
        "gtest_discover_tests(one TEST_PREFIX my_)",
    );
    repo.write("CMakeLists.txt", lists);
    let typed = "template <class T> struct Ty : ::testing::Test {};\nusing Types = ::testing::Types<int, char>;\n\
        TYPED_TEST_SUITE(Ty, Types);\nTYPED_TEST(Ty, Halves) { EXPECT_EQ(half(TypeParam(4)), 2); }\n\
        struct N : ::testing::TestWithParam<int> {};\nTEST_P(N, Halves) { EXPECT_EQ(half(2 * GetParam()), GetParam()); }\n\
        INSTANTIATE_TEST_SUITE_P(All, N, ::testing::Values(7, 8));\n";
    repo.write("one.cpp", format!("{ONE}{typed}"));
    repo.write("two.cpp", TWO);
    repo.commit_all();
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    change(&repo, "one.cpp", "x / 2", "x / 2 * 1 + x % 1");
    let output = repo.rts(&["run", "HEAD", "--dry-run", "--format", "gtest"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let filter = String::from_utf8(output.stdout).unwrap();
    let program = repo.top().join(".git/rts/build/main/out/one");
    let ran = repo
        .command(program.to_str().unwrap())
        .arg(format!("--gtest_filter={}", filter.trim_end()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let begun = said
        .lines()
        .filter_map(|line| line.strip_prefix("[ RUN      ] "));
    let begun: std::collections::BTreeSet<&str> = begun.collect();
    let expected = [
        "All/N.Halves/0",
        "All/N.Halves/1",
        "One.Half",
        "Ty/0.Halves",
        "Ty/1.Halves",
    ];
    assert_eq!(begun, expected.into(), "{filter}{said}");
    // A new one is called as the build lists it, and so is every one where there is no history.
    change(
        &repo,
        "one.cpp",
        "TEST(One, Half)",
        "TEST(One, Fresh) {}\nTEST(One, Half)",
    );
    let list = |arguments: &[&str]| {
        let output = repo.rts(&[arguments, &["--dry-run", "--format", "gtest"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let with_new = list(&["run", "HEAD"]);
    assert!(
        with_new.split(':').any(|one| one == "One.Fresh"),
        "{with_new}"
    );
    std::fs::remove_dir_all(repo.top().join(".git/rts/history")).unwrap();
    let all = list(&["run", "HEAD"]);
    for one in ["One.Fresh", "One.Half", "Ty/*.Halves", "All/*.Halves/*"] {
        assert!(
            all.trim_end().split(':').any(|known| known == one),
            "{one}: {all}"
        );
    }
}
