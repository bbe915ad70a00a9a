//! `git rts record` from end to end: real repositories, real compilers, both back ends.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use test_repo::TestRepo;

/// A library with two tests, built by a Makefile whose compiler and flags are hard-wired.
const MAKEFILE: &str = "CC = gcc\nCFLAGS = -O1 -Wall -fno-tree-loop-vectorize\nTESTS = t_add t_sign\nall: $(TESTS)\n\
    t_add: t_add.c lib.c lib.h\n\t$(CC) $(CFLAGS) -o $@ t_add.c lib.c\n\
    t_sign: t_sign.c lib.c lib.h\n\t$(CC) $(CFLAGS) -o $@ t_sign.c lib.c\n\
    check: all\n\t@for t in $(TESTS); do ./$$t || exit 1; done\n";
const FILES: [(&str, &str); 5] = [
    ("Makefile", MAKEFILE),
    ("lib.h", "int add(int a, int b);\nint sign(int a);\n"),
    (
        "lib.c",
        "#include \"lib.h\"\nint add(int a, int b) {\n  return a + b;\n}\nint sign(int a) {\n  if (a < 0)\n    return -1;\n  return a > 0;\n}\n",
    ),
    (
        "t_add.c",
        "#include \"lib.h\"\nint main(void) {\n  return add(1, 2) == 3 ? 0 : 1;\n}\n",
    ),
    (
        "t_sign.c",
        "#include \"lib.h\"\nint main(void) {\n  return sign(-5) == -1 ? 0 : 1;\n}\n",
    ),
];

#[track_caller]
fn succeeds(repo: &TestRepo, arguments: &[&str]) -> (String, String) {
    let output = repo.rts(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    (out, err)
}

/// The functions that a test entered.
#[track_caller]
fn functions(repo: &TestRepo, test: &str) -> Vec<String> {
    let shown = repo.json(&["history", "show", test, "--format", "json"]);
    let functions = shown["functions"].as_array().unwrap().iter();
    functions
        .map(|function| function["name"].as_str().unwrap().to_owned())
        .collect()
}

fn project() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&FILES);
    repo
}

#[test]
fn a_hard_wired_makefile_is_recorded_with_both_back_ends() {
    for backend in ["llvm", "gcov"] {
        let repo = project();
        let (_, said) = succeeds(&repo, &["record", "--backend", backend]);
        assert!(said.contains("2 tests: 2 passed"), "{said}");
        assert_eq!(functions(&repo, "t_add"), ["add", "main"], "{backend}");
        assert_eq!(functions(&repo, "t_sign"), ["sign", "main"], "{backend}");
        // The user's tree is as it was.
        let status = Command::new("git")
            .args(["status", "--porcelain", "--ignored"])
            .current_dir(repo.top())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    }
}

#[test]
fn uncommitted_work_is_kept_under_its_tree_and_found_once_it_is_committed() {
    let repo = project();
    std::fs::write(
        repo.top().join("t_add.c"),
        "#include \"lib.h\"\nint main(void) {\n  return add(sign(3), 2) == 3 ? 0 : 1;\n}\n",
    )
    .unwrap();
    succeeds(&repo, &["record"]);
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"][0]["commit"], Value::Null);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "--quiet", "-m", "the same tree"]);
    assert_eq!(functions(&repo, "t_add"), ["add", "sign", "main"]);
}

#[test]
fn recording_some_tests_keeps_what_is_known_of_the_others() {
    let repo = project();
    succeeds(&repo, &["record"]);
    let (_, said) = succeeds(&repo, &["record", "t_add"]);
    assert!(said.contains("1 test: 1 passed"), "{said}");
    assert_eq!(functions(&repo, "t_sign"), ["sign", "main"]);
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"][0]["tests"], 2);
    assert_eq!(listed["histories"][0]["partial"], false);
    let output = repo.rts(&["record", "t_nothing"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("error: there is no test 't_nothing'"),
        "{said}"
    );
}

#[test]
fn a_build_that_fails_shows_the_compilers_complaint_and_says_where_its_output_is() {
    let repo = project();
    repo.write("lib.c", "int broken(\n");
    repo.commit_all();
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(101));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot build the project"), "{said}");
    assert!(
        said.contains("lib.c:1:") && said.contains(" error: "),
        "{said}"
    );
    assert!(said.contains("build.log"), "{said}");
}

