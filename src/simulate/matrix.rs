//! Fault matrices: which test meets which change, and which fault it reveals.
//!
//! The format is text in lines, the fields of a line apart by tabs; `#` begins a line that is not read:
//!
//! ```text
//! fault-matrix  1
//! test     NAME  MILLISECONDS
//! version  NAME
//! crosses  TEST  EDGE...
//! reveals  TEST  FAULT...
//! ```
//!
//! All tests come first. What follows a `version` is about the change that made it: the tests that the safe technique selects, with the dangerous edges that each crosses, and the faults that came with the change, with the tests that reveal them as long as they are there.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    pub tests: Vec<Test>,
    pub versions: Vec<Version>,
    pub faults: Vec<Fault>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub milliseconds: u64,
    /// The faults that it reveals, in the order of the file: where several are there, the first hides the others.
    pub reveals: Vec<usize>,
}

/// A version and the change that made it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    pub name: String,
    /// The tests that the safe technique selects, with the edges that they cross.
    pub crossed_by: Vec<(usize, Vec<u32>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub name: String,
    /// The version that brought it.
    pub version: usize,
}

const HINT: &str = "'git rts simulate --help' describes the format";

impl Matrix {
    /// Reads a matrix; an error tells the line.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader::default();
        let lines = text.lines().enumerate();
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        match lines.next() {
            Some((_, line)) if line.trim_end() == "fault-matrix\t1" => {}
            Some((_, line)) if line.starts_with("fault-matrix\t") => {
                return Err(Error::new("this version of the format is not known").hint(HINT));
            }
            _ => return Err(Error::new("this is not a fault matrix").hint(HINT)),
        }
        for (number, line) in lines {
            reader
                .line(line)
                .map_err(|what| Error::new(format!("line {}: {what}", number + 1)).hint(HINT))?;
        }
        let matrix = reader.matrix;
        let missing = [
            (matrix.tests.is_empty(), "test"),
            (matrix.versions.is_empty(), "version"),
            (matrix.faults.is_empty(), "fault"),
        ];
        match missing.iter().find(|(is_missing, _)| *is_missing) {
            Some((_, what)) => Err(Error::new(format!("the matrix has no {what}")).hint(HINT)),
            None => Ok(matrix),
        }
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    matrix: Matrix,
    tests: FxHashMap<String, usize>,
    edges: FxHashMap<String, u32>,
    faults: FxHashMap<String, usize>,
    /// Where the tests of the last version stand in it.
    crossing: FxHashMap<usize, usize>,
}

impl Reader {
    fn line(&mut self, line: &str) -> std::result::Result<(), String> {
        let fields: Vec<&str> = line.trim_end_matches(['\r', '\t']).split('\t').collect();
        match fields[..] {
            ["test", name, milliseconds] => self.test(name, milliseconds),
            ["version", name] => self.version(name),
            ["crosses", test, ref edges @ ..] => self.crosses(test, edges),
            ["reveals", test, ref faults @ ..] if !faults.is_empty() => self.reveals(test, faults),
            ["test" | "version" | "crosses" | "reveals", ..] => {
                Err(format!("'{}' has the wrong number of fields", fields[0]))
            }
            _ => Err(format!("'{}' is not known", fields[0])),
        }
    }

    fn test(&mut self, name: &str, milliseconds: &str) -> std::result::Result<(), String> {
        if !self.matrix.versions.is_empty() {
            return Err("tests come before versions".to_owned());
        }
        let milliseconds = milliseconds
            .parse()
            .map_err(|_| format!("'{milliseconds}' is not a number of milliseconds"))?;
        let place = self.matrix.tests.len();
        if self.tests.insert(name.to_owned(), place).is_some() {
            return Err(format!("the test '{name}' is there twice"));
        }
        self.matrix.tests.push(Test {
            name: name.to_owned(),
            milliseconds,
            reveals: Vec::new(),
        });
        Ok(())
    }

    fn version(&mut self, name: &str) -> std::result::Result<(), String> {
        self.crossing.clear();
        self.matrix.versions.push(Version {
            name: name.to_owned(),
            crossed_by: Vec::new(),
        });
        Ok(())
    }

