//! Names that `##` may build where macros are used: who looks for mentions must not overlook them.

use rustc_hash::FxHashSet;

use crate::compare::affected::Affected;
use crate::digest::{Name, Names};
use crate::lang::facts::MacroDefinition;

/// The macros of a tree that paste, and the uses of them that were seen.
pub(super) struct Pasting {
    macros: Affected,
    /// Macros that paste, and those that use them.
    pasting: FxHashSet<Name>,
    uses: Vec<Names>,
}

impl Pasting {
    pub(super) fn new<'a>(definitions: impl Iterator<Item = &'a MacroDefinition> + Clone) -> Self {
        let name = |definition: &MacroDefinition| Name::of(definition.name.as_bytes());
        let direct = definitions.clone().filter(|one| !one.pastes.is_empty());
        let mut pasting: FxHashSet<Name> = direct.map(name).collect();
        loop {
            let users = definitions.clone().filter(|one| {
                let mut mentions = one.mentions.iter();
                mentions.any(|mentioned| pasting.contains(&mentioned))
            });
            let users: Vec<Name> = users.map(name).collect();
            let before = pasting.len();
            pasting.extend(users);
            if pasting.len() == before {
                break;
            }
        }
        Pasting {
            macros: Affected::new(definitions),
            pasting,
            uses: Vec::new(),
        }
    }

    /// Something that was seen mentions these names.
    pub(super) fn note(&mut self, mentions: &Names) {
        if mentions.iter().any(|name| self.pasting.contains(&name)) {
            self.uses.push(mentions.clone());
        }
    }

    /// Whether one of the uses may build a name.
    pub(super) fn may_build(&self, name: &str) -> bool {
        if self.uses.is_empty() {
            return false;
        }
        let mut wanted = self.macros.another();
        wanted.add(name, "");
        self.uses.iter().any(|uses| wanted.hit(uses).is_some())
    }
}
