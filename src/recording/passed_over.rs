//! Whether an incremental build passed over something: a product that was made of files which have changed since, and was not made
//! again. The project does not know that it depends on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::masquerade::inputs::{self, Maker, Note};
use crate::masquerade::surroundings::{self, Place};
use crate::repo::RepoPath;
use crate::workshop::Workshop;

/// Whether something that was made before the notes were this long is stale. The files that changed are not known if there is
/// nothing.
pub(super) fn has_passed_over(
    workshop: &Workshop,
    before: u64,
    changed: Option<&BTreeSet<RepoPath>>,
) -> bool {
    if changed.is_some_and(BTreeSet::is_empty) {
        return false;
    }
    let Some(notes) = inputs::newest(&workshop.compilers) else {
        return true;
    };
    let is_old = |end: u64| end <= before;
    let mut old = notes.values().filter(|(end, _)| is_old(*end));
    let Some(changed) = changed else {
        return old.next().is_some();
    };
    let mut eyes = Eyes::new(workshop, changed);
    let is_new_header =
        |(end, note): &(u64, Note)| note.is_header && (!is_old(*end) || eyes.see_changed(note));
    let has_new_header = notes.values().any(is_new_header);
    old.any(|(_, note)| {
        let may_use_header = has_new_header && note.by == Maker::Compiler;
        may_use_header || eyes.see_stale(note)
    })
}

/// How files look now; each is looked at once.
struct Eyes<'a> {
    root: &'a Path,
    changed: BTreeSet<PathBuf>,
    /// Another target of a link makes any file another one.
    has_links: bool,
    seen: BTreeMap<Place, Option<u64>>,
}

impl<'a> Eyes<'a> {
    fn new(workshop: &'a Workshop, changed: &BTreeSet<RepoPath>) -> Self {
        let paths = changed.iter().map(|path| path.under(&workshop.tree));
        let paths: Vec<PathBuf> = paths.collect();
        Eyes {
            root: workshop.tree.parent().unwrap_or(&workshop.tree),
            has_links: paths.iter().any(|path| path.is_symlink()),
            changed: paths
                .iter()
                .filter_map(|path| path.canonicalize().ok())
                .collect(),
            seen: BTreeMap::new(),
        }
    }

    /// Whether something that changed was read, however it looked then.
    fn see_changed(&self, note: &Note) -> bool {
        let mut read = note.read.iter().flatten();
        note.read.is_none() || read.any(|(place, _)| self.is_changed(&place.below(self.root)))
    }

    fn is_changed(&self, path: &Path) -> bool {
        let real = || path.canonicalize().ok();
        self.has_links || real().is_some_and(|real| self.changed.contains(&real))
    }

    fn see_stale(&mut self, note: &Note) -> bool {
        let Some(read) = &note.read else {
            return true;
        };
        let mut read = read.iter();
        read.any(|(place, looks)| {
            let path = place.below(self.root);
            let now = match self.seen.get(place) {
                Some(now) => *now,
                None => {
                    let now = surroundings::looks(&path);
                    self.seen.insert(place.clone(), now);
                    now
                }
            };
            match note.by {
                _ if now == Some(*looks) => false,
                // Objects are in no list of what changed. Those that are gone were there for a moment.
                Maker::Linker => now.is_some(),
                // A build may write its own headers again as they were.
                Maker::Compiler => self.is_changed(&path),
            }
        })
    }
}
