//! Whether the build compiles a place of a source, as far as traces tell.

use std::collections::BTreeMap;

use super::executed::{Executed, Function};
use crate::repo::RepoPath;

/// The functions of every file.
pub struct Compiled<'a> {
    files: BTreeMap<&'a RepoPath, Vec<&'a Function<'a>>>,
}

impl<'a> Compiled<'a> {
    #[must_use]
    pub fn new(functions: &'a [Function<'a>]) -> Self {
        let mut files: BTreeMap<&RepoPath, Vec<&Function<'_>>> = BTreeMap::new();
        for function in functions {
            files.entry(function.file).or_default().push(function);
        }
        Compiled { files }
    }

    /// Whether what stands at a byte of a file is compiled, or may be. Inside a function that is, every branch of an `#if` may be.
    #[must_use]
    pub fn has(&self, file: &RepoPath, place: usize) -> bool {
        let own = self.files.get(file).map_or(&[][..], Vec::as_slice);
        let is_around = |function: &&&Function<'_>| {
            let span = &function.entity.span;
            (span.start as usize..span.end as usize).contains(&place)
        };
        let is_built = |function: &Function<'_>| function.executed != Executed::NotBuilt;
        match own.iter().find(is_around) {
            Some(function) => is_built(function),
            // A file that offers functions is compiled with one of them or not at all.
            None => {
                own.iter().all(|function| function.entity.internal)
                    || own.iter().any(|function| is_built(function))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::executed::functions;
    use super::super::executed::tests::{file, traced};
    use super::*;
    use crate::history::Uncounted;

    #[test]
    fn only_what_the_build_contains_is_compiled() {
        let source =
            "int limit = 1;\nint f(void)\n{\n    return 2;\n}\nint g(void)\n{\n    return 3;\n}\n";
        let other = "int limit = 4;\nint h(void)\n{\n    return 5;\n}\n";
        let header = "#define LIMIT 6\nstatic int i(void)\n{\n    return 7;\n}\n";
        let texts = [("a.c", source), ("other.c", other), ("a.h", header)];
        let files: Vec<_> = texts.iter().map(|(path, text)| file(path, text)).collect();
        let traces = [traced(&files, "f", &[&[0]])];
        let has = |uncounted: &Uncounted, number: &str| {
            let found = functions(&files, &traces, uncounted);
            let all = texts.iter().zip(&files);
            let mut places = all.filter_map(|((_, text), (path, _))| {
                let place = text.find(number)?;
                Some(Compiled::new(&found).has(path, place))
            });
            places.next().expect("it is there")
        };
        let counted = Uncounted::default();
        // A header is what others make of it.
        assert_eq!(
            ["1", "2", "6"].map(|number| has(&counted, number)),
            [true; 3]
        );
        assert_eq!(
            ["3", "4", "5", "7"].map(|number| has(&counted, number)),
            [false; 4]
        );
        // Where counters are missing, anything may be there.
        let blind = Uncounted {
            blind: Some("why".to_owned()),
            ..Uncounted::default()
        };
        assert!(has(&blind, "3") && has(&blind, "4"));
    }
}
