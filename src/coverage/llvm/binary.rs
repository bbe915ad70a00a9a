//! An ELF file: its sections by name, its build id, and which functions it imports that make counters lie.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::read::{ReadCache, ReadRef};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use super::Unreadable;

/// Functions that return more than once for one call.
const RETURN_TWICE: [&[u8]; 8] = [
    b"setjmp",
    b"_setjmp",
    b"sigsetjmp",
    b"__sigsetjmp",
    b"vfork",
    b"__vfork",
    b"getcontext",
    b"swapcontext",
];

/// Functions that go on in two processes, which share the counters of a continuous profile.
const FORK: [&[u8]; 6] = [
    b"fork",
    b"_Fork",
    b"__fork",
    b"__libc_fork",
    b"forkpty",
    b"daemon",
];

/// Functions that run others of their caller's choice in a thread.
const START_THREADS: [&[u8]; 16] = [
    b"pthread_create",
    b"thrd_create",
    b"clone",
    b"__clone",
    b"clone3",
    b"timer_create",
    b"mq_notify",
    b"aio_read",
    b"aio_write",
    b"aio_fsync",
    b"lio_listio",
    b"getaddrinfo_a",
    // A library that is loaded later may do it.
    b"dlopen",
    b"dlmopen",
    b"GOMP_parallel",
    b"__kmpc_fork_call",
];

/// Functions that start a process in which no handler of `pthread_atfork` runs, and which is no copy for `exec` alone.
const FORK_UNSEEN: [&[u8]; 4] = [b"_Fork", b"clone", b"__clone", b"clone3"];

/// Functions that install handlers, which may leave whatever function they interrupt.
const HANDLE_SIGNALS: [&[u8]; 7] = [
    b"signal",
    b"bsd_signal",
    b"sysv_signal",
    b"__sysv_signal",
    b"sigaction",
    b"sigset",
    b"sigvec",
];

/// The function of the runtime that writes what was counted, and the beginning of what it complains of.
const WRITES: &str = "__llvm_profile_write_file";
const COMPLAINS: &[u8] = b"LLVM Profile Error: ";

/// The bytes that describe a function, before clang 19 and since.
const DESCRIPTIONS: [u64; 2] = [48, 64];

/// What a binary may do that makes a subtraction of counters too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imports {
    /// `setjmp` and its like: code behind the call runs more often than the call.
    pub returns_twice: bool,
    /// `fork` and its like: the same, in every function on the stack, when the processes share their counters.
    pub forks: bool,
    /// Threads that count at the same time lose some of the counts.
    pub threads: bool,
    /// Processes may be started that nothing of ours in the program hears of.
    pub forks_unseen: bool,
    /// A handler may leave a function where no return is written.
    pub handles_signals: bool,
}

/// What the binary imports. A library that it is linked with may do more: ask for that one too.
pub fn imports(binary: &[u8]) -> Result<Imports, Unreadable> {
    let binary = Binary::parse(binary)?;
    let mut imports = Imports::default();
    let mut is_dynamic = false;
    for symbol in binary.elf.dynamic_symbols() {
        // A library may export and import nothing, as the dynamic linker does.
        is_dynamic = true;
        if symbol.is_undefined() {
            imports.note(symbol.name_bytes().map_err(|_| DAMAGED_SYMBOLS)?);
        }
    }
    if is_dynamic {
        return Ok(imports);
    }
    // A static binary has the functions inside; an object file has only this table.
    let mut has_symbols = false;
    for symbol in binary.elf.symbols() {
        has_symbols = true;
        imports.note(symbol.name_bytes().map_err(|_| DAMAGED_SYMBOLS)?);
    }
    if has_symbols {
        return Ok(imports);
    }
    // Stripped: it may do anything.
    Ok(Imports::ANYTHING)
}

/// The GNU build id of a binary; empty if it was linked without one.
pub fn build_id(binary: &[u8]) -> Result<Vec<u8>, Unreadable> {
    Binary::parse(binary)?.build_id()
}

/// The same of a file, of which no more is read than that takes; nothing, if it cannot be.
#[must_use]
pub fn build_id_of(path: &Path) -> Option<Vec<u8>> {
    Binary::parse(&in_file(path)?).ok()?.build_id().ok()
}

