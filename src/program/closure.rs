//! The static closure: everything that can be reached by name from some functions (TestTube, section 5).
//!
//! It stands in for a trace where a trace cannot be trusted. By name alone: a name that is mentioned is reached, whatever it is mentioned for.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::Name;
use crate::lang::facts::{Entity, FileFacts, Kind, Paste};
use crate::repo::RepoPath;
use crate::trace::FunctionId;

/// All entities of a tree, by name.
pub struct Closure<'a> {
    files: &'a [(RepoPath, Arc<FileFacts>)],
    by_name: FxHashMap<Name, Vec<Place>>,
}

/// A file and an entity of it.
type Place = (u32, u32);

impl<'a> Closure<'a> {
    /// Over the facts of all files of a tree.
    #[must_use]
    pub fn new(files: &'a [(RepoPath, Arc<FileFacts>)]) -> Self {
        let mut by_name: FxHashMap<Name, Vec<Place>> = FxHashMap::default();
        for (place, entity) in places(files) {
            let name = Name::of(entity.name.as_bytes());
            // Each way in which a name can be mentioned.
            for form in [name, name.weak(), name.tag(), name.quoted()] {
                by_name.entry(form).or_default().push(place);
            }
        }
        Closure { files, by_name }
    }

    /// The functions that can be reached from some functions; from every `main`, if there are none.
    #[must_use]
    pub fn from<'f>(&self, roots: impl IntoIterator<Item = &'f FunctionId>) -> Vec<FunctionId> {
        let mut waiting: Vec<Place> = Vec::new();
        let mut has_root = false;
        for root in roots {
            has_root = true;
            let named = self.named(root.name.as_bytes());
            waiting.extend(named.filter(|(file, _)| self.files[*file as usize].0 == root.file));
        }
        if !has_root {
            waiting.extend(self.named(b"main"));
        }
        // Some things act without being mentioned, and nobody knows what macros make at file scope.
        waiting.extend(
            places(self.files)
                .filter(|(_, entity)| entity.kind == Kind::File || acts_unmentioned(entity))
                .map(|(place, _)| place),
        );
        self.reach(waiting)
    }

    fn reach(&self, mut waiting: Vec<Place>) -> Vec<FunctionId> {
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(place) = waiting.pop() {
            if !seen.insert(place) {
                continue;
            }
            let (path, facts) = &self.files[place.0 as usize];
            let entity = &facts.entities[place.1 as usize];
            if entity.kind == Kind::File {
                found.push(FunctionId::remainder(path.clone()));
            } else if entity.body.is_some() {
                found.push(FunctionId {
                    file: path.clone(),
                    name: entity.name.clone(),
                    graph: entity.graph(),
                });
            }
            let body = entity.body.iter().flat_map(|body| body.mentions.iter());
            for name in entity.mentions.iter().chain(body) {
                if names.insert(name) {
                    waiting.extend(self.by_name.get(&name).into_iter().flatten());
                }
            }
            if !entity.pastes.is_empty() {
                waiting.extend(self.built_by(&entity.pastes));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn named(&self, name: &[u8]) -> impl Iterator<Item = Place> + '_ {
        let found = self.by_name.get(&Name::of(name));
        found.into_iter().flatten().copied()
    }

    /// What `##` could make the name of.
    fn built_by(&self, pastes: &[Paste]) -> Vec<Place> {
        places(self.files)
            .filter(|(_, entity)| {
                pastes
                    .iter()
                    .any(|paste| paste.is_wild() || paste.could_build(&entity.name))
            })
            .map(|(place, _)| place)
            .collect()
    }
}

fn acts_unmentioned(entity: &Entity) -> bool {
    let body = entity.body.as_ref();
    entity.unmentioned.is_some() || body.is_some_and(|body| body.unmentioned.is_some())
}

fn places(files: &[(RepoPath, Arc<FileFacts>)]) -> impl Iterator<Item = (Place, &Entity)> {
    files.iter().enumerate().flat_map(|(file, (_, facts))| {
        let entities = facts.entities.iter().enumerate();
        entities.map(move |(at, entity)| ((file as u32, at as u32), entity))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::macros::MacroTable;
    use crate::lang::c::{Granularity, file_facts};

    /// The names of the functions that `root` reaches in some files.
    fn reached(files: &[(&str, &str)], root: Option<&str>) -> Vec<String> {
        let files: Vec<(RepoPath, Arc<FileFacts>)> = files
            .iter()
            .map(|(path, text)| {
                let facts = file_facts(
                    text.as_bytes(),
                    &MacroTable::default(),
                    Granularity::Expression,
                );
                (RepoPath::new(path.as_bytes()), Arc::new(facts))
            })
            .collect();
        let roots: Vec<FunctionId> = root
            .map(|name| FunctionId {
                file: files[0].0.clone(),
                name: name.to_owned(),
                graph: 0,
            })
            .into_iter()
            .collect();
        let closure = Closure::new(&files);
        let found = closure.from(&roots).into_iter();
        found.map(|id| id.name).collect()
    }

    const TABLE: &str = "void one(void);\nvoid two(void);\nvoid (*table[])(void) = { one, two };\n\
        void call(int i) { table[i](); }\nvoid idle(void) { }\n";
    const OTHER: &str = "void one(void) { three(); }\nvoid two(void) { }\nvoid three(void) { }\nvoid four(void) { }\n";

    #[test]
    fn a_table_of_functions_reaches_all_of_them() {
        let found = reached(&[("a.c", TABLE), ("b.c", OTHER)], Some("call"));
        assert_eq!(found, ["call", "one", "three", "two"]);
    }

    #[test]
    fn without_a_root_it_begins_at_main() {
        let text = "int main(void) { return f(); }\nint f(void) { return 1; }\nint g(void) { return 2; }\n";
        assert_eq!(reached(&[("a.c", text)], None), ["f", "main"]);
    }

    #[test]
    fn a_constructor_is_always_reached() {
        let text = "__attribute__((constructor)) static void early(void) { g(); }\n\
            int main(void) { return 0; }\nvoid g(void) { }\nvoid h(void) { }\n";
        assert_eq!(reached(&[("a.c", text)], None), ["early", "g", "main"]);
    }

    #[test]
    fn a_pasted_name_is_reached() {
        let text = "#define CALL(x) do_##x()\nint main(void) { CALL(it); return 0; }\n\
            void do_it(void) { }\nvoid undo(void) { }\n";
        assert_eq!(reached(&[("a.c", text)], None), ["do_it", "main"]);
    }
}
