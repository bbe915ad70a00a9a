//! What a build made, as far as tests meet it: the code of its binaries, and the files that tests looked at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::database::Trouble;
use super::objects::{ObjectId, Objects, Writer};
use super::pages;
use crate::objects::Contents;
use crate::repo::RepoPath;

/// What a build made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    pub contents: Contents,
    /// By their places in the workshop: whatever some test looked at or for. What is not here is not known.
    pub products: BTreeMap<RepoPath, Product>,
    /// Where those of them that are links lead in the end, if that is in the workshop.
    pub links: BTreeMap<RepoPath, RepoPath>,
    /// Files of the tree that the build changed in its copy.
    pub altered: BTreeMap<RepoPath, Product>,
}

/// What a build made at one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Its kind and who may do what with it; zero, if there is nothing.
    pub mode: u32,
    /// It is compiled code, which is compared in another way by who does not read it.
    pub is_code: bool,
    /// Of its content, its entries, or where it leads; nothing, if no test looked into it, or one changed it.
    pub digest: Option<u64>,
}

impl Product {
    /// Whether two builds made the same for who reads it, or only asks about it and perhaps executes it.
    #[must_use]
    pub fn is_same(self, other: Self, is_read: bool) -> bool {
        let is_code = self.is_code && other.is_code && !is_read;
        let is_nothing = self.mode == 0;
        self.mode == other.mode
            && (is_code || is_nothing || self.digest.is_some() && self.digest == other.digest)
    }
}

/// Where a history keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CompiledPages {
    /// Each object is kept by itself: two versions share those in which they agree.
    pub(super) objects: ObjectId,
    pub(super) binaries: ObjectId,
    pub(super) products: ObjectId,
    pub(super) links: ObjectId,
    pub(super) altered: ObjectId,
}

pub(super) fn write(
    writer: &mut Writer<'_>,
    compiled: &Compiled,
) -> Result<CompiledPages, Trouble> {
    let mut list = Vec::with_capacity(compiled.contents.objects.len());
    for (number, object) in (0u32..).zip(&compiled.contents.objects) {
        list.push((number.to_be_bytes().to_vec(), writer.write(object)?));
    }
    Ok(CompiledPages {
        objects: pages::write(writer, list)?,
        binaries: writer.write(&compiled.contents.binaries)?,
        products: writer.write(&compiled.products)?,
        links: writer.write(&compiled.links)?,
        altered: writer.write(&compiled.altered)?,
    })
}

pub(super) fn read(objects: &Objects, pages: CompiledPages) -> Result<Compiled, Trouble> {
    let mut contents = Contents::new();
    pages::visit(objects, pages.objects, &|_, _| true, &mut |_, object| {
        contents.objects.push(objects.read(object)?);
        Ok(())
    })?;
    contents.binaries = objects.read(pages.binaries)?;
    let count = contents.objects.len();
    let mut numbers = contents.binaries.values().flat_map(|one| &one.objects);
    if numbers.any(|number| *number as usize >= count) {
        return Err(Trouble::Damage(
            "what a build made does not fit together".to_owned(),
        ));
    }
    Ok(Compiled {
        contents,
        products: objects.read(pages.products)?,
        links: objects.read(pages.links)?,
        altered: objects.read(pages.altered)?,
    })
}
