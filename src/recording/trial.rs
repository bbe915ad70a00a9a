//! A trial of the compilers: a small program is compiled as builds are compiled here, runs, and what it counted is read.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Placer, session};
use crate::masquerade::{self, Backend};
use crate::program::Program;

const C: &str = "int main(int argc, char **argv)\n{\n    return argv[0] == 0 || argc > 1;\n}\n";

const RUST: &str =
    "fn main() {\n    std::process::exit(i32::from(std::env::args().count() > 1))\n}\n";

/// Tries a back end in an empty folder; answers what is wrong.
pub fn trial(backend: &Backend, scratch: &Path) -> Result<(), String> {
    let folder = |name: &str| scratch.join(name);
    let (compilers, strays, profiles) = (folder("compilers"), folder("strays"), folder("profiles"));
    let (tree, path) = (folder("tree"), std::env::var_os("PATH").unwrap_or_default());
    let cannot = |error: std::io::Error| format!("cannot make a small program: {error}");
    for folder in [&tree, &profiles] {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let (compiler, words, source) = match backend {
        Backend::Llvm { .. } | Backend::Gcov => ("cc", &["-o", "trial", "trial.c"][..], C),
        Backend::Rustc => {
            let words = &["rustc", "--crate-name", "trial", "-o", "trial", "trial.rs"][..];
            (masquerade::RUSTC, words, RUST)
        }
    };
    let name = words.last().copied().unwrap_or_default();
    fs::write(tree.join(name), source).map_err(cannot)?;
    masquerade::set_up(&compilers, &path, backend).map_err(cannot)?;
    let compiled = Command::new(compilers.join(compiler))
        .args(words)
        .current_dir(&tree)
        .envs(masquerade::environment(&compilers, &strays, backend, &path))
        .stdin(Stdio::null())
        .output();
    succeeded(compiled, "a small program cannot be compiled")?;
    let placer = Placer::new(&tree, Program::new(Vec::new(), &[]));
    let recorder = session::recorder(backend, &placer, &[&tree], &strays);
    let ran = Command::new(tree.join("trial"))
        .current_dir(&tree)
        .envs(recorder.environment(&profiles))
        .stdin(Stdio::null())
        .output();
    succeeded(ran, "a small program with counters does not run")?;
    let recorded = recorder.read(&profiles);
    match recorded.doubt {
        Some(doubt) => Err(format!(
            "what a small program counted cannot be used: {doubt}"
        )),
        None if recorded.is_empty => Err("a small program wrote no counters".to_owned()),
        None => Ok(()),
    }
}

fn succeeded(output: std::io::Result<Output>, otherwise: &str) -> Result<(), String> {
    let output = output.map_err(|error| format!("{otherwise}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error"));
    let first = first.or(said.lines().next()).unwrap_or("it fails");
    Err(format!("{otherwise}: {first}"))
}
