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

/// A second version, in which a test fails.
fn with_a_past() -> TestRepo {
    let repo = project();
    fail(&repo);
    repo.commit_all();
    repo
}

#[test]
fn a_replay_and_an_audit_say_nothing_to_the_quiet_while_nothing_is_missed() {
    let repo = with_a_past();
    for arguments in [&["replay", "HEAD~1", "-q"][..], &["-q", "audit", "-n", "2"]] {
        let output = repo.rts(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    }
    // What is asked for in a form for programs is data, and a miss is told in any case.
    let asked = repo.json(&["replay", "HEAD~1", "-q", "--format", "json"]);
    assert_eq!(asked["trials"].as_array().unwrap().len(), 1);
    let mut wrong = repo.rts_command();
    wrong.args(["replay", "HEAD~1", "-q", "--restart"]);
    let wrong = wrong.env("GIT_RTS_OVERLOOK_DANGERS", "1").output().unwrap();
    assert_eq!(wrong.status.code(), Some(102), "{}", stderr(&wrong));
    let told = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(told.contains("\nMISS "), "{told}");
    let said = stderr(&wrong);
    assert!(said.starts_with("error: 1 test skipped wrongly"), "{said}");
}

#[test]
fn a_replay_and_an_audit_tell_the_verbose_of_each_test_of_each_step() {
    let repo = with_a_past();
    let replay = repo.rts(&["replay", "HEAD~1", "-v"]);
    let said = stderr(&replay);
    for line in [
        ": 1 of 3 tests selected, 1 noticed\n",
        "\n  FAIL asks (",
        "), selected, noticed it\n",
        "\n  PASS fine (",
        "\n  SKIP skips (",
        "), skipped\n",
    ] {
        assert!(said.contains(line), "'{line}' in {said}");
    }
    let audit = repo.rts(&["audit", "-v", "-n", "2"]);
    let said = stderr(&audit);
    assert_eq!(said.matches("\np.c:").count(), 2, "{said}");
    assert_eq!(said.matches(" fine (").count(), 2, "{said}");
    let usual = repo.rts(&["replay", "HEAD~1", "--restart"]);
    assert!(!stderr(&usual).contains("PASS"), "{}", stderr(&usual));
}

#[test]
fn nobody_can_have_both() {
    let output = project().rts(&["run", "-q", "-v"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn of_a_failed_test_the_lines_are_shown_that_tell_of_it() {
    let repo = TestRepo::new();
    let config = "[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"sh {test}.sh\"\n[build]\ncommand = \"true\"\n";
    let test = "printf '\\033[31mFAIL\\033[0m: first, %s\\n' 'expected 3'\nfor number in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '\\033[32mPASS\\033[0m: %s\\n' $number; done\nexit 1\n";
    repo.commit(&[(".git-rts.toml", config), ("one.sh", test)]);
    let run = repo.rts(&["run"]);
    let said = stderr(&run);
    assert!(
        said.contains("\n     | FAIL: first, expected 3\n"),
        "{said}"
    );
    assert!(!said.contains("PASS"), "{said}");
}
