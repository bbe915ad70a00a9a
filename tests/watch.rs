//! `git rts watch` on a small project that is edited while it runs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use test_repo::TestRepo;

/// What is said when it waits for a save.
const WAITS: &str = "waiting for the next save";

/// So long we wait for what must happen; on a machine that has other work it may take a while.
const LONGEST: Duration = Duration::from_secs(240);

/// Each test notes that it began; where there is a gate, it waits for it to open. So does the build, which notes that it waits.
const CONFIG: &str = r#"
[build]
command = 'until [ -z "$BUILT" ] || [ -e "$BUILT" ]; do touch "$BUILT.waits"; sleep 0.05; done; cc -o prog p.c'
[tests]
runner = "command"
list = "printf '%s\\n' one two three"
run = 'echo {test} >> "$RAN"; until [ -z "$GATE" ] || [ -e "$GATE" ]; do sleep 0.05; done; ./prog {test}'
"#;

fn project() -> TestRepo {
    let repo = TestRepo::new();
    let mut source = String::from("#include <string.h>\n");
    for test in ["one", "two", "three"] {
        source += &format!("static int f_{test}(int x)\n{{\n    return x * 0;\n}}\n");
    }
    source += "int main(int argc, char **argv)\n{\n";
    for test in ["one", "two", "three"] {
        source +=
            &format!("    if (!strcmp(argv[1], \"{test}\"))\n        return f_{test}(argc);\n");
    }
    source += "    return 9;\n}\n";
    repo.commit(&[
        (".git-rts.toml", CONFIG),
        (".gitignore", "prog\n*.log\nmade/\n"),
        ("p.c", &source),
    ]);
    repo
}

/// The source with a line more in the function of one test.
fn with_line(repo: &TestRepo, test: &str, line: &str) -> String {
    let text = fs::read_to_string(repo.top().join("p.c")).unwrap();
    let function = format!("f_{test}(int x)\n{{\n");
    assert!(text.contains(&function));
    text.replacen(&function, &format!("{function}    {line}\n"), 1)
}

/// A process that watches.
struct Watching<'a> {
    repo: &'a TestRepo,
    child: Child,
    /// How much of what it said was looked at.
    heard: usize,
}

impl<'a> Watching<'a> {
    fn start(repo: &'a TestRepo, arguments: &[&str], variables: &[(&str, PathBuf)]) -> Self {
        let said = File::create(repo.top().join("../said")).unwrap();
        let child = repo
            .rts_command()
            .arg("watch")
            .args(arguments)
            .env("RAN", repo.top().join("../ran"))
            .env_remove("GATE")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .spawn()
            .unwrap();
        Watching {
            repo,
            child,
            heard: 0,
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.repo.top().join("../said")).unwrap()
    }

    /// What was said since this was last asked, up to the next wait for a save.
    #[track_caller]
    fn round(&mut self) -> String {
        self.until("it waits", |watching| {
            watching.said()[watching.heard..].contains(WAITS)
        });
        let said = self.said();
        let end = self.heard + said[self.heard..].find(WAITS).unwrap() + WAITS.len();
        let new = said[self.heard..end].to_owned();
        self.heard = end;
        new
    }

