//! The shape of one `#define`: what its own replacement list looks like.

use crate::digest::{Name, Names};
use crate::lang::c::lexer::{IN_IDENTIFIER, Token, TokenKind};
use crate::lang::c::source::symbols;
use crate::lang::c::words;
use crate::lang::facts::{MacroDefinition, MacroShape, Paste};

/// Reads a definition from the tokens behind `# define`, without the directive's end.
pub(crate) fn definition(source: &[u8], tokens: &[Token]) -> Option<MacroDefinition> {
    let (name, rest) = tokens.split_first()?;
    if name.kind != TokenKind::Identifier {
        return None;
    }
    // Only a parenthesis that touches the name opens a parameter list.
    let function_like = rest
        .first()
        .is_some_and(|token| token.is(source, "(") && token.start == name.end);
    let (parameters, body) = if function_like {
        let close = rest
            .iter()
            .position(|token| token.is(source, ")"))
            .unwrap_or(rest.len() - 1);
        (&rest[1..close.max(1)], &rest[close + 1..])
    } else {
        (&rest[..0], rest)
    };
    let is_parameter = |token: &Token| {
        token.is(source, "__VA_ARGS__")
            || parameters.iter().any(|parameter| {
                parameter.kind == TokenKind::Identifier
                    && parameter.text(source) == token.text(source)
            })
    };
    let mut mentions = Vec::new();
    let mut capital_calls = Vec::new();
    for (index, token) in body.iter().enumerate() {
        let text = token.text(source);
        if token.kind != TokenKind::Identifier || words::is_keyword(text) || is_parameter(token) {
            continue;
        }
        mentions.push(Name::of(text));
        let called = body.get(index + 1).is_some_and(|next| next.is(source, "("));
        if called && words::in_capitals(text) {
            capital_calls.push(Name::of(text));
        }
    }
    let (pastes, whole) = pastes(source, body, &is_parameter);
    mentions.extend(whole);
    mentions.extend(symbols(source, body));
    Some(MacroDefinition {
        name: String::from_utf8_lossy(name.text(source)).into_owned(),
        function_like,
        shape: shape(source, body, &is_parameter),
        jumps: body.iter().any(|token| words::is_jump(token.text(source))),
        stringifies: function_like
            && body
                .windows(2)
                .any(|pair| pair[0].is(source, "#") && is_parameter(&pair[1])),
        stores: body.iter().any(|token| token.is(source, "static")),
        links: body.iter().any(|token| token.is(source, "extern")),
        pragma: (0..body.len()).any(|index| pragma_operator(source, &body[index..])),
        path: path(source, body),
        mentions: Names::new(mentions),
        capital_calls: Names::new(capital_calls),
        pastes,
    })
}

/// Whether some tokens begin with a pragma, written as an operator, that acts beyond its function.
pub(crate) fn pragma_operator(source: &[u8], tokens: &[Token]) -> bool {
    let is_word = |byte: &u8| IN_IDENTIFIER[usize::from(*byte)];
    match tokens {
        [word, _, text, ..] if word.is(source, "_Pragma") => {
            let text = text.text(source);
            let words = text.split(|byte| !is_word(byte));
            words::pragma_acts_beyond(words.filter(|word| !word.is_empty() && *word != b"L"))
        }
        [word, _, rest @ ..] if word.is(source, "__pragma") => {
            words::pragma_acts_beyond(rest.iter().map(|token| token.text(source)))
        }
        _ => false,
    }
}

/// Longer replacements are no path of a file.
const LONGEST_PATH: usize = 256;

/// What an `#include` of the macro would look for: `"h.h"`, `<h.h>`, or `sub/h.h` from which `#` makes a string.
fn path(source: &[u8], body: &[Token]) -> Option<String> {
    let (first, last) = (body.first()?, body.last()?);
    let text = &source[first.start as usize..last.end as usize];
    let is_word = |token: &Token| {
        matches!(token.kind, TokenKind::Identifier | TokenKind::Number)
            || matches!(token.text(source), b"." | b"/" | b"-")
    };
    let path = match text {
        [b'"', path @ .., b'"'] if body.len() == 1 => path,
        [b'<', path @ .., b'>'] => path,
        path if body.len() > 2 && body.iter().all(is_word) => path,
        _ => return None,
    };
    let is_path = path.len() <= LONGEST_PATH && !path.contains(&b' ') && path.contains(&b'.');
    is_path.then(|| String::from_utf8_lossy(path).into_owned())
}

