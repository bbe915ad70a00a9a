//! How far a difference reaches: through data, and through names that binaries see of each other.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::contents::BinaryDigest;
use super::difference::BinaryDifference;
use super::items::{self, Compared, Items};
use super::naming::{function_of, is_mangled, without_numbers};
use super::pairing::{self, Change, Differing, Pairs};
use super::readable::readable;
use super::{ObjectDigest, Symbol, content};
use crate::digest::{Digest, Name};

/// Names that mean something else now, with what they are called.
pub(super) type Tainted = BTreeMap<Name, String>;

/// Names that linkers give to the borders of what they put together: who mentions these may look at anything between.
const BORDERS: [&str; 7] = [
    "_end",
    "end",
    "_edata",
    "edata",
    "_etext",
    "etext",
    "__bss_start",
];

/// One binary while it is compared: the base's objects, and which names mean something else now.
pub(super) struct View<'a> {
    pub(super) name: &'a str,
    objects: Vec<&'a ObjectDigest>,
    /// Whether the object of the same number was compiled so that its functions count, as far as anything tells: what does not count is
    /// then of the compiler's making.
    counts: Vec<bool>,
    /// Names that all objects of the binary see.
    global: Tainted,
    /// Names that only the object of the same number sees.
    own: Vec<Tainted>,
    /// Functions that run when the binary is loaded or left, before or after.
    at_load: BTreeSet<&'a str>,
    /// Data that differ, or mention what does, and what acts as data do; by name.
    data: BTreeSet<&'a str>,
    before: &'a BinaryDigest,
    after: &'a BinaryDigest,
    /// The two are the same, and yet nobody knows what they mention.
    is_opaque: bool,
}

