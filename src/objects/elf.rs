//! An ELF file as plain data: sections, symbols and relocations, and what a linked one asks of its loader.

use object::elf::{self, FileHeader64};
use object::read::elf::{
    FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable,
};
use object::{LittleEndian, SymbolIndex};

use super::Opaque;

const ENDIAN: LittleEndian = LittleEndian;
type Header = FileHeader64<LittleEndian>;

/// The machines whose relocations we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    X86_64,
    Aarch64,
}

/// What the file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Relocatable,
    Linked,
}

pub(super) struct Elf<'a> {
    pub(super) machine: Machine,
    pub(super) purpose: Purpose,
    /// Where a program begins.
    pub(super) entry: u64,
    /// By their numbers in the file, the first of which is empty.
    pub(super) sections: Vec<Section<'a>>,
    /// By their numbers in the file, the first of which is empty.
    pub(super) symbols: Vec<Symbol<'a>>,
}

pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) entry_size: u64,
    pub(super) align: u64,
    pub(super) size: u64,
    /// Nothing for sections that are zero.
    pub(super) data: &'a [u8],
    /// In the order of their offsets.
    pub(super) relocations: Vec<Relocation>,
}

pub(super) struct Relocation {
    pub(super) offset: u64,
    pub(super) kind: u32,
    pub(super) symbol: usize,
    pub(super) addend: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Undefined,
    Absolute,
    Common,
    In(usize),
}

pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    pub(super) place: Place,
    pub(super) value: u64,
    pub(super) size: u64,
    pub(super) binding: u8,
    pub(super) kind: u8,
    pub(super) visibility: u8,
}

impl Section<'_> {
    pub(super) fn is_loaded(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }

    pub(super) fn is_code(&self) -> bool {
        self.flags & elf::SHF_EXECINSTR.0 != 0
    }

    /// Whether the linker takes equal constants of the section for one. It leaves those alone that hold relocations.
    pub(super) fn is_merged(&self) -> bool {
        self.flags & elf::SHF_MERGE.0 != 0 && self.entry_size > 0 && self.relocations.is_empty()
    }

    pub(super) fn has_strings(&self) -> bool {
        self.flags & elf::SHF_STRINGS.0 != 0
    }

    /// Whether the section is of a kind whose bytes we know how to read.
    pub(super) fn is_plain(&self) -> bool {
        let plain = [
            elf::SHT_PROGBITS,
            elf::SHT_NOBITS,
            elf::SHT_INIT_ARRAY,
            elf::SHT_FINI_ARRAY,
            elf::SHT_PREINIT_ARRAY,
        ];
        plain.iter().any(|kind| kind.0 == self.kind)
    }

    pub(super) fn is_note(&self) -> bool {
        self.kind == elf::SHT_NOTE.0
    }

    pub(super) fn is_zero(&self) -> bool {
        self.kind == elf::SHT_NOBITS.0
    }
}

impl Symbol<'_> {
    pub(super) fn is_local(&self) -> bool {
        self.binding == elf::STB_LOCAL.0
    }

    /// Other binaries do not see it.
    pub(super) fn is_hidden(&self) -> bool {
        self.visibility == elf::STV_HIDDEN.0
    }

    pub(super) fn is_function(&self) -> bool {
        self.kind == elf::STT_FUNC.0 || self.is_chosen_at_load()
    }

    /// An ifunc: the loader calls it to learn which function is meant.
    pub(super) fn is_chosen_at_load(&self) -> bool {
        self.kind == elf::STT_GNU_IFUNC.0
    }

    pub(super) fn is_object(&self) -> bool {
        self.kind == elf::STT_OBJECT.0 || self.kind == elf::STT_TLS.0
    }

    pub(super) fn is_section(&self) -> bool {
        self.kind == elf::STT_SECTION.0
    }

    pub(super) fn is_file(&self) -> bool {
        self.kind == elf::STT_FILE.0
    }

    /// Labels that mean nothing to a linker: those of compilers, and the marks of code and data on ARM.
    pub(super) fn is_label(&self) -> bool {
        self.name.is_empty()
            || self.is_local() && (self.name.starts_with(".L") || self.name.starts_with('$'))
    }
}

fn damaged<E>(what: &'static str) -> impl FnOnce(E) -> Opaque {
    move |_| Opaque::new(format!("{what} cannot be read"))
}

fn text(bytes: &[u8]) -> Result<&str, Opaque> {
    std::str::from_utf8(bytes).map_err(damaged("a name"))
}