#[test]
fn what_ran_on_uncommitted_work_counts_until_it_changes() {
    let repo = project();
    repo.write("notes", "none of it is committed\n");
    let said = |arguments: &[&str]| {
        let output = repo.rts(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let first = said(&["run"]);
    assert!(first.contains("2 passed, 0 skipped safely"), "{first}");
    let again = said(&["run"]);
    assert!(again.contains("0 passed, 2 skipped safely"), "{again}");
    assert!(
        again.contains("history of working tree; nothing changed since"),
        "{again}"
    );
    let listed = repo.rts(&["select"]);
    assert_eq!(listed.stdout, b"");
    // Its files are kept nowhere, so that nothing can be compared with it.
    repo.write("notes", "more\n");
    let changed = said(&["run"]);
    assert!(changed.contains("2 passed, 0 skipped safely"), "{changed}");
    let hint = "hint: what was recorded last is not committed: once it is, its history counts";
    assert!(changed.contains(hint), "{changed}");
}

#[test]
fn a_project_without_tests_is_told_what_to_write() {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", "int main(void) { return 0; }\n")]);
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("hint:") && said.contains("run ="), "{said}");
}

#[test]
fn a_cmake_project_whose_tests_are_switched_off_is_told_by_which_option() {
    let repo = TestRepo::new();
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\noption(P_TESTS \"Build the tests\" OFF)\n\
                 add_executable(p p.c)\nif(P_TESTS)\n  add_test(NAME p COMMAND p)\nendif()\n";
    repo.commit(&[
        ("CMakeLists.txt", lists),
        ("p.c", "int main(void) { return 0; }\n"),
    ]);
    let refused = repo.rts(&["run"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("switched off are P_TESTS;"), "{said}");
    repo.write(".git-rts.toml", "[build]\nconfigure = \"-DP_TESTS=ON\"\n");
    succeeds(&repo, &["run"]);
}

#[test]
fn two_commands_are_enough_for_any_project() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            ".git-rts.toml",
            "[build]\ncommand = \"cc -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one 'two words' fails skips\"\nrun = \"sh run-one {test}\"\n",
        ),
        (
            "run-one",
            "case $1 in one) ./prog 1;; 'two words') ./prog 2;; fails) exit 3;; skips) exit 77;; esac\n",
        ),
        (
            "prog.c",
            "int one(void) { return 0; }\nint two(void) { return 0; }\nint main(int argc, char **argv) {\n  return argv[1][0] == '1' ? one() : two();\n}\n",
        ),
    ]);
    let (_, said) = succeeds(&repo, &["record"]);
    assert!(
        said.contains("4 tests: 2 passed, 1 failed, 1 skipped"),
        "{said}"
    );
    assert_eq!(functions(&repo, "one"), ["main", "one"]);
    assert_eq!(functions(&repo, "two words"), ["main", "two"]);
    let shown = repo.json(&["history", "show", "fails", "--format", "json"]);
    // It runs nothing that could count.
    assert_eq!(shown["doubt"], Value::Null);
}

