//! Declarations that do not say at first sight what they declare: types of an expression, macros from headers outside the tree, names that macros make, strings that name symbols.

#![allow(clippy::unwrap_used, clippy::panic)]

mod change;
mod test_repo;

use change::{Change, edit, edited, with_bystander};

/// A function that returns `what` when it gets something, behind some lines.
fn returning(before: &str, what: &str) -> String {
    with_bystander(&format!(
        "{before}int f(int x) {{\n  if (x)\n    return {what};\n  return 2;\n}}\n"
    ))
}

const WHOLE_FILE: [&str; 2] = [
    "bystander: entry bystander -> int bystander(int x)",
    "f: entry f -> int f(int x)",
];

/// A change of the declaration endangers the use of its name, and nothing else.
#[track_caller]
fn declares(declaration: &str, old: &str, new: &str, what: &str) {
    let base = returning(&format!("{declaration}\n"), what);
    edited(&base, old, new).endangers(&[&format!("f: x -T-> return {what};")], &["bystander"]);
}

/// A change of the declaration endangers the whole file: only a macro knows what it declares.
#[track_caller]
fn declares_something(declaration: &str, old: &str, new: &str, what: &str) {
    let base = returning(&format!("{declaration}\n"), what);
    edited(&base, old, new).endangers(&WHOLE_FILE, &[]);
}

// Types with a group

#[test]
fn the_type_of_an_expression_is_no_declarator() {
    declares("int q;\n__typeof__(q) v = 1;", "= 1", "= 3", "v");
    declares("typeof(int) v = 1;", "= 1", "= 3", "v");
    declares("typedef typeof(char) t;", "char", "long", "sizeof(t)");
}

#[test]
fn an_atomic_type_is_no_declarator() {
    declares("_Atomic(int) v = 1;", "= 1", "= 3", "v");
    declares("typedef _Atomic(char) t;", "char", "long", "sizeof(t)");
}

#[test]
fn an_atomic_type_declares_a_local_name() {
    for (declaration, old, new) in [
        ("static _Atomic(long) v = 4;", "= 4", "= 5"),
        ("_Atomic(char) v;", "(char)", "(long)"),
    ] {
        let base = with_bystander(&format!(
            "int f(int x) {{\n  switch (x) {{\n    {declaration}\n  case 2:\n    return sizeof(v) + v;\n  }}\n  return 0;\n}}\n"
        ));
        edited(&base, old, new).endangers(
            &["f: switch (x) -case 2-> return sizeof(v) + v;"],
            &["bystander"],
        );
    }
}

// Macros from headers outside the tree

#[test]
fn a_name_before_an_attribute_from_outside_is_declared() {
    declares("static int v OUT_UNUSED = 1;", "= 1", "= 3", "v");
    declares("static int v __attribute_used__ = 1;", "= 1", "= 3", "v");
    declares("static int v OUT_ALIGN(8) = 1;", "= 1", "= 3", "v");
    declares("extern char v OUT_ALIGN(8);", "char", "long", "sizeof(v)");
    declares("int u OUT_UNUSED, v OUT_UNUSED = 1;", "= 1", "= 3", "v");
    declares(
        "typedef struct { char a; } t OUT_ALIGN(1);",
        "char",
        "long",
        "sizeof(t)",
    );
}

#[test]
fn a_name_behind_a_type_from_outside_is_declared() {
    declares(
        "static OUT_HEAD(h, int) v = { 1 };",
        "{ 1 }",
        "{ 3 }",
        "v.k",
    );
    declares(
        "struct m OUT_SECTION(\"maps\") v = { 1 };",
        "{ 1 }",
        "{ 3 }",
        "v.k",
    );
    declares("OUT_RETURN(char) g(int);", "(char)", "(long)", "g(x)");
    declares("void WINAPI g(int a);", "(int a)", "(long a)", "g(x)");
}

#[test]
fn a_name_that_a_macro_from_outside_makes_endangers_the_file() {
    declares_something("OUT_DEFINE(int, v) = 1;", "= 1", "= 3", "v");
    declares_something("OUT_DEFINE(int, v, 1);", ", 1", ", 3", "v");
    declares_something(
        "typedef struct { char a; } OUT_NAME(t);",
        "char",
        "long",
        "sizeof(t)",
    );
}

