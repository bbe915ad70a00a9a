//! How a selection grows with the project: `cargo bench --bench growth`.
//!
//! Generated projects of ten thousand to two million lines, with 100 to 20,000 tests, and a commit that changes ten functions.
//! `git rts select HEAD~1` without and with a cache of facts, beside `git diff --stat HEAD~1` in the same run; peak memory, and
//! what facts and history take on the disk. GNU time must be there.

mod generated;

use std::path::Path;
use std::time::Instant;

use generated::{LINES_A_FILE, best, peak, project, run};

/// Lines, in thousands, and tests.
const SIZES: [(usize, usize); 7] = [
    (10, 100),
    (100, 1_000),
    (500, 5_000),
    (2_000, 20_000),
    (2_000, 100),
    (500, 20_000),
    (10, 20_000),
];
const CHANGED: usize = 10;

fn main() {
    println!(
        "| thousand lines | tests | selected | first time | again | a thousand lines | `git diff --stat` | ratio | peak MB | facts MB | history MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (lines, tests) in SIZES {
        println!("{}", line(lines, tests));
    }
}

fn line(lines: usize, tests: usize) -> String {
    let files = (lines * 1000).div_ceil(LINES_A_FILE);
    let folder = project(files, tests, CHANGED.min(files));
    let top = folder.path();
    let rts = top.join(".git/rts");
    let history = megabytes(&rts.join("history"));
    // Writing the history has filled the cache of facts.
    std::fs::remove_dir_all(rts.join("facts")).expect("they are there");
    let program = env!("CARGO_BIN_EXE_git-rts");
    let begin = Instant::now();
    let selected = run(top, program, &["select", "HEAD~1"]).lines().count();
    let first = begin.elapsed().as_secs_f64();
    let again = best(top, program, &["select", "HEAD~1"]).as_secs_f64();
    let diff = best(top, "git", &["diff", "--stat", "HEAD~1"]).as_secs_f64();
    format!(
        "| {lines} | {tests} | {selected} | {:.0} ms | {:.0} ms | {:.3} ms | {:.0} ms | {:.1} | {} | {:.1} | {history:.1} |",
        first * 1e3,
        again * 1e3,
        again * 1e3 / lines as f64,
        diff * 1e3,
        again / diff,
        peak(top, program),
        megabytes(&rts.join("facts")),
    )
}

fn megabytes(folder: &Path) -> f64 {
    fn bytes(path: &Path) -> u64 {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let sizes = entries.map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        });
        sizes.sum()
    }
    bytes(folder) as f64 / 1e6
}
