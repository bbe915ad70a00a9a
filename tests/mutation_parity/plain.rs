//! A subject built plainly and run without git-rts: what its tests really do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How a test ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The status as a shell sees it, and the output.
    Ended(i32, Vec<u8>),
    /// What it had printed until then depends on the machine.
    TimedOut,
}

pub(crate) type Outcomes = BTreeMap<String, Outcome>;

/// Seconds that a test gets at first; they take milliseconds.
pub(crate) const SHORT: &str = "0.2";
/// Seconds after which nobody can say that the machine was busy.
pub(crate) const LONG: &str = "10";

/// Runs each test under the same limits: no core files, little memory, little output, little time.
/// In a subshell, because otherwise what the shell itself says about it would go to a file that may be full.
const SCRIPT: &str = "ulimit -c 0; ulimit -v 1000000; ulimit -f 256
limit=$1; shift
for test; do
  (exec timeout $limit ./program $test >out/$test 2>&1 </dev/null)
  echo $? >out/$test.status
done";

const TIMED_OUT: i32 = 124;

/// A folder with the objects of the base and a program.
pub(crate) struct Plain {
    room: PathBuf,
    sources: Vec<String>,
}

impl Plain {
    /// Builds the base.
    pub(crate) fn new(room: &Path, tree: &Path, sources: Vec<String>) -> Self {
        fs::create_dir_all(room.join("base")).unwrap();
        fs::create_dir_all(room.join("mutant")).unwrap();
        fs::create_dir_all(room.join("out")).unwrap();
        let plain = Plain {
            room: room.to_owned(),
            sources,
        };
        for source in &plain.sources {
            assert!(plain.compile(tree, source, "base"), "{source} compiles");
        }
        assert!(plain.link(|_| "base"), "the base links");
        plain
    }

    /// Builds the tree after one file was changed; false if that cannot be done.
    pub(crate) fn build(&self, tree: &Path, changed: &str) -> bool {
        let is_stale = |source: &str| source == changed || !changed.ends_with(".c");
        let mut stale = self.sources.iter().filter(|source| is_stale(source));
        stale.all(|source| self.compile(tree, source, "mutant"))
            && self.link(|source| if is_stale(source) { "mutant" } else { "base" })
    }

    fn object(&self, folder: &str, source: &str) -> PathBuf {
        self.room.join(folder).join(source).with_extension("o")
    }

    fn compile(&self, tree: &Path, source: &str, folder: &str) -> bool {
        let mut compiler = Command::new("cc");
        compiler.args(["-O0", "-w", "-c", source]).args(zeroing());
        compiler.arg("-o").arg(self.object(folder, source));
        succeeds(compiler.current_dir(tree))
    }

    fn link<'a>(&self, folder: impl Fn(&str) -> &'a str) -> bool {
        let objects = self.sources.iter();
        let objects = objects.map(|source| self.object(folder(source), source));
        let mut linker = Command::new("cc");
        linker.args(objects).args(["-o", "program"]);
        succeeds(linker.current_dir(&self.room))
    }

    /// The names of the tests, which the program prints.
    pub(crate) fn list(&self) -> Vec<String> {
        let output = Command::new(self.room.join("program")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn run<'a>(
        &self,
        tests: impl IntoIterator<Item = &'a String>,
        limit: &str,
    ) -> Outcomes {
        let tests: Vec<&String> = tests.into_iter().collect();
        let mut shell = shell();
        shell.args(["-c", SCRIPT, "sh", limit]).args(&tests);
        let ended = shell.current_dir(&self.room).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let outcome = |test: &String| {
            let out = self.room.join("out").join(test);
            let status = fs::read_to_string(out.with_extension("status")).unwrap();
            match status.trim().parse().unwrap() {
                TIMED_OUT => Outcome::TimedOut,
                status => Outcome::Ended(status, fs::read(out).unwrap()),
            }
        };
        let outcomes = tests.into_iter().map(|test| (test.clone(), outcome(test)));
        outcomes.collect()
    }
}

/// A shell whose programs have the same addresses each time, where that is allowed.
fn shell() -> Command {
    static IS_ALLOWED: OnceLock<bool> = OnceLock::new();
    let fixed = || {
        let mut command = Command::new("setarch");
        command.args(["-R", "sh"]);
        command
    };
    if *IS_ALLOWED.get_or_init(|| succeeds(fixed().args(["-c", ":"]))) {
        fixed()
    } else {
        Command::new("sh")
    }
}

/// Local variables without a value are zero where the compiler can do that, so that mutants behave the same each time.
fn zeroing() -> Option<&'static str> {
    static OPTION: OnceLock<Option<&'static str>> = OnceLock::new();
    *OPTION.get_or_init(|| {
        let option = "-ftrivial-auto-var-init=zero";
        let mut compiler = Command::new("cc");
        compiler.args([option, "-fsyntax-only", "-x", "c", "/dev/null"]);
        succeeds(&mut compiler).then_some(option)
    })
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
