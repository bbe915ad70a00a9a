//! The names that an item at file scope declares, read from its tokens.

use crate::lang::c::items::Item;
use crate::lang::c::macros::{MacroClass, MacroTable};
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

/// The top level of an item: positions of its tokens, groups by their opening bracket only, attributes left out.
pub(crate) fn top_level(
    source: &Source<'_>,
    macros: &MacroTable,
    first: usize,
    last: usize,
) -> Vec<usize> {
    let mut tops = Vec::new();
    let mut at = first;
    while at <= last {
        let text = source.text(at);
        let group = (source.text_or_end(at + 1) == b"(" && at < last)
            .then(|| source.closes[at + 1])
            .filter(|close| *close != NONE && *close <= last);
        let is_blank = source.is_name(at)
            && macros.get(source.name(at)).map(|known| known.class) == Some(MacroClass::Blank);
        if words::is_attribute_call(text) || words::is_asm(text) || is_blank {
            at = group.map_or(at, |close| close) + 1;
            continue;
        }
        tops.push(at);
        if matches!(text, b"(" | b"[" | b"{") && source.closes[at] != NONE {
            at = source.closes[at];
        }
        at += 1;
    }
    tops
}

/// The name in `type f(...);`, where f may also be a macro that stands for nothing in another configuration.
///
/// In `type x ATTRIBUTE(1);` there is a name between the type and the macro.
pub(crate) fn prototype_of_empty_macro(
    source: &Source<'_>,
    first: usize,
    last: usize,
) -> Option<usize> {
    let list =
        (first + 2..last).find(|at| source.text(*at) == b"(" && source.closes[*at] == last - 1)?;
    let name = list - 1;
    let before = (first..name).filter(|at| source.is_identifier(*at));
    let before: Vec<&[u8]> = before
        .map(|at| source.text(at))
        .filter(|text| !words::is_qualifier(text))
        .collect();
    let type_words = before.iter().filter(|text| words::is_type_word(text));
    let names = before
        .iter()
        .filter(|text| !words::is_keyword(text))
        .count();
    let has_tag = before
        .iter()
        .any(|text| matches!(*text, b"struct" | b"union" | b"enum"));
    let is_one_type = match type_words.count() {
        0 => names == 1,
        _ if has_tag => names == 1,
        _ => names == 0,
    };
    (is_one_type && source.is_name(name)).then_some(name)
}

/// The position of the name that a function definition defines.
///
/// `API(int) f(int x)` and `int f(int x) ATTR(1)` both define `f`: the first name with a group that does not open the
/// item, else the last one.
pub(crate) fn function_name(
    source: &Source<'_>,
    macros: &MacroTable,
    item: &Item,
    open: usize,
) -> Option<usize> {
    let mut tops = top_level(source, macros, item.first, open.saturating_sub(1));
    // `void f(char *p) {` where f is also a macro that stands for nothing: a definition has a name all the same.
    if let Some(list) =
        (item.first + 2..open).find(|at| source.text(*at) == b"(" && source.closes[*at] == open - 1)
        && source.is_name(list - 1)
        && !tops.contains(&(list - 1))
    {
        tops.extend([list - 1, list]);
        tops.sort_unstable();
    }
    let mut start = 0;
    while start < tops.len() && words::is_qualifier(source.text(tops[start])) {
        start += 1;
    }
    let candidates: Vec<usize> = (1..tops.len())
        .filter(|index| source.text(tops[*index]) == b"(" && source.is_name(tops[*index - 1]))
        .map(|index| index - 1)
        .collect();
    let named = candidates
        .iter()
        .find(|index| **index > start)
        .or(candidates.last())
        .map(|index| tops[*index]);
    named.or_else(|| {
        // `int (*f(int a))(void)` and `int (f)(int a)`: the name is inside the first group.
        let group = tops
            .iter()
            .find(|position| source.text(**position) == b"(")?;
        name_in_group(source, *group)
    })
}

/// The name that a parenthesised declarator declares.
fn name_in_group(source: &Source<'_>, open: usize) -> Option<usize> {
    let close = source.closes[open];
    if close == NONE {
        return None;
    }
    let mut found = None;
    let mut at = open + 1;
    while at < close {
        match source.text(at) {
            b"[" => break,
            b"(" if found.is_some() => break,
            _ if source.is_name(at) => found = Some(at),
            _ => {}
        }
        at += 1;
    }
    found
}

/// One declarator of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declarator {
    pub(crate) name: usize,
    pub(crate) is_function: bool,
    /// Positions of its tokens, both included; the first declarator also takes what stands before it.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The declarators of a declaration, from the top-level tokens behind the type.