#[test]
fn two_static_functions_of_one_name_in_files_of_one_name_are_told_apart() {
    let repo = TestRepo::new();
    let unit = |name: &str| {
        format!("static int h(int x) {{ return x; }}\nint {name}(int x) {{ return h(x); }}\n")
    };
    repo.commit(&[
        ("Makefile", "TESTS = prog\nprog: prog.c a/util.c b/util.c\n\tcd a && cc -c util.c\n\tcd b && cc -c util.c\n\tcc -o prog prog.c a/util.o b/util.o\ncheck: prog\n\t./prog\n"),
        ("a/util.c", &unit("fa")),
        ("b/util.c", &unit("fb")),
        ("prog.c", "int fa(int);\nint fb(int);\nint main(int argc, char **argv) { return argc > 5 ? fa(0) : fb(0); }\n"),
    ]);
    succeeds(&repo, &["record", "--backend", "llvm"]);
    let shown = repo.json(&["history", "show", "prog", "--format", "json"]);
    let files: Vec<&str> = shown["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| function["file"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["b/util.c", "b/util.c", "prog.c"]);
    assert_eq!(shown["doubt"], Value::Null);
}

#[test]
fn what_no_ref_reaches_is_dropped() {
    let repo = project();
    succeeds(&repo, &["record"]);
    repo.write("note.txt", "later\n");
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    let (_, said) = succeeds(&repo, &["gc"]);
    assert!(said.contains("1 history dropped"), "{said}");
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"].as_array().unwrap().len(), 1);
}

#[test]
fn a_second_recording_in_the_same_work_tree_is_refused() {
    let repo = project();
    repo.write(
        "t_add.c",
        "#include <unistd.h>\nint main(void) { sleep(3); return 0; }\n",
    );
    repo.commit_all();
    let mut first = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .arg("record")
        .current_dir(repo.top())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lock = repo.top().join(".git/rts/build/main/logs/build.log");
    wait_for(&lock);
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("another 'git rts'"), "{said}");
    assert!(first.wait().unwrap().success());
}

fn wait_for(path: &Path) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("'{}' does not appear", path.display());
}

#[test]
fn an_interrupt_keeps_what_the_finished_tests_did() {
    let repo = project();
    repo.write(
        "t_sign.c",
        "#include <unistd.h>\nint main(void) { sleep(60); return 0; }\n",
    );
    repo.commit_all();
    let child = repo
        .rts_command()
        .arg("record")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The second test has begun when its log is there.
    let logs = repo.top().join(".git/rts/build/main/logs");
    let begun = || {
        let entries = std::fs::read_dir(&logs).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("t_sign"))
            .count()
            > 0
    };
    for _ in 0..1200 {
        if begun() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Command::new("kill")
        // Not SIGINT, which a shell makes its background jobs ignore.
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    let listed = repo.json(&["history", "--format", "json"]);
    // The other one is known by its name, and stays selected.
    assert_eq!(listed["histories"][0]["tests"], 2, "{said}");
    assert_eq!(listed["histories"][0]["partial"], true);
    assert_eq!(functions(&repo, "t_add"), ["add", "main"]);
}

/// Copies the files of a folder, one level of folders deep.
fn copy_into(repo: &TestRepo, folder: &str) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/runners");
    let mut waiting = vec![std::path::PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in std::fs::read_dir(top.join(folder).join(&below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                waiting.push(path);
            } else {
                repo.write(&path, "");
                std::fs::copy(entry.path(), repo.top().join(&path)).unwrap();
            }
        }
    }
}

