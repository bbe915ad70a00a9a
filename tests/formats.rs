//! Lists of selected tests, read by the tools that they are made for.

#![allow(clippy::unwrap_used, clippy::panic)]

mod pypi;
mod test_repo;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use git_rts::emit::list::{ctest, gtest, meson};
use tempfile::TempDir;
use test_repo::TestRepo;

/// Names that mean something else to one tool or another.
const ODD: [&str; 16] = [
    "plain",
    "two words",
    "a.b*c",
    "séma",
    "se;mi",
    "#lead",
    "  blanks  ",
    "back\\slash",
    "[x]",
    "a|b",
    "(p)",
    "q\"uote",
    "$d{x}",
    "^h$",
    "x+?",
    "]=]",
];

/// The oldest CTest that is supported, Debian's, and the newest.
fn ctests() -> [PathBuf; 3] {
    [
        pypi::programs("cmake==3.20.5").join("ctest"),
        "ctest".into(),
        pypi::programs("cmake").join("ctest"),
    ]
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    said(&output)
}

/// A folder whose tests, as CTest sees it, write their numbers to a file `ran`.
fn ctest_folder(names: &[String]) -> TempDir {
    let room = TempDir::new().unwrap();
    let mut text = String::new();
    for (number, name) in (1..).zip(names) {
        text += &format!(
            "add_test([===[{name}]===] sh -c \"echo {number} >> '{}'\")\n",
            room.path().join("ran").display()
        );
    }
    fs::write(room.path().join("CTestTestfile.cmake"), text).unwrap();
    room
}

