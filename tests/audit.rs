//! Mutants that are built at once and switched on one after the other: who reaches them is seen, and what cannot be switched is built alone.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use test_repo::TestRepo;

const MISSED: i32 = 102;

/// A project whose tests are the words that its program understands. Every run adds a line to a file outside of the tree.
fn project(program: &str, tests: &str) -> TestRepo {
    let repo = TestRepo::new();
    let runs = runs(&repo).display().to_string();
    let settings = format!(
        "[build]\ncommand = \"cc -w -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' {tests}\"\n\
         run = \"echo {{test}} $GIT_RTS_SWITCH >> {runs}; ./prog {{test}}\"\n"
    );
    repo.commit(&[(".git-rts.toml", &settings), ("prog.c", program)]);
    repo
}

fn runs(repo: &TestRepo) -> PathBuf {
    repo.top().parent().unwrap().join("runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn audit(repo: &TestRepo, more: &[&str]) -> Value {
    let mut arguments = vec!["audit", "--seed", "1", "--format", "json"];
    arguments.extend(more);
    let output = repo.rts(&arguments);
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The trials whose place contains a text.
fn trials<'a>(audit: &'a Value, place: &str) -> Vec<&'a Value> {
    let trials = audit["trials"].as_array().unwrap().iter();
    let found: Vec<&Value> = trials
        .filter(|trial| trial["change"].as_str().unwrap().contains(place))
        .collect();
    assert!(!found.is_empty(), "no '{place}' in {audit}");
    found
}

/// The tests of a trial that reach its mutant, or of whom that is not known.
fn reaching(trial: &Value) -> Vec<&str> {
    let tests = trial["tests"].as_array().unwrap().iter();
    tests
        .filter(|test| test["moved"] != false)
        .map(|test| test["name"].as_str().unwrap())
        .collect()
}

const TWO: &str = "static int one(int x)\n{\n    return x + 1;\n}\nstatic int two(int x)\n{\n    return x + 2;\n}\nint main(int argc, char **argv)\n{\n    switch (argv[1][0]) {\n    case 'o': return one(argc) != argc + 1;\n    case 't': return two(argc) != argc + 2;\n    }\n    return 0;\n}\n";

#[test]
fn a_test_that_does_not_reach_a_mutant_is_not_run() {
    let repo = project(TWO, "one two");
    let audit = audit(&repo, &[]);
    let score = &audit["score"];
    assert!(
        score["changes_seen_to_be_reached_or_not"].as_u64().unwrap() >= 8,
        "{score}"
    );
    for trial in trials(&audit, "in one") {
        assert_eq!(reaching(trial), ["one"], "{trial}");
        assert_eq!(
            (&trial["reaching"], &trial["noticing"]),
            (&1.into(), &1.into()),
            "{trial}"
        );
    }
    let text = fs::read_to_string(runs(&repo)).unwrap();
    let with_a_mutant = |test: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let numbers = lines.filter(|(own, number)| *own == test && !matches!(*number, "" | "0"));
        numbers
            .map(|(_, number)| number.to_owned())
            .collect::<Vec<_>>()
    };
    let (one, two) = (with_a_mutant("one"), with_a_mutant("two"));
    let only_one = one.iter().filter(|number| !two.contains(number)).count();
    // `one(argc) != argc + 1` stands in `main`.
    assert_eq!(only_one, trials(&audit, "in one").len() + 3, "{text}");
}

#[test]
fn with_gcc_mutants_are_built_at_once_too() {
    let repo = project(TWO, "one two");
    let settings = fs::read_to_string(repo.top().join(".git-rts.toml")).unwrap();
    let settings = settings.replace("cc -w", "gcc -Wall -Werror");
    repo.write(
        ".git-rts.toml",
        settings + "[coverage]\nbackend = \"gcov\"\n",
    );
    repo.commit_all();
    let audit = audit(&repo, &["-n", "12"]);
    let score = &audit["score"];
    assert!(
        score["changes_seen_to_be_reached_or_not"].as_u64().unwrap() >= 8,
        "{score}"
    );
    assert_eq!(score["missed"].as_array().unwrap().len(), 0, "{score}");
    assert_eq!(score["strayed"].as_array().unwrap().len(), 0, "{score}");
}