impl<'a> View<'a> {
    pub(super) fn of(
        name: &'a str,
        [old, new]: [&'a BinaryDigest; 2],
        [old_objects, new_objects]: [Vec<&'a ObjectDigest>; 2],
        pairs: Pairs,
        difference: &mut BinaryDifference,
    ) -> Self {
        let all_objects = old_objects.iter().chain(&new_objects);
        let at_load: BTreeSet<&str> = all_objects
            .flat_map(|object| &object.at_load.functions)
            .map(String::as_str)
            .collect();
        let mut view = View {
            name,
            own: vec![Tainted::new(); old_objects.len()],
            counts: compiled_to_count(&old_objects),
            objects: old_objects,
            global: Tainted::new(),
            at_load,
            data: BTreeSet::new(),
            before: old,
            after: new,
            is_opaque: old.opaque.is_some() || new.opaque.is_some(),
        };
        if old.whole == new.whole {
            return view;
        }
        for name in BORDERS {
            view.taint(name);
        }
        if let Some(why) = old.opaque.as_ref().or(new.opaque.as_ref()) {
            difference.is_foreign = true;
            difference.blame_everybody(format!("it differs, and {why}"));
            return view;
        }
        if let Some(what) = differing_remainder(old, new) {
            difference.is_foreign = true;
            difference.blame_everybody(format!("{what} differ"));
        }
        view.compare(&new_objects, pairs, difference);
        view
    }

    fn compare(
        &mut self,
        after: &[&'a ObjectDigest],
        Pairs { partners, left }: Pairs,
        difference: &mut BinaryDifference,
    ) {
        let of_both = partners.iter().enumerate();
        let pairs = of_both.map(|(number, partner)| (Some(number), *partner));
        let new = left.iter().map(|number| (None, Some(*number)));
        for (old, new) in pairs.chain(new) {
            let old = old.map(|number| self.objects[number]);
            let both = [old, new.map(|number| after[number])];
            let [was, is] = both.map(|object| object.map(pairing::fingerprint));
            if was != is {
                difference.is_foreign |= both.iter().flatten().any(|object| !object.is_of_c);
                if let [Some(old), Some(_)] = both {
                    difference.sources.insert(old.source.clone());
                }
            }
        }
        let copies = plain_copies(&self.objects, after);
        let items = items_of(&self.objects, after, &partners);
        let is_copy = |one: &Differing<'_>| {
            !one.is_own && copies.contains(one.name) || items.unchanged.contains(one.name)
        };
        if let Some(recounted) = &mut difference.recounted {
            let parts = parts_of_functions(self.objects.iter().chain(after));
            recounted.retain(|function| {
                let function = function.as_str();
                parts.contains(function) || !items.unchanged.contains(function)
            });
        }
        let told = |one: Differing<'a>| match is_copy(&one) {
            true => None,
            // It went from one object and came to another.
            false if items.of_both.contains(one.name) => Some(Differing {
                change: Change::Changed,
                ..one
            }),
            false => Some(one),
        };
        for (number, partner) in partners.iter().enumerate() {
            let partner = partner.map(|partner| after[partner]);
            self.add_differing(Some(number), partner, &told, difference);
        }
        for number in left {
            self.add_differing(None, Some(after[number]), &told, difference);
        }
        for (name, is_code) in taking_another(&self.objects, after) {
            difference.is_foreign = true;
            if is_code {
                let function = function_of(name).to_owned();
                let why = "the linker meets another definition of it first";
                difference
                    .affected
                    .entry(function)
                    .or_insert(why.to_owned());
            } else {
                self.data.insert(name);
            }
            self.taint(name);
        }
        for name in differing_lists(&self.objects, after) {
            // In which order there are entries, the source does not tell.
            difference.is_foreign = true;
            self.taint(&format!("__start_{name}"));
            self.taint(&format!("__stop_{name}"));
        }
    }

    /// Notes that a name means something else now, to whoever sees it.
    fn taint(&mut self, name: &str) {
        self.global
            .insert(Name::of(name.as_bytes()), name.to_owned());
        // With --wrap, the linker takes one name for another.
        if let Some(wrapped) = name.strip_prefix("__wrap_") {
            self.global
                .insert(Name::of(wrapped.as_bytes()), name.to_owned());
        }
        let real = format!("__real_{name}");
        self.global
            .insert(Name::of(real.as_bytes()), name.to_owned());
    }

    fn add_differing(
        &mut self,
        before: Option<usize>,
        after: Option<&'a ObjectDigest>,
        told: &dyn Fn(Differing<'a>) -> Option<Differing<'a>>,
        difference: &mut BinaryDifference,
    ) {
        let old = before.map(|number| self.objects[number]);
        let passes_on = before.is_some_and(|number| self.counts[number]);
        let differing = pairing::differing(old, after).into_iter();
        for one in differing.filter_map(told) {
            let plain = without_numbers(one.name);
            let known = difference.symbols.get(&plain);
            let change = match known {
                // It moved to another object, or is defined in several.
                Some(known) if *known != one.change => Change::Changed,
                _ => one.change,
            };
            difference.symbols.insert(plain, change);
            if one.is_code && one.change != Change::Appeared {
                let why = match one.change {
                    Change::Disappeared => "it is gone",
                    _ => "its code differs",
                };
                let function = function_of(one.name).to_owned();
                difference
                    .affected
                    .entry(function)
                    .or_insert(why.to_owned());
            }
            if one.is_data {
                self.data.insert(one.name);
            } else if one.change == Change::Changed && (one.counts || !passes_on) {
                // Who executed it is known.
                continue;
            }
            match (one.is_own, before) {
                (false, _) => self.taint(one.name),
                (true, Some(number)) => {
                    let name = content::own(one.name);
                    self.own[number].insert(name, one.name.to_owned());
                }
                // What only a new object sees, only new code can mention.
                (true, None) => {}
            }
        }
    }

    /// Names that differ and that other binaries can see, before or after.
    pub(super) fn exported_taint(&self) -> impl Iterator<Item = (Name, &str)> {
        let is_exported = |name: &Name| {
            self.before.exports.contains_key(name) || self.after.exports.contains_key(name)
        };
        let by_definition = self
            .global
            .iter()
            .filter(move |(name, _)| is_exported(name));
        let by_definition = by_definition.map(|(name, text)| (*name, text.as_str()));
        // The same definition may be seen in another way: by another version, weakly, or no longer at all.
        let symbols = self.objects.iter().flat_map(|object| &object.symbols);
        let by_view = symbols
            .filter(|symbol| !symbol.is_own)
            .filter_map(|symbol| {
                let name = Name::of(symbol.name.as_bytes());
                let is_same = self.before.exports.get(&name) == self.after.exports.get(&name);
                (!is_same).then_some((name, symbol.name.as_str()))
            });
        by_definition.chain(by_view)
    }

    pub(super) fn is_data(&self, name: &str) -> bool {
        self.data.contains(name)
    }

    /// What a symbol of an object mentions that means something else now.
    fn tainting<'t>(
        &'t self,
        number: usize,
        mentions: impl Iterator<Item = Name>,
        shared: &'t Tainted,
    ) -> Option<&'t str> {
        let mut mentions = mentions;
        mentions.find_map(|name| {
            let own = self.own[number].get(&name);
            let global = || self.global.get(&name).or_else(|| shared.get(&name));
            own.or_else(global).map(String::as_str)
        })
    }

