//! An edit of C++ is compiled into what was built before, and what the build passes over is noticed.

use std::fs;
use std::time::SystemTime;

use crate::test_repo::TestRepo;
use crate::{BACKENDS, change};

/// The Makefile does not know who includes the header.
const MAKEFILE: &str = "TESTS = t1 t2\nall: $(TESTS)\n%.o: %.cc\n\tc++ -c -o $@ $<\n\
    t1: t1.o\n\tc++ -o $@ t1.o\nt2: t2.o\n\tc++ -o $@ t2.o\n\
    check: all\n\t@for t in $(TESTS); do ./$$t || exit 1; done\n";

const T1: &str = "#include \"n.hpp\"\nint main() { return n() != 1; }\n";
const T2: &str =
    "static int two(int x) { return x + 1; }\nint main(int n, char **) { return two(n) != 2; }\n";

fn recorded(backend: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "rts.backend", backend]);
    repo.write("Makefile", MAKEFILE);
    repo.write("n.hpp", "inline int n() { return 1; }\n");
    repo.write("t1.cc", T1);
    repo.write("t2.cc", T2);
    repo.commit_all();
    let output = repo.rts(&["run"]);
    assert_eq!(output.status.code(), Some(0), "{backend}: {output:?}");
    repo
}

/// When an object of the copy was made.
fn made(repo: &TestRepo, object: &str) -> SystemTime {
    let tree = repo.top().join(".git/rts/build/main/tree");
    let metadata = fs::metadata(tree.join(object)).unwrap();
    metadata.modified().unwrap()
}

/// How a run ended, and what it said.
fn run(repo: &TestRepo) -> (Option<i32>, String) {
    let output = repo.rts(&["run", "HEAD", "-v"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn an_edit_compiles_only_the_source_that_changed() {
    for backend in BACKENDS {
        let repo = recorded(backend);
        let before = ["t1.o", "t2.o"].map(|object| made(&repo, object));
        change(&repo, "t2.cc", "x + 1", "x + 2");
        let (code, said) = run(&repo);
        assert_eq!(code, Some(100), "{backend}: {said}");
        assert!(said.contains("1 of 2 tests"), "{backend}: {said}");
        let now = ["t1.o", "t2.o"].map(|object| made(&repo, object));
        assert_eq!(before[0], now[0], "{backend}: {said}");
        assert!(before[1] < now[1], "{backend}: {said}");
    }
}

#[test]
fn a_header_that_the_build_passes_over_has_everything_built_anew() {
    for backend in BACKENDS {
        let repo = recorded(backend);
        change(&repo, "n.hpp", "return 1", "return 2");
        let (code, said) = run(&repo);
        assert_eq!(code, Some(100), "{backend}: {said}");
        assert!(said.contains("1 of 2 tests"), "{backend}: {said}");
        let why = "building anew with counters: the build passed over something that changed";
        assert!(said.contains(why), "{backend}: {said}");
    }
}

/// A Makefile of two programs, each of one object, with the rules for these: only one of the two knows the header.
fn makefile(first: &str, second: &str) -> String {
    format!(
        "TESTS = t1 t2\nall: $(TESTS)\nt1: a1.o\n\tc++ -o $@ a1.o\nt2: a2.o\n\tc++ -o $@ a2.o\n{first}\n{second}\n\
        check: all\n\t@for t in $(TESTS); do ./$$t || exit 1; done\n"
    )
}

#[test]
fn what_a_build_passes_over_is_noticed_whatever_became_of_it() {
    let renamed = "-o $@.tmp && mv $@.tmp $@";
    let copied = "-o tmp.o && cp tmp.o $@";
    let cases = [
        // Of one source, under names that do not stay.
        makefile(
            &format!("a1.o: a.cc n.hpp\n\tc++ -DN=1 -c a.cc {renamed}"),
            &format!("a2.o: a.cc\n\tc++ -DN=2 -c a.cc {renamed}"),
        ),
        // Under one name, one after the other.
        makefile(
            &format!("a1.o: b.cc a2.o n.hpp\n\tc++ -DN=1 -c b.cc {copied}"),
            &format!("a2.o: a.cc\n\tc++ -DN=2 -c a.cc {copied}"),
        ),
        // Who asks for a list of headers gets it, whatever the source is called.
        makefile(
            "a1.o: b.cc n.hpp\n\tc++ -DN=1 -c b.cc -o $@",
            "a2.o: a2.c++\n\tc++ -DN=2 -MMD -c a2.c++",
        ),
        // Headers that are compiled in advance.
        makefile(
            "n.hpp.gch: n.hpp\n\tc++ -o $@ n.hpp\na1.o: b.cc n.hpp.gch\n\tc++ -DN=1 -c b.cc -o $@",
            "a2.o: a.cc | n.hpp.gch\n\tc++ -DN=2 -c a.cc -o $@",
        ),
        // A source that comes through a pipe.
        makefile(
            "a1.o: b.cc n.hpp\n\tc++ -DN=1 -c b.cc -o $@",
            "a2.o:\n\tc++ -DN=2 -I. -x c++ -c - -o $@ < a.cc",
        ),
    ];
    let source = "#include \"n.hpp\"\nint main() { return n(N); }\n";
    for backend in BACKENDS {
        for makefile in &cases {
            let repo = TestRepo::new();
            repo.git(&["config", "rts.backend", backend]);
            repo.write("Makefile", makefile);
            repo.write("n.hpp", "inline int n(int of) { return of * 0; }\n");
            for name in ["a.cc", "b.cc", "a2.c++"] {
                repo.write(name, source);
            }
            repo.commit_all();
            let output = repo.rts(&["run"]);
            assert_eq!(output.status.code(), Some(0), "{makefile}: {output:?}");
            change(&repo, "n.hpp", "of * 0", "of == 2");
            let (code, said) = run(&repo);
            assert_eq!(code, Some(100), "{backend}: {makefile}: {said}");
            assert!(said.contains("FAIL t2"), "{backend}: {makefile}: {said}");
        }
    }
}

#[test]
fn a_source_that_comes_has_everything_built_anew_and_is_named() {
    let repo = recorded("llvm");
    repo.write("n.cc", "");
    let (code, said) = run(&repo);
    assert_eq!(code, Some(0), "{said}");
    let why = "building anew with counters: 'n.cc' came or went";
    assert!(said.contains(why), "{said}");
}
