//! The mutants of a sample that are built all at once, each a choice at run time, and their trials.
//!
//! A test that never reaches a mutant cannot behave differently under it. Who reaches which is noted by the programs themselves: it
//! rests on no trace and on no selection, and so it can tell whether these are wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Found, cannot_change};
use crate::commands::built::Built;
use crate::commands::controls::is_flaky;
use crate::commands::haste::hurry;
use crate::commands::rehearsal::Rehearsal;
use crate::commands::testing::outcome_of;
use crate::commands::trial::{Bench, everything, interrupted, milliseconds, stories};
use crate::config::Config;
use crate::difference::{facts_source, source_files};
use crate::error::Result;
use crate::history::{Outcome, Recording};
use crate::lang::c::{Granularity, Mutant, Switched, switched};
use crate::recording::{Complaint, Session, SwitchedBuild};
use crate::repo::{RepoPath, Version};
use crate::runner::needs::{Constraints, constraints, with_needed};
use crate::runner::{Limits, Test};
use crate::selection::{Selection, Witnesses};
use crate::trust::{Judgement, Observed, Times, Trial};

/// So often mutants that do not compile are taken out, and the others built again.
const ROUNDS: usize = 12;

/// From this round on whole files are taken out.
const PATIENT_ROUNDS: usize = 8;

/// So many tests run first; where so many of them hang, most of the others would, too.
const SCOUTS: usize = 16;
const HANGING: usize = 8;

/// What it takes to start a test and to see it end.
const STARTING: Duration = Duration::from_millis(6);

/// Mutants that were built at once, and the tests that reach them.
pub(super) struct Panel {
    build: SwitchedBuild,
    tests: Vec<Test>,
    constraints: Constraints,
    known: Vec<Known>,
    /// The numbers of the mutants, which are their places in the sample and one more.
    pub(super) numbers: BTreeSet<usize>,
}

/// What a test does where no mutant is on.
struct Known {
    outcome: Outcome,
    took: Duration,
    /// The mutants that it reaches; nothing, if it may be any.
    reached: Option<BTreeSet<usize>>,
    /// It ends as it was recorded.
    is_as_recorded: bool,
}

impl Known {
    fn reaches(&self, number: usize) -> bool {
        let reached = self.reached.as_ref();
        self.is_as_recorded && reached.is_none_or(|reached| reached.contains(&number))
    }
}

/// Builds as many mutants as can be built at once, and lets every test tell which of them it reaches. Nothing, if that cannot be.
pub(super) fn panel(
    rehearsal: &Rehearsal,
    (config, session): (&Config, &Session),
    recording: &Recording,
    listed: &[Test],
    found: &[Found],
) -> Result<Option<Panel>> {
    let build = SwitchedBuild::open(&rehearsal.repository, config, session, found.len())?;
    let Some(mut numbers) = built(rehearsal, config, &build, found)? else {
        notice!("mutants cannot be built at once: the build fails, and compilers do not tell why");
        return Ok(None);
    };
    // What the build executes made what is there, with no mutant on.
    for number in build.strayed() {
        numbers.remove(&number);
    }
    let tests = build.list()?;
    let names =
        |tests: &[Test]| -> Vec<String> { tests.iter().map(|test| test.name.clone()).collect() };
    if names(&tests) != names(listed) {
        notice!("mutants cannot be built at once: without counters there are other tests");
        return Ok(None);
    }
    if numbers.is_empty() {
        return Ok(None);
    }
    let mut known: Vec<Option<Known>> = tests.iter().map(|_| None).collect();
    let running: Vec<&Test> = tests.iter().collect();
    build.reach(&running, |index, reach| {
        let name = &running[index].name;
        let outcome = outcome_of(&reach.finished.outcome);
        let recorded = recording.record(name);
        // Who does not always do the same may reach something else next time.
        let is_steady =
            !config.is_nondeterministic(name) && !recorded.is_some_and(|record| record.varies);
        let reached = reach.reached.filter(|_| is_steady);
        known[index] = Some(Known {
            outcome,
            took: reach.finished.duration,
            reached: reached.map(|reached| reached.into_iter().collect()),
            is_as_recorded: recorded.is_some_and(|record| record.outcome == outcome),
        });
    })?;
    let Some(mut known) = known.into_iter().collect::<Option<Vec<Known>>>() else {
        return Err(interrupted());
    };
    let constraints = constraints(&tests);
    add_predecessors(&mut known, &constraints);
    let others = known.iter().filter(|known| !known.is_as_recorded).count();
    if others > 0 {
        notice!(
            "{} another way without counters, and cannot tell anything of mutants that are built at once",
            match others {
                1 => "1 test ends in".to_owned(),
                others => format!("{others} tests end in"),
            }
        );
    }
    Ok(Some(Panel {
        build,
        constraints,
        tests,
        known,
        numbers,
    }))
}

/// A few of some tests, from all over them.
fn scouts(reaching: &BTreeSet<usize>) -> BTreeSet<usize> {
    let step = reaching.len().div_ceil(SCOUTS).max(1);
    reaching.iter().copied().step_by(step).collect()
}

