//! A selection as JSON, for programs; `version` grows when a field changes its meaning.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::emit::reasons::{Teller, Told};
use crate::repo::Version;
use crate::select::{Plan, Planned};
use crate::selection::Selection;
use crate::witness::{FileClass, Way};

const VERSION: u32 = 1;

/// So many reasons of one test are told; `git rts why` tells all.
const REASONS_TOLD: usize = 10;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    base: String,
    head: String,
    /// The commit whose traces were used.
    history: Option<String>,
    /// Why everything is selected, if so.
    everything: Option<&'a str>,
    /// Why the head may have tests that are not among `tests`, if so.
    may_lack_tests: Option<&'a str>,
    changed_files: Vec<File>,
    /// What was certified of which changed files; skipped tests name theirs by place.
    certificates: Vec<Certificate<'a>>,
    assumptions: BTreeSet<&'a str>,
    tests: Vec<Test<'a>>,
}

#[derive(Serialize)]
struct File {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    class: &'static str,
}

#[derive(Serialize)]
struct Certificate<'a> {
    /// Places in `changed_files`.
    files: Vec<usize>,
    way: &'static str,
    witness: &'static str,
    evidence: &'a str,
}

#[derive(Serialize)]
struct Test<'a> {
    name: &'a str,
    selected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<Told>>,
    #[serde(skip_serializing_if = "is_zero")]
    more_reasons: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Vec<usize>>,
    /// Where it stands in the order of those that are to run, from 1; nothing if it is not to run now.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// How long it will take, by how long it took.
    seconds: Option<f64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The whole selection as one JSON document.
#[must_use]
pub fn plan_json(selection: &Selection, teller: &Teller<'_>) -> String {
    let groups = groups(&selection.plan);
    let tests = selection.plan.tests.iter().enumerate();
    let ranks = selection.plan.order.iter().zip(1..);
    let ranks: FxHashMap<usize, usize> = ranks.map(|(place, rank)| (*place, rank)).collect();
    let tests = tests.map(|(place, test)| {
        let rank = ranks.get(&place).copied();
        self::test(place, test, rank, teller, &groups)
    });
    let document = Document {
        version: VERSION,
        base: selection.base.id(),
        head: selection.head.id(),
        history: selection.baseline.as_ref().map(Version::id),
        everything: selection.everything.as_deref(),
        may_lack_tests: selection.may_lack.as_deref(),
        changed_files: selection.plan.files.iter().map(file).collect(),
        certificates: groups.iter().map(|group| group.certificate()).collect(),
        assumptions: selection.assumptions(),
        tests: tests.collect(),
    };
    serde_json::to_string_pretty(&document)
        .unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// One certificate, and the files that it was given for.
struct Group<'a> {
    files: Vec<usize>,
    certificate: &'a crate::witness::Certificate,
}

impl Group<'_> {
    fn certificate(&self) -> Certificate<'_> {
        Certificate {
            files: self.files.clone(),
            way: self.certificate.way.word(),
            witness: self.certificate.witness.word(),
            evidence: &self.certificate.evidence,
        }
    }
}

fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, file) in plan.files.iter().enumerate() {
        for certificate in file.certificates.iter().map(AsRef::as_ref) {
            let known = groups
                .iter_mut()
                .find(|group| group.certificate == certificate);
            match known {
                Some(group) => group.files.push(index),
                None => groups.push(Group {
                    files: vec![index],
                    certificate,
                }),
            }
        }
    }
    groups
}

fn test<'a>(
    place: usize,
    test: &'a Planned,
    rank: Option<usize>,
    teller: &Teller<'_>,
    groups: &[Group<'_>],
) -> Test<'a> {
    let told = test.reasons.iter().take(REASONS_TOLD);
    let own = groups.iter().enumerate();
    let own = own.filter(|(_, group)| group.certificate.tests.contains(place));
    Test {
        name: &test.name,
        selected: test.is_selected(),
        reasons: test
            .is_selected()
            .then(|| told.map(|reason| teller.tell(reason)).collect()),
        more_reasons: test.reasons.len().saturating_sub(REASONS_TOLD),
        certificate: (!test.is_selected()).then(|| own.map(|(index, _)| index).collect()),
        rank,
        seconds: test.milliseconds.map(|time| time as f64 / 1e3),
    }
}

fn file(testified: &crate::select::TestifiedFile) -> File {
    let file = &testified.file;
    File {
        path: file.path.to_string(),
        moved_from: file.moved_from.as_ref().map(ToString::to_string),
        class: match file.class {
            FileClass::Source => "source",
            FileClass::Ignored => "ignored",
            FileClass::Global => "global",
            FileClass::Special => "special",
            FileClass::Outside => "outside",
            FileClass::Other => "other",
        },
    }
}

/// One test with all its reasons, or with the certificate for each changed file and way.
#[must_use]
pub fn test_json(selection: &Selection, teller: &Teller<'_>, place: usize) -> serde_json::Value {
    let test = &selection.plan.tests[place];
    let reasons: Vec<Told> = test
        .reasons
        .iter()
        .map(|reason| teller.tell(reason))
        .collect();
    let mut certificate = Vec::new();
    if !test.is_selected() {
        for file in &selection.plan.files {
            for way in Way::ALL {
                for found in file.certifying(way, place) {
                    certificate.push(serde_json::json!({
                        "file": file.file.path.to_string(),
                        "way": way.word(),
                        "witness": found.witness.word(),
                        "evidence": found.evidence,
                    }));
                }
            }
        }
    }
    serde_json::json!({
        "name": test.name,
        "selected": test.is_selected(),
        "reasons": reasons,
        "certificate": certificate,
    })
}
