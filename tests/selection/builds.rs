//! What only two builds show: headers outside of the tree, code that is written in another way, and what each witness says.

use std::collections::BTreeSet;

use crate::test_repo::TestRepo;

fn settings(build: &str) -> String {
    format!(
        "[build]\ncommand = \"{build}\"\n[tests]\nrunner = \"command\"\nlist = \"echo one; echo two\"\nrun = \"./prog {{test}}\"\n"
    )
}

const MAIN: &str =
    "int main(int count, char **name) { return name[1][0] == 'o' ? one(count) : two(count); }\n";

/// Records a program of one file with a back end.
fn recorded(backend: &str, build: &str, functions: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "rts.backend", backend]);
    repo.write(".git-rts.toml", settings(build));
    repo.write("main.c", format!("{functions}{MAIN}"));
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo
}

#[track_caller]
pub(crate) fn succeeds(repo: &TestRepo, arguments: &[&str]) -> (String, String) {
    let output = repo.rts(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

pub(crate) fn would_run(repo: &TestRepo, more: &[&str]) -> BTreeSet<String> {
    let (printed, _) = succeeds(repo, &[&["run", "HEAD", "--dry-run"], more].concat());
    printed.lines().map(str::to_owned).collect()
}

pub(crate) fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_header_outside_of_the_tree_reaches_who_executes_what_it_changes() {
    for backend in ["llvm", "gcov"] {
        let system = tempfile::tempdir().unwrap();
        let header = system.path().join("size.h");
        std::fs::write(&header, "#define SIZE 1\n").unwrap();
        // With a list of dependencies that leaves headers of the system out, and without one.
        for list in ["", "-MMD"] {
            let place = system.path().display();
            let repo = recorded(
                backend,
                &format!("cc -w {list} -isystem {place} -c main.c && cc -o prog main.o"),
                "#include <size.h>\nstatic int one(int x) { return x > 5 + SIZE; }\nstatic int two(int x) { return x > 5; }\n",
            );
            assert_eq!(would_run(&repo, &[]), names(&[]), "{backend}");
            std::fs::write(&header, "#define SIZE 2\n").unwrap();
            assert_eq!(would_run(&repo, &[]), names(&["one"]), "{backend}");
            std::fs::write(&header, "#define SIZE 1 /* as it was */\n").unwrap();
            assert_eq!(would_run(&repo, &[]), names(&[]), "{backend}");
        }
    }
}

#[test]
fn a_build_that_passes_over_a_source_clears_nobody() {
    for backend in ["llvm", "gcov"] {
        let repo = TestRepo::new();
        repo.git(&["config", "rts.backend", backend]);
        repo.write(".git-rts.toml", settings("make"));
        // The program does not depend on the header, but something else does.
        repo.write(
            "Makefile",
            "all: prog other.o\nprog: main.c\n\tcc -w -o prog main.c\nother.o: other.c size.h\n\tcc -w -c other.c\n",
        );
        repo.write("size.h", "#define SIZE 5\n");
        repo.write(
            "other.c",
            "#include \"size.h\"\nint other(void) { return SIZE; }\n",
        );
        let functions =
            "static int one(int x) { return x > SIZE; }\nstatic int two(int x) { return x > 5; }\n";
        repo.write("main.c", format!("#include \"size.h\"\n{functions}{MAIN}"));
        repo.commit_all();
        succeeds(&repo, &["record"]);
        repo.write("size.h", "#define SIZE 1\n");
        assert!(would_run(&repo, &[]).contains("one"), "{backend}");
    }
}

#[test]
fn code_that_stays_the_same_selects_nobody() {
    for backend in ["llvm", "gcov"] {
        let written = |limit: &str| {
            format!(
                "static int one(int x) {{ return x > {limit}; }}\nstatic int two(int x) {{ return x > 5; }}\n{MAIN}"
            )
        };
        let functions = written("4").replace(MAIN, "");
        let repo = recorded(backend, "cc -w -o prog main.c", &functions);
        repo.write("main.c", written("2 + 2"));
        assert_eq!(would_run(&repo, &[]), names(&[]), "{backend}");
        // Where all is built anew, too.
        repo.write("notes", "a file that comes\n");
        assert_eq!(would_run(&repo, &[]), names(&[]), "{backend}");
        repo.write("main.c", written("1 + 4"));
        assert_eq!(would_run(&repo, &[]), names(&["one"]), "{backend}");
        repo.write("main.c", written("1 + 3"));
        assert_eq!(would_run(&repo, &[]), names(&[]), "{backend}");
    }
}

#[test]
fn who_was_skipped_because_its_code_stayed_the_same_is_not_cleared_by_an_old_trace() {
    for backend in ["llvm", "gcov"] {
        let written = |limit: &str| {
            format!(
                "static int one(int x) {{ return x > {limit}; }}\nstatic int two(int x) {{ return x > 5; }}\n{MAIN}"
            )
        };
        let functions = written("4").replace(MAIN, "");
        let repo = recorded(backend, "cc -w -o prog main.c", &functions);
        repo.write("main.c", written("2 + 2"));
        repo.write("notes", "a file that comes\n");
        repo.commit_all();
        let (_, said) = succeeds(&repo, &["run", "HEAD~1"]);
        assert!(said.contains("2 skipped safely"), "{backend}: {said}");
        let (shown, _) = succeeds(&repo, &["why", "one", "HEAD~1"]);
        assert!(shown.contains("may be skipped"), "{backend}: {shown}");
        repo.write("main.c", written("2 + 3"));
        let (printed, _) = succeeds(&repo, &["select", "HEAD"]);
        assert_eq!(printed, "one\n", "{backend}");
        assert_eq!(would_run(&repo, &[]), names(&["one"]), "{backend}");
    }
}

#[test]
fn each_witness_can_be_heard_alone() {
    let repo = recorded(
        "llvm",
        "cc -w -DLIMIT=5 -o prog main.c",
        "static int one(int x) { return x > LIMIT; }\nstatic int two(int x) { return x > 5; }\n",
    );
    repo.write(".git-rts.toml", settings("cc -w -DLIMIT=6 -o prog main.c"));
    // The command is part of the environment, so the configuration is no help; a build file is.
    assert_eq!(would_run(&repo, &[]), names(&["one", "two"]));
    let functions =
        "static int one(int x) { return x > LIMIT; }\nstatic int two(int x) { return x > 5; }\n";
    let repo = TestRepo::new();
    repo.write(".git-rts.toml", settings("sh build.sh"));
    repo.write("main.c", format!("{functions}{MAIN}"));
    repo.write("build.sh", "cc -w -DLIMIT=5 -o prog main.c\n");
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo.write("build.sh", "cc -w -DLIMIT=6 -o prog main.c\n");
    let heard = |witness: &str| would_run(&repo, &["--witness", witness]);
    assert_eq!(heard("source,object,files"), names(&["one"]));
    assert_eq!(heard("source,files"), names(&["one", "two"]));
    let (_, said) = succeeds(&repo, &["run", "HEAD", "--dry-run", "--stats"]);
    for line in [
        "source alone: 2 of 2 tests",
        "object alone: 1 of 2 tests",
        "files alone: 2 of 2 tests",
        "together: 1 of 2 tests",
    ] {
        assert!(said.contains(line), "{said}");
    }
    // Who does not build is told what building would bring.
    let hint = "hint: 'git rts run' sees what the build makes of them";
    assert!(!said.contains(hint), "{said}");
    let (_, said) = succeeds(&repo, &["select", "HEAD"]);
    assert!(said.contains(hint), "{said}");
    let (shown, _) = succeeds(&repo, &["diff", "--objects", "HEAD"]);
    assert!(
        shown.contains("changed     one") && !shown.contains("two"),
        "{shown}"
    );
}

#[test]
fn why_tells_of_the_compiled_code_once_it_is_known() {
    let repo = recorded(
        "llvm",
        "cc -w -o prog main.c",
        "static int one(int x) { return x > 4; }\nstatic int two(int x) { return x > 5; }\n",
    );
    repo.write("data", "a file that comes\n");
    repo.commit_all();
    succeeds(&repo, &["run", "HEAD~1"]);
    let (story, _) = succeeds(&repo, &["why", "two", "HEAD~1"]);
    assert!(story.contains("may be skipped"), "{story}");
    assert!(
        story.contains("object: the compiled code of everything it executed is identical"),
        "{story}"
    );
    assert!(
        story.contains("files: neither it nor a process that it started looked at it or for it"),
        "{story}"
    );
}

#[test]
fn a_build_that_builds_something_else_with_us_ends() {
    for backend in ["llvm", "gcov"] {
        let inner = recorded(
            backend,
            "cc -w -o prog main.c",
            "static int one(int x) { return x > 4; }\nstatic int two(int x) { return x > 5; }\n",
        );
        let repo = TestRepo::new();
        repo.git(&["config", "rts.backend", backend]);
        let program = env!("CARGO_BIN_EXE_git-rts");
        // As many processes as a loop needs to be noticed, and not as many as the machine has.
        repo.write(
            "build.sh",
            format!(
                "ulimit -v 8000000; ulimit -t 60\n(cd {} && {program} run --all) && cc -w -o prog main.c\n",
                inner.top().display()
            ),
        );
        repo.write(".git-rts.toml", settings("sh build.sh"));
        let functions =
            "static int one(int x) { return 0; }\nstatic int two(int x) { return 0; }\n";
        repo.write("main.c", format!("{functions}{MAIN}"));
        repo.commit_all();
        let (_, said) = succeeds(&repo, &["record"]);
        assert!(said.contains("2 tests: 2 passed"), "{backend}: {said}");
    }
}

#[test]
fn a_program_that_only_tries_out_the_compiler_is_of_no_test() {
    for backend in ["llvm", "gcov"] {
        let repo = TestRepo::new();
        repo.git(&["config", "rts.backend", backend]);
        repo.write(
            "meson.build",
            "project('x', 'c')\ntest('one', executable('one', 'one.c'))\ntest('two', executable('two', 'two.c'))\n",
        );
        repo.write("one.c", "int main(void) { return 0; }\n");
        repo.write("two.c", "int main(void) { int x = 0; return x; }\n");
        repo.commit_all();
        succeeds(&repo, &["record"]);
        repo.write("one.c", "int main(void) { return 1 - 1; }\n");
        let (printed, _) = succeeds(&repo, &["select", "HEAD"]);
        assert_eq!(printed, "one\n", "{backend}");
    }
}

#[test]
fn a_test_that_is_gone_is_not_listed_once_that_is_known() {
    let repo = TestRepo::new();
    repo.write(
        ".git-rts.toml",
        "[build]\ncommand = \"cc -w -o prog main.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat list\"\nrun = \"./prog {test}\"\n",
    );
    repo.write("list", "one\ntwo\n");
    repo.write("main.c", "int main(void) { return 0; }\n");
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo.write("list", "one\nthree\n");
    repo.write(
        "main.c",
        "int main(void) { volatile int x = 0; return x; }\n",
    );
    succeeds(&repo, &["run", "HEAD"]);
    let (printed, _) = succeeds(&repo, &["select", "HEAD"]);
    let printed: BTreeSet<String> = printed.lines().map(str::to_owned).collect();
    assert_eq!(printed, names(&["one", "three"]));
}

#[test]
fn a_shallow_clone_at_its_upstream_selects_everything() {
    let origin = recorded(
        "llvm",
        "cc -w -o prog main.c",
        "static int one(int x) { return x > 4; }\nstatic int two(int x) { return x > 5; }\n",
    );
    origin.write("notes", "x\n");
    origin.commit_all();
    let repo = TestRepo::empty_folder();
    let source = format!("file://{}", origin.top().display());
    repo.git(&["clone", "-q", "--depth", "1", &source, "clone"]);
    let output = repo
        .rts_command()
        .current_dir(repo.top().join("clone"))
        .arg("run")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2 passed, 0 skipped safely"), "{said}");
}

#[test]
fn nobody_is_told_to_ignore_what_the_build_or_a_test_reads() {
    let repo = TestRepo::new();
    let config = "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"cat Makefile notes && ./prog {test}\"\n";
    repo.commit(&[
        (".git-rts.toml", config),
        (".gitignore", "prog\n"),
        ("Makefile", "prog: p.c\n\tcc -o prog p.c\n"),
        ("notes", "one\n"),
        ("p.c", "int main(void)\n{\n    return 0;\n}\n"),
    ]);
    assert!(repo.rts(&["run"]).status.success());
    let said = |file: &str, text: &str| {
        repo.write(file, text);
        let output = repo.rts(&["run", "--dry-run"]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let makefile = said("Makefile", "prog: p.c\n\tcc -o prog p.c\n# more\n");
    assert!(makefile.contains("Makefile selects 1 test"), "{makefile}");
    assert!(!makefile.contains("files.ignore"), "{makefile}");
    let both = said("notes", "two\n");
    let read = "notes selects 1 test: it was looked at in the last run\n";
    assert!(both.contains("Makefile selects 1 test"), "{both}");
    assert!(both.contains(read), "{both}");
    assert!(!both.contains("files.ignore"), "{both}");
}

#[test]
fn what_a_new_test_may_read_is_not_called_ignorable() {
    let repo = TestRepo::new();
    let config = |ignored: &str| {
        format!(
            "[tests]\nrunner = \"command\"\nlist = \"cat list\"\nrun = \"sh {{test}}\"\n[files]\nignore = [{ignored}]\n"
        )
    };
    repo.commit(&[
        (".git-rts.toml", &config("")),
        ("list", "one.sh\n"),
        ("one.sh", "true\n"),
    ]);
    assert!(repo.rts(&["run"]).status.success());
    let said = || {
        let output = repo.rts(&["run"]);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (file, text) in [
        ("list", "one.sh\ntwo.sh\n"),
        ("two.sh", "cat data\n"),
        ("data", "1\n"),
    ] {
        repo.write(file, text);
    }
    let new = said();
    assert!(
        new.contains("2 of 2 tests") || new.contains("1 of 2 tests"),
        "{new}"
    );
    assert!(!new.contains("files.ignore"), "{new}");
    // Whoever ignores it all the same is told who reads it.
    repo.write(".git-rts.toml", config("\"data\""));
    repo.commit_all();
    said();
    repo.write("data", "2\n");
    let ignored = said();
    assert!(ignored.contains("0 of 2 tests"), "{ignored}");
    let warning = "warning: 'files.ignore' says that no test notices 'data', which changed, but 'two.sh' opened it";
    assert!(ignored.contains(warning), "{ignored}");
}

#[test]
fn another_worktree_of_the_same_commit_selects_nobody() {
    for backend in ["llvm", "gcov"] {
        let functions = "#include <assert.h>\nint one(int x) { assert(x < 99 || puts(__FILE__)); return 0; }\n\
                         int two(int x) { return __FILE__[x] == 'x'; }\n";
        let repo = recorded(backend, "cc -w -O1 -o prog $PWD/*.c", functions);
        let beside = repo.top().with_file_name("beside");
        let place = beside.to_str().unwrap();
        repo.git(&["worktree", "add", "--quiet", place, "HEAD"]);
        let mut command = repo.rts_command();
        let command = command.args(["run", "--dry-run"]).current_dir(&beside);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, b"", "{backend}: {output:?}");
    }
}

#[test]
fn a_program_that_finds_its_libraries_in_the_build_does_so_in_every_worktree() {
    let build = |path: &str| {
        format!(
            "cc -w -shared -fPIC -o libf.so f.c && cc -w -o prog main.c -L. -lf -Wl,-rpath,$PWD{path}"
        )
    };
    let repo = TestRepo::new();
    repo.write(".git-rts.toml", settings(&build("")));
    repo.write(
        "f.c",
        "int one(int x) { return 0; }\nint two(int x) { return 0; }\n",
    );
    repo.write("main.c", format!("int one(int); int two(int);\n{MAIN}"));
    repo.commit_all();
    succeeds(&repo, &["record"]);
    let beside = repo.top().with_file_name("beside");
    repo.git(&[
        "worktree",
        "add",
        "--quiet",
        beside.to_str().unwrap(),
        "HEAD",
    ]);
    let there = |arguments: &[&str]| {
        let mut command = repo.rts_command();
        let output = command.args(arguments).current_dir(&beside).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (selected, said) = there(&["run", "--dry-run"]);
    assert_eq!(selected, "", "{said}");
    assert!(said.contains("; nothing changed since"), "{said}");
    // Another place in the build is another one, whatever stands there.
    std::fs::write(beside.join(".git-rts.toml"), settings(&build(":$PWD/lib"))).unwrap();
    let (selected, said) = there(&["run", "--dry-run"]);
    assert_eq!(selected.lines().count(), 2, "{selected}{said}");
}
