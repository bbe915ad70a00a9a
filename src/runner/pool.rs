//! Many tests at once: as many as there are jobs, in an order that all of them can live with.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::needs::Constraints;
use super::schedule::Schedule;
use super::{Interrupt, Judge, Launch, Outcome, process};

/// One test to run, and where what it prints goes.
#[derive(Debug, Clone)]
pub struct Run {
    pub launch: Launch,
    pub log: PathBuf,
}

/// How many tests run at once, and when to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub jobs: usize,
    /// After so many tests that did not pass, no further one starts.
    pub failures: Option<usize>,
}

/// How a test went.
#[derive(Debug, Clone)]
pub struct Finished {
    pub outcome: Outcome,
    pub duration: Duration,
    /// Something that it started was still there and was killed: what it did is not known to the end.
    pub outlived: bool,
}

/// What became of a run of many tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tests that wait for each other in a circle, and ran in the listed order.
    pub circular: Vec<usize>,
    /// Tests that were kept from starting, by an interrupt or by too many failures.
    pub not_started: Vec<usize>,
}

/// Runs all tests, some at a time. Before one starts, its thread calls `prepare`; when it has ended, its thread calls `examine`, and then this thread `on_finished`.
///
/// Who waits for a test may be reported before it, because its successors do not wait until it is examined.
pub fn run_all<T: Send>(
    runs: &[Run],
    constraints: &Constraints,
    limits: Limits,
    interrupt: &Interrupt,
    prepare: impl Fn(usize) + Sync,
    examine: impl Fn(usize, Finished) -> T + Sync,
    mut on_finished: impl FnMut(usize, T),
) -> Summary {
    let pool = Pool {
        state: Mutex::new(State {
            schedule: Schedule::new(constraints, limits.jobs),
            passed: vec![false; runs.len()],
            not_started: Vec::new(),
            failures: 0,
        }),
        changed: Condvar::new(),
        runs,
        constraints,
        limits,
        interrupt,
    };
    let circular = pool.state().schedule.circular().to_vec();
    let (sender, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..limits.jobs.clamp(1, runs.len().max(1)) {
            let sender = sender.clone();
            let (pool, prepare, examine) = (&pool, &prepare, &examine);
            scope.spawn(move || pool.work(prepare, examine, &sender));
        }
        drop(sender);
        for (index, result) in results {
            on_finished(index, result);
        }
    });
    let not_started = std::mem::take(&mut pool.state().not_started);
    Summary {
        circular,
        not_started,
    }
}

struct Pool<'a> {
    state: Mutex<State>,
    changed: Condvar,
    runs: &'a [Run],
    constraints: &'a Constraints,
    limits: Limits,
    interrupt: &'a Interrupt,
}

struct State {
    schedule: Schedule,
    passed: Vec<bool>,
    not_started: Vec<usize>,
    failures: usize,
}

