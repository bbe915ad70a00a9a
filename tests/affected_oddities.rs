//! The rarer ways by which a change reaches a function: unusual spellings, guards, shadowed headers, macros that name things.

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

// Spelling

#[test]
fn a_name_that_a_line_continuation_cuts_is_the_same_name() {
    let base = returning("#define LIMIT 1\n", "LIM\\\nIT");
    // What is shown of the statement ends where its plain spelling does.
    edited(&base, "LIMIT 1", "LIMIT 2").endangers(&["f: x -T-> return LIM\\ I"], &["bystander"]);
}

#[test]
fn a_universal_character_name_is_its_character() {
    let base = returning("#define caf\u{e9} 1\n", "caf\\u00e9");
    edited(&base, " 1\n", " 2\n").endangers(&["f: x -T-> return caf\\u00e9;"], &["bystander"]);
}

#[test]
fn digraphs_are_brackets() {
    let base = "int f(int x) <%\n  if (x)\n    return 1;\n  return 2;\n%>\n";
    edited(base, "return 1", "return 3").endangers(&["f: x -T-> return 1;"], &[]);
}

#[test]
fn a_change_in_a_text_with_trigraphs_endangers_the_file() {
    let base = returning("// why??/\nint y;\n", "1");
    edited(&base, "why??/", "why?").endangers(&WHOLE_FILE, &[]);
}

#[test]
fn white_space_counts_in_an_argument_that_becomes_a_string() {
    let base = returning("#define S(x) #x\n", "*S(a+b)");
    edited(&base, "S(a+b)", "S(a + b)").endangers(&["f: x -T-> return *S(a+b);"], &["bystander"]);
    edited(&base, "S(a+b)", "S( a+b )").endangers(&[], &["bystander", "f"]);
    let plain = returning("#define S(x) (x)\n", "S(x+x)");
    edited(&plain, "S(x+x)", "S(x + x)").endangers_nothing();
}

// Pasting

#[test]
fn a_name_pasted_from_three_pieces_is_mentioned_by_the_pieces() {
    let base = returning(
        "int a_b_x = 1;\n#define J(p, q, r) p##_##q##_##r\n",
        "J(a, b, x)",
    );
    edited(&base, "= 1", "= 3").endangers(&["f: x -T-> return J(a, b, x);"], &["bystander"]);
}

// Names that macros make

#[test]
fn a_tag_that_a_macro_makes_endangers_the_file() {
    for tag in [
        "#define TAG my\nstruct TAG",
        "#define TAG(x) m##x\nstruct TAG(y)",
    ] {
        let base = returning(&format!("{tag} {{ char a; }};\n"), "sizeof(struct my)");
        edited(&base, "char a", "int a").endangers(&WHOLE_FILE, &[]);
    }
}

#[test]
fn an_enumerator_that_a_macro_names_endangers_the_file() {
    let base = returning("#define NAME my\nenum { NAME = 3 };\n", "my");
    edited(&base, "= 3", "= 4").endangers(&WHOLE_FILE, &[]);
}

#[test]
fn a_macro_that_stands_for_its_own_name_hides_nothing() {
    let base = returning("enum { A = 3, B };\n#define A A\n", "A");
    edited(&base, "= 3", "= 4").endangers(&["f: x -T-> return A;"], &["bystander"]);
}

#[test]
fn a_local_declaration_that_a_macro_names_is_a_statement() {
    let base = with_bystander(
        "#define NAME my\nint my = 5;\nint f(int x) {\n  if (x) {\n    ;\n    return my;\n  }\n  return 2;\n}\n",
    );
    for line in ["static int NAME;", "struct NAME { int z; };"] {
        edited(&base, "    ;\n", &format!("    {line}\n"))
            .endangers(&["f: x -T-> return my;"], &["bystander"]);
    }
}

// Attributes

