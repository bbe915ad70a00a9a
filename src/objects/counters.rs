//! Whose counters a piece of code increments: code that is the same may be made of other functions than before.
//!
//! A function that was put into another one keeps its own counters there. So where two builds agree in the code and in the counters,
//! whoever executes the one would count in the same functions as whoever executes the other.

use rustc_hash::FxHashMap;

use super::elf::{Place, Relocation};
use super::items::is_item;
use super::layout::{Layout, Target};
use super::naming::function_of;
use super::relocations;
use crate::coverage::llvm::names::Names;
use crate::digest::Digest;

/// Of code that increments counters of which nobody knows whose they are.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// As far as an instruction may point in front of a counter, whose size is one more.
const NEXT_INSTRUCTION: i64 = 7;

/// Where a function's description holds the place of its counters, behind its name and its hash.
const COUNTERS_IN_DESCRIPTION: u64 = 16;

/// Whose counters the sections of an object hold.
pub(super) struct Counters<'l, 'a> {
    layout: &'l Layout<'a>,
    /// For each section of clang's counters where each function's begin, and its name.
    owners: FxHashMap<usize, Vec<(i64, String)>>,
}

impl<'l, 'a> Counters<'l, 'a> {
    pub(super) fn of(layout: &'l Layout<'a>) -> Self {
        let mut counters = Counters {
            layout,
            owners: FxHashMap::default(),
        };
        let sections = layout.elf.sections.iter();
        let mut names = Names::default();
        for section in sections.clone() {
            if section.name == "__llvm_prf_names" && names.add(section.data).is_err() {
                // Then no description has a name.
                return counters;
            }
        }
        for section in sections.filter(|section| section.name == "__llvm_prf_data") {
            for relocation in &section.relocations {
                counters.describe(section.data, relocation, &names);
            }
        }
        counters
    }

    /// Reads whose counters are where, off a function's description.
    fn describe(&mut self, data: &[u8], relocation: &Relocation, names: &Names) {
        let symbol = &self.layout.elf.symbols[relocation.symbol];
        let Place::In(section) = symbol.place else {
            return;
        };
        let start = relocation.offset.checked_sub(COUNTERS_IN_DESCRIPTION);
        let hash = start.and_then(|start| data.get(start as usize..)?.first_chunk());
        let name = hash.and_then(|hash| names.get(u64::from_le_bytes(*hash)));
        if let Some(name) = name.filter(|_| self.is_counter(section)) {
            let machine = self.layout.elf.machine;
            // The place is told from the beginning of the description.
            let from = match relocations::is_relative(machine, relocation.kind) {
                true => COUNTERS_IN_DESCRIPTION as i64,
                false => 0,
            };
            let place = (symbol.value as i64).wrapping_add(relocation.addend);
            let name = String::from_utf8_lossy(name);
            let name = without_workshop(&name).to_owned();
            let own = self.owners.entry(section).or_default();
            own.push((place.wrapping_sub(from), name));
        }
    }

    fn is_counter(&self, section: usize) -> bool {
        self.layout.elf.sections[section].name == "__llvm_prf_cnts"
    }

    /// Over the counters that the code of a symbol increments; zero, if none of them is its own: then it does not tell when it is
    /// executed. Code that is kept from counting may hold code of others, which counts, or stand beside it.
    pub(super) fn incremented_by(&self, number: usize) -> u64 {
        let layout = self.layout;
        let symbol = &layout.elf.symbols[number];
        let Place::In(section) = symbol.place else {
            return 0;
        };
        let found = self.incremented_in(section);
        if found == 0 || found == UNKNOWN {
            return found;
        }
        // One place may have several names.
        let names = layout.named[section].iter();
        let names = names.map(|number| &layout.elf.symbols[*number]);
        let here = names.filter(|one| one.value == symbol.value);
        let functions: Vec<&str> = here.map(|one| function_of(one.name)).collect();
        let mut counters = self.counters_in(section);
        let is_own = counters.any(|counter| {
            let owner = counter.map(|(name, _)| name);
            owner.is_none_or(|owner| functions.iter().any(|function| is_of(owner, function)))
        });
        if is_own { found } else { 0 }
    }

    /// The counters that the code of a section increments, each as its owner and how far it is from the first.
    fn counters_in(&self, section: usize) -> impl Iterator<Item = Option<(&str, i64)>> {
        let relocations = self.layout.elf.sections[section].relocations.iter();
        relocations
            .filter(|relocation| self.layout.target(relocation).0 == Target::Counter)
            .map(|relocation| self.counter(relocation))
    }

