//! Test drivers that CMake makes (`create_test_sourcelist`): one program with a table of tests, which runs the one that it is given
//! the name of. What it does for a test depends on one row; so rows are read apart from the rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Digest;
use crate::lang::c::lexer::{Token, TokenKind, lex};
use crate::lang::facts::TestDriver;

/// The table, as CMake calls it.
pub const TABLE: &str = "cmakeGeneratedFunctionMapEntries";

/// The headers of CMake's own template: another one is the project's, and may say anything.
const HEADERS: [&[u8]; 5] = [b"ctype", b"stdio", b"stdlib", b"string", b"time"];

/// Where projects can put code of their own into the driver, told by what stands next to each other if they did not.
const UNTOUCHED: [&str; 3] = [
    "int testToRun = - 1 ; if ( ac",
    "int result ; if ( testToRun < 0",
    "( * cmakeGeneratedFunctionMapEntries [ testToRun ] . func ) ( ac , av ) ; return result ;",
];

/// Reads a driver that holds nothing but what CMake put there; nothing, if it is something else.
#[must_use]
pub fn test_driver(bytes: &[u8]) -> Option<TestDriver> {
    if u32::try_from(bytes.len()).is_err() {
        return None;
    }
    let tokens = lex(bytes);
    let text = Text { bytes, tokens };
    let table = text.find(&format!("{TABLE} [ ] = {{"))?;
    let is_only_one = text
        .find_from(table + 1, &format!("{TABLE} [ ] ="))
        .is_none();
    let is_untouched = UNTOUCHED.iter().all(|words| text.find(words).is_some());
    if !is_only_one || !is_untouched || !text.includes_only_headers() {
        return None;
    }
    let (rows, end) = text.rows(table + 5)?;
    let functions: BTreeSet<&[u8]> = rows.iter().map(|(_, function)| *function).collect();
    let mut rest = Digest::new();
    let mut at = 0;
    while at < text.tokens.len() {
        at = match at {
            at if at == table + 5 => end,
            at => text.declaration(at, &functions).unwrap_or_else(|| {
                rest.absorb(text.tokens[at].hash(bytes));
                at + 1
            }),
        };
    }
    let mut by_name = BTreeMap::new();
    for (name, function) in rows {
        let name = String::from_utf8_lossy(name).to_lowercase();
        // The driver takes the first row that fits.
        by_name
            .entry(name)
            .or_insert_with(|| String::from_utf8_lossy(function).into_owned());
    }
    Some(TestDriver {
        rest: rest.finish(),
        rows: by_name,
    })
}

/// The tokens of a file.
struct Text<'b> {
    bytes: &'b [u8],
    tokens: Vec<Token>,
}

