//! Facts by blob: from the cache, or read from the repository and parsed, on all cores.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::history::facts::FactsStore;
use crate::lang::c::{self, Granularity};
use crate::lang::facts::{FileFacts, LexFacts};
use crate::program::includes::{file_name, may_mean};
use crate::program::links::through;
use crate::program::{Link, Program, SourceFile, Tree};
use crate::repo::{BlobId, FileEntry, Readers};
use crate::workers;

/// Where facts come from.
pub struct FactsSource {
    readers: Readers,
    store: FactsStore,
    granularity: Granularity,
    lexed: FxHashMap<BlobId, Arc<LexFacts>>,
    parsed: FxHashMap<Key, Arc<FileFacts>>,
}

/// A parsed blob depends on its content and on what the macros that it mentions are.
type Key = (BlobId, u64);

impl FactsSource {
    #[must_use]
    pub fn new(readers: Readers, store: FactsStore, granularity: Granularity) -> Self {
        FactsSource {
            readers,
            store,
            granularity,
            lexed: FxHashMap::default(),
            parsed: FxHashMap::default(),
        }
    }

    /// What the user should know about the cache.
    #[must_use]
    pub fn notice(&self) -> Option<&str> {
        self.store.notice.as_deref()
    }

    /// Lexes the source files of a tree, and whatever they include.
    pub fn program(&mut self, tree: &Tree) -> Result<Program> {
        let links = self.links(&tree.links)?;
        let mut files = tree.sources.clone();
        self.lex(&files)?;
        let mut others: Vec<(Vec<u8>, usize)> = (0..tree.others.len())
            .map(|index| (tree.others[index].path.as_bytes().to_vec(), index))
            .collect();
        others.extend(through(&links, &others));
        let mut known = 0;
        while known < files.len() {
            let wanted = self.wanted(&files, known);
            known = files.len();
            let is_wanted = |path: &[u8]| {
                let paths = wanted.get(file_name(path)).into_iter().flatten();
                paths.into_iter().any(|wanted| may_mean(wanted, path))
            };
            let found: BTreeSet<usize> = others
                .iter()
                .filter(|(path, _)| is_wanted(path))
                .map(|(_, index)| *index)
                .collect();
            others.retain(|(_, index)| !found.contains(index));
            files.extend(found.into_iter().map(|index| tree.others[index].clone()));
            self.lex(&files[known..])?;
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
        let files = files
            .into_iter()
            .map(|file| SourceFile {
                lex: self.lexed[&file.id].clone(),
                path: file.path,
                id: file.id,
            })
            .collect();
        Ok(Program::new(files, &links))
    }

    /// The paths that some files include, by the name of the file; with a path that macros make, all that macros name.
    fn wanted(&self, files: &[FileEntry], known: usize) -> FxHashMap<Vec<u8>, BTreeSet<String>> {
        let lexed = |file: &FileEntry| self.lexed[&file.id].clone();
        let mut wanted: FxHashMap<Vec<u8>, BTreeSet<String>> = FxHashMap::default();
        let mut add = |path: &str| {
            let name = file_name(path.as_bytes()).to_vec();
            wanted.entry(name).or_default().insert(path.to_owned());
        };
        let mut has_computed = false;
        for lex in files.iter().map(lexed) {
            has_computed |= lex.includes.iter().any(|include| include.is_computed);
        }
        for lex in files[known..].iter().map(lexed) {
            let plain = lex.includes.iter().filter(|include| !include.is_computed);
            plain.for_each(|include| add(&include.path));
        }
        if has_computed {
            for lex in files.iter().map(lexed) {
                let paths = lex.macros.iter().filter_map(|known| known.path.as_deref());
                paths.for_each(&mut add);
                for include in lex.includes.iter().filter(|include| include.is_computed) {
                    let argument = include.path.split(['(', ')']).nth(1);
                    argument.into_iter().for_each(&mut add);
                }
            }
        }
        wanted
    }

    fn links(&self, entries: &[FileEntry]) -> Result<Vec<Link>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let reader = self.readers.open()?;
        let mut links = Vec::new();
        for entry in entries {
            links.extend(Link::new(entry.path.as_bytes(), &reader.read(entry.id)?));
        }
        Ok(links)
    }

    /// What the lexer says about some files, C or not, in their order.
    pub fn lexed(&mut self, files: &[FileEntry]) -> Result<Vec<Arc<LexFacts>>> {
        self.lex(files)?;
        let lexed = files.iter().map(|file| self.lexed[&file.id].clone());
        Ok(lexed.collect())
    }

    /// Makes sure that the lexer's facts of some files are at hand.
    fn lex(&mut self, files: &[FileEntry]) -> Result<()> {
        let mut missing: Vec<BlobId> = Vec::new();
        for file in files {
            if self.lexed.contains_key(&file.id) {
                continue;
            }
            match self.store.get::<LexFacts>(&lex_key(file.id)) {
                Some(facts) => {
                    self.lexed.insert(file.id, Arc::new(facts));
                }
                None => missing.push(file.id),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        let found = workers::map(
            &missing,
            || self.readers.open(),
            |reader, id| Ok(Arc::new(c::lex_facts(&reader.read(*id)?))),
        )?;
        self.store.put(
            missing
                .iter()
                .zip(&found)
                .map(|(id, facts)| (lex_key(*id), facts.as_ref())),
        );
        self.lexed.extend(missing.into_iter().zip(found));
        Ok(())
    }

    /// The facts of some files of a program, in their order.
    pub fn parse(&mut self, program: &Program, files: &[usize]) -> Result<Vec<Arc<FileFacts>>> {
        let keys: Vec<Key> = files
            .iter()
            .map(|index| {
                let file = &program.files[*index];
                (file.id, program.macros.digest_for(&file.lex.names))
            })
            .collect();
        let mut missing: Vec<Key> = Vec::new();
        for key in &keys {
            if self.parsed.contains_key(key) {
                continue;
            }
            match self.store.get::<FileFacts>(&self.parse_key(*key)) {
                Some(facts) => {
                    self.parsed.insert(*key, Arc::new(facts));
                }
                None => missing.push(*key),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        let granularity = self.granularity;
        let found = workers::map(
            &missing,
            || self.readers.open(),
            |reader, (id, _)| {
                let bytes = reader.read(*id)?;
                Ok(Arc::new(c::file_facts(
                    &bytes,
                    &program.macros,
                    granularity,
                )))
            },
        )?;
        let encoded: Vec<(Vec<u8>, &FileFacts)> = missing
            .iter()
            .zip(&found)
            .map(|(key, facts)| (self.parse_key(*key), facts.as_ref()))
            .collect();
        self.store.put(encoded);
        self.parsed.extend(missing.into_iter().zip(found));
        Ok(keys.iter().map(|key| self.parsed[key].clone()).collect())
    }

    /// Lets go of parsed facts that are not needed again.
    pub fn forget(&mut self) {
        self.parsed.clear();
    }

    fn parse_key(&self, (id, macros): Key) -> Vec<u8> {
        let mut key = vec![b'p', self.granularity as u8];
        key.extend(id.0);
        key.extend(macros.to_be_bytes());
        key
    }
}

fn lex_key(id: BlobId) -> Vec<u8> {
    let mut key = vec![b'l'];
    key.extend(id.0);
    key
}
