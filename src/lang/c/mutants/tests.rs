//! What is changed, and what is left alone, on small snippets.

use proptest::prelude::*;

use super::*;
use crate::lang::c::lex_facts;

fn all(text: &str) -> Vec<Mutant> {
    let macros = MacroTable::learn(&lex_facts(text.as_bytes()).macros);
    mutants(text.as_bytes(), &macros)
}

/// The changes as `old>new`, in order.
fn changes(text: &str) -> Vec<String> {
    all(text)
        .iter()
        .map(|mutant| {
            let new = String::from_utf8_lossy(&mutant.text);
            format!("{}>{new}", &text[mutant.range.clone()])
        })
        .collect()
}

/// The changes in the body of a function that returns nothing.
fn body(text: &str) -> Vec<String> {
    changes(&format!(
        "void f(int a, int b, char *p, char *q) {{ {text} }}"
    ))
}

fn kinds(text: &str) -> Vec<&'static str> {
    all(text).iter().map(|mutant| mutant.kind).collect()
}

#[test]
fn operators_become_those_that_people_take_for_them() {
    for (operator, other) in [
        ("<", "<="),
        ("==", "!="),
        ("+", "-"),
        ("%", "/"),
        ("&", "|"),
        ("<<", ">>"),
        ("&&", "||"),
        ("+=", "-="),
        ("|=", "&="),
    ] {
        let found = body(&format!("int c = (a {operator} b);"));
        assert_eq!(found, [format!("{operator}>{other}")]);
    }
    assert_eq!(body("a++, --b;"), ["++>--", "-->++"]);
}

#[test]
fn operators_do_not_grow_together_with_their_neighbours() {
    assert_eq!(body("int c = a+-b;"), ["+>- ", "-> "]);
    assert_eq!(body("int c = a**p;"), ["*>/ "]);
}

#[test]
fn pointers_are_not_added() {
    assert_eq!(body("long n = p - q;"), ["p - q>q - p"]);
    assert_eq!(body("long n = p - a;"), ["->+"]);
    let text = "long f(char *const p, char q[]) { return p - q; }";
    assert_eq!(changes(text), ["p - q>!(p - q)", "p - q>q - p"]);
    assert_eq!(body("p = a + p;"), ["p = a + p>"]);
}

#[test]
fn conditions_are_negated_unless_their_operator_turns_them() {
    assert_eq!(body("if (a) ;"), ["a>!(a)"]);
    assert_eq!(body("if (a == b) ;"), ["==>!="]);
    assert_eq!(body("if (!a) ;"), ["!>"]);
    assert_eq!(body("while (a & b) ;"), ["a & b>!(a & b)", "&>|"]);
    assert_eq!(body("do ; while (a);"), ["a>!(a)"]);
    assert_eq!(body("for (; p; ) ;"), ["p>!(p)"]);
    assert_eq!(body("g(a ? p : q);"), ["g(a ? p : q)>", "a>!(a)"]);
}

#[test]
fn what_only_looks_like_a_condition_stays() {
    assert_eq!(body("for (;;) ; while (1) ; do ; while (0);"), [""; 0]);
}

#[test]
fn a_negation_outside_of_conditions_keeps_the_type() {
    assert_eq!(body("int c = !p;"), ["!>!!"]);
    assert_eq!(
        body("if (a && !p) ;"),
        ["a && !p>!(a && !p)", "&&>||", "!>"]
    );
}

#[test]
fn calls_and_assignments_are_left_out_and_their_semicolon_stays() {
    assert_eq!(body("g(a); b = a;"), ["g(a)>", "b = a>"]);
    assert_eq!(body("assert(a);"), [""; 0]);
}

#[test]
fn a_function_returns_another_value_of_its_type() {
    assert_eq!(changes("int f(int a) { return a; }"), ["a>!(a)"]);
    assert_eq!(changes("int f(void) { return 0; }"), ["0>1"]);
    assert_eq!(changes("char *f(char *a) { return(a); }"), ["(a)> 0"]);
    assert_eq!(changes("char *f(void) { return 0; }"), [""; 0]);
    assert_eq!(changes("struct s f(struct s a) { return a; }"), [""; 0]);
    assert_eq!(changes("void f(void) { return; }"), [""; 0]);
}

#[test]
fn a_forgotten_break_falls_through_or_loops_on() {
    let cases = "switch (a) { case 1: break; case 3: break; default: break; }";
    assert_eq!(body(cases), ["1>2", "break>", "3>4", "break>"]);
    assert_eq!(
        kinds(&format!("void f(int a) {{ {cases} }}"))[1],
        "fall through"
    );
    assert_eq!(
        body("for (;;) { if (p) break; else continue; }"),
        ["p>!(p)", "break>", "continue>break"]
    );
}

#[test]
fn a_label_does_not_become_another() {
    assert_eq!(body("switch (a) { case 1: case 2: ; }"), ["2>3"]);
    assert_eq!(body("switch (a) { case '8': case '9': ; }"), [""; 0]);
}

#[test]
fn a_zero_that_is_a_pointer_stays() {
    assert_eq!(body("char *c = 0; a = 0;"), ["a = 0>", "0>1"]);
    assert_eq!(body("p = 0;"), ["p = 0>"]);
    assert_eq!(
        body("struct s c = { 0, 1 }; int d[] = { 0 };"),
        ["1>2", "0>1"]
    );
}