struct Parsed<'a> {
    header: &'a Header,
    sections: SectionTable<'a, Header>,
}

fn parse(bytes: &[u8]) -> Result<Parsed<'_>, Opaque> {
    match bytes {
        // The class and the byte order stand in the fifth and sixth byte.
        [0x7f, b'E', b'L', b'F', 2, 1, ..] => {}
        [0x7f, b'E', b'L', b'F', ..] => {
            return Err(Opaque::new("it is not for a 64-bit little-endian machine"));
        }
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => {
            return Err(Opaque::new(
                "it is bitcode, which becomes code only at the link",
            ));
        }
        _ => return Err(Opaque::new("it is not an ELF file")),
    }
    let header = Header::parse(bytes).map_err(damaged("its header"))?;
    let sections = header
        .sections(ENDIAN, bytes)
        .map_err(damaged("its table of sections"))?;
    Ok(Parsed { header, sections })
}

/// Reads an object or what was linked; of the latter, relocations that the linker left are not wanted.
pub(super) fn read(bytes: &[u8]) -> Result<Elf<'_>, Opaque> {
    let Parsed { header, sections } = parse(bytes)?;
    let machine = match header.e_machine(ENDIAN) {
        elf::EM_X86_64 => Machine::X86_64,
        elf::EM_AARCH64 => Machine::Aarch64,
        other => return Err(Opaque::new(format!("the machine {} is not known", other.0))),
    };
    let purpose = match header.e_type(ENDIAN) {
        elf::ET_REL => Purpose::Relocatable,
        elf::ET_EXEC | elf::ET_DYN => Purpose::Linked,
        _ => return Err(Opaque::new("it is neither an object nor linked")),
    };
    let mut found = Vec::with_capacity(sections.len());
    for section in sections.iter() {
        let name = sections
            .section_name(ENDIAN, section)
            .map_err(damaged("the name of a section"))?;
        found.push(Section {
            name: text(name)?,
            kind: section.sh_type(ENDIAN).0,
            flags: section.sh_flags(ENDIAN).0,
            entry_size: section.sh_entsize(ENDIAN),
            align: section.sh_addralign(ENDIAN),
            size: section.sh_size(ENDIAN),
            data: section.data(ENDIAN, bytes).map_err(damaged("a section"))?,
            relocations: Vec::new(),
        });
    }
    let table = sections
        .symbols(ENDIAN, bytes, elf::SHT_SYMTAB)
        .map_err(damaged("its table of symbols"))?;
    let symbols = symbols(&table, found.len())?;
    if purpose == Purpose::Relocatable {
        add_relocations(&sections, bytes, &mut found, symbols.len())?;
    }
    Ok(Elf {
        machine,
        purpose,
        entry: header.e_entry(ENDIAN),
        sections: found,
        symbols,
    })
}

fn symbols<'a>(
    table: &SymbolTable<'a, Header>,
    sections: usize,
) -> Result<Vec<Symbol<'a>>, Opaque> {
    let mut found = Vec::with_capacity(table.len());
    for (number, symbol) in table.iter().enumerate() {
        let name = table
            .symbol_name(ENDIAN, symbol)
            .map_err(damaged("the name of a symbol"))?;
        let section = table
            .symbol_section(ENDIAN, symbol, SymbolIndex(number))
            .map_err(damaged("the section of a symbol"))?;
        let place = match (symbol.st_shndx(ENDIAN), section) {
            (_, Some(section)) if section.0 < sections => Place::In(section.0),
            (elf::SHN_UNDEF, _) => Place::Undefined,
            (elf::SHN_ABS, _) => Place::Absolute,
            (elf::SHN_COMMON, _) => Place::Common,
            // Among others the commons of large code models.
            _ => return Err(Opaque::new("a symbol stands in a place that is not known")),
        };
        found.push(Symbol {
            name: text(name)?,
            place,
            value: symbol.st_value(ENDIAN),
            size: symbol.st_size(ENDIAN),
            binding: symbol.st_bind().0,
            kind: symbol.st_type().0,
            visibility: symbol.st_visibility().0,
        });
    }
    Ok(found)
}