/// The numbers of the tests that ran, in order.
fn ran(folder: &Path) -> Vec<usize> {
    let file = folder.join("ran");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let _ = fs::remove_file(file);
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn ctest_runs_exactly_what_is_listed_whatever_it_is_called() {
    let names: Vec<String> = ODD.map(str::to_owned).to_vec();
    let room = ctest_folder(&names);
    let list = room.path().join("list");
    for program in ctests() {
        let knows_files = program.to_string_lossy().ends_with("pypi-cmake/bin/ctest");
        let ctest = |option: &str, list: &str| {
            succeeds(
                Command::new(&program)
                    .args([option, list])
                    .current_dir(room.path()),
            );
            ran(room.path())
        };
        let all: Vec<usize> = (1..=ODD.len()).collect();
        let odd: Vec<usize> = (1..=ODD.len()).step_by(2).collect();
        for wanted in [all, odd, vec![], vec![3], vec![6]] {
            let named: Vec<&str> = wanted.iter().map(|number| ODD[number - 1]).collect();
            fs::write(&list, ctest::numbers(&wanted)).unwrap();
            assert_eq!(ctest("-I", list.to_str().unwrap()), wanted, "{program:?}");
            let regex = ctest::regex(&named).unwrap();
            assert_eq!(ctest("-R", regex.trim_end()), wanted, "{program:?} {regex}");
            if knows_files {
                fs::write(&list, ctest::file(&named).unwrap()).unwrap();
                let ran = ctest("--tests-from-file", list.to_str().unwrap());
                assert_eq!(ran, wanted, "{named:?}");
            }
        }
    }
}

#[test]
fn ctest_reads_lists_of_any_length() {
    let names: Vec<String> = (1..=12_000).map(|number| format!("t{number:05}")).collect();
    let room = ctest_folder(&names);
    let list = room.path().join("list");
    for program in ctests() {
        let counts = |arguments: &[&str]| {
            let mut ctest = Command::new(&program);
            let ctest = ctest.arg("-N").args(arguments).current_dir(room.path());
            let said = succeeds(ctest);
            let line = said.lines().find(|line| line.starts_with("Total Tests:"));
            line.unwrap()["Total Tests: ".len()..]
                .parse::<usize>()
                .unwrap()
        };
        let all: Vec<usize> = (1..=11_999).collect();
        fs::write(&list, ctest::numbers(&all)).unwrap();
        assert_eq!(
            counts(&["-I", list.to_str().unwrap()]),
            11_999,
            "{program:?}"
        );
        // The longest expression that we dare is one that CTest understands.
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let longest = longest(&names);
        assert!(longest.len() > 4000, "{}", longest.len());
        let regex = ctest::regex(longest).unwrap();
        assert_eq!(
            counts(&["-R", regex.trim_end()]),
            longest.len(),
            "{program:?}"
        );
    }
    let dots: Vec<String> = (1..=5000)
        .map(|number| format!("t.{number:04}.$"))
        .collect();
    let dots: Vec<&str> = dots.iter().map(String::as_str).collect();
    let regex = ctest::regex(longest(&dots)).unwrap();
    let said = succeeds(
        Command::new("ctest")
            .args(["-N", "-R", regex.trim_end()])
            .current_dir(room.path()),
    );
    assert!(!said.contains("too big"), "{said}");
}

/// As many names as one expression may have.
fn longest<'a>(names: &'a [&'a str]) -> &'a [&'a str] {
    let (mut fits, mut breaks) = (1, names.len());
    while breaks - fits > 1 {
        let middle = usize::midpoint(fits, breaks);
        match ctest::regex(&names[..middle]) {
            Ok(_) => fits = middle,
            Err(_) => breaks = middle,
        }
    }
    &names[..fits]
}

#[test]
fn ctest_takes_our_order_from_costs() {
    let names: Vec<String> = ODD.map(str::to_owned).to_vec();
    let room = ctest_folder(&names);
    let scratch = TempDir::new().unwrap();
    let order = [5, 16, 1, 9, 2];
    let named: Vec<&str> = order.iter().map(|number| ODD[number - 1]).collect();
    let testfile = ctest::testfile(room.path().to_str().unwrap(), &named).unwrap();
    fs::write(scratch.path().join("CTestTestfile.cmake"), testfile).unwrap();
    fs::write(scratch.path().join("list"), ctest::numbers(&order)).unwrap();
    for program in ctests() {
        succeeds(
            Command::new(&program)
                .args(["-I", "list"])
                .current_dir(scratch.path()),
        );
        assert_eq!(ran(room.path()), order, "{program:?}");
    }
}

#[test]
fn meson_runs_exactly_what_is_listed() {
    let room = TempDir::new().unwrap();
    let names = [
        "plain",
        "two words",
        "-dash",
        "#hash",
        "séma",
        "a+b",
        "x y:z",
    ];
    let log = room.path().join("ran");
    let mut text = String::from("project('p')\nsh = find_program('sh')\n");
    for (number, name) in names.iter().enumerate() {
        text += &format!(
            "test('{name}', sh, args: ['-c', 'echo {number} >> {}'])\n",
            log.display()
        );
    }
    fs::write(room.path().join("meson.build"), text).unwrap();
    for program in [
        PathBuf::from("meson"),
        pypi::programs("meson").join("meson"),
    ] {
        let build = TempDir::new().unwrap();
        let build = build.path().join("build");
        succeeds(
            Command::new(&program)
                .arg("setup")
                .args([&build, room.path()]),
        );
        // Meson itself replaces what it cannot live with.
        let names = names.map(|name| name.replace(':', "_"));
        for wanted in [vec![0, 1, 2, 3, 4, 5, 6], vec![2], vec![1, 3, 6], vec![]] {
            let named: Vec<&str> = wanted.iter().map(|place| names[*place].as_str()).collect();
            let list = meson::arguments(&named).unwrap();
            succeeds(
                Command::new(&program)
                    .args(["test", "--no-rebuild"])
                    .args(list.lines())
                    .current_dir(&build),
            );
            let mut ran = ran(room.path());
            ran.sort_unstable();
            assert_eq!(ran, wanted, "{program:?} {named:?}");
        }
    }
}

#[test]
fn googletest_runs_exactly_what_is_listed() {
    let room = TempDir::new().unwrap();
    let source = "#include <gtest/gtest.h>\nTEST(Suite, One) {}\nTEST(Suite, OneMore) {}\nTEST(Other, Three) {}\n";
    fs::write(room.path().join("t.cc"), source).unwrap();
    succeeds(
        Command::new("g++")
            .args(["-o", "t", "t.cc", "-lgtest", "-lgtest_main", "-pthread"])
            .current_dir(room.path()),
    );
    for wanted in [
        &["Suite.One", "Suite.OneMore", "Other.Three"][..],
        &["Suite.One", "Other.Three"],
        &[],
    ] {
        let called: Vec<gtest::Called<'_>> = wanted.iter().map(|name| (*name, None)).collect();
        let filter = gtest::filter(&called, false).unwrap();
        let said = succeeds(
            Command::new(room.path().join("t"))
                .arg(format!("--gtest_filter={}", filter.trim_end())),
        );
        let ran = said
            .lines()
            .filter_map(|line| line.strip_prefix("[ RUN      ] "));
        assert_eq!(ran.collect::<Vec<_>>(), wanted, "{said}");
    }
}

/// A program with a function for each test, which also notes that it ran.
fn program(tests: &[&str]) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static int note(const char *name)\n{\n    const char *path = getenv(\"RAN\");\n    FILE *file = path ? fopen(path, \"a\") : NULL;\n    if (file) {\n        fprintf(file, \"%s\\n\", name);\n        fclose(file);\n    }\n    return 0;\n}\n",
    );
    for (number, test) in tests.iter().enumerate() {
        text +=
            &format!("static int f{number}(int x)\n{{\n    return note(\"{test}\") + x * 0;\n}}\n");
    }
    text += "int main(int argc, char **argv)\n{\n";
    for (number, test) in tests.iter().enumerate() {
        text +=
            &format!("    if (!strcmp(argv[1], \"{test}\"))\n        return f{number}(argc);\n");
    }
    text + "    return 9;\n}\n"
}

/// Changes what some tests execute.
fn change(repo: &TestRepo, file: &str, tests: &[usize]) {
    let mut text = fs::read_to_string(repo.top().join(file)).unwrap();
    for number in tests {
        let function = format!("f{number}(int x)\n{{\n");
        assert!(text.contains(&function));
        text = text.replacen(&function, &format!("{function}    x += 1;\n"), 1);
    }
    repo.write(file, text);
    repo.commit_all();
}

/// A version that affects nobody.
fn comment(repo: &TestRepo, file: &str) {
    let text = fs::read_to_string(repo.top().join(file)).unwrap();
    repo.write(file, format!("/* Nobody notices. */\n{text}"));
    repo.commit_all();
}

fn list(repo: &TestRepo, arguments: &[&str]) -> String {
    let output = repo.rts(&[&["select"], arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn record(repo: &TestRepo) {
    let output = repo.rts(&["run"]);
    assert!(output.status.success(), "{}", said(&output));
}

/// The names that were noted, and forgets them.
fn noted(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let _ = fs::remove_file(file);
    text.lines().map(str::to_owned).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_build_of_ones_own_runs_what_is_selected_and_what_is_new_there() {
    let tests = ["one", "two words", "three", "f(4)"];
    let repo = TestRepo::new();
    let lists = |tests: &[&str]| {
        let mut text = String::from(
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n",
        );
        for test in tests {
            text += &format!("add_test(NAME \"{test}\" COMMAND p \"{test}\")\n");
        }
        text
    };
    let source = program(&["one", "two words", "three", "f(4)", "new"]);
    repo.commit(&[("CMakeLists.txt", &lists(&tests)), ("p.c", &source)]);
    record(&repo);
    comment(&repo, "p.c");
    let room = TempDir::new().unwrap();
    let build = room.path().join("own build");
    // A build that has a test which no version has yet, and others in another order.
    let elsewhere = room.path().join("source");
    fs::create_dir(&elsewhere).unwrap();
    let others = lists(&["new", "f(4)", "one", "two words"]);
    fs::write(elsewhere.join("CMakeLists.txt"), others).unwrap();
    fs::copy(repo.top().join("p.c"), elsewhere.join("p.c")).unwrap();
    let cmake = |folder: &Path| {
        let mut cmake = Command::new("cmake");
        succeeds(cmake.arg("-S").arg(folder).arg("-B").arg(&build));
        succeeds(Command::new("cmake").arg("--build").arg(&build));
    };
    let log = room.path().join("ran");
    let file = room.path().join("list");
    let test_dir = build.to_str().unwrap().to_owned();
    let runs = |option: &str, list: &str| {
        let mut ctest = Command::new("ctest");
        succeeds(
            ctest
                .args([option, list])
                .env("RAN", &log)
                .current_dir(&build),
        );
        noted(&log)
    };
    cmake(&repo.top());
    let numbers = || {
        list(
            &repo,
            &["HEAD~1", "--format", "ctest", "--test-dir", &test_dir],
        )
    };
    fs::write(&file, numbers()).unwrap();
    assert_eq!(runs("-I", file.to_str().unwrap()), set(&[]));
    change(&repo, "p.c", &[1, 3]);
    fs::write(&file, numbers()).unwrap();
    let selected = set(&["two words", "f(4)"]);
    assert_eq!(runs("-I", file.to_str().unwrap()), selected);
    let regex = list(&repo, &["HEAD~1", "--format", "ctest-regex"]);
    assert_eq!(runs("-R", regex.trim_end()), selected);
    fs::remove_dir_all(&build).unwrap();
    cmake(&elsewhere);
    fs::write(&file, numbers()).unwrap();
    let with_new = set(&["two words", "f(4)", "new"]);
    assert_eq!(runs("-I", file.to_str().unwrap()), with_new);
    // A build that lacks a test which is selected is not the one that was asked about.
    let text = fs::read_to_string(elsewhere.join("CMakeLists.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.contains("f(4)"));
    let without: Vec<&str> = lines.collect();
    assert!(without.len() < text.lines().count(), "{text}");
    fs::write(elsewhere.join("CMakeLists.txt"), without.join("\n")).unwrap();
    cmake(&elsewhere);
    let wrong = repo.rts(&[
        "select",
        "HEAD~1",
        "--format",
        "ctest",
        "--test-dir",
        build.to_str().unwrap(),
    ]);
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("1 selected test not in this build"));
    let wrong = repo.rts(&["select", "--format", "ctest"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    let wrong = repo.rts(&["select", "--format", "ctest", "--test-dir", "/nowhere"]);
    assert!(
        said(&wrong).contains("is no build with tests"),
        "{}",
        said(&wrong)
    );
}

#[test]
fn make_gets_words_and_nothing_is_nothing() {
    let tests = ["one", "two", "three"];
    let repo = TestRepo::new();
    let makefile = "TESTS = one two three\nall: prog\nprog: p.c\n\tcc -o prog p.c\ncheck:\n\t@for t in $(TESTS); do ./prog $$t || exit 1; done\n";
    repo.commit(&[
        ("Makefile", makefile),
        ("p.c", &program(&tests)),
        (".gitignore", "prog\n"),
    ]);
    record(&repo);
    comment(&repo, "p.c");
    let log = repo.top().join("../ran");
    assert_eq!(list(&repo, &["--format", "gtest"]), "-*\n");
    let dry = repo.rts(&["run", "HEAD", "--dry-run", "--format", "make"]);
    assert_eq!(dry.stdout, b"\n", "{}", said(&dry));
    for (changed, expected) in [(&[][..], set(&[])), (&[0, 2], set(&["one", "three"]))] {
        change(&repo, "p.c", changed);
        let tests = list(&repo, &["HEAD~1", "--format", "make"]);
        let mut make = Command::new("make");
        succeeds(
            make.args(["all", "check"])
                .arg(format!("TESTS={}", tests.trim_end()))
                .env("RAN", &log)
                .current_dir(repo.top()),
        );
        assert_eq!(noted(&log), expected);
    }
    let matrix = repo.json(&[
        "select",
        "HEAD~1",
        "--format",
        "github-matrix",
        "--parts",
        "3",
    ]);
    assert_eq!(matrix["include"][1]["shard"], "2/2", "{matrix}");
    assert_eq!(
        list(&repo, &["HEAD~1", "--format", "null", "--order", "listed"]),
        "one\0three\0"
    );
    let tap = list(&repo, &["HEAD~1", "--format", "tap"]);
    assert_eq!(
        tap,
        "TAP version 13\n1..1\nok 1 - two # SKIP the change cannot affect it\n"
    );
    assert!(list(&repo, &["HEAD~1", "--format", "junit"]).contains("name=\"two\""));
    let run = repo.rts(&["run", "HEAD~1", "--format", "tap"]);
    let tap = String::from_utf8(run.stdout).unwrap();
    assert!(tap.contains("ok 1 - one\nok 2 - two # SKIP"), "{tap}");
    let refused = repo.rts(&["run", "--format", "make"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
}

#[test]
fn a_tool_gets_no_list_that_may_lack_a_new_test() {
    let repo = TestRepo::new();
    let makefile = |tests: &str| {
        format!(
            "TESTS = {tests}\nall: prog\nprog: p.c\n\tcc -o prog p.c\ncheck:\n\t@for t in $(TESTS); do ./prog $$t || exit 1; done\n"
        )
    };
    repo.commit(&[
        ("Makefile", &makefile("one two")),
        ("p.c", &program(&["one", "two", "three"])),
        (".gitignore", "prog\n"),
    ]);
    record(&repo);
    repo.write("Makefile", makefile("one two three"));
    for format in ["make", "automake"] {
        let refused = repo.rts(&["select", "HEAD", "--format", format]);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(refused.stdout.is_empty());
        let told = said(&refused);
        assert!(told.contains("'Makefile' changed"), "{told}");
        assert!(
            told.contains(&format!("git rts run --dry-run --format {format}")),
            "{told}"
        );
    }
    assert_eq!(list(&repo, &["HEAD", "--format", "gtest"]), "*\n");
    let listed = repo.rts(&["select", "HEAD"]);
    assert!(listed.status.success(), "{}", said(&listed));
    let warning = "'Makefile' changed: if that adds tests, they are not on this list";
    assert!(said(&listed).contains(warning), "{}", said(&listed));
    let json = repo.json(&["select", "HEAD", "--format", "json"]);
    assert_eq!(json["may_lack_tests"], "'Makefile' changed", "{json}");
    let dry = repo.rts(&["run", "HEAD", "--dry-run", "--format", "make"]);
    assert!(dry.stdout.starts_with(b"three "), "{}", said(&dry));
    // Once it was recorded, the tests of the head are known.
    assert!(repo.rts(&["run", "HEAD"]).status.success());
    assert!(list(&repo, &["HEAD", "--format", "make"]).contains("three"));
    assert!(repo.json(&["select", "HEAD", "--format", "json"])["may_lack_tests"].is_null());
    let wrong = repo.rts(&["select", "--format", "meson"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    assert!(said(&wrong).contains("'--format make' lists them"));
    // So they are behind it, though the branch began before: what changed since defines none.
    repo.commit_all();
    record(&repo);
    repo.write("p.c", program(&["three", "two", "one"]));
    let listed = list(&repo, &["HEAD~1", "--format", "make"]);
    for test in ["one", "two", "three"] {
        assert!(listed.contains(test), "{listed}");
    }
    repo.write("Makefile", makefile("two one"));
    let refused = repo.rts(&["select", "HEAD~1", "--format", "make"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    repo.git(&["checkout", "--quiet", "."]);
    // What the base did not open, the last build may have.
    repo.write("more.mk", "TESTS += one\n");
    repo.commit_all();
    record(&repo);
    repo.write(
        "Makefile",
        format!("{}include more.mk\n", makefile("two three")),
    );
    repo.commit_all();
    record(&repo);
    repo.write("more.mk", "TESTS += one four\n");
    let refused = repo.rts(&["select", "HEAD~1", "--format", "make"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(
        said(&refused).contains("'more.mk' changed"),
        "{}",
        said(&refused)
    );
    repo.git(&["checkout", "--quiet", "."]);
    // Nor is every file that may hold C only that.
    repo.git(&["mv", "more.mk", "more.inc"]);
    let text = fs::read_to_string(repo.top().join("Makefile")).unwrap();
    repo.write("Makefile", text.replace("more.mk", "more.inc"));
    repo.commit_all();
    record(&repo);
    repo.write("more.inc", "TESTS += one four\n");
    let refused = repo.rts(&["select", "HEAD", "--format", "make"]);
    assert!(
        said(&refused).contains("'more.inc' changed"),
        "{}",
        said(&refused)
    );
    repo.git(&["checkout", "--quiet", "."]);
    // A source that comes may be a test to a build that takes every one of its folder.
    repo.write("more.c", "int more;\n");
    let refused = repo.rts(&["select", "HEAD", "--format", "make"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(
        said(&refused).contains("'more.c' changed"),
        "{}",
        said(&refused)
    );
    assert_eq!(list(&repo, &["HEAD", "--format", "gtest"]), "*\n");
}

#[test]
fn cargo_is_told_of_no_test_that_it_does_not_know() {
    let repo = TestRepo::new();
    repo.commit(&[("Makefile", "TESTS = one\ncheck:\n\t./one\n")]);
    for verb in [&["select"][..], &["run", "--dry-run"]] {
        for format in ["nextest", "cargo-test"] {
            let output = repo.rts(&[verb, &["--format", format]].concat());
            let said = said(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(output.stdout.is_empty(), "{said}");
            assert!(said.contains("run by 'make'"), "{said}");
            assert!(said.contains("hint: '--format make' lists them"), "{said}");
        }
    }
}

#[test]
fn automake_gets_the_tests_of_each_folder() {
    let repo = TestRepo::new();
    let tests = ["a.test", "b.test", "c.test"];
    let script = |test: &str, up: &str| format!("#!/bin/sh\nexec {up}./prog {test}\n");
    repo.commit(&[
        ("configure.ac", "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile sub/Makefile])\nAC_OUTPUT\n"),
        ("Makefile.am", "SUBDIRS = . sub\nbin_PROGRAMS = prog\nprog_SOURCES = p.c\nTEST_EXTENSIONS = .test\nTESTS = a.test b.test\nEXTRA_DIST = $(TESTS)\n"),
        ("sub/Makefile.am", "TEST_EXTENSIONS = .test\nTESTS = c.test\n"),
        ("a.test", &script("a.test", "")),
        ("b.test", &script("b.test", "")),
        ("sub/c.test", &script("c.test", "../")),
        ("p.c", &program(&tests)),
    ]);
    for test in ["a.test", "b.test", "sub/c.test"] {
        succeeds(Command::new("chmod").arg("+x").arg(repo.top().join(test)));
    }
    repo.commit_all();
    record(&repo);
    comment(&repo, "p.c");
    let room = TempDir::new().unwrap();
    let own = room.path().join("own");
    succeeds(Command::new("cp").arg("-r").arg(repo.top()).arg(&own));
    succeeds(
        Command::new("sh")
            .args(["-c", "autoreconf -fi && ./configure && make"])
            .current_dir(&own),
    );
    let log = room.path().join("ran");
    for (changed, expected) in [(&[][..], set(&[])), (&[1, 2], set(&["b.test", "c.test"]))] {
        change(&repo, "p.c", changed);
        fs::write(
            own.join("list"),
            list(&repo, &["HEAD~1", "--format", "automake"]),
        )
        .unwrap();
        succeeds(
            Command::new("sh")
                .args(["-ec", "while read -r folder tests; do make -C \"$folder\" check-TESTS TESTS=\"$tests\"; done < list"])
                .env("RAN", &log)
                .current_dir(&own),
        );
        assert_eq!(noted(&log), expected);
    }
}
