//! A session of building and running: the steps that recording and running share, from the work tree to what each test did.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::binaries::linked_below;
use super::ear::Ear;
use super::freshness::{
    has_another_outside, is_beyond_the_build, outside_file, start_afresh, start_over, unfinished,
    was_made_otherwise,
};
use super::gcov::Gcov;
use super::left_out::{self, LeftOut};
use super::llvm::Llvm;
use super::looks::Surroundings;
use super::made::made_facts;
use super::passed_over::has_passed_over;
use super::products::{Products, place_in};
use super::site::site_of;
use super::voices::Voices;
use super::{Placer, Recorded, Recorder, backend, failure, fingerprint, makers, outside};
use crate::config::Config;
use crate::coverage::llvm::binary;
use crate::difference::{facts_source, source_files};
use crate::error::{Error, Result};
use crate::history::{Looked, Outside};
use crate::lang::c::Granularity;
use crate::lang::facts::MadeFacts;
use crate::masquerade::{self, Backend, Links, headers, inputs, kept};
use crate::objects::Contents;
use crate::program::Program;
use crate::repo::{RepoPath, Repository, Version, is_compiled};
use crate::runner::follow::{Follow, Seen};
use crate::runner::needs::constraints;
use crate::runner::watch::{Opened, Readers, Watch};
use crate::runner::{
    self, Extent, Finished, Interrupt, Limits, Run, Runner, Settings, Site, Test, run_all, run_one,
};
use crate::trace::{FunctionId, Trace};
use crate::workshop::Workshop;

/// How often the files that tests open are looked at, so that the kernel does not forget any.
const PAUSE: Duration = Duration::from_millis(20);

/// A work tree that is being built and tested.
pub struct Session {
    pub workshop: Workshop,
    pub version: Version,
    pub backend: Backend,
    pub runner: &'static dyn Runner,
    pub interrupt: Arc<Interrupt>,
    settings: Settings,
    site: Site,
    /// The files of the tree, and who opens them.
    files: BTreeSet<RepoPath>,
    watch: Option<Watch>,
    /// What earlier builds in the same place opened.
    opened_before: Opened,
    /// How many bytes of notes earlier calls of compilers and linkers left.
    noted_before: u64,
    left_out: LeftOut,
    /// What programs executed while the project was built, and why that may not be all.
    executed_by_build: OnceLock<(Trace, Option<String>)>,
    /// Held until the session ends: two of them in one workshop would build over each other.
    _lock: File,
}

/// What one test did, and how it ended.
pub struct Done {
    pub finished: Finished,
    pub recorded: Recorded,
}

impl Session {
    /// Copies the work tree and gets everything ready to build; answers also why the back end is not the better one.
    pub fn open(
        repository: &Repository,
        config: &Config,
        jobs: usize,
        interrupt: Arc<Interrupt>,
    ) -> Result<(Self, Option<String>)> {
        let workshop = Workshop::open(repository)?;
        let lock = lock(&workshop.logs)?;
        runner::end_survivors(masquerade::FOLDER, workshop.compilers.as_os_str());
        let settings = settings(config);
        let top = repository.workdir().unwrap_or(&workshop.tree);
        let runner = runner::detect(top, &settings)?;
        let (backend, reason) = backend::choose(runner.backend(), config.backend, &workshop.logs)?;
        let differences = workshop.differences(repository)?;
        let variables = fingerprint::variables(&config.environment);
        // Where counters are written is in the objects.
        let made_by = format!(
            "{} {} {backend:?} {variables:?} {:?} {:?} {:?}",
            runner.name(),
            masquerade::FLAGS_VERSION,
            config.configure,
            config.build,
            workshop.strays
        );
        let is_otherwise =
            was_made_otherwise(&workshop, &made_by) || has_another_outside(&workshop);
        let is_beyond = is_beyond_the_build(&workshop, config, runner, &differences);
        match (is_otherwise, is_beyond) {
            (true, _) => start_afresh(&workshop, &made_by)?,
            (false, true) => start_over(&workshop, runner, &differences)?,
            (false, false) => {}
        }
        workshop.note_pending(&differences.modified);
        let opened_before = workshop.opened();
        let noted_before = inputs::length(&workshop.compilers);
        let version = workshop.copy(repository)?;
        let site = site(&workshop, &backend, jobs)?;
        let files = repository.files(&version)?;
        let files: BTreeSet<RepoPath> = files.into_iter().map(|file| file.path).collect();
        // After the copy, which opens files itself.
        let watch = Watch::over(&workshop.tree, &files);
        let session = Session {
            workshop,
            version,
            backend,
            runner,
            interrupt,
            settings,
            site,
            files,
            watch,
            opened_before,
            noted_before,
            left_out: LeftOut::of(repository),
            executed_by_build: OnceLock::new(),
            _lock: lock,
        };
        Ok((session, reason))
    }

