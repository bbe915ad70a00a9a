//! Many mutants in one file, each a choice that is made when the program runs (mutant schemata, Untch, Offutt and Harrold).
//!
//! Only one of them is on at a time. So what a choice replaces is written out plainly in its own arm, and the arm of the original
//! holds the choices inside it: the text grows with the mutants, not with how deeply they nest. All of a choice but the original
//! stands in one line, so that every line keeps its number.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::lang::c::body::parse;
use crate::lang::c::declarators::function_name;
use crate::lang::c::items::{ItemKind, items};
use crate::lang::c::lexer::lex;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mask::mask;
use crate::lang::c::mutants::Mutant;
use crate::lang::c::mutants::statements::NEGATED;
use crate::lang::c::source::Source;
use crate::lang::c::{LARGEST, spelling};

/// Declares what is asked whether a mutant is on, without a header and without a line of its own.
const PROLOGUE: &str = "#ifdef __cplusplus\nextern \"C\" int git_rts_switch(int);\n#else\nextern int git_rts_switch(int);\n#endif\n#line 1\n";

/// The lines of it, before the file begins.
const LINES_BEFORE: usize = 6;

/// What is longer is not written twice.
const LONGEST: usize = 4096;

/// A file with some of its mutants as choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switched {
    pub text: Vec<u8>,
    /// Where in the text each mutant is, by its number. Those that are not here cannot be switched.
    pub places: Vec<(usize, Range<usize>)>,
}

impl Switched {
    /// The mutants that a compiler may mean which complains of a line and a column, both from 1: the innermost around the place, or
    /// else those of the line, or else the next one. Lines are those of the file as it was.
    #[must_use]
    pub fn meant(&self, line: usize, column: Option<usize>) -> Vec<usize> {
        let mut lines = self.text.split_inclusive(|byte| *byte == b'\n');
        let start: usize = lines
            .by_ref()
            .take(LINES_BEFORE + line.saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let end = start + lines.next().map_or(0, <[u8]>::len);
        let at = column.map(|column| start + column.saturating_sub(1));
        let around = self
            .places
            .iter()
            .filter(|(_, place)| at.is_some_and(|at| place.contains(&at)));
        match around.min_by_key(|(_, place)| place.len()) {
            Some((number, _)) => vec![*number],
            None => self.on_line_or_next(start..end),
        }
    }

    fn on_line_or_next(&self, line: Range<usize>) -> Vec<usize> {
        let places = || self.places.iter();
        let on_it = places().filter(|(_, place)| place.start < line.end && line.start < place.end);
        let on_it: Vec<usize> = on_it.map(|(number, _)| *number).collect();
        if !on_it.is_empty() {
            return on_it;
        }
        // Compilers complain of a variable where its value is in one of the next lines.
        let behind = places().filter(|(_, place)| place.start >= line.end);
        let next = behind.min_by_key(|(_, place)| (place.start, Reverse(place.end)));
        next.map(|(number, _)| *number).into_iter().collect()
    }
}

/// Writes mutants of a file, each with its number, as choices.
#[must_use]
pub fn switched(source: &[u8], macros: &MacroTable, mutants: &[(usize, &Mutant)]) -> Switched {
    let mut choices = choices(source, macros, mutants);
    // What is around comes before what is inside.
    choices.sort_by(|one, two| {
        let key = |choice: &Choice<'_>| (choice.range.start, Reverse(choice.range.end));
        key(one).cmp(&key(two)).then(one.number.cmp(&two.number))
    });
    let mut writer = Writer {
        source,
        text: PROLOGUE.as_bytes().to_vec(),
        places: Vec::new(),
    };
    if choices.is_empty() {
        writer.text.clear();
    }
    writer.write(0..source.len(), &choices);
    Switched {
        text: writer.text,
        places: writer.places,
    }
}

/// How a mutant is switched.
struct Choice<'m> {
    number: usize,
    mutant: &'m Mutant,
    /// The expression or statement of which there are two.
    range: Range<usize>,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Expression,
    /// An expression of which only the truth counts.
    Truth,
    /// Something up to its semicolon, or nothing.
    Statement,
}

