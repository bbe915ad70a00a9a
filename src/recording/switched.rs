//! A build in which mutants are chosen at run time, beside the one that records: without counters, and with nobody looking on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ear::Ear;
use super::site::{all_processors, site_of};
use super::{Session, settings};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::masquerade::{self, switches};
use crate::repo::{RepoPath, Repository};
use crate::runner::needs::constraints;
use crate::runner::{
    self, Extent, Finished, Interrupt, Limits, Run, Runner, Settings, Site, Test, run_all,
};
use crate::workshop::Workshop;

/// Such a build, for as long as its workshop is there.
pub struct SwitchedBuild {
    pub workshop: Workshop,
    runner: &'static dyn Runner,
    settings: Settings,
    site: Site,
    interrupt: Arc<Interrupt>,
    /// Where processes look that no variable tells anything.
    folder: PathBuf,
    /// Mutants have numbers from 1 to this one.
    last: usize,
}

/// A place in a file that a compiler complains of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub file: String,
    pub line: usize,
    pub column: Option<usize>,
}

/// What a test does where no mutant is on.
pub struct Reach {
    pub finished: Finished,
    /// The mutants that it reaches, by their numbers; nothing, if that is not known.
    pub reached: Option<Vec<usize>>,
}

impl SwitchedBuild {
    /// Copies the work tree and gets everything ready to build, with the compilers of a session.
    pub fn open(
        repository: &Repository,
        config: &Config,
        session: &Session,
        last: usize,
    ) -> Result<Self> {
        let workshop = Workshop::of_switched(repository);
        workshop.make_folders()?;
        workshop.copy(repository)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let compilers = &workshop.compilers;
        masquerade::set_up(compilers, &path, &session.backend)
            .map_err(|error| cannot(compilers, &error))?;
        let root = workshop.tree.parent().unwrap_or(&workshop.tree);
        let folder = root.join("switches");
        let mut environment =
            masquerade::environment(compilers, &workshop.strays, &session.backend, &path);
        environment.push((switches::FOLDER.into(), folder.clone().into()));
        fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
        let build = SwitchedBuild {
            site: site_of(&workshop, environment, all_processors()),
            runner: session.runner,
            settings: settings(config),
            interrupt: Arc::clone(&session.interrupt),
            workshop,
            folder,
            last,
        };
        build.turn(0)?;
        build.clear(&build.strays())?;
        Ok(build)
    }

    /// Builds with some files written in another way. Answers what compilers complain of if it cannot be built.
    pub fn build(
        &self,
        files: &BTreeMap<RepoPath, Vec<u8>>,
    ) -> Result<std::result::Result<(), Vec<Complaint>>> {
        for (path, text) in files {
            let file = path.under(&self.workshop.tree);
            // What is as it was need not be built again.
            if fs::read(&file).ok().as_ref() != Some(text) {
                fs::write(&file, text).map_err(|error| cannot(&file, &error))?;
            }
        }
        let log = self.workshop.build_log();
        let mut site = self.site.clone();
        // The more is complained of at once, the fewer builds there are.
        site.environment
            .push(("MAKEFLAGS".into(), Some("k".into())));
        let (runner, settings) = (self.runner, &self.settings);
        let built = runner::build(runner, &site, settings, &self.interrupt, &log, Extent::All);
        match built {
            Ok(()) => Ok(Ok(())),
            Err(error) if error.exit_code == ExitCode::BuildFailed => {
                let said = fs::read(&log).unwrap_or_default();
                Ok(Err(complaints(&String::from_utf8_lossy(&said))))
            }
            Err(error) => Err(error),
        }
    }

    pub fn list(&self) -> Result<Vec<Test>> {
        self.runner.list(&self.site, &self.settings)
    }

    /// The mutants that were reached by something which no variable told where to note it; by the build, for instance.
    pub fn strayed(&self) -> Vec<usize> {
        noted(&self.strays()).unwrap_or_default()
    }

