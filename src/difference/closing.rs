//! What is affected spreads until nothing new is mentioned: through names, and through files of which nothing is certain.

use std::collections::{BTreeMap, BTreeSet};

use super::Versions;
use crate::compare::affected::Affected;
use crate::digest::Name;
use crate::error::Result;
use crate::lang::c::loads_symbols;
use crate::lang::facts::{Kind, MadeFacts};
use crate::program::facts::FactsSource;
use crate::repo::RepoPath;

impl Versions {
    /// Spreads affected names until nothing new is mentioned, and loads the files that mention them.
    pub(super) fn close(
        &mut self,
        source: &mut FactsSource,
        affected: &mut Affected,
        made: &[MadeFacts],
        whole: &mut BTreeMap<RepoPath, String>,
    ) -> Result<()> {
        loop {
            for made in made {
                affected.spread(&made.facts);
            }
            for file in &self.files {
                for facts in file.base.iter().chain(&file.head) {
                    affected.spread(facts);
                }
            }
            let concerned: Vec<RepoPath> = self
                .base
                .files
                .iter()
                .filter(|file| {
                    !self.loaded.contains_key(&file.path) && affected.concerns(&file.lex)
                })
                .map(|file| file.path.clone())
                .collect();
            let has_new_names = affected.settle();
            let mut reached = self.affected_remainders(affected, whole);
            reached.extend(self.affected_guards(affected, whole));
            reached.extend(self.affected_lookups(affected, whole));
            if !has_new_names && reached.is_empty() {
                return Ok(());
            }
            self.load_paths(source, &concerned)?;
            self.load_paths(source, &reached)?;
        }
    }

    /// Something at file scope that is neither declaration nor function mentions an affected name: what it makes of it is
    /// unknown, so its file and whatever includes it are in danger. Answers the files that were not known to be.
    fn affected_remainders(
        &self,
        affected: &Affected,
        whole: &mut BTreeMap<RepoPath, String>,
    ) -> Vec<RepoPath> {
        let mut reached = Vec::new();
        for file in &self.files {
            let facts = file.base.iter().chain(&file.head);
            let hit = facts
                .flat_map(|facts| &facts.entities)
                .filter(|entity| entity.kind == Kind::File)
                .find_map(|entity| Some((entity, affected.hit(&entity.mentions)?)));
            let Some((entity, name)) = hit else {
                continue;
            };
            let cause = affected.cause(name);
            let reason = format!(
                "'{}' at file scope mentions '{}': {}",
                entity.name, cause.name, cause.because
            );
            self.endanger(file.file.path(), &reason, whole, &mut reached);
        }
        reached
    }

    /// Where symbols are looked up by their names when the program runs, a string that holds the name of an affected variable
    /// mentions it.
    fn affected_lookups(
        &self,
        affected: &Affected,
        whole: &mut BTreeMap<RepoPath, String>,
    ) -> Vec<RepoPath> {
        let all = || self.base.files.iter().chain(&self.head.files);
        let mut reached = Vec::new();
        if !all().any(|file| loads_symbols(&file.lex.names)) {
            return reached;
        }
        let facts = self.files.iter();
        let facts = facts.flat_map(|file| file.base.iter().chain(&file.head));
        let variables = facts
            .flat_map(|facts| &facts.entities)
            .filter(|entity| entity.kind == Kind::Variable && !entity.internal)
            .map(|entity| Name::of(entity.name.as_bytes()));
        let variables: BTreeSet<Name> = variables.filter(|name| affected.contains(*name)).collect();
        for name in variables {
            for file in all().filter(|file| file.lex.names.contains(name.quoted())) {
                let cause = affected.cause(name);
                let reason = format!("it may look up '{}': {}", cause.name, cause.because);
                self.endanger(&file.path, &reason, whole, &mut reached);
            }
        }
        reached
    }

    /// A guard against a second inclusion whose macro others define, too, decides whether its file is read at all.
    fn affected_guards(
        &self,
        affected: &Affected,
        whole: &mut BTreeMap<RepoPath, String>,
    ) -> Vec<RepoPath> {
        let files = || self.base.files.iter().chain(&self.head.files);
        let mut reached = Vec::new();
        for file in files() {
            let Some(guard) = file.lex.guard.filter(|guard| affected.contains(*guard)) else {
                continue;
            };
            let is_elsewhere =
                files().any(|other| other.path != file.path && other.lex.names.contains(guard));
            if !is_elsewhere {
                continue;
            }
            let cause = affected.cause(guard);
            let reason = format!("'{}' guards {}: {}", cause.name, file.path, cause.because);
            self.endanger(&file.path, &reason, whole, &mut reached);
        }
        reached
    }

    /// Everything in a file and in whatever includes it is in danger. Adds the files that were not known to be.
    fn endanger(
        &self,
        file: &RepoPath,
        reason: &str,
        whole: &mut BTreeMap<RepoPath, String>,
        reached: &mut Vec<RepoPath>,
    ) {
        for path in self.reached_by(file) {
            if !whole.contains_key(&path) {
                whole.insert(path.clone(), reason.to_owned());
                reached.push(path);
            }
        }
    }
}
