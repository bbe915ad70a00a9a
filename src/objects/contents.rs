//! What the binaries of a build are made of: the objects that each was linked from, and what only the linked file shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::elf::{self, Entry, ForLoader, Place};
use super::linked::{Linked, ObjectKey};
use super::pairing::fingerprint;
use super::{ObjectDigest, Opaque, naming};
use crate::digest::{self, Digest, Name, Names};

/// What all binaries of a build hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Each object once, however many binaries it is in.
    pub objects: Vec<ObjectDigest>,
    pub binaries: BTreeMap<String, BinaryDigest>,
    /// Objects by the digest of their bytes.
    #[serde(skip)]
    known: FxHashMap<ObjectKey, Result<u32, Opaque>>,
    /// The numbers of the objects that may be the same.
    #[serde(skip)]
    alike: FxHashMap<u64, Vec<u32>>,
    /// The objects that the system brought along, by their numbers; known only while the build is.
    #[serde(skip)]
    brought: BTreeSet<u32>,
    /// Where the build stands, which another build of the same does not.
    #[serde(skip)]
    place: Vec<u8>,
}

/// What a linked binary holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinaryDigest {
    /// Over all that is loaded: two binaries that agree in it are the same.
    pub whole: u64,
    /// In the linker's order, as numbers of objects of the build.
    pub objects: Vec<u32>,
    /// What everybody who runs the binary meets, under its name in words.
    pub remainder: BTreeMap<String, u64>,
    /// The names that other binaries can see, each with a digest of how it is seen.
    pub exports: BTreeMap<Name, u64>,
    /// The names that it wants of other binaries, where more is not known of what it mentions.
    pub imports: Names,
    /// It may find symbols by names that it makes up.
    pub looks_up: bool,
    /// It can be started, and is not only loaded.
    pub is_program: bool,
    /// Why its objects are not known.
    pub opaque: Option<String>,
}

impl Contents {
    /// The objects that a binary was linked from.
    pub(super) fn objects_of(&self, binary: &BinaryDigest) -> Vec<&ObjectDigest> {
        let numbers = binary.objects.iter();
        numbers
            .filter_map(|number| self.objects.get(*number as usize))
            .collect()
    }

    /// All objects, and of each whether the system brought it along.
    pub fn objects_by_origin(&self) -> impl Iterator<Item = (&ObjectDigest, bool)> {
        let objects = self.objects.iter().zip(0..);
        objects.map(|(object, number)| (object, self.brought.contains(&number)))
    }

    /// The symbols of a binary that are defined by nothing but what the system, or rustc, brought along.
    #[must_use]
    pub fn brought_into(&self, binary: &str) -> BTreeSet<&str> {
        let numbers = self.binaries.get(binary).into_iter();
        let numbers = numbers.flat_map(|binary| &binary.objects);
        let symbols = numbers.flat_map(|number| {
            let is_brought = self.brought.contains(number);
            let object = self.objects.get(*number as usize).into_iter();
            object.flat_map(move |object| {
                let symbols = object.symbols.iter().map(|symbol| symbol.name.as_str());
                // In front of the `main` of a crate rustc puts one of its own, as C has it.
                symbols.map(move |name| (name, is_brought || is_crate(object) && name == "main"))
            })
        });
        let (mut brought, mut own) = (BTreeSet::new(), FxHashSet::default());
        for (name, is_brought) in symbols {
            match is_brought {
                true => brought.insert(name),
                false => own.insert(name),
            };
        }
        brought.retain(|name| !own.contains(name));
        brought
    }

