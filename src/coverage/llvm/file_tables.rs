//! The tables of source files: each compiled unit has one, and functions mention it by the hash of its bytes.

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::cursor::Cursor;
use super::inflate;
use super::names::hash;

/// Far more than a binary needs; short names in a long folder could ask for any amount.
const MOST_PATH_BYTES: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct FileTables {
    pub(super) paths: Vec<Vec<u8>>,
    by_path: FxHashMap<Vec<u8>, usize>,
    path_bytes: usize,
    tables: FxHashMap<u64, Vec<usize>>,
}

impl FileTables {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The files of a unit, as indices into the paths.
    pub(super) fn get(&self, hash: u64) -> Option<&[usize]> {
        self.tables.get(&hash).map(Vec::as_slice)
    }

    pub(super) fn add(&mut self, section: &[u8]) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(section);
        while !cursor.is_at_end() {
            // Older versions kept their records here and their size in the first and third word.
            let records = cursor.u32()?;
            let length = cursor.u32()?;
            let mappings = cursor.u32()?;
            let version = cursor.u32()?;
            // Counted from zero: clang 14 to 17 write the sixth version, 18 and later the seventh.
            if !matches!(version, 5 | 6) {
                return Err(Unreadable::MapVersion(version.saturating_add(1)));
            }
            if records != 0 || mappings != 0 {
                return Err(Unreadable::Damaged("the head of a file table"));
            }
            let bytes = cursor.take_long(u64::from(length))?;
            cursor.align(section.len() - cursor.rest().len());
            let key = hash(bytes);
            if !self.tables.contains_key(&key) {
                let table = self.table(bytes)?;
                self.tables.insert(key, table);
            }
        }
        Ok(())
    }

    fn table(&mut self, bytes: &[u8]) -> Result<Vec<usize>, Unreadable> {
        let mut cursor = Cursor::new(bytes);
        let count = cursor.number()?;
        let text = inflate::text(&mut cursor)?;
        let mut cursor = Cursor::new(&text);
        if count > text.len() as u64 {
            return Err(Unreadable::Truncated);
        }
        let folder = cursor.string()?;
        let mut table = vec![self.path(folder.to_vec())?];
        for _ in 1..count {
            let name = cursor.string()?;
            let length = folder.len() + name.len();
            if self.path_bytes.saturating_add(length) > MOST_PATH_BYTES {
                return Err(Unreadable::Damaged("the file table is too large"));
            }
            table.push(self.path(joined(folder, name))?);
        }
        Ok(table)
    }

    fn path(&mut self, path: Vec<u8>) -> Result<usize, Unreadable> {
        if let Some(index) = self.by_path.get(&path) {
            return Ok(*index);
        }
        self.path_bytes = self.path_bytes.saturating_add(path.len());
        if self.path_bytes > MOST_PATH_BYTES {
            return Err(Unreadable::Damaged("the file table is too large"));
        }
        let index = self.paths.len();
        self.by_path.insert(path.clone(), index);
        self.paths.push(path);
        Ok(index)
    }
}

/// A name as seen from a folder. What `..` means only the file system knows, so it stays.
fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    if name.starts_with(b"/") || folder.is_empty() {
        return name.to_vec();
    }
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(version: u32, table: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [0, table.len() as u32, 0, version] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(table);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn names_are_seen_from_the_folder_of_the_compilation() {
        let table = b"\x04\x14\0\x02/w\x03a.c\x06/usr/h\x05./b.c";
        let mut tables = FileTables::default();
        let mut bytes = section(5, table);
        bytes.extend(section(6, b"\x02\x07\0\x02/w\x03a.c"));
        assert_eq!(tables.add(&bytes), Ok(()));
        let paths: Vec<_> = tables
            .get(hash(table))
            .expect("the table is there")
            .iter()
            .map(|index| tables.paths[*index].as_slice())
            .collect();
        assert_eq!(paths, [&b"/w"[..], b"/w/a.c", b"/usr/h", b"/w/b.c"]);
        assert_eq!(tables.paths.len(), 4, "a path is kept once");
    }

    #[test]
    fn paths_are_joined_without_a_look_at_the_disk() {
        assert_eq!(joined(b"/", b"a.c"), b"/a.c");
        assert_eq!(joined(b"", b"a.c"), b"a.c");
        assert_eq!(joined(b"/w", b"././../a.c"), b"/w/../a.c");
        assert_eq!(joined(b"/w", b"/a.c"), b"/a.c");
    }

    #[test]
    fn other_versions_are_refused() {
        for version in [0, 4, 7, u32::MAX] {
            assert_eq!(
                FileTables::default().add(&section(version, b"\x01\x03\0\x02/w")),
                Err(Unreadable::MapVersion(version.saturating_add(1)))
            );
        }
    }

    #[test]
    fn a_table_that_asks_for_more_than_any_binary_needs_is_refused() {
        let mut text = vec![0x80, 0x80, 0x80, 4];
        text.resize(text.len() + (8 << 20), b'x');
        // Names that differ, so that none is shared.
        for name in b'0'..=b'9' {
            text.extend([1, name]);
        }
        let mut table = vec![11];
        let mut length = text.len();
        while length > 0x7f {
            table.push(length as u8 | 0x80);
            length >>= 7;
        }
        table.extend([length as u8, 0]);
        table.extend(text);
        assert_eq!(
            FileTables::default().add(&section(6, &table)),
            Err(Unreadable::Damaged("the file table is too large"))
        );
    }
}