/// A test that waits for others may depend on what they did.
fn add_predecessors(known: &mut [Known], constraints: &Constraints) {
    for place in 0..known.len() {
        let mut before: BTreeSet<usize> = BTreeSet::new();
        let mut waiting = vec![place];
        while let Some(test) = waiting.pop() {
            let after = constraints.tests[test].after.iter().copied();
            waiting.extend(after.filter(|earlier| before.insert(*earlier)));
        }
        for earlier in before {
            let more = known[earlier].reached.clone();
            let own = known[place].reached.take();
            known[place].reached = own.zip(more).map(|(own, more)| &own | &more);
        }
    }
}

/// Builds, and takes out what does not compile, until there is a build; answers what is in it.
fn built(
    rehearsal: &Rehearsal,
    config: &Config,
    build: &SwitchedBuild,
    found: &[Found],
) -> Result<Option<BTreeSet<usize>>> {
    let repository = &rehearsal.repository;
    let tree = source_files(repository, config, &repository.work_tree()?)?;
    let program = facts_source(repository, Granularity::Expression).program(&tree)?;
    let mut by_file: BTreeMap<&RepoPath, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (place, one) in found.iter().enumerate() {
        let own = by_file.entry(&one.path).or_default();
        own.push((place + 1, &one.mutant));
    }
    let sources = by_file.keys().map(|path| {
        let file = path.under(rehearsal.folder());
        let source = fs::read(&file).map_err(|error| cannot_change(&file, &error))?;
        Ok((*path, source))
    });
    let sources = sources.collect::<Result<BTreeMap<&RepoPath, Vec<u8>>>>()?;
    for round in 0..ROUNDS {
        let mut files: BTreeMap<RepoPath, Switched> = BTreeMap::new();
        for (path, mutants) in &by_file {
            let written = switched(&sources[path], &program.macros, mutants);
            files.insert((*path).clone(), written);
        }
        let texts = files.iter();
        let texts = texts.map(|(path, written)| (path.clone(), written.text.clone()));
        let Err(complaints) = build.build(&texts.collect())? else {
            let places = files.values().flat_map(|written| &written.places);
            return Ok(Some(places.map(|(number, _)| *number).collect()));
        };
        let guilty = guilty(&complaints, &files, round >= PATIENT_ROUNDS);
        if guilty.is_empty() {
            break;
        }
        for mutants in by_file.values_mut() {
            mutants.retain(|(number, _)| !guilty.contains(number));
        }
    }
    Ok(None)
}

/// The mutants that do not compile, as far as compilers tell.
fn guilty(
    complaints: &[Complaint],
    files: &BTreeMap<RepoPath, Switched>,
    in_whole: bool,
) -> BTreeSet<usize> {
    let mut guilty = BTreeSet::new();
    for complaint in complaints {
        let named = Path::new(&complaint.file);
        let meant = files
            .iter()
            .filter(|(path, _)| named.ends_with(path.under(Path::new(""))));
        let Some((_, file)) = meant.max_by_key(|(path, _)| path.as_bytes().len()) else {
            continue;
        };
        let own = file.meant(complaint.line, complaint.column);
        match own.is_empty() || in_whole {
            true => guilty.extend(file.places.iter().map(|(number, _)| *number)),
            false => guilty.extend(own),
        }
    }
    guilty
}

impl Panel {
    /// About how long the tests take that reach the mutants.
    pub(super) fn estimate(&self, jobs: usize) -> Duration {
        let mutants = self.numbers.iter();
        let all = mutants.map(|number| {
            let tests = self.known.iter().filter(|known| known.reaches(*number));
            tests.map(|known| known.took + STARTING).sum::<Duration>()
        });
        all.sum::<Duration>() / u32::try_from(jobs).unwrap_or(1)
    }

