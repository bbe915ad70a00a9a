//! What the text of a header or a source may have a compiler look for beyond what it reads.
//!
//! Nothing is parsed: what a compiler takes for a comment or a string is too easily mistaken. A name too many costs a look into a folder.

const HAS_INCLUDE: &str = "has_include";

/// The headers that a text names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named<'t> {
    /// Those for which it asks whether they are there.
    pub asked: Vec<&'t str>,
    /// Whether these are all for which it asks.
    pub is_asked_clearly: bool,
    /// Those that it may include, and those for which it asks.
    pub included: Vec<&'t str>,
    /// Whether it includes no others.
    pub is_included_clearly: bool,
}

impl<'t> Named<'t> {
    /// Of a text whose lines are joined.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let (asked, is_asked_clearly) = asked(text);
        let (included, is_included_clearly) = included(text);
        Named {
            asked,
            is_asked_clearly,
            included,
            is_included_clearly,
        }
    }
}

/// A text in which lines that a backslash joins are one, as compilers read it.
#[must_use]
pub fn joined(content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content);
    let mut parts = text.split('\\');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.trim_start_matches([' ', '\t', '\x0b', '\x0c']);
        let behind = behind.strip_prefix('\r').unwrap_or(behind);
        match behind.strip_prefix('\n') {
            Some(next) => joined.push_str(next),
            None => {
                joined.push('\\');
                joined.push_str(part);
            }
        }
    }
    joined
}

/// Whether a text in small letters may ask for more than for headers: what is in other files, or what time it is.
pub(super) fn asks_more(text: &str) -> bool {
    let words = ["__has_embed", "__date__", "__time__", "__timestamp__"];
    let mut embeds = text.match_indices("embed");
    words.iter().any(|word| text.contains(word))
        || embeds.any(|(at, _)| ends_with_sign(&text[..at]))
}

/// Whether an assembler, which takes either, may read more for what is in a text in small letters.
pub(super) fn reads_more(text: &str) -> bool {
    text.contains("incbin") || text.contains(".include")
}