    /// Adds data that mention what means something else now; answers whether there were any.
    fn spread(&mut self, shared: &mut Tainted) -> bool {
        let mut grew = false;
        for number in 0..self.objects.len() {
            let object = self.objects[number];
            // Code of a compiler's own making does not tell when it is executed. It passes on what it does, as data do, to who
            // mentions it.
            let counts = self.counts[number];
            let passes_on = |symbol: &&Symbol| !symbol.is_code || counts && !symbol.counts();
            for symbol in object.symbols.iter().filter(passes_on) {
                let name = match symbol.is_own {
                    true => content::own(&symbol.name),
                    false => Name::of(symbol.name.as_bytes()),
                };
                let is_known = match symbol.is_own {
                    true => self.own[number].contains_key(&name),
                    false => self.global.contains_key(&name),
                };
                if is_known
                    || self
                        .tainting(number, symbol.mentions.iter(), shared)
                        .is_none()
                {
                    continue;
                }
                grew = true;
                self.data.insert(&symbol.name);
                if symbol.is_own {
                    self.own[number].insert(name, symbol.name.clone());
                    continue;
                }
                if self.before.exports.contains_key(&name) {
                    shared.insert(name, symbol.name.clone());
                }
                self.taint(&symbol.name);
            }
            for list in &object.lists {
                let start = format!("__start_{}", list.name);
                let name = Name::of(start.as_bytes());
                if !self.global.contains_key(&name)
                    && self
                        .tainting(number, list.mentions.iter(), shared)
                        .is_some()
                {
                    grew = true;
                    self.taint(&start);
                    self.taint(&format!("__stop_{}", list.name));
                }
            }
        }
        grew
    }

    pub(super) fn add_affected(&self, shared: &Tainted, difference: &mut BinaryDifference) {
        if self.is_opaque {
            // From outside, a binary is reached by the names in its dynamic table alone.
            let mut names = shared.iter();
            let used = names.find(|(name, _)| {
                self.before.imports.contains(**name) || self.before.exports.contains_key(name)
            });
            if let Some((_, name)) = used {
                difference.blame_everybody(format!("it may use '{name}', which differs"));
            }
        }
        for (number, object) in self.objects.iter().enumerate() {
            for symbol in object.symbols.iter().filter(|symbol| symbol.is_code) {
                if let Some(what) = self.tainting(number, symbol.mentions.iter(), shared) {
                    difference.is_foreign |= !object.is_of_c;
                    let function = function_of(&symbol.name);
                    let what = without_numbers(what);
                    let why = format!("it uses '{}', which differs", readable(&what));
                    difference
                        .affected
                        .entry(function.to_owned())
                        .or_insert(why);
                }
            }
        }
        for function in self.objects.iter().flat_map(|object| object.silent()) {
            if difference.affected.contains_key(function) {
                difference.uncounted.insert(function.to_owned());
            }
        }
        for (number, object) in self.objects.iter().enumerate() {
            let mentions = object.at_load.mentions.iter();
            if let Some(what) = self.tainting(number, mentions, shared) {
                let what = without_numbers(what);
                difference.blame_everybody(format!(
                    "what runs when it is loaded uses '{what}', which differs"
                ));
            }
        }
        let mut affected = difference.affected.iter();
        let running = affected.find(|(name, _)| self.at_load.contains(name.as_str()));
        if let Some((function, why)) = running {
            let function = readable(function);
            let why = format!("'{function}' runs when it is loaded, and {why}");
            difference.blame_everybody(why);
        }
        self.leave_to_users(difference);
    }

