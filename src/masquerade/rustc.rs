//! rustc in the masquerade: cargo calls it through this program, which adds the flags for counting; and the compilers of C that it
//! calls to link find our linkers.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use super::added::{self, Purpose, Source};
use super::arguments::{absolute, counts, with_symbols};
use super::headers::{self, Report};
use super::{STRAYS, linkers_of, run, succeeds, taken_in};
use crate::error::{Error, Result};
use crate::objects::COMPILER_FLAGS;

/// The name under which cargo calls this program in front of rustc.
pub const WRAPPER: &str = "git-rts-rustc";

/// A linker that rustc brings along, and that need not be on PATH.
pub(super) const LINKER: &str = "ld.lld";

/// The folders in which rustc told the compiler to look for linkers.
pub(super) const LINKERS: &str = "GIT_RTS_LINKERS";

/// What makes rustc count.
pub(super) const FLAGS: [&str; 4] = [
    "-Cinstrument-coverage",
    // As with clang: counters are kept in the file while the program runs, and not in registers.
    "-Cllvm-args=-runtime-counter-relocation",
    "-Cllvm-args=-disable-licm-promotion",
    "-Cno-vectorize-loops",
];

/// With several, a function wanders from object to object when another one grows. Where rustc keeps objects from one compilation to the
/// next, each module has its own, and functions stay there.
const ONE_OBJECT: &str = "-Ccodegen-units=1";

/// A backtrace needs the lines. What debuggers know of types beside makes programs half as large again, for the linker and for us.
const LINES_ONLY: &str = "-Cdebuginfo=line-tables-only";

/// Symbols tell what has no counters.
const WITH_SYMBOLS: &str = "-Cstrip=none";

/// The variables by which cargo meets the masquerade.
pub(super) fn environment(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![("RUSTC_WRAPPER".into(), folder.join(WRAPPER).into())]
}

/// Compiles in place of rustc, which is our first argument; answers its exit code.
pub(super) fn compile() -> Result<u8> {
    let mut arguments = std::env::args_os().skip(1);
    let rustc = arguments
        .next()
        .ok_or_else(|| Error::new("cargo did not say which rustc it wants"))?;
    let mut arguments: Vec<OsString> = arguments.collect();
    if is_for_tests(&arguments) && is_optimised(&arguments) {
        arguments = without_incremental(arguments);
    }
    let mut command = Command::new(rustc);
    command.args(&arguments);
    // The last word counts.
    if arguments.iter().any(|word| word == "--crate-name") {
        command.arg(WITH_SYMBOLS);
    }
    if is_for_tests(&arguments) {
        command.args(FLAGS);
        if !is_incremental(&arguments) {
            command.arg(ONE_OBJECT);
        }
        if has_types_for_debuggers(&arguments) {
            command.arg(LINES_ONLY);
        }
    }
    run(&mut command)
}

/// What a call says of code generation (`-C`), one or two words each.
fn codegen_options(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let before = std::iter::once("").chain(words.clone());
    before.zip(words).filter_map(|(before, word)| {
        let joined = word
            .strip_prefix("-C")
            .or_else(|| word.strip_prefix("--codegen="));
        match before {
            "-C" | "--codegen" => Some(word),
            _ => joined.filter(|option| !option.is_empty()),
        }
    })
}

const INCREMENTAL: &str = "incremental=";

/// Whether rustc keeps what it compiled for the next time.
fn is_incremental(arguments: &[OsString]) -> bool {
    codegen_options(arguments).any(|option| option.starts_with(INCREMENTAL))
}

/// Whether code is put into other code: then what an object holds depends on how a crate is cut into objects, and on what was
/// compiled before.
fn is_optimised(arguments: &[OsString]) -> bool {
    let levels = codegen_options(arguments).filter_map(|option| option.strip_prefix("opt-level="));
    let is_short = arguments.iter().any(|word| word == "-O");
    levels.last().unwrap_or(if is_short { "3" } else { "0" }) != "0"
}

/// A call by which rustc keeps nothing for the next time.
fn without_incremental(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::with_capacity(arguments.len());
    for word in arguments {
        let text = word.to_str().unwrap_or_default();
        let is_second = text.starts_with(INCREMENTAL)
            && kept
                .last()
                .is_some_and(|before| before == "-C" || before == "--codegen");
        let joined = ["-C", "--codegen="].map(|option| format!("{option}{INCREMENTAL}"));
        if is_second {
            kept.pop();
        } else if !joined.iter().any(|joined| text.starts_with(joined)) {
            kept.push(word);
        }
    }
    kept
}

/// Whether a call asks for all that debuggers can use. The last word counts.
fn has_types_for_debuggers(arguments: &[OsString]) -> bool {
    let levels = codegen_options(arguments).filter_map(|option| option.strip_prefix("debuginfo="));
    let is_short = arguments.iter().any(|word| word == "-g");
    let level = levels.last().unwrap_or(if is_short { "2" } else { "0" });
    matches!(level, "1" | "limited" | "2" | "full")
}

