//! An independent check of the traces: what a compiled program's counters say, against what the interpreter saw.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use git_rts::coverage::llvm::counts::Counts;
use git_rts::coverage::llvm::map::{self, CoverageMap};
use git_rts::coverage::llvm::profile;
use git_rts::lang::c::Granularity;
use git_rts::trace::projection::{Belief, Projection};
use git_rts::trace::text::{LineStarts, Text};
use git_rts::trace::widening::Rule;
use tempfile::TempDir;

use crate::analyse::{Analysis, analyse};
use crate::crossing::crossed;
use crate::run::run;
use crate::safety::{Case, FUEL, INPUTS, generate};

const MAIN: &str = "#include <stdio.h>\n#include <stdlib.h>\nint f0(int p, int q);\n\
    void emit(int value) { printf(\"%d\\n\", value); }\n\
    int main(int argc, char **argv) { (void)argc; printf(\"= %d\\n\", f0(atoi(argv[1]), atoi(argv[2]))); return 0; }\n";

/// The edges of each function.
type Edges = BTreeMap<String, BTreeSet<usize>>;

/// What the counters say, and the functions in which the compiler decided a condition itself.
#[derive(Default)]
struct Recorded {
    edges: Edges,
    folded: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Runs that were compared, and of these the ones that had to agree exactly.
    pub(crate) compared: usize,
    pub(crate) exact: usize,
    /// Edges that were crossed, and edges that count as crossed although they were not.
    pub(crate) crossed: usize,
    pub(crate) widened: usize,
}

/// A program that uses no macro and has no `#if`.
pub(crate) fn is_plain(case: &Case) -> bool {
    let body = case.text.find("void emit").unwrap_or(0);
    let mut macros = case.macros();
    !macros.any(|name| case.text[body..].contains(name)) && !case.text.contains("#if")
}

/// Compiles, runs and compares; panics when a trace lacks an edge, or has one too many in a program without macros.
pub(crate) fn check(compiler: &str, flags: &[&str], numbers: &[u16], tally: &mut Tally) {
    let Some(case) = generate(numbers) else {
        return;
    };
    let analysis = analyse(&case.text, &case.text, Granularity::Expression);
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    if !compile(top, compiler, flags, &case.text) {
        return;
    }
    let binary = std::fs::read(top.join("program")).unwrap();
    let coverage = map::read(&binary).unwrap();
    for input in INPUTS {
        let seen = run(&case.base, "f0", input, FUEL);
        let Ok(result) = seen.observed.result else {
            continue;
        };
        let (output, profile) = execute(top, input);
        let emitted = seen.observed.emitted.iter();
        let expected: String = emitted.map(|value| format!("{value}\n")).collect();
        // Where C leaves the order of evaluation open, the compiler may choose another than the interpreter.
        if output != format!("{expected}= {result}\n") {
            continue;
        }
        let mut expected = Edges::new();
        for activation in &seen.activations {
            if let Some(cfg) = analysis.graph(&activation.function) {
                let edges = crossed(cfg, &case.text, activation).unwrap();
                let all = expected.entry(activation.function.clone()).or_default();
                all.extend(edges);
            }
        }
        let recorded = recorded(&coverage, &profile, &analysis, &case.text);
        compare(&case, &analysis, &expected, &recorded, tally);
    }
}

fn compile(top: &Path, compiler: &str, flags: &[&str], text: &str) -> bool {
    std::fs::write(top.join("a.c"), text).unwrap();
    std::fs::write(top.join("main.c"), MAIN).unwrap();
    let counted = [
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
        "-mllvm",
        "-runtime-counter-relocation",
        "-fwrapv",
        "-w",
    ];
    let output = Command::new(compiler)
        .args(counted)
        .args(flags)
        .args(["-o", "program", "a.c", "main.c"])
        .current_dir(top)
        .output()
        .unwrap_or_else(|error| panic!("cannot run '{compiler}': {error}; install the package"));
    output.status.success()
}

fn execute(top: &Path, input: [i32; 2]) -> (String, Vec<u8>) {
    let profile = top.join("one.profraw");
    let _ = std::fs::remove_file(&profile);
    let output = Command::new(top.join("program"))
        .args(input.map(|number| number.to_string()))
        .env("LLVM_PROFILE_FILE", &profile)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text, std::fs::read(profile).unwrap())
}

fn recorded(map: &CoverageMap, profile: &[u8], analysis: &Analysis, text: &str) -> Recorded {
    let profiles = profile::read(profile).unwrap();
    let sums = profiles[0].sums();
    let mut recorded = Recorded::default();
    for function in &map.functions {
        let (Some(cfg), Some(sum)) = (
            analysis.graph(&function.name),
            sums.get(&(function.name_hash, function.hash)),
        ) else {
            continue;
        };
        if sum.counters.iter().all(|count| *count == 0) {
            continue;
        }
        let counts = Counts::new(function, &sum.counters).unwrap();
        let starts = LineStarts::of(text.as_bytes());
        let projection = Projection::new(function, cfg, &Text::new(text.as_bytes(), &starts));
        let set = projection.crossed(&counts, Belief::Exact);
        let name = function.name.clone();
        let mut rules = (0..cfg.edges.len()).map(|edge| projection.rule(edge));
        if rules.any(|rule| rule == Some(Rule::FoldedCondition)) {
            recorded.folded.insert(name.clone());
        }
        recorded.edges.insert(name, set.iter().collect());
    }
    recorded
}

fn compare(
    case: &Case,
    analysis: &Analysis,
    expected: &Edges,
    recorded: &Recorded,
    tally: &mut Tally,
) {
    let is_plain = is_plain(case);
    for (function, edges) in expected {
        let found = recorded.edges.get(function).cloned().unwrap_or_default();
        let story = |edges: Vec<&usize>| {
            let cfg = analysis.graph(function).unwrap();
            let node = |index: u32| {
                let node = &cfg.nodes[index as usize];
                let text = &case.text[node.span.start as usize..node.span.end as usize];
                format!("{:?} line {} '{text}'", node.kind, node.span.line)
            };
            let described = edges.into_iter().map(|edge| &cfg.edges[*edge]);
            described
                .map(|edge| {
                    format!(
                        "{} -{}-> {}\n",
                        node(edge.from),
                        edge.label.text(),
                        node(edge.to)
                    )
                })
                .collect::<String>()
        };
        let missing: Vec<&usize> = edges.difference(&found).collect();
        assert!(
            missing.is_empty(),
            "{function} lacks {}\n{}",
            story(missing),
            case.text
        );
        let extra: Vec<&usize> = found.difference(edges).collect();
        tally.widened += extra.len();
        assert!(
            !is_plain || extra.is_empty() || recorded.folded.contains(function),
            "{function} has too many: {}\n{}",
            story(extra),
            case.text
        );
        tally.crossed += edges.len();
    }
    tally.compared += 1;
    tally.exact += usize::from(is_plain);
}