    /// How the tests are listed and run.
    #[must_use]
    pub fn runner(&self) -> &'static str {
        self.runner.name()
    }

    /// Builds the project with counters, or configures it so that its tests can be listed. Answers whether all that changed was
    /// taken in; if not, the next session begins anew.
    pub fn build(&self, extent: Extent) -> Result<bool> {
        let log = self.workshop.build_log();
        let mark = unfinished(&self.workshop);
        let _ = fs::write(&mark, "");
        failure::forget(&self.workshop);
        let built = runner::build(
            self.runner,
            &self.site,
            &self.settings,
            &self.interrupt,
            &log,
            extent,
        );
        let now = self.watch.as_ref().and_then(Watch::opened);
        // Who opens a file by another name of it is not seen.
        let now = now.map(|mut now| {
            now.extend(self.files_with_other_names());
            now
        });
        let is_passed_over =
            built.is_ok() && extent == Extent::All && !self.has_taken_in(now.as_ref());
        self.note(now);
        if is_passed_over {
            // The mark stays: who comes next takes the build for unfinished.
            return Ok(false);
        }
        makers::keep_strays(&self.workshop, &self.backend);
        if extent == Extent::All {
            // What stays costs room on the disk and nothing else.
            let _ = kept::forget(&self.workshop.compilers);
        }
        let _ = fs::remove_file(&mark);
        if let Err(error) = &built {
            failure::note(&self.workshop, error);
        }
        built.map_err(|error| self.left_out.blamed(error, &self.workshop.tree, &log))?;
        if extent == Extent::All {
            self.workshop.forget_pending();
            self.keep_outside();
            // A list that is too long costs room on the disk and nothing else.
            let _ = inputs::keep_newest(&self.workshop.compilers);
        }
        Ok(true)
    }

    /// Files of the copy to which hard links lead from elsewhere.
    fn files_with_other_names(&self) -> Vec<RepoPath> {
        use std::os::unix::fs::MetadataExt;
        let has_others = |file: &&RepoPath| {
            let metadata = fs::symlink_metadata(file.under(&self.workshop.tree));
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
        };
        self.files.iter().filter(has_others).cloned().collect()
    }

    /// Keeps how the headers from outside look, for whoever builds here next.
    fn keep_outside(&self) {
        let lines = outside::digests(&headers::outside(&self.workshop.compilers)).into_iter();
        let lines: String = lines
            .map(|(path, digest)| format!("{digest:016x} {path}\n"))
            .collect();
        let _ = fs::write(outside_file(&self.workshop), lines);
    }

    /// Whether the build made everything again that was made of files which changed, and opened every one of them that earlier builds
    /// opened: one that it passed over it does not know to depend on.
    fn has_taken_in(&self, now: Option<&BTreeSet<RepoPath>>) -> bool {
        let pending = self.workshop.pending();
        if has_passed_over(&self.workshop, self.noted_before, pending.as_ref()) {
            return false;
        }
        // Where nothing was built before there is nothing stale, and where nobody looked nothing can be told.
        let Some(before) = self
            .opened_before
            .as_ref()
            .filter(|before| !before.is_empty())
        else {
            return true;
        };
        let (Some(pending), Some(now)) = (pending, now) else {
            return false;
        };
        let mut passed_over = pending
            .intersection(before)
            .filter(|path| !now.contains(*path));
        passed_over.next().is_none()
    }

    /// The tests of the project, once it is built.
    pub fn list(&self) -> Result<Vec<Test>> {
        let tests = self.runner.list(&self.site, &self.settings);
        self.note(self.watch.as_ref().and_then(Watch::opened));
        tests
    }

    /// Adds what was opened just now to what the builds in this workshop opened: each of them made a part of what is there.
    fn note(&self, now: Opened) {
        self.workshop
            .note_opened(now.map(|opened| self.of_the_tree(&opened)));
    }

    fn of_the_tree(&self, opened: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
        opened.intersection(&self.files).cloned().collect()
    }

    /// The files of the tree that building and listing read; nothing, if that is not known.
    #[must_use]
    pub fn opened_by_build(&self) -> Opened {
        self.workshop.opened()
    }

    /// The sources of the version, as traces know them.
    pub fn placer(&self, repository: &Repository, config: &Config) -> Result<Placer> {
        // The cache is closed again before tests run: others may need it.
        let mut facts = facts_source(repository, Granularity::Expression);
        let program: Program = facts.program(&source_files(repository, config, &self.version)?)?;
        let original = repository.workdir().and_then(|top| top.canonicalize().ok());
        Ok(Placer::new(&self.workshop.tree, program).knowing(self.files.clone(), original))
    }

    /// What the build says in C that is not in the tree.
    #[must_use]
    pub fn made_facts(&self, placer: &Placer, config: &Config) -> Vec<MadeFacts> {
        made_facts(placer, config, &self.folders(), &self.workshop.compilers)
    }

    /// The folder of the workshop.
    fn root(&self) -> &Path {
        self.workshop.tree.parent().unwrap_or(&self.workshop.tree)
    }

    /// What the binaries of the build are made of, by their places in the workshop.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let links = Links::of(&self.workshop.compilers);
        let mut contents = Contents::built_in(self.root());
        let mut kept = Vec::new();
        for path in linked_below(&self.folders()) {
            let name = place_in(self.root(), &path).map(|place| place.to_string());
            let (Some(name), Ok(bytes)) = (name, fs::read(&path)) else {
                continue;
            };
            if self.is_tracked(&path) {
                continue;
            }
            let id = binary::build_id(&bytes).ok().filter(|id| !id.is_empty());
            let linked = id.as_ref().and_then(|id| links.linked(id));
            contents.add(&name, &bytes, linked.as_ref(), &mut |key| links.object(key));
            kept.extend(id.zip(linked));
        }
        let kept = kept.iter();
        links.keep_only(kept.map(|(id, linked)| (id.as_slice(), linked)));
        contents
    }

    /// The symbols of a binary that are nothing but the system's.
    #[must_use]
    pub fn brought_into<'c>(&self, path: &Path, contents: &'c Contents) -> BTreeSet<&'c str> {
        let name = place_in(self.root(), path).map(|place| place.to_string());
        name.map_or_else(BTreeSet::new, |name| contents.brought_into(&name))
    }

    fn is_tracked(&self, path: &Path) -> bool {
        let place = place_in(&self.workshop.tree, path);
        place.is_some_and(|place| self.files.contains(&place))
    }

    /// The headers that the build read from outside of the tree.
    #[must_use]
    pub fn outside(&self) -> Outside {
        outside::outside(&headers::outside(&self.workshop.compilers))
    }

    /// What the build made, before tests change it.
    #[must_use]
    pub fn products(&self) -> Products {
        let root = self.root();
        let tracked = self.files.iter();
        let tracked = tracked.filter_map(|file| place_in(root, &file.under(&self.workshop.tree)));
        let altered = self.workshop.altered();
        Products::look_over(root, &self.folders(), tracked.collect(), &altered)
    }

    /// Folders in which the build leaves its objects and binaries.
    #[must_use]
    pub fn folders(&self) -> [&Path; 2] {
        [&self.workshop.tree, &self.workshop.build]
    }

    /// The reader of what tests leave.
    #[must_use]
    pub fn recorder<'a>(&self, placer: &'a Placer) -> Box<dyn Recorder + 'a> {
        let strays = &self.workshop.strays;
        recorder(&self.backend, placer, &self.folders(), strays)
    }

    fn counted_while_building(&self, recorder: &dyn Recorder) -> &(Trace, Option<String>) {
        self.executed_by_build
            .get_or_init(|| makers::executed(&self.workshop, &self.backend, recorder))
    }

    /// What ran while the project was built, and so counts for every test.
    #[must_use]
    pub fn executed_by_build(&self, recorder: &dyn Recorder) -> BTreeSet<FunctionId> {
        let (trace, _) = self.counted_while_building(recorder);
        trace.functions.iter().map(|(id, _)| id.clone()).collect()
    }

    /// Runs tests, each alone with a folder of its own for what it counts. Answers those that did not start, because of an interrupt or of too many failures.
    pub fn run(
        &self,
        tests: &[&Test],
        limits: Limits,
        recorder: &dyn Recorder,
        mut on_done: impl FnMut(usize, Done),
    ) -> Vec<usize> {
        let _ = fs::remove_dir_all(&self.workshop.profiles);
        let folder_of = |index: usize| self.workshop.profiles.join(index.to_string());
        let runs: Vec<Run> = tests
            .iter()
            .enumerate()
            .map(|(index, test)| {
                let mut launch = test.launch.clone();
                let counted = recorder.environment(&folder_of(index)).into_iter();
                let counted = counted.map(|(name, value)| (OsString::from(name), Some(value)));
                launch.environment.extend(counted);
                Run {
                    launch,
                    log: self.log_of(&test.name),
                }
            })
            .collect();
        for index in 0..tests.len() {
            let _ = fs::create_dir_all(folder_of(index));
        }
        let readers = Readers::new(self.watch.as_ref());
        let follow = Follow::below(&self.folders());
        let is_rust = self.backend == Backend::Rustc;
        let voices = Voices::default();
        // Procedural macros, which rustdoc loads, count nothing that anybody writes.
        let counts = |path: &PathBuf| !is_rust || voices.tells(path);
        let counting: OnceLock<Vec<PathBuf>> = OnceLock::new();
        let find_counting = || {
            let linked = linked_below(&self.folders()).into_iter();
            linked.filter(counts).collect()
        };
        let compiled: OnceLock<Option<RepoPath>> = OnceLock::new();
        let find_compiled = || {
            let mut files = self.files.iter();
            let found = files.find(|file| is_compiled(&file.under(&self.workshop.tree)));
            found.cloned()
        };
        let folders: BTreeSet<RepoPath> = self.files.iter().flat_map(RepoPath::ancestors).collect();
        let surroundings = Surroundings {
            root: self.root(),
            tree: &self.workshop.tree,
            files: &self.files,
            folders: &folders,
        };
        // What happened between the build and the tests is nobody's.
        readers.look();
        let (made, doubt_of_made) = self.counted_while_building(recorder);
        if doubt_of_made.is_some() {
            // Who comes next takes the build for unfinished.
            let _ = fs::write(unfinished(&self.workshop), "");
        }
        remove(&recorder.strays());
        let ear = Ear::open(&masquerade::added::ear(&self.workshop.compilers));
        let heard_before: Vec<AtomicU64> = tests.iter().map(|_| AtomicU64::new(0)).collect();
        let (again, asked) = channel::<(usize, Sender<Finished>)>();
        let again = Mutex::new(Some(again));
        let again = || again.lock().unwrap_or_else(PoisonError::into_inner);
        let examine = |index: usize, mut finished: Finished| {
            // First of all: what we open ourselves is none of the test's doing.
            let leaves_others = finished.outlived && runs[index].launch.prepares;
            let mut seen = follow.end(index, leaves_others);
            if seen.as_ref().is_some_and(|seen| seen.disturbed) && !leaves_others {
                let _ = fs::remove_dir_all(folder_of(index));
                let _ = fs::create_dir_all(folder_of(index));
                let (sender, ended) = channel();
                let again = again().clone();
                if again.is_some_and(|again| again.send((index, sender)).is_ok())
                    && let Ok(repeated) = ended.recv()
                {
                    finished = repeated;
                    seen = None;
                }
            }
            let opened = readers.end(index);
            let is_disabled = runs[index].launch.is_disabled;
            let mut recorded = match is_disabled {
                // It does nothing, and that is certain.
                true => Recorded::default(),
                false => recorder.read(&folder_of(index)),
            };
            // Who ran nothing of the build has nothing to count.
            let ran_nothing = |seen: &Seen| {
                let is_entered = |binary: &PathBuf| {
                    let real = fs::canonicalize(binary);
                    let places = [Some(binary.clone()), real.ok()].into_iter().flatten();
                    places
                        .into_iter()
                        .any(|place| seen.entered.contains(&place))
                };
                !counting.get_or_init(find_counting).iter().any(is_entered)
            };
            if recorded.is_empty && !is_disabled && !seen.as_ref().is_some_and(ran_nothing) {
                recorded
                    .doubt(|| left_out::no_counters(compiled.get_or_init(find_compiled).as_ref()));
            }
            if let Some(seen) = &mut seen
                && self.backend != Backend::Gcov
                && !is_disabled
            {
                if let Some(doubt) = voices.doubt(seen, &recorded.processes) {
                    recorded.doubt(|| doubt);
                }
                if is_rust {
                    // What a mute one does is in no trace; its bytes tell when it may do something else.
                    seen.read.extend(voices.mute(&seen.entered));
                }
            }
            let looked = seen.map(|seen| surroundings.looked(&seen));
            // Where not everything can be followed, what is opened is still seen.
            recorded.looked = looked.or_else(|| {
                opened.map(|opened| Looked {
                    touched: self.of_the_tree(&opened),
                    beyond: None,
                })
            });
            if !is_disabled {
                let made = made.functions.iter().cloned();
                recorded.trace.functions.extend(made);
                if let Some(doubt) = doubt_of_made {
                    recorded.doubt(|| doubt.clone());
                }
            }
            let strays = recorder.strays();
            if !strays.is_empty() {
                recorded.doubt(|| {
                    "something that it, or a test beside it, started without its environment counted elsewhere".to_owned()
                });
            }
            if limits.jobs <= 1 {
                // Nobody but this test can have left them.
                remove(&strays);
            }
            match ear.heard() {
                Some(heard) if heard == heard_before[index].load(Ordering::Relaxed) => {}
                Some(_) => recorded.doubt(|| {
                    "a process that it, or a test beside it, started could not write its counters"
                        .to_owned()
                }),
                None => recorded.doubt(|| {
                    "processes that cannot write their counters cannot tell, for want of a socket"
                        .to_owned()
                }),
            }
            if finished.outlived {
                recorded.doubt(|| "something that it started outlived it".to_owned());
            }
            if let Err(error) = fs::write(folder_of(index).join("room"), [0; 1 << 14]) {
                // A process that could not even begin a file left no trace of that.
                recorded.doubt(|| format!("there was no room for its counters: {error}"));
            }
            let _ = fs::remove_dir_all(folder_of(index));
            Done { finished, recorded }
        };
        let is_over = AtomicBool::new(false);
        let noted = inputs::length(&self.workshop.compilers);
        let summary = std::thread::scope(|scope| {
            // Following made a call of the test fail that a signal met. Whoever it did that to runs again, on a thread that is not
            // followed.
            scope.spawn(|| {
                for (index, sender) in asked {
                    let _ = sender.send(run_one(&runs[index], &self.interrupt));
                }
            });
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    readers.look();
                    ear.heard();
                    std::thread::sleep(PAUSE);
                }
            });
            let summary = run_all(
                &runs,
                &constraints(tests),
                limits,
                &self.interrupt,
                |index| {
                    let heard = ear.heard().unwrap_or_default();
                    heard_before[index].store(heard, Ordering::Relaxed);
                    readers.start(index);
                    follow.start(index);
                },
                examine,
                &mut on_done,
            );
            is_over.store(true, Ordering::Relaxed);
            *again() = None;
            summary
        });
        runner::end_survivors(masquerade::FOLDER, self.workshop.compilers.as_os_str());
        let _ = fs::remove_dir_all(&self.workshop.profiles);
        // What stays has everything built anew the next time.
        let _ = inputs::forget_gone(&self.workshop.compilers, noted);
        summary.not_started
    }

    /// Where a test's output is kept.
    #[must_use]
    pub fn log_of(&self, test: &str) -> PathBuf {
        self.workshop.log_of(test)
    }
}

