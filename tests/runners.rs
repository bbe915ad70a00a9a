//! The runners on small real projects, with the real tools; and Ctrl-C as a terminal sends it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git_rts::runner::needs::{constraints, with_fixtures};
use git_rts::runner::{
    Extent, Finished, Interrupt, Launch, Limits, Outcome, Run, Settings, Site, Test, build, detect,
    run_all,
};
use tempfile::TempDir;

const FAILED: Outcome = Outcome::Failed { code: 1 };

/// A project of `tests/cases/runners`, copied and built.
struct Project {
    room: TempDir,
    site: Site,
    tests: Vec<Test>,
}

impl Project {
    fn new(case: &str, tools: &[(&str, &str)], settings: &Settings) -> Self {
        for (tool, package) in tools {
            need(tool, package);
        }
        let room = TempDir::new().unwrap();
        // Neither Automake nor many Makefiles can live with white space.
        let space = if matches!(case, "automake" | "make") {
            "-"
        } else {
            " "
        };
        let site = Site {
            tree: room.path().join(format!("the{space}tree")),
            build: room.path().join(format!("the{space}build")),
            environment: vec![("GIT_RTS_TEST_OF_RUNNERS".into(), Some("yes".into()))],
            jobs: 2,
        };
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/runners");
        copy(&cases.join(case), &site.tree);
        copy(&cases.join("program"), &site.tree);
        let runner = detect(&site.tree, settings).unwrap();
        let expected = if case == "cmake" { "ctest" } else { case };
        assert_eq!(runner.name(), expected);
        let log = room.path().join("build.log");
        build(
            runner,
            &site,
            settings,
            &Interrupt::new(),
            &log,
            Extent::All,
        )
        .unwrap_or_else(|error| panic!("{error}\n{}", error.hints.join("\n")));
        let tests = runner.list(&site, settings).unwrap();
        Project { room, site, tests }
    }

    fn names(&self) -> Vec<&str> {
        self.tests.iter().map(|test| test.name.as_str()).collect()
    }

    fn test(&self, name: &str) -> &Test {
        let found = self.tests.iter().find(|test| test.name == name);
        found.unwrap_or_else(|| panic!("'{name}' is not in {:?}", self.names()))
    }

    /// Runs some of the tests, two at a time.
    fn run(&self, chosen: &BTreeSet<usize>) -> BTreeMap<&str, Finished> {
        let tests: Vec<&Test> = chosen.iter().map(|index| &self.tests[*index]).collect();
        let runs: Vec<Run> = tests
            .iter()
            .enumerate()
            .map(|(index, test)| Run {
                launch: test.launch.clone(),
                log: self.room.path().join(format!("{index}.log")),
            })
            .collect();
        let mut all = BTreeMap::new();
        let summary = run_all(
            &runs,
            &constraints(&tests),
            at_once(2),
            &Interrupt::new(),
            |_| {},
            |_, finished| finished,
            |index, finished| {
                assert!(all.insert(tests[index].name.as_str(), finished).is_none());
            },
        );
        assert!(summary.circular.is_empty() && summary.not_started.is_empty());
        assert_eq!(all.len(), tests.len());
        all
    }

    fn run_all(&self) -> BTreeMap<&str, Outcome> {
        let all = self.run(&(0..self.tests.len()).collect());
        all.into_iter()
            .map(|(name, finished)| (name, finished.outcome))
            .collect()
    }

    /// Nothing in the definitions names this machine.
    fn check_definitions(&self) {
        for test in &self.tests {
            let text = format!("{:?}", test.definition);
            let room = self.room.path().to_string_lossy();
            assert!(!text.contains(&*room), "{text}");
            assert!(!text.contains("GIT_RTS_TEST_OF_RUNNERS"), "{text}");
        }
    }
}

fn need(tool: &str, package: &str) {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {tool}")])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(found.success(), "'{tool}' is missing: install '{package}'");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn one_second() -> Settings {
    Settings {
        timeout: Some(Duration::from_secs(1)),
        ..Settings::default()
    }
}