    /// Tries one mutant: its tests run while it is asked which of them would be selected.
    pub(super) fn trial(
        &self,
        (built, rehearsal): (&Built<'_>, &Rehearsal),
        head: Version,
        bench: &Bench<'_>,
        (number, one): (usize, &Found),
    ) -> Result<Trial> {
        // What would be selected, and why, is read from the work tree. The build does not see it.
        one.tried_in(rehearsal.folder(), |title| {
            let names = (one.name(), title);
            self.tried(built, head, bench, number, names)
        })
    }

    fn tried(
        &self,
        built: &Built<'_>,
        head: Version,
        bench: &Bench<'_>,
        number: usize,
        (change, title): (String, String),
    ) -> Result<Trial> {
        let places = 0..self.tests.len();
        let reaching: BTreeSet<usize> = places
            .filter(|place| self.known[*place].reaches(number))
            .collect();
        let scouts = scouts(&reaching);
        let run = |places: &BTreeSet<usize>| {
            let running = with_needed(&self.tests, &self.constraints, places);
            self.run(&running, number, bench.jobs.get())
        };
        let started = Instant::now();
        let (ended, selection, analysed_in) = std::thread::scope(|scope| {
            let tests = scope.spawn(|| run(&scouts));
            let selection = select(built, head);
            let analysed_in = started.elapsed();
            let ended = tests.join().unwrap_or_else(|_| Ok(BTreeMap::new()));
            (ended, selection, analysed_in)
        });
        let (mut ended, selection) = (ended?, selection?);
        let mut others = &reaching - &scouts;
        let how = ended.values().map(|(outcome, _)| *outcome);
        if how.filter(|how| *how == Outcome::TimedOut).count() >= HANGING {
            // Nobody waits for hundreds of tests that hang. Who is selected cannot have been missed.
            others.retain(|place| !selection.plan.tests[*place].is_selected());
        }
        if !bench.interrupt.is_requested() {
            ended.extend(run(&others)?);
        }
        if bench.interrupt.is_requested() {
            return Err(interrupted());
        }
        let mut tests: Vec<Observed> = self
            .known
            .iter()
            .enumerate()
            .map(|(place, known)| {
                let (after, took) = ended
                    .get(&place)
                    .copied()
                    .unwrap_or((known.outcome, known.took));
                Observed {
                    name: self.tests[place].name.clone(),
                    selected: selection.plan.tests[place].is_selected(),
                    before: Some(known.outcome),
                    after,
                    milliseconds: milliseconds(took),
                    flaky: false,
                    moved: known
                        .reached
                        .as_ref()
                        .map(|reached| reached.contains(&number)),
                }
            })
            .collect();
        let missed = self.judge(bench, number, &mut tests)?;
        let total =
            |tests: &mut dyn Iterator<Item = &Observed>| tests.map(|test| test.milliseconds).sum();
        Ok(Trial {
            obstacle: None,
            everything: everything(built, &selection)?,
            times: Times {
                build: 0,
                analysis: milliseconds(analysed_in),
                selected: total(&mut tests.iter().filter(|test| test.selected)),
                all: total(&mut tests.iter()),
                plain: None,
            },
            reaching: Some(reaching.len()),
            stories: stories(built.repository, &selection, &missed, &self.build.workshop)?,
            tests,
            ..Trial::stopped(change, title, String::new())
        })
    }

    /// Runs tests with a mutant on; answers how each ended.
    fn run(
        &self,
        places: &BTreeSet<usize>,
        number: usize,
        jobs: usize,
    ) -> Result<BTreeMap<usize, (Outcome, Duration)>> {
        let places: Vec<usize> = places.iter().copied().collect();
        let tests = places.iter().map(|place| {
            let mut test = self.tests[*place].clone();
            hurry(&mut test.launch, self.known[*place].took);
            test
        });
        let tests: Vec<Test> = tests.collect();
        let running: Vec<&Test> = tests.iter().collect();
        let limits = Limits {
            jobs,
            failures: None,
        };
        let mut ended = BTreeMap::new();
        if !running.is_empty() {
            self.build
                .run(&running, limits, number, |index, finished| {
                    let how = (outcome_of(&finished.outcome), finished.duration);
                    ended.insert(places[index], how);
                })?;
        }
        Ok(ended)
    }

    /// Runs tests again that should have been selected, as it seems; answers the places of those that should.
    fn judge(
        &self,
        bench: &Bench<'_>,
        number: usize,
        tests: &mut [Observed],
    ) -> Result<Vec<usize>> {
        let mut missed = Vec::new();
        for (place, test) in tests.iter_mut().enumerate() {
            if test.judge() != Judgement::Missed {
                continue;
            }
            let alone = BTreeSet::from([place]);
            let alone = with_needed(&self.tests, &self.constraints, &alone);
            test.flaky = is_flaky(test, || {
                let ended = self.run(&alone, number, 1).unwrap_or_default();
                ended
                    .get(&place)
                    .map_or(Outcome::NotRun, |(outcome, _)| *outcome)
            });
            if bench.interrupt.is_requested() {
                return Err(interrupted());
            }
            if !test.flaky {
                missed.push(place);
            }
        }
        Ok(missed)
    }
}

/// What a run would select with what is in the work tree, after a build that leaves everything else as it is.
pub(super) fn select(built: &Built<'_>, head: Version) -> Result<Selection> {
    let version = built.repository.work_tree()?;
    // What is at hand is not what would be built of it, so compiled code says nothing.
    let witnesses = Witnesses {
        object: false,
        ..Witnesses::ALL
    };
    built.select_at(version, head, false, witnesses)
}

/// How the mutants of a sample are tried, for people.
pub(super) fn shares(at_once: usize, alone: usize, others: usize) -> String {
    let one_by_one = match others - alone {
        0 => format!("{alone} one by one"),
        left => format!("{alone} one by one, {left} more that could only be so are left out"),
    };
    format!("{at_once} built at once, {one_by_one}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scouts_are_from_all_over_the_tests() {
        let of = |count: usize| scouts(&(0..count).collect());
        assert_eq!(of(0), BTreeSet::new());
        assert_eq!(of(3), [0, 1, 2].into());
        assert_eq!(of(485).len(), SCOUTS);
        assert!(of(485).last() > Some(&450) && of(17).len() >= HANGING);
    }
}