    /// The binaries that define each of some functions.
    #[must_use]
    pub fn defining<'c>(
        &'c self,
        functions: &BTreeSet<&'c str>,
    ) -> BTreeMap<&'c str, BTreeSet<&'c str>> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, binary) in &self.binaries {
            let objects = self.objects_of(binary).into_iter();
            for symbol in objects.flat_map(|object| &object.symbols) {
                if let Some(function) = functions.get(symbol.name.as_str()) {
                    found.entry(function).or_default().insert(name);
                }
            }
        }
        found
    }

    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For binaries that were built below a folder: what they ask of it, another build asks of its own.
    #[must_use]
    pub fn built_in(folder: &Path) -> Self {
        Self {
            place: folder.as_os_str().as_encoded_bytes().to_vec(),
            ..Self::default()
        }
    }

    /// Adds a binary under a name by which the other build calls it, too.
    ///
    /// `object` answers what is known of an object that went into a link.
    pub fn add(
        &mut self,
        name: &str,
        bytes: &[u8],
        linked: Option<&Linked>,
        object: &mut dyn FnMut(ObjectKey) -> Option<Result<ObjectDigest, Opaque>>,
    ) {
        let mut binary = BinaryDigest::default();
        match self.describe(&mut binary, bytes, linked, object) {
            Ok(()) => binary.imports = Names::default(),
            Err(why) => {
                binary.opaque = Some(why.to_string());
                binary.objects.clear();
            }
        }
        self.binaries.insert(name.to_owned(), binary);
    }

    fn describe(
        &mut self,
        binary: &mut BinaryDigest,
        bytes: &[u8],
        linked: Option<&Linked>,
        object: &mut dyn FnMut(ObjectKey) -> Option<Result<ObjectDigest, Opaque>>,
    ) -> Result<(), Opaque> {
        // For files of another kind this is all that will be known.
        binary.whole = digest::bytes(bytes);
        let elf = elf::read(bytes)?;
        binary.whole = whole(&elf);
        let for_loader = elf::for_loader(bytes)?;
        binary.exports = exports(&for_loader);
        binary.imports = imports(&for_loader);
        binary.looks_up = looks_up(&for_loader);
        // Who needs no loader is a program at a fixed place.
        binary.is_program = !for_loader.interpreter.is_empty() || for_loader.kind == 2;
        let asked = asked_of_loader(&for_loader, &self.place);
        binary.whole ^= asked;
        binary
            .remainder
            .insert("what it asks of its loader".to_owned(), asked);
        let linked = linked.ok_or_else(|| Opaque::new("nobody saw how it was linked"))?;
        if linked.made != whole(&elf) {
            return Err(Opaque::new("it was changed after it was linked"));
        }
        if let Some(why) = &linked.opaque {
            return Err(Opaque::new(why));
        }
        if linked.has_script {
            return Err(Opaque::new("it was linked by a script of its own"));
        }
        let mut options = linked.options.iter();
        if options.any(|option| option.starts_with("--defsym")) {
            return Err(Opaque::new("its linker was told what some names mean"));
        }
        let mut options = Digest::new();
        for option in &linked.options {
            options.absorb_bytes(option.as_bytes());
        }
        for text in &linked.texts {
            options.absorb(*text);
        }
        binary
            .remainder
            .insert("the options of its linker".to_owned(), options.finish());
        for key in &linked.objects {
            let number = self.object(*key, object)?;
            binary.objects.push(number);
            if linked.brought.contains(key) {
                self.brought.insert(number);
            }
        }
        self.add_common_remainder(binary);
        self.keep_defined_exports(binary);
        self.check_complete(binary, &elf)
    }

    fn object(
        &mut self,
        key: ObjectKey,
        object: &mut dyn FnMut(ObjectKey) -> Option<Result<ObjectDigest, Opaque>>,
    ) -> Result<u32, Opaque> {
        let objects = &mut self.objects;
        let alike = &mut self.alike;
        let add = || {
            let gone = || Err(Opaque::new("an object that went into it is not known"));
            let object = object(key).unwrap_or_else(gone)?;
            let alike = alike.entry(fingerprint(&object)).or_default();
            let mut numbers = alike.iter().copied();
            let same = numbers.find(|number| objects[*number as usize] == object);
            Ok(same.unwrap_or_else(|| {
                let number = objects.len() as u32;
                objects.push(object);
                alike.push(number);
                number
            }))
        };
        self.known.entry(key).or_insert_with(add).clone()
    }

    /// What all objects of a binary together add to what everybody meets.
    fn add_common_remainder(&self, binary: &mut BinaryDigest) {
        let objects = || {
            binary
                .objects
                .iter()
                .map(|number| &self.objects[*number as usize])
        };
        let mut at_load = Digest::new();
        // Functions run in the order of the objects; an object without any may be anywhere.
        for object in objects().filter(|object| object.at_load.digest != 0) {
            at_load.absorb(object.at_load.digest);
        }
        let mut nameless: Vec<u64> = objects().map(|object| object.remainder).collect();
        nameless.retain(|digest| *digest != 0);
        nameless.sort_unstable();
        let mut remainder = Digest::new();
        for digest in nameless {
            remainder.absorb(digest);
        }
        let mut definitions: FxHashMap<&str, Vec<u64>> = FxHashMap::default();
        for object in objects() {
            for symbol in object.symbols.iter().filter(|symbol| !symbol.is_own) {
                definitions
                    .entry(&symbol.name)
                    .or_default()
                    .push(symbol.digest);
            }
        }
        // Of several definitions the linker may take the first, so here their order counts.
        definitions.retain(|_, digests| digests.iter().any(|digest| *digest != digests[0]));
        let definitions: BTreeMap<&str, Vec<u64>> = definitions.into_iter().collect();
        let mut several = Digest::new();
        for (name, digests) in definitions {
            several.absorb_bytes(name.as_bytes());
            for digest in digests {
                several.absorb(digest);
            }
        }
        for (what, digest) in [
            ("what runs when it is loaded", at_load),
            ("data without a name", remainder),
            ("names with several definitions", several),
        ] {
            binary.remainder.insert(what.to_owned(), digest.finish());
        }
    }

    /// Takes out what no object defines: copies that the linker made of a library's variables, and marks of its own.
    fn keep_defined_exports(&self, binary: &mut BinaryDigest) {
        if binary.exports.is_empty() {
            return;
        }
        let mut defined = FxHashSet::default();
        for number in &binary.objects {
            let symbols = self.objects[*number as usize].symbols.iter();
            let seen = symbols.filter(|symbol| !symbol.is_own);
            defined.extend(seen.map(|symbol| Name::of(symbol.name.as_bytes())));
        }
        binary.exports.retain(|name, _| defined.contains(name));
    }

    /// Whether the objects explain the binary: each function in it must be one of theirs.
    fn check_complete(&self, binary: &BinaryDigest, elf: &elf::Elf<'_>) -> Result<(), Opaque> {
        let mut known: FxHashSet<&str> = FxHashSet::default();
        for number in &binary.objects {
            for symbol in &self.objects[*number as usize].symbols {
                known.insert(naming::function_of(&symbol.name));
            }
        }
        for symbol in &elf.symbols {
            let is_defined = matches!(symbol.place, Place::In(_));
            if is_defined
                && symbol.is_function()
                && !super::instrumentation::is_counting(symbol.name)
                && !super::instrumentation::is_announcing(symbol.name)
                && !known.contains(naming::function_of(symbol.name))
            {
                return Err(Opaque::new(format!(
                    "it holds '{}', which none of its objects defines",
                    symbol.name
                )));
            }
        }
        Ok(())
    }
}