/// Whether a call compiles what tests may execute. Build scripts and macros are executed by the build: what they make is compared
/// itself, and they would count for nobody.
fn is_for_tests(arguments: &[OsString]) -> bool {
    let after = |option: &str| {
        let mut words = arguments.iter();
        words.find(|word| *word == option)?;
        words.next().and_then(|value| value.to_str())
    };
    let crate_name = after("--crate-name");
    let is_script = crate_name.is_some_and(|name| name.starts_with("build_script_"));
    crate_name.is_some() && !is_script && after("--crate-type") != Some("proc-macro")
}

/// Calls a compiler of C in a build of cargo's: rustc calls it to link, a build script to compile.
pub(super) fn compile_or_link(
    compiler: &Path,
    arguments: &[OsString],
    folder: &Path,
) -> Result<u8> {
    let given = absolute(arguments);
    if !counts(arguments) {
        return run(Command::new(compiler).args(given));
    }
    let given = with_symbols(&headers::with_all_headers(&given));
    let report = Report::of_gcc(folder, &given);
    let command = || {
        let mut command = Command::new(compiler);
        report.ask(&mut command);
        command.env(LINKERS, folders_of_linkers(arguments));
        command.args(COMPILER_FLAGS).arg(linkers_of(folder));
        command
    };
    let strays = std::env::var_os(STRAYS).unwrap_or_default();
    let source = Source {
        folder,
        purpose: Purpose::Reach {
            strays: &strays,
            is_for_rust: true,
        },
    };
    let object = match links_rust(arguments) {
        true => added::object(compiler, arguments, &source),
        false => None,
    };
    if let Some(object) = object {
        let mut added = command();
        added.arg("-Xlinker").arg(object).args(&given);
        if succeeds(&mut added, compiler)? {
            return taken_in(&report, folder, arguments, 0, None);
        }
        // Perhaps the object was in the way: without it, processes that lose their counters cannot say so, but it is linked.
    }
    let ended = run(command().args(given))?;
    taken_in(&report, folder, arguments, ended, None)
}

/// Whether a call links what rustc compiled.
fn links_rust(arguments: &[OsString]) -> bool {
    let is_of_rustc = |word: &OsString| word.as_encoded_bytes().ends_with(b".rcgu.o");
    arguments.iter().any(is_of_rustc)
}

/// Where a call tells a compiler to look for its linker, as a list for PATH.
fn folders_of_linkers(arguments: &[OsString]) -> OsString {
    let folders = arguments.iter().filter_map(|word| {
        let folder = word.to_str()?.strip_prefix("-B")?;
        (!folder.is_empty()).then(|| OsStr::new(folder))
    });
    std::env::join_paths(folders).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::*;

    #[test]
    fn what_only_the_build_executes_does_not_count() {
        for call in [
            "--crate-name one --edition=2021 src/lib.rs --crate-type lib",
            "--crate-name cli --test tests/cli.rs",
        ] {
            assert!(is_for_tests(&words(call)), "{call}");
        }
        for call in [
            "-vV",
            "--crate-name build_script_build build.rs --crate-type bin",
            "--crate-name derive src/lib.rs --crate-type proc-macro",
        ] {
            assert!(!is_for_tests(&words(call)), "{call}");
        }
    }

    #[test]
    fn modules_keep_their_objects_only_where_rustc_keeps_them() {
        for call in [
            "-C incremental=/t/i",
            "-Cincremental=/t",
            "--codegen incremental=/t",
        ] {
            assert!(is_incremental(&words(call)), "{call}");
        }
        for call in [
            "--crate-name incremental",
            "-C opt-level=3",
            "--cfg incremental=x",
        ] {
            assert!(!is_incremental(&words(call)), "{call}");
        }
    }

    #[test]
    fn where_code_is_put_into_other_code_nothing_is_kept() {
        for call in [
            "-C opt-level=3",
            "-Copt-level=s",
            "-O",
            "-C opt-level=0 -C opt-level=1",
        ] {
            assert!(is_optimised(&words(call)), "{call}");
        }
        for call in ["-C debuginfo=2", "--codegen opt-level=0"] {
            assert!(!is_optimised(&words(call)), "{call}");
        }
        for (call, kept) in [
            ("-C incremental=/t -C opt-level=3", "-C opt-level=3"),
            ("a.rs -Cincremental=/t --test", "a.rs --test"),
            ("--codegen=incremental=/t", ""),
            ("--cfg incremental=x", "--cfg incremental=x"),
        ] {
            assert_eq!(without_incremental(words(call)), words(kept), "{call}");
        }
    }

    #[test]
    fn what_only_debuggers_need_is_left_out() {
        for call in [
            "-g",
            "-C debuginfo=2",
            "-Cdebuginfo=full",
            "-C debuginfo=0 -C debuginfo=1",
        ] {
            assert!(has_types_for_debuggers(&words(call)), "{call}");
        }
        for call in [
            "-C opt-level=2",
            "-C debuginfo=line-tables-only",
            "-Cdebuginfo=2 -Cdebuginfo=0",
        ] {
            assert!(!has_types_for_debuggers(&words(call)), "{call}");
        }
    }

    #[test]
    fn linkers_that_rustc_brings_along_are_found() {
        let call = words("-m64 a.rcgu.o -B/sysroot/gcc-ld -fuse-ld=lld -B/x");
        assert!(links_rust(&call));
        assert_eq!(folders_of_linkers(&call), "/sysroot/gcc-ld:/x");
    }
}
