//! By what it is known that a call would make the same again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::arguments::only_source;
use super::super::headers::Told;
use super::super::named::{Named, asks_for_headers, asks_more, reads_more, small};
use super::super::surroundings::{Surroundings, looks};
use super::Call;
use crate::digest::{self, Digest};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::masquerade) struct Same {
    /// Over the call, and the content of all that it read.
    pub(super) call: u64,
    /// Over what lies where it looks for what it includes; nothing, if that cannot be told. Folders of which the call says nothing are
    /// left out: what comes there, in those of the system, a build of what changed does not see either.
    found: Option<u64>,
}

impl Same {
    /// Whether it can be told where a call looks.
    pub(super) fn is_found(self) -> bool {
        self.found.is_some()
    }
}

/// By which compilers are told more than by their arguments.
const VARIABLES: [&str; 12] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "SOURCE_DATE_EPOCH",
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CLANG_CONFIG_FILE_SYSTEM_DIR",
    "SDKROOT",
    "LANG",
    "LC_ALL",
];

impl Call<'_> {
    /// Nothing, if something may decide what is made that nobody tells of.
    pub(in crate::masquerade) fn same(&self, folder: &Path, told: &Told) -> Option<Same> {
        if !told.is_whole {
            return None;
        }
        let mut workshop = Surroundings::of(folder);
        let mut call = self.said(&workshop)?;
        let mut files: Vec<&Path> = told.paths.iter().map(PathBuf::as_path).collect();
        files.push(Path::new(only_source(self.arguments)?));
        files.sort();
        files.dedup();
        let search_path = self.search_path();
        // A map of headers stands for a folder, and `=` for a place of which we know nothing.
        let is_map =
            |folder: &PathBuf| folder.is_file() || folder.as_os_str().as_bytes().starts_with(b"=");
        let mut is_clear = !search_path.iter().any(is_map);
        // Headers for which others ask, beside them and on the search path.
        let (mut asked, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
        let (mut included, mut folders) = (BTreeSet::new(), BTreeSet::from_iter(search_path));
        for file in files {
            let content = fs::read(file).ok()?;
            let lower = small(&content);
            if reads_more(&lower) {
                return None;
            }
            let text = String::from_utf8_lossy(&content);
            let named = Named::of(&text);
            let is_ours = workshop.holds(file);
            if (!named.is_asked_clearly || asks_more(&lower)) && is_ours {
                return None;
            }
            let place = file.parent().unwrap_or(file);
            asked.extend(named.asked.iter().map(|name| place.join(name)));
            everywhere.extend(named.asked.iter().map(|&name| name.to_owned()));
            is_clear &= named.is_included_clearly;
            included.extend(named.included.iter().map(|&name| name.to_owned()));
            if is_ours {
                folders.insert(place.to_owned());
            }
            call.absorb_bytes(workshop.place(file).as_bytes());
            let content = digest::content(&content);
            call.absorb(content as u64);
            call.absorb((content >> 64) as u64);
        }
        for folder in self.search_path() {
            asked.extend(everywhere.iter().map(|name| folder.join(name)));
        }
        for path in asked {
            call.absorb(u64::from(path.exists()));
        }
        let places = folders.iter();
        let places = places.flat_map(|folder| included.iter().map(|name| folder.join(name)));
        let found = is_clear.then(|| found(&mut workshop, places)).flatten();
        Some(Same {
            call: call.finish(),
            found,
        })
    }

    /// Over what is said to the compiler; nothing, if that may have it read more than headers.
    fn said(&self, workshop: &Surroundings) -> Option<Digest> {
        let mut digest = Digest::new();
        digest.absorb(workshop.digest(self.arguments));
        digest.absorb(u64::from(self.is_plus));
        digest.absorb_bytes(workshop.here().as_bytes());
        digest.absorb(looks(self.compiler)?);
        for name in VARIABLES {
            let value = std::env::var_os(name).unwrap_or_default();
            let text = small(value.as_encoded_bytes());
            if asks_more(&text) || reads_more(&text) {
                return None;
            }
            digest.absorb_bytes(value.as_encoded_bytes());
        }
        for word in self.arguments {
            let word = small(word.as_encoded_bytes());
            if asks_more(&word) || reads_more(&word) || asks_for_headers(&word) {
                return None;
            }
        }
        Some(digest)
    }

    /// The folders in which headers are looked for, as far as the call tells.
    fn search_path(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for name in &VARIABLES[..4] {
            let value = std::env::var_os(name).unwrap_or_default();
            folders.extend(std::env::split_paths(&value));
        }
        let options = ["-I", "-isystem", "-iquote", "-idirafter"];
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            let text = word.as_encoded_bytes();
            let option = options
                .iter()
                .find_map(|option| text.strip_prefix(option.as_bytes()));
            match option {
                Some(b"") => folders.extend(words.next().map(PathBuf::from)),
                Some(joined) => folders.push(OsStr::from_bytes(joined).into()),
                None => {}
            }
        }
        folders
    }
}

/// Over which of these are there, and which of them are one: that decides whether both are read. Nothing, if it cannot be told.
fn found(workshop: &mut Surroundings, places: impl Iterator<Item = PathBuf>) -> Option<u64> {
    let mut digest = Digest::new();
    for place in places {
        let Ok(there) = fs::metadata(&place) else {
            digest.absorb(0);
            continue;
        };
        if there.is_file() && there.nlink() > 1 {
            return None;
        }
        digest.absorb(1 + u64::from(there.is_file()));
        let real = workshop.real_file(&place);
        digest.absorb_bytes(workshop.place(&real).as_bytes());
    }
    Some(digest.finish())
}
