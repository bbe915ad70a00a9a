//! A scenario as a real repository: recorded at its base, and asked what its head selects.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::scenario::{Scenario, Step, changed};
use crate::test_repo::TestRepo;

/// How a scenario is built and tested that does not say so itself: one program for all tests.
const SETTINGS: &str = "[build]\ncommand = \"cc -w -o prog *.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat tests\"\nrun = \"./prog {test}\"\n";

pub(crate) struct Project {
    repo: TestRepo,
}

impl Project {
    /// Commits the base version, records it with a back end, and commits the head.
    pub(crate) fn recorded(scenario: &Scenario, backend: &str) -> Self {
        let project = Project {
            repo: TestRepo::new(),
        };
        project.repo.git(&["config", "rts.backend", backend]);
        project.write_base(scenario);
        project.repo.commit_all();
        project.succeeds(&["record"]);
        for step in &scenario.head {
            project.take(step);
        }
        project.repo.commit_all();
        project
    }

    fn write_base(&self, scenario: &Scenario) {
        for (path, text) in &scenario.base {
            self.repo.write(path, text);
        }
        if !scenario.is_project() {
            let tests = scenario.tests();
            self.repo.write(".git-rts.toml", SETTINGS);
            self.repo.write("main.c", main_of(&tests));
            let lines: String = tests.iter().map(|test| format!("{test}\n")).collect();
            self.repo.write("tests", lines);
        }
        self.shell(&scenario.base_shell);
    }

    fn take(&self, step: &Step) {
        let place = |path: &str| self.repo.top().join(path);
        match step {
            Step::Write(path, text) => self.repo.write(path, text),
            Step::Change(path, places) => {
                let text = fs::read_to_string(place(path)).unwrap();
                self.repo.write(path, changed(&text, places));
            }
            Step::Remove(path) => fs::remove_file(place(path)).unwrap(),
            Step::Move(from, to) => {
                let text = fs::read(place(from)).unwrap();
                self.repo.write(to, text);
                fs::remove_file(place(from)).unwrap();
            }
            Step::Shell(commands) => self.shell(commands),
        }
    }

    fn shell(&self, commands: &str) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-ec", commands]).current_dir(self.repo.top());
        // A submodule is a folder beside the repository.
        shell.env("GIT_ALLOW_PROTOCOL", "file");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{commands}: {output:?}");
    }

    /// What a change since a version selects, with the reason for each test.
    pub(crate) fn selected(&self, base: &str) -> Vec<(String, String)> {
        let document = self.repo.json(&["select", base, "--format", "json"]);
        let tests = document["tests"].as_array().unwrap().iter();
        tests
            .filter(|test| test["selected"] == Value::Bool(true))
            .map(|test| {
                let name = test["name"].as_str().unwrap().to_owned();
                (name, test["reasons"][0]["text"].to_string())
            })
            .collect()
    }

    /// What `git rts run` says that it would run.
    pub(crate) fn would_run(&self, base: &str) -> BTreeSet<String> {
        let printed = self.succeeds(&["run", base, "--dry-run"]);
        printed.lines().map(str::to_owned).collect()
    }

    /// Runs what is selected; tests may fail.
    pub(crate) fn run(&self, base: &str) {
        let output = self.repo.rts(&["run", base]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(100), "{code:?}: {said}");
    }

    /// The tests that are selected although nothing changed: they did not pass, or their traces are in doubt.
    pub(crate) fn unsettled(&self) -> BTreeSet<String> {
        let document = self.repo.json(&["select", "HEAD", "--format", "json"]);
        let tests = document["tests"].as_array().unwrap().iter();
        let mut unsettled = BTreeSet::new();
        for test in tests.filter(|test| test["selected"] == Value::Bool(true)) {
            let kind = test["reasons"][0]["kind"].as_str().unwrap();
            assert!(
                matches!(kind, "outcome" | "doubt" | "flaky" | "pinned"),
                "{test}"
            );
            unsettled.insert(test["name"].as_str().unwrap().to_owned());
        }
        unsettled
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.repo.rts(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }
}

/// A program that runs the test it is told.
fn main_of(tests: &BTreeSet<String>) -> String {
    let declared: String = tests
        .iter()
        .map(|test| format!("int test_{test}(void);\n"))
        .collect();
    let called: String = tests
        .iter()
        .map(|test| format!("  if (!strcmp(name[1], \"{test}\"))\n    return test_{test}();\n"))
        .collect();
    format!(
        "#include <string.h>\n{declared}int main(int count, char **name) {{\n{called}  return 99;\n}}\n"
    )
}
