//! Selection: tests and certificates to a plan, with a reason for each selected test and a certificate for each skipped one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::history::{Experience, Outcome, TestRecord, VersionKey};
use crate::order::estimate::Durations;
use crate::order::owed::Debt;
use crate::order::technique::Technique;
use crate::witness::code::{Verdict, Verdicts};
use crate::witness::source::Hit;
use crate::witness::{Certificate, ChangedFile, FileClass, Way, Witness, assumption};

/// So many files are told as reasons for one test; one is enough to select it.
const FILES_TOLD: usize = 8;

/// A test that may be selected.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub name: String,
    /// What the history knows of it; nothing, if it is new.
    pub record: Option<Arc<TestRecord>>,
    /// What is known of its last run on the way to the head, which may be behind the record.
    pub latest: Option<Arc<TestRecord>>,
    /// It ran well on this very tree.
    pub ran_here: bool,
    /// What is remembered of its runs.
    pub experience: Option<Experience>,
    /// Its definition at the head, if the tests of the head were listed.
    pub listed: Option<Vec<u8>>,
    /// The user wants it always.
    pub is_pinned: bool,
}

impl Candidate {
    /// That it was selected before and has not run since, on the way to the head or already at the baseline.
    fn owed(&self) -> Option<&Debt> {
        let records = [self.latest.as_ref(), self.record.as_ref()];
        records
            .into_iter()
            .flatten()
            .find_map(|record| record.owed.as_ref())
    }

    /// The debt that comes before others. One of the baseline that was paid on the way to the head does not: whoever pays it again
    /// and again keeps others from running.
    fn unpaid(&self) -> Option<&Debt> {
        let newest = self.latest.as_ref().or(self.record.as_ref())?;
        newest.owed.as_ref()
    }
}

/// Why a test is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The user asks for all tests.
    Asked,
    /// There is nothing to compare with.
    Everything(String),
    New,
    Pinned,
    /// It was selected before and has not run since.
    Owed(Debt),
    /// A technique that the user asks for chose it.
    Drawn(Technique),
    /// How it ended when it last ran, which was not well, and where that was.
    NotPassed(Outcome, VersionKey),
    /// It ended in different ways on the same tree.
    Flaky,
    /// Its trace is not enough to skip it.
    Doubt(String),
    /// It is not the same test any more.
    Redefined,
    /// A changed file may reach it, and nobody can tell whether it does.
    File {
        file: usize,
        way: Way,
    },
    /// It meets a danger.
    Danger(Hit),
    /// What the build made for it differs: code that it executed, or a file that it looked at.
    Built(String),
    /// A selected test cannot run without it.
    Needed(String),
}

impl Reason {
    /// Whether nobody can tell that a file is not compiled into it.
    fn is_compiled_in(&self) -> bool {
        let way = match self {
            Reason::File { way, .. } => Some(*way),
            _ => None,
        };
        way == Some(Way::CompiledIn)
    }
}

/// A test with the reasons to run it; without a reason it is skipped.
#[derive(Debug, Clone)]
pub struct Planned {
    pub name: String,
    pub reasons: Vec<Reason>,
    /// How long it will take, by how long it took.
    pub milliseconds: Option<u64>,
    /// What is remembered of its runs; nothing, if it never ran.
    pub experience: Option<Experience>,
    /// That it was selected before and has not run since.
    pub owed: Option<Debt>,
    /// It ran well on this very tree.
    pub ran_here: bool,
    /// Its definition at the head, or else where it ran last.
    pub definition: Vec<u8>,
}

impl Planned {
    #[must_use]
    pub fn is_selected(&self) -> bool {
        !self.reasons.is_empty()
    }
}

/// A changed file with all that the witnesses say about it.
#[derive(Debug, Clone)]
pub struct TestifiedFile {
    pub file: ChangedFile,
    pub certificates: Vec<Arc<Certificate>>,
}

impl TestifiedFile {
    /// Who certifies that the file does not reach a test in this way.
    pub fn certifying(&self, way: Way, test: usize) -> impl Iterator<Item = &Certificate> {
        let own = self.certificates.iter();
        own.map(AsRef::as_ref)
            .filter(move |certificate| certificate.way == way && certificate.tests.contains(test))
    }
}

/// The tests in the order of the candidates.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub tests: Vec<Planned>,
    pub files: Vec<TestifiedFile>,
    /// The places of those that are to run, in their order; and of those that are selected, but not to run now.
    pub order: Vec<usize>,
    pub owed: Vec<usize>,
}

