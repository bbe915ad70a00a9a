//! The compiler masquerade: a folder in front of PATH whose `cc`, `gcc`, `clang`, ... are this program, which adds the flags for
//! counting and calls the real compiler. So any build command works, and the project stays as it is. The compilers find their
//! linkers there, too, which note what they link.

pub mod added;
mod arguments;
pub mod headers;
pub mod inputs;
pub mod kept;
mod linker;
mod links;
pub mod mark;
pub mod named;
mod rustc;
pub mod surroundings;
pub mod switches;
mod wrapped;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use self::added::{Purpose, Source};
use self::arguments::{
    absolute, compiles_headers, counts, expanded, is_preprocessed_source, only_source,
    with_real_paths, with_symbols,
};
use self::headers::{Report, Told};
use self::kept::{Call, Same};
pub use self::links::Links;
pub use self::rustc::WRAPPER as RUSTC;
use crate::error::{Error, Result};
use crate::objects::{COMPILER_FLAGS, FLAG_FOR_GCC};

/// The folder of the masquerade; set for the builds that we start, and for nobody else.
pub const FOLDER: &str = "GIT_RTS_MASQUERADE";
/// `llvm`, `gcov` or `rustc`.
const BACKEND: &str = "GIT_RTS_BACKEND";
/// The clang that takes the place of every compiler with the back end `llvm`.
const CLANG: &str = "GIT_RTS_CLANG";

/// Where programs of clang's count that were started without the variable that says so.
const STRAYS: &str = "GIT_RTS_STRAYS";

/// How programs are made to count what they execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// By clang, at this path.
    Llvm { clang: PathBuf },
    /// By whatever gcc the build asks for.
    Gcov,
    /// By rustc, for a build of cargo's; what it counts is read as clang's is. C in such a build does not count.
    Rustc,
}

impl Backend {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Backend::Llvm { .. } => "llvm",
            Backend::Gcov => "gcov",
            Backend::Rustc => "rustc",
        }
    }
}

/// Names under which C and C++ compilers are called; a version may follow.
const COMPILERS: [&str; 9] = [
    "cc", "gcc", "clang", "c89", "c99", "c17", "c++", "g++", "clang++",
];

/// Whether a program name is that of a compiler: `gcc`, `gcc-12`, `x86_64-linux-gnu-gcc`.
fn is_compiler(name: &str) -> bool {
    let unversioned = match name.rsplit_once('-') {
        Some((front, version))
            if !version.is_empty()
                && version
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            front
        }
        _ => name,
    };
    let last = unversioned
        .rsplit_once("-gnu-")
        .map_or(unversioned, |(_, last)| last);
    COMPILERS.contains(&last)
}

/// Fills a folder with the names of all compilers and linkers on PATH, each a link to this program.
pub fn set_up(folder: &Path, path: &OsStr, backend: &Backend) -> std::io::Result<()> {
    let own = std::env::current_exe()?;
    std::fs::create_dir_all(folder)?;
    for entry in std::fs::read_dir(folder)? {
        std::fs::remove_file(entry?.path())?;
    }
    let mut names: Vec<OsString> = COMPILERS[..5].iter().map(OsString::from).collect();
    for place in std::env::split_paths(path).filter(|place| place != folder) {
        let Ok(entries) = std::fs::read_dir(&place) else {
            continue;
        };
        let found = entries.flatten().map(|entry| entry.file_name());
        names.extend(found.filter(|name| name.to_str().is_some_and(is_compiler)));
    }
    let linkers = linker::LINKERS.iter().map(OsString::from);
    names.extend(linkers.filter(|name| linker::real(name, path).is_some()));
    if *backend == Backend::Rustc {
        names.extend([rustc::WRAPPER, rustc::LINKER].map(OsString::from));
    }
    names.sort();
    names.dedup();
    for name in names {
        std::os::unix::fs::symlink(&own, folder.join(name))?;
    }
    Ok(())
}

/// The program of a name on PATH that is not this one under another name: a build that is watched may call us to build something
/// else, and then there are two masquerades.
#[must_use]
pub fn on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|place| place.join(name))
        .find(|candidate| candidate.is_file() && !is_ours(candidate))
}

fn is_ours(program: &Path) -> bool {
    let Ok(real) = program.canonicalize() else {
        return false;
    };
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    real.file_name() == Some(OsStr::new(env!("CARGO_PKG_NAME"))) || own.is_ok_and(|own| own == real)
}