#[test]
fn a_selection_that_is_wrong_is_noticed_with_a_mutant_switched_on() {
    let repo = project(TWO, "one two");
    let mut command = repo.rts_command();
    command.env("GIT_RTS_OVERLOOK_DANGERS", "1");
    command.args(["audit", "-n", "12", "--seed", "1", "--format", "json"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(MISSED), "{}", said(&output));
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trials = audit["trials"].as_array().unwrap().iter();
    let missed: Vec<&Value> = trials
        .filter(|trial| {
            trial["reaching"].is_number() && !trial["stories"].as_object().unwrap().is_empty()
        })
        .collect();
    assert!(!missed.is_empty(), "{audit}");
    assert!(
        missed[0]["stories"].to_string().contains("prog.c"),
        "{}",
        missed[0]
    );
}

#[test]
fn what_cannot_be_chosen_at_run_time_is_built_alone() {
    // That a macro puts the choice where a constant must be only the compiler knows.
    let program = "\nstatic int limit = 3;\nint main(int argc, char **argv)\n{\n    int room[1];\n    room[0] = argc + 5;\n    argc = width(8);\n    return room[0] < 5 || limit != 3;\n}\n";
    let repo = project(program, "one");
    let settings = fs::read_to_string(repo.top().join(".git-rts.toml")).unwrap();
    let width = "cc -w '-Dwidth(n)=(int)sizeof(struct { int field : (n); })'";
    repo.write(".git-rts.toml", settings.replace("cc -w", width));
    repo.commit_all();
    let audit = audit(&repo, &[]);
    for trial in trials(&audit, "prog.c:2:") {
        assert!(trial["reaching"].is_null(), "{trial}");
        assert_eq!(trial["noticing"], 1, "{trial}");
    }
    for trial in trials(&audit, "prog.c:7: constant") {
        assert!(
            trial["reaching"].is_null() && trial["obstacle"].is_null(),
            "{trial}"
        );
    }
    for trial in trials(&audit, "prog.c:6:") {
        assert_eq!(trial["reaching"], 1, "{trial}");
    }
    assert_eq!(audit["score"]["missed"].as_array().unwrap().len(), 0);
}

#[test]
fn a_mutant_is_reached_however_the_process_comes_to_its_end() {
    let program = "#include <signal.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
        static int forked(int x) { return x * 2; }\nstatic int left(int x) { return x * 3; }\nstatic int crashed(int x) { return x * 4; }\nstatic int became(int x) { return x * 5; }\nstatic int cleared(int x) { return x * 6; }\n\
        int main(int argc, char **argv)\n{\n    char *none[] = {0};\n    int ended = 0;\n    switch (argv[1][0]) {\n    case 'f':\n        if (fork() == 0) exit(forked(4) != 8);\n        wait(&ended);\n        return ended != 0;\n\
        \x20   case 'l': _exit(left(4) != 12);\n    case 'c':\n        if (fork() == 0) { if (crashed(4) == 16) raise(SIGKILL); _exit(0); }\n        wait(&ended);\n        return !WIFSIGNALED(ended);\n\
        \x20   case 'b': execl(argv[0], argv[0], \"x\", (char *)0); return 1;\n    case 'x': return became(4) != 20;\n    case 'e': execle(argv[0], argv[0], \"y\", (char *)0, none); return 1;\n    case 'y': return cleared(4) != 24;\n    }\n    return 0;\n}\n";
    let repo = project(program, "forked left crashed became emptied");
    let audit = audit(&repo, &[]);
    for (function, test) in [
        ("in forked", "forked"),
        ("in left", "left"),
        ("in crashed", "crashed"),
        ("in became", "became"),
        ("in cleared", "emptied"),
    ] {
        for trial in trials(&audit, function) {
            assert_eq!(trial["reaching"], 1, "{trial}");
            assert_eq!(reaching(trial), [test], "{trial}");
            assert_eq!(trial["noticing"], 1, "{trial}");
        }
    }
    assert_eq!(audit["score"]["missed"].as_array().unwrap().len(), 0);
}

#[test]
fn what_the_build_executes_is_built_alone() {
    let repo = TestRepo::new();
    let maker = "#include <stdio.h>\nint main(void)\n{\n    printf(\"#define MADE %d\\n\", 7);\n    return 0;\n}\n";
    let program =
        "#include \"made.h\"\nint main(int argc, char **argv)\n{\n    return MADE != 7;\n}\n";
    let settings = "[build]\ncommand = \"cc -w -o maker maker.c && ./maker > made.h && cc -w -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"echo one\"\nrun = \"./prog {test}\"\n";
    repo.commit(&[
        (".git-rts.toml", settings),
        ("maker.c", maker),
        ("prog.c", program),
        (".gitignore", "made.h\nmaker\nprog\n"),
    ]);
    let audit = audit(&repo, &["maker.c"]);
    let made = trials(&audit, "maker.c:4:");
    assert!(
        made.iter().all(|trial| trial["reaching"].is_null()),
        "{made:?}"
    );
    assert!(made.iter().any(|trial| trial["noticing"] == 1), "{made:?}");
}

#[test]
fn an_interrupted_audit_tells_what_it_tried_and_cleans_up() {
    let program = TWO.replace("switch (argv", "sleep_a_little();\n    switch (argv");
    let program = format!(
        "#include <unistd.h>\nstatic void sleep_a_little(void)\n{{\n    usleep(300000);\n}}\n{program}"
    );
    let repo = project(&program, "one two");
    let before = repo.git(&["status", "--porcelain"]);
    let mut command = repo.rts_command();
    command.args(["audit", "--seed", "1"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let is_under_way = || {
        let text = fs::read_to_string(runs(&repo)).unwrap_or_default();
        text.lines().any(|line| line.ends_with(" 2"))
    };
    while !is_under_way() {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "it never got so far"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(
        repo.command("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("built at once"), "{told}");
    assert!(!repo.top().join(".git/rts/audit/clone").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), before);
}