fn choices<'m>(
    source: &[u8],
    macros: &MacroTable,
    mutants: &[(usize, &'m Mutant)],
) -> Vec<Choice<'m>> {
    let mut choices = Vec::new();
    if source.len() > LARGEST {
        return choices;
    }
    let plain = spelling::plain(source);
    let read = Source::read(&plain);
    for item in items(&read, macros) {
        let ItemKind::Definition { open } = item.kind else {
            continue;
        };
        let body = read.at(open).start as usize..read.at(item.last).end as usize;
        let is_inside =
            |mutant: &Mutant| body.start <= mutant.range.start && mutant.range.end <= body.end;
        let mut own = mutants.iter().filter(|(_, one)| is_inside(one)).peekable();
        if own.peek().is_none() || function_name(&read, macros, &item, open).is_none() {
            continue;
        }
        let Ok(masked) = mask(&read, macros, open, item.last) else {
            continue;
        };
        let Ok(tree) = parse(&masked) else {
            continue;
        };
        let base = masked.base as usize;
        for (number, mutant) in own {
            let Some((range, form)) = choice(&tree, base, mutant) else {
                continue;
            };
            let text = &source[range.clone()];
            if range.len() <= LONGEST && text == &plain[range.clone()] && !has_directive(text) {
                choices.push(Choice {
                    number: *number,
                    mutant,
                    range,
                    form,
                });
            }
        }
    }
    choices
}

/// What there must be two of for a mutant.
fn choice(tree: &Tree, base: usize, mutant: &Mutant) -> Option<(Range<usize>, Form)> {
    let (start, end) = (mutant.range.start - base, mutant.range.end - base);
    let mut node = tree.root_node().descendant_for_byte_range(start, end)?;
    if (node.start_byte(), node.end_byte()) != (start, end) {
        return None;
    }
    // A statement and what is in it may have the same borders.
    while let Some(parent) = node.parent()
        && (parent.start_byte(), parent.end_byte()) == (start, end)
        && parent.kind() != "expression_statement"
    {
        node = parent;
    }
    let parent = node.parent()?;
    let place = |node: Node<'_>| base + node.start_byte()..base + node.end_byte();
    let (wanted, form) = match parent.kind() {
        "break_statement" | "continue_statement" => (node, Form::Statement),
        "expression_statement" if mutant.text.is_empty() => (node, Form::Statement),
        _ if !node.is_named() => match parent.kind() {
            "unary_expression" if node.kind() == "!" => (parent, Form::Truth),
            "binary_expression"
            | "assignment_expression"
            | "update_expression"
            | "unary_expression" => (parent, Form::Expression),
            _ => return None,
        },
        "concatenated_string" => (parent, Form::Expression),
        _ if mutant.kind == NEGATED => (node, Form::Truth),
        _ => (node, Form::Expression),
    };
    (!wanted.has_error() && !is_constant(wanted)).then(|| (place(wanted), form))
}

/// Whether the language wants a constant there, so that nothing can be chosen.
fn is_constant(node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        let is = |field: &str| {
            let own = outer.child_by_field_name(field);
            own.is_some_and(|own| own.id() == inner.id())
        };
        match outer.kind() {
            "case_statement" if is("value") => return true,
            "array_declarator" if is("size") => return true,
            "enumerator" | "bitfield_clause" | "attribute_specifier" | "type_descriptor" => {
                return true;
            }
            // `static int x = 3;`, and `char text[] = "abc";`.
            "declaration" => {
                let mut cursor = outer.walk();
                return outer
                    .children(&mut cursor)
                    .any(|child| child.kind() == "storage_class_specifier");
            }
            "init_declarator" if is_string(node) && is("value") => {
                let declarator = outer.child_by_field_name("declarator");
                if declarator.is_some_and(|own| own.kind() == "array_declarator") {
                    return true;
                }
            }
            "compound_statement" => return false,
            _ => {}
        }
        inner = outer;
    }
    false
}

