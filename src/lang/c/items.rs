//! The items of a file: where each declaration, function definition and remainder begins and ends.
//!
//! This works on tokens alone, so that no error inside one item can reach another.

use crate::lang::c::macros::{MacroClass, MacroTable};
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

/// Positions are indices into [`Source::live`]; `last` is included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) kind: ItemKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A function whose body opens at this position.
    Definition {
        open: usize,
    },
    Declaration,
    /// Something at file scope that is neither: it counts for the whole file.
    Remainder,
}

/// Cuts a file into items.
pub(crate) fn items(source: &Source<'_>, macros: &MacroTable) -> Vec<Item> {
    let mut items = Vec::new();
    let mut first = 0;
    while first < source.live.len() {
        let step = item_at(source, macros, first);
        if let Some((last, kind)) = step.item {
            items.push(Item { first, last, kind });
        }
        first = step.next;
    }
    items
}

struct Step {
    item: Option<(usize, ItemKind)>,
    next: usize,
}

impl Step {
    fn end(last: usize, kind: ItemKind) -> Self {
        Step {
            item: Some((last, kind)),
            next: last + 1,
        }
    }
}

fn item_at(source: &Source<'_>, macros: &MacroTable, first: usize) -> Step {
    let mut at = first;
    let mut assigned = false;
    let mut has_group = false;
    if let Some(last) = lone_macro(source, macros, first) {
        return Step::end(last, ItemKind::Remainder);
    }
    while at < source.live.len() {
        match source.text(at) {
            b";" => {
                if has_group && !assigned && declares_old_style_parameters(source, first, at) {
                    at += 1;
                    continue;
                }
                let kind = match words::is_control(source.text(first)) {
                    true => ItemKind::Remainder,
                    false => ItemKind::Declaration,
                };
                return Step::end(at, kind);
            }
            b"=" => assigned = true,
            b"(" | b"[" => {
                if source.closes[at] == NONE {
                    return unbalanced(source, at);
                }
                has_group |= source.text(at) == b"(";
                at = source.closes[at];
            }
            b"{" => {
                if is_language_block(source, first, at) {
                    return Step {
                        item: None,
                        next: at + 1,
                    };
                }
                let close = source.closes[at];
                if close == NONE {
                    return unbalanced(source, at);
                }
                if !assigned && !is_type_body(source, macros, first, at) {
                    // A statement at file scope belongs to a function that another file or another `#if` begins.
                    let is_function = has_group && !words::is_control(source.text(first));
                    return match is_function {
                        true => Step::end(close, ItemKind::Definition { open: at }),
                        false => Step::end(close, ItemKind::Remainder),
                    };
                }
                at = close;
            }
            b"}" => {
                // The end of an `extern "C"` block, or a brace too many.
                return Step {
                    item: (at > first).then(|| (at - 1, ItemKind::Remainder)),
                    next: at + 1,
                };
            }
            _ => {}
        }
        at += 1;
    }
    Step::end(source.live.len() - 1, ItemKind::Remainder)
}

/// From a bracket that never closes to the next `}` in the first column, where people end a function.
fn unbalanced(source: &Source<'_>, at: usize) -> Step {
    let last = (at..source.live.len())
        .find(|position| {
            source.text(*position) == b"}" && source.is_at_line_start(source.at(*position))
        })
        .unwrap_or(source.live.len() - 1);
    Step::end(last, ItemKind::Remainder)
}

fn is_language_block(source: &Source<'_>, first: usize, open: usize) -> bool {
    open == first + 2
        && source.text(first) == b"extern"
        && source.text(first + 1).starts_with(b"\"")
}

/// A macro invocation that stands alone at file scope without a semicolon; its last position.
fn lone_macro(source: &Source<'_>, macros: &MacroTable, first: usize) -> Option<usize> {
    if !source.is_name(first) {
        return None;
    }
    let class = macros.get(source.name(first)).map(|known| known.class);
    if source.text_or_end(first + 1) != b"(" {
        // `BEGIN_DECLS` before a directive belongs to no declaration.
        let before_directive = class.is_some()
            && first + 1 < source.live.len()
            && source.live[first + 1] > source.live[first] + 1;
        return (class == Some(MacroClass::Unbalanced) || before_directive).then_some(first);
    }
    let close = source.closes[first + 1];
    if close == NONE || matches!(class, Some(MacroClass::Blank | MacroClass::Type)) {
        return None;
    }
    let next = close + 1;
    if next >= source.live.len() {
        return Some(close);
    }
    let new_line = source.line_of(source.at(next).start) > source.line_of(source.at(close).start);
    let goes_on = !source.is_identifier(next) || words::is_attribute_call(source.text(next));
    if !new_line || goes_on {
        return None;
    }
    // `f(a) int a; { ... }` is a function; and a macro nobody defined may also be a return type.
    let old_style = class.is_none()
        && (next..source.live.len())
            .find(|position| source.text(*position) == b";")
            .is_some_and(|semicolon| declares_old_style_parameters(source, first, semicolon));
    (!old_style).then_some(close)
}