/// One small project for each runner: what its tests executed, by hand. All run the same program, whose argument says what to do.
#[test]
fn every_runner_records_what_its_tests_executed() {
    let settings = "[build]\ncommand = \"sh build.sh\"\n[tests]\nrunner = \"command\"\nlist = \"cat t/list\"\nrun = \"t/run-one {test}\"\ntimeout = \"1s\"\n";
    // The timeout ends the test that hangs; some harnesses bring their own.
    let short = "[tests]\ntimeout = \"1s\"\n";
    // For each project: tests that add, crash and hang, and one that a script drives.
    let cases = [
        (
            "cmake",
            short,
            ["passes", "crashes", "slow", "odd name; it's"],
        ),
        (
            "automake",
            short,
            ["passes.test", "crashes.sh", "slow.test", "t/drive.sh"],
        ),
        ("meson", short, ["passes", "crashes", "slow", "drives"]),
        ("make", short, ["add", "crash", "slow", "sum-1"]),
        (
            "command",
            settings,
            ["add", "crash", "slow", "print it's \"odd\"\tnaïve"],
        ),
    ];
    for (folder, settings, [adds, crashes, hangs, driven]) in cases {
        for backend in ["llvm", "gcov"] {
            let repo = TestRepo::new();
            copy_into(&repo, "program");
            copy_into(&repo, folder);
            repo.write(".git-rts.toml", settings);
            repo.commit_all();
            succeeds(&repo, &["record", "-j2", "--backend", backend]);
            let about = |test: &str| repo.json(&["history", "show", test, "--format", "json"]);
            let what = format!("{folder} {backend}");
            assert_eq!(functions(&repo, adds), ["add", "main"], "{what}");
            assert_eq!(functions(&repo, driven), ["add", "main"], "{what}");
            if backend == "llvm" {
                // Counters survive an abort and a kill.
                assert_eq!(functions(&repo, crashes), ["divide", "main"], "{what}");
                assert_eq!(functions(&repo, hangs), ["main"], "{what}");
                assert_eq!(about(crashes)["doubt"], Value::Null, "{what}");
            } else {
                let doubt = about(crashes)["doubt"].to_string();
                assert!(doubt.contains("counters"), "{what}: {doubt}");
            }
            assert_eq!(about(adds)["doubt"], Value::Null, "{what}");
            assert_eq!(about(adds)["outcome"], "passed", "{what}");
            assert_ne!(about(crashes)["outcome"], "passed", "{what}");
            assert_ne!(about(hangs)["outcome"], "passed", "{what}");
        }
    }
}

#[test]
fn a_server_that_a_fixture_starts_serves_until_the_tests_have_ended() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n\
             add_test(NAME up COMMAND sh -c \"$<TARGET_FILE:p> serve & echo $! > pid\")\n\
             add_test(NAME asks COMMAND sh -c \"kill -0 $(cat pid) && $<TARGET_FILE:p>\")\n\
             add_test(NAME alone COMMAND p)\n\
             set_tests_properties(up PROPERTIES FIXTURES_SETUP server)\n\
             set_tests_properties(asks PROPERTIES FIXTURES_REQUIRED server)\n",
        ),
        ("p.c", "#include <unistd.h>\nint main(int count, char **words) { return count > 1 ? sleep(300) : 0; }\n"),
    ]);
    let (_, said) = succeeds(&repo, &["record"]);
    assert!(said.contains("3 tests: 3 passed"), "{said}");
    let doubt =
        |test: &str| repo.json(&["history", "show", test, "--format", "json"])["doubt"].to_string();
    // What the server did for it is not known.
    assert!(doubt("asks").contains("outlived"), "{}", doubt("asks"));
    assert_eq!(doubt("alone"), "null");
    let pid = std::fs::read_to_string(repo.top().join(".git/rts/build/main/out/pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).join("cwd").exists());
}

#[test]
fn tracked_files_of_a_copy_do_not_look_as_if_one_were_made_of_another() {
    let repo = TestRepo::new();
    let config = "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"true {test}\"\n";
    // Only who has the generator can make it.
    let makefile = "all: a_made z_made\na_made: source\n\texit 1\nz_made: source\n\texit 1\n";
    repo.commit(&[
        (".git-rts.toml", config),
        ("Makefile", makefile),
        ("a_made", "1\n"),
        ("source", "1\n"),
        ("z_made", "1\n"),
    ]);
    succeeds(&repo, &["run"]);
    repo.write("source", "2\n");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(101));
}

#[test]
fn a_build_that_was_killed_is_begun_anew() {
    let repo = project();
    succeeds(&repo, &["record"]);
    let workshop = repo.top().join(".git/rts/build/main");
    // What a kill in the middle of linking leaves: half a program that is newer than its sources.
    std::fs::write(workshop.join("tree/t_add"), "half a program").unwrap();
    std::fs::write(workshop.join("out.unfinished"), "").unwrap();
    let (_, said) = succeeds(&repo, &["record"]);
    assert!(said.contains("2 tests: 2 passed"), "{said}");
    assert!(!workshop.join("out.unfinished").exists());
}

