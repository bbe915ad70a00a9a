//! The steps that `select`, `run` and `why` share: from two versions, over the history, to a plan.

mod arranged;
mod baseline;
mod builds;
mod candidates;
mod carried;
mod debts;
mod listed;
mod overlooked;
mod unrecorded;
mod witnesses;

use builds::RecordedHead;
use candidates::{candidates, class};

pub use arranged::{Arrangement, Wishes, arrange};
pub use baseline::{Baseline, RECORD, baseline_of, known_tests};
pub use carried::carry;
use carried::rewritten_in;
pub use debts::owed_elsewhere;
use debts::with_debts_of_own;
pub use unrecorded::unrecorded_selection;
pub use witnesses::Witnesses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::difference::{Building, Difference, difference};
use crate::error::Result;
use crate::history::{
    About, Experiences, Histories, History, PATIENCE, Recording, TestNumber, TestRecord, VersionKey,
};
use crate::lang::c::Granularity;
use crate::objects::Contents;
use crate::recording::outside::what_differs;
use crate::recording::products::Products;
use crate::repo::{RepoPath, Repository, Version};
use crate::runner::Test;
use crate::select::{Candidate, Plan, Reason, TestifiedFile};
use crate::trace::FunctionId;
use crate::witness::code::{Verdict, Verdicts};
use crate::witness::files::{Folders, Opened};
use crate::witness::source::{Source, Traces, files_in_danger};
use crate::witness::versioned::Versioned;
use crate::witness::{
    Certificate, ChangedFile, FileClass, Way, assumption, assumption::Listed, code, definition,
    definition::Definitions, files, rules,
};

/// What is known of the last runs on the way to a version: a failure or an inconstancy may be behind the baseline.
#[derive(Debug, Clone, Default)]
pub struct Latest {
    /// Counts the sessions on the way.
    pub session: u64,
    /// By name.
    pub tests: BTreeMap<String, Arc<TestRecord>>,
    pub experiences: Experiences,
}

/// The tests of a history, which several hold.
type Tests = BTreeMap<TestNumber, Arc<TestRecord>>;

fn shared(tests: BTreeMap<TestNumber, TestRecord>) -> Tests {
    let tests = tests.into_iter();
    tests
        .map(|(number, test)| (number, Arc::new(test)))
        .collect()
}

impl Latest {
    /// Reads what is known; what cannot be read says nothing, and the baseline speaks for itself.
    pub fn read(repository: &Repository, histories: &Histories, head: Version) -> Result<Self> {
        Self::beside(repository, histories, (head, false), None)
    }

    /// The same for a version that may be built, where the tests of a history are at hand.
    fn beside(
        repository: &Repository,
        histories: &Histories,
        (head, is_built): (Version, bool),
        known: Option<(VersionKey, &Tests)>,
    ) -> Result<Self> {
        let history = baseline::latest(repository, histories, head)?;
        let session = history.as_ref().map_or(0, History::session);
        let tests = match (history, known) {
            (Some(history), Some((version, tests))) if history.version() == version => {
                tests.clone()
            }
            (Some(history), _) => {
                let tests = shared(history.tests().unwrap_or_default());
                with_debts_of_own(repository, head, is_built, tests)
            }
            (None, _) => Tests::new(),
        };
        let tests = tests.into_values();
        Ok(Latest {
            session,
            tests: tests.map(|test| (test.name.clone(), test)).collect(),
            experiences: histories.experiences()?,
        })
    }
}

/// What is asked: which tests of the head can behave differently than at the base.
pub struct Question<'a> {
    pub base: Version,
    pub head: Version,
    /// The tests of the head, if it was built.
    pub listing: Option<&'a [Test]>,
    /// The toolchain and environment of the head, if it was built.
    pub fingerprint: Option<&'a BTreeMap<String, String>>,
    /// What the build of the head made, if it was built.
    pub built: Option<Built<'a>>,
    /// All tests are wanted, whatever changed.
    pub all: bool,
    /// The witnesses that may speak, among those that can be chosen.
    pub witnesses: Witnesses,
}

