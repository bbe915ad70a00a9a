//! Files that compilers and linkers made: objects, programs and libraries, known by their first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// An object, a program or a library; a link to one is none.
#[must_use]
pub fn is_compiled(file: &Path) -> bool {
    const ELF: [u8; 4] = *b"\x7fELF";
    const ARCHIVES: [[u8; 4]; 2] = [*b"!<ar", *b"!<th"];
    let is_file = std::fs::symlink_metadata(file).is_ok_and(|data| data.is_file());
    let mut head = [0; 4];
    let read = is_file.then(|| File::open(file).and_then(|mut file| file.read_exact(&mut head)));
    matches!(read, Some(Ok(()))) && (head == ELF || ARCHIVES.contains(&head))
}
