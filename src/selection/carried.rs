//! How the traces of one version become those of another: from the walks of a difference.

use rustc_hash::FxHashMap;

use crate::compare::functions::FunctionDifference;
use crate::difference::Difference;
use crate::lang::facts::{Entity, Kind};
use crate::repo::RepoPath;
use crate::trace::FunctionId;
use crate::trace::carry::{Carry, Fate};
use crate::witness::source::{DangerKind, Hit, Source};

/// What the walks tell about every function that differs, and the files that moved.
#[must_use]
pub fn carry(difference: &Difference) -> Carry {
    let mut carry = Carry::default();
    for file in &difference.files {
        if let (Some((old, _)), Some((new, _))) = (&file.base, &file.head)
            && old != new
        {
            carry.moved.insert(old.clone(), new.clone());
        }
    }
    let mut differing: FxHashMap<FunctionId, usize> = FxHashMap::default();
    for function in &difference.functions {
        let Some((path, old)) = side(difference, function, true) else {
            continue;
        };
        let fate = match side(difference, function, false) {
            Some((path, new)) => Fate::Changed {
                id: id(path, new),
                partners: function.walk.paired.clone(),
            },
            None => Fate::Removed,
        };
        let id = id(path, old);
        differing.insert(id.clone(), function.file);
        carry.functions.entry(id).or_default().push(fate);
    }
    for (id, file) in differing {
        let facts = difference.pairs[file].base.iter();
        let twins = facts.flat_map(|facts| &facts.entities).filter(|entity| {
            entity.kind == Kind::Function
                && entity.body.is_some()
                && entity.name == id.name
                && entity.graph() == id.graph
        });
        let twins = twins.count();
        let fates = carry.functions.entry(id).or_default();
        if fates.len() < twins {
            fates.push(Fate::Unchanged);
        }
    }
    carry
}

/// The functions of the head in which a test may go other ways than its trace says, given the dangers that it meets: the code that
/// it executes is the same and made of the same functions, and yet their edges may be others. Nothing, where nobody can tell.
pub(super) fn rewritten_in(
    difference: &Difference,
    source: &Source,
    hits: &[Hit],
) -> Option<Vec<FunctionId>> {
    let mut functions = Vec::new();
    for hit in hits {
        match &source.dangers[hit.danger].kind {
            DangerKind::Edges { function } | DangerKind::Uncounted { function, .. } => {
                let (path, head) = side(difference, &difference.functions[*function], false)?;
                functions.push(id(path, head));
            }
            // Of these a trace only tells that they were executed, and that they still are.
            DangerKind::Program { .. } | DangerKind::Remainder { .. } | DangerKind::Made { .. } => {
            }
        }
    }
    Some(functions)
}

fn id(path: &RepoPath, function: &Entity) -> FunctionId {
    FunctionId {
        file: path.clone(),
        name: function.name.clone(),
        graph: function.graph(),
    }
}

/// A function as one version defines it, with the file's path there.
fn side<'d>(
    difference: &'d Difference,
    function: &FunctionDifference,
    is_base: bool,
) -> Option<(&'d RepoPath, &'d Entity)> {
    let (pair, file) = (
        &difference.pairs[function.file],
        &difference.files[function.file],
    );
    let (facts, file, at) = if is_base {
        (&pair.base, &file.base, function.base)
    } else {
        (&pair.head, &file.head, function.head)
    };
    let entity = facts.as_ref()?.entities.get(at?)?;
    Some((&file.as_ref()?.0, entity))
}