/// A build that is at hand.
#[derive(Clone, Copy)]
pub struct Built<'a> {
    pub contents: &'a Contents,
    pub products: &'a Products,
    pub about: &'a About,
}

/// The answer, with what it rests on.
pub struct Selection {
    pub base: Version,
    pub head: Version,
    /// The version whose traces were used.
    pub baseline: Option<Version>,
    pub difference: Option<Difference>,
    pub source: Source,
    pub plan: Plan,
    /// Why everything is selected, if so, and what to do about it.
    pub everything: Option<String>,
    pub hint: Option<&'static str>,
    /// What is known of the last runs on the way to the head.
    pub latest: Latest,
    /// The traces of the baseline, for those who carry them over.
    pub known: Option<Recording>,
    /// How many tests would have been selected if one witness alone told what is compiled into them, by its name; nothing for one
    /// that cannot speak.
    pub alone: Vec<(&'static str, Option<usize>)>,
    /// Libraries that have other names in the build of the head.
    pub versioned: Versioned,
    /// What ran while the baseline was built: it counts for every test.
    pub executed_by_build: BTreeSet<FunctionId>,
    /// Whether what both versions are built to was compared.
    pub knows_builds: bool,
    /// The changed files that one of the builds opened, or may have.
    pub opened_by_builds: BTreeSet<RepoPath>,
    /// The tests that are skipped because what they execute is compiled to the same, though it may be written in another way; each
    /// with the functions of the head in which it may go other ways, and nothing where nobody can tell which.
    pub rewritten: BTreeMap<String, Option<Vec<FunctionId>>>,
    /// Why the head may have tests that are not among these: it was neither built nor recorded.
    pub may_lack: Option<String>,
    pub notices: Vec<String>,
}

impl Selection {
    /// What was assumed in order to skip whoever is skipped.
    #[must_use]
    pub fn assumptions(&self) -> BTreeSet<&str> {
        let places = 0..self.plan.tests.len();
        places
            .flat_map(|place| self.plan.assumed_for(place))
            .collect()
    }
}

/// Answers a question. `keep` asks for the traces of the baseline, too.
pub fn selection(
    repository: &Repository,
    config: &Config,
    question: &Question<'_>,
    keep: bool,
    waiting: &mut dyn FnMut(Option<u32>),
) -> Result<Selection> {
    let histories = Histories::open(&repository.create_rts_dir()?, PATIENCE, waiting)?;
    let notices = histories.notices.clone();
    let found = baseline::find(repository, config, &histories, question)?;
    let mut hint = RECORD;
    let (history, version, mut reason) = match found {
        Baseline::Found { history, version } => (Some(history), Some(version), None),
        Baseline::Missing {
            reason,
            hint: way_out,
            newest,
        } => {
            hint = way_out;
            (newest, None, Some(reason))
        }
    };
    let is_built = question.built.is_some();
    let tests = match history.as_ref().map(History::tests) {
        Some(Ok(tests)) => with_debts_of_own(repository, question.head, is_built, shared(tests)),
        Some(Err(error)) => {
            reason.get_or_insert(error.message);
            Tests::new()
        }
        None => Tests::new(),
    };
    let known = history.as_ref().map(|history| (history.version(), &tests));
    let latest = Latest::beside(repository, &histories, (question.head, is_built), known)?;
    let head = match question.listing {
        Some(_) => None,
        None => RecordedHead::find(repository, config, &histories, question.head)?,
    };
    let candidates = candidates(config, question, &tests, &latest, head.as_ref());
    let asked = Asked {
        repository,
        config,
        head,
        question,
        candidates,
        tests,
        latest,
        hint,
    };
    match (history, version, reason) {
        (Some(history), Some(version), None) => {
            let mut answer = asked.compared_with(&history, version, keep, notices)?;
            if !asked.is_listed() && answer.everything.is_none() {
                answer.may_lack = listed::may_lack(repository, config, &histories, &answer)?;
            }
            Ok(answer)
        }
        (_, _, reason) => Ok(asked.everything(reason.unwrap_or_default(), notices)),
    }
}

/// A question with the tests that it is about.
struct Asked<'a> {
    repository: &'a Repository,
    config: &'a Config,
    /// What was recorded of the head, if it is not at hand.
    head: Option<RecordedHead>,
    question: &'a Question<'a>,
    candidates: Vec<Candidate>,
    tests: Tests,
    latest: Latest,
    /// What to do if everything is selected.
    hint: &'static str,
}

