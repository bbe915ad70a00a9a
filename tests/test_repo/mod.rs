//! Real temporary repositories for tests of the binary.

// Each test file uses its own part of the helper.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct TestRepo {
    room: TempDir,
}

impl TestRepo {
    pub(crate) fn new() -> Self {
        let repo = Self::empty_folder();
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// A folder that is not a repository, whatever lies above it.
    pub(crate) fn empty_folder() -> Self {
        let room = TempDir::new().unwrap();
        fs::create_dir(room.path().join("repo")).unwrap();
        TestRepo { room }
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.room.path().join("repo")
    }

    /// Runs git, with the same author at the same time always.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let file = self.top().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Commits a tree of exactly these files.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for entry in fs::read_dir(self.top()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with(".git") {
                fs::remove_dir_all(path).unwrap();
            } else if path.is_file() {
                fs::remove_file(path).unwrap();
            }
        }
        for (path, text) in files {
            self.write(path, text);
        }
        self.commit_all()
    }

    /// Commits the working tree as it is.
    pub(crate) fn commit_all(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "version"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs the binary.
    pub(crate) fn rts(&self, arguments: &[&str]) -> Output {
        self.rts_command().args(arguments).output().unwrap()
    }

    pub(crate) fn rts_command(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_git-rts"))
    }

    pub(crate) fn diff_json(&self, base: &str, head: &str) -> Value {
        self.json(&["diff", base, head, "--format", "json"])
    }

    /// What a successful run prints, as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.rts(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.top());
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "NO_COLOR",
            "CLICOLOR_FORCE",
        ] {
            command.env_remove(name);
        }
        command.envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "A U Thor"),
            ("GIT_AUTHOR_EMAIL", "author@example.com"),
            ("GIT_AUTHOR_DATE", "2005-04-07T22:13:13+0200"),
            ("GIT_COMMITTER_NAME", "C O Mitter"),
            ("GIT_COMMITTER_EMAIL", "committer@example.com"),
            ("GIT_COMMITTER_DATE", "2005-04-07T22:13:13+0200"),
        ]);
        command.env("GIT_CEILING_DIRECTORIES", self.room.path());
        command
    }
}

/// Every dangerous edge of a document, as `function: from -label-> to`.
pub(crate) fn edges(document: &Value) -> BTreeSet<String> {
    document["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let label = text(&edge["label"]);
            let arrow = match label.as_str() {
                "" => "->".to_owned(),
                label => format!("-{label}->"),
            };
            format!(
                "{}: {} {arrow} {}",
                text(&edge["function"]),
                text(&edge["from"]["text"]),
                text(&edge["to"]["text"])
            )
        })
        .collect()
}