#[test]
fn an_attribute_macro_behind_a_typedef_or_an_enum_endangers_its_uses() {
    for (declaration, use_of_it) in [
        ("typedef struct { char a; int b; } PACKED t;\n", "sizeof(t)"),
        ("enum t { A, B } PACKED;\n", "sizeof(enum t)"),
    ] {
        let base = returning(&format!("#define PACKED\n{declaration}"), use_of_it);
        edited(&base, "PACKED\n", "PACKED __attribute__((packed))\n")
            .endangers(&[&format!("f: x -T-> return {use_of_it};")], &["bystander"]);
    }
}

#[test]
fn an_attribute_macro_that_becomes_a_constructor_reaches_the_program() {
    let base = with_bystander("#define HOOK\nHOOK static void hook(void) {\n}\n");
    edited(&base, "HOOK\n", "HOOK __attribute__((constructor))\n").reaches("hook", "program");
    let base = with_bystander("#define PLACE\nPLACE int entry = 1;\n");
    edited(
        &base,
        "PLACE\n",
        "PLACE __attribute__((section(\"table\")))\n",
    )
    .reaches("entry", "program");
}

#[test]
fn a_static_local_in_a_section_and_assembler_data_reach_the_program() {
    let base = with_bystander(
        "void reg(void) {\n  static int a __attribute__((section(\"table\"))) = 1;\n}\n",
    );
    edited(&base, "= 1", "= 2").reaches("reg", "program");
    let base =
        with_bystander("void dead(void) {\n  asm(\".pushsection .data\\nz: .long 1\");\n}\n");
    edited(&base, "long 1", "long 2").reaches("dead", "program");
    let base = with_bystander("void f(void) {\n  asm(\"nop\");\n  g(1);\n}\n");
    edited(&base, "g(1)", "g(2)").reaches("f", "mentions");
}

#[test]
fn the_end_of_a_block_cleans_up() {
    let base = with_bystander(
        "void f(int x) {\n  {\n    __attribute__((cleanup(done))) int a;\n    use(x);\n  }\n  g(x);\n}\n",
    );
    let head = edit(&base, "  }\n  g(x);\n", "  g(x);\n  }\n");
    Change::of(&base, &head).endangers(&["f: use(x); -> }"], &["bystander"]);
}

#[test]
fn where_a_jump_leaves_a_block_that_cleans_up_all_of_the_block_counts() {
    let base = with_bystander(
        "#define AUTO __attribute__((cleanup(done)))\nvoid f(int x) {\n  while (x) {\n    AUTO int a = x;\n    if (use(x))\n      break;\n    g(x);\n  }\n  h(x);\n}\n",
    );
    edited(&base, "g(x)", "g(2)").endangers(&["f: x -T-> AUTO int a = x;"], &["bystander"]);
}

#[test]
fn a_local_array_type_is_evaluated_where_it_stands() {
    let base =
        with_bystander("int f(int n) {\n  typedef int t[n];\n  n++;\n  return sizeof(t);\n}\n");
    let head = edit(
        &base,
        "  typedef int t[n];\n  n++;\n",
        "  n++;\n  typedef int t[n];\n",
    );
    Change::of(&base, &head).endangers(&["f: int f(int n) -> typedef int t[n];"], &["bystander"]);
}

// Headers

const USES_N: &str = "int f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n";

#[test]
fn a_guard_that_takes_the_name_of_another_endangers_who_includes_it() {
    let source = with_bystander(&format!("#include \"a.h\"\n#include \"b.h\"\n{USES_N}"));
    let one = ("a.h", "#ifndef A_H\n#define A_H\n#define N 1\n#endif\n");
    let two = "#ifndef B_H\n#define B_H\n#undef N\n#define N 2\n#endif\n";
    let other = two.replace("B_H", "A_H");
    Change::between(
        &[("a.c", &source), one, ("b.h", two)],
        &[("a.c", &source), one, ("b.h", &other)],
    )
    .endangers(&WHOLE_FILE, &[]);
    let renamed = two.replace("B_H", "BB_H");
    Change::between(
        &[("a.c", &source), one, ("b.h", two)],
        &[("a.c", &source), one, ("b.h", &renamed)],
    )
    .endangers(&[], &["bystander", "f"]);
}

