//! What each section of an object is, which names stand in it, and what a relocation means.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::elf::{Elf, Place, Relocation, Section};
use super::items::is_item;
use super::{Opaque, instrumentation, relocations};

/// What a section is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Code or data of the program.
    Program,
    /// Functions or a list of functions that run when a binary is loaded or left.
    AtLoad,
    /// Counters, and what describes them.
    Counting,
    /// Not loaded, empty, or not a part of the program.
    Beside,
}

/// What a relocation stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Nothing,
    Counter,
    /// A place in a section that is no part of the program.
    Beside(usize),
    /// A symbol that other objects can see, whichever definition the linker takes.
    Global(usize),
    /// A symbol that only this object sees.
    Own(usize),
    /// So many bytes behind the first symbol of a section.
    Within(usize, i64),
    /// So many bytes behind the beginning of a section without names.
    Anonymous(usize, i64),
    /// One constant of a section whose constants the linker merges.
    Constant(usize, u64),
}

pub(super) struct Layout<'a> {
    pub(super) elf: Elf<'a>,
    pub(super) roles: Vec<Role>,
    /// The symbols in each section, in the order of their places.
    pub(super) named: Vec<Vec<usize>>,
    /// The table of each function that says what it catches; only frames for unwinding point to these.
    pub(super) exceptions: FxHashMap<&'a str, usize>,
    /// Whether its functions can be unwound.
    pub(super) has_frames: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn of(elf: Elf<'a>) -> Result<Self, Opaque> {
        let mut named = vec![Vec::new(); elf.sections.len()];
        for (number, symbol) in elf.symbols.iter().enumerate() {
            if let Place::In(section) = symbol.place
                && !symbol.is_label()
                && !symbol.is_section()
                && !symbol.is_file()
            {
                named[section].push(number);
            }
        }
        for symbols in &mut named {
            symbols.sort_by_key(|number| {
                let symbol = &elf.symbols[*number];
                (symbol.value, symbol.is_local(), symbol.name)
            });
        }
        let tables = elf.sections.iter().enumerate();
        let exceptions = tables.filter_map(|(number, section)| {
            let function = section.name.strip_prefix(".gcc_except_table.")?;
            Some((function, number))
        });
        let mut layout = Layout {
            exceptions: exceptions.collect(),
            has_frames: elf.sections.iter().any(|one| one.name == ".eh_frame"),
            roles: Vec::new(),
            elf,
            named,
        };
        let roles: Result<_, Opaque> = (0..layout.elf.sections.len())
            .map(|section| layout.role(section))
            .collect();
        layout.roles = roles?;
        layout.check_relocations()?;
        Ok(layout)
    }

    fn role(&self, number: usize) -> Result<Role, Opaque> {
        let section = &self.elf.sections[number];
        if instrumentation::is_postponed(section.name) {
            return Err(Opaque::new(
                "it was compiled with -flto: its code is made at the link",
            ));
        }
        let is_program = section.is_loaded()
            && section.size > 0
            && !section.is_note()
            && !instrumentation::is_beside_the_program(section.name);
        if !is_program {
            return Ok(Role::Beside);
        }
        if instrumentation::is_counting_section(section.name) || self.only_counts(number) {
            return Ok(Role::Counting);
        }
        if !section.is_plain() {
            return Err(Opaque::new(format!(
                "the kind of its section '{}' is not known",
                section.name
            )));
        }
        if runs_at_load(section.name) {
            return Ok(Role::AtLoad);
        }
        Ok(Role::Program)
    }

    /// Whether everything in a section is there for counting.
    fn only_counts(&self, number: usize) -> bool {
        let names = || {
            self.named[number]
                .iter()
                .map(|symbol| self.elf.symbols[*symbol].name)
        };
        if names().next().is_none() {
            return false;
        }
        if names().all(instrumentation::is_counting) {
            return true;
        }
        let calls_runtime = || {
            let mut relocations = self.elf.sections[number].relocations.iter();
            relocations.any(|relocation| {
                let name = self.elf.symbols[relocation.symbol].name;
                name == "__gcov_init" || name == "__gcov_exit"
            })
        };
        names().all(instrumentation::is_announcing) && calls_runtime()
    }

    fn check_relocations(&self) -> Result<(), Opaque> {
        for (section, role) in self.elf.sections.iter().zip(&self.roles) {
            if matches!(role, Role::Counting | Role::Beside) {
                continue;
            }
            for relocation in &section.relocations {
                if !relocations::is_known(self.elf.machine, relocation.kind) {
                    return Err(Opaque::new(format!(
                        "the relocation {} in its section '{}' is not known",
                        relocation.kind, section.name
                    )));
                }
                if section.is_code() && self.misses_constant(relocation) {
                    return Err(Opaque::new(format!(
                        "its section '{}' points beside a constant",
                        section.name
                    )));
                }
            }
        }
        Ok(())
    }

    /// Whether the linker looks for a merged constant where it is not: some bytes before it, where an instruction counts from.
    ///
    /// Assemblers avoid that by a label, and what a program does without it depends on the order of all constants. Only what lies
    /// that far behind the beginning of a constant is found where its beginning is.
    fn misses_constant(&self, relocation: &Relocation) -> bool {
        let symbol = &self.elf.symbols[relocation.symbol];
        let Place::In(section) = symbol.place else {
            return false;
        };
        if !symbol.is_section()
            || !self.elf.sections[section].is_merged()
            || !relocations::counts_from_next_instruction(self.elf.machine, relocation.kind)
        {
            return false;
        }
        let place = (symbol.value as i64).wrapping_add(relocation.addend);
        let Ok(place) = usize::try_from(place) else {
            return true;
        };
        let constant = self.extent(section, place as u64);
        constant.start != place || constant.len() <= relocations::NEXT_INSTRUCTION
    }

    /// What a relocation stands for, and what has to be added to that.
    pub(super) fn target(&self, relocation: &Relocation) -> (Target, i64) {
        let symbol = &self.elf.symbols[relocation.symbol];
        let addend = relocation.addend;
        if relocation.symbol == 0 {
            return (Target::Nothing, addend);
        }
        let is_named = !symbol.is_section() && !symbol.is_label();
        if is_named && instrumentation::is_counting(symbol.name) {
            return (Target::Counter, addend);
        }
        let Place::In(section) = symbol.place else {
            return match symbol.is_local() {
                true => (Target::Own(relocation.symbol), addend),
                false => (Target::Global(relocation.symbol), addend),
            };
        };
        match self.roles[section] {
            Role::Counting => return (Target::Counter, addend),
            Role::Beside if symbol.is_local() => {
                let place = (symbol.value as i64).wrapping_add(addend);
                // A note that the program itself reads is data like any other.
                return match self.elf.sections[section].is_note() {
                    true => (Target::Anonymous(section, place), 0),
                    false => (Target::Beside(section), place),
                };
            }
            _ => {}
        }
        if is_named {
            return match symbol.is_local() {
                true => (Target::Own(relocation.symbol), addend),
                false => (Target::Global(relocation.symbol), addend),
            };
        }
        let place = symbol.value as i64;
        if self.elf.sections[section].is_merged() {
            // To the linker, the section with a number is the constant at that number, and a label is the constant at the label.
            let (place, rest) = if symbol.is_section() {
                (place.wrapping_add(addend), 0)
            } else {
                (place, addend)
            };
            return match u64::try_from(place) {
                Ok(inside) if inside < self.elf.sections[section].size => {
                    (Target::Constant(section, inside), rest)
                }
                _ => (Target::Anonymous(section, place), rest),
            };
        }
        // Assemblers write a local name as its section and a number, which may well lie outside: `table[c - 'a']`.
        let place = place.wrapping_add(addend);
        match self.named[section].first() {
            Some(first) => {
                let distance = place.wrapping_sub(self.elf.symbols[*first].value as i64);
                match is_item(self.elf.symbols[*first].name) {
                    // Whether it is mentioned by its name depends on whether other objects see it.
                    true => (Target::Own(*first), distance),
                    false => (Target::Within(*first, distance), 0),
                }
            }
            None => (Target::Anonymous(section, place), 0),
        }
    }

    /// The bytes of the constant that the linker finds at a place: one entry, or a text with its end.
    pub(super) fn constant(&self, section: usize, place: u64) -> &'a [u8] {
        let data = self.elf.sections[section].data;
        data.get(self.extent(section, place)).unwrap_or(data)
    }

    /// Where in its section that constant begins and ends.
    fn extent(&self, section: usize, place: u64) -> Range<usize> {
        let section: &Section<'a> = &self.elf.sections[section];
        let data = section.data;
        // A damaged file may say anything.
        let unit = section.entry_size.clamp(1, data.len().max(1) as u64) as usize;
        let place = place as usize;
        if !section.has_strings() {
            let start = place - place % unit;
            return start..start + unit;
        }
        let is_end = |at: usize| {
            data.get(at..at + unit)
                .is_none_or(|unit| unit.iter().all(|byte| *byte == 0))
        };
        let mut start = place - place % unit;
        while start >= unit && !is_end(start - unit) {
            start -= unit;
        }
        let mut end = place - place % unit;
        while end < data.len() && !is_end(end) {
            end += unit;
        }
        start..end + unit
    }

    /// Sections without names that count with others, which point to them or whose exceptions they are.
    pub(super) fn counting_with_others(&self) -> BTreeSet<usize> {
        let first_names = self.named.iter().enumerate().filter_map(|(number, named)| {
            let is_code = self.elf.sections[number].is_code();
            let first = named.first().filter(|_| is_code)?;
            Some(self.elf.symbols[*first].name)
        });
        let mut found: BTreeSet<usize> = first_names
            .filter_map(|name| self.exceptions.get(name).copied())
            .collect();
        for (number, section) in self.elf.sections.iter().enumerate() {
            if self.roles[number] == Role::Beside {
                continue;
            }
            for relocation in &section.relocations {
                if let (Target::Anonymous(target, _), _) = self.target(relocation)
                    && target != number
                {
                    found.insert(target);
                }
            }
        }
        found
    }
}

/// Whether the loader, or what every program begins and ends with, executes what a section holds or lists.
fn runs_at_load(name: &str) -> bool {
    const SECTIONS: [&str; 7] = [
        ".init_array",
        ".fini_array",
        ".preinit_array",
        ".ctors",
        ".dtors",
        ".init",
        ".fini",
    ];
    SECTIONS.iter().any(|section| {
        let rest = name.strip_prefix(section);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
