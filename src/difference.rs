//! The difference between two versions, step by step: changed files, entities, affected names, dangerous edges.

mod building;
mod closing;
mod find;
mod foreigners;
mod includes;
mod order;
mod outsiders;
mod seeds;
mod supposed;
mod unseen;

pub use building::Building;
pub use find::{FunctionVersion, find_function};
pub use seeds::is_library_name;
pub use supposed::{SameVersion, Supposed};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::compare::affected::Affected;
use crate::compare::entity_difference::{ChangeKind, EntityDifference, entity_differences};
use crate::compare::functions::{
    FilePair, FunctionDifference, compare_functions, endanger_callers,
};
use crate::config::Config;
use crate::error::Result;
use crate::history::facts::FactsStore;
use crate::lang::c::{self, Granularity};
use crate::lang::cfg::Span;
use crate::lang::facts::{Entity, FileFacts, Kind, MadeFacts};
use crate::program::facts::FactsSource;
use crate::program::{Program, Tree};
use crate::repo::{BlobId, Change, FileEntry, FileKind, RepoPath, Repository, Version};

/// How far an entity's change can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Whoever mentions it.
    Mentions,
    /// Everything in its file, and in the files that include it.
    File,
    /// Every program that it is linked into, mentioned or not.
    Program,
}

/// An entity that differs, as it is reported.
#[derive(Debug, Clone)]
pub struct ReportedEntity {
    pub change: ChangeKind,
    pub kind: Kind,
    pub file: RepoPath,
    pub name: String,
    pub because: String,
    pub reach: Reach,
    pub base: Option<Span>,
    pub head: Option<Span>,
}

/// A source file that was compared.
pub struct ComparedFile {
    pub base: Option<(RepoPath, BlobId)>,
    pub head: Option<(RepoPath, BlobId)>,
}

impl ComparedFile {
    /// The path by which the file is reported.
    ///
    /// # Panics
    /// Never: a file is in at least one of the versions.
    #[must_use]
    pub fn path(&self) -> &RepoPath {
        let entry = self.base.as_ref().or(self.head.as_ref());
        &entry.expect("a compared file is in one of the versions").0
    }
}

/// Everything that differs between base and head.
pub struct Difference {
    pub base: Version,
    pub head: Version,
    pub changes: Vec<Change>,
    pub entities: Vec<ReportedEntity>,
    pub functions: Vec<FunctionDifference>,
    pub files: Vec<ComparedFile>,
    pub pairs: Vec<FilePair>,
    /// What the user should know about the cache.
    pub notice: Option<String>,
    /// The sources that are compiled to something else because the content of one changed: itself, and whoever includes it.
    pub recompiled: BTreeSet<RepoPath>,
    /// The changed files that C of the tree includes, before or after.
    pub included: BTreeSet<RepoPath>,
}

/// Opens the facts of a repository.
pub fn facts_source(repository: &Repository, granularity: Granularity) -> FactsSource {
    let store = match repository.create_rts_dir() {
        Ok(folder) => FactsStore::open(&folder.join("facts"), c::VERSION),
        Err(error) => FactsStore::without(Some(error.message)),
    };
    FactsSource::new(repository.readers(), store, granularity)
}

/// The files of a version, by what they are to a reader of C.
pub fn source_files(repository: &Repository, config: &Config, version: &Version) -> Result<Tree> {
    let mut tree = Tree::default();
    for file in repository.files(version)? {
        match file.kind {
            FileKind::File if config.is_source(&file.path) => tree.sources.push(file),
            FileKind::File => tree.others.push(file),
            FileKind::Symlink => tree.links.push(file),
            FileKind::Submodule => {}
        }
    }
    Ok(tree)
}

/// The facts of every source file of a version.
pub fn all_facts(
    repository: &Repository,
    config: &Config,
    version: &Version,
) -> Result<Vec<(RepoPath, Arc<FileFacts>)>> {
    let mut source = facts_source(repository, Granularity::Expression);
    let program = source.program(&source_files(repository, config, version)?)?;
    let places: Vec<usize> = (0..program.files.len()).collect();
    let facts = source.parse(&program, &places)?;
    let paths = program.files.into_iter().map(|file| file.path);
    Ok(paths.zip(facts).collect())
}