/// The variables by which a build meets the masquerade.
#[must_use]
pub fn environment(
    folder: &Path,
    strays: &Path,
    backend: &Backend,
    path: &OsStr,
) -> Vec<(OsString, OsString)> {
    let places = std::iter::once(folder.to_owned()).chain(std::env::split_paths(path));
    let joined = std::env::join_paths(places).unwrap_or_else(|_| path.to_owned());
    let mut variables = vec![
        ("PATH".into(), joined),
        (FOLDER.into(), folder.into()),
        (BACKEND.into(), backend.name().into()),
        // What comes from a cache no compiler of ours has made: it would tell neither headers nor macros.
        ("CCACHE_DISABLE".into(), "1".into()),
        ("SCCACHE_RECACHE".into(), "1".into()),
    ];
    match backend {
        Backend::Llvm { clang } => {
            variables.push((CLANG.into(), clang.into()));
            variables.push((STRAYS.into(), strays.into()));
        }
        Backend::Gcov => {}
        Backend::Rustc => {
            variables.push((STRAYS.into(), strays.into()));
            variables.extend(rustc::environment(folder));
        }
    }
    variables
}

/// The compiler or linker as which this program was called, if it was.
#[must_use]
pub fn called_as() -> Option<OsString> {
    std::env::var_os(FOLDER)?;
    let name = PathBuf::from(std::env::args_os().next()?);
    let name = name.file_name()?.to_owned();
    let is_ours =
        |name: &str| is_compiler(name) || linker::is_linker(name) || name == rustc::WRAPPER;
    name.to_str().is_some_and(is_ours).then_some(name)
}

/// Does the work of the program as which we were called; answers its exit code.
pub fn stand_in(name: &OsStr) -> Result<u8> {
    let is_linker = name.to_str().is_some_and(linker::is_linker);
    match std::env::var_os(switches::FOLDER) {
        _ if name == rustc::WRAPPER => rustc::compile(),
        Some(folder) if !is_linker => switches::compile(name, &folder),
        Some(_) => linker::call(name),
        None if is_linker => linker::link(name),
        None => compile(name),
    }
}

/// Compiles in place of the compiler as which we were called; answers its exit code.
fn compile(name: &OsStr) -> Result<u8> {
    let folder = std::env::var_os(FOLDER).unwrap_or_default();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    note_defined(&arguments, &defined(Path::new(&folder)))
        .map_err(|error| Error::new(format!("cannot note the macros of options: {error}")))?;
    let backend = std::env::var_os(BACKEND).unwrap_or_default();
    if backend == "llvm" {
        let clang = PathBuf::from(std::env::var_os(CLANG).unwrap_or_default());
        return with_clang(&clang, name, &arguments, Path::new(&folder));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let compiler = on_path(name, &path)
        .ok_or_else(|| Error::new(format!("no compiler '{}' on PATH", name.display())))?;
    if backend == "rustc" {
        return rustc::compile_or_link(&compiler, &arguments, Path::new(&folder));
    }
    with_gcc(&compiler, &arguments, Path::new(&folder))
}

/// The file that keeps the macros which options of the compilers in a folder defined, as C.
#[must_use]
pub fn defined(folder: &Path) -> PathBuf {
    folder.with_extension("defined")
}

/// Adds the macros that stand for names to those known so far.
fn note_defined(arguments: &[OsString], file: &Path) -> std::io::Result<()> {
    let mut new = definitions(arguments);
    if new.is_empty() {
        return Ok(());
    }
    let known = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        known => known?,
    };
    new.retain(|line| !known.lines().any(|known| known == line));
    let text: String = new.iter().map(|line| format!("{line}\n")).collect();
    // One write, because several compilers run at once.
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)?
        .write_all(text.as_bytes())
}

/// The macros among some options whose replacement may mention a name.
fn definitions(arguments: &[OsString]) -> Vec<String> {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let defined = match word.strip_prefix("-D") {
            Some("") => words.get(place + 1).map(AsRef::as_ref),
            other => other,
        };
        let Some((name, value)) = defined.and_then(|defined| defined.split_once('=')) else {
            continue;
        };
        if value.contains(|letter: char| letter.is_alphabetic() || letter == '_') {
            found.push(format!("#define {name} {}", value.replace('\n', " ")));
        }
    }
    found
}

fn with_gcc(compiler: &Path, arguments: &[OsString], folder: &Path) -> Result<u8> {
    let given = absolute(arguments);
    if !counts(arguments) {
        return run(Command::new(compiler).args(given));
    }
    let given = with_symbols(&with_real_paths(&headers::with_all_headers(&given)));
    let report = Report::of_gcc(folder, &given);
    let command = || {
        let mut command = Command::new(compiler);
        report.ask(&mut command);
        command.args(GCC_FLAGS).args(COMPILER_FLAGS);
        command.arg(FLAG_FOR_GCC).arg(linkers_of(folder));
        command
    };
    let source = Source {
        folder,
        purpose: Purpose::Mark,
    };
    if let Some(object) = added::object(compiler, arguments, &source) {
        let mut marked = command();
        marked.arg("-Xlinker").arg(object);
        let can_try_again = !arguments.iter().any(|argument| argument == "-");
        if !can_try_again {
            let ended = run(marked.args(&given))?;
            return taken_in(&report, folder, arguments, ended, None);
        }
        if succeeds(marked.args(&given), compiler)? {
            return taken_in(&report, folder, arguments, 0, None);
        }
        // Perhaps the mark was in the way. Without it every test is in doubt, but the project is built.
    }
    let ended = run(command().args(given))?;
    taken_in(&report, folder, arguments, ended, None)
}