#[test]
fn a_test_inherits_the_traces_and_the_doubts_of_those_it_waits_for() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n\
             add_test(NAME counted COMMAND p 1)\nadd_test(NAME silent COMMAND env LLVM_PROFILE_FILE=/dev/null $<TARGET_FILE:p> 2)\n\
             add_test(NAME plain COMMAND p 2)\nadd_test(NAME second COMMAND p 2)\nadd_test(NAME third COMMAND p 2)\n\
             set_tests_properties(second PROPERTIES DEPENDS counted)\nset_tests_properties(third PROPERTIES DEPENDS silent)\n",
        ),
        (
            "p.c",
            "static int one(void) { return 0; }\nstatic int two(void) { return 0; }\nint main(int argc, char **argv) { return argv[1][0] == '1' ? one() : two(); }\n",
        ),
    ]);
    succeeds(&repo, &["record"]);
    // Recording one of them alone loses nothing of what the others did.
    for again in [None, Some("second")] {
        if let Some(test) = again {
            succeeds(&repo, &["record", test]);
        }
        assert_eq!(functions(&repo, "plain"), ["main", "two"]);
        assert_eq!(functions(&repo, "second"), ["main", "one", "two"]);
        let shown = repo.json(&["history", "show", "third", "--format", "json"]);
        assert_eq!(shown["doubt"], "it waits for 'silent': it left no counters");
    }
}

#[test]
fn a_test_one_of_whose_processes_crashed_unnoticed_is_in_doubt_with_gcov() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "Makefile",
            "TESTS = tolerant.sh clean.sh\nall: p\np: p.c\n\tcc -o p p.c\ncheck: all\n\t@for t in $(TESTS); do sh $$t || exit 1; done\n",
        ),
        ("tolerant.sh", "#!/bin/sh\n./p\n./p crash\nexit 0\n"),
        ("clean.sh", "#!/bin/sh\n./p && ./p\n"),
        (
            "p.c",
            "#include <stdlib.h>\nstatic void crash(void) { abort(); }\nint main(int argc, char **argv) {\n  if (argc > 1) crash();\n  return 0;\n}\n",
        ),
        (
            ".git-rts.toml",
            "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' tolerant.sh clean.sh\"\nrun = \"sh {test}\"\n",
        ),
    ]);
    for (backend, doubt, entered) in [
        (
            "gcov",
            Value::from("a process of 'p' ended without writing its counters"),
            vec!["main"],
        ),
        ("llvm", Value::Null, vec!["crash", "main"]),
    ] {
        succeeds(&repo, &["record", "--backend", backend]);
        let about = |test: &str| repo.json(&["history", "show", test, "--format", "json"]);
        assert_eq!(about("tolerant.sh")["doubt"], doubt, "{backend}");
        assert_eq!(about("clean.sh")["doubt"], Value::Null, "{backend}");
        assert_eq!(functions(&repo, "tolerant.sh"), entered);
    }
}

/// A project of one test, linked by these commands from `a.o` and `b.o`, and its doubt with gcov.
fn doubt_when_linked_by(commands: &str) -> Value {
    let repo = TestRepo::new();
    let build = format!("gcc -fPIC -c a.c b.c\n{commands}\n");
    repo.commit(&[
        ("build.sh", &format!("set -e\n{build}")),
        ("a.c", "int f(void);\nint main(void) { return f(); }\n"),
        ("b.c", "int f(void) { return 0; }\n"),
        ("map", "{ global: f; local: *; };\n"),
        (".git-rts.toml", "[build]\ncommand = \"sh build.sh\"\n[tests]\nrunner = \"command\"\nlist = \"echo t\"\nrun = \"LD_LIBRARY_PATH=. ./{test}\"\n"),
    ]);
    let (_, said) = succeeds(&repo, &["record", "--backend", "gcov"]);
    assert!(said.contains("1 test: 1 passed"), "{commands}: {said}");
    assert_eq!(functions(&repo, "t"), ["main", "f"], "{commands}");
    repo.json(&["history", "show", "t", "--format", "json"])["doubt"].take()
}

