//! The tests of a session run, each alone with a folder of its own for what it counts, and each is examined as soon as it ends.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::binaries::linked_below;
use super::ear::Ear;
use super::freshness::unfinished;
use super::left_out;
use super::looks::Surroundings;
use super::session::{Done, Session};
use super::voices::Voices;
use super::{Recorded, Recorder};
use crate::history::Looked;
use crate::masquerade::{self, Backend, inputs};
use crate::repo::{RepoPath, is_compiled};
use crate::runner::follow::{Follow, Seen};
use crate::runner::needs::constraints;
use crate::runner::watch::Readers;
use crate::runner::{self, Finished, Limits, Run, Test, run_all, run_one};
use crate::trace::Trace;

/// How often the files that tests open are looked at, so that the kernel does not forget any.
const PAUSE: Duration = Duration::from_millis(20);

impl Session {
    /// Runs tests. Answers those that did not start, because of an interrupt or of too many failures.
    pub fn run(
        &self,
        tests: &[&Test],
        limits: Limits,
        recorder: &dyn Recorder,
        mut on_done: impl FnMut(usize, Done),
    ) -> Vec<usize> {
        let folders: BTreeSet<RepoPath> = self.files.iter().flat_map(RepoPath::ancestors).collect();
        let (examiner, asked) = Examiner::new(self, tests, limits, recorder, &folders);
        let is_over = AtomicBool::new(false);
        let noted = inputs::length(&self.workshop.compilers);
        let summary = std::thread::scope(|scope| {
            scope.spawn(|| examiner.repeat(asked));
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    examiner.readers.look();
                    examiner.ear.heard();
                    std::thread::sleep(PAUSE);
                }
            });
            let summary = run_all(
                &examiner.runs,
                &constraints(tests),
                limits,
                &self.interrupt,
                |index| examiner.prepare(index),
                |index, finished| examiner.examine(index, finished),
                &mut on_done,
            );
            is_over.store(true, Ordering::Relaxed);
            *examiner.again() = None;
            summary
        });
        runner::end_survivors(masquerade::FOLDER, self.workshop.compilers.as_os_str());
        let _ = fs::remove_dir_all(&self.workshop.profiles);
        // What stays has everything built anew the next time.
        let _ = inputs::forget_gone(&self.workshop.compilers, noted);
        summary.not_started
    }
}

/// A test that is to run once more, and who waits for how it ends.
type Again = (usize, Sender<Finished>);

/// Whoever looks at what tests leave, while others run.
struct Examiner<'a> {
    session: &'a Session,
    recorder: &'a dyn Recorder,
    runs: Vec<Run>,
    jobs: usize,
    readers: Readers<'a>,
    follow: Follow,
    voices: Voices,
    surroundings: Surroundings<'a>,
    ear: Ear,
    /// For each test how often something had been heard when it began.
    heard_before: Vec<AtomicU64>,
    /// What ran while the project was built, and why that may not be all.
    made: &'a (Trace, Option<String>),
    again: Mutex<Option<Sender<Again>>>,
    /// The programs and libraries of the build that count.
    counting: OnceLock<Vec<PathBuf>>,
    /// A file of the tree that is compiled code.
    compiled: OnceLock<Option<RepoPath>>,
}

impl<'a> Examiner<'a> {
    fn new(
        session: &'a Session,
        tests: &[&Test],
        limits: Limits,
        recorder: &'a dyn Recorder,
        folders: &'a BTreeSet<RepoPath>,
    ) -> (Self, Receiver<Again>) {
        let workshop = &session.workshop;
        let _ = fs::remove_dir_all(&workshop.profiles);
        let readers = Readers::new(session.watch.as_ref());
        let follow = Follow::below(&session.folders());
        // What happened between the build and the tests is nobody's.
        readers.look();
        let made = session.counted_while_building(recorder);
        if made.1.is_some() {
            // Who comes next takes the build for unfinished.
            let _ = fs::write(unfinished(workshop), "");
        }
        remove(&recorder.strays());
        let (again, asked) = channel();
        let examiner = Examiner {
            session,
            recorder,
            runs: Vec::new(),
            jobs: limits.jobs,
            readers,
            follow,
            voices: Voices::default(),
            surroundings: Surroundings {
                root: session.root(),
                tree: &workshop.tree,
                own: &session.own_folder,
                files: &session.files,
                folders,
            },
            ear: Ear::open(&masquerade::added::ear(&workshop.compilers)),
            heard_before: tests.iter().map(|_| AtomicU64::new(0)).collect(),
            made,
            again: Mutex::new(Some(again)),
            counting: OnceLock::new(),
            compiled: OnceLock::new(),
        };
        let tests = tests.iter().enumerate();
        let runs = tests.map(|(index, test)| examiner.run_of(index, test));
        let runs = runs.collect();
        (Examiner { runs, ..examiner }, asked)
    }

    /// A test as it is started: it counts in a folder of its own.
    fn run_of(&self, index: usize, test: &Test) -> Run {
        let folder = self.folder_of(index);
        let _ = fs::create_dir_all(&folder);
        let mut launch = test.launch.clone();
        let counted = self.recorder.environment(&folder).into_iter();
        let counted = counted.map(|(name, value)| (OsString::from(name), Some(value)));
        launch.environment.extend(counted);
        Run {
            launch,
            log: self.session.log_of(&test.name),
        }
    }

    fn folder_of(&self, index: usize) -> PathBuf {
        self.session.workshop.profiles.join(index.to_string())
    }

    fn prepare(&self, index: usize) {
        let heard = self.ear.heard().unwrap_or_default();
        self.heard_before[index].store(heard, Ordering::Relaxed);
        self.readers.start(index);
        self.follow.start(index);
    }