pub(crate) fn declarators(source: &Source<'_>, tops: &[usize], last: usize) -> Vec<Declarator> {
    let mut found = Vec::new();
    for chunk in tops.split(|position| matches!(source.text(*position), b"," | b";")) {
        let Some(first) = chunk.first().copied() else {
            continue;
        };
        let shape = chunk
            .split(|position| matches!(source.text(*position), b"=" | b":"))
            .next()
            .unwrap_or_default();
        let group = shape
            .iter()
            .position(|position| source.text(*position) == b"(");
        let (name, is_function) = match group {
            Some(index)
                if index > 0
                    && source.is_name(shape[index - 1])
                    && !is_pointer_group(source, shape, index) =>
            {
                (Some(shape[index - 1]), true)
            }
            Some(index) => (name_in_group(source, shape[index]), false),
            None => (
                shape
                    .iter()
                    .rev()
                    .copied()
                    .find(|position| source.is_name(*position)),
                false,
            ),
        };
        let next = tops
            .iter()
            .copied()
            .find(|position| *position > chunk[chunk.len() - 1])
            .unwrap_or(last);
        if let Some(name) = name {
            found.push(Declarator {
                name,
                is_function,
                first,
                last: next.saturating_sub(1).max(first),
            });
        }
    }
    found
}

/// `type_t (*f)(int)`: the first group holds a pointer, so the name before it is a type.
fn is_pointer_group(source: &Source<'_>, shape: &[usize], index: usize) -> bool {
    matches!(source.text_or_end(shape[index] + 1), b"*" | b"^")
        && shape
            .get(index + 1)
            .is_some_and(|position| matches!(source.text(*position), b"(" | b"["))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::items::{ItemKind, items};

    fn defined(text: &str) -> Option<String> {
        let source = Source::read(text.as_bytes());
        let macros = MacroTable::default();
        let item = items(&source, &macros)[0];
        let ItemKind::Definition { open } = item.kind else {
            return None;
        };
        function_name(&source, &macros, &item, open)
            .map(|name| String::from_utf8_lossy(source.text(name)).into_owned())
    }

    fn declared(text: &str) -> Vec<(String, bool)> {
        let source = Source::read(text.as_bytes());
        let tops = top_level(&source, &MacroTable::default(), 0, source.live.len() - 1);
        declarators(&source, &tops, source.live.len() - 1)
            .into_iter()
            .map(|declarator| {
                let name = String::from_utf8_lossy(source.text(declarator.name)).into_owned();
                (name, declarator.is_function)
            })
            .collect()
    }

    #[test]
    fn the_name_of_a_function_is_found_among_macros() {
        for text in [
            "int f(int x) {}",
            "API(int) f(int x) {}",
            "static API(int) f(int x) {}",
            "int f(int x) ATTR(1) {}",
            "API int CALL f(int x) NONNULL(1) {}",
            "__attribute__((noreturn)) void f(void) {}",
            "f(a) int a; {}",
            "int (*f(int a))(void) {}",
            "int (f)(int a) {}",
            "struct s *f(a, b) int a; char *b; {}",
        ] {
            assert_eq!(defined(text).as_deref(), Some("f"), "{text}");
        }
    }

    #[test]
    fn a_function_that_is_also_an_empty_macro_has_its_name() {
        let text = "INLINE(void) f(char *p) { }";
        let source = Source::read(text.as_bytes());
        let definition =
            crate::lang::c::shapes::definition(b"f(p)", &crate::lang::c::lexer::lex(b"f(p)"));
        let macros = MacroTable::learn(&definition);
        let item = items(&source, &macros)[0];
        let ItemKind::Definition { open } = item.kind else {
            unreachable!("it is a definition");
        };
        let name = function_name(&source, &macros, &item, open).map(|name| source.text(name));
        assert_eq!(name, Some(&b"f"[..]));
    }

    #[test]
    fn a_prototype_is_told_from_an_attribute_behind_a_name() {
        let found = |text: &str| {
            let source = Source::read(text.as_bytes());
            prototype_of_empty_macro(&source, 0, source.live.len() - 1)
                .map(|name| String::from_utf8_lossy(source.text(name)).into_owned())
        };
        for text in [
            "code_t f(int a);",
            "static unsigned long *f(void);",
            "struct s *f(int a);",
        ] {
            assert_eq!(found(text).as_deref(), Some("f"), "{text}");
        }
        for text in [
            "int x ATTR(1);",
            "code_t x ATTR(1);",
            "struct s x ATTR(1);",
            "x = (1);",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn each_declarator_is_found() {
        let names = |pairs: &[(&str, bool)]| -> Vec<(String, bool)> {
            pairs
                .iter()
                .map(|(name, function)| ((*name).to_owned(), *function))
                .collect()
        };
        assert_eq!(
            declared("int a = 1, *b, c[3];"),
            names(&[("a", false), ("b", false), ("c", false)])
        );
        assert_eq!(
            declared("int f(int x), g;"),
            names(&[("f", true), ("g", false)])
        );
        assert_eq!(
            declared("int (*p)(int), q;"),
            names(&[("p", false), ("q", false)])
        );
        assert_eq!(declared("type_t (*p)(int);"), names(&[("p", false)]));
        assert_eq!(
            declared("int a[] = { 1, 2 }, b;"),
            names(&[("a", false), ("b", false)])
        );
    }
}
