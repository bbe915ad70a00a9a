//! Several changes, one after the other: who was skipped for a good reason is not skipped for a bad one later.

use std::collections::BTreeSet;

use crate::builds::succeeds;
use crate::test_repo::TestRepo;

pub(crate) const BACKENDS: [&str; 2] = ["llvm", "gcov"];
const MAIN: &str =
    "int f(int); int main(int count, char **words) { return count > 1 ? 0 : f(2) != 4; }\n";

/// A project with a Makefile, of which the first test executes `f`, and the second does not.
pub(crate) fn project(backend: &str, makefile: &str, files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "rts.backend", backend]);
    repo.write(
        ".git-rts.toml",
        "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo one; echo two\"\nrun = \"sh {test}.sh\"\n",
    );
    repo.write(".gitignore", "*.o\n*.so*\nprog\n");
    repo.write("Makefile", makefile);
    repo.write("main.c", MAIN);
    repo.write("one.sh", "./prog\n");
    repo.write("two.sh", "./prog x\n");
    for (name, text) in files {
        repo.write(name, text);
    }
    repo.commit_all();
    succeeds(&repo, &["record"]);
    repo
}

/// Commits and runs; nobody can notice.
#[track_caller]
pub(crate) fn is_noticed_by_nobody(repo: &TestRepo) {
    repo.commit_all();
    let (_, said) = succeeds(repo, &["run", "HEAD~1"]);
    assert!(said.contains("2 skipped safely"), "{said}");
}

#[track_caller]
pub(crate) fn is_noticed_by_the_first(repo: &TestRepo, backend: &str) {
    let (printed, said) = succeeds(repo, &["run", "HEAD", "--dry-run"]);
    let printed: BTreeSet<&str> = printed.lines().collect();
    assert!(printed.contains("one"), "{backend}: {said}");
}

const SINGLE: &str =
    "prog: main.c f.c Makefile $(wildcard *.h)\n\tcc -w -O1 -c f.c\n\tcc -w -o prog main.c f.o\n";
const DOUBLE: &str = "int f(int a) { return a * 2; }\n";
const TRIPLE: &str = "int f(int a) { return a * 3; }\n";