/// Whether rustc made an object of a crate: nothing else is in it.
fn is_crate(object: &ObjectDigest) -> bool {
    !object.unit.is_empty()
}

/// Over everything of a binary that is loaded; zero, if it cannot be read.
pub(super) fn loaded(bytes: &[u8]) -> u64 {
    elf::read(bytes).map_or(0, |elf| whole(&elf))
}

/// Over everything that is loaded, but the build id.
fn whole(linked: &elf::Elf<'_>) -> u64 {
    let mut digest = Digest::new();
    digest.absorb(linked.entry);
    for section in linked.sections.iter().filter(|section| section.is_loaded()) {
        if section.name == ".note.gnu.build-id" {
            continue;
        }
        digest.absorb_bytes(section.name.as_bytes());
        digest.absorb(section.flags);
        digest.absorb(section.size);
        digest.absorb_bytes(section.data);
    }
    digest.finish()
}

fn is_exported(symbol: &elf::Symbol<'_>) -> bool {
    symbol.place != Place::Undefined && !symbol.is_local()
}

fn exports(for_loader: &ForLoader<'_>) -> BTreeMap<Name, u64> {
    let mut lines: Vec<(&str, u64)> = Vec::new();
    for dynamic in &for_loader.symbols {
        let symbol = &dynamic.symbol;
        if is_exported(symbol) {
            let mut line = Digest::new();
            line.absorb_bytes(dynamic.version);
            line.absorb(u64::from(symbol.binding));
            line.absorb(u64::from(symbol.kind));
            line.absorb(u64::from(symbol.visibility));
            lines.push((symbol.name, line.finish()));
        }
    }
    // A name may be there in several versions; the order of the table is the linker's business.
    lines.sort_unstable();
    let mut exports: BTreeMap<Name, Digest> = BTreeMap::new();
    for (name, line) in lines {
        let name = Name::of(name.as_bytes());
        exports.entry(name).or_default().absorb(line);
    }
    let digests = exports.into_iter();
    digests
        .map(|(name, digest)| (name, digest.finish()))
        .collect()
}