    /// Runs all tests, one after the other and with no mutant on. What they need must be among them.
    pub fn reach(&self, tests: &[&Test], mut on_done: impl FnMut(usize, Reach)) -> Result<()> {
        self.turn(0)?;
        let own = |index: usize| self.folder.join(format!("reached-{index}"));
        for index in 0..tests.len() {
            self.clear(&own(index))?;
        }
        let ear = Ear::open(&masquerade::added::ear(&self.workshop.compilers));
        let before = AtomicU64::new(0);
        let variables = |index: usize| {
            vec![
                (switches::ON.into(), Some("0".into())),
                (switches::REACHED.into(), Some(own(index).into())),
            ]
        };
        let runs = self.runs(tests, &variables);
        let one = Limits {
            jobs: 1,
            failures: None,
        };
        let prepare = |_: usize| {
            let _ = self.clear(&self.strays());
            before.store(ear.heard().unwrap_or_default(), Ordering::Relaxed);
        };
        let examine = |index: usize, finished: Finished| {
            let is_quiet = ear.heard() == Some(before.load(Ordering::Relaxed));
            let (own, strayed) = (noted(&own(index)), noted(&self.strays()));
            let reached = own.zip(strayed).map(|(mut own, strayed)| {
                own.extend(strayed);
                own
            });
            Reach {
                reached: reached.filter(|_| is_quiet && !finished.outlived),
                finished,
            }
        };
        let interrupt = &self.interrupt;
        run_all(
            &runs,
            &constraints(tests),
            one,
            interrupt,
            prepare,
            examine,
            &mut on_done,
        );
        self.end_survivors();
        for index in 0..tests.len() {
            let _ = fs::remove_file(own(index));
        }
        Ok(())
    }

    /// Runs tests with a mutant on.
    pub fn run(
        &self,
        tests: &[&Test],
        limits: Limits,
        on: usize,
        mut on_done: impl FnMut(usize, Finished),
    ) -> Result<()> {
        self.turn(on)?;
        let number = OsString::from(on.to_string());
        let runs = self.runs(tests, &|_| {
            vec![(switches::ON.into(), Some(number.clone()))]
        });
        let mut outlived = false;
        run_all(
            &runs,
            &constraints(tests),
            limits,
            &self.interrupt,
            |_| {},
            |_, finished| finished,
            |index, finished| {
                outlived |= finished.outlived;
                on_done(index, finished);
            },
        );
        if outlived {
            self.end_survivors();
        }
        self.turn(0)
    }

    fn runs(
        &self,
        tests: &[&Test],
        variables: &dyn Fn(usize) -> Vec<(OsString, Option<OsString>)>,
    ) -> Vec<Run> {
        let runs = tests.iter().enumerate().map(|(index, test)| {
            let mut launch = test.launch.clone();
            launch.environment.extend(variables(index));
            Run {
                launch,
                log: self.workshop.log_of(&test.name),
            }
        });
        runs.collect()
    }

    /// Servers that tests started for other tests.
    fn end_survivors(&self) {
        runner::end_survivors(masquerade::FOLDER, self.workshop.compilers.as_os_str());
    }

    fn strays(&self) -> PathBuf {
        self.folder.join(switches::STRAYS_FILE)
    }

    /// Tells whoever has no variable which mutant is on.
    fn turn(&self, on: usize) -> Result<()> {
        let file = self.folder.join(switches::ON_FILE);
        fs::write(&file, on.to_string()).map_err(|error| cannot(&file, &error))
    }

    /// A file in which nothing is noted.
    fn clear(&self, file: &Path) -> Result<()> {
        fs::write(file, vec![0; self.last + 1]).map_err(|error| cannot(file, &error))
    }
}

/// The numbers that are noted in a file.
fn noted(file: &Path) -> Option<Vec<usize>> {
    let bytes = fs::read(file).ok()?;
    let noted = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
    Some(noted.map(|(number, _)| number).collect())
}

/// The places that compilers name in a log with an error.
fn complaints(log: &str) -> Vec<Complaint> {
    let place = |line: &str| {
        let (place, _) = line
            .split_once(" fatal error: ")
            .or_else(|| line.split_once(" error: "))?;
        let mut parts = place.strip_suffix(':')?.rsplitn(3, ':');
        let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
        match (first, middle.parse(), last.parse()) {
            (Some(file), Ok(line), Ok(column)) => Some(Complaint {
                file: file.to_owned(),
                line,
                column: Some(column),
            }),
            (first, _, Ok(line)) => Some(Complaint {
                file: first.map_or_else(|| middle.to_owned(), |first| format!("{first}:{middle}")),
                line,
                column: None,
            }),
            _ => None,
        }
    };
    log.lines().filter_map(place).collect()
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot write '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_compilers_are_found_in_a_log() {
        let log = "$ make\n/x/a b.c:12:7: error: no\n/x/a.c:3: fatal error: not this\nmake: *** [all] Error 1\n/x/a.c:3:1: warning: oh\n";
        let complaint = |file: &str, line, column| Complaint {
            file: file.to_owned(),
            line,
            column,
        };
        let wanted = [
            complaint("/x/a b.c", 12, Some(7)),
            complaint("/x/a.c", 3, None),
        ];
        assert_eq!(complaints(log), wanted);
    }
}
