//! The compiled program: digests of what objects hold, which objects a binary is made of, and what differs between two builds.

mod archive;
mod content;
mod contents;
mod counters;
mod difference;
mod elf;
mod harness;
mod instrumentation;
mod items;
mod layout;
mod link;
mod linked;
mod naming;
mod object;
mod pairing;
mod reach;
mod readable;
mod recounted;
mod relocations;

pub use archive::digest_of_crate;
pub use contents::{BinaryDigest, Contents};
pub use difference::{Affected, BinaryDifference, ObjectDifference, difference};
pub use harness::test_of_row;
pub use instrumentation::is_ours;
pub use link::{Input, LINKER_FLAGS, Link};
pub use linked::{Linked, ObjectKey};
pub use object::{AtLoad, List, ObjectDigest, Symbol, digest};
pub use pairing::Change;
pub use readable::readable;

use std::fmt;

use serde::{Deserialize, Serialize};

/// What compilers are told, so that each function and each variable has a section to itself.
pub const COMPILER_FLAGS: [&str; 2] = ["-ffunction-sections", "-fdata-sections"];

/// Without optimisation, gcc would put all texts of a file into one section, where none can be told from the next.
pub const FLAG_FOR_GCC: &str = "-fmerge-constants";

/// Why something was not understood, in words: nothing is certified that depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque(String);

impl Opaque {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Opaque(why.into())
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Opaque {}