#[test]
fn a_guard_that_is_defined_elsewhere_endangers_who_includes_it() {
    let source = with_bystander(&format!("#include \"c.h\"\n#include \"n.h\"\n{USES_N}"));
    let header = ("n.h", "#ifndef N_H\n#define N_H\n#define N 1\n#endif\n");
    Change::between(
        &[("a.c", &source), header, ("c.h", "extern int k;\n")],
        &[
            ("a.c", &source),
            header,
            ("c.h", "extern int k;\n#define N_H\n"),
        ],
    )
    .endangers(&WHOLE_FILE, &[]);
}

#[test]
fn a_pragma_once_that_goes_endangers_who_includes_it() {
    let source = with_bystander(&format!("#include \"n.h\"\n#include \"n.h\"\n{USES_N}"));
    let header = "#pragma once\n#ifdef N\n#undef N\n#define N 2\n#else\n#define N 1\n#endif\n";
    let head = header.replace("#pragma once\n", "");
    Change::between(
        &[("a.c", &source), ("n.h", header)],
        &[("a.c", &source), ("n.h", &head)],
    )
    .endangers(&WHOLE_FILE, &[]);
}

#[test]
fn a_header_included_once_more_endangers_the_uses_of_its_names() {
    let base = with_bystander(&format!("#define N 1\n#include \"n.h\"\n{USES_N}"));
    let head = edit(&base, "\"n.h\"\n", "\"n.h\"\n#include \"n.h\"\n");
    let twice = (
        "n.h",
        "#if N == 1\n#undef N\n#define N 2\n#elif N == 2\n#undef N\n#define N 3\n#endif\n",
    );
    Change::between(&[("a.c", &base), twice], &[("a.c", &head), twice])
        .endangers(&["f: x -T-> return N;"], &["bystander"]);
    let base = with_bystander(&format!("#include \"n.h\"\n{USES_N}"));
    let head = edit(&base, "\"n.h\"\n", "\"n.h\"\n#include \"n.h\"\n");
    let once = ("n.h", "#ifndef N_H\n#define N_H\n#define N 1\n#endif\n");
    Change::between(&[("a.c", &base), once], &[("a.c", &head), once])
        .endangers(&[], &["bystander", "f"]);
}

#[test]
fn a_header_that_comes_to_stand_before_another_endangers_the_uses_of_both() {
    let source = with_bystander(&format!("#include \"n.h\"\n{USES_N}"));
    let far = ("include/n.h", "#define N 1\n");
    for near in ["extern int k;\n", "#define N 2\n"] {
        let base = [("src/a.c", source.as_str()), far];
        let head = [("src/a.c", source.as_str()), far, ("src/n.h", near)];
        Change::between(&base, &head).endangers(&["f: x -T-> return N;"], &["bystander"]);
        Change::between(&head, &base).endangers(&["f: x -T-> return N;"], &["bystander"]);
    }
}

