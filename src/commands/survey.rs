//! `git rts survey`: how well the source of a version is understood.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use serde::Serialize;

use crate::commands::needs_c;
use crate::commands::output::{Format, print, print_json};
use crate::config::Config;
use crate::difference::{facts_source, source_files};
use crate::error::Result;
use crate::lang::c::Granularity;
use crate::lang::cfg::{Cfg, NodeKind};
use crate::lang::facts::{FileFacts, Flow};
use crate::repo::Repository;

/// Show how finely the functions of a version are understood, and what stands in the way
///
/// Functions whose control flow cannot be read are compared as a whole: a change in them selects every test that enters them. This tells how many there are, and why.
#[derive(Debug, Args)]
pub struct Survey {
    /// The version to look at [default: the working tree, or HEAD in a bare repository]
    #[arg(value_name = "REVISION")]
    revision: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    files: usize,
    lines: u64,
    functions: usize,
    functions_at_edge: usize,
    functions_with_hidden_jumps: usize,
    statements: usize,
    opaque_statements: usize,
    reasons: BTreeMap<String, usize>,
}

#[derive(Debug, Serialize)]
struct Document {
    version: u32,
    revision: String,
    totals: Totals,
    functions: Vec<Function>,
}

#[derive(Debug, Serialize)]
struct Function {
    file: String,
    line: u32,
    name: String,
    /// Why the function is known only as a whole.
    whole: Option<String>,
    opaque_lines: Vec<u32>,
}

pub(super) fn run(arguments: &Survey) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let version = match &arguments.revision {
        Some(revision) => repository.commit(revision)?,
        None if repository.workdir().is_some() => repository.work_tree()?,
        None => repository.commit("HEAD")?,
    };
    let mut source = facts_source(&repository, Granularity::Expression);
    let tree = source_files(&repository, &config, &version)?;
    needs_c::check(&tree, version)?;
    let program = source.program(&tree)?;
    let all: Vec<usize> = (0..program.files.len()).collect();
    let mut document = Document {
        version: 1,
        revision: version.to_string(),
        totals: Totals::default(),
        functions: Vec::new(),
    };
    // File by file in portions: the facts of a whole tree need not be in memory at once.
    for portion in all.chunks(256) {
        for (index, facts) in portion.iter().zip(source.parse(&program, portion)?) {
            let file = &program.files[*index];
            document.totals.files += 1;
            document.totals.lines += u64::from(file.lex.lines);
            document.read(&file.path.to_string(), &facts);
        }
        source.forget();
    }
    if let Some(notice) = source.notice() {
        anstream::eprintln!("warning: {notice}");
    }
    match arguments.format {
        Format::Text => print(&document.text()),
        Format::Json => print_json(&document),
    }
}

impl Document {
    fn read(&mut self, file: &str, facts: &FileFacts) {
        for entity in &facts.entities {
            let Some(body) = &entity.body else {
                continue;
            };
            self.totals.functions += 1;
            let mut function = Function {
                file: file.to_owned(),
                line: entity.span.line,
                name: entity.name.clone(),
                whole: None,
                opaque_lines: Vec::new(),
            };
            match &body.flow {
                Flow::Edges(cfg) => {
                    self.totals.functions_at_edge += 1;
                    self.totals.functions_with_hidden_jumps += usize::from(cfg.hidden_jumps);
                    self.totals.statements += cfg
                        .nodes
                        .iter()
                        .filter(|node| is_statement(node.kind))
                        .count();
                    function.opaque_lines = opaque_lines(cfg);
                    self.totals.opaque_statements += function.opaque_lines.len();
                }
                Flow::Whole(reason) => {
                    *self.totals.reasons.entry(reason.clone()).or_default() += 1;
                    function.whole = Some(reason.clone());
                }
            }
            self.functions.push(function);
        }
    }

    fn text(&self) -> String {
        let totals = &self.totals;
        let share = |part: usize, whole: usize| {
            if whole == 0 {
                100.0
            } else {
                100.0 * part as f64 / whole as f64
            }
        };
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} {}, {} lines",
            self.revision,
            totals.files,
            if totals.files == 1 { "file" } else { "files" },
            totals.lines
        );
        let _ = writeln!(
            text,
            "functions   {:>8}   {:.2} % known edge by edge",
            totals.functions,
            share(totals.functions_at_edge, totals.functions)
        );
        let _ = writeln!(
            text,
            "statements  {:>8}   {:.2} % opaque",
            totals.statements,
            100.0
                - share(
                    totals.statements - totals.opaque_statements,
                    totals.statements
                )
        );
        let mut reasons: Vec<_> = totals.reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), (*reason).clone()));
        for (reason, count) in reasons {
            let _ = writeln!(
                text,
                "{count:>8} {}: {reason}",
                if *count == 1 { "function" } else { "functions" }
            );
        }
        text
    }
}

fn is_statement(kind: NodeKind) -> bool {
    !matches!(kind, NodeKind::Entry | NodeKind::Exit | NodeKind::Header)
}

fn opaque_lines(cfg: &Cfg) -> Vec<u32> {
    cfg.nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Opaque)
        .map(|node| node.span.line)
        .collect()
}
