//! Copies whole histories from one database to another: to give room back to the disk, and to save what damage left.

use super::compiled::CompiledPages;
use super::database::{Trouble, guarded};
use super::objects::{Ids, ObjectId, Objects};
use super::pages;
use super::roots::Root;
use super::store::Trees;
use super::tests_by_number::TestPages;

/// What became of the histories.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) histories: usize,
    /// Those of which a part was missing.
    pub(super) lost: usize,
    pub(super) objects: usize,
}

/// Copies the histories that `keep` wants and that are complete. Trouble is the new database's.
pub(super) fn copy(
    from: &Trees,
    to: &Trees,
    keep: &mut dyn FnMut(&Root) -> bool,
) -> Result<Copied, Trouble> {
    let mut copied = Copied::default();
    let mut there = Ids::default();
    // Oldest first: where two commits have the same tree, the newest is found under it in the end.
    let Ok((roots, unreadable)) = from.roots.all() else {
        return Ok(copied);
    };
    copied.lost += unreadable.div_ceil(2);
    for root in roots.iter().rev().filter(|root| keep(root)) {
        let Ok(objects) = objects_of(&from.objects, root, &there) else {
            copied.lost += 1;
            continue;
        };
        let mut writer = to.objects.writer();
        for (id, bytes) in objects {
            writer.put(&bytes)?;
            there.insert(id);
        }
        to.flush()?;
        to.roots.insert(root)?;
        copied.histories += 1;
    }
    if copied.histories > 0 {
        copy_all(&from.numbers, &to.numbers)?;
        copy_all(&from.experiences, &to.experiences)?;
    }
    to.flush()?;
    copied.objects = there.len();
    Ok(copied)
}

/// All objects of a history that are not known to be there, each checked.
fn objects_of(
    objects: &Objects,
    root: &Root,
    there: &Ids,
) -> Result<Vec<(ObjectId, sled::IVec)>, Trouble> {
    // Every part is named, so that none can be forgotten when one is added.
    let Root {
        fingerprint,
        uncounted,
        opened_by_build,
        made,
        outside,
        executed_by_build,
        compiled,
        tests: TestPages { traits, runs },
        functions,
        version: _,
        created: _,
        front_end: _,
        partial: _,
        test_count: _,
        session: _,
        size: _,
        added: _,
    } = *root;
    let CompiledPages {
        objects: code,
        binaries,
        products,
        links,
        altered,
    } = compiled;
    let mut found = vec![fingerprint, uncounted, opened_by_build, made, outside];
    found.extend([executed_by_build, binaries, products, links, altered]);
    let mut seen = Ids::default();
    let lists = [traits, runs, functions, code];
    for top in lists {
        let mut records = Vec::new();
        let mut pages = Vec::new();
        let mut first_time = |page| {
            let new = !there.contains(&page) && seen.insert(page);
            if new {
                pages.push(page);
            }
            new
        };
        pages::visit_all(objects, top, &mut first_time, &mut |_, record| {
            records.push(record);
            Ok(())
        })?;
        found.extend(pages);
        found.extend(records);
    }
    found.retain(|id| !there.contains(id));
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .map(|id| Ok((id, objects.bytes(id)?)))
        .collect()
}

/// What is a help, and not a part of any history: what cannot be read is left out.
fn copy_all(from: &sled::Tree, to: &sled::Tree) -> Result<(), Trouble> {
    let entries = guarded(|| Ok(from.iter().filter_map(Result::ok).collect::<Vec<_>>()));
    let mut batch = sled::Batch::default();
    for (name, value) in entries.unwrap_or_default() {
        batch.insert(name, value);
    }
    guarded(|| to.apply_batch(batch))
}