    /// Takes out the functions that do not tell when they are executed, where somebody in the binary mentions them: nobody else
    /// can execute them, and whoever mentions them is affected, too.
    ///
    /// Only what a compiler made by itself and named in its own way: what people keep from counting, and assembler, may be named
    /// to a linker (`-init`, `-e`) or to whoever unwinds frames.
    fn leave_to_users(&self, difference: &mut BinaryDifference) {
        if difference.uncounted.is_empty() {
            return;
        }
        let mut users: FxHashSet<(Option<usize>, Name)> = FxHashSet::default();
        for (number, object) in self.objects.iter().enumerate() {
            for symbol in &object.symbols {
                let own = match symbol.is_own {
                    true => content::own(&symbol.name),
                    false => Name::of(symbol.name.as_bytes()),
                };
                // Who mentions only itself is mentioned by nobody.
                for name in symbol.mentions.iter().filter(|name| *name != own) {
                    users.extend([(None, name), (Some(number), name)]);
                }
            }
        }
        // Of each of them, whether all that is defined under its name is left to others.
        let mut left: BTreeMap<&str, bool> = BTreeMap::new();
        for (number, object) in self.objects.iter().enumerate() {
            let counts = self.counts[number];
            for symbol in &object.symbols {
                let function = function_of(&symbol.name);
                if !is_mangled(function) || !difference.uncounted.contains(function) {
                    continue;
                }
                let name = Name::of(symbol.name.as_bytes());
                let is_used = match symbol.is_own {
                    true => users.contains(&(Some(number), content::own(&symbol.name))),
                    false => users.contains(&(None, name)),
                };
                let is_seen = self.before.exports.contains_key(&name)
                    || self.after.exports.contains_key(&name);
                let is_left = is_used && !is_seen && !symbol.counts() && counts;
                *left.entry(function).or_insert(true) &= is_left;
            }
        }
        let left = left.into_iter().filter(|(_, is_left)| *is_left);
        let left: Vec<String> = left.map(|(function, _)| function.to_owned()).collect();
        for function in left {
            difference.affected.remove(&function);
            difference.uncounted.remove(&function);
            // Who does not execute its users does not execute it, whatever it is made of.
            if let Some(recounted) = &mut difference.recounted {
                recounted.remove(&function);
            }
        }
    }
}

/// Which objects were compiled so that their functions count. A crate is compiled at once, and some of its objects may hold nothing but
/// what the compiler made.
fn compiled_to_count(objects: &[&ObjectDigest]) -> Vec<bool> {
    let counting = objects.iter().filter(|object| object.counts());
    let units: FxHashSet<&str> = counting.map(|object| object.unit.as_str()).collect();
    let is_counting_unit = |unit: &str| !unit.is_empty() && units.contains(unit);
    let counts = |object: &&ObjectDigest| object.counts() || is_counting_unit(&object.unit);
    objects.iter().map(counts).collect()
}

/// Follows what differs through data until nothing new turns up.
pub(super) fn spread(views: &mut [View<'_>], shared: &mut Tainted) {
    loop {
        let mut grew = false;
        for view in views.iter_mut() {
            grew |= view.spread(shared);
        }
        if !grew {
            return;
        }
    }
}

fn differing_remainder<'a>(before: &'a BinaryDigest, after: &'a BinaryDigest) -> Option<&'a str> {
    let mut names = before.remainder.keys().chain(after.remainder.keys());
    let differing = names.find(|name| before.remainder.get(*name) != after.remainder.get(*name));
    differing.map(String::as_str)
}

/// The names that several objects define, in different ways, and of which another definition is the first now, which is the one
/// that linkers take of equal ones; each with whether it is code.
fn taking_another<'a>(
    before: &[&'a ObjectDigest],
    after: &[&'a ObjectDigest],
) -> Vec<(&'a str, bool)> {
    fn definitions<'a>(objects: &[&'a ObjectDigest]) -> BTreeMap<&'a str, (bool, Vec<u64>)> {
        let mut found: BTreeMap<&str, (bool, Vec<u64>)> = BTreeMap::new();
        let symbols = objects.iter().flat_map(|object| &object.symbols);
        for symbol in symbols.filter(|symbol| !symbol.is_own) {
            let (_, digests) = found
                .entry(&symbol.name)
                .or_insert((symbol.is_code, Vec::new()));
            // Copies of one definition are as good as one.
            if digests.last() != Some(&symbol.digest) {
                digests.push(symbol.digest);
            }
        }
        found
    }
    let after = definitions(after);
    let several = definitions(before).into_iter();
    let several = several.filter(|(name, (_, digests))| {
        let now = after.get(name).map_or(&[][..], |(_, now)| now.as_slice());
        digests.len().max(now.len()) > 1 && digests.first() != now.first()
    });
    several
        .map(|(name, (is_code, _))| (name, is_code))
        .collect()
}