    fn crosses(&mut self, test: &str, edges: &[&str]) -> std::result::Result<(), String> {
        let test = self.known(test)?;
        let Some(version) = self.matrix.versions.last_mut() else {
            return Err("'crosses' comes after a version".to_owned());
        };
        let place = *self.crossing.entry(test).or_insert_with(|| {
            version.crossed_by.push((test, Vec::new()));
            version.crossed_by.len() - 1
        });
        for edge in edges {
            let fresh = self.edges.len() as u32;
            let edge = *self.edges.entry((*edge).to_owned()).or_insert(fresh);
            version.crossed_by[place].1.push(edge);
        }
        Ok(())
    }

    fn reveals(&mut self, test: &str, faults: &[&str]) -> std::result::Result<(), String> {
        let test = self.known(test)?;
        let Some(version) = self.matrix.versions.len().checked_sub(1) else {
            return Err("'reveals' comes after a version".to_owned());
        };
        for name in faults {
            let fresh = self.matrix.faults.len();
            let fault = *self.faults.entry((*name).to_owned()).or_insert(fresh);
            if fault == fresh {
                self.matrix.faults.push(Fault {
                    name: (*name).to_owned(),
                    version,
                });
            }
            let brought = self.matrix.faults[fault].version;
            if brought != version {
                let brought = &self.matrix.versions[brought].name;
                return Err(format!("the fault '{name}' came already with '{brought}'"));
            }
            let reveals = &mut self.matrix.tests[test].reveals;
            if !reveals.contains(&fault) {
                reveals.push(fault);
            }
        }
        Ok(())
    }

    fn known(&self, test: &str) -> std::result::Result<usize, String> {
        let known = self.tests.get(test).copied();
        known.ok_or_else(|| format!("the test '{test}' is not known"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: &str = "# two tests\nfault-matrix\t1\n\ntest\ta b\t20\ntest\tc\t0\r\nversion\tv1\ncrosses\ta b\te1\te2\ncrosses\tc\nreveals\ta b\tf1\tf2\nversion\tv2\ncrosses\tc\te2\nreveals\tc\tf3\n";

    #[test]
    fn a_matrix_is_read() {
        let matrix = Matrix::parse(SMALL).expect("it is one");
        assert_eq!(matrix.tests[0].name, "a b");
        assert_eq!(matrix.tests[0].reveals, [0, 1]);
        assert_eq!(
            matrix.versions[0].crossed_by,
            [(0, vec![0, 1]), (1, vec![])]
        );
        assert_eq!(matrix.versions[1].crossed_by, [(1, vec![1])]);
        let brought: Vec<usize> = matrix.faults.iter().map(|fault| fault.version).collect();
        assert_eq!(brought, [0, 0, 1]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (from, to, words) in [
            ("fault-matrix\t1", "fault-matrix\t2", "version"),
            ("fault-matrix\t1", "matrix", "not a fault matrix"),
            ("test\tc\t0", "test\tc\tlong", "line 5: 'long'"),
            (
                "test\tc\t0",
                "test\ta b\t0",
                "line 5: the test 'a b' is there twice",
            ),
            ("test\tc\t0", "test c 0", "line 5: 'test c 0' is not known"),
            (
                "test\tc\t0",
                "test\tc",
                "line 5: 'test' has the wrong number",
            ),
            ("crosses\tc\te2", "crosses\td\te2", "line 11: the test 'd'"),
            (
                "reveals\tc\tf3",
                "reveals\tc\tf1",
                "line 12: the fault 'f1' came already with 'v1'",
            ),
            ("version\tv1\n", "", "line 6: 'crosses' comes after"),
            ("reveals\tc\tf3", "test\te\t1", "line 12: tests come before"),
        ] {
            let error = Matrix::parse(&SMALL.replacen(from, to, 1)).expect_err("it is broken");
            assert!(error.message.contains(words), "{error}");
            assert!(!error.hints.is_empty());
        }
        let error = Matrix::parse("fault-matrix\t1\n").expect_err("it is empty");
        assert!(error.message.contains("no test"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            lines in proptest::collection::vec("(test|version|crosses|reveals|#)?(\t[ab1]?){0,3}", 0..20),
        ) {
            let _ = Matrix::parse(&format!("fault-matrix\t1\n{}", lines.join("\n")));
        }
    }
}
