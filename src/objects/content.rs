//! Digests of what sections hold: bytes, and relocations with their targets by name, or by content where there is no name.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Opaque;
use super::counters::without_workshop;
use super::elf::Place;
use super::items::is_item;
use super::layout::{Layout, Target};
use super::naming::{self, Called};
use crate::digest::{Digest, Name};

/// Chains of nameless data that are longer than any compiler makes.
const DEEPEST: usize = 200;
/// So many visits of nameless data that only circles within circles explain them.
const MOST_VISITS: usize = 200_000;

/// The name by which a symbol is mentioned that only its own object sees. An item is the same wherever it is seen.
pub(super) fn own(name: &str) -> Name {
    if is_item(name) {
        return Name::of(name.as_bytes());
    }
    Name::of(format!("static {name}").as_bytes())
}

/// The path of a source without the place where the project was built, as `__FILE__` has it: two worktrees build the same code.
/// Any other text is told whole.
fn below_workshop(constant: &[u8]) -> &[u8] {
    let text = std::str::from_utf8(constant).unwrap_or_default();
    if !text.starts_with('/') {
        return constant;
    }
    let below = without_workshop(text);
    let is_path = |place: &str| place.ends_with('/') && !place.contains(char::is_whitespace);
    match text.strip_suffix(below) {
        Some(place) if is_path(place) => below.as_bytes(),
        _ => constant,
    }
}

/// What a section holds, and the names it mentions, directly or through nameless data.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) digest: u64,
    pub(super) mentions: Vec<Name>,
}

pub(super) struct Content<'l, 'a> {
    layout: &'l Layout<'a>,
    /// Nothing while names are still being found.
    called: Option<&'l FxHashMap<usize, Called>>,
    known: FxHashMap<usize, Held>,
    /// Nameless sections on the way from the first to the present one.
    way: Vec<usize>,
    /// The place on the way to which something led back.
    back_to: usize,
    visits: usize,
}

impl<'l, 'a> Content<'l, 'a> {
    /// With local symbols by their names without numbers: for finding better names.
    pub(super) fn shallow(layout: &'l Layout<'a>) -> Self {
        Content {
            layout,
            called: None,
            known: FxHashMap::default(),
            way: Vec::new(),
            back_to: usize::MAX,
            visits: 0,
        }
    }

    pub(super) fn new(layout: &'l Layout<'a>, called: &'l FxHashMap<usize, Called>) -> Self {
        Content {
            called: Some(called),
            ..Content::shallow(layout)
        }
    }

    /// The digest of a symbol's place and of all that its section holds.
    pub(super) fn symbol(&mut self, number: usize) -> Result<u64, Opaque> {
        let symbol = &self.layout.elf.symbols[number];
        let mut digest = Digest::new();
        let mut seen = [symbol.binding, symbol.visibility];
        // Whether other objects of its crate see an item, rustc decides by where they use it.
        if (symbol.is_local() || symbol.is_hidden()) && self.is_item(number) {
            seen = [0, 0];
        }
        for part in [
            u64::from(seen[0]),
            u64::from(symbol.kind),
            u64::from(seen[1]),
            symbol.size,
        ] {
            digest.absorb(part);
        }
        match symbol.place {
            Place::In(section) if self.layout.elf.sections[section].is_merged() => {
                let constant = self.layout.constant(section, symbol.value);
                let end = symbol.value.saturating_add(symbol.size) as usize;
                let rest = self.layout.elf.sections[section].data;
                digest.absorb_bytes(constant);
                digest.absorb_bytes(rest.get(symbol.value as usize..end).unwrap_or(rest));
            }
            Place::In(section) => {
                digest.absorb(symbol.value);
                digest.absorb(self.section(section)?.digest);
            }
            // The alignment of a common symbol, the value of an absolute one.
            Place::Common => digest.absorb(symbol.value ^ 1),
            Place::Absolute | Place::Undefined => digest.absorb(symbol.value),
        }
        Ok(digest.finish())
    }