/// Names of data that mention nothing and of which both builds have one definition, in however many objects: a copy more or less is
/// no difference.
fn plain_copies<'a>(before: &[&'a ObjectDigest], after: &[&'a ObjectDigest]) -> BTreeSet<&'a str> {
    let plain = |objects: &[&'a ObjectDigest]| {
        let mut found: BTreeMap<&'a str, Option<u64>> = BTreeMap::new();
        let symbols = objects.iter().flat_map(|object| &object.symbols);
        for symbol in symbols.filter(|symbol| !symbol.is_own) {
            let is_plain = !symbol.is_code && symbol.mentions.is_empty();
            let digest = is_plain.then_some(symbol.digest);
            let known = found.entry(&symbol.name).or_insert(digest);
            *known = known.filter(|known| Some(*known) == digest);
        }
        found
    };
    let now = plain(after);
    let before = plain(before).into_iter();
    before
        .filter(|(name, digest)| digest.is_some() && now.get(name) == Some(digest))
        .map(|(name, _)| name)
        .collect()
}

/// The functions of which compilers made several pieces of code.
fn parts_of_functions<'o, 'a: 'o>(
    objects: impl Iterator<Item = &'o &'a ObjectDigest>,
) -> FxHashSet<&'a str> {
    let symbols = objects.flat_map(|object| &object.symbols);
    let names = symbols.map(|symbol| symbol.name.as_str());
    let parts = names.map(|name| (name, function_of(name)));
    parts
        .filter(|(name, function)| name != function)
        .map(|(_, function)| function)
        .collect()
}

/// What became of the items of Rust, which may have moved within their crate.
fn items_of<'a>(
    before: &[&'a ObjectDigest],
    after: &[&'a ObjectDigest],
    partners: &[Option<usize>],
) -> Items<'a> {
    let mut after: Vec<Compared<'a>> = after.iter().map(|object| (*object, false)).collect();
    let mut compared = Vec::new();
    for (object, partner) in before.iter().zip(partners) {
        let partner = partner.map(|partner| &mut after[partner]);
        let is_same = partner.is_some_and(|(other, is_same)| {
            *is_same = pairing::fingerprint(object) == pairing::fingerprint(other);
            *is_same
        });
        compared.push((*object, is_same));
    }
    items::items(&compared, &after)
}

/// The lists of a binary that differ, each made of what its objects add to it in their order.
fn differing_lists<'a>(
    before: &[&'a ObjectDigest],
    after: &[&'a ObjectDigest],
) -> BTreeSet<&'a str> {
    let whole = |objects: &[&'a ObjectDigest]| {
        let mut lists: BTreeMap<&'a str, Digest> = BTreeMap::new();
        for list in objects.iter().flat_map(|object| &object.lists) {
            lists.entry(&list.name).or_default().absorb(list.digest);
        }
        lists
    };
    let (before, after) = (whole(before), whole(after));
    let names = before.keys().chain(after.keys()).copied();
    names
        .filter(|name| before.get(name) != after.get(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_a_crate_counts_if_any_of_the_crate_does() {
        let object = |unit: &str, counters: u64| ObjectDigest {
            unit: unit.to_owned(),
            symbols: vec![Symbol {
                name: "f".to_owned(),
                is_own: false,
                is_code: true,
                counters,
                digest: 1,
                mentions: crate::digest::Names::default(),
            }],
            ..ObjectDigest::default()
        };
        let objects = [
            object("own", 0),
            object("own", 7),
            object("std", 0),
            object("", 0),
            object("", 7),
        ];
        let objects: Vec<&ObjectDigest> = objects.iter().collect();
        assert_eq!(
            compiled_to_count(&objects),
            [true, true, false, false, true]
        );
    }
}
