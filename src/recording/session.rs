//! A session of building and running: the steps that recording and running share, from the work tree to what each test did.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::binaries::linked_below;
use super::freshness::{
    beyond_the_build, has_another_outside, outside_file, start_afresh, start_over, unfinished,
    was_made_otherwise,
};
use super::gcov::Gcov;
use super::left_out::LeftOut;
use super::llvm::Llvm;
use super::made::made_facts;
use super::passed_over::has_passed_over;
use super::products::{Products, place_in};
use super::site::site_of;
use super::{Placer, Recorded, Recorder, backend, failure, fingerprint, makers, outside};
use crate::config::Config;
use crate::coverage::llvm::binary;
use crate::difference::{facts_source, source_files};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::Outside;
use crate::lang::c::Granularity;
use crate::lang::facts::MadeFacts;
use crate::masquerade::{self, Backend, Links, headers, inputs, kept};
use crate::objects::Contents;
use crate::program::Program;
use crate::repo::{RepoPath, Repository, Version};
use crate::runner::needs::define;
use crate::runner::watch::{Opened, Watch};
use crate::runner::{self, Extent, Finished, Interrupt, OWN_FOLDER, Runner, Settings, Site, Test};
use crate::trace::{FunctionId, Trace};
use crate::workshop::Workshop;

/// A work tree that is being built and tested.
pub struct Session {
    pub workshop: Workshop,
    pub version: Version,
    pub backend: Backend,
    pub runner: &'static dyn Runner,
    pub interrupt: Arc<Interrupt>,
    /// Why all that was built before is built anew, if it is for a change of the tree.
    pub anew: Option<String>,
    settings: Settings,
    site: Site,
    /// The files of the tree, and who opens them.
    pub(super) files: BTreeSet<RepoPath>,
    pub(super) watch: Option<Watch>,
    /// What earlier builds in the same place opened.
    opened_before: Opened,
    /// How many bytes of notes earlier calls of compilers and linkers left.
    noted_before: u64,
    left_out: LeftOut,
    /// What the runner needs for itself in the build.
    pub(super) own_folder: PathBuf,
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
        let beyond = beyond_the_build(&workshop, config, runner, &differences);
        match (is_otherwise, &beyond) {
            (true, _) => start_afresh(&workshop, &made_by)?,
            (false, Some(_)) => start_over(&workshop, runner, &differences)?,
            (false, None) => {}
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
            own_folder: workshop.build.join(OWN_FOLDER),
            workshop,
            version,
            backend,
            runner,
            interrupt,
            anew: beyond.filter(|_| !is_otherwise),
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
        let build = || {
            runner::build(
                self.runner,
                &self.site,
                &self.settings,
                &self.interrupt,
                &log,
                extent,
            )
        };
        let mut built = build();
        let is_failed = |error: &Error| error.exit_code == ExitCode::BuildFailed;
        if built.as_ref().is_err_and(is_failed) {
            let said = fs::read(&log).unwrap_or_default();
            if self
                .runner
                .forgets(&self.site, &String::from_utf8_lossy(&said))
            {
                built = build();
            }
        }
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
        let mut tests = tests?;
        define(&mut tests);
        Ok(tests)
    }

    /// What is switched off in the build, and may bring tests.
    #[must_use]
    pub fn switched_off(&self) -> Vec<String> {
        self.runner.switched_off(&self.site)
    }

    /// Adds what was opened just now to what the builds in this workshop opened: each of them made a part of what is there.
    fn note(&self, now: Opened) {
        self.workshop
            .note_opened(now.map(|opened| self.of_the_tree(&opened)));
    }

    pub(super) fn of_the_tree(&self, opened: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
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
    pub(super) fn root(&self) -> &Path {
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

    pub(super) fn counted_while_building(
        &self,
        recorder: &dyn Recorder,
    ) -> &(Trace, Option<String>) {
        self.executed_by_build
            .get_or_init(|| makers::executed(&self.workshop, &self.backend, recorder))
    }

    /// What ran while the project was built, and so counts for every test.
    #[must_use]
    pub fn executed_by_build(&self, recorder: &dyn Recorder) -> BTreeSet<FunctionId> {
        let (trace, _) = self.counted_while_building(recorder);
        trace.functions.iter().map(|(id, _)| id.clone()).collect()
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
