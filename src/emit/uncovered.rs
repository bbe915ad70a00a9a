//! What no test reaches, in lines as compilers write them, and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::emit::edges::edge_text;
use crate::emit::plan_text::count;
use crate::lang::facts::Kind;
use crate::query::pattern::Pattern;
use crate::repo::{RepoPath, Version};

/// Something that no test reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub file: RepoPath,
    pub line: u32,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Entity {
        kind: Kind,
        name: String,
    },
    Edge {
        function: String,
        from: String,
        label: String,
        to: String,
    },
}

impl Listed {
    #[must_use]
    pub fn is_meant(&self, pattern: &Pattern) -> bool {
        match &self.what {
            What::Entity { kind, name } => pattern.matches(*kind, &self.file, name),
            What::Edge { function, .. } => pattern.matches_edges_of(&self.file, function),
        }
    }

    fn is_edge(&self) -> bool {
        matches!(self.what, What::Edge { .. })
    }

    fn text(&self) -> String {
        let (file, line) = (&self.file, self.line);
        match &self.what {
            What::Entity { kind, name } => format!("{file}:{line}: {} {name}", kind.word()),
            What::Edge {
                function,
                from,
                label,
                to,
            } => {
                let edge = edge_text(from, label, to);
                format!("{file}:{line}: edge in {function}: {edge}")
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        let (file, line) = (self.file.to_string(), self.line);
        match &self.what {
            What::Entity { kind, name } => {
                serde_json::json!({ "kind": kind, "file": file, "line": line, "name": name })
            }
            What::Edge {
                function,
                from,
                label,
                to,
            } => serde_json::json!({
                "kind": "edge", "file": file, "line": line, "function": function,
                "from": from, "label": label, "to": to,
            }),
        }
    }
}

/// What is in danger, and of it what no test reaches.
#[derive(Debug, Clone)]
pub struct OfChange {
    pub base: Version,
    pub head: Version,
    pub dangerous: usize,
    /// Dangerous edges of functions that have no counters, and of functions that were not built.
    pub uncounted: usize,
    pub not_built: usize,
    /// New functions of which nothing is known, because no test ran on them yet.
    pub unrun: usize,
    /// Dangerous edges, then new functions.
    pub unreached: Vec<Listed>,
}

/// The functions of the tree, by what is known of them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Totals {
    pub functions: usize,
    pub entered: usize,
    pub not_built: usize,
    pub uncounted: usize,
    pub edges: usize,
    pub crossed_edges: usize,
}

/// All that no test reaches.
#[derive(Debug, Clone)]
pub struct Uncovered {
    pub history: Version,
    /// Nothing, if there is no version to compare with, and why.
    pub change: Result<OfChange, String>,
    /// Of the whole tree; nothing, if only the change was asked for.
    pub unreached: Vec<Listed>,
    pub totals: Totals,
    /// How many tests vary, whose traces hold all that they could reach; and what the others execute.
    pub varying: usize,
    pub of_others: Totals,
    /// Tests whose traces do not tell everything, with the reasons.
    pub doubtful: Vec<(String, String)>,
}

/// A line for each; those of the change come first, marked.
#[must_use]
pub fn text(uncovered: &Uncovered) -> String {
    let of_change = uncovered.change.iter().flat_map(|change| &change.unreached);
    let of_change = of_change.map(|listed| format!("change: {}\n", listed.text()));
    let of_tree = uncovered.unreached.iter();
    let of_tree = of_tree.map(|listed| format!("{}\n", listed.text()));
    of_change.chain(of_tree).collect()
}

/// The same for programs.
#[must_use]
pub fn json(uncovered: &Uncovered) -> serde_json::Value {
    let all = |listed: &[Listed]| listed.iter().map(Listed::json).collect::<Vec<_>>();
    let change = uncovered.change.as_ref().map(|change| {
        serde_json::json!({
            "base": change.base.id(),
            "head": change.head.id(),
            "dangerous_edges": change.dangerous,
            "uncounted": change.uncounted,
            "not_built": change.not_built,
            "new_functions_not_run": change.unrun,
            "unreached": all(&change.unreached),
        })
    });
    let doubtful = uncovered.doubtful.iter();
    let doubtful: Vec<_> = doubtful
        .map(|(test, why)| serde_json::json!({ "test": test, "why": why }))
        .collect();
    serde_json::json!({
        "version": 1,
        "history": uncovered.history.id(),
        "change": change.as_ref().ok(),
        "change_unknown": change.err(),
        "unreached": all(&uncovered.unreached),
        "totals": uncovered.totals,
        "varying_tests": uncovered.varying,
        "entered_by_others": uncovered.of_others.entered,
        "crossed_edges_by_others": uncovered.of_others.crossed_edges,
        "doubtful": doubtful,
    })
}

/// What people should know: the change, the tree, and how far it can be believed.
#[must_use]
pub fn summary(uncovered: &Uncovered) -> String {
    let mut text = match &uncovered.change {
        Ok(change) => of_change(change),
        Err(why) => format!("nothing is known of the current change: {why}"),
    };
    let totals = &uncovered.totals;
    let _ = write!(
        text,
        "\n{} of {} entered, {} of {} crossed; history of {}",
        totals.entered,
        count(totals.functions, "function"),
        totals.crossed_edges,
        count(totals.edges, "edge"),
        uncovered.history,
    );
    for (number, what) in [
        (totals.not_built, "not part of the build"),
        (totals.uncounted, "without counters, so not known"),
    ] {
        if number > 0 {
            let _ = write!(text, "\n{} {what}", count(number, "more function"));
        }
    }
    if let Some(vary) = vary(uncovered.varying) {
        let (entered, crossed) = (
            uncovered.of_others.entered,
            uncovered.of_others.crossed_edges,
        );
        let others = (count(entered, "function"), count(crossed, "edge"));
        let _ = write!(
            text,
            "\n{vary}; the others reach {} and {}",
            others.0, others.1
        );
    }
    if let Some((test, why)) = uncovered.doubtful.first() {
        let tests = count(uncovered.doubtful.len(), "test");
        let _ = write!(
            text,
            "\nwhat {tests} reached is not certain, for instance '{test}': {why}"
        );
    }
    text
}

/// What counts as reached though nobody saw it.
#[must_use]
pub fn vary(tests: usize) -> Option<String> {
    match tests {
        0 => None,
        1 => Some("1 test varies: what it could reach counts as reached".to_owned()),
        _ => Some(format!(
            "{tests} tests vary: what they could reach counts as reached"
        )),
    }
}

fn of_change(change: &OfChange) -> String {
    let edges = change.unreached.iter().filter(|one| one.is_edge()).count();
    let functions = change.unreached.len() - edges;
    let mut text = match change.dangerous {
        0 => "this change has no dangerous edge".to_owned(),
        all => {
            let are = if edges == 1 { "is" } else { "are" };
            let has = count(all, "dangerous edge");
            format!("this change has {has}, {edges} {are} crossed by no test")
        }
    };
    for (number, what) in [
        (change.uncounted, "of functions without counters"),
        (change.not_built, "of functions that were not built"),
    ] {
        if number > 0 {
            let _ = write!(text, ", {number} {what}");
        }
    }
    if functions > 0 {
        let new = count(functions, "new function");
        let _ = write!(text, "; {new} entered by no test");
    }
    if change.unrun > 0 {
        let new = count(change.unrun, "new function");
        let _ = write!(text, "; no test has run on {new} yet");
    }
    let _ = write!(text, "; {}..{}", change.base, change.head);
    text
}
