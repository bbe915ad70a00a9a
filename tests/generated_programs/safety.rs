//! The property: a run that the edit changes crosses an edge that the analysis calls dangerous.

use std::collections::BTreeSet;

use git_rts::lang::c::Granularity;
use git_rts::lang::cfg::{ENTRY, Label};

use crate::analyse::{Analysis, analyse};
use crate::ast::Program;
use crate::choices::Choices;
use crate::compiles::compiles;
use crate::crossing::crossed;
use crate::edit::edit;
use crate::expand::expand;
use crate::generate;
use crate::noise::dress;
use crate::print::print;
use crate::run::{Activation, run};

/// Which dangers the check sees; anything but `All` proves that it can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dangers {
    All,
    NoEdges,
    /// Of the edges, only those that enter a function.
    OnlyEntries,
    /// All but the edges that a decision labels.
    NoOutcomes,
}

pub(crate) enum Verdict {
    /// The program or its edit is none, or nothing that was run behaves differently.
    Same,
    Different,
    Unsafe(String),
}

pub(crate) const INPUTS: [[i32; 2]; 6] = [[0, 0], [1, 2], [5, 1], [2, 300], [0, 3], [4, 0]];
pub(crate) const FUEL: usize = 2_000;
const HEADS: usize = 3;

/// A program with its edits.
pub(crate) struct Case {
    pub(crate) base: Program,
    pub(crate) text: String,
    macros: Vec<String>,
    heads: Vec<Head>,
}

pub(crate) struct Head {
    program: Program,
    pub(crate) text: String,
    granularity: Granularity,
}

/// Generates a program and some edits of it; only what compiles.
pub(crate) fn generate(numbers: &[u16]) -> Option<Case> {
    let mut choices = Choices::new(numbers);
    let plans: Vec<(usize, usize)> = (0..HEADS)
        .map(|_| (1 + choices.below(2), choices.below(4)))
        .collect();
    // Edits come from numbers of their own, so that they stay when the program shrinks.
    let (edits, program) = numbers[numbers.len().min(2 * HEADS)..]
        .split_at(numbers.len().saturating_sub(2 * HEADS).min(20 * HEADS));
    let mut written = generate::program(&mut Choices::new(program));
    let text = print(&mut written);
    let base = expand(&written).filter(compiles)?;
    let mut heads = Vec::new();
    for (index, (count, clothes)) in plans.into_iter().enumerate() {
        let own = edits.get(20 * index..).unwrap_or_default();
        let mut choices = Choices::new(&own[..own.len().min(20)]);
        let mut head = written.clone();
        let mut head_text = text.clone();
        for attempt in 0..count + 4 {
            if attempt >= count && head_text != text {
                break;
            }
            edit(&mut head, &mut choices);
            head_text = print(&mut head);
        }
        if clothes == 1 {
            head_text = dress(&head_text, &mut Choices::new(own));
        }
        if let Some(program) = expand(&head).filter(compiles) {
            heads.push(Head {
                program,
                text: head_text,
                granularity: match clothes {
                    2 => Granularity::Statement,
                    _ => Granularity::Expression,
                },
            });
        }
    }
    let macros = written.macros.iter();
    let macros = macros.map(|definition| definition.name.clone()).collect();
    Some(Case {
        base,
        text,
        macros,
        heads,
    })
}

impl Case {
    /// The names of its macros.
    pub(crate) fn macros(&self) -> impl Iterator<Item = &str> {
        self.macros.iter().map(String::as_str)
    }

    pub(crate) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.heads.iter()
    }
}

/// Compares what a program and its edits do.
pub(crate) fn check(numbers: &[u16], dangers: Dangers) -> Verdict {
    let Some(case) = generate(numbers) else {
        return Verdict::Same;
    };
    let mut verdict = Verdict::Same;
    for head in &case.heads {
        match compare(&case.base, &case.text, head, dangers) {
            Verdict::Same => {}
            Verdict::Different => verdict = Verdict::Different,
            found => return found,
        }
    }
    verdict
}

fn compare(base: &Program, text: &str, head: &Head, dangers: Dangers) -> Verdict {
    let analysis = analyse(text, &head.text, head.granularity);
    let mut verdict = Verdict::Same;
    for input in INPUTS {
        let before = run(base, "f0", input, FUEL);
        if before.observed.result.is_err() {
            continue;
        }
        let notices = match notices(&analysis, text, &before.activations, dangers) {
            Ok(notices) => notices,
            Err(step) => {
                return Verdict::Unsafe(format!("{step}\n{text}\n{:?}", before.activations));
            }
        };
        let after = run(&head.program, "f0", input, 10 * FUEL);
        if before.observed == after.observed {
            continue;
        }
        if !notices {
            return Verdict::Unsafe(format!(
                "f0{input:?}: {:?} became {:?}\n{}\n--- base\n{text}",
                before.observed,
                after.observed,
                difference(text, &head.text)
            ));
        }
        verdict = Verdict::Different;
    }
    verdict
}

/// Whether a run crossed a dangerous edge; `Err` if its way is not in the graphs.
fn notices(
    analysis: &Analysis,
    text: &str,
    activations: &[Activation],
    dangers: Dangers,
) -> Result<bool, String> {
    let mut notices = false;
    for activation in activations {
        let dangerous = analysis.dangerous(&activation.function);
        let Some(cfg) = analysis.graph(&activation.function) else {
            notices |= dangerous.is_err() && dangers != Dangers::NoEdges;
            continue;
        };
        let crossed = crossed(cfg, text, activation)
            .map_err(|step| format!("in {}: {step}", activation.function))?;
        let Ok(dangerous) = dangerous else {
            notices |= dangers != Dangers::NoEdges;
            continue;
        };
        let seen: BTreeSet<usize> = dangerous
            .iter()
            .copied()
            .filter(|edge| match dangers {
                Dangers::All => true,
                Dangers::NoEdges => false,
                Dangers::OnlyEntries => cfg.edges[*edge].from as usize == ENTRY,
                Dangers::NoOutcomes => matches!(cfg.edges[*edge].label, Label::Next),
            })
            .collect();
        notices |= !seen.is_disjoint(&crossed);
    }
    Ok(notices)
}

/// The lines in which two texts differ, with the line numbers of the first.
fn difference(base: &str, head: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (base.lines().collect(), head.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old[same..]
        .iter()
        .rev()
        .zip(new[same..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let lines = |lines: &[&str]| lines[same..lines.len() - rest].join(" ");
    format!(
        "--- from line {}: {}\n+++ {}",
        same + 1,
        lines(&old),
        lines(&new)
    )
}
