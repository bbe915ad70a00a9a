//! Archives: the members of a static library, by their names.
//!
//! A thin archive only names its members, which are files of their own.

use object::read::archive::ArchiveFile;

use super::Opaque;

/// Whether the bytes are an archive's, thin or not.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || is_thin(bytes)
}

pub(super) fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<thin>\n")
}

/// The members of one name. A name may occur twice, and the linker does not tell which it took: all are answered.
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
