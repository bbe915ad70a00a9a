//! The tools: the runner's, the compiler with its counters, and the kernel that tells what tests look at.

use std::path::Path;

use super::check::Check;
use crate::config::{Config, FILE};
use crate::masquerade::Backend;
use crate::recording::{backend, fingerprint, settings, trial};
use crate::runner::follow::Follow;
use crate::runner::{Runner, commands, detect, fitting};
use crate::scratch::Scratch;

/// The runner, why it was taken, and whether its tools are there.
pub(super) fn runner(top: &Path, config: &Config) -> Check {
    let settings = settings(config);
    let runner = match detect(top, &settings) {
        Ok(runner) => runner,
        Err(error) => return Check::failed("runner", &error),
    };
    let name = runner.name();
    if name == "command"
        && let Err(error) = commands(&settings)
    {
        return Check::failed("runner", &error);
    }
    let mut tools = Vec::new();
    for tool in runner.tools(top) {
        // A shell has no version to tell, and nothing works without one.
        if tool == "sh" {
            continue;
        }
        match fingerprint::version_of(Path::new(tool)) {
            Some(version) => tools.push(version),
            None => {
                return Check::fail(
                    "runner",
                    format!("{name}, but '{tool}' was not found"),
                    format!(
                        "install '{tool}', or name another runner in '{FILE}' ([tests] runner)"
                    ),
                );
            }
        }
    }
    let is_said = settings.runner.is_some() || settings.run.is_some();
    let fit: Vec<_> = fitting(top).collect();
    let because = fit.iter().find(|(fits, _)| fits.name() == name && !is_said);
    let because = because.map_or("the configuration says so", |(_, because)| because);
    let says = [vec![format!("{name}: {because}")], tools]
        .concat()
        .join("; ");
    match fit.len() {
        2.. if !is_said => {
            let others: Vec<&str> = fit.iter().map(|(runner, _)| runner.name()).collect();
            Check::warn(
                "runner",
                format!("{says}; {} would fit", others[1..].join(" and ")),
                format!("write 'runner = \"{name}\"' under [tests] in '{FILE}', so that it stays"),
            )
        }
        _ => Check::ok("runner", says),
    }
}

/// The compiler, and whether a small program that it makes counts and tells.
pub(super) fn compiler(top: &Path, config: &Config) -> Vec<Check> {
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(error) => {
            let says = format!("cannot make a temporary folder: {error}");
            return vec![Check::fail(
                "compiler",
                says,
                "set TMPDIR to a folder that can be written",
            )];
        }
    };
    let runner = detect(top, &settings(config)).ok();
    let own = runner.and_then(Runner::backend);
    let (backend, reason) = match backend::choose(own, config.backend, scratch.path()) {
        Ok(chosen) => chosen,
        Err(error) => return vec![Check::failed("compiler", &error)],
    };
    let name = backend.name();
    let Some(version) = fingerprint::compiler_version(&backend) else {
        return vec![Check::fail(
            "compiler",
            "there is neither 'clang' nor 'cc' on PATH",
            "install clang with its runtime, or gcc",
        )];
    };
    let compiler = match reason {
        None => Check::ok("compiler", format!("{version}; back end {name}")),
        Some(reason) => Check::warn(
            "compiler",
            format!("{version}; back end {name}, because {reason}"),
            "install clang with its runtime: it counts edges, gcc counts lines",
        ),
    };
    vec![compiler, counters(&backend, scratch.path())]
}

fn counters(backend: &Backend, scratch: &Path) -> Check {
    match trial(backend, scratch) {
        Ok(()) => Check::ok(
            "counters",
            "a small program counts, and what it counts is read",
        ),
        Err(why) => Check::fail(
            "counters",
            why,
            match backend {
                Backend::Llvm { .. } => {
                    "is clang's runtime there ('apt install libclang-rt-dev')? coverage.backend = \"gcov\" uses gcc"
                }
                Backend::Gcov => "can 'cc --coverage' make a program that runs?",
                Backend::Rustc => {
                    "has this rustc its runtime for counting (profiler_builtins)? those of rustup have it"
                }
            },
        ),
    }
}

pub(super) fn following() -> Check {
    match Follow::below(&[]).obstacle() {
        None => Check::ok("following", "what tests look at is seen"),
        Some(why) => Check::warn(
            "following",
            format!("only files that tests open are seen: {why}"),
            "more is selected where files come, go or are generated; Linux 5.19 or later lets us follow",
        ),
    }
}
