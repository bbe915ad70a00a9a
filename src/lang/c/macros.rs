//! What each macro of a tree is, learnt from all its definitions: the classes by which the parser's text is prepared.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::{Digest, Name, Names};
use crate::lang::c::words;
use crate::lang::facts::{MacroDefinition, MacroShape};

/// What a use of the macro is, as far as parsing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MacroClass {
    /// Nothing, or an attribute.
    Blank,
    Cast,
    Type,
    LoopHead,
    Operator,
    Expression,
    Statement,
    Unbalanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacroUse {
    pub class: MacroClass,
    /// A use in statement position may leave the statement list.
    pub jumps: bool,
    /// A declaration that uses it may act without being mentioned: the macro stands for such an attribute.
    pub unmentioned: bool,
    /// White space in its arguments counts.
    pub stringifies: bool,
    /// It brings the attribute `cleanup`.
    pub cleans: bool,
    /// Its name alone is replaced by something else.
    pub replaces_name: bool,
    /// It brings the word `static` or `extern`.
    pub stores: bool,
    pub links: bool,
    /// It brings a pragma that acts beyond the function in which it stands.
    pub pragma: bool,
}

impl MacroUse {
    fn flags(self) -> u64 {
        [
            self.jumps,
            self.unmentioned,
            self.stringifies,
            self.cleans,
            self.replaces_name,
            self.stores,
            self.links,
            self.pragma,
        ]
        .into_iter()
        .fold(0, |flags, flag| flags << 1 | u64::from(flag))
    }
}

/// The macros of one version of a tree.
#[derive(Debug, Default)]
pub struct MacroTable {
    classes: FxHashMap<Name, MacroUse>,
}

impl MacroTable {
    #[must_use]
    pub fn get(&self, name: Name) -> Option<MacroUse> {
        self.classes.get(&name).copied()
    }

    /// Whether a name alone is replaced by something else.
    #[must_use]
    pub fn replaces(&self, name: Name) -> bool {
        self.get(name).is_some_and(|known| known.replaces_name)
    }

    /// A digest of the classes of the given names: the part of this table on which a parse depends.
    #[must_use]
    pub fn digest_for(&self, names: &Names) -> u64 {
        let mut digest = Digest::new();
        for name in names.iter() {
            if let Some(known) = self.get(name) {
                digest.absorb(u64::from(name.0) << 32 | (known.class as u64) << 16 | known.flags());
            }
        }
        digest.finish()
    }

    /// Learns the classes from every definition in the tree.
    pub fn learn<'a>(definitions: impl IntoIterator<Item = &'a MacroDefinition>) -> Self {
        let mut by_name: FxHashMap<Name, Vec<&MacroDefinition>> = FxHashMap::default();
        for definition in definitions {
            by_name
                .entry(Name::of(definition.name.as_bytes()))
                .or_default()
                .push(definition);
        }
        // A macro that is defined outside the tree may do anything.
        let jumping = inherited(&by_name, |definition| {
            let mut called = definition.capital_calls.iter();
            definition.jumps || called.any(|called| !by_name.contains_key(&called))
        });
        let mentioning = |words: &[&[u8]]| {
            let names: Vec<Name> = words.iter().map(|word| Name::of(word)).collect();
            inherited(&by_name, |definition| {
                names.iter().any(|word| definition.mentions.contains(*word))
            })
        };
        let unmentioned = mentioning(&words::UNMENTIONED);
        let cleaning = mentioning(&words::CLEANUP);
        let stringifying = inherited(&by_name, |definition| definition.stringifies);
        let storing = inherited(&by_name, |definition| definition.stores);
        let linking = inherited(&by_name, |definition| definition.links);
        let with_pragma = inherited(&by_name, |definition| definition.pragma);
        let classes = by_name
            .iter()
            .map(|(name, definitions)| {
                let class = definitions
                    .iter()
                    .map(|definition| resolve(&by_name, definition))
                    .reduce(merge)
                    .unwrap_or(MacroClass::Blank);
                let learnt = MacroUse {
                    class,
                    jumps: jumping.contains(name),
                    unmentioned: unmentioned.contains(name),
                    stringifies: stringifying.contains(name),
                    cleans: cleaning.contains(name),
                    stores: storing.contains(name),
                    links: linking.contains(name),
                    pragma: with_pragma.contains(name),
                    replaces_name: definitions.iter().any(|definition| {
                        // `#define A A` only tells `#ifdef` that there is an A.
                        !definition.function_like && definition.shape != MacroShape::Alias(*name)
                    }),
                };
                (*name, learnt)
            })
            .collect();
        MacroTable { classes }
    }
}

