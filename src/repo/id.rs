//! Object ids, a type for each kind of object, so that a tree is never taken for a commit.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub [u8; 20]);

        impl $name {
            pub(super) fn of(oid: git2::Oid) -> Self {
                let bytes = oid.as_bytes().first_chunk().expect("git2 without SHA-256 has ids of 20 bytes");
                $name(*bytes)
            }

            pub(super) fn oid(self) -> git2::Oid {
                git2::Oid::from_bytes(&self.0).expect("an id has 20 bytes")
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
        }
    };
}

id!(
    /// The content of a file; for a submodule, the commit it stands at.
    BlobId
);
id!(CommitId);
id!(
    /// A whole version. Equal trees hold equal files, committed or not.
    TreeId
);
