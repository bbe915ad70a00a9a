//! Patterns for entities, as CIA has them: a kind, a name and a file, for instance `function *print file=incl.c`.

use crate::config::NameGlob;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::lang::facts::{Kind, before_arguments};
use crate::nearest::nearest;
use crate::repo::RepoPath;

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Everything,
    Entity(Kind),
    Edge,
}

/// One pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As it was written.
    pub text: String,
    pub wanted: Wanted,
    name: Option<NameGlob>,
    file: Option<NameGlob>,
}

impl Pattern {
    #[must_use]
    pub fn matches_file(&self, file: &RepoPath) -> bool {
        let file_glob = self.file.as_ref();
        file_glob.is_none_or(|glob| glob.is_match_path(file))
    }

    /// Whether an entity is meant; of a file, the name is its path.
    #[must_use]
    pub fn matches(&self, kind: Kind, file: &RepoPath, name: &str) -> bool {
        let is_wanted = match self.wanted {
            Wanted::Everything => kind != Kind::File,
            Wanted::Entity(wanted) => kind == wanted,
            Wanted::Edge => false,
        };
        is_wanted && self.is_named(kind, file, name)
    }

    /// Whether the edges of a function are meant.
    #[must_use]
    pub fn matches_edges_of(&self, file: &RepoPath, function: &str) -> bool {
        let is_wanted = matches!(self.wanted, Wanted::Everything | Wanted::Edge);
        is_wanted && self.is_named(Kind::Function, file, function)
    }

    /// What is meant where these are the files: a word that is the path of one, or the end of it, and can be no name in C, is that file.
    #[must_use]
    pub fn among<'a>(mut self, mut files: impl Iterator<Item = &'a RepoPath>) -> Self {
        let is_word = self.wanted == Wanted::Everything && self.file.is_none();
        let may_be_path = self.text.contains(['.', '/']);
        if is_word
            && let Some(glob) = &self.name
            && files.any(|file| match may_be_path {
                true => glob.is_match_path(file),
                false => file.to_string() == self.text,
            })
        {
            self.wanted = Wanted::Entity(Kind::File);
        }
        self
    }

    /// The same where files are not listed themselves: whoever names one means what is in it.
    #[must_use]
    pub fn of_contents(mut self) -> Self {
        if self.wanted == Wanted::Entity(Kind::File) {
            self.wanted = Wanted::Everything;
            self.file = self.name.take().or(self.file);
        }
        self
    }

    fn is_named(&self, kind: Kind, file: &RepoPath, name: &str) -> bool {
        let is_named = match &self.name {
            None => true,
            Some(glob) if kind == Kind::File => glob.is_match_path(file),
            Some(glob) => glob.is_match(name) || glob.is_match(before_arguments(name)),
        };
        is_named && self.matches_file(file)
    }
}

/// The patterns of a command line: one an argument. One that was not quoted comes in several, the kind first.
pub fn patterns(arguments: &[String]) -> Result<Vec<Pattern>> {
    let is_apart = arguments.len() > 1
        && arguments
            .first()
            .is_some_and(|first| kind_of(first).is_some())
        && !arguments.iter().any(|argument| argument.contains(' '));
    match is_apart {
        true => Ok(vec![pattern(&arguments.join(" "))?]),
        false => arguments.iter().map(|argument| pattern(argument)).collect(),
    }
}

/// Reads `KIND NAME file=FILE`, of which each part may be left out, or `FILE:NAME`.
fn pattern(text: &str) -> Result<Pattern> {
    let mut pattern = Pattern {
        text: text.to_owned(),
        wanted: Wanted::Everything,
        name: None,
        file: None,
    };
    let mut words = text.split_whitespace().peekable();
    if words.peek().is_none() {
        return Err(usage("the pattern is empty".to_owned()));
    }
    if let Some(kind) = words.peek().and_then(|word| kind_of(word)) {
        pattern.wanted = kind;
        words.next();
    }
    for word in words {
        match word.split_once('=') {
            Some(("file", file)) if pattern.file.is_none() => pattern.file = glob(file)?,
            Some((key, _)) if key.chars().all(char::is_alphanumeric) => {
                return Err(usage(format!(
                    "'{word}' in the pattern '{text}' is not known"
                )));
            }
            _ if pattern.name.is_some() => {
                return Err(too_many(text, word));
            }
            _ => match word.rsplit_once(':').filter(|_| pattern.file.is_none()) {
                Some((file, name)) => {
                    pattern.file = glob(file)?;
                    pattern.name = glob(name)?;
                }
                None => pattern.name = glob(word)?,
            },
        }
    }
    Ok(pattern)
}

/// `-` is CIA's word for whatever there is.
fn glob(text: &str) -> Result<Option<NameGlob>> {
    match text {
        "-" | "*" | "" => Ok(None),
        text => {
            let glob = NameGlob::new(text);
            glob.map(Some)
                .map_err(|error| error.exit_code(ExitCode::Usage))
        }
    }
}

const KINDS: [&str; 7] = [
    "any", "function", "variable", "type", "macro", "file", "edge",
];

fn kind_of(word: &str) -> Option<Wanted> {
    Some(match word {
        "-" | "any" => Wanted::Everything,
        "function" => Wanted::Entity(Kind::Function),
        "variable" => Wanted::Entity(Kind::Variable),
        "type" => Wanted::Entity(Kind::Type),
        "macro" => Wanted::Entity(Kind::Macro),
        "file" => Wanted::Entity(Kind::File),
        "edge" => Wanted::Edge,
        _ => return None,
    })
}

