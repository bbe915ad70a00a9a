//! Archives: the members of a static library, by their names.
//!
//! A thin archive only names its members, which are files of their own.

use std::collections::BTreeSet;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolKind};

use super::Opaque;
use crate::coverage::llvm::binary;
use crate::digest::Digest;

/// What makes linkers leave functions or their names out of what they make: options by their names, and by the beginning of these.
const DROP_NAMES: [&str; 4] = ["s", "S", "x", "X"];
const DROP_NAMES_TOO: [&str; 5] = ["gc-sections", "strip-", "discard-", "retain-symbols", "icf"];

/// Whether the bytes are an archive's, thin or not.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || is_thin(bytes)
}

pub(super) fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<thin>\n")
}

/// The members of one name. A name may occur twice, and the linker does not tell which it took.
pub(super) fn members<'a>(bytes: &'a [u8], wanted: &str) -> Result<Vec<&'a [u8]>, Opaque> {
    let damaged = |_| Opaque::new("the archive cannot be read");
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut found = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        if member.name() == wanted.as_bytes() {
            found.push(member.data(bytes).map_err(damaged)?);
        }
    }
    if found.is_empty() {
        return Err(Opaque::new(format!("the archive has no member '{wanted}'")));
    }
    Ok(found)
}

/// Over the members of a library of Rust, in their order. Where rustc takes objects over from an earlier compilation, their names say
/// by which one (`CRATE.PART.COMPILATION.rcgu.o`), and that is left out. Nothing, if it cannot be read.
#[must_use]
pub fn digest_of_crate(bytes: &[u8]) -> Option<u64> {
    if is_thin(bytes) {
        return None;
    }
    let archive = ArchiveFile::parse(bytes).ok()?;
    let mut digest = Digest::new();
    for member in archive.members() {
        let member = member.ok()?;
        let parts: Vec<&[u8]> = member.name().split(|byte| *byte == b'.').collect();
        let named_by = match parts[..] {
            [name, part, _, b"rcgu", b"o"] => vec![name, part],
            _ => parts,
        };
        named_by.iter().for_each(|part| digest.absorb_bytes(part));
        digest.absorb_bytes(member.data(bytes).ok()?);
    }
    Some(digest.finish())
}

/// Whether a linker that is given these options may leave out functions of what it takes, or their names.
pub(super) fn drops_names(options: &[String]) -> bool {
    options.iter().any(|option| {
        let name = option.trim_start_matches('-');
        let mut beginnings = DROP_NAMES_TOO.iter();
        DROP_NAMES.contains(&name) || beginnings.any(|beginning| name.starts_with(beginning))
    })
}

/// Of several members of one name those that may be in what the linker made: whoever is in it brings all of its functions along.
pub(super) fn taken<'a>(members: Vec<&'a [u8]>, made: &[u8]) -> Vec<&'a [u8]> {
    if members.len() < 2 {
        return members;
    }
    let Some(names) = binary::symbols(made).ok().flatten() else {
        return members;
    };
    let may_be_in = |member: &&&[u8]| offered(member).is_none_or(|own| own.is_subset(&names));
    let found: Vec<&[u8]> = members.iter().filter(may_be_in).copied().collect();
    match found.is_empty() {
        true => members,
        false => found,
    }
}

/// The functions that an object defines for others; nothing, if it cannot be read.
fn offered(object: &[u8]) -> Option<BTreeSet<String>> {
    let file = object::File::parse(object).ok()?;
    let symbols = file.symbols().filter(|symbol| {
        let is_function = symbol.kind() == SymbolKind::Text;
        is_function && symbol.is_global() && !symbol.is_weak() && !symbol.is_undefined()
    });
    let name = |name: &str| name.split(['.', '@']).next().unwrap_or(name).to_owned();
    symbols.map(|symbol| symbol.name().ok().map(name)).collect()
}