/// Whether a compiler succeeds with what was added for our sake; what it says if it does not is nothing to the user, because it
/// is called again without.
fn succeeds(command: &mut Command, compiler: &Path) -> Result<bool> {
    let output = command
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .output()
        .map_err(|error| cannot_run(compiler, &error))?;
    if output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success())
}

/// Keeps what a compiler that ended with this code read, and what it made of that. The call is there if nothing else came of it.
fn taken_in(
    report: &Report,
    folder: &Path,
    arguments: &[OsString],
    ended: u8,
    call: Option<&Call>,
) -> Result<u8> {
    if report.is_nested {
        return Ok(ended);
    }
    let arguments = expanded(arguments);
    let sources = arguments.iter().filter(|word| is_preprocessed_source(word));
    let told = report.told(sources.count());
    if ended != 0 {
        told.take_in(folder).map_err(|error| cannot_note(&error))?;
        return Ok(ended);
    }
    let kept = call.and_then(|call| Some((call, call.same(folder, &told)?)));
    noted(&told, folder, &arguments, kept)?;
    Ok(0)
}

/// Keeps what a compiler that succeeded read and made, and what is known of a call that can be spared.
fn noted(
    told: &Told,
    folder: &Path,
    arguments: &[OsString],
    kept: Option<(&Call, Same)>,
) -> Result<()> {
    told.take_in(folder)
        .and_then(|()| inputs::note_compiled(folder, arguments, told))
        .and_then(|()| kept.map_or(Ok(()), |(call, same)| call.note(folder, told, same)))
        .map_err(|error| cannot_note(&error))
}

fn cannot_note(error: &std::io::Error) -> Error {
    Error::new(format!(
        "cannot note the headers that a compiler read: {error}"
    ))
}

/// Makes a compiler find its linker in the folder of the masquerade.
fn linkers_of(folder: &Path) -> OsString {
    let mut option = OsString::from("-B");
    option.push(folder);
    option.push("/");
    option
}

const GCC_FLAGS: [&str; 3] = [
    "--coverage",
    // Absolute paths keep files of one name in different folders apart.
    "-fprofile-abs-path",
    // What is inlined before counters are given out has none.
    "-fno-early-inlining",
];

/// Raised when the flags or the notes of compilers change: objects with others are of no use.
pub const FLAGS_VERSION: u32 = 22;

/// What makes clang count.
pub const CLANG_FLAGS: [&str; 10] = [
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    // Counters are kept in the file while the program runs: they survive however it ends.
    "-mllvm",
    "-runtime-counter-relocation",
    // An optimiser would keep the counter of a loop in a register, and lose it when the process is killed.
    "-mllvm",
    "-disable-licm-promotion",
    "-fno-vectorize",
    // What valgrind can read; a project that asks for a version gets it.
    "-fdebug-default-version=4",
    // What other assemblers do not know.
    "-fno-addrsig",
    "-Wl,--build-id",
];