/// Compares two versions.
pub fn difference(
    repository: &Repository,
    config: &Config,
    (base, head): (Version, Version),
    building: Building<'_>,
    granularity: Granularity,
) -> Result<Difference> {
    let changes = repository.changes(&base, &head)?;
    let mut source = facts_source(repository, granularity);
    let tree_of_head = source_files(repository, config, &head)?;
    let of_base = source.program(&source_files(repository, config, &base)?)?;
    let of_head = source.program(&tree_of_head)?;
    let mut versions = Versions::new(Arc::new(of_base), Arc::new(of_head));
    let heard = changes.iter().filter(|change| building.may_take_in(change));
    let heard: Vec<Change> = heard.cloned().collect();
    versions.load_changed(&mut source, &heard)?;
    let differences: Vec<Vec<EntityDifference>> =
        versions.files.iter().map(Loaded::differences).collect();
    let others = tree_of_head.others.iter();
    let others: Vec<FileEntry> = others
        .filter(|file| building.may_have_read(&file.path))
        .cloned()
        .collect();
    let found = Found {
        versions: (base, head),
        changes: heard,
        others: &others,
        differences: &differences,
    };
    let followed = found.followed(&mut source, versions, building.made)?;
    Ok(Difference {
        changes,
        ..followed
    })
}

/// What differs itself, before it is followed to what it affects.
struct Found<'a> {
    versions: (Version, Version),
    changes: Vec<Change>,
    /// Files of the head that are not read as C.
    others: &'a [FileEntry],
    /// For each file that is loaded.
    differences: &'a [Vec<EntityDifference>],
}

impl Found<'_> {
    /// Follows what differs through names, includes and calls to the dangerous edges.
    fn followed(
        self,
        source: &mut FactsSource,
        mut versions: Versions,
        made: &[MadeFacts],
    ) -> Result<Difference> {
        let differences = self.differences;
        let definitions = versions
            .base
            .files
            .iter()
            .chain(&versions.head.files)
            .flat_map(|file| &file.lex.macros)
            .chain(made.iter().flat_map(|made| &made.macros));
        let mut affected = Affected::new(definitions);
        let mut seeds = seeds::seeds(&versions, differences, &self.changes);
        let crossed = order::add(&mut seeds, &versions, source, &affected)?;
        seeds.add_to(&mut affected);
        versions.close(source, &mut affected, made, &mut seeds.whole)?;
        let mut entities = seeds.reported;
        let mut whole = seeds.whole;
        outsiders::add(&mut whole, &versions, differences);
        unseen::add(&mut whole, &versions, made);
        let mut visible = loop {
            let visible = includes::visible(&versions, source, &affected, &crossed, &mut whole)?;
            let known = affected.len();
            for (name, because) in includes::seen_by_others(&versions, source, &visible)? {
                affected.add(&name, because);
            }
            let reached: Vec<RepoPath> = whole.keys().chain(visible.keys()).cloned().collect();
            versions.load_paths(source, &reached)?;
            versions.close(source, &mut affected, made, &mut whole)?;
            if affected.len() == known {
                break visible;
            }
        };
        let why_whole = whole.iter().map(|(path, why)| (path, why.as_str()));
        let why_visible = visible.keys().map(|path| (path, "its includes changed"));
        // Assembler writes `$NAME`, which is another name to C: that a file declares other things has to be enough.
        let declaring = versions.files.iter().zip(differences);
        let declaring = declaring.filter(|(_, differences)| {
            let mut differences = differences.iter();
            differences.any(|one| one.kind != Kind::Function || one.interface)
        });
        let why_declaring = declaring
            .flat_map(|(file, _)| file.file.base.iter().chain(&file.file.head))
            .map(|(path, _)| (path, "what it declares changed"));
        entities.extend(foreigners::reached(
            self.others,
            &versions,
            source,
            &affected,
            &why_declaring.chain(why_visible).chain(why_whole).collect(),
        )?);
        entities.extend(foreigners::made(made, &affected));
        let pairs = versions.pairs(&whole, &mut visible);
        let modified = self.changes.iter();
        let modified = modified.filter(|change| change.kind == crate::repo::ChangeKind::Modified);
        let modified = modified.filter_map(|change| change.new.as_ref());
        let recompiled = modified.flat_map(|file| versions.reached_by(&file.path));
        let recompiled = recompiled.collect();
        let included = versions.included(&self.changes);
        let mut functions = compare_functions(&pairs, &affected);
        endanger_callers(&pairs, &mut functions);
        entities.extend(versions.affected_entities(&affected, &functions));
        // Of a declaration and a definition, the one that reaches further is reported.
        entities.sort_by(|one, two| {
            (&one.file, one.change, one.kind, &one.name, two.reach)
                .cmp(&(&two.file, two.change, two.kind, &two.name, one.reach))
        });
        entities.dedup_by(|one, two| {
            (&one.file, one.kind, &one.name) == (&two.file, two.kind, &two.name)
                && one.change == two.change
        });
        Ok(Difference {
            base: self.versions.0,
            head: self.versions.1,
            changes: self.changes,
            entities,
            functions,
            files: versions.files.into_iter().map(|file| file.file).collect(),
            pairs,
            notice: source.notice().map(str::to_owned),
            recompiled,
            included,
        })
    }
}