    /// Over the counters that the code of a section increments; zero, if there are none.
    fn incremented_in(&self, section: usize) -> u64 {
        let layout = self.layout;
        let mut digest = Digest::new();
        let mut is_any = false;
        let mut are_items = true;
        for relocation in &layout.elf.sections[section].relocations {
            if layout.target(relocation).0 != Target::Counter {
                continue;
            }
            is_any = true;
            let Some((name, distance)) = self.counter(relocation) else {
                return UNKNOWN;
            };
            digest.absorb(relocation.offset);
            digest.absorb_bytes(name.as_bytes());
            digest.absorb(distance as u64);
            // What tells where all counters are is nobody's own.
            are_items &= is_item(without_prefix(name)) || name.starts_with("__llvm_profile_");
        }
        // The same function of another file is another one, where names do not tell.
        let files = layout.elf.symbols.iter().filter(|symbol| symbol.is_file());
        for symbol in files.filter(|_| !are_items) {
            digest.absorb_bytes(without_workshop(symbol.name).as_bytes());
        }
        match digest.finish() {
            _ if !is_any => 0,
            // The ends have meanings of their own.
            found => found.clamp(1, UNKNOWN - 1),
        }
    }

    /// Whose counter a relocation means, and how far it is from the first.
    fn counter(&self, relocation: &Relocation) -> Option<(&str, i64)> {
        let layout = self.layout;
        let symbol = &layout.elf.symbols[relocation.symbol];
        let place = (symbol.value as i64).wrapping_add(relocation.addend);
        match symbol.place {
            Place::In(section) if self.is_counter(section) => {
                let own = self.owners.get(&section)?.iter();
                let before =
                    own.filter(|(start, _)| *start <= place.wrapping_add(NEXT_INSTRUCTION));
                let (start, name) = before.max_by_key(|(start, _)| *start)?;
                Some((name, place.wrapping_sub(*start)))
            }
            // gcc has a variable for each function, in a section of its own.
            Place::In(section) if symbol.is_section() || symbol.is_label() => {
                let named = layout.named[section].iter();
                let named = named.map(|number| &layout.elf.symbols[*number]);
                let before =
                    named.filter(|one| one.value as i64 <= place.wrapping_add(NEXT_INSTRUCTION));
                let one = before.max_by_key(|one| one.value)?;
                Some((
                    without_workshop(one.name),
                    place.wrapping_sub(one.value as i64),
                ))
            }
            _ => Some((without_workshop(symbol.name), relocation.addend)),
        }
    }
}

/// Whether a function is the owner of a counter: the name of the counter's variable, or of the function with its file.
fn is_of(owner: &str, function: &str) -> bool {
    let name = without_prefix(owner);
    let own = name.rsplit([':', ';']).next().unwrap_or(name);
    // In the name of a variable a path has `_` for what cannot be there.
    let file = name.strip_suffix(function);
    let file = file.and_then(|file| file.strip_suffix('_'));
    function_of(own) == function || file.is_some_and(|file| file.contains('.'))
}

/// What a counter's variable is called after.
fn without_prefix(counter: &str) -> &str {
    let variable = counter.strip_prefix("__gcov0.");
    let variable = variable.or_else(|| counter.strip_prefix("__profc_"));
    variable.unwrap_or(counter)
}

/// The name of a counter or a file without the place where the project was built: clang puts the path of a source into the names of
/// its static functions, with `_` for what cannot be in a name.
pub(super) fn without_workshop(name: &str) -> &str {
    let cut = |separator: &str| {
        let (_, below) = name.split_once(&format!("{separator}rts{separator}build{separator}"))?;
        let ends = ["tree", "out"].map(|folder| format!("{separator}{folder}{separator}"));
        let place = ends
            .iter()
            .filter_map(|end| Some(below.find(end)? + end.len()))
            .min();
        Some(&below[place?..])
    };
    cut("/").or_else(|| cut("_")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_belongs_to_the_function_that_its_name_ends_with() {
        for owner in [
            "f",
            "src/a.c:f",
            "a:b/a.c;f",
            "__profc_f",
            "__gcov0.f",
            "src_a.c_f",
        ] {
            assert!(is_of(owner, "f"), "{owner}");
        }
        for owner in ["g", "src/a.c:xf", "__profc_x_f", "x_f", "__gcov0.xf"] {
            assert!(!is_of(owner, "f"), "{owner}");
        }
    }

    #[test]
    fn where_a_project_is_built_is_no_part_of_a_name() {
        let one = "__profc__home_me_p_.git_rts_build_main_tree_src_a.c_f";
        let other = "__profc__tmp_q_.git_rts_build_a_push_tree_src_a.c_f";
        assert_eq!(without_workshop(one), "src_a.c_f");
        assert_eq!(without_workshop(one), without_workshop(other));
        let file = "/home/me/p/.git/rts/build/main/tree/src/a.c";
        assert_eq!(without_workshop(file), "src/a.c");
        for name in ["__profc_f", "__gcov0.f", "__profc__rts_build_f"] {
            assert_eq!(without_workshop(name), name);
        }
    }
}
