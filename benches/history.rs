//! What histories cost: their size, what the next commit adds, and what a selection loads, beside one blob a commit with all traces in it: `cargo bench --bench history`.

use std::path::Path;
use std::time::{Duration, Instant};

use git_rts::history::{Histories, PATIENCE, Recording, VersionKey};
use git_rts::repo::RepoPath;
use git_rts::trace::{Crossed, FunctionId, Trace};

#[path = "../tests/history_sample/mod.rs"]
mod history_sample;

use history_sample::{Likeness, Suite, version};

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    println!(
        "| suite | tests | functions | pairs | naive blob | history | /naive | on disk | write | next commit adds | % of history | % of naive | write | load for a selection | naive load |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for likeness in [Likeness::Features, Likeness::None] {
        measure(1_000, 2_000, likeness);
    }
    if !quick {
        measure(10_000, 20_000, Likeness::Features);
    }
}

fn open(folder: &Path) -> Histories {
    Histories::open(folder, PATIENCE, &mut |_| ()).expect("the histories can be opened")
}

fn measure(tests: u64, functions: u64, likeness: Likeness) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut suite = Suite::new(tests, functions, likeness);
    let (first, second) = (version(1), version(2));
    let mut naive = Naive::default();
    let mut recording = Recording::new(suite.about(1_000));
    let tracer = suite.tracer();
    for test in 0..tests {
        let trace = tracer.trace(test);
        naive.add(&trace);
        recording.add(suite.record(test, first), trace);
    }

    let started = Instant::now();
    let written = open(folder.path())
        .write(first, &recording)
        .expect("a history can be written");
    let write = started.elapsed();
    let disk = size_of(&folder.path().join("history"));

    // One function changes; the tests that enter it run again.
    let changed = functions / 2 + 3;
    suite.changes.insert(changed, 1);
    let again: Vec<u64> = (0..tests)
        .filter(|test| suite.enters(*test, changed))
        .collect();
    run_again(&mut recording, &suite, &again, second);
    let started = Instant::now();
    let next = open(folder.path())
        .write(second, &recording)
        .expect("a history can be written");
    let write_next = started.elapsed();
    drop(recording);

    // A selection needs all tests, and the traces of the files in danger: here of five.
    let files: Vec<RepoPath> = (0..5)
        .map(|index| Suite::file_of((changed + index * functions / 5) % functions))
        .collect();
    let load = best(|| {
        let histories = open(folder.path());
        let history = histories.find(second).expect("it can be read");
        let history = history.expect("the history is there");
        let records = history.tests().expect("the tests can be read");
        assert_eq!(records.len() as u64, tests);
        let functions = history.functions_in(&files).expect("the files can be read");
        assert!(!functions.is_empty());
    });
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    println!(
        "| {likeness:?} | {tests} | {functions} | {} | {} | {} | {:.1} % | {} | {:.0} ms | {} | {:.2} % | {:.2} % | {:.0} ms | {:.1} ms | {:.0} ms |",
        naive.pairs,
        size(naive.bytes),
        size(written.size),
        percent(written.size, naive.bytes),
        size(disk),
        milliseconds(write),
        size(next.added),
        percent(next.added, written.size),
        percent(next.added, naive.bytes),
        milliseconds(write_next),
        milliseconds(load),
        milliseconds(naive.load),
    );
}

fn run_again(recording: &mut Recording, suite: &Suite, tests: &[u64], on: VersionKey) {
    let records: Vec<_> = tests.iter().map(|test| suite.record(*test, on)).collect();
    recording.forget(&records.iter().map(|record| record.name.as_str()).collect());
    let tracer = suite.tracer();
    for (record, test) in records.into_iter().zip(tests) {
        recording.add(record, tracer.trace(*test));
    }
    recording.about.created += 60;
}

/// All traces of a commit in one blob, as one would do it first. They go by test by test, because those of a large suite do not
/// fit into memory; so the time to load is that of decoding alone.
#[derive(Default)]
struct Naive {
    bytes: u64,
    pairs: u64,
    load: Duration,
}

impl Naive {
    fn add(&mut self, trace: &Trace) {
        self.pairs += trace.functions.len() as u64;
        let encoded = postcard::to_stdvec(&trace.functions).expect("a trace can be encoded");
        self.bytes += encoded.len() as u64;
        let started = Instant::now();
        let decoded: Vec<(FunctionId, Crossed)> =
            postcard::from_bytes(&encoded).expect("a trace can be decoded");
        self.load += started.elapsed();
        drop(decoded);
    }
}

fn best(mut action: impl FnMut()) -> Duration {
    let mut time = || {
        let started = Instant::now();
        action();
        started.elapsed()
    };
    (0..5)
        .map(|_| time())
        .min()
        .expect("there is at least one run")
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let sizes = entries.map(|entry| {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            size_of(&path)
        } else {
            std::fs::metadata(&path).expect("the file is there").len()
        }
    });
    sizes.sum()
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 {
        format!("{:.1} MB", bytes as f64 / f64::from(1 << 20))
    } else {
        format!("{:.1} kB", bytes as f64 / 1024.0)
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
