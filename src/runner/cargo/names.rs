//! What tests of cargo are called: as nextest calls them, `package::binary path::to::test`.

/// A test binary by what cargo calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) package: String,
    /// `lib`, `bin`, `test`, `example` or `bench`.
    pub(super) kind: &'static str,
    pub(super) name: String,
}

/// Stands in the place of a path for the documentation of a package.
pub(super) const DOC: &str = "--doc";

impl Binary {
    /// The id of the binary as nextest has it.
    pub(super) fn id(&self) -> String {
        let Binary {
            package,
            kind,
            name,
        } = self;
        match *kind {
            "lib" => package.clone(),
            "test" => format!("{package}::{name}"),
            kind => format!("{package}::{kind}/{name}"),
        }
    }

    /// The name of one of its tests.
    pub(super) fn test(&self, path: &str) -> String {
        format!("{} {path}", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_called_as_nextest_calls_them() {
        let id = |kind| {
            let (package, name) = ("p".to_owned(), "n".to_owned());
            Binary {
                package,
                kind,
                name,
            }
            .id()
        };
        assert_eq!(
            ["lib", "test", "bin", "example", "bench"].map(id),
            ["p", "p::n", "p::bin/n", "p::example/n", "p::bench/n"]
        );
    }
}
