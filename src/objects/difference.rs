//! What differs between the binaries of two builds, and which functions that affects.
//!
//! Executed functions are known from traces, so a difference is followed through data only: a function is affected if its own
//! code differs, or if it mentions, directly or through data that mention data, something that differs, came or went.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Contents;
use super::pairing::{self, Change};
use super::reach::{self, Tainted, View};
use super::readable::readable;
use super::recounted::recounted;
use crate::digest::Name;

/// What differs between two builds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectDifference {
    pub binaries: BTreeMap<String, BinaryDifference>,
}

/// What differs in one binary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BinaryDifference {
    /// Why everybody who runs the binary may notice.
    pub everybody: Option<String>,
    /// What differs, came or went.
    pub symbols: BTreeMap<String, Change>,
    /// Functions that do something else, or may, each with the reason.
    pub affected: BTreeMap<String, String>,
    /// Those of them that do not tell when they are executed, all or some under the name.
    pub uncounted: BTreeSet<String>,
    /// Data that differ, and names that came or went: whoever loads it can see them.
    pub exported: BTreeSet<String>,
    /// Functions whose code is made of other functions than before, whether it differs or not; nothing, if that is not known.
    pub recounted: Option<BTreeSet<String>>,
    /// Something that was not compiled from C differs, or uses what does, or it is linked in another way: who knows C alone cannot
    /// say what that does.
    pub is_foreign: bool,
    /// The sources of the objects that differ, without their folders.
    pub sources: BTreeSet<String>,
}

/// Why a test is not certified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    pub binary: String,
    /// Nothing, if everybody who runs the binary is affected.
    pub function: Option<String>,
    pub why: String,
}

impl ObjectDifference {
    /// Whether nothing that a test executed differs, given the binaries that it ran or loaded, and which functions of each it may
    /// have executed: all that would not have told.
    pub fn certify<'b>(
        &self,
        binaries: impl IntoIterator<Item = &'b str>,
        may_have_executed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<(), Affected> {
        for binary in binaries {
            let affected = |function: Option<&str>, why: &str| Affected {
                binary: binary.to_owned(),
                function: function.map(str::to_owned),
                why: why.to_owned(),
            };
            let Some(difference) = self.binaries.get(binary) else {
                return Err(affected(None, "it is in neither build"));
            };
            if let Some(why) = &difference.everybody {
                return Err(affected(None, why));
            }
            let mut all = difference.affected.iter();
            let may_have_executed = |function: &str| {
                difference.uncounted.contains(function) || may_have_executed(binary, function)
            };
            if let Some((function, why)) = all.find(|(function, _)| may_have_executed(function)) {
                return Err(affected(Some(function), why));
            }
        }
        Ok(())
    }

    /// Whether something that was not compiled from C differs, or uses what does.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.binaries.values().any(|binary| binary.is_foreign)
    }

    /// The sources, without their folders, of the objects that differ.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let sources = self.binaries.values().flat_map(|binary| &binary.sources);
        sources.map(String::as_str)
    }

    /// Whether the two builds are the same to every test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut binaries = self.binaries.values();
        binaries.all(|binary| binary.everybody.is_none() && binary.affected.is_empty())
    }
}

/// Compares two builds. `is_library_name` tells whether libraries outside of the build may call a function by this name.
#[must_use]
pub fn difference(
    before: &Contents,
    after: &Contents,
    is_library_name: &dyn Fn(&str) -> bool,
) -> ObjectDifference {
    let names: BTreeSet<&String> = before
        .binaries
        .keys()
        .chain(after.binaries.keys())
        .collect();
    let mut found = ObjectDifference::default();
    let mut views = Vec::new();
    for name in names {
        let mut difference = BinaryDifference::default();
        match (before.binaries.get(name), after.binaries.get(name)) {
            (Some(old), Some(new)) => {
                let objects = [before.objects_of(old), after.objects_of(new)];
                let pairs = pairing::pair(&objects[0], &objects[1]);
                let [old_objects, new_objects] = &objects;
                difference.recounted = recounted((old, old_objects), (new, new_objects), &pairs);
                views.push(View::of(name, [old, new], objects, pairs, &mut difference));
            }
            (None, _) => difference.everybody = Some("it is new".to_owned()),
            (_, None) => difference.everybody = Some("it is gone".to_owned()),
        }
        found.binaries.insert(name.clone(), difference);
    }
    let somebody_looks_up = before.binaries.values().any(|binary| binary.looks_up);
    let mentioned = mentioned(before);
    let mut shared = Tainted::new();
    for view in &views {
        let seen = view.exported_taint();
        shared.extend(seen.map(|(hash, name)| (hash, name.to_owned())));
    }
    reach::spread(&mut views, &mut shared);
    for view in &views {
        let Some(difference) = found.binaries.get_mut(view.name) else {
            continue;
        };
        for (hash, name) in view.exported_taint() {
            // Who finds it by a name in a text, or is outside of the build, cannot be seen.
            if somebody_looks_up
                || is_library_name(name)
                || !mentioned.contains(&hash) && view.is_data(name)
            {
                let name = readable(name);
                difference.blame_everybody(format!("others may use '{name}', which differs"));
            }
            // Who loads a library can ask for a name, too.
            let change = difference.symbols.get(name);
            let comes_or_goes = change.is_some_and(|change| *change != Change::Changed);
            if view.is_data(name) || comes_or_goes {
                difference.exported.insert(name.to_owned());
            }
        }
        view.add_affected(&shared, difference);
    }
    found
}