/// A file whose facts are at hand.
struct Loaded {
    file: ComparedFile,
    base: Option<Arc<FileFacts>>,
    head: Option<Arc<FileFacts>>,
}

impl Loaded {
    fn differences(&self) -> Vec<EntityDifference> {
        let nothing = FileFacts::default();
        entity_differences(
            self.base.as_deref().unwrap_or(&nothing),
            self.head.as_deref().unwrap_or(&nothing),
        )
    }
}

/// Both versions of the program, and the files that were parsed so far.
struct Versions {
    base: Arc<Program>,
    head: Arc<Program>,
    files: Vec<Loaded>,
    /// Where the file of a path (of the head, or of the base if it is gone) stands in `files`.
    loaded: BTreeMap<RepoPath, usize>,
    /// Paths of the base whose files changed.
    changed_base: BTreeSet<RepoPath>,
}

impl Versions {
    /// The paths among these changes that somebody includes.
    fn included(&self, changes: &[Change]) -> BTreeSet<RepoPath> {
        let is_included = |program: &Program, path: &RepoPath| {
            let file = program.find(path);
            // The file itself is among them.
            file.is_some_and(|file| program.includers(file).len() > 1)
        };
        let sides = changes.iter().flat_map(|change| {
            let sides = [(&self.base, &change.old), (&self.head, &change.new)];
            sides.into_iter().filter_map(|(program, file)| {
                let path = &file.as_ref()?.path;
                is_included(program, path).then(|| path.clone())
            })
        });
        sides.collect()
    }

    fn new(base: Arc<Program>, head: Arc<Program>) -> Self {
        Versions {
            base,
            head,
            files: Vec::new(),
            loaded: BTreeMap::new(),
            changed_base: BTreeSet::new(),
        }
    }

    fn load_changed(&mut self, source: &mut FactsSource, changes: &[Change]) -> Result<()> {
        let pairs: Vec<(Option<RepoPath>, Option<RepoPath>)> = changes
            .iter()
            .map(|change| {
                let path = |program: &Program, file: &Option<FileEntry>| {
                    let file = file.as_ref()?;
                    program.find(&file.path).map(|_| file.path.clone())
                };
                (path(&self.base, &change.old), path(&self.head, &change.new))
            })
            .filter(|(old, new)| old.is_some() || new.is_some())
            .collect();
        self.changed_base = pairs.iter().filter_map(|(old, _)| old.clone()).collect();
        self.load(source, &pairs)
    }