/// The names of macros that have a property, themselves or through a macro they mention.
fn inherited(
    by_name: &FxHashMap<Name, Vec<&MacroDefinition>>,
    has_it: impl Fn(&MacroDefinition) -> bool,
) -> FxHashSet<Name> {
    let mut users: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
    let mut found = FxHashSet::default();
    let mut waiting = Vec::new();
    for (name, definitions) in by_name {
        for definition in definitions {
            if has_it(definition) {
                waiting.push(*name);
            }
            for mentioned in definition.mentions.iter() {
                if by_name.contains_key(&mentioned) {
                    users.entry(mentioned).or_default().push(*name);
                }
            }
        }
    }
    while let Some(name) = waiting.pop() {
        if found.insert(name) {
            waiting.extend(users.get(&name).into_iter().flatten());
        }
    }
    found
}

/// The class of one definition, through chains of aliases.
fn resolve(
    by_name: &FxHashMap<Name, Vec<&MacroDefinition>>,
    definition: &MacroDefinition,
) -> MacroClass {
    let mut class = None;
    let mut seen = Vec::new();
    let mut waiting = vec![definition];
    while let Some(definition) = waiting.pop() {
        let found = match definition.shape {
            MacroShape::Alias(target) => match by_name.get(&target) {
                // A chain of aliases longer than this is a cycle, or nobody's code.
                Some(targets) if !seen.contains(&target) && seen.len() < 32 => {
                    seen.push(target);
                    waiting.extend(targets);
                    continue;
                }
                _ => MacroClass::Expression,
            },
            MacroShape::Nothing | MacroShape::Attribute => MacroClass::Blank,
            MacroShape::Cast => MacroClass::Cast,
            MacroShape::Type => MacroClass::Type,
            MacroShape::LoopHead => MacroClass::LoopHead,
            MacroShape::Operator => MacroClass::Operator,
            MacroShape::Expression => MacroClass::Expression,
            MacroShape::Statement => MacroClass::Statement,
            MacroShape::Unbalanced => MacroClass::Unbalanced,
        };
        class = Some(class.map_or(found, |known| merge(known, found)));
    }
    class.unwrap_or(MacroClass::Expression)
}

/// Two definitions of one macro: the class whose uses the other's uses fit into.
///
/// `Blank` fits anywhere, as `#define LOG(x)` beside `#define LOG(x) do { ... } while (0)` does; otherwise the later in
/// the order of the classes is the one that asks for more care.
fn merge(one: MacroClass, two: MacroClass) -> MacroClass {
    one.max(two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::lexer::lex;
    use crate::lang::c::shapes::definition;

    fn learn(texts: &[&str]) -> MacroTable {
        let definitions: Vec<MacroDefinition> = texts
            .iter()
            .map(|text| definition(text.as_bytes(), &lex(text.as_bytes())).expect("a definition"))
            .collect();
        MacroTable::learn(&definitions)
    }

    fn class(table: &MacroTable, name: &str) -> MacroUse {
        table.get(Name::of(name.as_bytes())).expect("it is defined")
    }

    #[test]
    fn an_alias_is_what_it_stands_for() {
        let table = learn(&["A B", "B C(1)", "C(x) __attribute__((x))"]);
        assert_eq!(class(&table, "A").class, MacroClass::Blank);
    }

    #[test]
    fn a_cycle_of_aliases_ends() {
        let table = learn(&["A B", "B A"]);
        assert_eq!(class(&table, "A").class, MacroClass::Expression);
    }

    #[test]
    fn definitions_under_conditions_are_joined() {
        let table = learn(&[
            "A(x)",
            "A(x) do { x; } while (0)",
            "E(i) for (;i;)",
            "E(i) for (;;)",
        ]);
        assert_eq!(class(&table, "A").class, MacroClass::Statement);
        assert_eq!(class(&table, "E").class, MacroClass::LoopHead);
    }

    #[test]
    fn a_jump_is_inherited_by_every_user() {
        let table = learn(&["A(x) B(x)", "B(x) if (x) return 1;", "C(x) (x)"]);
        assert!(class(&table, "A").jumps);
        assert!(!class(&table, "C").jumps);
    }

    #[test]
    fn a_macro_from_outside_the_tree_may_jump() {
        assert!(class(&learn(&["A(x) OUTSIDE(x)"]), "A").jumps);
        assert!(!class(&learn(&["A(x) outside(x)"]), "A").jumps);
    }

    #[test]
    fn the_digest_depends_on_mentioned_macros_only() {
        let one = learn(&["A(x) (x)", "B"]);
        let two = learn(&["A(x) (x)", "B return"]);
        let mentions_a = Names::new(vec![Name::of(b"A")]);
        let mentions_b = Names::new(vec![Name::of(b"B")]);
        assert_eq!(one.digest_for(&mentions_a), two.digest_for(&mentions_a));
        assert_ne!(one.digest_for(&mentions_b), two.digest_for(&mentions_b));
    }
}
