//! The installed versions of clang: compiling, running, and the tools that come with each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use tempfile::TempDir;

/// The oldest that we know, one between, and the newest: raw profiles of versions 8, 8 and 10.
pub(crate) const VERSIONS: [u32; 3] = [14, 16, 19];

/// The flags that the recording of tests uses.
pub(crate) const COVERAGE: [&str; 5] = [
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    "-mllvm",
    "-runtime-counter-relocation",
    "-Wno-unused-command-line-argument",
];

/// Optimisers like to keep the counter of a loop in a register until the loop ends; with these they do not.
pub(crate) const COUNT_IN_MEMORY: [&str; 3] =
    ["-mllvm", "-disable-licm-promotion", "-fno-vectorize"];

/// Profiles that are kept up to date while the program runs, or written when it ends.
pub(crate) const CONTINUOUS: &str = "%c%m-%p.profraw";
pub(crate) const AT_EXIT: &str = "%m-%p.profraw";

/// A folder with the sources of all test programs.
pub(crate) struct Bench {
    pub(crate) version: u32,
    room: TempDir,
}

macro_rules! programs {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("programs/", $name)))),*] };
}

const PROGRAMS: [(&str, &str); 12] = programs![
    "statements.c",
    "macros.c",
    "macros.h",
    "part.h",
    "cases.h",
    "other.c",
    "library.c",
    "uses_library.c",
    "jumps.c",
    "ends.c",
    "threads.c",
    "loops.c"
];

impl Bench {
    pub(crate) fn new(version: u32) -> Self {
        let room = TempDir::new().unwrap();
        for (name, text) in PROGRAMS {
            fs::write(room.path().join(name), text).unwrap();
        }
        Bench { version, room }
    }

    pub(crate) fn top(&self) -> &Path {
        self.room.path()
    }

    /// Runs clang in the folder.
    pub(crate) fn clang(&self, arguments: &[&str]) {
        let name = format!("clang-{}", self.version);
        let output = run(
            Command::new(&name)
                .args(arguments)
                .current_dir(self.top())
                .env_remove("LLVM_PROFILE_FILE"),
            &name,
        );
        assert!(
            output.status.success(),
            "{name} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Compiles with the flags of the recording.
    pub(crate) fn compile(&self, arguments: &[&str]) {
        self.clang(&[&COVERAGE, arguments].concat());
    }

    /// Runs a program of the folder; answers how it ended and the profiles that it left.
    pub(crate) fn run(
        &self,
        program: &str,
        pattern: &str,
        arguments: &[&str],
    ) -> (ExitStatus, Vec<PathBuf>) {
        let profiles = TempDir::new_in(self.top()).unwrap().keep();
        let output = Command::new(self.top().join(program))
            .args(arguments)
            .env("LLVM_PROFILE_FILE", profiles.join(pattern))
            .env("LD_LIBRARY_PATH", self.top())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("LLVM Profile"), "{program}: {errors}");
        let mut files: Vec<PathBuf> = fs::read_dir(profiles)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        (output.status, files)
    }

    /// Runs a tool of LLVM and answers what it printed.
    pub(crate) fn llvm(&self, tool: &str, arguments: &[&str]) -> String {
        let name = format!("llvm-{tool}-{}", self.version);
        let output = run(
            Command::new(&name).args(arguments).current_dir(self.top()),
            &name,
        );
        assert!(
            output.status.success(),
            "{name} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

fn run(command: &mut Command, name: &str) -> Output {
    command.output().unwrap_or_else(|error| {
        let version = name.rsplit('-').next().unwrap();
        let package = if name.starts_with("clang") {
            format!("clang-{version}")
        } else {
            format!("llvm-{version}")
        };
        panic!("cannot run '{name}': {error}; install the package '{package}'")
    })
}