    /// Loads files that are the same in both versions, if they are not loaded yet.
    fn load_paths(&mut self, source: &mut FactsSource, paths: &[RepoPath]) -> Result<()> {
        let pairs: BTreeSet<&RepoPath> = paths
            .iter()
            .filter(|path| !self.loaded.contains_key(*path) && !self.changed_base.contains(*path))
            .collect();
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|path| (Some(path.clone()), Some(path.clone())))
            .collect();
        self.load(source, &pairs)
    }

    fn load(
        &mut self,
        source: &mut FactsSource,
        pairs: &[(Option<RepoPath>, Option<RepoPath>)],
    ) -> Result<()> {
        let find = |program: &Program, path: &Option<RepoPath>| {
            path.as_ref().and_then(|path| program.find(path))
        };
        let base_files: Vec<Option<usize>> =
            pairs.iter().map(|(old, _)| find(&self.base, old)).collect();
        let head_files: Vec<Option<usize>> =
            pairs.iter().map(|(_, new)| find(&self.head, new)).collect();
        let base_facts = source.parse(
            &self.base,
            &base_files.iter().copied().flatten().collect::<Vec<_>>(),
        )?;
        let head_facts = source.parse(
            &self.head,
            &head_files.iter().copied().flatten().collect::<Vec<_>>(),
        )?;
        let (mut base_facts, mut head_facts) = (base_facts.into_iter(), head_facts.into_iter());
        for (base, head) in base_files.into_iter().zip(head_files) {
            let entry = |program: &Program, index: Option<usize>| {
                index.map(|index| (program.files[index].path.clone(), program.files[index].id))
            };
            let file = ComparedFile {
                base: entry(&self.base, base),
                head: entry(&self.head, head),
            };
            let loaded = Loaded {
                base: base.and_then(|_| base_facts.next()),
                head: head.and_then(|_| head_facts.next()),
                file,
            };
            if let Some((path, _)) = loaded.file.head.as_ref().or(loaded.file.base.as_ref()) {
                self.loaded.insert(path.clone(), self.files.len());
                self.files.push(loaded);
            }
        }
        Ok(())
    }

    /// A file and its includers in either version.
    fn reached_by(&self, path: &RepoPath) -> BTreeSet<RepoPath> {
        let mut reached = BTreeSet::from([path.clone()]);
        for program in [&self.base, &self.head] {
            if let Some(file) = program.find(path) {
                let includers = program.includers(file);
                reached.extend(
                    includers
                        .into_iter()
                        .map(|file| program.files[file].path.clone()),
                );
            }
        }
        reached
    }

    fn pairs(
        &self,
        whole: &BTreeMap<RepoPath, String>,
        visible: &mut BTreeMap<RepoPath, Affected>,
    ) -> Vec<FilePair> {
        self.files
            .iter()
            .map(|file| {
                let mut paths = file
                    .file
                    .base
                    .iter()
                    .chain(&file.file.head)
                    .map(|(path, _)| path);
                FilePair {
                    base: file.base.clone(),
                    head: file.head.clone(),
                    whole: paths.clone().find_map(|path| whole.get(path).cloned()),
                    visible: paths
                        .find_map(|path| visible.remove(path))
                        .unwrap_or_default(),
                }
            })
            .collect()
    }

    /// Unchanged entities that an affected name reaches.
    fn affected_entities(
        &self,
        affected: &Affected,
        functions: &[FunctionDifference],
    ) -> Vec<ReportedEntity> {
        let mut found = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            let changed: BTreeSet<String> = file
                .differences()
                .into_iter()
                .map(|difference| difference.name)
                .collect();
            let entities = file.base.iter().flat_map(|facts| &facts.entities);
            for entity in entities {
                if entity.kind == Kind::Function || changed.contains(&entity.name) {
                    continue;
                }
                if let Some(name) = affected.hit(&entity.mentions) {
                    let cause = affected.cause(name);
                    found.push(ReportedEntity {
                        change: ChangeKind::Affected,
                        kind: entity.kind,
                        file: file.file.path().clone(),
                        name: entity.name.clone(),
                        because: format!("it mentions '{}': {}", cause.name, cause.because),
                        reach: match entity.kind {
                            Kind::File => Reach::Program,
                            Kind::Variable if is_seen_by_libraries(entity) => Reach::Program,
                            _ => Reach::Mentions,
                        },
                        base: Some(entity.span),
                        head: None,
                    });
                }
            }
            found.extend(acting_unmentioned(file, affected));
            for function in functions.iter().filter(|function| function.file == index) {
                if function.change != ChangeKind::Affected {
                    continue;
                }
                let span = |facts: &Option<Arc<FileFacts>>, at: Option<usize>| {
                    Some(facts.as_ref()?.entities.get(at?)?.span)
                };
                found.push(ReportedEntity {
                    change: ChangeKind::Affected,
                    kind: Kind::Function,
                    file: file.file.path().clone(),
                    name: function.name.clone(),
                    because: function.because.clone().unwrap_or_default(),
                    reach: Reach::Mentions,
                    base: span(&file.base, function.base),
                    head: span(&file.head, function.head),
                });
            }
        }
        found
    }
}

/// Whether the C library looks at a variable: it is none of a file's own, and the library knows its name.
fn is_seen_by_libraries(variable: &Entity) -> bool {
    !variable.internal && !variable.declaration && is_library_name(&variable.name)
}

/// What acts without being mentioned or executed, and mentions an affected name: every program may notice.
fn acting_unmentioned(file: &Loaded, affected: &Affected) -> Vec<ReportedEntity> {
    let sides = [(&file.base, true), (&file.head, false)];
    let mut found = Vec::new();
    for (facts, is_base) in sides {
        for entity in facts.iter().flat_map(|facts| &facts.entities) {
            let own = entity.unmentioned.as_ref().zip(Some(&entity.mentions));
            let body = entity.body.as_ref();
            let of_body = body.and_then(|body| body.unmentioned.as_ref().zip(Some(&body.mentions)));
            let hit = own
                .into_iter()
                .chain(of_body)
                .find_map(|(word, mentions)| Some((word, affected.hit(mentions)?)));
            let Some((word, name)) = hit else {
                continue;
            };
            let cause = affected.cause(name);
            let because = format!(
                "it mentions '{}': {}; and '{word}' lets it act without being mentioned",
                cause.name, cause.because
            );
            found.push(ReportedEntity {
                change: ChangeKind::Affected,
                kind: entity.kind,
                file: file.file.path().clone(),
                name: entity.name.clone(),
                because,
                reach: Reach::Program,
                base: is_base.then_some(entity.span),
                head: (!is_base).then_some(entity.span),
            });
        }
    }
    found
}