#[test]
fn a_source_that_moves_beside_another_header_endangers_the_uses_of_both() {
    let source = with_bystander(&format!("#include \"n.h\"\n{USES_N}"));
    let headers = [("n.h", "#define N 1\n"), ("s/n.h", "#define N 2\n")];
    Change::between(
        &[("a.c", &source), headers[0], headers[1]],
        &[("s/a.c", &source), headers[0], headers[1]],
    )
    .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_header_that_only_moved_endangers_nothing() {
    let source = with_bystander(&format!("#include \"n.h\"\n{USES_N}"));
    let header = "#define N 1\n#define LONG_ENOUGH_TO_BE_KNOWN_AGAIN 12345\n";
    Change::between(
        &[("a.c", &source), ("x/n.h", header)],
        &[("a.c", &source), ("y/n.h", header)],
    )
    .endangers(&[], &["bystander", "f"]);
}

#[test]
fn a_file_for_which_has_include_looks_endangers_the_condition() {
    let inside = with_bystander(
        "int f(int x) {\n  if (x) {\n#if __has_include(\"opt.h\")\n    return 1;\n#else\n    return 3;\n#endif\n  }\n  return 2;\n}\n",
    );
    let outside = with_bystander(&format!(
        "#if __has_include(\"opt.h\")\n#define N 1\n#else\n#define N 3\n#endif\n{USES_N}"
    ));
    for (source, edge) in [
        (&inside, "f: x -T-> #if __has_include(\"opt.h\")"),
        (&outside, "f: x -T-> return N;"),
    ] {
        Change::between(
            &[("a.c", source)],
            &[("a.c", source), ("opt.h", "extern int k;\n")],
        )
        .endangers(&[edge], &["bystander"]);
    }
}

#[test]
fn a_symbol_that_is_looked_up_by_its_name_endangers_the_file_that_names_it() {
    let source = with_bystander("int f(int x) {\n  return *(int *)dlsym(0, \"plug\");\n}\n");
    let head = format!("{source}int plug = 4;\n");
    Change::of(&source, &head).endangers(&WHOLE_FILE, &[]);
    let other = format!("{source}int socket_count = 4;\n");
    Change::of(&source, &other).endangers(&[], &["f", "bystander"]);
    let unrelated = source.replace("dlsym", "find");
    let head = format!("{unrelated}int plug = 4;\n");
    Change::of(&unrelated, &head).endangers(&[], &["f", "bystander"]);
}

#[test]
fn the_document_says_where_macros_may_hide_jumps() {
    let base = with_bystander(
        "#define CHECK(x) if (x) goto end\nint f(int x) {\n  CHECK(x);\n  x = 1;\nend:\n  return x;\n}\n",
    );
    let head = edit(&base, "x = 1", "x = 2").replace("{ return x; }", "{ return x + 1; }");
    let change = Change::of(&base, &head);
    let said: Vec<_> = change
        .list("functions")
        .iter()
        .map(|function| (function["name"].clone(), function["hidden_jumps"].clone()))
        .collect();
    assert_eq!(
        said,
        [
            ("f".into(), true.into()),
            ("bystander".into(), false.into())
        ]
    );
}

// Files that are included, whatever they are called

#[test]
fn an_unchanged_file_that_is_included_is_read_whatever_it_is_called() {
    let source = with_bystander(
        "#include \"v.h\"\n#include \"x.def\"\nint f(int x) {\n  if (x)\n    return table[0];\n  return 2;\n}\n",
    );
    let table = "static int table[] = { E };\n";
    let tree = |value: &'static str| [("a.c", source.as_str()), ("v.h", value), ("x.def", table)];
    Change::between(&tree("enum { E = 1 };\n"), &tree("enum { E = 3 };\n"))
        .endangers(&["f: x -T-> return table[0];"], &["bystander"]);
    // And so is what such a file includes.
    let tree = |value: &'static str| {
        [
            ("a.c", source.as_str()),
            ("v.h", ""),
            ("x.def", "#include \"y.table\"\n"),
            ("y.table", value),
        ]
    };
    Change::between(
        &tree("static int table[] = { 1 };\n"),
        &tree("static int table[] = { 3 };\n"),
    )
    .endangers(&["f: x -T-> return table[0];"], &["bystander"]);
}

#[test]
fn an_include_whose_path_a_macro_makes_leads_to_its_header() {
    for (define, include) in [
        ("#define CFG \"sub/h.h\"\n", "#include CFG\n"),
        ("#define CFG <sub/h.h>\n", "#include CFG\n"),
        ("#define STRING(x) #x\n", "#include STRING(sub/h.h)\n"),
    ] {
        let source = returning(&format!("{define}{include}"), "1");
        Change::between(
            &[("a.c", &source), ("sub/h.h", "int q;\n")],
            &[("a.c", &source), ("sub/h.h", "int q;\n#pragma pack(1)\n")],
        )
        .endangers(&WHOLE_FILE, &[]);
    }
}