fn is_string(node: Node<'_>) -> bool {
    matches!(node.kind(), "string_literal" | "concatenated_string")
}

fn has_directive(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').skip(1);
    lines.any(|line| line.trim_ascii_start().starts_with(b"#"))
}

struct Writer<'s> {
    source: &'s [u8],
    text: Vec<u8>,
    places: Vec<(usize, Range<usize>)>,
}

impl Writer<'_> {
    /// Writes a part of the file with the choices in it.
    fn write(&mut self, range: Range<usize>, choices: &[Choice<'_>]) {
        let mut at = range.start;
        let mut rest = choices;
        while let Some((choice, others)) = rest.split_first() {
            let inside = others.partition_point(|other| other.range.start < choice.range.end);
            self.text
                .extend_from_slice(&self.source[at..choice.range.start]);
            self.choose(choice, &others[..inside]);
            at = choice.range.end;
            rest = &others[inside..];
        }
        self.text.extend_from_slice(&self.source[at..range.end]);
    }

    fn choose(&mut self, choice: &Choice<'_>, inside: &[Choice<'_>]) {
        let Choice {
            number,
            mutant,
            range,
            form,
        } = choice;
        let start = self.text.len();
        let asked = format!("git_rts_switch({number})");
        let other = in_one_line(
            &[
                &self.source[range.start..mutant.range.start],
                &mutant.text,
                &self.source[mutant.range.end..range.end],
            ]
            .concat(),
        );
        let (before, between, behind) = match form {
            Form::Expression => (format!("({asked} ? ("), ") : (", "))"),
            Form::Truth => (format!("({asked} ? !!("), ") : !!(", "))"),
            // With an `else` of its own it takes nobody else's.
            Form::Statement => (format!("if ({asked}) "), "; else ", ""),
        };
        self.text.extend_from_slice(before.as_bytes());
        self.text.extend_from_slice(&other);
        self.text.extend_from_slice(between.as_bytes());
        self.write(range.clone(), inside);
        self.text.extend_from_slice(behind.as_bytes());
        self.places.push((*number, start..self.text.len()));
    }
}

