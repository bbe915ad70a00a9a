//! Why a test is selected, in words: the chain from what changed to what the test crosses.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::compare::entity_difference::ChangeKind;
use crate::difference::Difference;
use crate::emit::edges::{DangerousEdge, Texts, dangerous_edges};
use crate::error::Result;
use crate::history::{Outcome, VersionKey};
use crate::select::Reason;
use crate::selection::Selection;
use crate::witness::source::{Danger, DangerKind, Hit};

/// One reason, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    pub kind: &'static str,
    /// A sentence about the test.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// From what changed, through the names that it affects, to what the test does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<Step>,
}

/// A place on the way from the change to the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub file: String,
    pub line: u32,
    pub text: String,
}

/// Tells reasons of one selection.
pub struct Teller<'a> {
    selection: &'a Selection,
    edges: Vec<DangerousEdge>,
    places: FxHashMap<(usize, usize), usize>,
}

impl<'a> Teller<'a> {
    pub fn new(selection: &'a Selection, texts: &mut Texts) -> Result<Self> {
        let difference = selection.difference.as_ref();
        let edges = difference.map_or(Ok(Vec::new()), |difference| {
            dangerous_edges(difference, texts)
        })?;
        let places = edges
            .iter()
            .enumerate()
            .map(|(place, edge)| ((edge.function, edge.edge), place));
        Ok(Teller {
            selection,
            places: places.collect(),
            edges,
        })
    }

    /// A reason in words.
    #[must_use]
    pub fn tell(&self, reason: &Reason) -> Told {
        let plain = |kind, text: String| Told {
            kind,
            text,
            file: None,
            function: None,
            chain: Vec::new(),
        };
        match reason {
            Reason::Asked => plain("asked", "all tests were asked for".to_owned()),
            Reason::Everything(why) => plain("everything", why.clone()),
            Reason::New => plain("new", "it is new".to_owned()),
            Reason::Pinned => plain("pinned", "'tests.always' names it".to_owned()),
            Reason::Owed(debt) => {
                let why = debt.reasons.first();
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                plain("owed", format!("it is owed since {}{why}", debt.since))
            }
            Reason::Drawn(technique) => {
                plain("technique", format!("the technique '{technique}' chose it"))
            }
            Reason::NotPassed(outcome, version) => plain("outcome", last_time(*outcome, *version)),
            Reason::Flaky => plain(
                "flaky",
                "it is flaky: it ended in different ways on the same tree".to_owned(),
            ),
            Reason::Doubt(doubt) => plain("doubt", format!("its trace is not certain: {doubt}")),
            Reason::Redefined => plain("definition", "its definition changed".to_owned()),
            Reason::Needed(by) => plain("needed", format!("'{by}' needs it")),
            Reason::File { file, way } => {
                let path = self.selection.plan.files[*file].file.path.to_string();
                let text = format!("{path} changed and may be {} it", way_to(*way));
                Told {
                    file: Some(path),
                    ..plain("file", text)
                }
            }
            Reason::Built(why) => plain("built", format!("it meets another build: {why}")),
            Reason::Danger(hit) => self.tell_danger(hit),
        }
    }

    fn tell_danger(&self, hit: &Hit) -> Told {
        let danger = &self.selection.source.dangers[hit.danger];
        let mut chain = Vec::new();
        let who = self.who(danger);
        let (kind, text) = match (&danger.kind, self.selection.difference.as_ref()) {
            (DangerKind::Edges { function }, Some(difference)) => {
                chain = self.chain(difference, *function);
                let edges: Vec<&DangerousEdge> = hit
                    .edges
                    .iter()
                    .filter_map(|edge| Some(&self.edges[*self.places.get(&(*function, *edge))?]))
                    .collect();
                let path = danger.file.to_string();
                chain.extend(edges.iter().map(|edge| Step {
                    file: path.clone(),
                    line: edge.to.line.max(edge.from.line),
                    text: edge.text(),
                }));
                let text = match edges.as_slice() {
                    [] => format!("{who} enters {}", danger.name),
                    [edge] => format!("{who} crosses {} in {}", edge.text(), danger.name),
                    [edge, more @ ..] => format!(
                        "{who} crosses {} in {}, and {} more",
                        edge.text(),
                        danger.name,
                        more.len()
                    ),
                };
                ("edge", text)
            }
            (DangerKind::Uncounted { function, why }, Some(difference)) => {
                chain = self.chain(difference, *function);
                (
                    "uncounted",
                    format!("it may execute {}: {why}", danger.name),
                )
            }
            (DangerKind::Remainder { why }, _) => (
                "file",
                format!(
                    "it executes code that macros make in {}: {why}",
                    danger.file
                ),
            ),
            (DangerKind::Made { why }, _) => (
                "made",
                format!("it executes code that the build made, which may use what changed: {why}"),
            ),
            (DangerKind::Program { entity }, Some(difference)) => {
                let entity = &difference.entities[*entity];
                chain = names_in(&entity.because, difference);
                (
                    "program",
                    format!(
                        "every program may notice {}: {}",
                        entity.name, entity.because
                    ),
                )
            }
            (_, None) => ("everything", format!("{} is in danger", danger.name)),
        };
        Told {
            kind,
            text,
            file: Some(danger.file.to_string()),
            function: Some(danger.name.clone()).filter(|name| !name.is_empty()),
            chain,
        }
    }

