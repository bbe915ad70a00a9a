//! Files that git passes through programs (`filter=` in `.gitattributes`), which the git library does not run.

use std::path::Path;

use git2::{AttrCheckFlags, AttrValue};

use super::{FileEntry, RepoPath, Repository};

impl Repository {
    /// Those of some files that have a filter, each with its name.
    #[must_use]
    pub fn filtered<'a>(&self, files: &'a [FileEntry]) -> Vec<(&'a RepoPath, String)> {
        let filter = |file: &'a FileEntry| {
            let path = file.path.under(Path::new(""));
            let value = self
                .git
                .get_attr_bytes(&path, "filter", AttrCheckFlags::FILE_THEN_INDEX)
                .ok()?;
            match AttrValue::from_bytes(value) {
                AttrValue::Bytes(name) => {
                    Some((&file.path, String::from_utf8_lossy(name).into_owned()))
                }
                AttrValue::String(name) => Some((&file.path, name.to_owned())),
                AttrValue::True | AttrValue::False | AttrValue::Unspecified => None,
            }
        };
        files.iter().filter_map(filter).collect()
    }
}