#[track_caller]
fn expect(all: &BTreeMap<&str, Outcome>, expected: &[(&str, Outcome)]) {
    for (name, outcome) in expected {
        assert_eq!(all.get(name), Some(outcome), "{name}");
    }
    assert_eq!(all.len(), expected.len(), "{all:?}");
}

#[test]
fn ctest_lists_and_we_run() {
    let project = Project::new("cmake", &[("cmake", "cmake")], &Settings::default());
    project.check_definitions();
    let mut all = project.run_all();
    for (name, reason) in [
        ("not_built", "not built"),
        ("requires_file", "nowhere"),
        ("use_broken", "fixture"),
    ] {
        match all.remove(name) {
            Some(Outcome::NotRun(why)) => assert!(why.contains(reason), "{name}: {why}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    expect(
        &all,
        &[
            ("passes", Outcome::Passed),
            ("fails", FAILED),
            ("crashes", Outcome::Crashed { signal: 6 }),
            ("skips", Outcome::Skipped),
            ("disabled", Outcome::Skipped),
            ("inverted", Outcome::Passed),
            ("slow", Outcome::TimedOut),
            ("prints", Outcome::Passed),
            ("prints_wrong", Outcome::Failed { code: 8 }),
            ("take_down", Outcome::Passed),
            ("use", Outcome::Passed),
            ("use_and_print", Outcome::Passed),
            ("set_up", Outcome::Passed),
            ("bad_set_up", FAILED),
            ("variable", Outcome::Passed),
            ("modified", Outcome::Passed),
            ("passes #2", Outcome::Passed),
            ("odd name; it's", Outcome::Passed),
        ],
    );

    let passes = &project.test("passes").definition;
    assert_eq!(passes.command, ["{build}/checks", "add"]);
    assert_eq!(passes.working_directory, "{build}");
    assert_eq!(project.test("passes").launch.command.len(), 2);
    let script = &project.test("odd name; it's").definition;
    assert_eq!(script.command[1], "{tree}/t/drive.sh");
    assert_eq!(script.properties["RESOURCE_LOCK"], "[\"screen\"]");
    let variable = &project.test("variable").definition;
    assert_eq!(variable.environment["WHO"], "a b;c");
}

#[test]
fn a_test_of_ctest_brings_its_fixtures_along() {
    let project = Project::new("cmake", &[("cmake", "cmake")], &Settings::default());
    let index = |name| {
        project
            .names()
            .iter()
            .position(|other| *other == name)
            .unwrap()
    };
    let chosen = with_fixtures(&project.tests, &BTreeSet::from([index("use")]));
    let all = project.run(&chosen);
    assert_eq!(
        all.keys().copied().collect::<Vec<_>>(),
        ["set_up", "take_down", "use"]
    );
    assert!(
        all.values().all(|finished| finished.outcome.has_passed()),
        "{all:?}"
    );
    assert!(!project.site.build.join("data").exists());
}

#[test]
fn automake_lists_and_its_harness_runs() {
    let tools = [
        ("automake", "automake"),
        ("autoconf", "autoconf"),
        ("make", "make"),
    ];
    let project = Project::new("automake", &tools, &one_second());
    project.check_definitions();
    let hooks = project.site.tree.join("check-local.ran");
    let before = fs::read_to_string(&hooks).unwrap_or_default();
    let all = project.run_all();
    expect(
        &all,
        &[
            ("checks", Outcome::Passed),
            ("passes.test", Outcome::Passed),
            ("fails.test", FAILED),
            ("skips.test", Outcome::Skipped),
            ("inverted.test", Outcome::Passed),
            ("crashes.sh", FAILED),
            ("slow.test", Outcome::TimedOut),
            ("t/good.sh", Outcome::Passed),
            ("t/bad.sh", Outcome::Passed),
            ("t/skipped.sh", Outcome::Skipped),
            ("t/drive.sh", Outcome::Passed),
        ],
    );
    assert_eq!(
        fs::read_to_string(&hooks).unwrap_or_default(),
        before,
        "what else hangs on `check` is not run for each test"
    );
    let inverted = &project.test("inverted.test").definition.properties;
    assert_eq!(inverted["XFAIL"], "yes");
    assert!(inverted["recipe"].contains("WHO"));
    let exported = &project.test("inverted.test").definition.environment;
    assert_eq!(exported.get("FROM_MAKE").map(String::as_str), Some("yes"));
    assert_eq!(exported.len(), 1, "{exported:?}");
    let first = &project.test("checks").launch.command[0];
    assert!(
        first.to_string_lossy().ends_with("sh"),
        "without a make: {first:?}"
    );
    assert_eq!(project.test("t/good.sh").launch.command[0], "make");
    assert_eq!(project.test("skips.test").needs.after, ["passes.test"]);
}

#[test]
fn meson_lists_and_we_run() {
    let tools = [("meson", "meson"), ("ninja", "ninja-build")];
    let project = Project::new("meson", &tools, &Settings::default());
    project.check_definitions();
    let all = project.run_all();
    expect(
        &all,
        &[
            ("passes", Outcome::Passed),
            ("fails", FAILED),
            ("crashes", Outcome::Crashed { signal: 6 }),
            ("skips", Outcome::Skipped),
            ("inverted", Outcome::Passed),
            ("inverted crash", Outcome::Passed),
            ("hard error", Outcome::Failed { code: 99 }),
            ("slow", Outcome::TimedOut),
            ("variable", Outcome::Passed),
            ("modified", Outcome::Passed),
            ("drives", Outcome::Passed),
            ("tap", Outcome::Passed),
            ("tap skipped", Outcome::Skipped),
            ("tap failed", FAILED),
        ],
    );
    let runs = |name| {
        project.test(name).launch.command[0]
            .to_string_lossy()
            .into_owned()
    };
    assert!(runs("passes").ends_with("/checks") && runs("tap") == "meson");
    assert!(project.test("drives").needs.alone);
    assert_eq!(
        project.test("variable").definition.environment["WHO"],
        "a b"
    );
}

#[test]
fn make_runs_each_word_of_tests() {
    let tools = [("make", "make"), ("gcc", "gcc")];
    let project = Project::new("make", &tools, &one_second());
    project.check_definitions();
    assert_eq!(
        project.names(),
        ["add", "wrong", "crash", "sum-1", "sum-2", "slow"]
    );
    let failed = Outcome::Failed { code: 2 };
    expect(
        &project.run_all(),
        &[
            ("add", Outcome::Passed),
            ("wrong", failed.clone()),
            ("crash", failed),
            ("sum-1", Outcome::Passed),
            ("sum-2", Outcome::Passed),
            ("slow", Outcome::TimedOut),
        ],
    );
}

#[test]
fn two_commands_are_enough() {
    let settings = Settings {
        build: Some("./build.sh".to_owned()),
        list: Some("cat t/list".to_owned()),
        run: Some("t/run-one {test}".to_owned()),
        ..one_second()
    };
    let project = Project::new("command", &[("cc", "gcc")], &settings);
    project.check_definitions();
    expect(
        &project.run_all(),
        &[
            ("add", Outcome::Passed),
            ("wrong", FAILED),
            ("skip", Outcome::Skipped),
            ("crash", Outcome::Failed { code: 134 }),
            ("slow", Outcome::TimedOut),
            ("print it's \"odd\"\tnaïve", Outcome::Passed),
        ],
    );
}

#[test]
fn a_build_that_fails_shows_its_last_words() {
    let room = TempDir::new().unwrap();
    fs::write(
        room.path().join("Makefile"),
        "all:\n\t@echo oh no; exit 4\ncheck:\n",
    )
    .unwrap();
    let site = Site {
        tree: room.path().to_owned(),
        build: room.path().join("build"),
        environment: Vec::new(),
        jobs: 1,
    };
    let settings = Settings::default();
    let runner = detect(&site.tree, &settings).unwrap();
    let log = room.path().join("log");
    let error = build(
        runner,
        &site,
        &settings,
        &Interrupt::new(),
        &log,
        Extent::All,
    )
    .unwrap_err();
    assert!(error.message.contains("exit code 2"), "{error}");
    assert!(
        error.hints.iter().any(|hint| hint == "oh no"),
        "{:?}",
        error.hints
    );
}

/// Set in a process that is started to be interrupted, to the folder where it leaves its marks.
const VICTIM: &str = "GIT_RTS_TEST_VICTIM";

/// Not a test of its own: the process that the next tests interrupt.
#[test]
fn process_to_interrupt() {
    let Some(folder) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let script = fs::read_to_string(folder.join("script")).unwrap();
    let interrupt = Interrupt::on_signals().unwrap();
    let run = |text: &str| Run {
        launch: Launch {
            command: ["sh", "-c", text].map(Into::into).to_vec(),
            folder: folder.clone(),
            ..Launch::default()
        },
        log: folder.join("log"),
    };
    let runs = [run("exit 0"), run(&script), run("touch too-late")];
    let mut constraints = git_rts::runner::needs::Constraints::default();
    constraints.tests.resize_with(3, Default::default);
    let mut said = String::new();
    let summary = run_all(
        &runs,
        &constraints,
        at_once(1),
        &interrupt,
        |_| {},
        |_, finished| finished,
        |index, finished| {
            said += &format!("{index} {:?}\n", finished.outcome);
        },
    );
    said += &format!("not started {:?}\n", summary.not_started);
    fs::write(folder.join("said"), said).unwrap();
}

fn at_once(jobs: usize) -> Limits {
    Limits {
        jobs,
        failures: None,
    }
}

struct Victim {
    folder: TempDir,
    process: Child,
}

impl Victim {
    /// Starts one whose second test is this script, and waits until that says it is ready.
    fn start(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let script = format!("echo $$ > group; {script}");
        fs::write(folder.path().join("script"), script).unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process_to_interrupt"])
            .env(VICTIM, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let victim = Victim { folder, process };
        victim.wait_for("ready");
        victim
    }

    fn wait_for(&self, name: &str) {
        let begin = Instant::now();
        while !self.folder.path().join(name).exists() {
            assert!(begin.elapsed() < Duration::from_secs(20), "no '{name}'");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn interrupt(&self) {
        let status = Command::new("kill")
            // Not SIGINT, which a shell makes its background jobs ignore; both are handled alike.
            .args(["-TERM", &self.process.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    /// Whether the test's process is gone, or dead and only not reaped yet.
    fn is_clean(&self) -> bool {
        let group = fs::read_to_string(self.folder.path().join("group")).unwrap();
        let status = Path::new("/proc").join(group.trim()).join("stat");
        (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            fs::read_to_string(&status).map_or(true, |status| status.contains(") Z "))
        })
    }
}

#[test]
fn an_interrupt_ends_what_runs_and_keeps_what_is_done() {
    let mut victim = Victim::start("touch ready; exec sleep 60");
    victim.interrupt();
    assert!(victim.process.wait().unwrap().success());
    let said = fs::read_to_string(victim.folder.path().join("said")).unwrap();
    assert_eq!(
        said,
        "0 Passed\n1 NotRun(\"interrupted\")\nnot started [2]\n"
    );
    assert!(victim.is_clean());
    assert!(!victim.folder.path().join("too-late").exists());
}

#[test]
fn a_second_interrupt_stops_at_once() {
    let mut victim =
        Victim::start("trap 'touch asked' TERM; touch ready; while :; do sleep 0.05; done");
    victim.interrupt();
    victim.wait_for("asked");
    // What comes sooner is the echo of the first.
    std::thread::sleep(Duration::from_millis(400));
    victim.interrupt();
    let status = victim.process.wait().unwrap();
    assert_eq!(status.signal(), Some(15), "{status}");
    assert!(victim.is_clean());
    assert!(!victim.folder.path().join("said").exists());
}
