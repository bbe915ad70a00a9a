//! By what it is known that a call would make the same again.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::arguments::only_source;
use super::super::headers::Told;
use super::super::named::{Named, asks_for_headers, asks_more, joined, reads_more};
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

/// Below this are the headers of the compiler and of the C library. Those of a compiler elsewhere are looked at like all others.
const SYSTEM: &str = "/usr";
const OVERRIDE: &str = "CCC_OVERRIDE_OPTIONS";

/// By which compilers are told more than by their arguments.
const VARIABLES: [&str; 12] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "SOURCE_DATE_EPOCH",
    OVERRIDE,
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
        let search_path = self.search_path(&workshop);
        let mut is_clear = !search_path.iter().any(|folder| is_other(folder));
        // Headers for which others ask, beside them and on the search path.
        let (mut asked, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
        let (mut included, mut folders) = (BTreeSet::new(), BTreeSet::new());
        let mut seen = BTreeSet::new();
        let source = Path::new(only_source(self.arguments)?);
        // In the order in which they were read: what is in front of what decides what is found.
        for file in std::iter::once(source).chain(told.paths.iter().map(PathBuf::as_path)) {
            call.absorb_bytes(workshop.place(file).as_bytes());
            if !seen.insert(file) {
                continue;
            }
            let content = fs::read(file).ok()?;
            let digest = digest::content(&content);
            call.absorb(digest as u64);
            call.absorb((digest >> 64) as u64);
            let text = joined(&content);
            let lower = text.to_ascii_lowercase();
            if reads_more(&lower) {
                return None;
            }
            let named = Named::of(&text);
            let place = file.parent().unwrap_or(file);
            let real = workshop.real_file(file);
            let is_ours = workshop.has(file) || workshop.has(&real);
            // What the system brings along asks for nothing that is named elsewhere.
            let is_told = is_ours
                || !file.starts_with(SYSTEM)
                || search_path.iter().any(|folder| file.starts_with(folder));
            if (!named.is_asked_clearly || asks_more(&lower)) && is_told {
                return None;
            }
            asked.extend(named.asked.iter().map(|name| place.join(name)));
            everywhere.extend(named.asked.iter().map(|&name| name.to_owned()));
            included.extend(named.included.iter().map(|&name| name.to_owned()));
            if is_told {
                is_clear &= named.is_included_clearly;
                folders.insert(place.to_owned());
                folders.extend(real.parent().map(Path::to_owned));
            }
        }
        for folder in &search_path {
            asked.extend(everywhere.iter().map(|name| folder.join(name)));
        }
        for path in asked {
            call.absorb(u64::from(path.is_file()));
        }
        folders.extend(search_path);
        let found = is_clear.then(|| found(&mut workshop, &folders, &included));
        Some(Same {
            call: call.finish(),
            found: found.flatten(),
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
            let text = value.to_string_lossy().to_ascii_lowercase();
            if asks_more(&text) || reads_more(&text) {
                return None;
            }
            // It says what the arguments are.
            if name == OVERRIDE && !value.is_empty() {
                return None;
            }
            digest.absorb_bytes(value.as_encoded_bytes());
        }
        for word in self.arguments {
            let word = word.to_string_lossy().to_ascii_lowercase();
            if asks_more(&word) || reads_more(&word) || asks_for_headers(&word) {
                return None;
            }
        }
        Some(digest)
    }

    /// The folders in which headers are looked for, as far as the call tells.
    fn search_path(&self, workshop: &Surroundings) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
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
        let folders = folders.iter();
        folders.map(|folder| workshop.absolute(folder)).collect()
    }
}

/// Whether something stands for folders of which we know nothing: a map of headers, or `=` for the place of a system.
fn is_other(folder: &Path) -> bool {
    let mut parts = folder.components();
    folder.is_file() || parts.any(|part| part.as_os_str().as_bytes().starts_with(b"="))
}

/// Over what is there under these names, and what of it is one: that decides whether both are read. Nothing, if it cannot be told.
fn found(
    workshop: &mut Surroundings,
    folders: &BTreeSet<PathBuf>,
    names: &BTreeSet<String>,
) -> Option<u64> {
    let mut digest = Digest::new();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let entries: BTreeSet<OsString> = entries.map(|entry| entry.file_name()).collect();
        for name in names {
            let place = folder.join(name);
            // Most names are nowhere, and one look into a folder tells that of all.
            let is_absent = match Path::new(name).components().next() {
                Some(Component::Normal(first)) => !entries.contains(first),
                _ => false,
            };
            if is_absent {
                continue;
            }
            let Ok(there) = fs::metadata(&place) else {
                continue;
            };
            if there.is_file() && there.nlink() > 1 {
                return None;
            }
            digest.absorb_bytes(workshop.place(&place).as_bytes());
            digest.absorb(u64::from(there.is_file()));
            let real = workshop.real_file(&place);
            digest.absorb_bytes(workshop.place(&real).as_bytes());
        }
    }
    Some(digest.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_other_folders_is_known() {
        for (folder, is_told) in [("/b/=usr/include", true), ("/b/=", true), ("/b/a=b", false)] {
            assert_eq!(is_other(Path::new(folder)), is_told, "{folder}");
        }
        let map = tempfile::NamedTempFile::new().expect("there is room");
        assert!(is_other(map.path()));
    }
}
