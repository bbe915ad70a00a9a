//! The same through the binary and a real repository: what is tested here is what a user gets.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use git_rts::lang::c::Granularity;
use git_rts::lang::cfg::{Cfg, NodeKind};
use git_rts::lang::facts::Kind;
use tempfile::TempDir;

use crate::analyse::{Analysis, analyse};
use crate::safety::generate;

/// A dangerous edge as the output names it: function, label, lines.
type Edge = (String, String, u64, u64);

/// Compares the dangerous edges of generated programs with those that `git rts diff` prints.
pub(crate) fn check(cases: impl Iterator<Item = Vec<u16>>) {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    let mut compared = 0;
    for numbers in cases {
        let Some(case) = generate(&numbers) else {
            continue;
        };
        commit(top, &case.text);
        let Some(head) = case.heads().next() else {
            continue;
        };
        commit(top, &head.text);
        let analysis = analyse(&case.text, &head.text, Granularity::Expression);
        assert_eq!(
            printed(top),
            expected(&analysis),
            "{}\n{}",
            case.text,
            head.text
        );
        compared += 1;
    }
    assert!(compared >= 24, "{compared} compared");
}

fn git(top: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .current_dir(top)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(arguments)
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn commit(top: &Path, text: &str) {
    std::fs::write(top.join("a.c"), text).unwrap();
    git(top, &["add", "a.c"]);
    git(
        top,
        &["commit", "--quiet", "--allow-empty", "--message", "x"],
    );
}

fn printed(top: &Path) -> BTreeSet<Edge> {
    let output = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .current_dir(top)
        .args(["diff", "--format", "json", "HEAD~1", "HEAD"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let edges = document["edges"].as_array().unwrap();
    edges
        .iter()
        .map(|edge| {
            let text = |name: &str| edge[name].as_str().unwrap().to_owned();
            let line = |name: &str| edge[name]["line"].as_u64().unwrap();
            (text("function"), text("label"), line("from"), line("to"))
        })
        .collect()
}

fn expected(analysis: &Analysis) -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    for function in &analysis.functions {
        let Some(entity) = function.base.map(|index| &analysis.base.entities[index]) else {
            continue;
        };
        assert_eq!(entity.kind, Kind::Function);
        let Some(cfg) = analysis.graph(&function.name) else {
            continue;
        };
        let line = |cfg: &Cfg, node: u32| match cfg.nodes[node as usize].kind {
            NodeKind::Entry => entity.span.line,
            NodeKind::Exit => entity.end_line,
            _ => cfg.nodes[node as usize].span.line,
        };
        for edge in &function.walk.dangerous {
            let edge = &cfg.edges[*edge];
            edges.insert((
                function.name.clone(),
                edge.label.text(),
                line(cfg, edge.from).into(),
                line(cfg, edge.to).into(),
            ));
        }
    }
    edges
}