    /// Following made a call of a test fail that a signal met. Whoever it did that to runs again, on a thread that is not followed.
    fn repeat(&self, asked: Receiver<Again>) {
        for (index, sender) in asked {
            let _ = sender.send(run_one(&self.runs[index], &self.session.interrupt));
        }
    }

    fn again(&self) -> std::sync::MutexGuard<'_, Option<Sender<Again>>> {
        self.again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a test ended that ran once more; nothing, if it could not.
    fn repeated(&self, index: usize) -> Option<Finished> {
        let folder = self.folder_of(index);
        let _ = fs::remove_dir_all(&folder);
        let _ = fs::create_dir_all(&folder);
        let (sender, ended) = channel();
        let again = self.again().clone()?;
        again.send((index, sender)).ok()?;
        ended.recv().ok()
    }

    fn examine(&self, index: usize, mut finished: Finished) -> Done {
        // First of all: what we open ourselves is none of the test's doing.
        let launch = &self.runs[index].launch;
        let leaves_others = finished.outlived && launch.prepares;
        let mut seen = self.follow.end(index, leaves_others);
        if seen.as_ref().is_some_and(|seen| seen.disturbed)
            && !leaves_others
            && let Some(repeated) = self.repeated(index)
        {
            finished = repeated;
            seen = None;
        }
        let opened = self.readers.end(index);
        let mut recorded = match launch.is_disabled {
            // It does nothing, and that is certain.
            true => Recorded::default(),
            false => self.counted(index, &mut seen),
        };
        if let Some(seen) = &mut seen {
            let required = launch.required_files.iter();
            required.for_each(|file| seen.look_for(launch.folder.join(file)));
        }
        let looked = seen.map(|seen| self.surroundings.looked(&seen));
        // Where not everything can be followed, what is opened is still seen.
        recorded.looked = looked.or_else(|| {
            opened.map(|opened| Looked {
                touched: self.session.of_the_tree(&opened),
                beyond: None,
            })
        });
        self.doubt_strays(&mut recorded);
        self.doubt_unheard(index, &mut recorded);
        if finished.outlived {
            recorded.doubt(|| "something that it started outlived it".to_owned());
        }
        let folder = self.folder_of(index);
        if let Err(error) = fs::write(folder.join("room"), [0; 1 << 14]) {
            // A process that could not even begin a file left no trace of that.
            recorded.doubt(|| format!("there was no room for its counters: {error}"));
        }
        let _ = fs::remove_dir_all(folder);
        Done { finished, recorded }
    }

    /// What a test counted, with what ran while the project was built.
    fn counted(&self, index: usize, seen: &mut Option<Seen>) -> Recorded {
        let mut recorded = self.recorder.read(&self.folder_of(index));
        // Who ran nothing of the build has nothing to count.
        if recorded.is_empty && !seen.as_ref().is_some_and(|seen| self.ran_nothing(seen)) {
            let find_compiled = || {
                let tree = &self.session.workshop.tree;
                let mut files = self.session.files.iter();
                files.find(|file| is_compiled(&file.under(tree))).cloned()
            };
            let compiled = || self.compiled.get_or_init(find_compiled).as_ref();
            recorded.doubt(|| left_out::no_counters(compiled()));
        }
        if let Some(seen) = seen
            && self.session.backend != Backend::Gcov
        {
            if let Some(doubt) = self.voices.doubt(seen, &recorded.processes) {
                recorded.doubt(|| doubt);
            }
            if self.is_rust() {
                // What a mute one does is in no trace; its bytes tell when it may do something else.
                seen.read.extend(self.voices.mute(&seen.entered));
            }
        }
        let (made, doubt_of_made) = self.made;
        let made = made.functions.iter().cloned();
        recorded.trace.functions.extend(made);
        if let Some(doubt) = doubt_of_made {
            recorded.doubt(|| doubt.clone());
        }
        recorded
    }

    fn ran_nothing(&self, seen: &Seen) -> bool {
        let find_counting = || {
            // Procedural macros, which rustdoc loads, count nothing that anybody writes.
            let counts = |path: &PathBuf| !self.is_rust() || self.voices.tells(path);
            let linked = linked_below(&self.session.folders()).into_iter();
            linked.filter(counts).collect()
        };
        let is_entered = |binary: &PathBuf| {
            let real = fs::canonicalize(binary);
            let mut places = [Some(binary.clone()), real.ok()].into_iter().flatten();
            places.any(|place| seen.entered.contains(&place))
        };
        let counting = self.counting.get_or_init(find_counting);
        !counting.iter().any(is_entered)
    }

    fn is_rust(&self) -> bool {
        self.session.backend == Backend::Rustc
    }

    /// What was started without the environment of its test counts elsewhere.
    fn doubt_strays(&self, recorded: &mut Recorded) {
        let strays = self.recorder.strays();
        if !strays.is_empty() {
            recorded.doubt(|| {
                "something that it, or a test beside it, started without its environment counted elsewhere".to_owned()
            });
        }
        if self.jobs <= 1 {
            // Nobody but this test can have left them.
            remove(&strays);
        }
    }

    /// What may not write its counters says so.
    fn doubt_unheard(&self, index: usize, recorded: &mut Recorded) {
        match self.ear.heard() {
            Some(heard) if heard == self.heard_before[index].load(Ordering::Relaxed) => {}
            Some(_) => recorded.doubt(|| {
                "a process that it, or a test beside it, started could not write its counters"
                    .to_owned()
            }),
            None => recorded.doubt(|| {
                "processes that cannot write their counters cannot tell, for want of a socket"
                    .to_owned()
            }),
        }
    }
}

fn remove(files: &[PathBuf]) {
    for file in files {
        let _ = fs::remove_file(file);
    }
}
