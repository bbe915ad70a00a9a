//! What a selection costs: `cargo bench --bench select`.
//!
//! A generated project of 20,000 functions with a history of up to 10,000 tests; `git rts select HEAD~1` with a warm cache beside
//! `ctest -N` on as many tests and `git diff --stat HEAD~1`, in one run. CTest and GNU time must be there.

mod generated;

use std::fmt::Write as _;
use std::time::Duration;

use generated::{best, peak, project, run};

const FILES: usize = 200;

fn main() {
    println!(
        "| tests | changed functions | selected | `git rts select` | `ctest -N` | ratio | `git diff --stat` | ratio | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for tests in [1_000, 10_000] {
        for changed in [1, 10, 100] {
            println!("{}", line(tests, changed));
        }
    }
}

fn line(tests: usize, changed: usize) -> String {
    let folder = project(FILES, tests, changed);
    let top = folder.path();
    let listing: String = (0..tests).fold(String::new(), |mut text, test| {
        let _ = writeln!(text, "add_test(test_{test} \"/bin/true\" \"{test}\")");
        text
    });
    let other = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(other.path().join("CTestTestfile.cmake"), listing).expect("there is room");
    let rts = env!("CARGO_BIN_EXE_git-rts");
    let selected = run(top, rts, &["select", "HEAD~1"]).lines().count();
    let select = best(top, rts, &["select", "HEAD~1"]);
    let ctest = best(other.path(), "ctest", &["-N"]);
    let diff = best(top, "git", &["diff", "--stat", "HEAD~1"]);
    let ratio = |other: Duration| select.as_secs_f64() / other.as_secs_f64();
    format!(
        "| {tests} | {changed} | {selected} | {:.0} ms | {:.0} ms | {:.2} | {:.0} ms | {:.2} | {} |",
        select.as_secs_f64() * 1e3,
        ctest.as_secs_f64() * 1e3,
        ratio(ctest),
        diff.as_secs_f64() * 1e3,
        ratio(diff),
        peak(top, rts)
    )
}
