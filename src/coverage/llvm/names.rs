//! The table of function names: other places mention a name only by its hash.

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::cursor::Cursor;
use super::inflate;

/// Names by their hash.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: FxHashMap<u64, Vec<u8>>,
}

impl Names {
    /// Adds the names of one section. Each unit wrote its own piece; the linker may have put zeros between them.
    pub fn add(&mut self, section: &[u8]) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(section);
        cursor.skip_zeros();
        while !cursor.is_at_end() {
            let piece = inflate::text(&mut cursor)?;
            for name in piece.split(|byte| *byte == 1) {
                self.names.insert(hash(name), name.to_vec());
            }
            cursor.skip_zeros();
        }
        Ok(())
    }

    #[must_use]
    pub fn get(&self, hash: u64) -> Option<&[u8]> {
        self.names.get(&hash).map(Vec::as_slice)
    }

    /// All names, each with its hash.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let names = self.names.iter();
        names.map(|(hash, name)| (*hash, name.as_slice()))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The hash by which clang mentions a name or a table: the first half of its MD5.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = md5::compute(bytes).0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// A function's symbol, and the file that clang puts before the name of a static function.
///
/// Up to version 17 a colon stands between them, later a semicolon; neither can be in the name of a C function.
pub(super) fn split(name: &[u8]) -> (String, Option<String>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match name.iter().rposition(|byte| matches!(byte, b':' | b';')) {
        Some(at) => (text(&name[at + 1..]), Some(text(&name[..at]))),
        None => (text(name), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_function_is_told_by_its_file() {
        assert_eq!(split(b"main"), ("main".to_owned(), None));
        let of_a = Some("src/a.c".to_owned());
        assert_eq!(split(b"src/a.c:one"), ("one".to_owned(), of_a.clone()));
        assert_eq!(split(b"src/a.c;one"), ("one".to_owned(), of_a));
        assert_eq!(
            split(b"C:a;b.c;one"),
            ("one".to_owned(), Some("C:a;b.c".to_owned()))
        );
    }

    #[test]
    fn pieces_are_read_over_the_fillers_between_them() {
        let mut names = Names::default();
        assert_eq!(names.add(b"\x08\0main\x01one\0\0\0\x03\0two\0"), Ok(()));
        assert_eq!(names.len(), 3);
        assert_eq!(names.get(hash(b"one")), Some(&b"one"[..]));
        assert_eq!(names.get(hash(b"three")), None);
    }

    #[test]
    fn the_hash_is_the_one_that_clang_computes() {
        // llvm-profdata prints it for a function called main.
        assert_eq!(hash(b"main"), 0xdb95_6436_e78d_d5fa);
    }
}