/// Whether a binary has counters of clang.
#[must_use]
pub fn has_counters(binary: &[u8]) -> bool {
    Binary::parse(binary).is_ok_and(|binary| binary.has_counters())
}

/// Whether a binary counts and nobody writes what it counted: it was linked without the runtime of clang or rustc.
#[must_use]
pub fn is_mute(binary: &[u8]) -> bool {
    Binary::parse(binary).is_ok_and(|binary| binary.is_mute())
}

/// What becomes of what a program or library counts.
#[derive(Debug, PartialEq, Eq)]
pub enum Voice {
    /// It counts nothing, or is no binary.
    Silent,
    /// Nobody writes it.
    Mute,
    /// It is written under the build id. `files` is what `%m` in the name of the file stands for, by each size that the description
    /// of a function may have: binaries in which it is the same share a file.
    Tells { id: Vec<u8>, files: [u64; 2] },
}

/// Of a file.
#[must_use]
pub fn voice(path: &Path) -> Voice {
    let file = in_file(path);
    let Some(Ok(binary)) = file.as_ref().map(Binary::parse) else {
        return Voice::Silent;
    };
    if !binary.has_counters() {
        return Voice::Silent;
    }
    match binary.has_runtime() {
        false => Voice::Mute,
        true => Voice::Tells {
            id: binary.build_id().unwrap_or_default(),
            files: DESCRIPTIONS.map(|size| binary.module_signature(size)),
        },
    }
}

/// The names of the libraries that a binary asks for; nothing, if it cannot be read.
#[must_use]
pub fn needed_by(path: &Path) -> Option<Vec<String>> {
    let file = in_file(path)?;
    let binary = Binary::parse(&file).ok()?;
    let mut names = Vec::new();
    for library in binary.elf.import_libraries().ok()? {
        names.push(String::from_utf8_lossy(library.ok()?.name()).into_owned());
    }
    Some(names)
}

/// Programs are large, and most of what is asked stands in a few places of theirs.
fn in_file(path: &Path) -> Option<ReadCache<File>> {
    File::open(path).ok().map(ReadCache::new)
}

/// The functions that a binary defines, without the suffixes of a compiler's clones; nothing, if its symbols were stripped.
pub fn symbols(binary: &[u8]) -> Result<Option<BTreeSet<String>>, Unreadable> {
    let binary = Binary::parse(binary)?;
    let mut found = BTreeSet::new();
    let mut is_stripped = true;
    for symbol in binary.elf.symbols() {
        is_stripped = false;
        if symbol.kind() == SymbolKind::Text && !symbol.is_undefined() {
            let name = symbol.name_bytes().map_err(|_| DAMAGED_SYMBOLS)?;
            let name = String::from_utf8_lossy(name);
            let plain = name.split(['.', '@']).next().unwrap_or(&name);
            found.insert(plain.to_owned());
        }
    }
    Ok((!is_stripped).then_some(found))
}

const DAMAGED_SYMBOLS: Unreadable = Unreadable::Damaged("the symbol table");

impl Imports {
    /// Nothing is known of the binary.
    pub const ANYTHING: Self = Imports {
        returns_twice: true,
        forks: true,
        threads: true,
        forks_unseen: true,
        handles_signals: true,
    };

    /// What two binaries may do together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Imports {
            returns_twice: self.returns_twice || other.returns_twice,
            forks: self.forks || other.forks,
            threads: self.threads || other.threads,
            forks_unseen: self.forks_unseen || other.forks_unseen,
            handles_signals: self.handles_signals || other.handles_signals,
        }
    }

    fn note(&mut self, name: &[u8]) {
        // Linkers write versioned names as name@VERSION.
        let name = name.split(|byte| *byte == b'@').next().unwrap_or_default();
        self.returns_twice |= RETURN_TWICE.contains(&name);
        self.forks |= FORK.contains(&name);
        self.threads |= START_THREADS.contains(&name);
        self.forks_unseen |= FORK_UNSEEN.contains(&name);
        self.handles_signals |= HANDLE_SIGNALS.contains(&name);
    }
}

pub(super) struct Binary<'a, R: ReadRef<'a> = &'a [u8]> {
    elf: ElfFile<'a, FileHeader64<LittleEndian>, R>,
}