/// What a configuration says to runners.
#[must_use]
pub fn settings(config: &Config) -> Settings {
    Settings {
        runner: config.runner.clone(),
        configure: config.configure.clone(),
        build: config.build.clone(),
        list: config.list.clone(),
        run: config.run.clone(),
        timeout: config.timeout,
    }
}

/// The reader for a back end, over what was built in some folders.
pub(super) fn recorder<'a>(
    backend: &Backend,
    placer: &'a Placer,
    folders: &[&Path],
    strays: &Path,
) -> Box<dyn Recorder + 'a> {
    match backend {
        Backend::Llvm { .. } | Backend::Rustc => Box::new(Llvm::new(placer, folders, strays)),
        Backend::Gcov => Box::new(Gcov::new(placer, folders)),
    }
}

fn remove(files: &[PathBuf]) {
    for file in files {
        let _ = fs::remove_file(file);
    }
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path)
        .map_err(|error| Error::new(format!("cannot create '{}': {error}", path.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(
            "another 'git rts' is building in this work tree",
        )
        .hint("wait until it has ended")),
        Err(TryLockError::Error(error)) => Err(Error::new(format!(
            "cannot lock '{}': {error}",
            path.display()
        ))),
    }
}

fn site(workshop: &Workshop, backend: &Backend, jobs: usize) -> Result<Site> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    masquerade::set_up(&workshop.compilers, &path, backend).map_err(|error| {
        let place = workshop.compilers.display();
        Error::new(format!("cannot set up the compilers in '{place}': {error}"))
    })?;
    let mut environment =
        masquerade::environment(&workshop.compilers, &workshop.strays, backend, &path);
    let made = makers::folder_of_now(workshop)?;
    let profile = match backend {
        // What the build executes makes nothing that is not compared itself.
        Backend::Rustc => workshop.logs.join("unread.profraw"),
        Backend::Llvm { .. } | Backend::Gcov => made.join("%c%m.profraw"),
    };
    environment.extend([
        // Programs that run while the project is built may make sources and data: what they execute counts for every test.
        ("LLVM_PROFILE_FILE".into(), profile.into()),
        ("GCOV_PREFIX".into(), workshop.made.clone().into()),
    ]);
    Ok(site_of(workshop, environment, jobs))
}