impl<'b> Text<'b> {
    fn word(&self, at: usize) -> Option<&'b [u8]> {
        Some(self.tokens.get(at)?.text(self.bytes))
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        Some(self.tokens.get(at)?.kind)
    }

    /// Whether some words, written with blanks between them, stand at a place.
    fn has(&self, at: usize, words: &str) -> bool {
        let mut words = words.split(' ').zip(at..);
        words.all(|(word, at)| self.word(at) == Some(word.as_bytes()))
    }

    fn find(&self, words: &str) -> Option<usize> {
        self.find_from(0, words)
    }

    fn find_from(&self, start: usize, words: &str) -> Option<usize> {
        (start..self.tokens.len()).find(|at| self.has(*at, words))
    }

    fn includes_only_headers(&self) -> bool {
        let mut places = 0..self.tokens.len();
        places.all(|at| {
            let is_include = self.kind(at) == Some(TokenKind::Directive)
                && self.word(at + 1) == Some(b"include");
            let is_header = || {
                self.has(at + 2, "<")
                    && self
                        .word(at + 3)
                        .is_some_and(|name| HEADERS.contains(&name))
                    && self.has(at + 4, ". h >")
            };
            !is_include || is_header()
        })
    }

    /// The rows from a place on, each a name and a function, and the place of what ends them: a row without a name.
    #[expect(clippy::type_complexity, reason = "a list of pairs and where it ends")]
    fn rows(&self, mut at: usize) -> Option<(Vec<(&'b [u8], &'b [u8])>, usize)> {
        let mut rows = Vec::new();
        while self.kind(at + 1) == Some(TokenKind::String) {
            let (name, function) = (self.word(at + 1)?, self.word(at + 3)?);
            let is_row = self.has(at, "{")
                && self.has(at + 2, ",")
                && self.kind(at + 3) == Some(TokenKind::Identifier)
                && self.has(at + 4, "} ,");
            let name = name.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            if !is_row || name.contains(&b'\\') {
                return None;
            }
            rows.push((name, function));
            at += 6;
        }
        let ends = [
            "{ CM_NULL , CM_NULL } } ;",
            "{ NULL , NULL } } ;",
            "{ 0 , 0 } } ;",
        ];
        ends.iter()
            .any(|end| self.has(at, end))
            .then_some((rows, at))
    }

    /// The place behind the declaration of a function of the table, if one begins here.
    fn declaration(&self, at: usize, functions: &BTreeSet<&[u8]>) -> Option<usize> {
        let is_declaration = self.has(at, "int")
            && functions.contains(self.word(at + 1)?)
            && self.has(at + 2, "( int , char * [ ] ) ;");
        is_declaration.then_some(at + 11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As CMake writes it, as far as it matters; `rows` and what a project adds before a test runs are put in.
    fn driver(rows: &[&str], include: &str, before: &str) -> String {
        let declared: String = rows
            .iter()
            .map(|row| format!("int {row}(int, char*[]);\n"))
            .collect();
        let listed: String = rows
            .iter()
            .map(|row| format!("  {{\n    \"Dir/{row}\",\n    {row}\n  }},\n"))
            .collect();
        format!(
            "#include <ctype.h>\n#include <time.h>\n{include}\n{declared}
typedef int (*MainFuncPointer)(int, char*[]);
static functionMapEntry cmakeGeneratedFunctionMapEntries[] = {{
{listed}  {{ CM_NULL, CM_NULL }} /* NOLINT */
}};
int main(int ac, char* av[])
{{
  int testToRun = -1;

  if (ac < 2) {{ return -1; }}
  if (testToRun != -1) {{
    int result;
{before}
    if (testToRun < 0 || testToRun >= NumTests) {{ return -1; }}
    result = (*cmakeGeneratedFunctionMapEntries[testToRun].func)(ac, av);

    return result;
  }}
  return -1;
}}
"
        )
    }

    fn read(rows: &[&str]) -> TestDriver {
        test_driver(driver(rows, "", "").as_bytes()).expect("it is a driver")
    }

    #[test]
    fn rows_are_read_apart_from_the_rest() {
        let (two, three) = (read(&["a", "b"]), read(&["a", "New", "b"]));
        assert_eq!(two.rest, three.rest);
        let row = |driver: &TestDriver, name: &str| driver.rows.get(name).cloned();
        assert_eq!(row(&two, "dir/new"), None);
        assert_eq!(row(&three, "dir/new").as_deref(), Some("New"));
        assert_eq!(row(&three, "dir/b"), row(&two, "dir/b"));
    }

    #[test]
    fn what_a_project_adds_makes_it_something_else() {
        let is_driver =
            |include, before| test_driver(driver(&["a"], include, before).as_bytes()).is_some();
        assert!(is_driver("", ""));
        assert!(!is_driver("#include \"mine.h\"", ""));
        assert!(!is_driver("#include <mine.h>", ""));
        assert!(!is_driver("", "printf(\"%d\\n\", testToRun);"));
        let other = driver(&["a"], "", "").replace("CM_NULL }", "a }");
        assert!(test_driver(other.as_bytes()).is_none());
        assert!(test_driver(b"int main(void) { return 0; }").is_none());
    }

    #[test]
    fn another_text_around_the_rows_is_another_rest() {
        let other = driver(&["a", "b"], "", "").replace("return -1; }", "return -2; }");
        let other = test_driver(other.as_bytes()).expect("it is a driver");
        assert_ne!(other.rest, read(&["a", "b"]).rest);
    }

    #[test]
    fn of_two_rows_of_one_name_the_first_counts() {
        let doubled = driver(&["a", "b"], "", "").replace("\"Dir/b\"", "\"DIR/A\"");
        let doubled = test_driver(doubled.as_bytes()).expect("it is a driver");
        assert_eq!(doubled.rows, [("dir/a".to_owned(), "a".to_owned())].into());
    }

    #[test]
    fn a_driver_that_ends_early_is_none() {
        let whole = driver(&["a", "b"], "", "");
        for end in 0..whole.len() - 10 {
            let _ = test_driver(&whole.as_bytes()[..end]);
        }
        assert!(test_driver(&whole.as_bytes()[..whole.len() / 2]).is_none());
    }
}
