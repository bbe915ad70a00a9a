//! Headers from outside of the tree may include files of it, or ask for them: nobody in the tree tells.

use crate::test_repo::TestRepo;

const SETTINGS: &str = "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo t1; echo t2\"\nrun = \"./{test}\"\n[coverage]\nbackend = \"BACKEND\"\n";

/// A library whose users bring settings along, and may bring more.
const HEADER: &str = "#include <conf.h>\n#if __has_include(<more.h>)\n#include <more.h>\n#endif\n#ifndef MORE\n#define MORE 0\n#endif\n#define M (N + MORE)\n";

struct Project {
    repo: TestRepo,
    _outside: tempfile::TempDir,
}

fn recorded(backend: &str) -> Project {
    let repo = TestRepo::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("lib.h"), HEADER).unwrap();
    let makefile = format!(
        "all: t1 t2\nt1: t1.c\n\tcc -o t1 t1.c\nt2: t2.c conf/conf.h\n\tcc -Iconf -isystem {} -o t2 t2.c\n",
        outside.path().display()
    );
    repo.write(".git-rts.toml", SETTINGS.replace("BACKEND", backend));
    repo.write("Makefile", makefile);
    repo.write("conf/conf.h", "#define N 1\n");
    repo.write("conf/other.h", "#define OTHER 1\n");
    repo.write("t1.c", "int main(void) { return 0; }\n");
    repo.write(
        "t2.c",
        "#include <lib.h>\nint main(void) { return M != 1; }\n",
    );
    repo.commit_all();
    assert!(repo.rts(&["record"]).status.success());
    Project {
        repo,
        _outside: outside,
    }
}

#[test]
fn a_file_that_a_header_from_outside_includes_reaches_whom_nobody_sees() {
    for backend in ["llvm", "gcov"] {
        for (file, text) in [
            ("conf/conf.h", "#define N 2\n"),
            ("conf/more.h", "#define MORE 1\n"),
        ] {
            let project = recorded(backend);
            let repo = &project.repo;
            repo.write(file, text);
            repo.commit_all();
            let selected = repo.rts(&["select", "HEAD~1"]);
            let selected = String::from_utf8(selected.stdout).unwrap();
            assert!(selected.contains("t2"), "{backend} {file}: {selected}");
            let run = repo.rts(&["run", "HEAD~1"]);
            assert_eq!(run.status.code(), Some(100), "{backend} {file}: {run:?}");
        }
    }
}

#[test]
fn a_file_that_no_header_from_outside_names_reaches_nobody_by_that() {
    let project = recorded("llvm");
    let repo = &project.repo;
    repo.write("conf/other.h", "#define OTHER 2\n");
    repo.commit_all();
    let selected = repo.rts(&["select", "HEAD~1"]);
    assert!(
        selected.status.success() && selected.stdout.is_empty(),
        "{selected:?}"
    );
}