#[test]
fn every_usual_way_of_linking_tells_of_lost_counters() {
    for commands in [
        "gcc -o t a.o b.o",
        "gcc -static -o t a.o b.o",
        "gcc -s -Wl,--gc-sections -o t a.o b.o",
        "gcc -r -o ab.o a.o b.o\ngcc -o t ab.o",
        "gcc -Wl,-r -no-pie -nostdlib -o ab.o a.o b.o\ngcc -o t ab.o",
        "gcc -shared -Wl,-z,defs -Wl,--version-script=map -o libb.so b.o\ngcc -o t a.o -L. -lb",
        "ar cr libb.a b.o\ngcc -o t a.o libb.a",
        "ld -r -o ab.o a.o b.o\ngcc -o t ab.o",
        "printf 'a.o b.o -o t' > list\ngcc @list",
        "gcc -fPIC -flto -c a.c b.c\ngcc -flto -o t a.o b.o",
        "g++ -o t a.o b.o",
        "gcc-11 -fPIC -c a.c b.c\ngcc-11 -o t a.o b.o",
    ] {
        assert_eq!(doubt_when_linked_by(commands), Value::Null, "{commands}");
    }
}

#[test]
fn where_the_linking_is_unusual_every_test_is_in_doubt() {
    let by_hand = "lib=$(dirname $(gcc -print-file-name=libgcov.a)); c=$(dirname $(gcc -print-file-name=crt1.o))\n\
        ld -o t -dynamic-linker $(ls /lib64/ld-linux-*) $c/crt1.o $c/crti.o a.o b.o -L$lib -lgcov -lgcc -lc $c/crtn.o";
    for commands in [
        by_hand,
        "gcc -nodefaultlibs -o t a.o b.o -lgcov -lc",
        // What the mark replaces is there already: the build goes on without the mark.
        "gcc -o t a.o b.o -Wl,--whole-archive -lgcov -Wl,--no-whole-archive",
    ] {
        let doubt = doubt_when_linked_by(commands).to_string();
        assert!(
            doubt.contains("linked in a way that hides"),
            "{commands}: {doubt}"
        );
    }
}

/// Mocks of what counters are written with, each of which notes that it was called.
const MOCKS: &str = r#"#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
static int called;
int __wrap_open(const char *path, int flags, ...) { called++; return -1; }
char *__wrap_getenv(const char *name) { called++; return NULL; }
void *__wrap_mmap(void *a, size_t b, int c, int d, int e, off_t f) { called++; return (void *)-1; }
FILE *__wrap_fopen(const char *path, const char *mode) { called++; return NULL; }
FILE *__wrap_fdopen(int file, const char *mode) { called++; return NULL; }
void *__wrap_malloc(size_t size) { called++; return NULL; }
ssize_t __wrap_write(int file, const void *from, size_t size) { called++; return -1; }
ssize_t __wrap_read(int file, void *to, size_t size) { called++; return -1; }
int __wrap_fcntl(int file, int what, ...) { called++; return -1; }
static int asks(void) { return getenv("HOME") == NULL; }
static void check(void) { if (called != 1) abort(); }
int main(void) { atexit(check); return called == 0 && asks() && called == 1 ? 0 : 1; }
"#;

#[test]
fn what_counts_does_not_meet_the_mocks_of_a_test() {
    let wrapped = [
        "open", "getenv", "mmap", "fopen", "fdopen", "malloc", "write", "read", "fcntl",
    ];
    let options: String = wrapped.map(|name| format!(" -Wl,--wrap={name}")).concat();
    let makefile = format!(
        "TESTS = mocked\nall: mocked\nmocked: mocked.c\n\tcc{options} -o $@ mocked.c\ncheck: all\n\t./mocked\n"
    );
    for backend in ["llvm", "gcov"] {
        let repo = TestRepo::new();
        repo.commit(&[("Makefile", &makefile), ("mocked.c", MOCKS)]);
        let (_, said) = succeeds(&repo, &["record", "--backend", backend]);
        assert!(said.contains("1 test: 1 passed"), "{backend}: {said}");
        assert!(
            !said.contains("will always be selected"),
            "{backend}: {said}"
        );
        let entered = functions(&repo, "mocked");
        assert_eq!(
            entered,
            ["__wrap_getenv", "asks", "check", "main"],
            "{backend}"
        );
    }
}

