//! C programs, compiled with coverage and run with a folder of their own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use git_rts::coverage::gcov::data::{self, Data};
use git_rts::coverage::gcov::notes::{self, Notes};
use tempfile::TempDir;

/// A compiler, its `gcov`, and the Debian package that brings both.
#[derive(Clone, Copy)]
pub(crate) struct Compiler {
    pub(crate) gcc: &'static str,
    pub(crate) gcov: &'static str,
    package: &'static str,
}

pub(crate) const COMPILERS: [Compiler; 2] = [
    Compiler {
        gcc: "gcc",
        gcov: "gcov",
        package: "gcc",
    },
    Compiler {
        gcc: "gcc-11",
        gcov: "gcov-11",
        package: "gcc-11",
    },
];

pub(crate) struct Compiled {
    pub(crate) compiler: Compiler,
    folder: TempDir,
}

/// One run: what it left, and what it said.
pub(crate) struct Run {
    pub(crate) compiler: Compiler,
    folder: TempDir,
    build: PathBuf,
    pub(crate) status: ExitStatus,
}

pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gcov_reader/programs")
}

impl Compiler {
    /// Runs a tool of this compiler, which must be there and succeed.
    pub(crate) fn call(self, tool: &str, command: &mut Command) -> Output {
        let output = command.output().unwrap_or_else(|error| {
            panic!(
                "cannot run '{tool}' ({error}): install the package '{}'",
                self.package
            )
        });
        assert!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    fn gcc(self, folder: &Path) -> Command {
        let mut command = Command::new(self.gcc);
        command.current_dir(folder);
        command
    }
}

/// Compiles named programs into `main`; `libraries` become one shared library.
pub(crate) fn compile(
    compiler: Compiler,
    flags: &[&str],
    programs: &[&str],
    libraries: &[&str],
) -> Compiled {
    let flags: Vec<&str> = [&["--coverage", "-fprofile-abs-path", "-w"], flags].concat();
    let folder = tempfile::tempdir().unwrap();
    let build = real(folder.path()).join("build");
    std::fs::create_dir(&build).unwrap();
    let object = |source: &str| build.join(source).with_extension("o");
    for source in programs.iter().chain(libraries) {
        let mut command = compiler.gcc(&build);
        command.args(&flags).args(["-fPIC", "-c", "-o"]);
        command.arg(object(source)).arg(sources().join(source));
        compiler.call(compiler.gcc, &mut command);
    }
    let mut command = compiler.gcc(&build);
    command.args(["-w", "-fPIC", "-c", "-o"]);
    command.arg(object("ran.c")).arg(sources().join("ran.c"));
    compiler.call(compiler.gcc, &mut command);
    if !libraries.is_empty() {
        let mut command = compiler.gcc(&build);
        command.args(["--coverage", "-shared", "-o", "library.so"]);
        command.args(libraries.iter().map(|source| object(source)));
        compiler.call(compiler.gcc, &mut command);
    }
    let mut command = compiler.gcc(&build);
    command.args(["--coverage", "-pthread", "-rdynamic", "-o", "main"]);
    command.args(programs.iter().map(|source| object(source)));
    command.arg(object("ran.c"));
    if !libraries.is_empty() {
        command.args(["library.so", "-Wl,-rpath,$ORIGIN"]);
    }
    compiler.call(compiler.gcc, &mut command);
    Compiled { compiler, folder }
}

/// Temporary folders may lie behind a link, and the compiler writes real paths.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

impl Compiled {
    pub(crate) fn build_folder(&self) -> PathBuf {
        real(self.folder.path()).join("build")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("data");
        std::fs::create_dir(&prefix).unwrap();
        let build = self.build_folder();
        let status = Command::new(build.join("main"))
            .args(arguments)
            .env("GCOV_PREFIX", &prefix)
            .env("RAN_FILE", folder.path().join("ran"))
            .envs(environment.iter().copied())
            .status()
            .unwrap();
        Run {
            compiler: self.compiler,
            folder,
            build,
            status,
        }
    }

    /// Where a text stands in a source.
    pub(crate) fn line(&self, source: &str, text: &str) -> (String, u32) {
        let path = sources().join(source);
        let source = std::fs::read_to_string(&path).unwrap();
        let line = source.lines().position(|line| line.contains(text)).unwrap();
        (path.to_str().unwrap().to_owned(), line as u32 + 1)
    }
}

impl Run {
    pub(crate) fn folder(&self) -> PathBuf {
        real(self.folder.path()).join("data")
    }

    /// Where the data of the objects lie.
    pub(crate) fn data_folder(&self) -> PathBuf {
        self.folder().join(self.build.strip_prefix("/").unwrap())
    }

    /// The notes of an object, and its data.
    pub(crate) fn files(&self, object: &str) -> (Vec<u8>, Vec<u8>) {
        let notes = self.build.join(object).with_extension("gcno");
        let data = self.data_folder().join(object).with_extension("gcda");
        (std::fs::read(notes).unwrap(), std::fs::read(data).unwrap())
    }

    pub(crate) fn pair(&self, object: &str) -> (Notes, Data) {
        let (notes, data) = self.files(object);
        (notes::read(&notes).unwrap(), data::read(&data).unwrap())
    }

    /// The lines that the program said it executed.
    pub(crate) fn truth(&self) -> BTreeSet<(String, u32)> {
        let said = std::fs::read_to_string(self.folder.path().join("ran")).unwrap_or_default();
        said.lines()
            .map(|line| {
                let (file, line) = line.rsplit_once(':').unwrap();
                (file.to_owned(), line.parse().unwrap())
            })
            .collect()
    }
}
