//! Why the bytes of a notes or data file could not be understood.

use std::fmt;

/// A file that is not what it should be. Its tests count as having executed everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The first word says that it is something else: "notes" or "data" was expected.
    NotGcov(&'static str),
    /// A file of a machine with the other byte order.
    ByteOrder,
    /// A version whose format is not known, as four characters.
    Version([u8; 4]),
    /// The file ends too early.
    CutShort,
    /// What stands there cannot be.
    Damaged(&'static str),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NotGcov(kind) => write!(formatter, "not a gcov {kind} file"),
            Unreadable::ByteOrder => formatter.write_str("written with another byte order"),
            Unreadable::Version(version) => write!(
                formatter,
                "written in the unknown gcov format '{}'",
                version.escape_ascii()
            ),
            Unreadable::CutShort => formatter.write_str("the file is cut short"),
            Unreadable::Damaged(what) => write!(formatter, "the file is damaged: {what}"),
        }
    }
}

impl std::error::Error for Unreadable {}
