//! The options that choose witnesses, and tell what each of them contributes.

use clap::{Args, ValueEnum};

use crate::emit::plan_text::count;
use crate::selection::{Selection, Witnesses};

/// Who may speak for skipping a test.
#[derive(Debug, Clone, Args)]
pub(super) struct ChosenWitnesses {
    /// The witnesses that may clear a test: source, object, files [default: all]
    #[arg(long, value_name = "WITNESS", value_enum, value_delimiter = ',')]
    witness: Vec<Name>,
    /// Tell how many tests each witness alone would have selected
    #[arg(long)]
    stats: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Control-flow graphs and traces
    Source,
    /// Compiled code, where both versions were built
    Object,
    /// The files that were looked at
    Files,
}

impl ChosenWitnesses {
    pub(super) fn chosen(&self) -> Witnesses {
        let has = |name| self.witness.is_empty() || self.witness.contains(&name);
        Witnesses {
            source: has(Name::Source),
            object: has(Name::Object),
            files: has(Name::Files),
            are_compared: self.stats,
        }
    }

    /// Whether nobody is kept from speaking.
    pub(super) fn are_all(&self) -> bool {
        self.witness.is_empty()
    }

    /// What each contributes, for people.
    pub(super) fn say(&self, selection: &Selection) {
        if !self.stats {
            return;
        }
        let all = selection.plan.tests.len();
        for (name, selected) in &selection.alone {
            match selected {
                Some(selected) => {
                    anstream::eprintln!("{name} alone: {selected} of {}", count(all, "test"));
                }
                None => {
                    anstream::eprintln!("{name} alone: not known, because the head was not built");
                }
            }
        }
        let selected = selection.plan.selected().count();
        anstream::eprintln!("together: {selected} of {}", count(all, "test"));
    }
}