#[cfg(unix)]
#[test]
fn a_header_is_included_through_symbolic_links() {
    use std::os::unix::fs::symlink;
    for (include, target, link) in [
        ("#include \"link.h\"\n", "src/n.h", "link.h"),
        ("#include <pkg/n.h>\n", "../src", "inc/pkg"),
    ] {
        let repo = test_repo::TestRepo::new();
        repo.write("a.c", returning(include, "1"));
        repo.write("src/n.h", "int q;\n");
        repo.write("inc/readme", "");
        symlink(target, repo.top().join(link)).unwrap();
        let base = repo.commit_all();
        repo.write("src/n.h", "int q;\n#pragma pack(1)\n");
        let head = repo.commit_all();
        let document = repo.diff_json(&base, &head);
        Change { document }.endangers(&WHOLE_FILE, &[]);
    }
}

#[test]
fn a_header_that_moves_away_from_another_of_its_name_endangers_what_it_declares() {
    let source = returning("#include \"n.h\"\n", "N");
    let (one, two) = ("#define N 1\n", "#define N 2\n");
    Change::between(
        &[("a.c", &source), ("one/n.h", one), ("two/n.h", two)],
        &[("a.c", &source), ("three/n.h", one), ("two/n.h", two)],
    )
    .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

// Places inside a function

#[test]
fn a_definition_that_moves_inside_a_function_endangers_it() {
    let base = with_bystander(
        "int f(int x) {\n#define N 1\n  if (x)\n    x += N;\n#undef N\n#define N 5\n  return x;\n}\n",
    );
    let moved = "#undef N\n#define N 5\n";
    let head = edit(&edit(&base, moved, ""), "  if", &format!("{moved}  if"));
    Change::of(&base, &head).endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
    // What does not move, and what moves over no use of a macro, endangers nothing.
    edited(&base, "  return x", "  x = 2;\n  return x").endangers(
        &["f: x -F-> return x;", "f: x += N; -> return x;"],
        &["bystander"],
    );
}

#[test]
fn a_definition_that_moves_into_a_function_endangers_its_uses() {
    let base = with_bystander(
        "#define N 1\nint N_of(int);\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n",
    );
    let head = edit(
        &edit(&base, "#define N 1\n", ""),
        "  return 2",
        "#define N 1\n  return 2",
    );
    let change = Change::of(&base, &head);
    let hits = change.list("edges").iter();
    assert!(
        hits.clone().any(|edge| edge["function"] == "f"),
        "{:#}",
        change.document
    );
}

#[test]
fn a_pragma_inside_a_function_acts_on_what_follows_it() {
    for pragma in ["#pragma pack(1)\n", "  _Pragma(\"pack(1)\")\n", "  PACK\n"] {
        let base = returning(
            "#define PACK _Pragma(\"pack(1)\")\nint g(int x) {\n  return x;\n}\nstruct s { char a; int b; };\n",
            "sizeof(struct s)",
        );
        let head = base.replacen("  return x", &format!("{pragma}  return x"), 1);
        let change = Change::of(&base, &head);
        let whole = "f: entry f -> int f(int x)";
        assert!(
            test_repo::edges(&change.document).contains(whole),
            "{:#}",
            change.document
        );
    }
    let base = returning("int g(int x) {\n  return x;\n}\n", "1");
    let head = base.replacen("  return x", "#pragma GCC diagnostic push\n  return x", 1);
    Change::of(&base, &head).endangers(&["g: int g(int x) -> return x;"], &["f", "bystander"]);
}

// Spelling, again

#[test]
fn blanks_may_stand_between_a_backslash_and_the_end_of_its_line() {
    let base = returning("int v = 1; // comment \\ \n\n", "v");
    let head = edit(&base, "\\ \n\nint f", "\\ \nv = 3;\nint f");
    Change::of(&base, &head).endangers_nothing();
    let base = returning("#define N 1 + \\  \n  1\n", "N");
    edited(&base, "  1\n", "  2\n").endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_byte_order_mark_hides_no_directive() {
    let source = returning("\u{feff}#include \"n.h\"\n", "N");
    Change::between(
        &[("a.c", &source), ("n.h", "\u{feff}#define N 1\n")],
        &[("a.c", &source), ("n.h", "\u{feff}#define N 3\n")],
    )
    .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

// Calls that are not certain

/// Both a static function and what follows its call change.
fn calling(definition: &str, call: &str) -> (String, String) {
    let text = format!("{definition}int f(int x) {{\n  {call}\n  return 3;\n}}\n");
    let head = text
        .replace("return 1", "return 11")
        .replace("return 3", "return 33");
    (text, head)
}

#[track_caller]
fn goes_on_behind(definition: &str, call: &str, is_certain: bool) {
    let (base, head) = calling(definition, call);
    let change = Change::of(&base, &head);
    let goes_on = change
        .list("edges")
        .iter()
        .any(|edge| edge["function"] == "f" && edge["to"]["text"] == "return 3;");
    assert_eq!(goes_on, !is_certain, "{:#}", change.document);
    let f = change
        .list("functions")
        .iter()
        .find(|function| function["name"] == "f");
    assert!(f.unwrap()["edges"] != 0, "{:#}", change.document);
}

#[test]
fn only_a_function_that_is_certainly_called_stops_the_walk() {
    let g = "static int g(int x) {\n  return 1;\n}\n";
    goes_on_behind(g, "x = g(x);", true);
    goes_on_behind(
        &format!("#if A\n{g}#else\nint g(int);\n#endif\n"),
        "x = g(x);",
        false,
    );
    goes_on_behind(g, "x = __builtin_classify_type(g(x));", false);
    goes_on_behind(g, "x = perhaps_a_macro(g(x));", false);
    goes_on_behind(
        g,
        "x = g(x) + ({ if (x) goto end; 1; });\n  return 4;\nend:",
        false,
    );
}

// Headers outside the tree

#[test]
fn a_macro_that_only_its_definitions_mention_is_for_headers_outside() {
    for before in [
        "#ifndef WIDTH\n#define WIDTH 8\n#endif\n",
        "#define BASE_WIDTH 8\n#define WIDTH BASE_WIDTH\n",
        "#define BIG 8\n#if BIG > 8\n#define WIDTH 16\n#else\n#define WIDTH 8\n#endif\n",
    ] {
        let base = returning(&format!("{before}#include <ext.h>\n"), "ext_call(x)");
        Change::of(&base, &base.replacen(" 8\n", " 16\n", 1)).endangers(&WHOLE_FILE, &[]);
    }
    let other = "#define WIDTH 8\n#include <ext.h>\n";
    let base = returning(other, "ext_call(x)");
    Change::between(
        &[("a.c", &base), ("b.c", other)],
        &[("a.c", &edit(&base, " 8", " 16")), ("b.c", other)],
    )
    .endangers(&WHOLE_FILE, &[]);
}

#[test]
fn a_macro_that_is_named_like_a_header_outside_is_for_that_header() {
    let source = returning("#include \"config.h\"\n#include <ext.h>\n", "ext_call(x)");
    let tree = |config: &'static str| {
        [
            ("a.c", source.as_str()),
            ("config.h", config),
            ("b.c", "int w = EXT_WIDTH;\n"),
        ]
    };
    Change::between(
        &tree("#define EXT_WIDTH 8\n"),
        &tree("#define EXT_WIDTH 16\n"),
    )
    .endangers(&WHOLE_FILE, &[]);
    let tree = |config: &'static str| {
        [
            ("a.c", source.as_str()),
            ("config.h", config),
            ("b.c", "int w = OUR_WIDTH;\n"),
        ]
    };
    Change::between(
        &tree("#define OUR_WIDTH 8\n"),
        &tree("#define OUR_WIDTH 16\n"),
    )
    .endangers(&[], &["f", "bystander"]);
}
