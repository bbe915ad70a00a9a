//! Facts by blob: from the cache, or read from the repository and parsed, on all cores.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::history::facts::FactsStore;
use crate::lang::c::{self, Granularity};
use crate::lang::facts::{FileFacts, LexFacts};
use crate::program::{Program, SourceFile};
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

    /// Lexes the source files of a tree.
    pub fn program(&mut self, files: &[FileEntry]) -> Result<Program> {
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
        let files = files
            .iter()
            .map(|file| SourceFile {
                path: file.path.clone(),
                id: file.id,
                lex: self.lexed[&file.id].clone(),
            })
            .collect();
        Ok(Program::new(files))
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