/// The names that `##` builds: patterns, and names known in full.
fn pastes(
    source: &[u8],
    body: &[Token],
    is_parameter: &dyn Fn(&Token) -> bool,
) -> (Vec<Paste>, Vec<Name>) {
    let mut patterns = Vec::new();
    let mut whole = Vec::new();
    let mut index = 0;
    while index < body.len() {
        let mut end = index + 1;
        while end + 1 < body.len() && body[end].is(source, "##") {
            end += 2;
        }
        let chain: Vec<&Token> = body[index..end].iter().step_by(2).collect();
        // `, ## __VA_ARGS__` swallows a comma and builds no name.
        if chain.len() > 1 && !chain[0].is(source, ",") {
            let literal = |token: &&&Token| !is_parameter(token);
            let text = |tokens: Vec<&&Token>| {
                tokens
                    .iter()
                    .map(|token| String::from_utf8_lossy(token.text(source)).into_owned())
                    .collect::<String>()
            };
            if chain.iter().all(|token| !is_parameter(token)) {
                whole.push(Name::of(text(chain.iter().collect()).as_bytes()));
            } else {
                let mut suffix: Vec<&&Token> = chain.iter().rev().take_while(literal).collect();
                suffix.reverse();
                patterns.push(Paste {
                    prefix: text(chain.iter().take_while(literal).collect()),
                    suffix: text(suffix),
                });
            }
        }
        index = end;
    }
    (patterns, whole)
}

fn shape(source: &[u8], body: &[Token], is_parameter: &dyn Fn(&Token) -> bool) -> MacroShape {
    if body.is_empty() {
        return MacroShape::Nothing;
    }
    let has_word = |word: &str| body.iter().any(|token| token.is(source, word));
    let has_case = has_word("case") || (has_word("default") && !has_word("_Generic"));
    if has_case || !is_balanced(source, body) {
        return MacroShape::Unbalanced;
    }
    if is_attribute(source, body) {
        return MacroShape::Attribute;
    }
    if let Some(alias) = alias_of(source, body, is_parameter) {
        return MacroShape::Alias(alias);
    }
    if is_loop_head(source, body) {
        return MacroShape::LoopHead;
    }
    if is_cast(source, body) {
        return MacroShape::Cast;
    }
    if is_type(source, body) {
        return MacroShape::Type;
    }
    let is_operator = |token: &Token| {
        token.kind == TokenKind::Punctuator
            && !matches!(
                token.text(source),
                b"(" | b")" | b"{" | b"}" | b"[" | b"]" | b";" | b","
            )
    };
    if body.iter().all(is_operator) {
        return MacroShape::Operator;
    }
    if is_statement(source, body) {
        return MacroShape::Statement;
    }
    MacroShape::Expression
}

fn is_balanced(source: &[u8], body: &[Token]) -> bool {
    let mut open = Vec::new();
    for token in body {
        match token.text(source) {
            b"(" => open.push(b')'),
            b"{" => open.push(b'}'),
            close @ (b")" | b"}") if open.pop() != Some(close[0]) => {
                return false;
            }
            _ => {}
        }
    }
    open.is_empty()
}

