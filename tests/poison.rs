//! Nothing that happens around a run leaves a history by which a later one skips wrongly.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use test_repo::TestRepo;

/// Two tests, `one` and `two`, that print and check what `value.h` and their function say. Each waits while the file `hold` in the
/// work tree is there, so that something can happen meanwhile.
fn files(repo: &TestRepo) -> Vec<(&'static str, String)> {
    let hold = repo.top().join("hold");
    let run = format!(
        "while [ -e '{}' ]; do sleep 0.02; done; ./prog {{test}}",
        hold.display()
    );
    let config = format!(
        "[build]\ncommand = \"make -s\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one two\"\nrun = \"{run}\"\n[files]\nignore = [\"hold\"]\n"
    );
    vec![
        (".git-rts.toml", config),
        (".gitignore", "hold\n".to_owned()),
        (
            "Makefile",
            "prog: prog.c other.c value.h\n\tcc -o prog prog.c other.c\n".to_owned(),
        ),
        ("value.h", "#define ONE 1\n#define TWO 2\n".to_owned()),
        ("other.c", "int other(void)\n{\n    return 0;\n}\n".to_owned()),
        (
            "prog.c",
            "#include \"value.h\"\nint other(void);\nstatic int one(void)\n{\n    return ONE != 1;\n}\nstatic int two(void)\n{\n    return TWO != 2 || other();\n}\nint main(int argc, char **argv)\n{\n    return argc < 2 || (argv[1][0] == 'o' ? one() : two());\n}\n".to_owned(),
        ),
    ]
}

fn project() -> TestRepo {
    let repo = TestRepo::new();
    let files = files(&repo);
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    repo.commit(&files);
    repo
}