/// All names that code or data of a build mention.
fn mentioned(contents: &Contents) -> BTreeSet<Name> {
    let symbols = contents.objects.iter().flat_map(|object| &object.symbols);
    symbols.flat_map(|symbol| symbol.mentions.iter()).collect()
}

impl BinaryDifference {
    pub(super) fn blame_everybody(&mut self, why: String) {
        self.everybody.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Names;
    use crate::objects::{BinaryDigest, ObjectDigest, Symbol};

    fn symbol(name: &str, digest: u64, mentions: &[&str]) -> Symbol {
        let mentions = mentions.iter().map(|name| Name::of(name.as_bytes()));
        Symbol {
            name: name.to_owned(),
            is_own: false,
            is_code: !name.starts_with("data"),
            counters: 1,
            digest,
            mentions: mentions.collect(),
        }
    }

    fn build(binaries: &[(&str, &[Symbol], &[&str])]) -> Contents {
        let mut contents = Contents::new();
        for (name, symbols, exports) in binaries {
            let number = contents.objects.len() as u32;
            contents.objects.push(ObjectDigest {
                symbols: symbols.to_vec(),
                ..ObjectDigest::default()
            });
            let exports = exports.iter().map(|name| (Name::of(name.as_bytes()), 1));
            let whole = pairing::fingerprint(&contents.objects[number as usize]);
            let binary = BinaryDigest {
                whole,
                objects: vec![number],
                exports: exports.collect(),
                ..BinaryDigest::default()
            };
            contents.binaries.insert((*name).to_owned(), binary);
        }
        contents
    }

    fn affected(difference: &ObjectDifference, binary: &str) -> Vec<String> {
        let difference = &difference.binaries[binary];
        assert_eq!(difference.everybody, None);
        difference.affected.keys().cloned().collect()
    }

    fn library(number: u64) -> [Symbol; 3] {
        [
            symbol("data_far", number, &[]),
            symbol("data_near", 7, &["data_far"]),
            symbol("inside", 8, &["data_far"]),
        ]
    }

    #[test]
    fn exported_data_reach_other_binaries_and_hidden_data_do_not() {
        let program = [
            symbol("uses", 1, &["data_near"]),
            symbol("main", 2, &["uses"]),
        ];
        let made = |number, exports| {
            build(&[
                ("library", &library(number), exports),
                ("program", &program, &[]),
            ])
        };
        let exports: &[&str] = &["data_near"];
        let found = difference(&made(1, exports), &made(2, exports), &|_| false);
        assert_eq!(affected(&found, "library"), ["inside"]);
        assert_eq!(affected(&found, "program"), ["uses"]);
        let found = difference(&made(1, &[]), &made(2, &[]), &|_| false);
        assert_eq!(affected(&found, "library"), ["inside"]);
        assert_eq!(affected(&found, "program"), [""; 0]);
    }

    #[test]
    fn data_that_somebody_may_look_up_are_everybodys() {
        let made = |number, looks_up| {
            let mut contents = build(&[("library", &library(number), &["data_far"])]);
            if let Some(binary) = contents.binaries.get_mut("library") {
                binary.looks_up = looks_up;
            }
            contents
        };
        let found = difference(&made(1, false), &made(2, false), &|_| false);
        assert_eq!(affected(&found, "library"), ["inside"]);
        let found = difference(&made(1, true), &made(2, true), &|_| false);
        assert!(found.binaries["library"].everybody.is_some());
    }

    #[test]
    fn a_new_name_that_libraries_call_is_everybodys() {
        let before = build(&[("program", &[symbol("main", 1, &[])], &[])]);
        let symbols = [symbol("main", 1, &[]), symbol("malloc", 2, &[])];
        let after = build(&[("program", &symbols, &["malloc"])]);
        let found = difference(&before, &after, &|name| name == "malloc");
        assert!(found.binaries["program"].everybody.is_some());
        assert!(difference(&before, &after, &|_| false).is_empty());
    }

    #[test]
    fn a_binary_that_cannot_be_read_is_reached_by_the_names_it_imports() {
        let made = |number, imports: &str| {
            let symbols = [
                symbol("data_far", number, &[]),
                symbol("f", 1, &["data_far"]),
            ];
            let mut contents = build(&[("library", &symbols, &["data_far"])]);
            let binary = BinaryDigest {
                imports: Names::new(vec![Name::of(imports.as_bytes())]),
                opaque: Some("nobody saw how it was linked".to_owned()),
                ..BinaryDigest::default()
            };
            contents.binaries.insert("stranger".to_owned(), binary);
            contents
        };
        let found = difference(&made(1, "data_far"), &made(2, "data_far"), &|_| false);
        assert!(found.binaries["stranger"].everybody.is_some());
        let found = difference(&made(1, "other"), &made(2, "other"), &|_| false);
        assert_eq!(affected(&found, "stranger"), [""; 0]);
    }

    #[test]
    fn code_without_counters_is_left_to_who_mentions_it() {
        let made = |number, is_mentioned: bool| {
            let mut symbols = [
                symbol("_Rderived", number, &[]),
                symbol("_Radapter", 1, &["_Rderived"]),
                symbol("uses", 2, if is_mentioned { &["_Radapter"] } else { &[] }),
                symbol("other", 3, &[]),
            ];
            for uncounted in &mut symbols[..2] {
                uncounted.counters = 0;
            }
            build(&[("program", &symbols, &[])])
        };
        let found = difference(&made(1, true), &made(2, true), &|_| false);
        assert_eq!(affected(&found, "program"), ["uses"]);
        assert!(found.binaries["program"].uncounted.is_empty());
        // Of code that nobody mentions, nobody knows who executes it.
        let found = difference(&made(1, false), &made(2, false), &|_| false);
        assert_eq!(affected(&found, "program"), ["_Radapter"]);
        assert!(found.binaries["program"].uncounted.contains("_Radapter"));
    }

    #[test]
    fn code_that_people_keep_from_counting_is_not_left_to_who_mentions_it() {
        let made = |number| {
            let mut symbols = [symbol("quiet", number, &[]), symbol("uses", 2, &["quiet"])];
            symbols[0].counters = 0;
            build(&[("program", &symbols, &[])])
        };
        let found = difference(&made(1), &made(2), &|_| false);
        assert!(found.binaries["program"].uncounted.contains("quiet"));
    }

    #[test]
    fn exported_data_that_mention_what_differs_are_asked_for_as_those_that_differ() {
        let made = |number| {
            let symbols = [
                symbol("data_text", number, &[]),
                symbol("data_table", 1, &["data_text"]),
                symbol("main", 2, &[]),
            ];
            build(&[("program", &symbols, &["data_table"])])
        };
        let found = difference(&made(1), &made(2), &|_| false);
        let program = &found.binaries["program"];
        assert!(program.everybody.is_some() && program.exported.contains("data_table"));
    }

    #[test]
    fn what_runs_at_load_and_has_no_name_is_affected_by_what_it_mentions() {
        let made = |number| {
            let symbols = [symbol("data_x", number, &[]), symbol("main", 2, &[])];
            let mut contents = build(&[("program", &symbols, &[])]);
            let at_load = &mut contents.objects[0].at_load;
            at_load.mentions = Names::new(vec![Name::of(b"data_x")]);
            contents
        };
        let found = difference(&made(1), &made(2), &|_| false);
        assert!(found.binaries["program"].everybody.is_some());
    }

    #[test]
    fn who_looks_at_all_memory_is_affected_by_any_difference() {
        let made = |number| {
            let symbols = [symbol("scan", 1, &["_end"]), symbol("f", number, &[])];
            build(&[("program", &symbols, &[])])
        };
        let found = difference(&made(1), &made(2), &|_| false);
        assert_eq!(affected(&found, "program"), ["f", "scan"]);
    }

    #[test]
    fn a_wrapped_name_is_followed() {
        let made = |number| {
            let symbols = [
                symbol("data_x", number, &[]),
                symbol("uses", 1, &["__real_data_x"]),
            ];
            build(&[("program", &symbols, &[])])
        };
        let found = difference(&made(1), &made(2), &|_| false);
        assert_eq!(affected(&found, "program"), ["uses"]);
    }
}