fn imports(for_loader: &ForLoader<'_>) -> Names {
    let symbols = for_loader.symbols.iter().map(|dynamic| &dynamic.symbol);
    symbols
        .filter(|symbol| symbol.place == Place::Undefined)
        .map(|symbol| Name::of(symbol.name.as_bytes()))
        .collect()
}

/// Functions that find symbols by their names.
const LOOK_UP: [&str; 3] = ["dlsym", "dlvsym", "dlinfo"];

fn looks_up(for_loader: &ForLoader<'_>) -> bool {
    let mut symbols = for_loader.symbols.iter();
    symbols.any(|dynamic| LOOK_UP.contains(&dynamic.symbol.name))
}

fn asked_of_loader(for_loader: &ForLoader<'_>, place: &[u8]) -> u64 {
    let mut asked = Digest::new();
    asked.absorb_bytes(for_loader.interpreter);
    asked.absorb(u64::from(for_loader.has_executable_stack));
    asked.absorb(u64::from(for_loader.kind));
    for (tag, entry) in &for_loader.entries {
        asked.absorb(*tag);
        match entry {
            Entry::Text(text) => asked.absorb_bytes(&without_place(text, place)),
            Entry::Number(number) => asked.absorb(*number),
        }
    }
    asked.finish()
}

/// A list of paths, those below a place by where they lie in it.
fn without_place(text: &[u8], place: &[u8]) -> Vec<u8> {
    let paths = text.split(|byte| *byte == b':').map(|path| {
        let inside = path.strip_prefix(place).filter(|_| !place.is_empty());
        let is_below = |inside: &&[u8]| {
            let mut parts = inside.split(|byte| *byte == b'/');
            // What goes up again may be anywhere.
            parts.next() == Some(b"") && parts.all(|part| part != b"..")
        };
        match inside.filter(is_below) {
            // No path begins so that a loader could be given.
            Some(inside) => [b"\0", inside].concat(),
            None => path.to_vec(),
        }
    });
    paths.collect::<Vec<_>>().join(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_place_of_a_build_lose_it() {
        let without = |text: &str| without_place(text.as_bytes(), b"/r/build");
        assert_eq!(
            without("/r/build/lib:/r/build:/usr/lib"),
            b"\0/lib:\0:/usr/lib"
        );
        assert_eq!(
            without("/r/builder/lib:$ORIGIN/r/build"),
            b"/r/builder/lib:$ORIGIN/r/build"
        );
        assert_eq!(without("/r/build/../lib"), b"/r/build/../lib");
        assert_eq!(without("libx.so.1"), b"libx.so.1");
        assert_eq!(without_place(b"/lib:", b""), b"/lib:");
    }
}