#[track_caller]
fn runs(repo: &TestRepo, arguments: &[&str]) -> String {
    let output = repo.rts(arguments);
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn selected(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let output = repo.rts(&[&["select", "--order", "listed"], arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

fn edit(repo: &TestRepo, path: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(repo.top().join(path)).unwrap();
    assert!(text.contains(from), "{path}: {text}");
    repo.write(path, text.replacen(from, to, 1));
}

/// Starts a run, does something once its tests have begun, and lets it end.
fn meanwhile(repo: &TestRepo, arguments: &[&str], act: impl FnOnce()) {
    repo.write("hold", "");
    let mut run = repo.rts_command().args(arguments).spawn().unwrap();
    wait_for_log(&repo.top().join(".git/rts/build/main/logs"));
    act();
    std::fs::remove_file(repo.top().join("hold")).unwrap();
    assert!(run.wait().unwrap().success());
}

fn wait_for_log(logs: &Path) {
    let begin = Instant::now();
    let is_test = |name: &str| name.starts_with("one-");
    loop {
        let entries = std::fs::read_dir(logs).into_iter().flatten().flatten();
        if entries
            .into_iter()
            .any(|entry| is_test(&entry.file_name().to_string_lossy()))
        {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no test started");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_commit_made_while_tests_run_is_not_taken_for_what_was_tested() {
    let repo = project();
    meanwhile(&repo, &["run"], || {
        edit(&repo, "value.h", "ONE 1", "ONE 7");
        repo.commit_all();
    });
    assert_eq!(selected(&repo, &["HEAD~1"]), ["one"]);
    // The new commit has no history of its own: it is compared with the one that was tested.
    assert_eq!(selected(&repo, &["HEAD"]), ["one"]);
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
}

#[test]
fn an_edit_while_tests_run_is_not_taken_for_what_was_tested() {
    let repo = project();
    meanwhile(&repo, &["run"], || edit(&repo, "value.h", "TWO 2", "TWO 7"));
    assert_eq!(selected(&repo, &[]), ["two"]);
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
}

#[test]
fn what_a_partial_run_did_not_run_stays_selected() {
    let repo = project();
    runs(&repo, &["run"]);
    edit(
        &repo,
        "value.h",
        "ONE 1\n#define TWO 2",
        "ONE 7\n#define TWO 7",
    );
    repo.commit_all();
    let output = repo.rts(&["run", "HEAD~1", "--fail-fast", "--order", "listed"]);
    assert_eq!(output.status.code(), Some(100), "{}", said(&output));
    assert!(
        said(&output).contains("1 failed, 1 not run"),
        "{}",
        said(&output)
    );
    // Nothing changed since, but one failed and the other was never run.
    assert_eq!(selected(&repo, &["HEAD"]), ["one", "two"]);
    edit(
        &repo,
        "value.h",
        "ONE 7\n#define TWO 7",
        "ONE 1\n#define TWO 2",
    );
    assert!(runs(&repo, &["run"]).contains("2 passed"));
    repo.commit_all();
    assert_eq!(selected(&repo, &["HEAD"]), Vec::<String>::new());
}

#[test]
fn a_test_that_fails_stays_selected_until_it_passes() {
    let repo = project();
    runs(&repo, &["run"]);
    edit(&repo, "value.h", "ONE 1", "ONE 7");
    repo.commit_all();
    assert_eq!(repo.rts(&["run", "HEAD~1"]).status.code(), Some(100));
    edit(&repo, "other.c", "int other", "/* nothing */\nint other");
    repo.commit_all();
    // The comment affects nobody.
    assert_eq!(selected(&repo, &["HEAD~1"]), ["one"]);
    assert_eq!(repo.rts(&["run", "HEAD~1"]).status.code(), Some(100));
    assert_eq!(selected(&repo, &["HEAD"]), ["one"]);
}

#[test]
fn a_history_of_another_toolchain_or_environment_skips_nobody() {
    let repo = project();
    runs(&repo, &["run"]);
    assert_eq!(selected(&repo, &["HEAD"]), Vec::<String>::new());
    for arguments in [&["select", "HEAD"][..], &["run"]] {
        let other = repo
            .rts_command()
            .args(arguments)
            .env("CFLAGS", "-O2")
            .output()
            .unwrap();
        let said = said(&other);
        assert!(
            other.status.success() && said.contains("2 of 2 tests"),
            "{said}"
        );
        assert!(
            said.contains("variable CFLAGS was unset and is '-O2'"),
            "{said}"
        );
    }
    // That run is now the history of this tree, and says nothing about the first environment.
    let here = repo.rts(&["select", "HEAD"]);
    assert!(said(&here).contains("2 of 2 tests"), "{}", said(&here));
}

#[test]
fn what_a_make_says_that_called_us_changes_nothing() {
    let repo = project();
    runs(&repo, &["run"]);
    let count = |variables: &[(&str, &str)]| {
        let output = repo
            .rts_command()
            .args(["run", "--dry-run"])
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let said = said(&output);
        assert!(output.status.success(), "{said}");
        said.lines()
            .find(|line| line.contains(" of 2 tests"))
            .map(|line| line[..6].to_owned())
    };
    let flags = ("MAKEFLAGS", "w -j --jobserver-auth=77,78");
    assert_eq!(count(&[flags, ("MAKELEVEL", "1")]), Some("0 of 2".into()));
    assert_eq!(count(&[flags]), Some("2 of 2".into()));
}

#[test]
fn an_amended_commit_is_known_by_its_tree_and_by_nothing_else() {
    let repo = project();
    runs(&repo, &["run"]);
    repo.git(&["commit", "--amend", "--quiet", "--message", "the same tree"]);
    assert_eq!(selected(&repo, &["HEAD"]), Vec::<String>::new());
    edit(&repo, "value.h", "ONE 1", "ONE 7");
    repo.git(&["commit", "--all", "--quiet", "--message", "second"]);
    assert_eq!(repo.rts(&["run", "HEAD~1"]).status.code(), Some(100));
    edit(&repo, "value.h", "TWO 2", "TWO 7");
    repo.git(&[
        "commit",
        "--all",
        "--amend",
        "--quiet",
        "--message",
        "another tree",
    ]);
    assert_eq!(selected(&repo, &["HEAD~1"]), ["one", "two"]);
    assert_eq!(selected(&repo, &["HEAD"]), ["one", "two"]);
}

#[test]
fn a_deleted_file_selects_who_used_it() {
    let repo = project();
    runs(&repo, &["run"]);
    std::fs::remove_file(repo.top().join("other.c")).unwrap();
    edit(
        &repo,
        "prog.c",
        "int other(void);",
        "static int other(void)\n{\n    return 1;\n}",
    );
    edit(
        &repo,
        "Makefile",
        "prog.c other.c value.h\n\tcc -o prog prog.c other.c",
        "prog.c value.h\n\tcc -o prog prog.c",
    );
    let output = repo.rts(&["run"]);
    assert_eq!(output.status.code(), Some(100), "{}", said(&output));
    assert!(said(&output).contains("FAIL two"), "{}", said(&output));
}

#[test]
fn a_stale_build_is_not_tested() {
    let repo = project();
    runs(&repo, &["run"]);
    let old = std::fs::metadata(repo.top().join("value.h"))
        .unwrap()
        .modified()
        .unwrap();
    edit(&repo, "value.h", "ONE 1", "ONE 7");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    // Back as it was, with its old time: make alone would not notice.
    edit(&repo, "value.h", "ONE 7", "ONE 1");
    let file = std::fs::File::options()
        .write(true)
        .open(repo.top().join("value.h"))
        .unwrap();
    file.set_modified(old).unwrap();
    assert!(runs(&repo, &["run", "--all"]).contains("2 passed"));
}

/// A project whose build knows too little: no header in its rules, objects by pattern.
fn careless() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&[
        (
            ".git-rts.toml",
            "[build]\ncommand = \"make -s\"\n[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"./prog {test}\"\n",
        ),
        (
            "Makefile",
            "prog: prog.o\n\tcc -o prog *.o\nprog.o: prog.c\n\tcc -Ifirst -Isecond -DFLAG=1 -c prog.c\n",
        ),
        ("second/value.h", "#define VALUE 1\n"),
        ("first/other.h", "\n"),
        (
            "prog.c",
            "#include <value.h>\nint main(void)\n{\n    return VALUE != 1 || FLAG != 1;\n}\n",
        ),
    ]);
    repo
}

#[test]
fn a_build_that_passes_over_a_changed_header_is_made_anew() {
    let repo = careless();
    runs(&repo, &["run"]);
    repo.write("second/value.h", "#define VALUE 2\n");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    repo.write("second/value.h", "#define VALUE 1\n");
    runs(&repo, &["run"]);
}

#[test]
fn a_flag_in_a_build_file_reaches_what_was_made_before() {
    let repo = careless();
    runs(&repo, &["run"]);
    edit(&repo, "Makefile", "FLAG=1", "FLAG=2");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
}

#[test]
fn a_header_that_comes_to_hide_another_is_found() {
    let repo = careless();
    runs(&repo, &["run"]);
    repo.write("first/value.h", "#define VALUE 2\n");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    std::fs::remove_file(repo.top().join("first/value.h")).unwrap();
    runs(&repo, &["run"]);
}

#[test]
fn a_variable_that_a_build_reads_reaches_what_was_made_before() {
    let repo = careless();
    edit(&repo, "Makefile", "-DFLAG=1", "-DFLAG=1 $(CFLAGS)");
    runs(&repo, &["run"]);
    let other = repo
        .rts_command()
        .arg("run")
        .env("CFLAGS", "-UFLAG -DFLAG=2")
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(100), "{}", said(&other));
}

#[test]
fn a_test_that_ends_in_two_ways_on_one_tree_is_flaky_and_never_skipped() {
    let repo = project();
    runs(&repo, &["run"]);
    let marker = repo.top().join("hold");
    edit(
        &repo,
        ".git-rts.toml",
        "./prog {test}",
        &format!(
            "[ {{test}} = one ] || ! [ -e '{}.fail' ] && ./prog {{test}}",
            marker.display()
        ),
    );
    edit(&repo, ".gitignore", "hold", "hold*");
    repo.commit_all();
    runs(&repo, &["run"]);
    assert_eq!(selected(&repo, &["HEAD"]), Vec::<String>::new());
    repo.write("hold.fail", "");
    assert_eq!(repo.rts(&["run", "--all"]).status.code(), Some(100));
    std::fs::remove_file(repo.top().join("hold.fail")).unwrap();
    runs(&repo, &["run"]);
    let why = repo.rts(&["why", "two", "HEAD"]);
    let story = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(story.contains("it is flaky"), "{story}");
    assert_eq!(selected(&repo, &["HEAD"]), ["two"]);
}

#[test]
fn what_is_run_with_other_arguments_is_not_kept() {
    let repo = project();
    runs(&repo, &["run"]);
    edit(&repo, "value.h", "ONE 1", "ONE 7");
    repo.commit_all();
    // The shell drops what comes after the command, so both pass or fail as before.
    let output = repo.rts(&["run", "HEAD~1", "--", "ignored"]);
    assert_eq!(output.status.code(), Some(100), "{}", said(&output));
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"].as_array().unwrap().len(), 1);
    repo.rts(&["run", "HEAD~1", "--no-record"]);
    let listed = repo.json(&["history", "--format", "json"]);
    assert_eq!(listed["histories"].as_array().unwrap().len(), 1);
}
