//! Scopes of a function: what a local name is declared as, so that a use knows its declaration (paper 000, section 3.1.4).

use rustc_hash::FxHashMap;

use crate::digest::{Digest, Name};
use crate::lang::cfg::Node;

/// The declaration behind a local name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Binding {
    pub(crate) digest: u64,
    /// Names outside the function on which the declaration depends.
    pub(crate) mentions: Vec<Name>,
}

#[derive(Debug, Default)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
    blocks: u64,
    /// How often each name was declared so far.
    declared: FxHashMap<Name, u64>,
    /// Every declaration with the block it stands in and the uses of macros before it there: a macro that captures the
    /// name means this variable only behind its declaration.
    pub(crate) locals: Vec<(Name, u64)>,
}

#[derive(Debug)]
struct Scope {
    /// The `#if` conditions under which the block opens.
    chain: u32,
    bindings: FxHashMap<Name, Binding>,
    /// Over the uses of macros in the block so far.
    macro_uses: Digest,
    cleanups: Vec<Node>,
}

impl Scopes {
    pub(crate) fn open(&mut self, chain: u32) {
        self.stack.push(Scope {
            chain,
            bindings: FxHashMap::default(),
            macro_uses: Digest::new(),
            cleanups: Vec::new(),
        });
        self.blocks += 1;
    }

    /// Leaves the innermost block; answers what that cleans up, the last declared first.
    pub(crate) fn close(&mut self) -> Vec<Node> {
        let closed = self.stack.pop();
        let mut cleanups = closed.map(|scope| scope.cleanups).unwrap_or_default();
        cleanups.reverse();
        cleanups
    }

    /// Notes what is done where the innermost block ends.
    pub(crate) fn clean_up(&mut self, node: Node) {
        if let Some(scope) = self.stack.last_mut() {
            scope.cleanups.push(node);
        }
    }

    /// Declares a name in the innermost block, under the given `#if` conditions.
    pub(crate) fn bind(&mut self, name: Name, binding: Binding, chain: u32) {
        self.bind_as(name, name, binding, chain);
    }

    /// Declares what is kept under one name and, where it is not declared, mentioned under another.
    pub(crate) fn bind_as(&mut self, name: Name, global: Name, mut binding: Binding, chain: u32) {
        let mut digest = Digest::new();
        digest.absorb(binding.digest);
        digest.absorb(self.blocks);
        if let Some(scope) = self.stack.last() {
            digest.absorb(scope.macro_uses.finish());
        }
        self.locals.push((name, digest.finish()));
        // Equal declarations of one name are different variables.
        let declared = self.declared.entry(name).or_default();
        let mut digest = Digest::new();
        digest.absorb(binding.digest);
        digest.absorb(*declared);
        *declared += 1;
        if self.stack.last().is_some_and(|scope| scope.chain != chain) {
            // The declaration may not be there: then the name is what it was before.
            match self.get(name) {
                Some(before) => {
                    digest.absorb(before.digest);
                    binding.mentions.extend(&before.mentions);
                }
                None => binding.mentions.push(global),
            }
        }
        binding.digest = digest.finish();
        if let Some(scope) = self.stack.last_mut() {
            scope.bindings.insert(name, binding);
        }
    }

    /// Notes a node that uses a macro.
    pub(crate) fn macro_use(&mut self, node: u64) {
        for scope in &mut self.stack {
            scope.macro_uses.absorb(node);
        }
    }

    pub(crate) fn get(&self, name: Name) -> Option<&Binding> {
        self.stack
            .iter()
            .rev()
            .find_map(|scope| scope.bindings.get(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: u64 = 7;

    fn declare(scopes: &mut Scopes, name: &[u8], chain: u32) {
        let binding = Binding {
            digest: INT,
            mentions: Vec::new(),
        };
        scopes.bind(Name::of(name), binding, chain);
    }

    fn digest(scopes: &Scopes, name: &[u8]) -> Option<u64> {
        scopes.get(Name::of(name)).map(|binding| binding.digest)
    }

    #[test]
    fn a_variable_is_not_the_one_that_it_hides() {
        let mut scopes = Scopes::default();
        scopes.open(0);
        declare(&mut scopes, b"x", 0);
        let outer = digest(&scopes, b"x");
        scopes.open(0);
        declare(&mut scopes, b"x", 0);
        assert_ne!(digest(&scopes, b"x"), outer);
        scopes.close();
        assert_eq!(digest(&scopes, b"x"), outer);
    }

    #[test]
    fn declarations_of_other_names_change_nothing() {
        let mut one = Scopes::default();
        one.open(0);
        declare(&mut one, b"x", 0);
        let mut two = Scopes::default();
        two.open(0);
        declare(&mut two, b"y", 0);
        declare(&mut two, b"x", 0);
        assert_eq!(digest(&one, b"x"), digest(&two, b"x"));
    }

    #[test]
    fn a_declaration_behind_the_use_of_a_macro_is_another_for_the_macro() {
        let locals = |before: bool| {
            let mut scopes = Scopes::default();
            scopes.open(0);
            if before {
                scopes.macro_use(1);
            }
            declare(&mut scopes, b"x", 0);
            if !before {
                scopes.macro_use(1);
            }
            scopes.locals
        };
        assert_ne!(locals(true), locals(false));
    }

    #[test]
    fn a_declaration_under_a_condition_may_leave_the_global_name() {
        let mut scopes = Scopes::default();
        scopes.open(0);
        declare(&mut scopes, b"x", 1);
        let mentions = |scopes: &Scopes| {
            let binding = scopes.get(Name::of(b"x"));
            binding.map(|binding| binding.mentions.clone())
        };
        assert_eq!(mentions(&scopes), Some(vec![Name::of(b"x")]));
        scopes.open(1);
        declare(&mut scopes, b"x", 1);
        assert_eq!(mentions(&scopes), Some(Vec::new()));
    }
}
