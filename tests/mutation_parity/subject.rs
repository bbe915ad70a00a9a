//! A subject: a small project that was written for this, recorded once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test_repo::TestRepo;

pub(crate) struct Subject {
    pub(crate) repo: TestRepo,
    /// The C files and what they include, with their text.
    pub(crate) files: Vec<(String, String)>,
}

impl Subject {
    /// Commits a subject and records its tests.
    pub(crate) fn recorded(name: &str, backend: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/cases/subjects")
            .join(name);
        let repo = TestRepo::new();
        copy(&folder, &repo.top());
        repo.commit_all();
        let output = repo.rts(&["record", "--backend", backend]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if let Some("c" | "h" | "def") = ending {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read_to_string(path).unwrap()));
            }
        }
        files.sort();
        Subject { repo, files }
    }

    /// The files that are compiled.
    pub(crate) fn sources(&self) -> Vec<String> {
        let names = self.files.iter().map(|(name, _)| name.clone());
        names.filter(|name| name.ends_with(".c")).collect()
    }

    /// The repository again, with its history, for another thread.
    pub(crate) fn copied(&self) -> TestRepo {
        let repo = TestRepo::empty_folder();
        copy(&self.repo.top(), &repo.top());
        repo
    }
}

/// Copies what is in a folder into another one.
fn copy(from: &Path, to: &Path) {
    let everything: PathBuf = from.join(".");
    let status = Command::new("cp")
        .arg("-R")
        .args([&everything, to])
        .status();
    assert!(status.unwrap().success());
}
