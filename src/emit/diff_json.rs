//! A difference as JSON, for programs; `version` grows when a field changes its meaning.

use serde::Serialize;

use crate::compare::entity_difference::ChangeKind;
use crate::compare::functions::{DangerGranularity, FunctionDifference};
use crate::difference::{Difference, Reach};
use crate::emit::edges::{DangerousEdge, End};
use crate::lang::facts::{Flow, Kind};

const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    base: String,
    head: String,
    entities: Vec<Entity<'a>>,
    edges: Vec<Edge<'a>>,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Entity<'a> {
    change: ChangeKind,
    kind: Kind,
    file: String,
    name: &'a str,
    because: &'a str,
    reach: &'static str,
    base_line: Option<u32>,
    head_line: Option<u32>,
}

#[derive(Serialize)]
struct Edge<'a> {
    file: String,
    function: &'a str,
    label: &'a str,
    from: Place<'a>,
    to: Place<'a>,
    head: Option<HeadPlace<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    line: u32,
    text: &'a str,
}

#[derive(Serialize)]
struct HeadPlace<'a> {
    file: String,
    line: u32,
    text: &'a str,
}

#[derive(Serialize)]
struct Function<'a> {
    file: String,
    name: &'a str,
    change: ChangeKind,
    granularity: DangerGranularity,
    why: Option<&'a str>,
    selects_all: bool,
    /// Macros may hide jumps: an edge counts as crossed by every test that executed its target.
    hidden_jumps: bool,
    edges: usize,
}

/// The whole difference as one JSON document.
#[must_use]
pub fn diff_json(difference: &Difference, edges: &[DangerousEdge]) -> String {
    let path = |file: usize| difference.files[file].path().to_string();
    let document = Document {
        version: VERSION,
        base: difference.base.id(),
        head: difference.head.id(),
        entities: difference
            .entities
            .iter()
            .map(|entity| Entity {
                change: entity.change,
                kind: entity.kind,
                file: entity.file.to_string(),
                name: &entity.name,
                because: &entity.because,
                reach: match entity.reach {
                    Reach::Mentions => "mentions",
                    Reach::File => "file",
                    Reach::Program => "program",
                },
                base_line: entity.base.map(|span| span.line),
                head_line: entity.head.map(|span| span.line),
            })
            .collect(),
        edges: edges
            .iter()
            .map(|edge| {
                let function = &difference.functions[edge.function];
                let head_file = difference.files[function.file].head.as_ref();
                Edge {
                    file: path(function.file),
                    function: &function.name,
                    label: &edge.label,
                    from: place(&edge.from),
                    to: place(&edge.to),
                    head: edge
                        .instead
                        .as_ref()
                        .zip(head_file)
                        .map(|(end, (path, _))| HeadPlace {
                            file: path.to_string(),
                            line: end.line,
                            text: &end.text,
                        }),
                }
            })
            .collect(),
        functions: difference
            .functions
            .iter()
            .map(|function| Function {
                file: path(function.file),
                name: &function.name,
                change: function.change,
                granularity: function.granularity,
                why: function.why.as_deref(),
                selects_all: function.selects_all,
                hidden_jumps: has_hidden_jumps(difference, function),
                edges: function.walk.dangerous.len(),
            })
            .collect(),
    };
    serde_json::to_string_pretty(&document)
        .unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// In either version.
fn has_hidden_jumps(difference: &Difference, function: &FunctionDifference) -> bool {
    let pair = &difference.pairs[function.file];
    let sides = [(&pair.base, function.base), (&pair.head, function.head)];
    sides.into_iter().any(|(facts, index)| {
        let entity = facts
            .as_ref()
            .zip(index)
            .map(|(facts, index)| &facts.entities[index]);
        let flow = entity.and_then(|entity| Some(&entity.body.as_ref()?.flow));
        matches!(flow, Some(Flow::Edges(cfg)) if cfg.hidden_jumps)
    })
}

fn place(end: &End) -> Place<'_> {
    Place {
        line: end.line,
        text: &end.text,
    }
}