    #[track_caller]
    fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            assert!(started.elapsed() < LONGEST, "not {what}: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The tests that ran, which are forgotten.
    fn ran(&self) -> BTreeSet<String> {
        let log = self.repo.top().join("../ran");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }

    /// Ends it as Ctrl-C does; its exit code and the rest of what it said.
    fn interrupt(mut self) -> (Option<i32>, String) {
        // Not SIGINT, which a shell makes its background jobs ignore.
        let kill = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let status = self.child.wait().unwrap();
        (status.code(), self.said()[self.heard..].to_owned())
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// How many processes run in the repository.
fn processes_in(repo: &TestRepo) -> usize {
    let top = repo.top().canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|process| fs::read_link(process.path().join("cwd")).ok())
        .filter(|folder| folder.starts_with(&top))
        .count()
}

#[test]
fn a_save_runs_what_it_affects() {
    let repo = project();
    let mut watching = Watching::start(&repo, &[], &[]);
    let first = watching.round();
    assert!(first.contains("3 passed"), "{first}");
    assert_eq!(watching.ran(), set(&["one", "two", "three"]));

    repo.write("p.c", with_line(&repo, "one", "x += 1;"));
    let second = watching.round();
    assert!(second.contains("p.c changed"), "{second}");
    assert!(second.contains("1 passed, 2 skipped safely"), "{second}");
    assert_eq!(watching.ran(), set(&["one"]));

    // Nothing that git would see: not what is ignored, nor the same content, nor a commit.
    repo.write("a.log", "x");
    repo.write("made/file.c", "x");
    repo.write("p.c", fs::read(repo.top().join("p.c")).unwrap());
    repo.commit_all();
    // As editors write: beside the file, then over it.
    repo.write("p.c~.log", with_line(&repo, "three", "x += 1;"));
    fs::rename(repo.top().join("p.c~.log"), repo.top().join("p.c")).unwrap();
    let third = watching.round();
    assert!(third.contains("\np.c changed"), "{third}");
    assert!(third.contains("1 passed, 2 skipped safely"), "{third}");
    assert_eq!(watching.ran(), set(&["three"]));
    assert_eq!(watching.said().matches("\np.c changed\n").count(), 2);
    assert_eq!(watching.said().matches(WAITS).count(), 3);
    assert!(
        !watching.said().contains('\u{1b}'),
        "no terminal, no colour"
    );
}

#[test]
fn what_fails_is_told_and_it_goes_on() {
    let repo = project();
    let mut watching = Watching::start(&repo, &[], &[]);
    watching.round();
    let right = fs::read_to_string(repo.top().join("p.c")).unwrap();

    repo.write("p.c", with_line(&repo, "two", "this is no C;"));
    let broken = watching.round();
    assert!(broken.contains("error: "), "{broken}");
    assert!(!broken.contains("passed"), "{broken}");

    repo.write("p.c", &right);
    let whole = watching.round();
    assert!(!whole.contains("error: "), "{whole}");

    repo.write("p.c", with_line(&repo, "two", "return 1;"));
    watching.ran();
    let failing = watching.round();
    assert!(failing.contains("FAIL two"), "{failing}");
    assert!(failing.contains("error: 1 test failed"), "{failing}");
    assert_eq!(watching.ran(), set(&["two"]));

    let text = fs::read_to_string(repo.top().join("p.c")).unwrap();
    repo.write("p.c", text.replace("return 1;", "x += 1;"));
    let passing = watching.round();
    assert!(passing.contains("1 passed, 2 skipped safely"), "{passing}");
    assert_eq!(watching.ran(), set(&["two"]));

    repo.write(".git-rts.toml", "[tests]\nrunner = 3\n");
    let mistaken = watching.round();
    assert!(mistaken.contains("error: "), "{mistaken}");
}

#[test]
fn new_folders_are_watched() {
    let repo = project();
    // What a run writes is no reason for another.
    let mut watching = Watching::start(&repo, &["--junit", "results.xml"], &[]);
    watching.round();
    repo.write("new/deep/x.h", "#define X 1\n");
    let first = watching.round();
    assert!(first.contains("new/deep/x.h changed"), "{first}");
    repo.write("new/deep/x.h", "#define X 2\n");
    let second = watching.round();
    assert!(second.contains("new/deep/x.h changed"), "{second}");
    fs::create_dir_all(repo.top().join("empty/still")).unwrap();
    fs::rename(repo.top().join("new"), repo.top().join("old")).unwrap();
    let third = watching.round();
    assert!(
        third.contains("new/deep/x.h and 1 other file changed"),
        "{third}"
    );
    repo.write("empty/still/y.h", "#define Y 1\n");
    let fourth = watching.round();
    assert!(fourth.contains("empty/still/y.h changed"), "{fourth}");
    assert!(repo.top().join("results.xml").exists());
    assert_eq!(watching.said().matches(WAITS).count(), 5);
}

#[test]
fn what_is_saved_during_a_run_is_taken_up_afterwards() {
    let repo = project();
    let gate = repo.top().join("../gate");
    let mut watching = Watching::start(&repo, &[], &[("GATE", gate.clone())]);
    watching.until("a test began", |_| repo.top().join("../ran").exists());
    repo.write("p.c", with_line(&repo, "two", "return 1;"));
    File::create(&gate).unwrap();
    let first = watching.round();
    assert!(first.contains("3 passed"), "{first}");
    let second = watching.round();
    assert!(second.contains("p.c changed"), "{second}");
    assert!(second.contains("FAIL two"), "{second}");
}

#[test]
fn what_is_saved_during_a_build_is_no_error() {
    let repo = project();
    repo.write("p.c", with_line(&repo, "one", "x++;"));
    let gate = repo.top().join("../built");
    let mut watching = Watching::start(&repo, &[], &[("BUILT", gate.clone())]);
    let waits = repo.top().join("../built.waits");
    watching.until("it builds", |_| waits.exists());
    repo.write("p.c", with_line(&repo, "one", "x--;"));
    fs::write(&gate, "").unwrap();
    let first = watching.round();
    assert!(first.contains("saved before it was read"), "{first}");
    assert!(!first.contains("error:"), "{first}");
    let second = watching.round();
    assert!(second.contains("3 passed"), "{second}");
}

#[test]
fn an_interrupt_ends_it_at_once_and_leaves_nothing() {
    let repo = project();
    // While a test runs that would never end.
    let nowhere = repo.top().join("../never");
    let watching = Watching::start(&repo, &["-j3"], &[("GATE", nowhere)]);
    watching.until("a test began", |_| repo.top().join("../ran").exists());
    assert!(processes_in(&repo) > 1);
    let (code, said) = watching.interrupt();
    assert_eq!(code, Some(130), "{said}");
    assert!(!said.contains(WAITS), "{said}");
    assert_eq!(processes_in(&repo), 0, "{said}");
    // And while it waits, which is how it ends.
    let mut watching = Watching::start(&repo, &[], &[]);
    watching.round();
    let (code, said) = watching.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("error:"), "{said}");
    assert_eq!(processes_in(&repo), 0, "{said}");
}

#[test]
fn what_no_save_can_mend_ends_it() {
    let repo = project();
    for (arguments, code) in [
        (&["watch", "nowhere"], 128),
        (&["watch", "HEAD~1..HEAD"], 2),
        (&["watch", "--format=json"], 2),
    ] {
        let output = repo.rts(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("error: "), "{said}");
    }
}