/// Whether the `{` at `open` begins the members of a struct, union or enum.
fn is_type_body(source: &Source<'_>, macros: &MacroTable, first: usize, open: usize) -> bool {
    let mut at = first;
    let mut in_type = false;
    while at < open {
        match source.text(at) {
            b"struct" | b"union" | b"enum" => in_type = true,
            // An old-style parameter ends here.
            b";" => in_type = false,
            b"(" => {
                let attribute = at > first
                    && (words::is_attribute_call(source.text(at - 1))
                        || macros.get(source.name(at - 1)).map(|known| known.class)
                            == Some(MacroClass::Blank));
                if !attribute {
                    in_type = false;
                }
                at = source.closes[at];
            }
            b"{" => {
                at = source.closes[at];
                in_type = false;
            }
            _ => {}
        }
        if at == NONE {
            return false;
        }
        at += 1;
    }
    in_type
}

/// Whether the semicolon ends a parameter's declaration of an old-style (K&R) definition.
fn declares_old_style_parameters(source: &Source<'_>, first: usize, semicolon: usize) -> bool {
    let mut at = first;
    while at < semicolon && source.text(at) != b"(" {
        at += 1;
    }
    if at == first || at >= semicolon || !source.is_name(at - 1) {
        return false;
    }
    let close = source.closes[at];
    let names_only = close != NONE
        && close > at + 1
        && (at + 1..close)
            .all(|position| source.is_name(position) || source.text(position) == b",");
    if !names_only || close >= semicolon || !source.is_identifier(close + 1) {
        return false;
    }
    let mut at = semicolon + 1;
    while at < source.live.len() {
        match source.text(at) {
            b"{" => return source.text(at - 1) == b";",
            b"(" | b"[" if source.closes[at] != NONE => at = source.closes[at],
            b";" | b"," | b"*" => {}
            _ if source.is_identifier(at) && source.text(at) != b"typedef" => {}
            _ => return false,
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(String, &'static str)> {
        let source = Source::read(text.as_bytes());
        let macros = MacroTable::default();
        items(&source, &macros)
            .iter()
            .map(|item| {
                let range = source.token_range(item.first, item.last);
                let span = source.span(&range);
                let kind = match item.kind {
                    ItemKind::Definition { .. } => "definition",
                    ItemKind::Declaration => "declaration",
                    ItemKind::Remainder => "remainder",
                };
                (
                    text[span.start as usize..span.end as usize].to_owned(),
                    kind,
                )
            })
            .collect()
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        cut(text).into_iter().map(|(_, kind)| kind).collect()
    }

    #[test]
    fn declarations_and_definitions_are_told_apart() {
        let text = "int a = 1; struct s { int x; } v; int f(void) { return 1; } enum { A, B };";
        assert_eq!(
            kinds(text),
            ["declaration", "declaration", "definition", "declaration"]
        );
    }

    #[test]
    fn old_style_definitions_are_whole() {
        assert_eq!(
            kinds("int f(a, b) int a; char *b; { return a; }"),
            ["definition"]
        );
        assert_eq!(kinds("f(a)\nint a;\n{ return a; }"), ["definition"]);
        assert_eq!(
            kinds("int f(s) struct s *s; { return s->a; } int g(void) { return 1; }"),
            ["definition"; 2]
        );
        assert_eq!(
            kinds("int f(a); int g; struct s { int x; };"),
            ["declaration"; 3]
        );
    }

    #[test]
    fn a_function_that_returns_a_struct_is_a_function() {
        assert_eq!(
            kinds("struct s f(struct s *p) { return *p; }"),
            ["definition"]
        );
        assert_eq!(
            kinds("static const struct s t[] = { { 1 }, };"),
            ["declaration"]
        );
    }

    #[test]
    fn a_macro_alone_on_its_line_is_a_remainder() {
        assert_eq!(
            kinds("DEFINE_LIST(foo)\nint x;\nTEST(a) { f(); }\n"),
            ["remainder", "declaration", "definition"]
        );
    }

    #[test]
    fn a_statement_at_file_scope_is_a_remainder() {
        assert_eq!(kinds("if (bytes > 0) { f(); }"), ["remainder"]);
        assert_eq!(
            kinds("return x; while (a) b();"),
            ["remainder", "remainder"]
        );
    }

    #[test]
    fn a_language_block_is_transparent() {
        assert_eq!(
            kinds("extern \"C\" { int a; int f() { } }"),
            ["declaration", "definition"]
        );
    }

    #[test]
    fn a_brace_too_few_reaches_no_further_than_the_next_function() {
        let text = "int f() { if (x) { g(;\n}\nint h() { return 1; }\n";
        assert_eq!(kinds(text).last(), Some(&"definition"));
    }

    #[test]
    fn nothing_is_lost_on_nonsense() {
        for text in ["}", "(", "{{{", "a b c", "f(", ")))", "int f() {", "= {"] {
            assert!(cut(text).len() <= 4, "{text}");
        }
    }
}