fn add_relocations(
    sections: &SectionTable<'_, Header>,
    bytes: &[u8],
    found: &mut [Section<'_>],
    symbols: usize,
) -> Result<(), Opaque> {
    for section in sections.iter() {
        let kind = section.sh_type(ENDIAN);
        let target = section.sh_info(ENDIAN) as usize;
        if [elf::SHT_REL, elf::SHT_CREL, elf::SHT_RELR].contains(&kind) {
            return Err(Opaque::new(
                "its relocations are written in a form that is not known",
            ));
        }
        let table = section
            .rela(ENDIAN, bytes)
            .map_err(damaged("its relocations"))?;
        let Some((relocations, _)) = table else {
            continue;
        };
        let Some(target) = found.get_mut(target) else {
            return Err(Opaque::new("relocations belong to no section"));
        };
        for relocation in relocations {
            let symbol = relocation.r_sym(ENDIAN, false) as usize;
            if symbol >= symbols.max(1) {
                return Err(Opaque::new("a relocation refers to no symbol"));
            }
            target.relocations.push(Relocation {
                offset: relocation.r_offset(ENDIAN),
                kind: relocation.r_type(ENDIAN, false).0,
                symbol,
                addend: relocation.r_addend(ENDIAN),
            });
        }
    }
    for section in found {
        section
            .relocations
            .sort_by_key(|relocation| relocation.offset);
    }
    Ok(())
}

/// What a linked file tells its loader.
pub(super) struct ForLoader<'a> {
    pub(super) interpreter: &'a [u8],
    /// Entries of the dynamic section that hold text, as needed libraries and paths do; and the flags.
    pub(super) entries: Vec<(u64, Entry<'a>)>,
    pub(super) symbols: Vec<DynamicSymbol<'a>>,
    pub(super) has_executable_stack: bool,
    pub(super) kind: u16,
}

pub(super) enum Entry<'a> {
    Text(&'a [u8]),
    Number(u64),
}

pub(super) struct DynamicSymbol<'a> {
    pub(super) symbol: Symbol<'a>,
    pub(super) version: &'a [u8],
}

/// Entries of the dynamic section whose numbers mean the same wherever things lie.
const MEANINGFUL: [elf::DynamicTag; 5] = [
    elf::DT_FLAGS,
    elf::DT_FLAGS_1,
    elf::DT_SYMBOLIC,
    elf::DT_BIND_NOW,
    elf::DT_TEXTREL,
];

/// Reads what a linked file tells its loader.
pub(super) fn for_loader(bytes: &[u8]) -> Result<ForLoader<'_>, Opaque> {
    let Parsed { header, sections } = parse(bytes)?;
    let mut interpreter: &[u8] = &[];
    // Without a word on it, the stack can be executed.
    let mut has_executable_stack = true;
    let segments = header
        .program_headers(ENDIAN, bytes)
        .map_err(damaged("its segments"))?;
    for segment in segments {
        if let Ok(Some(path)) = segment.interpreter(ENDIAN, bytes) {
            interpreter = path;
        }
        if segment.p_type(ENDIAN) == elf::PT_GNU_STACK {
            has_executable_stack = segment.p_flags(ENDIAN).0 & elf::PF_X.0 != 0;
        }
    }
    let mut entries = Vec::new();
    let dynamic = sections
        .dynamic_table(ENDIAN, bytes)
        .map_err(damaged("its dynamic section"))?;
    for entry in &dynamic {
        let tag = entry.tag.0 as u64;
        if entry.is_string() {
            let text = dynamic
                .string(entry)
                .map_err(damaged("its dynamic section"))?;
            entries.push((tag, Entry::Text(text)));
        } else if MEANINGFUL.contains(&entry.tag) {
            entries.push((tag, Entry::Number(entry.val)));
        }
    }
    let table = sections
        .symbols(ENDIAN, bytes, elf::SHT_DYNSYM)
        .map_err(damaged("its dynamic symbols"))?;
    let versions = sections
        .versions(ENDIAN, bytes)
        .map_err(damaged("the versions of its symbols"))?;
    let mut found = Vec::new();
    for (number, symbol) in symbols(&table, sections.len())?.into_iter().enumerate() {
        let version = match &versions {
            Some(versions) => {
                let index = versions.version_index(ENDIAN, SymbolIndex(number));
                let version = versions
                    .version(index.index())
                    .map_err(damaged("the version of a symbol"))?;
                version.map_or(&[][..], |version| version.name())
            }
            None => &[],
        };
        found.push(DynamicSymbol { symbol, version });
    }
    Ok(ForLoader {
        interpreter,
        entries,
        symbols: found,
        has_executable_stack,
        kind: header.e_type(ENDIAN).0,
    })
}