impl Plan {
    /// Selects everything, for one reason.
    #[must_use]
    pub fn everything(candidates: &[Candidate], reason: &Reason) -> Self {
        let tests = candidates.iter().map(|candidate| {
            let mut reasons = vec![reason.clone()];
            reasons.extend(own_reasons(candidate));
            planned(candidate, reasons)
        });
        Plan::of(tests.collect(), Vec::new())
    }

    /// All that is selected is to run, as it is listed.
    fn of(tests: Vec<Planned>, files: Vec<TestifiedFile>) -> Self {
        let mut plan = Plan {
            tests,
            files,
            ..Plan::default()
        };
        plan.order = plan.selected().collect();
        plan
    }

    /// Selects whom no witness clears of every changed file in every way. `hits` are the dangers that tests meet, `verdicts` what
    /// the builds of both versions do to them, if both are known.
    #[must_use]
    pub fn new(
        candidates: &[Candidate],
        files: Vec<TestifiedFile>,
        hits: &[Vec<Hit>],
        verdicts: &Verdicts,
    ) -> Self {
        let mut classes = files.iter().map(|testified| testified.file.class);
        let has_c = classes.any(|class| class == FileClass::Source);
        let tests = candidates.iter().enumerate().map(|(place, candidate)| {
            let mut reasons = own_reasons(candidate);
            if candidate.record.is_none() {
                // Whatever changed, nobody knows what it does.
                return planned(candidate, reasons);
            }
            let is_redefined = reasons.contains(&Reason::Redefined);
            let verdict = verdicts.tests.get(place);
            let dangers = match verdict {
                // What is dangerous in the source is nothing to who executes the same code.
                Some(verdict) if verdict.is_same() => &[][..],
                _ => hits.get(place).map_or(&[][..], Vec::as_slice),
            };
            let mut uncertified = Vec::new();
            for (index, testified) in files.iter().enumerate() {
                let is_source = testified.file.class == FileClass::Source;
                for way in Way::ALL {
                    let is_explained = match way {
                        // Dangers say it better.
                        Way::CompiledIn => is_source && !dangers.is_empty(),
                        Way::Defines => is_redefined,
                        Way::Read => false,
                    };
                    if !is_explained && testified.certifying(way, place).next().is_none() {
                        uncertified.push(Reason::File { file: index, way });
                    }
                }
                if uncertified.len() >= FILES_TOLD {
                    break;
                }
            }
            match verdict {
                Some(Verdict::Code(why)) => {
                    // What became of the files says more than the files.
                    let count = uncertified.len();
                    uncertified.retain(|reason| !reason.is_compiled_in());
                    // Where no C changed, something reached the code that nobody was seen to read; where the build made other C,
                    // it may have.
                    if uncertified.len() < count || !has_c || verdicts.are_made_otherwise {
                        reasons.push(Reason::Built(why.clone()));
                    }
                }
                // Whatever witnesses say of the files from which it was made.
                Some(Verdict::Product(why)) => {
                    uncertified.retain(|reason| !reason.is_compiled_in());
                    reasons.push(Reason::Built(why.clone()));
                }
                Some(Verdict::Same | Verdict::SameRow | Verdict::Unknown) | None => {}
            }
            reasons.extend(uncertified);
            reasons.extend(dangers.iter().cloned().map(Reason::Danger));
            planned(candidate, reasons)
        });
        let tests = tests.collect();
        Plan::of(tests, files)
    }

    /// The places of the selected tests.
    pub fn selected(&self) -> impl Iterator<Item = usize> {
        let places = self.tests.iter().enumerate();
        places
            .filter(|(_, test)| test.is_selected())
            .map(|(place, _)| place)
    }

    /// What was assumed in order to skip a test: only what stands where no witness has seen anything. Nothing, if it is selected.
    #[must_use]
    pub fn assumed_for(&self, place: usize) -> BTreeSet<&str> {
        if self.tests[place].is_selected() {
            return BTreeSet::new();
        }
        let ways = |file| Way::ALL.map(|way| (file, way));
        let needed = self.files.iter().flat_map(ways);
        // They are sorted: what was seen comes first.
        let needed = needed
            .filter_map(|(file, way): (&TestifiedFile, _)| file.certifying(way, place).next());
        let assumed = needed.filter(|certificate| certificate.witness == Witness::Assumption);
        let assumed = assumed.map(|certificate| certificate.evidence.as_str());
        assumed.chain([assumption::CONTROLLED]).collect()
    }

    /// How long some tests last took together, and how many of them never ran.
    #[must_use]
    pub fn time_of(&self, places: impl IntoIterator<Item = usize>) -> (u64, usize) {
        let times = places
            .into_iter()
            .map(|place| self.tests[place].milliseconds);
        times.fold((0, 0), |(sum, unknown), time| match time {
            Some(time) => (sum + time, unknown),
            None => (sum, unknown + 1),
        })
    }
}