impl Pool<'_> {
    fn work<T>(
        &self,
        prepare: impl Fn(usize),
        examine: impl Fn(usize, Finished) -> T,
        results: &Sender<(usize, T)>,
    ) {
        while let Some((index, obstacle)) = self.next() {
            prepare(index);
            let finished = match obstacle {
                Some(reason) => Finished::not_run(reason),
                None => run(&self.runs[index], self.interrupt),
            };
            let mut state = self.state();
            state.schedule.finish(index);
            state.passed[index] = finished.outcome.has_passed();
            state.failures += usize::from(!finished.outcome.is_fine());
            drop(state);
            self.changed.notify_all();
            // The receiver lives as long as the threads do.
            let _ = results.send((index, examine(index, finished)));
        }
    }

    /// The next test, and why it cannot be run if so. Waits while none may start; none when all have.
    fn next(&self) -> Option<(usize, Option<String>)> {
        let mut state = self.state();
        loop {
            let has_enough = self
                .limits
                .failures
                .is_some_and(|most| state.failures >= most);
            if self.interrupt.is_requested() || has_enough {
                let dropped = state.schedule.stop();
                state.not_started.extend(dropped);
            }
            if let Some(index) = state.schedule.start() {
                let needed = self.constraints.tests[index].only_if_passed.iter();
                let failed = needed.filter(|setup| !state.passed[**setup]).count() > 0;
                let obstacle = failed.then(|| "what sets up its fixture did not pass".to_owned());
                return Some((index, obstacle));
            }
            if state.schedule.is_exhausted() {
                self.changed.notify_all();
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whatever panicked did not do so while it changed the state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Finished {
    fn not_run(reason: impl Into<String>) -> Self {
        Finished {
            outcome: Outcome::NotRun(reason.into()),
            duration: Duration::ZERO,
            outlived: false,
        }
    }
}

/// Runs one test.
pub fn run(run: &Run, interrupt: &Interrupt) -> Finished {
    let launch = &run.launch;
    if launch.is_disabled {
        return Finished {
            outcome: Outcome::Skipped,
            duration: Duration::ZERO,
            outlived: false,
        };
    }
    if let Some(reason) = &launch.unavailable {
        return Finished::not_run(reason);
    }
    let missing = launch
        .required_files
        .iter()
        .find(|file| !launch.folder.join(file).exists());
    if let Some(missing) = missing {
        return Finished::not_run(format!("'{}' is missing", missing.display()));
    }
    // What an earlier run left must not speak for this one.
    if run.log.is_file() {
        let _ = std::fs::remove_file(&run.log);
    }
    if let Judge::Report {
        file: Some(file), ..
    } = &launch.judge
    {
        let _ = std::fs::remove_file(file);
    }
    if let Some(file) = &launch.printed_to {
        let _ = std::fs::remove_file(file);
    }
    match process::run(launch, &run.log, interrupt) {
        Ok(ended) => {
            let outcome = launch.judge.outcome(ended.end, &run.log);
            if let Some(file) = &launch.printed_to {
                add(file, &run.log);
            }
            Finished {
                outcome,
                duration: ended.duration,
                outlived: ended.outlived,
            }
        }
        Err(error) => {
            let program = launch
                .command
                .first()
                .map(|program| program.to_string_lossy());
            Finished::not_run(format!(
                "cannot run '{}': {error}",
                program.unwrap_or_default()
            ))
        }
    }
}

/// Adds what a harness kept apart to what it printed; without it, there is less to read.
fn add(kept: &Path, log: &Path) {
    let (kept, log) = (
        std::fs::read(kept),
        std::fs::OpenOptions::new().append(true).open(log),
    );
    if let (Ok(kept), Ok(mut log)) = (kept, log) {
        let _ = log.write_all(&kept);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Instant;

    use tempfile::TempDir;

    use super::super::needs::Constraint;
    use super::super::shell;
    use super::*;

    fn runs(folder: &TempDir, texts: &[&str]) -> Vec<Run> {
        let run = |(index, text): (usize, &&str)| Run {
            launch: Launch {
                command: shell::run(*text),
                folder: folder.path().to_owned(),
                judge: Judge::gnu(),
                ..Launch::default()
            },
            log: folder.path().join(format!("log-{index}")),
        };
        texts.iter().enumerate().map(run).collect()
    }

    fn at_once(jobs: usize) -> Limits {
        Limits {
            jobs,
            failures: None,
        }
    }

    fn free(count: usize) -> Constraints {
        let free = Constraint {
            processors: 1,
            ..Constraint::default()
        };
        Constraints {
            tests: vec![free; count],
        }
    }

    #[test]
    fn every_test_is_reported_once_and_two_run_at_once() {
        let folder = tempfile::tempdir().expect("there is room");
        // Each of the first two waits for the other.
        let runs = runs(
            &folder,
            &[
                "touch a; while ! [ -e b ]; do sleep 0.01; done",
                "touch b; while ! [ -e a ]; do sleep 0.01; done",
                "exit 77",
                "exit 3",
                "kill -ABRT $$",
            ],
        );
        let mut all = vec![None; 5];
        let mut twice = false;
        let examine = |_: usize, finished: Finished| finished.outcome;
        let summary = run_all(
            &runs,
            &free(5),
            at_once(2),
            &Interrupt::new(),
            |_| {},
            examine,
            |index, outcome| {
                twice |= all[index].replace(outcome).is_some();
            },
        );
        assert!(!twice && summary == Summary::default());
        let all: Vec<Outcome> = all.into_iter().flatten().collect();
        assert_eq!(
            all,
            [
                Outcome::Passed,
                Outcome::Passed,
                Outcome::Skipped,
                Outcome::Failed { code: 3 },
                Outcome::Crashed { signal: 6 }
            ]
        );
    }

    #[test]
    fn without_its_fixture_a_test_is_not_run() {
        let folder = tempfile::tempdir().expect("there is room");
        let runs = runs(&folder, &["touch ran", "exit 1"]);
        let mut constraints = free(2);
        constraints.tests[0].after = BTreeSet::from([1]);
        constraints.tests[0].only_if_passed = BTreeSet::from([1]);
        let mut order = Vec::new();
        run_all(
            &runs,
            &constraints,
            at_once(4),
            &Interrupt::new(),
            |_| {},
            |_, finished| finished,
            |index, finished| {
                order.push((index, finished.outcome));
            },
        );
        order.sort_by_key(|(index, _)| *index);
        assert!(matches!(order[0], (0, Outcome::NotRun(_))));
        assert_eq!(order[1], (1, Outcome::Failed { code: 1 }));
        assert!(!folder.path().join("ran").exists());
    }

    #[test]
    fn an_interrupt_keeps_what_is_done_and_starts_nothing() {
        let folder = tempfile::tempdir().expect("there is room");
        let runs = runs(&folder, &["exit 0", "sleep 60", "touch ran", "touch ran"]);
        let interrupt = Interrupt::new();
        let asking = Arc::clone(&interrupt);
        let begin = Instant::now();
        let mut all = Vec::new();
        let mut constraints = free(4);
        constraints.tests[1].alone = true;
        constraints.tests[2].after = BTreeSet::from([1]);
        constraints.tests[3].after = BTreeSet::from([1]);
        let summary = run_all(
            &runs,
            &constraints,
            at_once(2),
            &interrupt,
            |_| {},
            |_, finished| finished,
            |index, finished| {
                let asking = Arc::clone(&asking);
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(100));
                    asking.request();
                });
                all.push((index, finished.outcome));
            },
        );
        assert_eq!(all[0], (0, Outcome::Passed));
        assert_eq!(all[1], (1, Outcome::NotRun("interrupted".to_owned())));
        assert_eq!(all.len(), 2);
        assert_eq!(summary.not_started, [2, 3]);
        assert!(!folder.path().join("ran").exists());
        assert!(begin.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn after_enough_failures_nothing_starts() {
        let folder = tempfile::tempdir().expect("there is room");
        let runs = runs(&folder, &["exit 0", "exit 1", "exit 1", "touch ran"]);
        let mut all = Vec::new();
        let limits = Limits {
            jobs: 1,
            failures: Some(2),
        };
        let summary = run_all(
            &runs,
            &free(4),
            limits,
            &Interrupt::new(),
            |_| {},
            |index, _| index,
            |index, _| all.push(index),
        );
        assert_eq!(all, [0, 1, 2]);
        assert_eq!(summary.not_started, [3]);
        assert!(!folder.path().join("ran").exists());
    }

    #[test]
    fn what_cannot_run_says_why() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut run = runs(&folder, &["true"]).remove(0);
        run.launch.required_files = vec!["data".into()];
        let interrupt = Interrupt::new();
        let reason = |run: &Run| match super::run(run, &interrupt).outcome {
            Outcome::NotRun(reason) => reason,
            other => format!("{other:?}"),
        };
        assert!(reason(&run).contains("data"));
        std::fs::write(folder.path().join("data"), "").expect("there is room");
        assert_eq!(reason(&run), "Passed");
        run.launch.command = vec!["/nonexistent/program".into()];
        assert!(reason(&run).contains("/nonexistent/program"));
        run.launch.unavailable = Some("not built".to_owned());
        assert_eq!(reason(&run), "not built");
        run.launch.is_disabled = true;
        assert_eq!(reason(&run), "Skipped");
    }
}
