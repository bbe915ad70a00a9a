//! Why coverage data cannot be read. Whoever meets this knows nothing about the run, so the test must be selected.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The bytes do not begin like a raw profile.
    NotAProfile,
    /// The bytes are no ELF file.
    NotABinary,
    BigEndian,
    Bits32,
    ProfileVersion(u32),
    MapVersion(u32),
    /// A flag for each block instead of counters: it tells no outcomes of conditions.
    ByteCoverage,
    /// Some other instrumentation, by the upper half of the version field.
    OtherInstrumentation(u32),
    /// The binary was not compiled for coverage.
    NoMap,
    Truncated,
    /// The bytes contradict themselves; the text says where.
    Damaged(&'static str),
    /// A record of a profile has fewer counters than the function's regions mention.
    TooFewCounters,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NotAProfile => formatter.write_str("not a raw profile"),
            Unreadable::NotABinary => formatter.write_str("not an ELF file"),
            Unreadable::BigEndian => formatter.write_str("big-endian data is not supported"),
            Unreadable::Bits32 => formatter.write_str("32-bit data is not supported"),
            Unreadable::ProfileVersion(version) => {
                write!(formatter, "raw profile version {version} is not known")
            }
            Unreadable::MapVersion(version) => {
                write!(formatter, "coverage map version {version} is not known")
            }
            Unreadable::ByteCoverage => {
                formatter.write_str("single-byte coverage has no counts of branches")
            }
            Unreadable::OtherInstrumentation(flags) => write!(
                formatter,
                "the profile is not of source coverage (flags {flags:#x})"
            ),
            Unreadable::NoMap => formatter.write_str("the binary has no coverage map"),
            Unreadable::Truncated => formatter.write_str("the data ends too early"),
            Unreadable::Damaged(place) => write!(formatter, "the data is damaged: {place}"),
            Unreadable::TooFewCounters => {
                formatter.write_str("the profile has too few counters for the function")
            }
        }
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_fit_behind_the_name_of_a_file() {
        for (error, text) in [
            (Unreadable::Truncated, "the data ends too early"),
            (
                Unreadable::ProfileVersion(11),
                "raw profile version 11 is not known",
            ),
            (
                Unreadable::Damaged("the build id"),
                "the data is damaged: the build id",
            ),
            (
                Unreadable::OtherInstrumentation(1 << 24),
                "the profile is not of source coverage (flags 0x1000000)",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