#[test]
fn a_header_that_the_build_copies_is_recorded_as_its_original() {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\n\
             configure_file(src/x.h ${CMAKE_BINARY_DIR}/include/p/x.h COPYONLY)\n\
             configure_file(src/version.h.in ${CMAKE_BINARY_DIR}/include/p/version.h)\n\
             configure_file(src/y.c ${CMAKE_BINARY_DIR}/y.c COPYONLY)\n\
             add_executable(inside src/inside.c src/y.c)\ntarget_include_directories(inside PRIVATE src)\n\
             add_executable(outside outside.c ${CMAKE_BINARY_DIR}/y.c)\ntarget_include_directories(outside PRIVATE ${CMAKE_BINARY_DIR}/include)\n\
             add_test(NAME inside COMMAND inside)\nadd_test(NAME outside COMMAND outside)\n",
        ),
        ("src/x.h", "static inline int x(int a) {\n  return a;\n}\n"),
        ("src/version.h.in", "static inline int version(void) {\n  return 0;\n}\n"),
        ("src/y.c", "int y(int a) {\n  return a;\n}\n"),
        ("src/inside.c", "#include \"x.h\"\nint y(int);\nint main(void) {\n  return x(0) + y(0);\n}\n"),
        (
            "outside.c",
            "#include <p/x.h>\n#include <p/version.h>\nint y(int);\nint main(void) {\n  return x(0) + y(0) + version();\n}\n",
        ),
    ]);
    for backend in ["llvm", "gcov"] {
        succeeds(&repo, &["record", "--backend", backend]);
        let shown = repo.json(&["history", "show", "outside", "--format", "json"]);
        let functions = shown["functions"].as_array().unwrap().iter();
        let files: Vec<&str> = functions
            .map(|function| function["file"].as_str().unwrap())
            .collect();
        // The first is the code of a header that the build made.
        assert_eq!(files, ["", "outside.c", "src/x.h", "src/y.c"], "{backend}");
        assert_eq!(shown["doubt"], Value::Null, "{backend}");
    }
}

#[test]
fn programs_that_only_check_makes_are_part_of_the_build() {
    let repo = TestRepo::new();
    repo.write(
        "Makefile",
        "TESTS = t_a t_b\nall: lib.o\n%: %.c lib.o\n\t$(CC) -o $@ $^\ncheck: $(TESTS)\n\t@for t in $(TESTS); do ./$$t || exit 1; done\n.PHONY: all check\n",
    );
    repo.write(".gitignore", "t_a\nt_b\n*.o\n");
    repo.write("lib.c", "int f(void) { return 1; }\n");
    repo.write(
        "t_a.c",
        "int f(void);\nint main(void) { return f() != 1; }\n",
    );
    repo.write("t_b.c", "int main(void) { return 0; }\n");
    repo.commit_all();
    let recorded = repo.rts(&["record"]);
    let said = String::from_utf8_lossy(&recorded.stderr);
    assert!(
        recorded.status.success() && !said.contains("always"),
        "{said}"
    );
    for (text, code, ran) in [
        (
            "int f(void) { return 1; } // one\n",
            0,
            "0 passed, 2 skipped safely",
        ),
        (
            "int f(void) { return 2; }\n",
            100,
            "0 passed, 1 failed, 1 skipped safely",
        ),
    ] {
        repo.write("lib.c", text);
        let run = repo.rts(&["run"]);
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{said}");
        assert!(said.contains(ran), "{said}");
    }
}