/// A word more than a name; perhaps the first was to be a kind.
fn too_many(text: &str, word: &str) -> Error {
    let first = text.split_whitespace().next().unwrap_or_default();
    let error = usage(format!(
        "'{word}' is one name too many in the pattern '{text}'"
    ));
    match (kind_of(first), nearest(first, KINDS.into_iter())) {
        (None, Some(kind)) => error.hint(format!("'{first}' is perhaps '{kind}'")),
        _ => error,
    }
}

fn usage(message: String) -> Error {
    let error = Error::new(message).exit_code(ExitCode::Usage);
    error.hint("a pattern is 'KIND NAME file=FILE', for instance 'function *print file=incl.c'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Pattern {
        let mut all = patterns(&[text.to_owned()]).expect(text);
        all.remove(0)
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn the_pattern_of_the_paper_means_functions_of_one_file_by_the_end_of_their_names() {
        let pattern = one("function *print file=incl.c");
        assert!(pattern.matches(Kind::Function, &path("src/incl.c"), "dagprint"));
        assert!(!pattern.matches(Kind::Function, &path("src/incl.c"), "printer"));
        assert!(!pattern.matches(Kind::Macro, &path("src/incl.c"), "dagprint"));
        assert!(!pattern.matches(Kind::Function, &path("tree.c"), "dagprint"));
    }

    #[test]
    fn a_kind_that_is_misspelt_is_told() {
        let told = patterns(&["functoin area".to_owned()]).expect_err("two names");
        let hint = "'functoin' is perhaps 'function'".to_owned();
        assert!(told.hints.contains(&hint), "{:?}", told.hints);
        let told = patterns(&["function area other".to_owned()]).expect_err("two names");
        assert_eq!(told.hints.len(), 1, "{:?}", told.hints);
    }

    #[test]
    fn a_dash_or_nothing_is_any_name() {
        for text in ["function -", "function", "function *"] {
            assert!(
                one(text).matches(Kind::Function, &path("a.c"), "f"),
                "{text}"
            );
        }
        assert!(one("-").matches(Kind::Type, &path("a.c"), "f"));
        assert!(!one("-").matches(Kind::File, &path("a.c"), "a.c"));
    }

    #[test]
    fn a_function_that_a_macro_may_name_is_found_with_its_arguments_and_without() {
        for text in ["function f", "f(int*x)", "f*"] {
            assert!(
                one(text).matches(Kind::Function, &path("a.c"), "f(int*x)"),
                "{text}"
            );
        }
        assert!(!one("function g").matches(Kind::Function, &path("a.c"), "f(int*x)"));
    }

    #[test]
    fn a_name_alone_is_of_any_kind_and_may_say_its_file() {
        assert!(one("f").matches(Kind::Macro, &path("a.c"), "f"));
        assert!(one("a.c:f").matches(Kind::Macro, &path("lib/a.c"), "f"));
        assert!(!one("a.c:f").matches(Kind::Macro, &path("lib/b.c"), "f"));
    }

    #[test]
    fn a_file_is_named_by_its_path_or_the_end_of_it() {
        assert!(one("file lib/*.c").matches(Kind::File, &path("lib/a.c"), "lib/a.c"));
        assert!(one("file a.c").matches(Kind::File, &path("lib/a.c"), "lib/a.c"));
        assert!(one("edge parse*").matches_edges_of(&path("a.c"), "parse_it"));
        assert!(!one("function parse*").matches_edges_of(&path("a.c"), "parse_it"));
    }

    #[test]
    fn a_word_that_is_a_file_means_the_file_or_what_is_in_it() {
        let files = [path("lib/a.c"), path("Makefile")];
        let among = |text: &str| one(text).among(files.iter());
        for text in ["a.c", "lib/a.c", "*.c"] {
            assert!(
                among(text).matches(Kind::File, &files[0], "lib/a.c"),
                "{text}"
            );
            let contents = among(text).of_contents();
            assert!(contents.matches(Kind::Macro, &files[0], "M"), "{text}");
            assert!(contents.matches_edges_of(&files[0], "f"), "{text}");
            assert!(!contents.matches(Kind::Macro, &path("b.h"), "M"), "{text}");
        }
        assert!(among("Makefile").matches(Kind::File, &files[1], "Makefile"));
        assert!(!among("Make*").matches(Kind::File, &files[1], "Makefile"));
        assert!(!among("b.c").matches(Kind::File, &path("b.c"), "b.c"));
        assert!(among("a.c:f").matches(Kind::Function, &files[0], "f"));
        let file = one("file a.c").of_contents();
        assert!(file.matches(Kind::Type, &files[0], "t"));
        assert!(!file.matches(Kind::Type, &files[1], "t"));
    }

    #[test]
    fn a_pattern_without_quotes_is_put_together() {
        let words = ["function", "*print", "file=incl.c"].map(str::to_owned);
        let all = patterns(&words).expect("a pattern");
        assert_eq!(all.len(), 1);
        assert!(!all[0].matches(Kind::Function, &path("a.c"), "dagprint"));
        let two = ["function f", "macro M"].map(str::to_owned);
        assert_eq!(patterns(&two).expect("two patterns").len(), 2);
    }

    #[test]
    fn what_is_no_pattern_is_wrong_usage() {
        for text in ["", "function a b", "function a line=3", "function [a"] {
            let error = patterns(&[text.to_owned()]).expect_err(text);
            assert_eq!(error.exit_code, ExitCode::Usage, "{text}");
        }
    }
}