    /// Who does something in a function: what ran while the project was built counts for every test.
    fn who(&self, danger: &Danger) -> &'static str {
        let mut executed = self.selection.executed_by_build.iter();
        match executed.any(|id| id.file == danger.file && id.name == danger.name) {
            true => "it or the build",
            false => "it",
        }
    }

    /// From the change to a function in danger.
    fn chain(&self, difference: &Difference, function: usize) -> Vec<Step> {
        let function = &difference.functions[function];
        let because = function.because.as_deref().or(function.why.as_deref());
        let mut chain = because.map_or_else(Vec::new, |because| names_in(because, difference));
        let path = difference.files[function.file].path();
        let side = crate::emit::edges::side(difference, function, true);
        let line = side.map_or(0, |(entity, _)| entity.span.line);
        let text = match (function.change, because) {
            (ChangeKind::Affected, Some(because)) if chain.is_empty() => {
                format!("function {}: {because}", function.name)
            }
            (ChangeKind::Affected, _) => format!("function {} mentions it", function.name),
            (change, _) => format!("function {} {}", function.name, change.word()),
        };
        chain.push(Step {
            file: path.to_string(),
            line,
            text,
        });
        chain
    }
}

/// How a test ended when it last ran, and where.
fn last_time(outcome: Outcome, version: VersionKey) -> String {
    let word = outcome.word();
    match (outcome, version.commit) {
        // It is known where it ran, not where it did not.
        (Outcome::NotRun, _) => format!("last time: {word}"),
        (_, Some(commit)) => format!("last time: {word} in {}", &commit.to_string()[..7]),
        (_, None) => format!("last time: {word} in uncommitted work"),
    }
}

fn way_to(way: crate::witness::Way) -> &'static str {
    match way {
        crate::witness::Way::CompiledIn => "compiled into",
        crate::witness::Way::Read => "read by",
        crate::witness::Way::Defines => "part of what defines",
    }
}

/// The places of the names that a cause goes through, the change first. A cause names them the other way round.
fn names_in(because: &str, difference: &Difference) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for name in because.split('\'').skip(1).step_by(2) {
        let named = difference
            .entities
            .iter()
            .filter(|entity| entity.name == name);
        // What changed itself comes before what it affects.
        let Some(entity) = named.min_by_key(|entity| entity.change == ChangeKind::Affected) else {
            continue;
        };
        let Some(span) = entity.head.or(entity.base) else {
            continue;
        };
        let text = match entity.change {
            ChangeKind::Affected => format!("{} {name} mentions it", entity.kind.word()),
            change => format!("{} {name} {}", entity.kind.word(), change.word()),
        };
        let step = Step {
            file: entity.file.to_string(),
            line: span.line,
            text,
        };
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{CommitId, TreeId};

    #[test]
    fn a_failure_is_told_with_its_version() {
        let version = |commit| VersionKey {
            commit,
            tree: TreeId([0; 20]),
        };
        let commit = version(Some(CommitId([0xab; 20])));
        assert_eq!(
            last_time(Outcome::Failed, commit),
            "last time: failed in abababa"
        );
        assert_eq!(
            last_time(Outcome::Crashed, version(None)),
            "last time: crashed in uncommitted work"
        );
        assert_eq!(last_time(Outcome::NotRun, commit), "last time: not run");
    }
}
