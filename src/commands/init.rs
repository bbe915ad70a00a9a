//! `git rts init`: looks at a project, says what it found, writes a file of settings and offers the hook.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write as _};
use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::commands::hook::{self, Name};
use crate::commands::output::{Format, print, print_json};
use crate::config::{Config, FILE, file_with};
use crate::emit::plan_text::count;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{Histories, PATIENCE};
use crate::hooks::Hook;
use crate::masquerade::Backend;
use crate::recording::{backend, fingerprint, settings};
use crate::repo::Repository;
use crate::runner::{Runner, detect, fitting};
use crate::scratch::Scratch;
use crate::selection;

/// Look at a project, write a commented .git-rts.toml, and offer the hook that guards pushes
///
/// Says which runner, compiler and coverage back end will be used, and why. A .git-rts.toml that is there is left alone. Nothing is built, and nothing else is added to the repository.
#[derive(Debug, Args)]
pub struct Init {
    /// Install this hook, too, and do not ask
    #[arg(long, value_name = "HOOK")]
    hook: Option<Name>,
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// What a project looks like.
#[derive(Debug, Serialize)]
struct Found {
    version: u32,
    runner: Option<FoundRunner>,
    /// What else would fit.
    other_runners: Vec<FoundRunner>,
    /// How many tests are known; nothing before the first run.
    tests: Option<usize>,
    compiler: Option<String>,
    backend: &'static str,
    /// Why it is not the better one.
    backend_because: Option<String>,
    /// Whether the file of settings was written now.
    wrote_settings: bool,
    hook: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct FoundRunner {
    name: &'static str,
    because: String,
}

pub(super) fn run(arguments: &Init) -> Result<()> {
    let repository = Repository::discover()?;
    let Some(top) = repository.workdir() else {
        return Err(Error::new("a bare repository has no work tree to set up")
            .hint("run it in a clone or a worktree")
            .exit_code(ExitCode::Repository));
    };
    let config = Config::read(&repository)
        .map_err(|error| error.hint("correct it, or move the file away to begin anew"))?;
    let mut found = look(&repository, top, &config)?;
    if arguments.format == Format::Text {
        print(&describe(&found))?;
    }
    found.wrote_settings = write(top, &found)?;
    match found.wrote_settings {
        true => anstream::eprintln!("'{FILE}' is written; every line in it is optional"),
        false => anstream::eprintln!("'{FILE}' is there, and left as it is"),
    }
    let wanted = arguments.hook.map(Name::hook);
    found.hook = match wanted {
        Some(hook) => {
            hook::install(hook, false)?;
            Some(hook.name())
        }
        None => offer(&repository, arguments.format)?,
    };
    if arguments.format == Format::Json {
        return print_json(&found);
    }
    if found.tests.is_none() && found.runner.is_some() {
        anstream::eprintln!(
            "next: commit '{FILE}'; then 'git rts run' builds a copy, runs every test and records what it does"
        );
    }
    Ok(())
}

fn look(repository: &Repository, top: &Path, config: &Config) -> Result<Found> {
    let settings = settings(config);
    let mut fit: Vec<FoundRunner> = fitting(top)
        .map(|(runner, because)| FoundRunner {
            name: runner.name(),
            because,
        })
        .collect();
    let taken = detect(top, &settings);
    let own = taken.as_ref().ok().and_then(|runner| runner.backend());
    let runner = match taken.map(Runner::name) {
        Ok(name) => {
            let at = fit.iter().position(|runner| runner.name == name);
            let is_said = settings.runner.is_some() || settings.run.is_some();
            Some(match at.map(|at| fit.remove(at)) {
                Some(runner) if !is_said => runner,
                _ => FoundRunner {
                    name,
                    because: "the configuration says so".to_owned(),
                },
            })
        }
        // A runner that does not exist is a mistake; none that fits is not.
        Err(error) if settings.runner.is_some() => return Err(error),
        Err(_) => None,
    };
    let scratch = Scratch::new()
        .map_err(|error| Error::new(format!("cannot make a temporary folder: {error}")))?;
    let (backend, backend_because) = backend::choose(own, config.backend, scratch.path())?;
    Ok(Found {
        version: 1,
        runner,
        other_runners: fit,
        tests: known_tests(repository),
        compiler: compiler(&backend),
        backend: backend.name(),
        backend_because,
        wrote_settings: false,
        hook: None,
    })
}

fn compiler(backend: &Backend) -> Option<String> {
    fingerprint::compiler_version(backend)
}

/// How many tests are known. To list them otherwise, the project would have to be configured at least.
fn known_tests(repository: &Repository) -> Option<usize> {
    let rts = repository.rts_dir();
    if !rts.join("history").exists() {
        return None;
    }
    let histories = Histories::look(&rts, PATIENCE).ok()??;
    let head = repository.default_head().ok()?;
    let tests = selection::known_tests(repository, &histories, head).ok()?;
    (!tests.is_empty()).then_some(tests.len())
}

fn describe(found: &Found) -> String {
    let mut text = String::new();
    let _ = match &found.runner {
        Some(runner) => writeln!(text, "runner    {}: {}", runner.name, runner.because),
        None => writeln!(
            text,
            "runner    none: no tests were found that are run by CTest, Meson, Automake, cargo or make;\n          \
             say in '{FILE}' under [tests] how they are listed and run:\n          \
             runner = \"command\"\n          \
             list = \"cat tests/list\"        # prints a test a line\n          \
             run = \"tests/run-one {{test}}\"   # runs one test; exit 0 pass, 77 skip\n          \
             and under [build] what builds them, because this runner builds nothing by itself:\n          \
             command = \"make\""
        ),
    };
    for other in &found.other_runners {
        let _ = writeln!(
            text,
            "          or {}: {}; 'runner = \"{}\"' under [tests] in '{FILE}' takes it",
            other.name, other.because, other.name
        );
    }
    let _ = match found.tests {
        Some(tests) => writeln!(text, "tests     {}", count(tests, "test")),
        None => writeln!(text, "tests     known after the first 'git rts run'"),
    };
    let compiler = found.compiler.as_deref();
    let _ = writeln!(
        text,
        "compiler  {}",
        compiler.unwrap_or("none: install clang, or gcc")
    );
    let why = found.backend_because.as_deref();
    let _ = match why {
        Some(why) => writeln!(text, "coverage  {}, because {why}", found.backend),
        None => writeln!(text, "coverage  {}", found.backend),
    };
    text
}

/// Writes the file of settings, unless there is one.
fn write(top: &Path, found: &Found) -> Result<bool> {
    let mut set = Vec::new();
    if let Some(runner) = &found.runner
        && !found.other_runners.is_empty()
    {
        // What was taken must not change because somebody adds or removes a file.
        set.push((("tests", "runner"), format!("\"{}\"", runner.name)));
    }
    let cannot = |error| Error::new(format!("cannot write '{FILE}': {error}"));
    let mut file = match File::create_new(top.join(FILE)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        other => other.map_err(cannot)?,
    };
    file.write_all(file_with(&set).as_bytes()).map_err(cannot)?;
    Ok(true)
}

/// Asks at a terminal whether to install the hook that guards pushes; elsewhere says how. Answers the hook that is installed.
fn offer(repository: &Repository, format: Format) -> Result<Option<&'static str>> {
    let hook = Hook::PrePush;
    let name = hook.name();
    let folder = hook::folder(repository)?;
    if folder.state(hook).is_ours() {
        anstream::eprintln!("the {name} hook is installed");
        return Ok(Some(name));
    }
    let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let manager = hook::manager_of(repository, &folder);
    if let Some(manager) = manager {
        anstream::eprintln!(
            "{} manages the hooks here; 'git rts hook install {name}' prints the lines to add",
            manager.name()
        );
        return Ok(None);
    }
    if is_asked && format == Format::Text {
        anstream::eprint!("install the {name} hook, which tests what a push can affect? [y/N] ");
        let mut answer = String::new();
        // Who closes the terminal has said no.
        let _ = std::io::stdin().read_line(&mut answer);
        if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            hook::install(hook, false)?;
            return Ok(Some(name));
        }
    }
    anstream::eprintln!(
        "hint: 'git rts hook install {name}' tests what a push can affect before it goes"
    );
    Ok(None)
}