    /// What a section holds.
    pub(super) fn section(&mut self, number: usize) -> Result<Held, Opaque> {
        if let Some(known) = self.known.get(&number) {
            return Ok(known.clone());
        }
        if let Some(place) = self.way.iter().position(|on_way| *on_way == number) {
            // A circle: said by how far back it leads, which is the same wherever the sections lie.
            self.back_to = self.back_to.min(place);
            let mut digest = Digest::new();
            digest.absorb_bytes(b"back");
            digest.absorb((self.way.len() - place) as u64);
            return Ok(Held {
                digest: digest.finish(),
                mentions: Vec::new(),
            });
        }
        self.visits += 1;
        if self.way.len() > DEEPEST || self.visits > MOST_VISITS {
            return Err(Opaque::new("its data without names are too entangled"));
        }
        let outer = std::mem::replace(&mut self.back_to, usize::MAX);
        let depth = self.way.len();
        self.way.push(number);
        let held = self.fresh(number);
        self.way.pop();
        let held = held?;
        // What was said relative to the way holds only on this way.
        if self.back_to >= depth {
            self.known.insert(number, held.clone());
            self.back_to = outer;
        } else {
            self.back_to = self.back_to.min(outer);
        }
        Ok(held)
    }

    fn fresh(&mut self, number: usize) -> Result<Held, Opaque> {
        let data = self.layout.elf.sections[number].data;
        self.held(number, data)
    }

    /// What a section holds besides some of its bytes.
    pub(super) fn without(
        &mut self,
        number: usize,
        bytes: Option<Range<usize>>,
    ) -> Result<Held, Opaque> {
        let mut data = self.layout.elf.sections[number].data.to_vec();
        if let Some(left_out) = bytes.and_then(|bytes| data.get_mut(bytes)) {
            left_out.fill(0);
        }
        self.held(number, &data)
    }

    fn held(&mut self, number: usize, data: &[u8]) -> Result<Held, Opaque> {
        let layout = self.layout;
        let section = &layout.elf.sections[number];
        let mut digest = Digest::new();
        // Writable, loaded, code, merged, strings, thread-local: the rest is for the linker's housekeeping.
        digest.absorb(section.flags & 0x437);
        digest.absorb(u64::from(section.is_zero()));
        digest.absorb(section.align);
        digest.absorb(section.size);
        digest.absorb(section.entry_size);
        digest.absorb_bytes(data);
        digest.absorb(u64::from(section.is_code() && layout.has_frames));
        let mut mentions = Vec::new();
        let mut ranks: Vec<usize> = Vec::new();
        for relocation in &section.relocations {
            let (target, addend) = layout.target(relocation);
            digest.absorb(relocation.offset);
            digest.absorb(u64::from(relocation.kind));
            digest.absorb(addend as u64);
            self.target(target, &mut digest, &mut mentions, &mut ranks)?;
        }
        if let Some(table) = self.exceptions_of(number) {
            let table = self.section(table)?;
            digest.absorb(table.digest);
            mentions.extend(table.mentions);
        }
        mentions.sort_unstable();
        mentions.dedup();
        Ok(Held {
            digest: digest.finish(),
            mentions,
        })
    }