#[test]
fn a_declaration_that_a_macro_hides_before_the_first_case_counts() {
    let base = with_bystander(
        "int f(int x) {\n  switch (x) {\n    OUT_LOCAL(v) = 4;\n  case 2:\n    return v;\n  }\n  return 0;\n}\n",
    );
    edited(&base, "= 4", "= 5").endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn ordinary_declarations_endanger_their_uses_only() {
    declares("int g(int a);", "int a", "long a", "g(x)");
    declares("int g(foo_t);", "int g", "char g", "g(x)");
    declares("struct s *p = 0;", "= 0", "= 1", "p->a");
    declares("foo_t (*g)(int);", "(int);", "(long);", "g(x)");
    declares("API foo_t v;", ";\nint", " = 2;\nint", "v");
    declares("static const unsigned long v = 3;", "= 3", "= 4", "v");
}

#[test]
fn an_assertion_that_the_compiler_checks_is_nobodys_danger() {
    let base = returning("_Static_assert(sizeof(int) == 4, \"int\");\n", "1");
    edited(&base, "== 4", ">= 4").endangers_nothing();
}

// Macros of the tree

#[test]
fn a_macro_for_a_list_of_parameters_hides_no_name() {
    declares(
        "#define OF(args) args\nint g OF((int a));",
        "(int a)",
        "(long a)",
        "g(x)",
    );
}

#[test]
fn a_macro_for_an_initial_value_or_a_bound_hides_no_name() {
    declares(
        "#define INIT(n) = n\nstatic int v INIT(1);",
        "(1)",
        "(3)",
        "v",
    );
    declares(
        "#define DIM(n) [n]\nstatic int v DIM(4);",
        "(4)",
        "(5)",
        "sizeof(v)",
    );
}

#[test]
fn a_name_that_a_macro_of_the_tree_makes_endangers_the_file() {
    declares_something(
        "#define MY(n) my_##n\ntypedef struct { char a; } MY(t);",
        "char a",
        "long a",
        "sizeof(my_t)",
    );
    declares_something(
        "#define MY(n) my_##n\nchar MY(v);",
        "char",
        "long",
        "sizeof(my_v)",
    );
}

// Storage

#[test]
fn a_macro_for_extern_makes_a_local_name_the_global_one() {
    let source = with_bystander(
        "#define EXT extern\nint f(int x) {\n  if (x) {\n    EXT int v;\n    return v;\n  }\n  return 0;\n}\n",
    );
    Change::between(
        &[("a.c", &source), ("b.c", "int v = 1;\n")],
        &[("a.c", &source), ("b.c", "int v = 3;\n")],
    )
    .endangers(&["f: x -T-> EXT int v;"], &["bystander"]);
}

#[test]
fn a_macro_for_static_makes_the_initial_value_part_of_the_variable() {
    let base = with_bystander(
        "#define local static\nint f(int x) {\n  switch (x) {\n    local int v = 4;\n  case 2:\n    return v;\n  }\n  return 0;\n}\n",
    );
    let change = edited(&base, "= 4", "= 5");
    let endangered = change.list("edges").iter();
    assert!(
        endangered.clone().any(|edge| edge["function"] == "f"),
        "{:#}",
        change.document
    );
}

#[test]
fn a_bound_of_a_local_structs_member_is_computed() {
    let base = with_bystander(
        "int f(int x) {\n  if (x) {\n    struct { char a[x++]; } v;\n    return x;\n  }\n  return 0;\n}\n",
    );
    edited(&base, "x++", "++x")
        .endangers(&["f: x -T-> struct { char a[x++]; } v;"], &["bystander"]);
}

// Symbols in strings

#[test]
fn an_alias_mentions_its_target() {
    declares(
        "static int t = 1;\nextern int v __attribute__((alias(\"t\")));",
        "= 1",
        "= 3",
        "v",
    );
}

#[test]
fn the_label_of_a_variable_is_its_name_to_others() {
    let user = returning("extern int v __asm__(\"w\");\n", "v");
    Change::between(
        &[("a.c", &user), ("b.c", "int w = 1;\n")],
        &[("a.c", &user), ("b.c", "int w = 3;\n")],
    )
    .endangers(&["f: x -T-> return v;"], &["bystander"]);
    let user = returning("extern int w;\n", "w");
    Change::between(
        &[("a.c", &user), ("b.c", "int v __asm__(\"w\") = 1;\n")],
        &[("a.c", &user), ("b.c", "int v __asm__(\"w\") = 3;\n")],
    )
    .endangers(&["f: x -T-> return w;"], &["bystander"]);
}

#[test]
fn assembler_mentions_the_symbols_in_its_text() {
    let base = with_bystander(
        "int v = 1;\nint f(int x) {\n  if (x)\n    __asm__(\"movl v(%%rip), %0\" : \"=r\"(x));\n  return x;\n}\n",
    );
    edited(&base, "= 1;", "= 3;").endangers(
        &["f: x -T-> __asm__(\"movl v(%%rip), %0\" : \"=r\"(x));"],
        &["bystander"],
    );
}

// Attributes in brackets

#[test]
fn an_attribute_in_brackets_lets_a_declaration_act_unmentioned() {
    let base = with_bystander("static void f(void) { g(); }\n");
    edited(&base, "static", "[[gnu::constructor]] static").reaches("f", "program");
    let base = with_bystander("[[gnu::section(\"s\"), gnu::used]] static int v = 1;\n");
    edited(&base, "= 1", "= 2").reaches("v", "program");
}

// Implicit declarations

#[test]
fn a_declaration_that_moves_behind_a_call_endangers_the_call() {
    let use_of_g = "int f(int x) {\n  if (x)\n    return g(x);\n  return 2;\n}\n";
    for declaration in ["int g(double);\n", "int g(double a) { return a; }\n"] {
        let base = with_bystander(&format!("{declaration}{use_of_g}"));
        let head = with_bystander(&format!("{use_of_g}{declaration}"));
        Change::of(&base, &head).endangers(&["f: x -T-> return g(x);"], &["bystander"]);
        Change::between(
            &[
                ("a.c", &format!("#include \"g.h\"\n{base}")),
                ("g.h", "int g(double);\n"),
            ],
            &[
                ("a.c", &format!("#include \"g.h\"\n{head}")),
                ("g.h", "int g(double);\n"),
            ],
        )
        .endangers(&[], &["bystander", "f"]);
    }
}

// Types of arms

#[test]
fn the_prefix_of_a_character_decides_the_type_of_the_expression() {
    let base = returning("", "(x ? 'a' : -1) > 0");
    let change = Change::of(&base, &edit(&base, "'a'", "U'a'"));
    let to = |edge: &serde_json::Value| edge["to"]["text"] == "return (x ? 'a' : -1) > 0;";
    assert!(change.list("edges").iter().any(to), "{:#}", change.document);
}
