//! What cargo notes of the sources of a crate, beside its fingerprints: in any order, and in another one each time rustc runs.

use std::path::Path;

use super::spared::FINGERPRINTS;

/// What begins every such note of today's cargo: a number for older ones, a mark, and the version of what follows.
const BEGINNING: [u8; 6] = [1, 0, 0, 0, 0xff, 1];

/// Whether cargo notes at a path of what files it made a crate.
#[must_use]
pub fn is_dep_info(path: &Path) -> bool {
    let mut above = path.ancestors().skip(2);
    let is_beside = above
        .next()
        .is_some_and(|above| above.ends_with(FINGERPRINTS));
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    is_beside && name.starts_with(b"dep-")
}

/// How many files a note has, these sorted, and the same for variables; nothing, if it does not look as we know it.
#[must_use]
pub fn sorted(note: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = note.strip_prefix(&BEGINNING)?;
    let mut parts = Vec::new();
    for read in [file, variable] {
        parts.push(rest.get(..4)?);
        let mut entries = Vec::new();
        for _ in 0..number(&mut rest)? {
            let before = rest;
            read(&mut rest)?;
            entries.push(&before[..before.len() - rest.len()]);
        }
        entries.sort_unstable();
        parts.append(&mut entries);
    }
    rest.is_empty().then_some(parts)
}

/// What kind of place it is, the path, and its checksum if there is one, with a length.
fn file(rest: &mut &[u8]) -> Option<()> {
    taken(rest, 1)?;
    text(rest)?;
    if flag(rest)? {
        taken(rest, 8)?;
        text(rest)?;
    }
    Some(())
}

/// A name, and a value if it has one.
fn variable(rest: &mut &[u8]) -> Option<()> {
    text(rest)?;
    if flag(rest)? {
        text(rest)?;
    }
    Some(())
}

fn text(rest: &mut &[u8]) -> Option<()> {
    let length = number(rest)?;
    taken(rest, length).map(|_| ())
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let bytes = taken(rest, 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn flag(rest: &mut &[u8]) -> Option<bool> {
    match taken(rest, 1)? {
        [0] => Some(false),
        [1] => Some(true),
        _ => None,
    }
}

fn taken<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(files: &[&str]) -> Vec<u8> {
        let mut note = BEGINNING.to_vec();
        let text = |note: &mut Vec<u8>, text: &str| {
            note.extend(
                u32::try_from(text.len())
                    .expect("it is short")
                    .to_le_bytes(),
            );
            note.extend(text.as_bytes());
        };
        note.extend(
            u32::try_from(files.len())
                .expect("they are few")
                .to_le_bytes(),
        );
        for file in files {
            note.push(0);
            text(&mut note, file);
            note.push(0);
        }
        note.extend(1_u32.to_le_bytes());
        text(&mut note, "KIND");
        note.push(1);
        text(&mut note, "big");
        note
    }

    #[test]
    fn the_order_of_sources_does_not_matter() {
        let one = note(&["src/a.rs", "src/b.rs"]);
        let two = note(&["src/b.rs", "src/a.rs"]);
        assert_ne!(one, two);
        assert!(sorted(&one).is_some());
        assert_eq!(sorted(&one), sorted(&two));
        assert_ne!(sorted(&one), sorted(&note(&["src/a.rs", "src/c.rs"])));
        assert_ne!(sorted(&one), sorted(&note(&["src/a.rs"])));
    }

    #[test]
    fn what_looks_otherwise_is_left_alone() {
        let whole = note(&["src/a.rs"]);
        for length in 0..whole.len() {
            assert_eq!(sorted(&whole[..length]), None, "{length}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert_eq!(sorted(&longer), None);
    }

    #[test]
    fn notes_are_known_by_their_place() {
        let is = |path: &str| is_dep_info(Path::new(path));
        assert!(is("/x/out/debug/.fingerprint/a-1/dep-lib-a"));
        assert!(!is("/x/out/debug/.fingerprint/a-1/lib-a"));
        assert!(!is("/x/out/debug/deps/a-1/dep-lib-a"));
    }
}