    fn target(
        &mut self,
        target: Target,
        digest: &mut Digest,
        mentions: &mut Vec<Name>,
        ranks: &mut Vec<usize>,
    ) -> Result<(), Opaque> {
        let layout = self.layout;
        match target {
            Target::Nothing => digest.absorb(0),
            Target::Counter => digest.absorb(1),
            Target::Beside(section) => {
                digest.absorb(2);
                digest.absorb_bytes(layout.elf.sections[section].name.as_bytes());
            }
            Target::Global(symbol) => {
                let symbol = &layout.elf.symbols[symbol];
                digest.absorb(3);
                digest.absorb_bytes(symbol.name.as_bytes());
                // Without a definition a weak symbol is nothing, and any other an error.
                let is_undefined = symbol.place == Place::Undefined;
                digest.absorb(if is_undefined {
                    u64::from(symbol.binding)
                } else {
                    1
                });
                mentions.push(Name::of(symbol.name.as_bytes()));
            }
            Target::Own(symbol) if self.is_item(symbol) => {
                // As an object says it that does not hold the item.
                let name = layout.elf.symbols[symbol].name.as_bytes();
                digest.absorb(3);
                digest.absorb_bytes(name);
                digest.absorb(1);
                mentions.push(Name::of(name));
            }
            Target::Own(symbol) => {
                digest.absorb(4);
                self.local(symbol, digest, mentions, ranks);
            }
            Target::Within(symbol, distance) => {
                digest.absorb(5);
                digest.absorb(distance as u64);
                if layout.elf.symbols[symbol].is_local() && !self.is_item(symbol) {
                    self.local(symbol, digest, mentions, ranks);
                } else {
                    let name = layout.elf.symbols[symbol].name.as_bytes();
                    digest.absorb_bytes(name);
                    mentions.push(Name::of(name));
                }
            }
            Target::Constant(section, place) => {
                let constant = layout.constant(section, place);
                let whole = layout.elf.sections[section].data;
                let start = constant.as_ptr() as usize - whole.as_ptr() as usize;
                digest.absorb(6);
                digest.absorb_bytes(below_workshop(constant));
                digest.absorb(place - start as u64);
            }
            Target::Anonymous(section, place) => {
                digest.absorb(7);
                digest.absorb(place as u64);
                let held = self.section(section)?;
                digest.absorb(held.digest);
                mentions.extend(held.mentions);
            }
        }
        Ok(())
    }

    /// Whether a symbol is an item under its own name.
    fn is_item(&self, number: usize) -> bool {
        let name = self.layout.elf.symbols[number].name;
        let called = self.called.and_then(|called| called.get(&number));
        called.is_none_or(|called| called.name == name) && is_item(name)
    }

    fn local(
        &self,
        number: usize,
        digest: &mut Digest,
        mentions: &mut Vec<Name>,
        ranks: &mut Vec<usize>,
    ) {
        let symbol = &self.layout.elf.symbols[number];
        let Some(called) = self.called.and_then(|called| called.get(&number)) else {
            digest.absorb_bytes(naming::without_numbers(symbol.name).as_bytes());
            digest.absorb(if symbol.place == Place::Absolute {
                symbol.value
            } else {
                0
            });
            return;
        };
        digest.absorb_bytes(called.name.as_bytes());
        if called.is_ranked {
            let rank = ranks.iter().position(|ranked| *ranked == number);
            let rank = rank.unwrap_or_else(|| {
                ranks.push(number);
                ranks.len() - 1
            });
            digest.absorb(rank as u64);
        }
        mentions.push(own(&called.name));
    }

    /// The table that says what a function catches: only the frames for unwinding point to it.
    fn exceptions_of(&self, number: usize) -> Option<usize> {
        let layout = self.layout;
        if !layout.elf.sections[number].is_code() {
            return None;
        }
        let first = layout.named[number].first()?;
        layout
            .exceptions
            .get(layout.elf.symbols[*first].name)
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_source_was_built_is_no_part_of_its_path() {
        let one = below_workshop(b"/home/me/p/.git/rts/build/main/tree/src/a.c\0");
        let other = below_workshop(b"/home/me/p/.git/rts/build/beside/tree/src/a.c\0");
        assert_eq!(one, b"src/a.c\0");
        assert_eq!(one, other);
        for text in [
            &b"in /p/.git/rts/build/main/tree/src/a.c\0"[..],
            b"/usr/include/a.h\0",
            b"/x_rts_build_main_tree_y\0",
            b"\xff/rts/build/main/tree/",
        ] {
            assert_eq!(below_workshop(text), text);
        }
    }
}
