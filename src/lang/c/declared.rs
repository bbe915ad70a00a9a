//! Names in declaring positions: members, parameters and declarators say what is declared, not what is used.
//!
//! Only a macro can change the meaning of such a name, so it is mentioned weakly (see [`Name::weak`](crate::digest::Name::weak)).

use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

/// Where in a declaration a token stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Members,
    Parameters,
}

struct Context {
    place: Place,
    close: usize,
    /// Words before the name that can be its type.
    type_words: usize,
    tag_follows: bool,
    /// Behind the comma of `int a, *b` the type is already known.
    typed: bool,
    candidate: Option<usize>,
}

impl Context {
    fn new(place: Place, close: usize) -> Self {
        Context {
            place,
            close,
            type_words: 0,
            tag_follows: false,
            typed: false,
            candidate: None,
        }
    }
}

/// The positions between two others (both included) whose names are declared there.
pub(crate) fn declared(source: &Source<'_>, first: usize, last: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut stack = vec![Context::new(Place::Top, last + 1)];
    let mut at = first;
    while at <= last {
        while stack.len() > 1 && stack.last().is_some_and(|context| at >= context.close) {
            let ended = stack.pop();
            found.extend(ended.and_then(|context| context.candidate));
        }
        let Some(context) = stack.last_mut() else {
            break;
        };
        let close = source.closes[at];
        match source.text(at) {
            b"struct" | b"union" | b"enum" => context.tag_follows = true,
            b"," => {
                found.extend(context.candidate.take());
                context.typed = context.place != Place::Parameters;
                context.type_words = 0;
            }
            b";" => {
                found.extend(context.candidate.take());
                *context = Context::new(context.place, context.close);
            }
            b"(" if close != NONE && close <= last => {
                let attribute = at > first && words::is_attribute_call(source.text(at - 1));
                if attribute {
                    at = close;
                } else if !matches!(source.text_or_end(at + 1), b"*" | b"^") {
                    found.extend(context.candidate.take());
                    stack.push(Context::new(Place::Parameters, close));
                }
            }
            b"[" if close != NONE && close <= last => {
                found.extend(context.candidate.take());
                at = close;
            }
            b"{" if close != NONE && close <= last => {
                context.tag_follows = false;
                context.type_words += 1;
                if has_members(source, first, at) {
                    stack.push(Context::new(Place::Members, close));
                } else {
                    at = close;
                }
            }
            b"=" | b":" => {
                found.extend(context.candidate.take());
                at = behind_value(source, at, last.min(context.close)) - 1;
            }
            text if source.is_identifier(at) => {
                if words::is_type_word(text) {
                    context.type_words += 1;
                } else if !words::is_keyword(text) {
                    if !context.tag_follows && (context.typed || context.type_words > 0) {
                        context.candidate = Some(at);
                    }
                    context.tag_follows = false;
                    context.type_words += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found.extend(stack.into_iter().filter_map(|context| context.candidate));
    found
}

/// Whether the brace opens the members of a struct or union.
fn has_members(source: &Source<'_>, first: usize, open: usize) -> bool {
    let mut at = open;
    while at > first {
        at -= 1;
        match source.text(at) {
            b"struct" | b"union" => return true,
            b")" => continue,
            text if source.is_identifier(at) && !matches!(text, b"enum") => {}
            b"(" => {}
            _ => return false,
        }
    }
    false
}

/// The position of the comma or semicolon behind a value.
fn behind_value(source: &Source<'_>, from: usize, last: usize) -> usize {
    let mut at = from + 1;
    while at <= last {
        match source.text(at) {
            b"," | b";" | b")" | b"}" => return at,
            b"(" | b"[" | b"{" if source.closes[at] != NONE => at = source.closes[at],
            _ => {}
        }
        at += 1;
    }
    at.max(from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let source = Source::read(text.as_bytes());
        declared(&source, 0, source.live.len() - 1)
            .into_iter()
            .map(|position| String::from_utf8_lossy(source.text(position)).into_owned())
            .collect()
    }

    #[test]
    fn members_are_declared_and_their_types_are_used() {
        assert_eq!(
            names(
                "struct s { foo_t a, *b; struct t c[N]; unsigned d : W; int (*cb)(bar_t, baz_t x); };"
            ),
            ["a", "b", "c", "d", "cb", "x"]
        );
    }

    #[test]
    fn parameters_are_declared_and_unnamed_types_are_used() {
        assert_eq!(
            names("foo_t *f(bar_t, const baz_t *p, struct s q);"),
            ["f", "p", "q"]
        );
    }

    #[test]
    fn initial_values_are_used() {
        assert_eq!(names("foo_t a = b, c = { d };"), ["a", "c"]);
    }

    #[test]
    fn enumerators_are_left_to_the_enum() {
        assert_eq!(names("typedef enum { A, B = X } e_t;"), ["e_t"]);
    }
}
