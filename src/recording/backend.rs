//! Which back end records: clang where it can, gcc otherwise.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::config::WantedBackend;
use crate::error::{Error, Result};
use crate::masquerade::{self, Backend, CLANG_FLAGS};

/// The back end to use, which the runner may bring along, and why it is not the better one.
pub fn choose(
    own: Option<Backend>,
    wanted: WantedBackend,
    scratch: &Path,
) -> Result<(Backend, Option<String>)> {
    // Who compiles no C has no choice.
    if let Some(own) = own {
        return match own == Backend::Rustc && !can_count() {
            true => Err(Error::new(
                "this rustc cannot make programs that count: it has no 'profiler_builtins'",
            )
            .hint("take a toolchain of rustup, or the package of your system with that library")),
            false => Ok((own, None)),
        };
    }
    let clang = || find_clang(scratch);
    match wanted {
        WantedBackend::Gcov => Ok((Backend::Gcov, None)),
        WantedBackend::Llvm => match clang() {
            Ok(clang) => Ok((Backend::Llvm { clang }, None)),
            Err(reason) => Err(Error::new(format!("the back end 'llvm' cannot be used: {reason}"))
                .hint("install clang with its runtime ('apt install clang'), or set coverage.backend = \"gcov\"")),
        },
        WantedBackend::Auto => Ok(match clang() {
            Ok(clang) => (Backend::Llvm { clang }, None),
            Err(reason) => (Backend::Gcov, Some(reason)),
        }),
    }
}

/// Whether rustc has its runtime for counting; where it does not say where its libraries are, the build will tell.
fn can_count() -> bool {
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .stdin(Stdio::null())
        .output();
    let said = asked.ok().filter(|output| output.status.success());
    let Some(said) = said else {
        return true;
    };
    let folder = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let mut libraries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    libraries.any(|library| {
        let name = library.file_name();
        name.as_encoded_bytes().starts_with(b"libprofiler_builtins")
    })
}

/// A clang that can make a program that counts.
fn find_clang(scratch: &Path) -> std::result::Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let clang =
        masquerade::on_path(OsStr::new("clang"), &path).ok_or("there is no 'clang' on PATH")?;
    let (source, program) = (scratch.join("trial.c"), scratch.join("trial"));
    std::fs::write(&source, "int main(void) { return 0; }\n").map_err(|error| error.to_string())?;
    let tried = Command::new(&clang)
        .args(CLANG_FLAGS)
        .arg("-o")
        .args([&program, &source])
        .stdin(Stdio::null())
        .output();
    let _ = std::fs::remove_file(&program);
    let _ = std::fs::remove_file(&source);
    match tried {
        Ok(output) if output.status.success() => Ok(clang),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let first = errors.lines().find(|line| line.contains("error"));
            Err(format!(
                "clang cannot make programs that count: {}",
                first.or(errors.lines().next()).unwrap_or_default()
            ))
        }
        Err(error) => Err(format!("cannot run clang: {error}")),
    }
}
