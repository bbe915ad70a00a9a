//! Scopes of a function: what a local name is declared as, so that a use knows its declaration (paper 000, section 3.1.4).

use rustc_hash::FxHashMap;

use crate::digest::{Digest, Name};

/// The declaration behind a local name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Binding {
    pub(crate) digest: u64,
    /// Names outside the function on which the declaration depends.
    pub(crate) mentions: Vec<Name>,
}

#[derive(Debug, Default)]
pub(crate) struct Scopes {
    stack: Vec<FxHashMap<Name, Binding>>,
    blocks: u64,
    /// Every declaration with the block it stands in.
    pub(crate) locals: Vec<(Name, u64)>,
}

impl Scopes {
    pub(crate) fn open(&mut self) {
        self.stack.push(FxHashMap::default());
        self.blocks += 1;
    }

    pub(crate) fn close(&mut self) {
        self.stack.pop();
    }

    pub(crate) fn bind(&mut self, name: Name, binding: Binding) {
        let mut digest = Digest::new();
        digest.absorb(binding.digest);
        digest.absorb(self.blocks);
        self.locals.push((name, digest.finish()));
        if let Some(scope) = self.stack.last_mut() {
            scope.insert(name, binding);
        }
    }

    pub(crate) fn get(&self, name: Name) -> Option<&Binding> {
        self.stack.iter().rev().find_map(|scope| scope.get(&name))
    }
}