impl<'a, R: ReadRef<'a>> Binary<'a, R> {
    pub(super) fn parse(bytes: R) -> Result<Self, Unreadable> {
        // The class and the byte order stand in the fifth and sixth byte.
        match bytes.read_bytes_at(0, 6).unwrap_or_default() {
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => {}
            [0x7f, b'E', b'L', b'F', _, 2, ..] => return Err(Unreadable::BigEndian),
            [0x7f, b'E', b'L', b'F', 1, ..] => return Err(Unreadable::Bits32),
            _ => return Err(Unreadable::NotABinary),
        }
        ElfFile::parse(bytes)
            .map(|elf| Binary { elf })
            .map_err(|_| Unreadable::Damaged("the headers of the ELF file"))
    }

    /// The contents of all sections of a name: an object file has one for each function.
    pub(super) fn sections(&self, name: &str) -> Result<Vec<&'a [u8]>, Unreadable> {
        let damaged = Unreadable::Damaged("the sections of the ELF file");
        self.elf
            .sections()
            .filter(|section| section.name_bytes() == Ok(name.as_bytes()))
            .map(|section| section.data())
            .filter(|data| !matches!(data, Ok([])))
            .collect::<Result<_, _>>()
            .map_err(|_| damaged)
    }

    fn has_counters(&self) -> bool {
        let sections = self.sections("__llvm_prf_cnts");
        sections.is_ok_and(|sections| !sections.is_empty())
    }

    /// As the runtime computes it (`lprofGetLoadModuleSignature`), but for what is the same in all binaries of a compiler.
    fn module_signature(&self, description: u64) -> u64 {
        let size = |name: &str| {
            let section = self.elf.section_by_name(name);
            section.map_or(0, |section| section.size())
        };
        let names = size("__llvm_prf_names") << 40;
        let counters = (size("__llvm_prf_cnts") / 8) << 30;
        let functions = (size("__llvm_prf_data") / description) << 20;
        let values = (size("__llvm_prf_vnds") / 24) << 10;
        let first = self.sections("__llvm_prf_data").unwrap_or_default();
        let first = first.first().and_then(|data| data.first_chunk());
        let parts = [names, counters, functions, values];
        let sum = parts.into_iter().fold(0, u64::wrapping_add);
        sum.wrapping_add(first.map_or(0, |first| u64::from_le_bytes(*first)))
    }

    fn is_mute(&self) -> bool {
        self.has_counters() && !self.has_runtime()
    }

    fn has_runtime(&self) -> bool {
        let mut symbols = self.elf.symbols().peekable();
        if symbols.peek().is_some() {
            return symbols.any(|symbol| {
                !symbol.is_undefined() && symbol.name_bytes() == Ok(WRITES.as_bytes())
            });
        }
        // Stripped: the runtime is known by what it complains of.
        self.elf.sections().any(|section| {
            let is_data = section.kind() == SectionKind::ReadOnlyString
                || section.kind() == SectionKind::ReadOnlyData;
            let data = section.data().unwrap_or_default();
            is_data && data.windows(COMPLAINS.len()).any(|part| part == COMPLAINS)
        })
    }

    /// The GNU build id, or nothing.
    pub(super) fn build_id(&self) -> Result<Vec<u8>, Unreadable> {
        match self.elf.build_id() {
            Ok(id) => Ok(id.unwrap_or_default().to_vec()),
            Err(_) => Err(Unreadable::Damaged("the build id")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_told_apart() {
        assert_eq!(imports(b""), Err(Unreadable::NotABinary));
        assert_eq!(imports(b"#!/bin/sh\n"), Err(Unreadable::NotABinary));
        assert_eq!(imports(b"\x7fELF\x01\x01\x01"), Err(Unreadable::Bits32));
        assert_eq!(imports(b"\x7fELF\x02\x02\x01"), Err(Unreadable::BigEndian));
        assert_eq!(
            imports(b"\x7fELF\x02\x01\x01"),
            Err(Unreadable::Damaged("the headers of the ELF file"))
        );
    }

    #[test]
    fn versioned_names_are_known_too() {
        let mut imports = Imports::default();
        imports.note(b"_setjmp@GLIBC_2.2.5");
        assert!(imports.returns_twice && !imports.forks && !imports.threads);
        imports.note(b"fork@@GLIBC_2.2.5");
        imports.note(b"pthread_create");
        assert!(imports.forks && imports.threads);
    }
}
