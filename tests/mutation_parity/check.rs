//! One mutant after the other: whoever behaves differently must have been selected.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::answer::Answer;
use crate::fault_matrix;
use crate::mutants::{Mutant, mutants};
use crate::plain::{LONG, Outcome, Outcomes, Plain, SHORT};
use crate::subject::Subject;
use crate::tally::Tally;
use crate::test_repo::TestRepo;

/// Picks the mutants.
const SEED: u64 = 1997;

/// How many mutants are tried of each subject, if the environment says so.
pub(crate) fn wanted() -> Option<usize> {
    let wanted = std::env::var("GIT_RTS_MUTANTS").ok()?;
    let all = (wanted == "all").then_some(usize::MAX);
    Some(all.unwrap_or_else(|| wanted.parse().unwrap()))
}

/// Tries the first mutants of a subject.
pub(crate) fn check(subject: &Subject, count: usize) -> Tally {
    let mut tried = mutants(&subject.files, SEED);
    tried.truncate(count);
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let bench = Bench::new(subject);
                while let Some(mutant) = tried.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = bench.judge(mutant);
                    // Trying all takes long: what is found is told at once.
                    for story in one.misses.iter().chain(&one.unfounded) {
                        eprintln!("{story}");
                    }
                    tally.lock().unwrap().add(one);
                }
            });
        }
    });
    tally.into_inner().unwrap()
}

/// What one thread works with.
struct Bench<'a> {
    subject: &'a Subject,
    repo: TestRepo,
    plain: Plain,
    base: Outcomes,
    _room: TempDir,
}

impl<'a> Bench<'a> {
    fn new(subject: &'a Subject) -> Self {
        let repo = subject.copied();
        let room = TempDir::new().unwrap();
        let plain = Plain::new(room.path(), &repo.top(), subject.sources());
        let tests = plain.list();
        let base = plain.run(&tests, LONG);
        let passed = |outcome: &Outcome| matches!(outcome, Outcome::Ended(0, _));
        assert!(base.values().all(passed), "{base:?}");
        let answer = Answer::of(&repo);
        assert_eq!(answer.selected.len(), 0, "nothing changed yet");
        assert!(answer.skipped.iter().eq(base.keys()), "all are recorded");
        Bench {
            subject,
            repo,
            plain,
            base,
            _room: room,
        }
    }

    fn judge(&self, mutant: &Mutant) -> Tally {
        let (path, source) = &self.subject.files[mutant.file];
        let file = self.repo.top().join(path);
        fs::write(&file, mutant.apply(source)).unwrap();
        let tally = if self.plain.build(&self.repo.top(), path) {
            self.compare(&mutant.describe(path, source))
        } else {
            Tally {
                not_built: 1,
                ..Tally::default()
            }
        };
        fs::write(&file, source).unwrap();
        tally
    }

    fn compare(&self, mutant: &str) -> Tally {
        let answer = Answer::of(&self.repo);
        let now = self.plain.run(self.base.keys(), SHORT);
        let changed = now.iter().filter(|(test, now)| self.base[*test] != **now);
        let changed: Outcomes = changed
            .map(|(test, now)| (test.clone(), now.clone()))
            .collect();
        let mut tally = Tally::default();
        for test in changed.keys().filter(|test| answer.skipped.contains(*test)) {
            // A busy machine makes tests slow; it does not make them print something else.
            let again = &self.plain.run([test], LONG)[test];
            let base = &self.base[test];
            if again != base {
                tally.misses.push(format!(
                    "{mutant}{test} is skipped\n{}now\n{}",
                    told(base),
                    told(again)
                ));
            }
        }
        let unfounded = answer.unfounded(&self.repo);
        let unfounded = unfounded.iter();
        tally.unfounded = unfounded.map(|what| format!("{mutant}{what}\n")).collect();
        let steady = changed.iter().filter(|(_, now)| **now != Outcome::TimedOut);
        let again = self.plain.run(steady.map(|(test, _)| test), SHORT);
        if again.iter().any(|(test, again)| changed[test] != *again) {
            tally.unsteady = 1;
        } else {
            tally.mutants = 1;
            tally.tests = now.keys().cloned().collect();
            tally.versions = fault_matrix::version(&answer, &changed)
                .into_iter()
                .collect();
            tally.runs = now.len();
            tally.changed = changed.len();
            tally.selected = answer.selected.len();
        }
        tally
    }
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::TimedOut => "  it does not end\n".to_owned(),
        Outcome::Ended(status, output) => {
            let text = String::from_utf8_lossy(output);
            let lines = text.lines().map(|line| format!("  | {line}\n"));
            format!("  status {status}\n{}", lines.collect::<String>())
        }
    }
}
