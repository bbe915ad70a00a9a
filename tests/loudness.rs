//! How much is said on stderr: `--quiet` and `--verbose`.

#![allow(clippy::unwrap_used)]

mod test_repo;

use std::process::Output;

use test_repo::TestRepo;

/// With three tests, of which one passes, one skips itself and one asks a file.
fn project() -> TestRepo {
    let repo = TestRepo::new();
    let config = "[build]\ncommand = \"cc -o prog p.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' fine skips asks\"\nrun = \"./prog {test}\"\n";
    let source = "#include <string.h>\n\
        static int asks(void)\n{\n    return 0;\n}\n\
        int main(int argc, char **argv)\n{\n\
        \x20   if (!strcmp(argv[1], \"skips\"))\n        return 77;\n\
        \x20   return strcmp(argv[1], \"asks\") ? argc - 2 : asks();\n}\n";
    repo.commit(&[
        (".git-rts.toml", config),
        (".gitignore", "prog\n"),
        ("p.c", source),
    ]);
    repo
}

fn fail(repo: &TestRepo) {
    let text = std::fs::read_to_string(repo.top().join("p.c")).unwrap();
    repo.write("p.c", text.replacen("return 0;", "return 1;", 1));
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn quiet_says_only_what_failed() {
    let repo = project();
    let recorded = repo.rts(&["record", "--quiet"]);
    assert!(recorded.status.success());
    assert_eq!(stderr(&recorded), "");
    let run = repo.rts(&["-q", "run", "--all"]);
    assert!(run.status.success());
    assert_eq!(stderr(&run), "");
    fail(&repo);
    let selected = repo.rts(&["select", "-q"]);
    assert_eq!(String::from_utf8_lossy(&selected.stdout), "asks\n");
    assert_eq!(stderr(&selected), "");
    let failed = repo.rts(&["run", "-q"]);
    assert_eq!(failed.status.code(), Some(100));
    let said = stderr(&failed);
    assert!(said.starts_with("FAIL asks ("), "{said}");
    assert!(said.contains("\nerror: 1 test failed\nhint: "), "{said}");
    assert!(!said.contains("skipped safely"), "{said}");
    // What is not as it should be is said all the same.
    let limited = repo.rts(&["select", "-q", "--technique=random", "--limit=1"]);
    assert!(
        stderr(&limited).starts_with("warning: "),
        "{}",
        stderr(&limited)
    );
}

#[test]
fn verbose_tells_of_each_test() {
    let repo = project();
    let recorded = repo.rts(&["record", "--verbose"]);
    let said = stderr(&recorded);
    for line in ["\nPASS fine (", "\nPASS asks (", "\nSKIP skips ("] {
        assert!(said.contains(line), "{said}");
    }
    fail(&repo);
    let run = repo.rts(&["run", "-v", "--all"]);
    let said = stderr(&run);
    for line in ["\nPASS fine (", "\nSKIP skips (", "\nFAIL asks ("] {
        assert_eq!(said.matches(line).count(), 1, "{said}");
    }
    let usual = repo.rts(&["run", "--all"]);
    assert!(!stderr(&usual).contains("PASS"), "{}", stderr(&usual));
}

#[test]
fn nobody_can_have_both() {
    let output = project().rts(&["run", "-q", "-v"]);
    assert_eq!(output.status.code(), Some(2));
}
