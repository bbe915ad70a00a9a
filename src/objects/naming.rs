//! Names that only one object sees and that compilers number: `count.3`, `f.part.0`, or two of one name after `ld -r`.
//!
//! The numbers depend on whatever else is in the file. Where it is certain which one is meant, such a symbol is called after its
//! content and its users instead; everywhere else it keeps its number, and then a renumbering looks like a change, which is safe.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::content::Content;
use super::layout::{Layout, Role, Target};
use crate::digest::Digest;

/// What a symbol is called in digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) name: String,
    /// Several of one content and one user have the same name: the user tells them apart by the order in which it mentions them.
    pub(super) is_ranked: bool,
}

/// Whether a name holds a number that a compiler gave out.
fn is_numbered(name: &str) -> bool {
    name.split('.').skip(1).any(is_number)
}

fn is_number(part: &str) -> bool {
    part.starts_with('#') || !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name without the numbers of compilers, and without ours.
pub(super) fn without_numbers(name: &str) -> String {
    let mut parts = name.split('.');
    let mut base = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|part| !is_number(part)) {
        base.push('.');
        base.push_str(part);
    }
    base
}

/// The function of the source that a symbol was compiled from: clones and parts have its name and a suffix.
pub(super) fn function_of(name: &str) -> &str {
    let first = name.chars().next().map_or(0, char::len_utf8);
    let end = name[first..].find(['.', '@']);
    end.map_or(name, |end| &name[..first + end])
}

/// Whether a compiler of C++ or Rust made a name.
pub(super) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("_R")
}

/// What each symbol of an object is called that only the object sees.
pub(super) fn names(layout: &Layout<'_>) -> Result<FxHashMap<usize, Called>, super::Opaque> {
    let symbols = &layout.elf.symbols;
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for number in layout.named.iter().flatten() {
        if symbols[*number].is_local() {
            by_name
                .entry(symbols[*number].name)
                .or_default()
                .push(*number);
        }
    }
    let mut called = FxHashMap::default();
    let mut doubtful = BTreeSet::new();
    for (name, numbers) in &by_name {
        for (ordinal, number) in numbers.iter().enumerate() {
            let is_doubtful = numbers.len() > 1 || is_numbered(name);
            let name = match numbers.len() {
                1 => (*name).to_owned(),
                _ => format!("{name}.#{ordinal}"),
            };
            if is_doubtful {
                doubtful.insert(*number);
            }
            let is_ranked = false;
            called.insert(*number, Called { name, is_ranked });
        }
    }
    if doubtful.is_empty() {
        return Ok(called);
    }
    let users = users(layout, &doubtful);
    let mut by_key: BTreeMap<(String, u64), Vec<usize>> = BTreeMap::new();
    let mut shallow = Content::shallow(layout);
    for number in &doubtful {
        let symbol = &symbols[*number];
        let mut key = Digest::new();
        key.absorb(shallow.symbol(*number)?);
        for user in users.get(number).into_iter().flatten() {
            let of_user = layout.named[*user].first();
            let name = of_user.map_or("", |first| symbols[*first].name);
            key.absorb_bytes(without_numbers(name).as_bytes());
        }
        let key = (without_numbers(symbol.name), key.finish());
        by_key.entry(key).or_default().push(*number);
    }
    for ((base, key), numbers) in by_key {
        let is_unique = numbers.len() == 1;
        // Equal in all that can be seen, and only one piece of code or data sees them.
        let is_ranked = !is_unique
            && numbers.iter().all(|number| {
                users.get(number).is_some_and(|users| users.len() == 1)
                    && !mentions(layout, *number, &doubtful)
            });
        if is_unique || is_ranked {
            for number in numbers {
                let name = format!("{base}.#{key:016x}");
                called.insert(number, Called { name, is_ranked });
            }
        }
    }
    Ok(called)
}

/// The sections that mention each of some symbols.
fn users(layout: &Layout<'_>, wanted: &BTreeSet<usize>) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut users: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (number, section) in layout.elf.sections.iter().enumerate() {
        if !matches!(layout.roles[number], Role::Program | Role::AtLoad) {
            continue;
        }
        for relocation in &section.relocations {
            if let (Target::Own(symbol) | Target::Within(symbol, _), _) = layout.target(relocation)
                && wanted.contains(&symbol)
            {
                users.entry(symbol).or_default().insert(number);
            }
        }
    }
    users
}

/// Whether the content of a symbol mentions one of some others, so that what can be seen of it is not all.
fn mentions(layout: &Layout<'_>, symbol: usize, others: &BTreeSet<usize>) -> bool {
    let super::elf::Place::In(section) = layout.elf.symbols[symbol].place else {
        return false;
    };
    let mut seen = BTreeSet::new();
    let mut waiting = vec![section];
    while let Some(section) = waiting.pop() {
        if !seen.insert(section) {
            continue;
        }
        for relocation in &layout.elf.sections[section].relocations {
            match layout.target(relocation).0 {
                Target::Own(target) | Target::Within(target, _) if others.contains(&target) => {
                    return true;
                }
                Target::Anonymous(target, _) => waiting.push(target),
                _ => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_compilers_are_taken_out() {
        assert_eq!(without_numbers("count.3"), "count");
        assert_eq!(without_numbers("f.part.0.cold"), "f.part.cold");
        assert_eq!(without_numbers("f.constprop.#0a1b2c3d"), "f.constprop");
        assert_eq!(without_numbers("main"), "main");
        assert_eq!(without_numbers("x86.v3"), "x86.v3");
        assert!(is_numbered("f.isra.0") && !is_numbered("f.cold") && !is_numbered("f3"));
    }

    #[test]
    fn clones_belong_to_their_function() {
        assert_eq!(function_of("f.constprop.0"), "f");
        assert_eq!(function_of("memcpy@GLIBC_2.14"), "memcpy");
        assert_eq!(function_of("main"), "main");
        assert_eq!(function_of(""), "");
        assert_eq!(function_of("é.cold"), "é");
        assert_eq!(function_of(".hidden"), ".hidden");
    }
}