impl Asked<'_> {
    fn everything(&self, reason: String, notices: Vec<String>) -> Selection {
        let why = Reason::Everything(reason.clone());
        Selection {
            base: self.question.base,
            head: self.question.head,
            baseline: None,
            difference: None,
            source: Source::default(),
            plan: Plan::everything(&self.candidates, &why),
            may_lack: (!self.is_listed()).then(|| reason.clone()),
            everything: Some(reason),
            hint: Some(self.hint),
            latest: self.latest.clone(),
            known: None,
            alone: Vec::new(),
            versioned: Versioned::default(),
            executed_by_build: BTreeSet::new(),
            knows_builds: false,
            opened_by_builds: BTreeSet::new(),
            rewritten: BTreeMap::new(),
            notices,
        }
    }

    fn compared_with(
        &self,
        history: &History,
        version: Version,
        keep: bool,
        mut notices: Vec<String>,
    ) -> Result<Selection> {
        let about = match history.about() {
            Ok(about) => about,
            Err(error) => return Ok(self.everything(error.message, notices)),
        };
        let opened_by_head = self.about_head();
        let opened_by_head = opened_by_head.and_then(|about| about.opened_by_build.as_ref());
        let opened = [about.opened_by_build.as_ref(), opened_by_head];
        let records = self.candidates.iter();
        let looked = records.filter_map(|test| test.record.as_ref()?.looked.as_ref());
        let by_tests: BTreeSet<RepoPath> =
            looked.flat_map(|looked| &looked.touched).cloned().collect();
        let difference = difference(
            self.repository,
            self.config,
            (version, self.question.head),
            Building {
                made: &about.made,
                opened: about
                    .opened_by_build
                    .as_ref()
                    .zip(opened_by_head)
                    .map(|(before, after)| [before, after, &by_tests]),
            },
            Granularity::Expression,
        )?;
        notices.extend(difference.notice.clone());
        // A history that turns out to be damaged can clear nobody.
        let read = || -> Result<_> {
            let functions = history.functions_in(&files_in_danger(&difference))?;
            let after = self.build_of_head();
            let known = (keep || after.is_some()).then(|| history.to_recording());
            let mut known = known.transpose()?;
            if let Some(known) = known.as_mut().filter(|_| self.question.built.is_some()) {
                known.settle_debts();
            }
            Ok((functions, known, after))
        };
        let (functions, known, after) = match read() {
            Ok(read) => read,
            Err(error) => return Ok(self.everything(error.message, notices)),
        };
        let source = Source::new(
            &difference,
            &Traces {
                functions: &functions,
                uncounted: &about.uncounted,
                has_uncounted_made: about.has_uncounted_made(),
                places: &self.places(),
                candidates: self.candidates.len(),
            },
        );
        let (verdicts, versioned) = match (&known, &after) {
            (Some(known), Some(after)) => self.verdicts(known, after, &difference.recompiled),
            _ => (Verdicts::default(), Versioned::default()),
        };
        let altered = match (&known, &after) {
            (Some(known), Some(after)) => Self::altered(known, after),
            _ => Vec::new(),
        };
        let folders = self.folders(&difference, &altered)?;
        let testified = |source: &Source| {
            let (folders, altered) = (folders.clone(), altered.clone());
            self.testified(&difference, source, &about, folders, altered, &verdicts)
        };
        // By itself, the source cannot tell what becomes of code that the build made.
        let alone = match self.question.witnesses.are_compared {
            true => self.alone(&testified(&source), &source, &verdicts),
            false => Vec::new(),
        };
        let strict = source;
        let source = match self.question.witnesses.object {
            true => strict.settled(&verdicts.is_made_alike),
            false => strict.clone(),
        };
        let files = testified(&source);
        let mut plan = if self.question.all {
            Plan::everything(&self.candidates, &Reason::Asked)
        } else {
            let witnesses = self.question.witnesses;
            let may_speak = |one: &Certificate| witnesses.may_speak(one.witness);
            self.plan(&files, &source, &verdicts, witnesses, &may_speak)
        };
        overlooked::overlook(&mut plan);
        let may_be_opened = |path: &RepoPath| {
            let mut opened = opened.into_iter();
            opened.any(|opened| opened.is_none_or(|opened| opened.contains(path)))
        };
        let opened = plan.files.iter().map(|file| &file.file);
        let opened = opened.filter(|file| may_be_opened(&file.path));
        let is_built_otherwise = verdicts.are_made_otherwise
            || opened.clone().any(|file| file.class != FileClass::Source);
        let opened_by_builds = opened.map(|file| file.path.clone()).collect();
        let skipped = plan.tests.iter().enumerate();
        let skipped = skipped.filter(|(_, test)| !test.is_selected());
        let rewritten = skipped.filter_map(|(place, test)| {
            let is_same = verdicts.tests.get(place).is_some_and(Verdict::is_same);
            let hits = &strict.hits[place];
            let functions = match verdicts.is_counted_alike.get(place).copied().flatten() {
                _ if !is_same => return None,
                Some(true) if hits.is_empty() => return None,
                Some(true) => rewritten_in(&difference, &strict, hits),
                None if hits.is_empty() && !is_built_otherwise => return None,
                _ => None,
            };
            Some((test.name.clone(), functions))
        });
        let rewritten = rewritten.collect();
        Ok(Selection {
            base: self.question.base,
            head: self.question.head,
            baseline: Some(version),
            difference: Some(difference),
            rewritten,
            source,
            plan,
            versioned,
            executed_by_build: about.executed_by_build,
            knows_builds: !verdicts.tests.is_empty(),
            opened_by_builds,
            everything: None,
            hint: None,
            latest: self.latest.clone(),
            known: known.filter(|_| keep),
            alone,
            may_lack: None,
            notices,
        })
    }

    /// How many tests each witness alone would select.
    fn alone(
        &self,
        files: &[TestifiedFile],
        source: &Source,
        verdicts: &Verdicts,
    ) -> Vec<(&'static str, Option<usize>)> {
        let each = Witnesses::EACH.into_iter().map(|(name, witnesses)| {
            let can_speak = !witnesses.object || !verdicts.tests.is_empty();
            // Of what tests read and what defines them nobody else can tell.
            let may_speak =
                |one: &Certificate| one.way != Way::CompiledIn || witnesses.may_speak(one.witness);
            let plan = || self.plan(files, source, verdicts, witnesses, &may_speak);
            (name, can_speak.then(|| plan().selected().count()))
        });
        each.collect()
    }

    /// The plan that some witnesses alone would make.
    fn plan(
        &self,
        files: &[TestifiedFile],
        source: &Source,
        verdicts: &Verdicts,
        witnesses: Witnesses,
        may_speak: &dyn Fn(&Certificate) -> bool,
    ) -> Plan {
        let heard = files.iter().map(|file| {
            let certificates = file.certificates.iter();
            let heard = certificates.filter(|one| may_speak(one));
            TestifiedFile {
                file: file.file.clone(),
                certificates: heard.cloned().collect(),
            }
        });
        let hits = if witnesses.source {
            &source.hits[..]
        } else {
            &[]
        };
        let unknown = Verdicts::default();
        let verdicts = if witnesses.object { verdicts } else { &unknown };
        Plan::new(&self.candidates, heard.collect(), hits, verdicts)
    }

    /// Whether it is known what the tests of the head are.
    fn is_listed(&self) -> bool {
        self.question.listing.is_some() || self.head.is_some()
    }

    /// The places of the recorded tests among the candidates.
    fn places(&self) -> FxHashMap<TestNumber, usize> {
        let candidates = self.candidates.iter().enumerate();
        let places: FxHashMap<&str, usize> = candidates
            .map(|(place, candidate)| (candidate.name.as_str(), place))
            .collect();
        self.tests
            .iter()
            .filter_map(|(number, test)| Some((*number, *places.get(test.name.as_str())?)))
            .collect()
    }

    /// Every changed file with what all witnesses say about it.
    fn testified(
        &self,
        difference: &Difference,
        source: &Source,
        about: &About,
        folders: Folders,
        altered: Vec<ChangedFile>,
        verdicts: &Verdicts,
    ) -> Vec<TestifiedFile> {
        let records = self.candidates.iter().map(|test| test.record.as_ref());
        let opened = Opened {
            by_build: about.opened_by_build.as_ref(),
            by_tests: records.map(|record| record?.looked.as_ref()).collect(),
            folders,
        };
        // What does not depend on the file itself is shared by all of its class.
        let mut by_class: BTreeMap<FileClass, Vec<Arc<Certificate>>> = BTreeMap::new();
        // Whatever a source includes was read as C.
        let sides = difference.files.iter();
        let sides = sides.flat_map(|file| file.base.iter().chain(&file.head));
        let as_c: BTreeSet<&RepoPath> = sides.map(|(path, _)| path).collect();
        // Who includes what headers from outside include is not in the tree.
        let outside = [Some(about), self.about_head()];
        let outside = outside.map(|about| about.map(|about| &about.outside));
        let is_included_outside = |path: &RepoPath| {
            let mut outside = outside.iter().flatten();
            outside.any(|outside| outside.may_include(path))
        };
        let class = |path: &RepoPath| match class(self.config, path) {
            FileClass::Source if is_included_outside(path) => FileClass::Other,
            FileClass::Other if as_c.contains(path) && !is_included_outside(path) => {
                FileClass::Source
            }
            class => class,
        };
        let changed = difference.changes.iter();
        let outside = self.about_head().and_then(|head| {
            let path = what_differs(&about.outside.headers, &head.outside.headers)?;
            Some(ChangedFile::outside(path))
        });
        let changed = changed.filter_map(|change| ChangedFile::of(change, class));
        let changed = changed.chain(outside).chain(altered);
        let testified = changed.map(|file| {
            let shared = by_class.entry(file.class).or_insert_with(|| {
                let source = (!about.is_of_rust()).then_some(source);
                let all = self.certificates(file.class, difference, source, verdicts);
                all.into_iter().map(Arc::new).collect()
            });
            // What was seen comes before what is assumed.
            let mut certificates: Vec<Arc<Certificate>> = match file.class {
                FileClass::Global | FileClass::Outside => Vec::new(),
                _ => files::testify(&file, &opened)
                    .into_iter()
                    .map(Arc::new)
                    .collect(),
            };
            certificates.extend(shared.iter().cloned());
            let listed = match self.is_listed() {
                true => Listed::ByItself,
                false => Listed::AtTheBase {
                    is_included: difference.included.contains(&file.path),
                },
            };
            let assumed = assumption::testify(&file, listed, &opened);
            certificates.extend(assumed.into_iter().map(Arc::new));
            certificates.sort_by_key(|certificate| certificate.witness);
            TestifiedFile { file, certificates }
        });
        testified.collect()
    }

    fn certificates(
        &self,
        class: FileClass,
        difference: &Difference,
        source: Option<&Source>,
        verdicts: &Verdicts,
    ) -> Vec<Certificate> {
        let is_listed = self.is_listed();
        let mut all = rules::testify(class);
        if let Some(source) = source.filter(|_| class == FileClass::Source) {
            let is_told = |place: usize| {
                let record = self.candidates[place].record.as_ref();
                record.is_some_and(|record| record.beyond_trace.is_none())
            };
            all.push(source.testify(difference, &is_told));
        }
        if class != FileClass::Global {
            all.extend(code::testify(verdicts));
        }
        if is_listed && class != FileClass::Global {
            let definitions = self.candidates.iter().map(|test| Definitions {
                recorded: test
                    .record
                    .as_ref()
                    .map(|record| record.definition.as_slice()),
                listed: test.listed.as_deref(),
            });
            all.push(definition::testify(definitions));
        }
        all
    }
}
