//! What the text of a header or a source may have a compiler look for beyond what it reads.

use crate::lang::c::lexer::{TokenKind, lex};

const HAS_INCLUDE: &str = "has_include";

/// The headers that a text names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named<'t> {
    /// Those for which it asks whether they are there.
    pub asked: Vec<&'t str>,
    /// Whether these are all for which it asks.
    pub is_asked_clearly: bool,
    /// Those that it includes, if nothing is in the way.
    pub included: Vec<&'t str>,
    /// Whether it includes no others.
    pub is_included_clearly: bool,
}

impl<'t> Named<'t> {
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let (asked, is_asked_clearly) = match text.contains(HAS_INCLUDE) {
            true => asked(text),
            false => (Vec::new(), true),
        };
        let (included, is_included_clearly) = included(text);
        Named {
            asked,
            is_asked_clearly,
            included,
            is_included_clearly,
        }
    }
}

/// A text in small letters: assemblers take either. Every header of every call is looked through, and this is how that is fast.
pub(super) fn small(content: &[u8]) -> String {
    String::from_utf8_lossy(content).to_ascii_lowercase()
}

/// Whether a text in small letters may ask for more than for headers: what is in other files, or what time it is.
pub(super) fn asks_more(text: &str) -> bool {
    let words = ["__has_embed", "__date__", "__time__", "__timestamp__"];
    let is_directive = |at: usize| {
        let before = text[..at].trim_end();
        before.ends_with('#') || before.ends_with("%:")
    };
    words.iter().any(|word| text.contains(word))
        || text.contains("embed") && text.match_indices("embed").any(|(at, _)| is_directive(at))
}

/// Whether an assembler may read more for what is in a text in small letters.
pub(super) fn reads_more(text: &str) -> bool {
    text.contains("incbin") || text.contains(".include")
}

/// Whether a text asks whether a header is there, under whatever name.
pub(super) fn asks_for_headers(text: &str) -> bool {
    text.contains(HAS_INCLUDE)
}

fn asked(text: &str) -> (Vec<&str>, bool) {
    let (mut names, mut is_clear) = (Vec::new(), true);
    for (at, word) in text.match_indices(HAS_INCLUDE) {
        let behind = &text[at + word.len()..];
        let behind = behind.strip_prefix("_next").unwrap_or(behind);
        let behind = behind.strip_prefix("__").unwrap_or(behind).trim_start();
        let Some(operand) = behind.strip_prefix('(') else {
            // Who asks whether one can ask; but another name for it may be used anywhere.
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let before = text[..at].trim_end_matches(is_letter).trim_end();
            let before = before.strip_suffix('(').unwrap_or(before).trim_end();
            let asks = ["defined", "ifdef", "ifndef"];
            is_clear &= asks.iter().any(|asks| before.ends_with(asks));
            continue;
        };
        match name(operand) {
            Some(name) => names.push(name),
            None => is_clear = false,
        }
    }
    (names, is_clear)
}

/// Both of branches that are compiled and of those that are not; what is not written plainly could be any.
fn included(text: &str) -> (Vec<&str>, bool) {
    let (mut names, mut is_clear) = (Vec::new(), !has_other_signs(text));
    let mut is_word = false;
    for token in lex(text.as_bytes()) {
        let Some(behind) = text.get(token.end as usize..) else {
            is_clear = false;
            continue;
        };
        let word = token.text(text.as_bytes());
        // A string that holds whatever it likes.
        is_clear &= !(word.ends_with(b"R") && behind.starts_with('"'));
        let is_directive = std::mem::replace(&mut is_word, token.kind == TokenKind::Directive);
        match word {
            _ if !is_directive => {}
            b"include" | b"include_next" | b"import" => match name(behind) {
                Some(name) => names.push(name),
                None => is_clear = false,
            },
            // The word may go on in the next line.
            _ => is_clear &= !behind.starts_with('\\'),
        }
    }
    (names, is_clear)
}

/// Whether there may be other ways to write `#`, `\` and the end of a line in a text.
fn has_other_signs(text: &str) -> bool {
    let signs = ["%:", "??=", "??/"];
    let mut ends = text.match_indices('\r');
    signs.iter().any(|sign| text.contains(sign))
        || ends.any(|(at, _)| !text[at..].starts_with("\r\n"))
}

/// The name of a header that stands at the beginning.
fn name(operand: &str) -> Option<&str> {
    let operand = operand.trim_start_matches([' ', '\t']);
    let end = match operand.chars().next()? {
        '<' => '>',
        '"' => '"',
        _ => return None,
    };
    let (name, _) = operand[1..].split_once(end)?;
    let is_plain = !name.contains(['\n', '\r', '\\', char::REPLACEMENT_CHARACTER]);
    is_plain.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_may_ask_or_read_more_are_known() {
        for more in [
            "puts(__DATE__);",
            "puts(__TIMESTAMP__);",
            "#embed \"x\"",
            "a\n #\tembed <x>",
        ] {
            assert!(asks_more(&small(more.as_bytes())), "{more}");
        }
        assert!(!asks_more(&small(b"int time(void); /* DATE, embedded */")));
        assert!(reads_more(&small(b".INCBIN \"x\"")));
        assert!(reads_more(&small(b"asm(\".incbin \\\"x\\\"\");")));
        assert!(!reads_more(&small(b"#include <x.h>")));
    }

    #[test]
    fn headers_that_are_asked_for_are_known() {
        let text = "#if defined(__has_include) && __has_include(<a/b.h>) || __has_include_next( \"c.h\" )\n#ifdef __glibc_has_include\n# if __glibc_has_include (\"d.h\") || __has_include__(<e.h>)";
        assert_eq!(asked(text), (vec!["a/b.h", "c.h", "d.h", "e.h"], true));
        for text in [
            "__has_include(X)",
            "#define HAS __has_include\n",
            "#define H(x) __has_include(x)",
        ] {
            assert!(!asked(text).1, "{text}");
        }
    }

    #[test]
    fn headers_that_are_included_are_known() {
        let text = "#include <a/b.h>\n # \tinclude\"c.h\" // d\n#import \"f.h\"\r\n/* a */ # include_next <g.h>\n#define S(x) #x ## y \"#\\n\"\n/* not by\n#include's or\n#include_next\n*/\n#if 0 \\\n\n#include <n.h\">";
        let names = vec!["a/b.h", "c.h", "f.h", "g.h", "n.h\""];
        assert_eq!(included(text), (names, true));
        for text in [
            "#include MACRO\n",
            "#include /* x */ <a.h>\n",
            "%:include <a.h>\n",
            "#inc\\\nlude <a.h>\n",
            "#incl\\ \nude <a.h>\n",
            "#include \\\n<a.h>\n",
            "#include <a\\\n.h>\n",
            "??=include <a.h>\n",
            "#inc??/\nlude <a.h>\n",
            "R\"(\"/*)\"\n#include <a.h>\n",
            "int x;\r#include <a.h>\r",
            "#include",
        ] {
            assert!(!included(text).1, "{text}");
        }
        for text in ["#/* x */include <a.h>\n", "#\\\ninclude <a.h>\n"] {
            assert_eq!(included(text), (vec!["a.h"], true), "{text}");
        }
    }
}