/// Whether a text asks whether a header is there, under whatever name.
pub(super) fn asks_for_headers(text: &str) -> bool {
    text.contains("__has_")
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Whatever compilers pass over between two words, and letters that are none of C's.
fn is_blank(letter: char) -> bool {
    letter.is_ascii_whitespace() && letter != '\n' && letter != '\r'
        || letter == '\x0b'
        || letter == '\0'
        || !letter.is_ascii()
}

fn asked(text: &str) -> (Vec<&str>, bool) {
    let (mut names, mut is_clear) = (Vec::new(), !text.contains("??/"));
    for (at, word) in text.match_indices(HAS_INCLUDE) {
        let behind = &text[at + word.len()..];
        let behind = behind.strip_prefix("_next").unwrap_or(behind);
        let behind = behind.strip_prefix("__").unwrap_or(behind).trim_start();
        let Some(operand) = behind.strip_prefix('(') else {
            // Who asks whether one can ask; but another name for it may be used anywhere.
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
    // The rest of the word may be pasted to it.
    for (at, part) in text.match_indices("__has_") {
        is_clear &= text[at + part.len()..].starts_with(is_letter);
    }
    (names, is_clear)
}

/// Whatever stands behind such a word, in comments and strings, too, and in branches that are not compiled. A directive without a
/// name may include anything.
fn included(text: &str) -> (Vec<&str>, bool) {
    let (mut names, mut is_clear) = (Vec::new(), !text.contains("??/"));
    let words = text
        .match_indices("include")
        .chain(text.match_indices("import"));
    for (at, word) in words {
        let behind = text[at + word.len()..].trim_start_matches(is_letter);
        match name(behind.trim_start_matches(|letter| is_blank(letter) || letter == '(')) {
            Some(name) => names.push(name),
            None => is_clear &= !ends_with_sign(&text[..at]),
        }
    }
    (names, is_clear)
}

/// Whether a word behind a text may be that of a directive: nothing or a comment is between it and a sign.
fn ends_with_sign(text: &str) -> bool {
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let line = line.trim_end_matches(is_blank);
    ["#", "%:", "??=", "*/"]
        .iter()
        .any(|sign| line.ends_with(sign))
}

/// The name of a header that stands at the beginning.
fn name(operand: &str) -> Option<&str> {
    let operand = operand.trim_start_matches(is_blank);
    let end = match operand.chars().next()? {
        '<' => '>',
        '"' => '"',
        _ => return None,
    };
    let (name, _) = operand[1..].split_once(end)?;
    let is_plain = !name.contains(['\n', '\r', char::REPLACEMENT_CHARACTER]);
    is_plain.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_backslash_joins_are_one() {
        for (text, whole) in [
            ("a\\\nb", "ab"),
            ("a\\ \t\r\nb\\n\\", "ab\\n\\"),
            ("\"\\\\\nx\"", "\"\\x\""),
            ("no\nline", "no\nline"),
        ] {
            assert_eq!(joined(text.as_bytes()), whole, "{text:?}");
        }
    }

    #[test]
    fn texts_that_may_ask_or_read_more_are_known() {
        for more in [
            "puts(__DATE__);",
            "puts(__TIMESTAMP__);",
            "#embed \"x\"",
            "a\n #\tembed <x>",
            "# /* y */ embed <x>",
        ] {
            assert!(asks_more(&more.to_ascii_lowercase()), "{more}");
        }
        assert!(!asks_more("int time(void); /* date, embedded */"));
        assert!(reads_more(&".INCBIN \"x\"".to_ascii_lowercase()));
        assert!(reads_more("asm(\".incbin \\\"x\\\"\");"));
        assert!(!reads_more("#include <x.h>"));
    }

    #[test]
    fn headers_that_are_asked_for_are_known() {
        let text = "#if defined(__has_include) && __has_include(<a/b.h>) || __has_include_next( \"c.h\" )\n#ifdef __glibc_has_include\n# if __glibc_has_include (\"d.h\") || __has_include__(<e.h>)";
        assert_eq!(asked(text), (vec!["a/b.h", "c.h", "d.h", "e.h"], true));
        for text in [
            "__has_include(X)",
            "#define HAS __has_include\n",
            "#define H(x) __has_include(x)",
            "#if P(__has_,include)(\"f.h\")",
            "#if __has_inc??/\nlude(\"f.h\")",
        ] {
            assert!(!asked(text).1, "{text}");
        }
        let text = joined(b"#if __has_inc\\\nlude(\"f.h\")\n");
        assert_eq!(asked(&text), (vec!["f.h"], true));
    }

    #[test]
    fn headers_that_are_included_are_known_wherever_they_stand() {
        for text in [
            "#include <a.h>\n",
            "\u{feff}#include <a.h>\n",
            " # \tinclude\"a.h\" // d\n",
            "x\r#import \"a.h\"\r",
            "/* a */ # include_next <a.h>",
            "#/* x */include <a.h>\n",
            "#\\\ninclude <a.h>\n",
            "#inc\\ \nlude <a\\\n.h>\n",
            "%:include <a.h>\n",
            "??=include <a.h>\n",
            "#include\u{a0}<a.h>\n",
            "\0#include \0<a.h>\n",
            "#warning see src/*\n#include <a.h>\n/* */",
            "\"a\\\\\nn /* \"\n#include <a.h>\n",
            "1'000; /* '\n#include <a.h>\n",
            "R\\\n\"x(\"/*)x\"\n#include <a.h>\n",
            "/* not by include's or this include, but #endif */\n#error \"include <a.h> first\"\n",
        ] {
            let text = joined(text.as_bytes());
            assert_eq!(included(&text), (vec!["a.h"], true), "{text:?}");
        }
        for text in [
            "#include MACRO\n",
            "#include /* x */ <a.h>\n",
            "#include /*\n*/ <a.h>\n",
            "# /*\n*/ include X\n",
            "%: include X\n",
            "#include <a\n.h>\n",
            "#inc??/\nlude <a.h>\n",
            "#include",
        ] {
            assert!(!included(text).1, "{text}");
        }
    }
}
