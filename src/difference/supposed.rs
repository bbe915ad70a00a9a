//! Suppositions: the difference that a change of some entities would make, in a version that did not change (TestTube's `ttidentify`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compare::entity_difference::{ChangeKind, EntityDifference};
use crate::compare::functions::FunctionDifference;
use crate::config::Config;
use crate::difference::{Difference, Found, Versions, facts_source, source_files};
use crate::error::Result;
use crate::lang::c::Granularity;
use crate::lang::facts::{Entity, FileFacts, Kind, MadeFacts};
use crate::program::facts::FactsSource;
use crate::program::{Program, Tree};
use crate::repo::{BlobId, RepoPath, Repository, Version};

/// An entity that is supposed to change: not the remainder of a file, which is no entity of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Supposed {
    pub file: RepoPath,
    pub kind: Kind,
    pub name: String,
}

/// A version that stays as it is while changes are supposed.
pub struct SameVersion {
    version: Version,
    source: FactsSource,
    program: Arc<Program>,
    tree: Tree,
    made: Vec<MadeFacts>,
    /// Of every source file.
    facts: Vec<(RepoPath, Arc<FileFacts>)>,
}

impl SameVersion {
    /// Reads every source file of a version. Names pass also through what its build made.
    pub fn read(
        repository: &Repository,
        config: &Config,
        version: Version,
        made: Vec<MadeFacts>,
    ) -> Result<Self> {
        let mut source = facts_source(repository, Granularity::Expression);
        let tree = source_files(repository, config, &version)?;
        let program = Arc::new(source.program(&tree)?);
        let places: Vec<usize> = (0..program.files.len()).collect();
        let facts = source.parse(&program, &places)?;
        let paths = program.files.iter().map(|file| file.path.clone());
        Ok(SameVersion {
            version,
            facts: paths.zip(facts).collect(),
            source,
            program,
            tree,
            made,
        })
    }

    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    #[must_use]
    pub fn facts(&self) -> &[(RepoPath, Arc<FileFacts>)] {
        &self.facts
    }

    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The files that are not read as C.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The blob of a source file.
    #[must_use]
    pub fn blob(&self, path: &RepoPath) -> Option<BlobId> {
        let place = self.program.find(path)?;
        Some(self.program.files[place].id)
    }

    /// The difference that a change of all of these together would make: of functions, inside of their bodies.
    pub fn suppose(&mut self, changed: &[Supposed]) -> Result<Difference> {
        let mut by_file: BTreeMap<&RepoPath, Vec<&Supposed>> = BTreeMap::new();
        for one in changed {
            by_file.entry(&one.file).or_default().push(one);
        }
        let paths: Vec<RepoPath> = by_file.keys().map(|path| (*path).clone()).collect();
        let mut versions = Versions::new(self.program.clone(), self.program.clone());
        versions.load_paths(&mut self.source, &paths)?;
        let mut differences = Vec::new();
        let mut bodies = Vec::new();
        for (place, file) in versions.files.iter().enumerate() {
            let wanted = by_file.get(file.file.path());
            let wanted = wanted.map_or(&[][..], Vec::as_slice);
            let facts = file.base.as_deref();
            let entities = facts.map_or(&[][..], |facts| facts.entities.as_slice());
            let supposed = wanted
                .iter()
                .filter_map(|one| changed_entity(one, entities));
            differences.push(supposed.collect());
            for one in wanted.iter().filter(|one| one.kind == Kind::Function) {
                let all = entities.iter().enumerate();
                let own = all.filter(|(_, entity)| is_meant(one, entity) && entity.body.is_some());
                bodies.extend(
                    own.map(|(at, entity)| FunctionDifference::supposed(place, at, entity)),
                );
            }
        }
        let found = Found {
            versions: (self.version, self.version),
            changes: Vec::new(),
            others: &self.tree.others,
            differences: &differences,
        };
        let mut difference = found.followed(&mut self.source, versions, &self.made)?;
        // A function may be affected by what else is supposed; that it changes is more.
        let is_supposed = |other: &FunctionDifference| {
            let mut own = bodies.iter();
            own.any(|own| (own.file, own.base) == (other.file, other.base))
        };
        difference.functions.retain(|other| !is_supposed(other));
        difference.functions.extend(bodies);
        Ok(difference)
    }
}

fn is_meant(supposed: &Supposed, entity: &Entity) -> bool {
    let is_same = (entity.kind, &entity.name) == (supposed.kind, &supposed.name);
    is_same && !entity.declaration
}

/// The entity as if its tokens differed.
fn changed_entity(supposed: &Supposed, entities: &[Entity]) -> Option<EntityDifference> {
    let first = entities.iter().find(|entity| is_meant(supposed, entity))?;
    let all = || entities.iter().filter(|entity| is_meant(supposed, entity));
    let of_bodies = || all().find_map(|entity| entity.body.as_ref()?.unmentioned.clone());
    let own = || all().find_map(|entity| entity.unmentioned.clone());
    Some(EntityDifference {
        change: ChangeKind::Changed,
        kind: supposed.kind,
        name: supposed.name.clone(),
        declaration: false,
        interface: supposed.kind != Kind::Function,
        internal: all().all(|entity| entity.internal),
        unmentioned: match supposed.kind {
            Kind::Function => of_bodies(),
            _ => own(),
        },
        base: Some(first.span),
        head: Some(first.span),
    })
}