/// The index behind the parenthesised group that opens at `open`.
fn behind_group(source: &[u8], body: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in body.iter().enumerate().skip(open) {
        match token.text(source) {
            b"(" => depth += 1,
            b")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    body.len()
}

fn is_attribute(source: &[u8], body: &[Token]) -> bool {
    let mut index = 0;
    while index < body.len() {
        let text = body[index].text(source);
        let opens = body.get(index + 1).is_some_and(|next| next.is(source, "("));
        if words::is_attribute_call(text) && opens {
            index = behind_group(source, body, index + 1);
        } else if words::is_qualifier(text) || (body[index].kind == TokenKind::String && index > 0)
        {
            index += 1;
        } else if text == b"[" && body.get(index + 1).is_some_and(|next| next.is(source, "[")) {
            let Some(close) = body[index..].iter().position(|token| token.is(source, "]")) else {
                return false;
            };
            index += close + 2;
        } else {
            return false;
        }
    }
    true
}

fn alias_of(source: &[u8], body: &[Token], is_parameter: &dyn Fn(&Token) -> bool) -> Option<Name> {
    let first = body.first()?;
    let text = first.text(source);
    if first.kind != TokenKind::Identifier || words::is_keyword(text) || is_parameter(first) {
        return None;
    }
    let alone =
        body.len() == 1 || (body[1].is(source, "(") && behind_group(source, body, 1) == body.len());
    alone.then(|| Name::of(text))
}

/// It ends where the controlled statement must follow: `for (...)`, `if (...)`, `else`.
fn is_loop_head(source: &[u8], body: &[Token]) -> bool {
    let Some(last) = body.last() else {
        return false;
    };
    if last.is(source, "else") {
        return true;
    }
    if !last.is(source, ")") {
        return false;
    }
    let mut depth = 0usize;
    let mut open = body.len() - 1;
    loop {
        match body[open].text(source) {
            b")" => depth += 1,
            b"(" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if open == 0 {
            return false;
        }
        open -= 1;
    }
    if open == 0 {
        return false;
    }
    match body[open - 1].text(source) {
        b"for" | b"if" | b"switch" => true,
        // `do { ... } while (0)` is a whole statement.
        b"while" => {
            open == 1
                || !(body[open - 2].is(source, "}")
                    && body.iter().any(|token| token.is(source, "do")))
        }
        _ => false,
    }
}

fn is_cast(source: &[u8], body: &[Token]) -> bool {
    body.len() > 2
        && body[0].is(source, "(")
        && behind_group(source, body, 0) == body.len()
        && is_type(source, &body[1..body.len() - 1])
}

fn is_type(source: &[u8], body: &[Token]) -> bool {
    let mut certain = false;
    let mut bare_names = 0;
    for (index, token) in body.iter().enumerate() {
        let text = token.text(source);
        if words::is_type_word(text) {
            certain = true;
        } else if text == b"*" {
            // `a * b` is a product; a type's stars come last.
            if index == 0
                || body[index..]
                    .iter()
                    .any(|rest| !rest.is(source, "*") && !words::is_qualifier(rest.text(source)))
            {
                return false;
            }
            certain = true;
        } else if token.kind == TokenKind::Identifier && !words::is_keyword(text) {
            bare_names += 1;
        } else if !words::is_qualifier(text) {
            return false;
        }
    }
    certain && bare_names <= 1
}

fn is_statement(source: &[u8], body: &[Token]) -> bool {
    let first = body[0].text(source);
    let has_semicolon = body.iter().any(|token| token.is(source, ";"));
    has_semicolon
        || words::is_jump(first)
        || matches!(first, b"do" | b"if" | b"for" | b"while" | b"switch")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::lexer::lex;

    fn define(text: &str) -> MacroDefinition {
        let tokens = lex(text.as_bytes());
        definition(text.as_bytes(), &tokens).expect("the text begins with a name")
    }

    #[test]
    fn each_kind_of_replacement_has_its_shape() {
        for (text, expected) in [
            ("A", MacroShape::Nothing),
            ("A(x)", MacroShape::Nothing),
            ("A __attribute__((unused))", MacroShape::Attribute),
            (
                "A(n) __attribute__((format(printf, n, 0)))",
                MacroShape::Attribute,
            ),
            ("A static inline", MacroShape::Attribute),
            ("A extern \"C\"", MacroShape::Attribute),
            ("A (unsigned char *)", MacroShape::Cast),
            ("A (foo_t *)", MacroShape::Cast),
            ("A (x)", MacroShape::Expression),
            ("A unsigned long", MacroShape::Type),
            ("A struct foo *", MacroShape::Type),
            ("A(i, n) for (i = 0; i < n; i++)", MacroShape::LoopHead),
            ("A(x) if (x)", MacroShape::LoopHead),
            ("A(x) if (x) {} else", MacroShape::LoopHead),
            ("A(x) do { f(x); } while (0)", MacroShape::Statement),
            ("A return 1", MacroShape::Statement),
            ("A &&", MacroShape::Operator),
            ("A(x) ((x) + 1)", MacroShape::Expression),
            ("A { 0, 0 }", MacroShape::Expression),
            ("A do {", MacroShape::Unbalanced),
            ("A case 2: case 3:", MacroShape::Unbalanced),
            ("A(x) _Generic(x, default: 1)", MacroShape::Expression),
            ("A extern \"C\" {", MacroShape::Unbalanced),
            ("A B", MacroShape::Alias(Name::of(b"B"))),
            ("A(x) B(x, 1)", MacroShape::Alias(Name::of(b"B"))),
        ] {
            assert_eq!(define(text).shape, expected, "{text}");
        }
    }

    #[test]
    fn a_parenthesis_after_a_space_is_part_of_the_replacement() {
        assert!(!define("A (x)").function_like);
        assert!(define("A(x) x").function_like);
    }

    #[test]
    fn parameters_are_not_mentioned() {
        let macro_definition = define("A(x) f(x, y)");
        assert!(macro_definition.mentions.contains(Name::of(b"y")));
        assert!(!macro_definition.mentions.contains(Name::of(b"x")));
    }

    #[test]
    fn pasting_keeps_what_is_known_of_the_name() {
        let pattern = |text: &str| define(text).pastes;
        assert_eq!(pattern("A(x) get_##x##_size()")[0].prefix, "get_");
        assert_eq!(pattern("A(x) get_##x##_size()")[0].suffix, "_size");
        assert!(pattern("A(x, y) x##y")[0].is_wild());
        assert!(pattern("A(f, ...) g(f, ##__VA_ARGS__)").is_empty());
        assert!(define("A a##b").mentions.contains(Name::of(b"ab")));
    }

    #[test]
    fn a_broken_definition_is_read_as_far_as_it_goes() {
        assert_eq!(define("A(x").shape, MacroShape::Nothing);
        assert!(definition(b"1", &lex(b"1")).is_none());
    }
}