#[test]
fn a_function_that_moved_with_the_same_code_is_not_forgotten() {
    for backend in BACKENDS {
        let repo = project(backend, SINGLE, &[("f.c", DOUBLE)]);
        repo.write("f.c", "#include \"f.h\"\n");
        repo.write("f.h", DOUBLE);
        // Whether the code counts as the same is up to the compiler.
        repo.commit_all();
        succeeds(&repo, &["run", "HEAD~1"]);
        repo.write("f.h", TRIPLE);
        repo.write("notes", "something comes, so that all is built anew\n");
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn a_source_that_takes_the_place_of_an_equal_one_is_not_overlooked() {
    for backend in BACKENDS {
        let files = [("f.c", DOUBLE), ("g.c", DOUBLE)];
        let repo = project(backend, SINGLE, &files);
        repo.write(
            "Makefile",
            SINGLE
                .replace("f.c", "g.c")
                .replace("-c g.c", "-c g.c -o f.o"),
        );
        is_noticed_by_nobody(&repo);
        repo.write("g.c", TRIPLE);
        is_noticed_by_the_first(&repo, backend);
    }
}

const LIBRARY: &str = "V = 8\nprog: main.c f.c Makefile\n\trm -f libf.so*\n\tcc -w -shared -fPIC $(FLAGS) -Wl,-soname,libf.so.1 -o libf.so.1.$(V) f.c\n\tln -s libf.so.1.$(V) libf.so.1\n\tln -s libf.so.1 libf.so\n\tcc -w -o prog main.c -L. -lf -Wl,-rpath,'$(CURDIR)'\n";

#[test]
fn a_library_that_got_another_version_is_still_known_by_its_link() {
    for backend in BACKENDS {
        let source = "#ifndef K\n#define K 2\n#endif\nint f(int a) { return a * K; }\n";
        let repo = project(backend, LIBRARY, &[("f.c", source)]);
        let released = LIBRARY.replace("V = 8", "V = 9");
        repo.write("Makefile", &released);
        is_noticed_by_nobody(&repo);
        repo.write("Makefile", format!("FLAGS = -DK=3\n{released}"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_is_executed_where_the_build_copied_it_to_counts() {
    for backend in BACKENDS {
        let outside = tempfile::tempdir().unwrap();
        let place = outside.path().display();
        let makefile = format!(
            "prog: main.c f.c Makefile\n\tcc -w -shared -fPIC $(FLAGS) -o libf.so f.c\n\tcp libf.so {place}\n\tcc -w -o prog main.c -L. -lf -Wl,-rpath,{place}\n"
        );
        let source = "#ifndef K\n#define K 2\n#endif\nint f(int a) { return a * K; }\n";
        let repo = project(backend, &makefile, &[("f.c", source)]);
        repo.write("Makefile", format!("FLAGS = -DK=3\n{makefile}"));
        is_noticed_by_the_first(&repo, backend);
    }
}

/// A header that the build makes; the first test notices a number above 2 in it.
fn generated(backend: &str, makefile: &str) -> TestRepo {
    let main = "#include \"tab.h\"\nint main(int count, char **words) { volatile int n = N; return count > 1 ? 0 : n > 2; }\n";
    let ignored = "gen\nprog\ntab.h\n";
    let files = [
        ("gen.c", GENERATOR),
        ("a.h", "#define V 1\n"),
        ("main.c", main),
        (".gitignore", ignored),
    ];
    project(backend, makefile, &files)
}

/// The generator is run when this makes it necessary.
fn rerun_by(prerequisites: &str) -> String {
    format!(
        "all: prog\ngen: gen.c\n\tcc -w -o gen gen.c\ntab.h: {prerequisites}\n\t./gen > tab.h\n\
         prog: main.c tab.h gen\n\tcc -w -I. -o prog main.c\n"
    )
}

const GENERATOR: &str = "#include <stdio.h>\nint main(void) {\n  int n = 1;\n  printf(\"#define N %d\\n\", n);\n  return 0;\n}\n";

#[test]
fn what_makes_sources_is_known_after_it_was_built_anew() {
    for backend in BACKENDS {
        let repo = generated(backend, &rerun_by("gen"));
        // Only a constant differs: the program counts as it did before.
        repo.write("gen.c", GENERATOR.replace("n = 1", "n = 2"));
        repo.commit_all();
        succeeds(&repo, &["run", "HEAD~1"]);
        repo.write("gen.c", GENERATOR.replace("n = 1", "n = 3"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_runs_while_the_project_is_built_is_not_told_as_if_the_test_executed_it() {
    for backend in BACKENDS {
        let repo = generated(backend, &rerun_by("gen"));
        let tests = succeeds(&repo, &["history", "show"]).0;
        let test = tests.lines().next().expect("a test");
        let (shown, _) = succeeds(&repo, &["history", "show", test]);
        let gen_c = shown.lines().skip_while(|line| *line != "gen.c").nth(1);
        let is_told =
            gen_c.is_some_and(|line| line.ends_with("counted while the project was built"));
        assert!(is_told && shown.matches("while").count() == 1, "{shown}");
        repo.write("gen.c", GENERATOR.replace("n = 1", "n = 3"));
        let (why, _) = succeeds(&repo, &["why", test]);
        assert!(why.contains("it or the build crosses"), "{backend}: {why}");
    }
}

#[test]
fn what_makes_sources_and_ran_again_after_it_was_linked_anew_is_no_doubt() {
    for backend in BACKENDS {
        let repo = generated(backend, &rerun_by("gen"));
        let idle = |by: u8| {
            let main = GENERATOR.replace("n = 1", "n = 2");
            format!("{main}int idle(int a) {{ return a - {by}; }}\n")
        };
        repo.write("gen.c", idle(1));
        repo.commit_all();
        succeeds(&repo, &["run", "HEAD~1"]);
        for by in [2, 3] {
            repo.write("gen.c", idle(by));
            is_noticed_by_nobody(&repo);
        }
        repo.write("gen.c", idle(3).replace("n = 2", "n = 3"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_makes_sources_and_was_made_as_before_once_more_is_no_doubt() {
    let repo = generated("llvm", &rerun_by("gen"));
    let last = GENERATOR.replace("n = 1", "n = 0");
    for text in [&GENERATOR.replace("n = 1", "n = 2"), GENERATOR, &last] {
        repo.write("gen.c", text);
        repo.commit_all();
        succeeds(&repo, &["run", "HEAD~1"]);
    }
    repo.write("gen.c", format!("{last}int idle(int a) {{ return a; }}\n"));
    is_noticed_by_nobody(&repo);
}

#[test]
fn another_runner_selects_everything_without_a_build_too() {
    let repo = project("gcov", SINGLE, &[("f.c", DOUBLE)]);
    assert_eq!(succeeds(&repo, &["select"]).0, "");
    repo.git(&["config", "rts.runner", "make"]);
    let (printed, said) = succeeds(&repo, &["select"]);
    assert_eq!(printed.lines().count(), 2, "{said}");
    assert!(
        said.contains("runner was 'command' and is 'make'"),
        "{said}"
    );
    repo.git(&["config", "rts.runner", "mak"]);
    let (_, said) = succeeds(&repo, &["select"]);
    assert!(said.contains("there is no runner 'mak'"), "{said}");
}

#[test]
fn what_makes_sources_and_does_not_run_again_is_a_doubt() {
    let repo = generated("llvm", &rerun_by("| gen"));
    repo.write("gen.c", GENERATOR.replace("n = 1", "n = 2"));
    repo.commit_all();
    succeeds(&repo, &["run", "HEAD~1"]);
    repo.write("gen.c", GENERATOR.replace("n = 1", "n = 3"));
    is_noticed_by_the_first(&repo, "llvm");
}

#[test]
fn who_executes_the_same_code_in_other_words_is_known_by_the_functions_that_it_executes() {
    for backend in BACKENDS {
        let idle = "int idle(int a) { return a - 1; }\n";
        let repo = project(backend, SINGLE, &[("f.c", &format!("{DOUBLE}{idle}"))]);
        let words = "#define TWO 2\nint f(int a) { return a * TWO; }\n";
        repo.write("f.c", format!("{words}{idle}"));
        repo.write("notes", "something comes, so that all is built anew\n");
        is_noticed_by_nobody(&repo);
        // What it does not execute does not count.
        repo.write("f.c", format!("{words}{}", idle.replace("- 1", "- 2")));
        let (printed, said) = succeeds(&repo, &["run", "HEAD", "--dry-run"]);
        assert_eq!(printed, "", "{backend}: {said}");
        repo.write("f.c", format!("{}{idle}", words.replace("TWO 2", "TWO 3")));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn another_object_with_a_copy_of_an_inline_function_leaves_traces_as_they_are() {
    for backend in BACKENDS {
        let makefile = "prog: $(wildcard *.c *.h) Makefile\n\tfor f in *.c; do cc -w -c $$f || exit 1; done\n\tcc -w -o prog *.o\n";
        let header = "static inline int twice(int a) { return a * 2; }\n";
        let source = "#include \"t.h\"\nint f(int a) { return twice(a); }\nint idle(int a) { return a - 1; }\n";
        let repo = project(backend, makefile, &[("f.c", source), ("t.h", header)]);
        let words = format!("#define TWO 2\n{}", header.replace("* 2", "* TWO"));
        repo.write("t.h", &words);
        repo.write(
            "g.c",
            "#include \"t.h\"\nint g(int a) { return twice(a) + 1; }\n",
        );
        is_noticed_by_nobody(&repo);
        repo.write("f.c", source.replace("- 1", "- 2"));
        let (printed, said) = succeeds(&repo, &["run", "HEAD", "--dry-run"]);
        assert_eq!(printed, "", "{backend}: {said}");
        repo.write("f.c", source);
        repo.write("t.h", words.replace("TWO 2", "TWO 3"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_makes_sources_and_is_removed_afterwards_counts() {
    for backend in BACKENDS {
        let makefile = "prog: main.c gen.c\n\tcc -w -o gen gen.c && ./gen > tab.h && rm gen\n\tcc -w -I. -o prog main.c\n";
        let repo = generated(backend, makefile);
        repo.write("gen.c", GENERATOR.replace("n = 1", "n = 3"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_is_made_of_a_header_by_other_programs_reaches_who_executes_it() {
    for backend in BACKENDS {
        let makefile = "prog: main.c tab.h\n\tcc -w -I. -o prog main.c\ntab.h: a.h\n\tsed s/V/N/ a.h > tab.h\n";
        let repo = generated(backend, makefile);
        repo.write("a.h", "#define V 2\n");
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn what_makes_sources_without_its_environment_counts() {
    for backend in BACKENDS {
        let makefile = "prog: main.c gen.c\n\tcc -w -o gen gen.c && env -i ./gen > tab.h\n\tcc -w -I. -o prog main.c\n";
        let repo = generated(backend, makefile);
        repo.write("gen.c", GENERATOR.replace("n = 1", "n = 3"));
        is_noticed_by_the_first(&repo, backend);
    }
}
