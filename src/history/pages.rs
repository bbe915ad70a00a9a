//! A sorted list of keys with an object each, cut into pages and pages of pages, so that two versions share the pages in which they agree.
//!
//! A page ends where the hash of a key says so, not after so many entries: an entry more or less moves no other border.

use serde::{Deserialize, Serialize};

use super::database::Trouble;
use super::objects::{ObjectId, Objects, Writer};
use crate::digest;

/// One key in so many ends its page.
const ENTRIES_A_PAGE: u64 = 24;
/// No page is longer, whatever the hashes say.
const MOST_ENTRIES: usize = 160;
/// No list that we write is deeper; only damage is.
const DEEPEST: u8 = 64;

#[derive(Serialize, Deserialize)]
struct Page {
    /// 0: the entries are the list's own. Above: each is the first key of a page and that page.
    level: u8,
    entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: Vec<u8>,
    object: ObjectId,
}

/// Writes a list whose keys ascend, and answers the page on top.
pub(super) fn write(
    writer: &mut Writer<'_>,
    list: impl IntoIterator<Item = (Vec<u8>, ObjectId)>,
) -> Result<ObjectId, Trouble> {
    let mut level = 0u8;
    let mut entries: Vec<Entry> = list
        .into_iter()
        .map(|(key, object)| Entry { key, object })
        .collect();
    loop {
        let mut pages = Vec::new();
        let mut rest = entries.into_iter().peekable();
        let mut page = Vec::new();
        while let Some(entry) = rest.next() {
            // Two entries at least: so each level is shorter than the one below it.
            let cut = page.len() + 1 >= MOST_ENTRIES
                || !page.is_empty()
                    && (digest::bytes(&entry.key) >> level).is_multiple_of(ENTRIES_A_PAGE);
            page.push(entry);
            if cut && rest.peek().is_some() {
                pages.push(std::mem::take(&mut page));
            }
        }
        pages.push(page);
        let mut above = Vec::with_capacity(pages.len());
        for entries in pages {
            let key = entries
                .first()
                .map(|entry| entry.key.clone())
                .unwrap_or_default();
            let object = writer.write(&Page { level, entries })?;
            above.push(Entry { key, object });
        }
        match above.as_slice() {
            [top] => return Ok(top.object),
            _ => {
                entries = above;
                level = level.saturating_add(1);
            }
        }
    }
}

/// Whether somebody wants keys from the first up to the second, or up to the end.
type Wants<'a> = dyn Fn(&[u8], Option<&[u8]>) -> bool + 'a;
/// Gets a key and its object.
type Found<'a> = dyn FnMut(&[u8], ObjectId) -> Result<(), Trouble> + 'a;

/// Hands out the wanted entries; only their pages are read.
pub(super) fn visit(
    objects: &Objects,
    top: ObjectId,
    wants: &Wants<'_>,
    found: &mut Found<'_>,
) -> Result<(), Trouble> {
    visit_page(objects, (top, DEEPEST), None, wants, found, &mut |_| true)
}

/// Hands out the entries of every page that `first_time` has not seen before.
pub(super) fn visit_all(
    objects: &Objects,
    top: ObjectId,
    first_time: &mut dyn FnMut(ObjectId) -> bool,
    found: &mut Found<'_>,
) -> Result<(), Trouble> {
    visit_page(
        objects,
        (top, DEEPEST),
        None,
        &|_, _| true,
        found,
        first_time,
    )
}

fn visit_page(
    objects: &Objects,
    (id, deepest): (ObjectId, u8),
    end: Option<&[u8]>,
    wants: &Wants<'_>,
    found: &mut Found<'_>,
    first_time: &mut dyn FnMut(ObjectId) -> bool,
) -> Result<(), Trouble> {
    if !first_time(id) {
        return Ok(());
    }
    let page: Page = objects.read(id)?;
    if page.level > deepest {
        return Err(Trouble::Damage("pages are nested in a circle".to_owned()));
    }
    for (index, entry) in page.entries.iter().enumerate() {
        let next = page.entries.get(index + 1).map(|next| next.key.as_slice());
        let next = next.or(end);
        if !wants(&entry.key, next) {
            continue;
        }
        match page.level.checked_sub(1) {
            None => found(&entry.key, entry.object)?,
            Some(below) => visit_page(
                objects,
                (entry.object, below),
                next,
                wants,
                found,
                first_time,
            )?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects() -> Objects {
        let database = sled::Config::new().temporary(true).open();
        let database = database.expect("a database in memory");
        Objects::new(database.open_tree("objects").expect("a tree"))
    }

    fn list(numbers: impl IntoIterator<Item = u32>) -> Vec<(Vec<u8>, ObjectId)> {
        let entries = numbers.into_iter();
        entries
            .map(|number| (number.to_be_bytes().to_vec(), ObjectId([7; 16])))
            .collect()
    }

    fn keys(objects: &Objects, top: ObjectId, wants: &Wants<'_>) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let visited = visit(objects, top, wants, &mut |key, _| {
            keys.push(key.to_vec());
            Ok(())
        });
        visited.expect("the pages can be read");
        keys
    }

    #[test]
    fn a_list_of_any_length_comes_back() {
        let objects = objects();
        for length in [0, 1, 2, 3, 50, 3_000, 20_000] {
            let entries = list(0..length);
            let top = write(&mut objects.writer(), entries.clone()).expect("it can be written");
            let expected: Vec<Vec<u8>> = entries.into_iter().map(|(key, _)| key).collect();
            assert_eq!(keys(&objects, top, &|_, _| true), expected);
        }
    }

    #[test]
    fn an_entry_in_the_middle_costs_a_page_on_each_level() {
        let objects = objects();
        let all = (0..20_000).filter(|number| *number != 7_777);
        write(&mut objects.writer(), list(all)).expect("it can be written");
        let mut writer = objects.writer();
        write(&mut writer, list(0..20_000)).expect("it can be written");
        assert!(writer.added * 100 < writer.size, "{}", writer.added);
    }

    #[test]
    fn only_the_pages_that_are_wanted_are_read() {
        let objects = objects();
        let top = write(&mut objects.writer(), list(0..5_000)).expect("it can be written");
        let asked = std::cell::Cell::new(0);
        let wanted = 4_321u32.to_be_bytes();
        let found = keys(&objects, top, &|first, next| {
            asked.set(asked.get() + 1);
            first <= wanted.as_slice() && next.is_none_or(|next| wanted.as_slice() < next)
        });
        assert_eq!(found, [wanted]);
        assert!(asked.get() < 600, "{}", asked.get());
    }
}
