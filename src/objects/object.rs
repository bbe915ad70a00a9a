//! One relocatable object: a digest for each of its symbols, and for what no symbol stands for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::content::Content;
use super::counters::Counters;
use super::elf::{self, Place, Purpose};
use super::harness::Harness;
use super::layout::{Layout, Role, Target};
use super::naming;
use super::{Opaque, instrumentation};
use crate::digest::{self, Digest, Names};

/// What an object holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectDigest {
    /// In the order of their names. Several may have one name.
    pub symbols: Vec<Symbol>,
    /// Sections that a program finds by `__start_NAME` and `__stop_NAME`.
    pub lists: Vec<List>,
    /// What runs when a binary with the object is loaded or left.
    pub at_load: AtLoad,
    /// Over what is loaded and has no name, and nothing with a name points to it; zero, if there is nothing of the kind.
    pub remainder: u64,
    /// The source that the compiler named, without its folder; empty, if none.
    pub source: String,
    /// The crate, where a compiler makes several objects of what it compiles at once; otherwise empty.
    pub unit: String,
    /// It was compiled from C by our compilers, as far as it tells: it counts, or it holds data alone and names a source of C.
    pub is_of_c: bool,
}

impl ObjectDigest {
    /// Whether some of its functions count.
    #[must_use]
    pub(super) fn counts(&self) -> bool {
        self.symbols.iter().any(Symbol::counts)
    }

    /// Its functions that do not tell when they are executed; none of what we link in ourselves.
    pub fn silent(&self) -> impl Iterator<Item = &str> {
        let is_ours = |symbol: &Symbol| instrumentation::is_ours(&symbol.name);
        let symbols = match self.symbols.iter().any(is_ours) {
            true => &[][..],
            false => &self.symbols,
        };
        let mut counting: BTreeMap<&str, bool> = BTreeMap::new();
        for symbol in symbols.iter().filter(|symbol| symbol.is_code) {
            // Parts of a function are entered through it.
            *counting
                .entry(naming::function_of(&symbol.name))
                .or_default() |= symbol.counts();
        }
        let silent = counting.into_iter().filter(|(_, counts)| !counts);
        silent.map(|(function, _)| function)
    }
}

/// A function or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: String,
    /// Only this object sees it.
    pub is_own: bool,
    pub is_code: bool,
    /// Over the counters that it increments, and where; zero, if it does not tell when it is executed.
    pub counters: u64,
    pub digest: u64,
    /// Data and other objects' symbols that it mentions, directly or through data without names.
    pub mentions: Names,
}

impl Symbol {
    /// Whether it tells when it is executed.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.counters != 0
    }

    pub(super) fn order(&self) -> (&str, bool, u64) {
        (&self.name, self.is_own, self.digest)
    }
}

/// What one object adds to a section that is found by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    pub name: String,
    pub digest: u64,
    pub mentions: Names,
}

/// What runs when a binary is loaded or left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtLoad {
    /// Over the tables of functions, in their order; zero, if there are none.
    pub digest: u64,
    pub functions: BTreeSet<String>,
    /// What the tables mention, and code in them or behind them that has no name.
    pub mentions: Names,
}

/// Reads a relocatable object; what cannot be understood is not guessed.
pub fn digest(bytes: &[u8]) -> Result<ObjectDigest, Opaque> {
    let elf = elf::read(bytes)?;
    if elf.purpose != Purpose::Relocatable {
        return Err(Opaque::new("it is not a relocatable object"));
    }
    let layout = Layout::of(elf)?;
    let called = naming::names(&layout)?;
    let mut content = Content::new(&layout, &called);
    let counters = Counters::of(&layout);
    let mut object = ObjectDigest::default();
    let harness = Harness::find(&layout);
    if let Some(harness) = &harness {
        object.symbols = harness.symbols(&mut content)?;
    }
    for (number, symbol) in layout.elf.symbols.iter().enumerate() {
        let section = match symbol.place {
            Place::Undefined => continue,
            Place::Absolute | Place::Common => None,
            Place::In(section) => Some(section),
        };
        let role = section.map_or(Role::Program, |section| layout.roles[section]);
        // Code may use where something stands in a section that is not loaded, and nothing else of it.
        let is_number = section.is_some_and(|section| !layout.elf.sections[section].is_loaded());
        if symbol.is_label()
            || symbol.is_section()
            || symbol.is_file()
            || role == Role::Counting
            || instrumentation::is_counting(symbol.name)
            // A name at the end of an empty section still has a meaning, for instance as the end of a list.
            || role == Role::Beside && symbol.is_local()
        {
            continue;
        }
        let is_code_section = section.is_some_and(|section| layout.elf.sections[section].is_code());
        let mentions = match section {
            Some(section) if !is_number && !layout.elf.sections[section].is_merged() => {
                content.section(section)?.mentions
            }
            _ => Vec::new(),
        };
        // Its rows are symbols of their own.
        let is_main = section.is_some() && section == harness.as_ref().map(|harness| harness.main);
        let name = called.get(&number).map(|called| called.name.clone());
        object.symbols.push(Symbol {
            name: name.unwrap_or_else(|| symbol.name.to_owned()),
            is_own: symbol.is_local(),
            is_code: symbol.is_function() || is_code_section && !symbol.is_object(),
            counters: counters.incremented_by(number),
            digest: match is_main {
                true => 0,
                false if is_number => digest::bytes(&symbol.value.to_le_bytes()),
                false => content.symbol(number)?,
            },
            mentions: match section {
                Some(main) if is_main => Harness::mentions(&layout, main),
                _ => Names::new(mentions),
            },
        });
        if symbol.is_chosen_at_load() {
            object.at_load.functions.insert(symbol.name.to_owned());
        }
    }
    object
        .symbols
        .sort_by(|one, other| one.order().cmp(&other.order()));
    add_what_runs_at_load(&layout, &mut content, &mut object.at_load)?;
    add_lists(&layout, &mut content, &mut object.lists)?;
    object.remainder = remainder(&layout, &mut content)?;
    let mut files = layout.elf.symbols.iter().filter(|symbol| symbol.is_file());
    let path = files.next().map_or("", |file| file.name);
    object.source = path.rsplit('/').next().unwrap_or(path).to_owned();
    let holds_code = object.symbols.iter().any(|symbol| symbol.is_code);
    object.is_of_c = !holds_code && path.ends_with(".c") || is_counting_for_c(&object);
    Ok(object)
}

