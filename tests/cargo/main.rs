//! Cargo workspaces from end to end: small ones without dependencies, built, recorded and run by a real cargo.

#![allow(clippy::unwrap_used, clippy::panic)]

mod changes;
mod copies;
mod listing;
mod nextest;
mod parity;
mod spared;
#[path = "../test_repo/mod.rs"]
mod test_repo;
mod told;
mod with_c;

use std::collections::BTreeSet;
use std::process::Command;

use test_repo::TestRepo;

/// A workspace that is recorded once, and to which one change after the other is made.
struct Workspace {
    repo: TestRepo,
    /// Besides what the helper sets.
    variables: Vec<(&'static str, &'static str)>,
    path: Option<String>,
}

impl Workspace {
    fn recorded(files: &[(&str, &str)]) -> Self {
        let repo = TestRepo::new();
        for (path, text) in files {
            repo.write(path, text);
        }
        let workspace = Workspace {
            repo,
            variables: Vec::new(),
            path: None,
        };
        // What cargo would write itself is part of the project.
        let mut lock = workspace.command("cargo");
        assert!(
            lock.args(["generate-lockfile", "--offline"])
                .status()
                .unwrap()
                .success()
        );
        workspace.repo.commit_all();
        workspace.rts(&["record"]);
        workspace
    }

    /// As a user would call it, who is not himself run by cargo.
    fn command(&self, program: &str) -> Command {
        let mut command = self.repo.command(program);
        for (name, _) in std::env::vars_os() {
            let is_of_cargo = name.to_str().is_some_and(|name| {
                let of_cargo = ["CARGO", "RUST", "LD_LIBRARY_PATH", "OUT_DIR"];
                let of_user = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
                of_cargo.iter().any(|one| name.starts_with(one)) && !of_user.contains(&name)
            });
            if is_of_cargo {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().copied());
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command
    }

    #[track_caller]
    fn rts(&self, arguments: &[&str]) -> (String, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_git-rts"));
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {printed}{said}");
        (printed, said)
    }

    #[track_caller]
    fn would_run(&self) -> BTreeSet<String> {
        let (printed, _) = self.rts(&["run", "HEAD", "--dry-run"]);
        printed.lines().map(str::to_owned).collect()
    }

    /// Replaces a text in a file of the work tree.
    #[track_caller]
    fn change(&self, path: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.repo.top().join(path)).unwrap();
        assert!(text.contains(from), "'{from}' is not in '{path}'");
        self.repo.write(path, text.replace(from, to));
    }

    fn restore(&self) {
        self.repo.git(&["checkout", "--quiet", "."]);
        self.repo.git(&["clean", "-fdq"]);
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
