//! What went into a link, noted while it was fresh: compilers remove objects that they made for a moment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::link::{Input, Link};
use super::{Opaque, archive};
use crate::digest;

/// An object, by the digest of its bytes.
pub type ObjectKey = u128;

/// Takes an object with the crate that it is a part of, if it is one.
type Keep<'k> = dyn FnMut(ObjectKey, &[u8], &str) + 'k;

/// Answers the bytes of a file, and whether it is one of the system's.
pub(super) type Read<'r> = dyn FnMut(&str) -> Option<(Vec<u8>, bool)> + 'r;

/// What went into a link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linked {
    /// What decides how objects are put together.
    pub options: Vec<String>,
    /// The linker follows a script of the project's own, which can do anything.
    pub has_script: bool,
    /// Digests of files that options name, and of texts that name further inputs, in their order.
    pub texts: Vec<u64>,
    /// In the linker's order.
    pub objects: Vec<ObjectKey>,
    /// Those of them that the system brought along.
    pub brought: Vec<ObjectKey>,
    /// Over what the linker made: whoever changes that later makes something else.
    pub made: u64,
    /// Why not all is known.
    pub opaque: Option<String>,
}

impl Linked {
    /// Notes a link that made these bytes; `read` answers the bytes of a file that the linker read and whether the system brought it
    /// along, `keep` takes each object that went in.
    pub fn note(link: &Link, made: &[u8], read: &mut Read<'_>, keep: &mut Keep<'_>) -> Self {
        let mut linked = Linked {
            options: link.options.clone(),
            has_script: link.has_script,
            made: super::contents::loaded(made),
            ..Linked::default()
        };
        let noted = linked.add(link, made, read, keep);
        linked.opaque = noted.err().map(|why| why.to_string());
        linked
    }

    fn add(
        &mut self,
        link: &Link,
        made: &[u8],
        read: &mut Read<'_>,
        keep: &mut Keep<'_>,
    ) -> Result<(), Opaque> {
        for path in &link.read_by_options {
            let (bytes, _) = read(path).ok_or_else(|| gone(path))?;
            self.texts.push(digest::bytes(&bytes));
        }
        let mut files: BTreeMap<&str, (Vec<u8>, bool)> = BTreeMap::new();
        for input in &link.inputs {
            if !files.contains_key(input.path.as_str()) {
                let file = read(&input.path).ok_or_else(|| gone(&input.path))?;
                files.insert(&input.path, file);
            }
            let (bytes, is_brought) = &files[input.path.as_str()];
            self.add_input(input, (bytes, *is_brought), made, read, keep)
                .map_err(|why| Opaque::new(format!("'{}': {why}", input.path)))?;
        }
        Ok(())
    }

    fn add_input(
        &mut self,
        input: &Input,
        (bytes, is_brought): (&[u8], bool),
        made: &[u8],
        read: &mut Read<'_>,
        keep: &mut Keep<'_>,
    ) -> Result<(), Opaque> {
        // A script may leave out whatever it likes.
        let tells_members = !self.has_script && !archive::drops_names(&self.options);
        let mut add = |bytes: &[u8], is_brought: bool| {
            let key = digest::content(bytes);
            keep(
                key,
                bytes,
                unit_of(input.member.as_ref().unwrap_or(&input.path)),
            );
            self.objects.push(key);
            if is_brought {
                self.brought.push(key);
            }
        };
        match &input.member {
            Some(member) if archive::is_thin(bytes) => {
                let (bytes, is_brought) = read(member).ok_or_else(|| gone(member))?;
                add(&bytes, is_brought);
            }
            Some(member) => {
                let members = archive::members(bytes, member)?;
                let taken = match tells_members {
                    true => archive::taken(members, made),
                    false => members,
                };
                for bytes in taken {
                    add(bytes, is_brought);
                }
            }
            // GNU ld names the archive itself before its members.
            None if archive::is_archive(bytes) => {}
            None if is_library(bytes) => {}
            None if !bytes.starts_with(b"\x7fELF") && !is_bitcode(bytes) => {
                self.texts.push(text(bytes)?);
            }
            None => add(bytes, is_brought),
        }
        Ok(())
    }
}

/// The crate of an object that rustc made, by its path: `CRATE-HASH.PART.rcgu.o`. Empty for other objects.
fn unit_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_part = name.ends_with(".rcgu.o");
    let hashed = name.split('.').next().filter(|_| is_part);
    hashed.map_or("", |hashed| {
        hashed.rsplit_once('-').map_or(hashed, |(name, _)| name)
    })
}

fn gone(path: &str) -> Opaque {
    Opaque::new(format!(
        "'{path}', from which it was linked, cannot be read"
    ))
}

fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
}

/// A shared library is a binary of its own; which one is loaded stands in the dynamic section.
fn is_library(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") && bytes.get(16) == Some(&3)
}

/// A text among the inputs that names further inputs, as the `libc.so` of most systems is.
fn text(bytes: &[u8]) -> Result<u64, Opaque> {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains("SECTIONS"));
    match is_text {
        true => Ok(digest::bytes(bytes)),
        false => Err(Opaque::new("it is no object, and no list of inputs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_rustc_tell_their_crate() {
        for (path, unit) in [
            ("/t/deps/one-1a2b.x1-cgu.0.rcgu.o", "one"),
            ("two_x-3c4d.5e6f.7g8h.rcgu.o", "two_x"),
            ("/t/rustcAbC/symbols.o", ""),
            ("a-b.c.o", ""),
        ] {
            assert_eq!(unit_of(path), unit, "{path}");
        }
    }
}
