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
        if text == b"[" && source.text_or_end(at + 1) == b"[" && source.closes[at] != NONE {
            at = source.closes[at] + 1;
            continue;
        }
        tops.push(at);
        if words::makes_type_of_group(text)
            && let Some(close) = group
        {
            // `typeof(x) y` and `_Atomic(int) y`: the group belongs to the type.
            at = close + 1;
            continue;
        }
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

/// The other names that the definition of a function may define: `int MACRO(x) f(int a)` is `f`'s or `MACRO`'s.
pub(crate) fn other_function_names(
    source: &Source<'_>,
    macros: &MacroTable,
    item: &Item,
    open: usize,
    name: usize,
) -> Vec<usize> {
    let tops = top_level(source, macros, item.first, open.saturating_sub(1));
    let first = tops
        .iter()
        .position(|position| !words::is_qualifier(source.text(*position)));
    (1..tops.len())
        .filter(|index| source.text(tops[*index]) == b"(" && source.is_name(tops[*index - 1]))
        .filter(|index| Some(index - 1) != first)
        .map(|index| tops[index - 1])
        .filter(|position| *position != name)
        .collect()
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

/// One declarator of a declaration, under one of the names that it may declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declarator {
    pub(crate) name: usize,
    pub(crate) is_function: bool,
    /// Only a macro knows what is declared here.
    pub(crate) is_doubtful: bool,
    /// Positions of its tokens, both included; the first declarator also takes what stands before it.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// A name that a declarator may declare, and the group behind it.
#[derive(Clone, Copy)]
struct Candidate {
    name: usize,
    group: Option<usize>,
}

/// The declarators of a declaration, from its top-level tokens; `typed` if the type stands before them.
///
/// In `int arr UNUSED = 2;` a header outside the tree may define either name away: both count as declared.
pub(crate) fn declarators(
    source: &Source<'_>,
    macros: &MacroTable,
    tops: &[usize],
    last: usize,
    typed: bool,
) -> Vec<Declarator> {
    let mut found = Vec::new();
    let mut typed = typed;
    for chunk in tops.split(|position| matches!(source.text(*position), b"," | b";")) {
        let Some(first) = chunk.first().copied() else {
            continue;
        };
        let shape = chunk
            .split(|position| matches!(source.text(*position), b"=" | b":"))
            .next()
            .unwrap_or_default();
        let is_assigned = chunk.len() > shape.len() && source.text(chunk[shape.len()]) == b"=";
        let (mut candidates, has_type) = candidates(source, shape, typed);
        let is_typed = has_type || drop_type(source, macros, &mut candidates);
        let is_doubtful = match candidates.as_slice() {
            [one] => {
                !is_typed
                    || makes_name(
                        source,
                        macros,
                        *one,
                        is_assigned || typed && found.is_empty(),
                    )
            }
            several => !several
                .iter()
                .any(|candidate| is_plain(source, macros, *candidate)),
        };
        let next = tops
            .iter()
            .copied()
            .find(|position| *position > chunk[chunk.len() - 1])
            .unwrap_or(last);
        found.extend(candidates.iter().map(|candidate| Declarator {
            name: candidate.name,
            is_function: candidate.group.is_some(),
            is_doubtful,
            first,
            last: next.saturating_sub(1).max(first),
        }));
        typed = true;
    }
    found
}

/// The names behind the type, and whether there is one beyond doubt.
fn candidates(source: &Source<'_>, shape: &[usize], typed: bool) -> (Vec<Candidate>, bool) {
    let mut found: Vec<Candidate> = Vec::new();
    let mut has_type = typed;
    let mut tag_follows = false;
    let mut index = 0;
    while index < shape.len() {
        let at = shape[index];
        let text = source.text(at);
        let group = shape
            .get(index + 1)
            .copied()
            .filter(|next| source.text(*next) == b"(");
        if words::is_type_word(text)
            || words::makes_type_of_group(text)
            || matches!(text, b"*" | b"^")
        {
            // What is declared stands behind its type and its stars.
            tag_follows = matches!(text, b"struct" | b"union" | b"enum");
            has_type |= text != b"_Atomic" || source.text_or_end(at + 1) == b"(";
            found.clear();
        } else if source.is_name(at) {
            index += usize::from(group.is_some());
            let pointer = group.filter(|group| begins_with_star(source, *group));
            let follows = shape.get(index + 1).map(|next| source.text(*next));
            let is_first = !has_type && found.is_empty();
            let inner = group.filter(|_| is_first && follows == Some(b"("));
            if std::mem::take(&mut tag_follows) {
                // The name of the type.
            } else if let Some(pointer) = pointer.or(inner) {
                // `type_t (*f)(int)`, `type_t (f)(int)`: no list of parameters begins with a star, and none follows another.
                has_type = true;
                found = names_in_group(source, pointer);
            } else {
                found.push(Candidate { name: at, group });
            }
        } else if text == b"(" && found.is_empty() {
            found = names_in_group(source, at);
        }
        index += 1;
    }
    (found, has_type)
}

fn begins_with_star(source: &Source<'_>, open: usize) -> bool {
    matches!(source.text_or_end(open + 1), b"*" | b"^")
}

/// Of several names without a type before them, the first is the type; answers whether there is one.
fn drop_type(source: &Source<'_>, macros: &MacroTable, candidates: &mut Vec<Candidate>) -> bool {
    let (Some(first), true) = (candidates.first(), candidates.len() > 1) else {
        return false;
    };
    // `f(int) ATTRIBUTE(1);` has no type, `API(int) f(int);` has one.
    let is_type = first.group.is_none()
        || words::in_capitals(source.text(first.name))
        || macros.get(source.name(first.name)).is_some();
    if is_type {
        candidates.remove(0);
    }
    true
}

/// The names that a parenthesised declarator may declare.
fn names_in_group(source: &Source<'_>, open: usize) -> Vec<Candidate> {
    let close = source.closes[open];
    let mut found = Vec::new();
    for at in open + 1..close.min(source.live.len()) {
        match source.text(at) {
            b"[" => break,
            b"(" if !found.is_empty() => break,
            b"*" | b"^" => found.clear(),
            _ if source.is_name(at) => found.push(Candidate {
                name: at,
                group: None,
            }),
            _ => {}
        }
    }
    found
}

/// Whether `NAME(...)`, the only name, is a macro that makes the declared name from its arguments.
fn makes_name(
    source: &Source<'_>,
    macros: &MacroTable,
    candidate: Candidate,
    is_no_function: bool,
) -> bool {
    let Some(group) = candidate.group else {
        return false;
    };
    let may_be_macro = words::in_capitals(source.text(candidate.name))
        || macros.get(source.name(candidate.name)).is_some();
    is_no_function || may_be_macro && !holds_parameters(source, group)
}

/// A name that nobody would give to a macro, as far as its spelling and its use tell.
fn is_plain(source: &Source<'_>, macros: &MacroTable, candidate: Candidate) -> bool {
    let text = source.text(candidate.name);
    !words::in_capitals(text)
        && !text.starts_with(b"__")
        && macros.get(source.name(candidate.name)).is_none()
        && candidate
            .group
            .is_none_or(|group| holds_parameters(source, group))
}

/// Whether a group can only be a list of parameters: empty, or with a type, a star or a type and a name in it.
fn holds_parameters(source: &Source<'_>, open: usize) -> bool {
    let close = source.closes[open];
    if close == NONE || source.text_or_end(open + 1) == b"(" {
        return false;
    }
    close == open + 1
        || (open + 1..close).any(|at| {
            let text = source.text(at);
            words::is_type_word(text)
                || words::is_qualifier(text)
                || matches!(text, b"*" | b"...")
                || source.is_name(at) && source.is_name(at + 1)
        })
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
        declarators(
            &source,
            &MacroTable::default(),
            &tops,
            source.live.len() - 1,
            false,
        )
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