/// The tokens of a text, without comments and line ends.
fn in_one_line(text: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(text.len());
    let mut end = 0;
    for token in lex(text) {
        let start = token.start as usize;
        if start > end && !line.is_empty() {
            line.push(b' ');
        }
        line.extend_from_slice(token.text(text));
        end = token.end as usize;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::{lex_facts, mutants};

    /// All mutants of a text as choices, without the prologue; and those that cannot be.
    fn written(text: &str) -> (String, Vec<String>) {
        let macros = MacroTable::learn(&lex_facts(text.as_bytes()).macros);
        let all = mutants(text.as_bytes(), &macros);
        let numbered: Vec<(usize, &Mutant)> = all
            .iter()
            .enumerate()
            .map(|(place, mutant)| (place + 1, mutant))
            .collect();
        let switched = switched(text.as_bytes(), &macros, &numbered);
        let is_in = |number: usize| switched.places.iter().any(|(own, _)| *own == number);
        let left = numbered.iter().filter(|(number, _)| !is_in(*number));
        let left = left.map(|(_, one)| String::from_utf8_lossy(&one.text).into_owned());
        let written = String::from_utf8_lossy(&switched.text);
        let written = written.strip_prefix(PROLOGUE).unwrap_or(&written);
        (written.to_owned(), left.collect())
    }

    fn body(text: &str) -> String {
        let (written, left) = written(&format!("int f(int a, char *p) {{ {text} }}"));
        assert!(left.is_empty(), "{left:?}");
        let inside = written.strip_prefix("int f(int a, char *p) { ");
        let inside = inside.and_then(|inside| inside.strip_suffix(" }"));
        inside.expect("the rest stays as it is").to_owned()
    }

    #[test]
    fn an_operator_is_chosen_with_its_operands() {
        assert_eq!(
            body("g(a+p[0]);").matches("git_rts_switch").count(),
            3,
            "the call, the sum and the constant"
        );
        assert_eq!(
            body("a += p[a];"),
            "if (git_rts_switch(1)) ; else (git_rts_switch(2) ? (a -= p[a]) : (a += p[a]));"
        );
        assert_eq!(body("*p++;"), "*(git_rts_switch(1) ? (p--) : (p++));");
    }

    #[test]
    fn what_is_inside_is_chosen_in_the_original_alone() {
        assert_eq!(
            body("while (a < 3) g();"),
            "while ((git_rts_switch(1) ? !!(!(a < 3)) : !!((git_rts_switch(2) ? (a <= 3) : (a < (git_rts_switch(3) ? (4) : (3))))))) \
             if (git_rts_switch(4)) ; else g();"
        );
    }

    #[test]
    fn a_condition_may_be_a_pointer() {
        assert_eq!(
            body("if (p) a; if (!p) a;"),
            "if ((git_rts_switch(1) ? !!(!(p)) : !!(p))) a; if ((git_rts_switch(2) ? !!(p) : !!(!p))) a;"
        );
    }

    #[test]
    fn a_statement_takes_nobody_elses_else() {
        let (text, _) = written("void f(int a) { while (a) { if (a) break; else continue; } }");
        assert!(
            text.contains(") if (git_rts_switch(3)) ; else break; else if (git_rts_switch(4)) break; else continue; }"),
            "{text}"
        );
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = "int f(int a)\n{\n    return a // one\n        + /* two\n        */ g(a,\n             3);\n}\n";
        let (text, left) = written(source);
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(text.lines().count(), source.lines().count());
        assert!(text.contains("? (a - g(a, 3)) : (a // one\n"), "{text}");
    }

    #[test]
    fn strings_that_grow_together_are_chosen_together() {
        let text = body("g(\"one\" \"two\");");
        assert!(
            text.contains("? (\"one\" \"uwo\")") || text.matches("\"two\")").count() >= 2,
            "{text}"
        );
    }

    #[test]
    fn where_a_constant_must_be_nothing_is_chosen() {
        let (text, left) = written(
            "#define M 3\nint x = 4;\nint f(int a)\n{\n    static int y = 5;\n    char t[6], s[] = \"abc\", u[] = \"abc\"\n        \"def\";\n    switch (a) { case 7: return a; }\n    return a;\n}\n",
        );
        assert_eq!(left.len(), 8, "{left:?}\n{text}");
        assert!(
            text.contains("static int y = 5;") && text.contains("case 7:"),
            "{text}"
        );
    }

    #[test]
    fn directives_are_not_written_twice() {
        let (_, left) = written(
            "int f(int a)\n{\n    return a +\n#if X\n        g(a)\n#else\n        h(a)\n#endif\n        ;\n}\n",
        );
        assert!(
            left.iter()
                .any(|text| text == "-" || text.starts_with("!(")),
            "{left:?}"
        );
    }

    #[test]
    fn a_file_without_choices_stays_as_it_is() {
        let (text, _) = written("int x = 4;\n");
        assert_eq!(text, "int x = 4;\n");
    }

    #[test]
    fn who_is_complained_of_is_found_by_line_and_column() {
        let text = "int f(int a)\n{\n    return g(a + 1) + h(a * 2);\n}\n";
        let macros = MacroTable::default();
        let all = mutants(text.as_bytes(), &macros);
        let numbered: Vec<(usize, &Mutant)> = all.iter().enumerate().collect();
        let switched = switched(text.as_bytes(), &macros, &numbered);
        assert_eq!(switched.meant(3, None).len(), switched.places.len());
        assert_eq!(switched.meant(2, None).len(), 1);
        assert_eq!(switched.meant(4, None), Vec::<usize>::new());
        let line = String::from_utf8_lossy(&switched.text);
        let line = line.lines().nth(LINES_BEFORE + 2).expect("it is there");
        let column = line.find("(a / 2)").expect("it is switched") + 2;
        let meant = switched.meant(3, Some(column));
        let meant: Vec<&[u8]> = meant.iter().map(|one| &all[*one].text[..]).collect();
        assert_eq!(meant, [b"/"]);
    }
}