#[test]
fn tables_and_other_variables_begin_with_other_values() {
    let text = "static int a = 1, t[3] = { [2] = 7, 0 }; char *s[] = { \"x\", 0, M(2) };";
    assert_eq!(changes(text), ["1>2", "7>8", "0>1", "\"x\">\"y\""]);
    let names: Vec<String> = all(text).into_iter().map(|mutant| mutant.name).collect();
    assert_eq!(names, ["a", "t", "t", "s"]);
}

#[test]
fn macros_stand_for_something_else() {
    assert_eq!(changes("#define N 10\n"), ["10>11"]);
    assert_eq!(
        changes("#define MAX(a, b) ((a) > (b) ? (a) : (b) + 1)\n"),
        [">>>=", "+>-", "1>2"]
    );
    assert_eq!(all("#define N 10\n")[0].name, "N");
}

#[test]
fn what_macros_say_to_the_compiler_stays() {
    for text in [
        "#define P(x) (type *)(x)\n",
        "#define A __attribute__((aligned(8)))\n",
        "#define _POSIX_C_SOURCE 200809L\n",
        "#define J(x) x##1\n",
        "#define D do { } while (0)\n",
        "#define H <stdio.h>\n",
        "#ifndef F_H\n#define F_H 1\n#endif\n",
    ] {
        assert_eq!(changes(text), [""; 0], "{text}");
    }
}

#[test]
fn comments_directives_assembler_and_static_assertions_stay() {
    for text in [
        "/* 1 + 1 */\n#include \"a1.h\"\n#if A > 1\n#endif\n",
        "_Static_assert(1 < 2, \"x\");\nvoid f(void) { _Static_assert(1 < 2, \"x\"); }",
        "void f(void) { asm(\"nop\" : : \"i\"(1)); /* 1 */ }",
        "#if 0\nint a = 1;\n#define N 1\n#endif\n",
        "int a[3]; enum { A = 1 }; struct s { int b : 3; };",
    ] {
        assert_eq!(changes(text), [""; 0], "{text}");
    }
}

#[test]
fn arguments_of_macros_are_not_touched_but_what_is_around_them_is() {
    let text = "#define M(x, y) x y\nvoid f(int a) { if (M(a, + 1) && a) a = M(a, - 1); }";
    assert_eq!(changes(text), ["M(a, + 1) && a>!(M(a, + 1) && a)", "&&>||"]);
}

#[test]
fn a_statement_that_a_directive_cuts_is_not_left_out() {
    let text = "void f(int a) {\n g(a,\n#ifdef X\n a\n#else\n 0\n#endif\n );\n}\n";
    assert!(!kinds(text).contains(&"call removed"));
}

#[test]
fn unusual_spellings_are_left_alone() {
    assert_eq!(changes("int f(int a) { return a =\\\n= 10; }"), ["10>11"]);
}

#[test]
fn only_the_range_changes_and_the_line_is_that_of_the_range() {
    let text = "int a;\n\nint f(void)\n{\n\treturn a + 1;\n}\n";
    for mutant in all(text) {
        let changed = mutant.apply(text.as_bytes());
        assert!(changed.starts_with(&text.as_bytes()[..mutant.range.start]));
        assert!(changed.ends_with(&text.as_bytes()[mutant.range.end..]));
        assert_eq!((mutant.line, mutant.name.as_str()), (5, "f"));
    }
}

#[test]
fn a_diff_shows_the_changed_lines_and_obeys_no_control_character() {
    let text = "int f(int a) {\n\treturn\x1b[31m a +\n\t1;\n}\n";
    let mutant = Mutant {
        kind: "returned value",
        name: "f".to_owned(),
        line: 2,
        range: 27..34,
        text: b"0".to_vec(),
    };
    assert_eq!(&text[27..34], " a +\n\t1");
    assert_eq!(
        mutant.diff(text.as_bytes()),
        "-\treturn [31m a +\n-\t1;\n+\treturn [31m0;\n"
    );
}

#[test]
fn deep_nesting_and_long_sums_take_no_time_and_no_stack() {
    let deep = format!(
        "int f(int a) {{ return {}a{}; }}",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    let _ = mutants(deep.as_bytes(), &MacroTable::default());
    let long = format!("int f(int a) {{ return {} a; }}", "a - ".repeat(20_000));
    assert!(mutants(long.as_bytes(), &MacroTable::default()).len() >= 20_000);
}

fn check(source: &[u8]) {
    let macros = MacroTable::learn(&lex_facts(source).macros);
    let made = mutants(source, &macros);
    for mutant in &made {
        assert_ne!(mutant.apply(source), source);
        assert!(mutant.diff(source).starts_with('-'));
    }
    for pair in made.windows(2) {
        assert!(pair[0].range.start <= pair[1].range.start);
        assert!(pair[0].range != pair[1].range || pair[0].text != pair[1].text);
    }
}

const PIECES: [&str; 36] = [
    "int f(char *p) {",
    "}",
    "(",
    ")",
    "{",
    ";",
    "if (",
    "return ",
    "a",
    "0",
    "\"s%d\"",
    "'c'",
    " - ",
    "!",
    "=",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#define M(x) x",
    "M(",
    "switch (a) {",
    "case ",
    ":",
    "break;",
    "*",
    "[",
    "]",
    ",",
    " static int b = ",
    "\\\n",
    "/*",
    "*/",
    "while (",
    "+",
    "??/",
    "<%",
];

proptest! {
    #[test]
    fn no_bytes_stop_it(source in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&source);
    }

    #[test]
    fn no_nonsense_stops_it(pieces in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        check(text.as_bytes());
        check(format!("int f(char *p) {{ {text} }}").as_bytes());
    }
}