fn with_clang(clang: &Path, name: &OsStr, arguments: &[OsString], folder: &Path) -> Result<u8> {
    let is_plus = name.to_str().is_some_and(|name| name.contains("++"));
    let mut arguments = absolute(arguments);
    let flags = if counts(&arguments) {
        &CLANG_FLAGS[..]
    } else {
        &[]
    };
    let report = Report::of_clang(folder);
    let command = |arguments: &[OsString], object: Option<&PathBuf>| {
        let mut command = Command::new(clang);
        if is_plus {
            command.arg("--driver-mode=g++");
        }
        if flags.is_empty() {
            command.args(arguments);
            return command;
        }
        report.ask(&mut command);
        // Whatever is for the linker would make clang link a header, not compile it in advance; elsewhere it is an error to some.
        let is_for_linker = |flag: &&&str| flag.starts_with("-Wl,");
        let links = !compiles_headers(arguments)
            && !arguments
                .iter()
                .any(|argument| argument == "-c" || argument == "-S");
        command.args(flags.iter().filter(|flag| links || !is_for_linker(flag)));
        command.args(COMPILER_FLAGS);
        if links {
            command.arg(linkers_of(folder));
        }
        command.args(counting_among_strays());
        if let Some(object) = object.filter(|_| links) {
            command.arg("-Xlinker").arg(object);
        }
        command.args(with_symbols(&with_real_paths(arguments)));
        if let Some(source) = only_source(arguments) {
            // Static functions are named after their file: by its whole path, because others may have the same name.
            for part in ["-main-file-name".as_ref(), source.as_os_str()] {
                command.arg("-Xclang").arg(part);
            }
        }
        // What only clang warns of must not stop a build that is made for another compiler.
        command.args(["-Wno-error", "-Wno-unknown-warning-option"]);
        command.arg("-Wno-unused-command-line-argument");
        command
    };
    let strays = std::env::var_os(STRAYS).unwrap_or_default();
    let source = Source {
        folder,
        purpose: Purpose::Reach {
            strays: &strays,
            is_for_rust: false,
        },
    };
    let mut object = match flags {
        [] => None,
        _ => added::object(clang, &arguments, &source),
    };
    loop {
        let call = Call::plain(clang, &arguments, is_plus).filter(|_| !report.is_nested);
        let preprocess = |arguments: &[OsString]| command(arguments, None);
        let kept = |call: &Call| call.take_over(folder, &report, preprocess);
        if let Some(call) = &call
            && let Some((told, same)) = kept(call)
        {
            noted(&told, folder, &arguments, Some((call, same)))?;
            return Ok(0);
        }
        let output = command(&arguments, object.as_ref())
            .stdin(Stdio::inherit())
            .stdout(Stdio::inherit())
            .output()
            .map_err(|error| cannot_run(clang, &error))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        // Options that only gcc knows: without them the program is the same.
        let unknown = unknown_arguments(&errors);
        let given = arguments.len();
        arguments.retain(|argument| !unknown.iter().any(|unknown| argument == unknown.as_str()));
        // Without the object, processes that may not write their counters cannot say so, but the project is built.
        let is_in_the_way = object.take_if(|object| errors.contains(&*object.to_string_lossy()));
        let can_try_again = arguments.len() < given || is_in_the_way.is_some();
        if output.status.success() || !can_try_again {
            eprint!("{errors}");
            let ended = code(output.status);
            return match flags {
                [] => Ok(ended),
                _ => {
                    let call = Call::plain(clang, &arguments, is_plus);
                    let call = call.filter(|_| errors.is_empty());
                    taken_in(&report, folder, &arguments, ended, call.as_ref())
                }
            };
        }
    }
}

/// A program that a test starts with an empty environment counts beside the test's own folder, where it is noticed.
fn counting_among_strays() -> Option<OsString> {
    let mut option = OsString::from("-fprofile-instr-generate=");
    option.push(std::env::var_os(STRAYS)?);
    option.push("/%c%m-%p.profraw");
    Some(option)
}

/// The arguments that clang says it does not know.
fn unknown_arguments(errors: &str) -> Vec<String> {
    let lines = errors.lines();
    let quoted = lines.filter_map(|line| {
        let (_, rest) = line
            .split_once("unknown argument: '")
            .or_else(|| line.split_once("unsupported argument '"))
            .or_else(|| line.split_once("unsupported option '"))?;
        rest.split_once('\'')
            .map(|(argument, _)| argument.to_owned())
    });
    quoted.collect()
}

fn run(command: &mut Command) -> Result<u8> {
    let program = PathBuf::from(command.get_program());
    let status = command
        .status()
        .map_err(|error| cannot_run(&program, &error))?;
    Ok(code(status))
}

fn cannot_run(program: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot run '{}': {error}", program.display()))
}

fn code(status: std::process::ExitStatus) -> u8 {
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "clang-19",
            "x86_64-linux-gnu-gcc-12",
            "g++",
        ] {
            assert!(is_compiler(name), "{name}");
        }
        for name in [
            "gcc-ar",
            "gcc-nm-12",
            "ccache",
            "git-rts",
            "clang-format",
            "cc1",
        ] {
            assert!(!is_compiler(name), "{name}");
        }
    }

    #[test]
    fn macros_that_stand_for_names_are_kept() {
        let given = words("-DNDEBUG -DSIZE=3 -DDEFAULTS=linux_defaults -D F(x)=g(x) -c a.c -D");
        let kept = ["#define DEFAULTS linux_defaults", "#define F(x) g(x)"];
        assert_eq!(definitions(&given), kept);
        let folder = tempfile::tempdir().expect("there is room");
        let file = defined(&folder.path().join("compilers"));
        for _ in 0..2 {
            note_defined(&given, &file).expect("there is room");
        }
        let text = std::fs::read_to_string(file).expect("it was written");
        assert_eq!(text.lines().collect::<Vec<_>>(), kept);
    }

    #[test]
    fn options_that_only_gcc_knows_are_found() {
        let errors = "clang: error: unknown argument: '-fno-tree-x'\nclang: error: unsupported option '-mfoo' for target\n";
        assert_eq!(unknown_arguments(errors), ["-fno-tree-x", "-mfoo"]);
    }
}
