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

#[test]
fn a_source_that_comes_has_everything_built_anew_and_is_named() {
    let repo = recorded("llvm");
    repo.write("n.cc", "");
    let (code, said) = run(&repo);
    assert_eq!(code, Some(0), "{said}");
    let why = "building anew with counters: 'n.cc' came or went";
    assert!(said.contains(why), "{said}");
}