fn planned(candidate: &Candidate, reasons: Vec<Reason>) -> Planned {
    let durations = candidate.experience.as_ref().map(|known| &known.durations);
    let listed = candidate.listed.as_ref();
    let ran = candidate.record.as_ref().map(|record| &record.definition);
    Planned {
        name: candidate.name.clone(),
        reasons,
        milliseconds: durations.and_then(Durations::estimate),
        experience: candidate.experience.clone(),
        owed: candidate.unpaid().cloned(),
        ran_here: candidate.ran_here,
        definition: listed.or(ran).cloned().unwrap_or_default(),
    }
}

/// What selects a test whatever changed.
fn own_reasons(candidate: &Candidate) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if candidate.is_pinned {
        reasons.push(Reason::Pinned);
    }
    let Some(record) = &candidate.record else {
        reasons.push(Reason::New);
        let latest = candidate.latest.iter();
        let bad = latest.filter(|run| !run.outcome.is_fine());
        reasons.extend(bad.map(|run| Reason::NotPassed(run.outcome, run.ran_on)));
        return reasons;
    };
    let latest = candidate.latest.as_ref().unwrap_or(record);
    let owed = candidate.owed();
    reasons.extend(owed.cloned().map(Reason::Owed));
    let is_told = |outcome: Outcome| outcome == Outcome::NotRun && owed.is_some();
    let bad = [latest, record]
        .into_iter()
        .find(|run| !run.outcome.is_fine() && !is_told(run.outcome));
    reasons.extend(bad.map(|run| Reason::NotPassed(run.outcome, run.ran_on)));
    if record.flaky.or(latest.flaky).is_some() {
        reasons.push(Reason::Flaky);
    }
    if let Some(doubt) = &record.doubt {
        reasons.push(Reason::Doubt(doubt.clone()));
    }
    if latest.varies && !record.varies {
        let doubt = "it was seen to do different things on one tree since".to_owned();
        reasons.push(Reason::Doubt(doubt));
    }
    if let Some(listed) = &candidate.listed
        && *listed != record.definition
    {
        reasons.push(Reason::Redefined);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::VersionKey;
    use crate::repo::{RepoPath, TreeId};
    use crate::witness::Certified;

    fn candidate(name: &str, outcome: Outcome) -> Candidate {
        let version = VersionKey {
            commit: None,
            tree: TreeId([0; 20]),
        };
        let record = TestRecord {
            outcome,
            ..TestRecord::unknown(name, Vec::new(), version)
        };
        Candidate {
            name: name.to_owned(),
            record: Some(Arc::new(record)),
            latest: None,
            ran_here: false,
            experience: None,
            listed: None,
            is_pinned: false,
        }
    }

    #[test]
    fn only_what_no_witness_has_seen_is_assumed() {
        let certificate = |way, witness, evidence: &str, tests| {
            let evidence = evidence.to_owned();
            Arc::new(Certificate {
                way,
                witness,
                evidence,
                tests,
            })
        };
        let seen = Certified::Those(vec![true, false, true]);
        let file = TestifiedFile {
            file: ChangedFile {
                path: RepoPath::new(*b"a.c"),
                moved_from: None,
                class: FileClass::Source,
                is_only_modified: true,
            },
            certificates: vec![
                certificate(
                    Way::CompiledIn,
                    Witness::Source,
                    "crosses none",
                    Certified::All,
                ),
                certificate(Way::Read, Witness::Files, "opened by none", seen),
                certificate(
                    Way::Defines,
                    Witness::Definition,
                    "the same",
                    Certified::All,
                ),
                certificate(Way::Read, Witness::Assumption, "not read", Certified::All),
                certificate(
                    Way::Defines,
                    Witness::Assumption,
                    "defines none",
                    Certified::All,
                ),
            ],
        };
        let candidates = [
            candidate("seen", Outcome::Passed),
            candidate("unseen", Outcome::Passed),
            candidate("failed", Outcome::Failed),
        ];
        let plan = Plan::new(&candidates, vec![file], &[], &Verdicts::default());
        assert_eq!(
            plan.assumed_for(0),
            BTreeSet::from([assumption::CONTROLLED])
        );
        let unseen = BTreeSet::from(["not read", assumption::CONTROLLED]);
        assert_eq!(plan.assumed_for(1), unseen);
        assert_eq!(plan.assumed_for(2), BTreeSet::new());
    }
}
