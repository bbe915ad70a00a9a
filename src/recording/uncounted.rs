//! What a build holds without counters: what it does is in no trace.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use super::Placer;
use crate::coverage::llvm::binary;
use crate::history::Uncounted;
use crate::objects::{Contents, is_ours};

/// Folders in which build systems try out compilers.
const TRIALS: [&str; 2] = ["CMakeFiles", MESON_PRIVATE];
/// Where Meson keeps what is its own.
pub(super) const MESON_PRIVATE: &str = "meson-private";

/// Whether a build system made a file to try out a compiler, below some folders: what these are in may be called anything.
pub(super) fn is_trial<'f>(path: &Path, mut folders: impl Iterator<Item = &'f Path>) -> bool {
    let inside = folders.find_map(|folder| path.strip_prefix(folder).ok());
    let is_trial = |part: Component<'_>| TRIALS.iter().any(|trial| part.as_os_str() == *trial);
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_of_autoconf = name == b"conftest" || name.starts_with(b"conftest.");
    is_of_autoconf || inside.is_some_and(|inside| inside.components().any(is_trial))
}

/// The symbols of a binary that are nothing but the system's.
pub(super) type Brought<'b> = dyn Fn(&Path) -> BTreeSet<&'b str> + Sync + 'b;

/// Which functions of a binary count.
pub(super) enum Counted<'a> {
    /// These, as its own map says.
    Mapped(&'a BTreeSet<&'a str>),
    /// These, of all objects of the build.
    Somewhere(&'a BTreeSet<&'a str>),
    Nothing,
}

/// Adds the functions of all objects that do not count: a binary cannot tell two functions of one name apart.
pub fn add_silent(found: &mut Uncounted, contents: &Contents, placer: &Placer) {
    for (object, is_brought) in contents.objects_by_origin() {
        for function in object.silent() {
            let is_defined = !placer.defining(function).is_empty();
            if is_defined && is_brought {
                // The system has another function of this name.
                continue;
            }
            if is_defined && placer.has_source(&object.source) {
                let why = || format!("'{function}' of '{}' has no counters", object.source);
                found.blind.get_or_insert_with(why);
            }
            found.symbols.insert(function.to_owned());
        }
    }
}

/// Whether a binary is neither a trial nor a file of the tree.
pub(super) fn is_of_the_build(path: &Path, placer: &Placer) -> bool {
    !placer.is_trial(path) && !placer.is_tracked(path)
}

/// Adds the functions of a binary with these bytes, if it can be read, that are not counted, `brought` along by the system or not.
///
/// A symbol that the tree defines a function for tells that some source was compiled past our compilers, and then anything in it,
/// inlined or not, may be without counters. A function that was compiled through them and is in no map is not in the build:
/// an `#if` took it out.
pub(super) fn add(
    found: &mut Uncounted,
    (path, bytes): (&Path, Option<&[u8]>),
    placer: &Placer,
    counted: &Counted<'_>,
    brought: &Brought<'_>,
) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut blind = |why: &str| {
        found.blind.get_or_insert_with(|| format!("'{name}' {why}"));
    };
    let Some(symbols) = bytes.and_then(|bytes| binary::symbols(bytes).ok()) else {
        return blind("cannot be read");
    };
    let Some(symbols) = symbols else {
        return blind("has no symbols");
    };
    let is_counted = |name: &str| match counted {
        Counted::Mapped(names) | Counted::Somewhere(names) => names.contains(name),
        Counted::Nothing => false,
    };
    let brought = brought(path);
    for symbol in symbols {
        // Of what we link in ourselves, this very project holds the source.
        if is_counted(&symbol) || is_ours(&symbol) {
            continue;
        }
        if !placer.defining(&symbol).is_empty() {
            // A `main` of a library for tests, say, in a tree that has programs of its own.
            if brought.contains(symbol.as_str()) {
                continue;
            }
            blind(&format!("holds '{symbol}' without counters"));
        }
        found.symbols.insert(symbol);
    }
}