/// Whether it counts, and not for another language that is no C.
fn is_counting_for_c(object: &ObjectDigest) -> bool {
    let symbols = || object.symbols.iter();
    object.counts() && !symbols().any(|symbol| naming::is_mangled(&symbol.name))
}

fn add_what_runs_at_load(
    layout: &Layout<'_>,
    content: &mut Content<'_, '_>,
    at_load: &mut AtLoad,
) -> Result<(), Opaque> {
    let mut digest = Digest::new();
    let mut is_anything = false;
    let mut mentions = Vec::new();
    for (number, section) in layout.elf.sections.iter().enumerate() {
        if layout.roles[number] != Role::AtLoad {
            continue;
        }
        let targets = || section.relocations.iter().map(|one| layout.target(one).0);
        let is_counting =
            !section.relocations.is_empty() && targets().all(|target| target == Target::Counter);
        if is_counting {
            continue;
        }
        is_anything = true;
        digest.absorb_bytes(section.name.as_bytes());
        let held = content.section(number)?;
        digest.absorb(held.digest);
        mentions.extend(held.mentions);
        for target in targets() {
            if let Target::Global(symbol) | Target::Own(symbol) | Target::Within(symbol, _) = target
            {
                let name = layout.elf.symbols[symbol].name;
                at_load
                    .functions
                    .insert(naming::function_of(name).to_owned());
            }
        }
    }
    if is_anything {
        at_load.digest = digest.finish();
        at_load.mentions = Names::new(mentions);
    }
    Ok(())
}

/// Whether linkers make `__start_NAME` and `__stop_NAME` for a section.
fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn add_lists(
    layout: &Layout<'_>,
    content: &mut Content<'_, '_>,
    lists: &mut Vec<List>,
) -> Result<(), Opaque> {
    for (number, section) in layout.elf.sections.iter().enumerate() {
        if layout.roles[number] == Role::Program && is_identifier(section.name) {
            let held = content.section(number)?;
            lists.push(List {
                name: section.name.to_owned(),
                digest: held.digest,
                mentions: Names::new(held.mentions),
            });
        }
    }
    Ok(())
}

/// Whether a section is named after a label of the compiler's, as constants are that have no name: who does not point to it cannot
/// find it, and compilers leave some that nobody needs any more.
fn is_of_label(section: &str) -> bool {
    section.starts_with(".rodata..L") || section.starts_with(".data.rel.ro..L")
}

fn remainder(layout: &Layout<'_>, content: &mut Content<'_, '_>) -> Result<u64, Opaque> {
    let elsewhere = layout.counting_with_others();
    let mut digest = Digest::new();
    let mut is_anything = false;
    for (number, section) in layout.elf.sections.iter().enumerate() {
        // A merged constant that nobody points to cannot be found by anybody.
        if layout.roles[number] == Role::Program
            && layout.named[number].is_empty()
            && !section.is_merged()
            && !is_identifier(section.name)
            && !is_of_label(section.name)
            && !elsewhere.contains(&number)
        {
            is_anything = true;
            digest.absorb_bytes(section.name.as_bytes());
            digest.absorb(content.section(number)?.digest);
        }
    }
    Ok(if is_anything { digest.finish() } else { 0 })
}
