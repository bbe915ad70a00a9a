//! Versions of tools that Debian does not have, from PyPI, kept between runs.

#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the programs of a package, for instance `cmake==3.20.5`, or `cmake` for the newest.
pub(crate) fn programs(package: &str) -> PathBuf {
    let top = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = top.join(format!("pypi-{}", package.replace("==", "-")));
    // Tests in other processes may be after the same: who holds the lock installs it.
    let lock = fs::File::create(kept.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let done = kept.join("done");
    if !done.exists() {
        let _ = fs::remove_dir_all(&kept);
        let run = |program: &Path, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output();
            let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
            assert!(
                output.status.success(),
                "{} {arguments:?}, for which tests/run installs python3-venv: {}",
                program.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        };
        run(
            Path::new("python3"),
            &["-m", "venv", kept.to_str().unwrap()],
        );
        run(&kept.join("bin/pip"), &["install", "--quiet", package]);
        fs::write(done, "").unwrap();
    }
    kept.join("bin")
}
