//! The ways by which a change reaches a function, one test each: what is in danger, and what is not.

#![allow(clippy::unwrap_used, clippy::panic)]

mod change;
mod test_repo;

use change::{BYSTANDER, Change, edit, edited, with_bystander};
use test_repo::edges;

// Macros

#[test]
fn a_changed_macro_endangers_the_edge_to_its_use() {
    let base =
        with_bystander("#define N 1\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n");
    edited(&base, "N 1", "N 3").endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_nested_macro_reaches_the_uses_of_the_outer_one() {
    let base = with_bystander(
        "#define INNER 1\n#define OUTER (INNER + 1)\nint f(int x) {\n  if (x)\n    return OUTER;\n  return 2;\n}\n",
    );
    edited(&base, "INNER 1", "INNER 5").endangers(&["f: x -T-> return OUTER;"], &["bystander"]);
}

#[test]
fn pasting_with_a_known_prefix_mentions_what_begins_so() {
    let base = with_bystander(
        "#define GET(x) value_##x\nstatic int value_one = 1;\nint f(int x) {\n  if (x)\n    return GET(one);\n  return 2;\n}\n",
    );
    edited(&base, "= 1;", "= 9;").endangers(&["f: x -T-> return GET(one);"], &["bystander"]);
}

#[test]
fn pasting_with_a_known_suffix_mentions_what_ends_so() {
    let base = with_bystander(
        "#define GET(x) x##_value\nstatic int one_value = 1;\nint f(int x) {\n  if (x)\n    return GET(one);\n  return 2;\n}\n",
    );
    edited(&base, "= 1;", "= 9;").endangers(&["f: x -T-> return GET(one);"], &["bystander"]);
}

#[test]
fn pasting_two_unknown_pieces_mentions_what_they_can_build() {
    let base = with_bystander(
        "#define GET(x, y) x##y\nstatic int onetwo = 1;\nint f(int x) {\n  if (x)\n    return GET(one, two);\n  return GET(three, four);\n}\n",
    );
    edited(&base, "= 1;", "= 9;").endangers(&["f: x -T-> return GET(one, two);"], &["bystander"]);
}

#[test]
fn pasting_through_a_second_macro_mentions_what_the_arguments_can_build() {
    let base = with_bystander(
        "#define PASTE_(x, y) x##y\n#define PASTE(x, y) PASTE_(x, y)\nstatic int onetwo = 1;\nint f(int x) {\n  if (x)\n    return PASTE(one, two);\n  return 2;\n}\n",
    );
    edited(&base, "= 1;", "= 9;").endangers(&["f: x -T-> return PASTE(one, two);"], &["bystander"]);
}

#[test]
fn pasting_with_an_argument_that_is_itself_a_macro_mentions_what_it_stands_for() {
    let base = with_bystander(
        "#define SUFFIX two\n#define PASTE_(x, y) x##y\n#define PASTE(x, y) PASTE_(x, y)\nstatic int onetwo = 1;\nint f(int x) {\n  if (x)\n    return PASTE(one, SUFFIX);\n  return 2;\n}\n",
    );
    edited(&base, "= 1;", "= 9;")
        .endangers(&["f: x -T-> return PASTE(one, SUFFIX);"], &["bystander"]);
}

#[test]
fn a_macro_in_the_condition_around_a_function_endangers_its_entry() {
    let base = with_bystander("#define ON 1\n#if ON\nint f(int x) { return x + 1; }\n#endif\n");
    edited(&base, "ON 1", "ON 0").endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn a_macro_in_a_condition_inside_a_function_endangers_the_condition() {
    let base = with_bystander(
        "#define ON 1\nint f(int x) {\n  if (!x)\n    return 0;\n#if ON\n  x++;\n#endif\n  return x;\n}\n",
    );
    let change = edited(&base, "ON 1", "ON 0");
    let found = edges(&change.document);
    assert!(
        found.len() == 1 && found.iter().all(|edge| edge.starts_with("f: !x -F-> ")),
        "{found:?}"
    );
    change.endangers(
        &found.iter().map(String::as_str).collect::<Vec<_>>(),
        &["bystander"],
    );
}

#[test]
fn an_undefined_macro_endangers_its_uses() {
    let base = with_bystander(
        "#include \"n.h\"\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n",
    );
    let head = edit(&base, "n.h\"\n", "n.h\"\n#undef N\n");
    let header = ("n.h", "#define N 4\n");
    Change::between(&[("a.c", &base), header], &[("a.c", &head), header])
        .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_new_macro_that_takes_a_functions_name_endangers_its_calls() {
    let base = with_bystander(
        "int g(int x);\nint f(int x) {\n  if (x)\n    return g(x);\n  return 2;\n}\n",
    );
    let head = format!("#define g(x) 7\n{base}");
    Change::of(&base, &head).endangers(&["f: x -T-> return g(x);"], &["bystander"]);
}

#[test]
fn a_new_macro_that_takes_a_local_variables_name_endangers_its_uses() {
    let base = with_bystander(
        "int f(int x) {\n  int count = 1;\n  if (x)\n    return 0;\n  return count;\n}\n",
    );
    let head = format!("#define count counts[0]\n{base}");
    Change::of(&base, &head).endangers(&["f: int f(int x) -> int count = 1;"], &["bystander"]);
}

#[test]
fn a_new_macro_that_takes_a_parameters_name_endangers_its_uses() {
    let base = with_bystander(
        "int f(int first, int second) {\n  if (first)\n    return 0;\n  return second;\n}\n",
    );
    let head = format!("#define second (first + 1)\n{base}");
    let change = Change::of(&base, &head);
    let found = edges(&change.document);
    // The parameter itself is captured, too: either the entry or the use must be in danger.
    assert!(
        found.contains("f: entry f -> int f(int first, int second)")
            || found.contains("f: first -F-> return second;"),
        "{found:?}"
    );
    change.endangers(
        &found.iter().map(String::as_str).collect::<Vec<_>>(),
        &["bystander"],
    );
}

#[test]
fn a_new_macro_that_takes_a_members_name_endangers_its_uses() {
    let base = with_bystander(
        "struct s { int size; int other; };\nint f(struct s *s) {\n  if (s->other)\n    return s->size;\n  return 2;\n}\n",
    );
    let head = format!("#define size other\n{base}");
    let change = Change::of(&base, &head);
    // The struct itself has another member now, so whoever uses a value of its type counts as well.
    change.endangers(&["f: int f(struct s *s) -> s->other"], &["bystander"]);
}

// Types

#[test]
fn a_changed_enumerator_endangers_its_uses_and_no_other_enumerator() {
    let base = with_bystander(
        "enum e { A = 1, B = 5, C = 9 };\nint f(int x) {\n  if (x)\n    return B;\n  return 2;\n}\nint g(void) { return A + C; }\n",
    );
    edited(&base, "B = 5", "B = 6").endangers(&["f: x -T-> return B;"], &["bystander", "g"]);
}

#[test]
fn an_enumerator_in_the_middle_endangers_the_uses_of_those_behind_it() {
    let base = with_bystander(
        "enum e { A, B, C = 9, D };\nint f(int x) {\n  if (x)\n    return B;\n  return 2;\n}\nint g(void) { return A + C + D; }\n",
    );
    edited(&base, "A, B,", "A, NEW, B,").endangers(&["f: x -T-> return B;"], &["bystander", "g"]);
}

#[test]
fn an_enumerator_at_the_end_endangers_nobody_else() {
    let base = with_bystander(
        "enum e { A, B };\nint f(enum e e) {\n  if (e == A)\n    return B;\n  return 2;\n}\n",
    );
    edited(&base, "A, B }", "A, B, LAST }").endangers(&[], &["bystander", "f"]);
}

#[test]
fn a_changed_member_endangers_who_mentions_the_struct() {
    let base = with_bystander(
        "struct s { int a; int b; };\nint f(int x) {\n  if (x)\n    return sizeof(struct s);\n  return 2;\n}\nint g(struct s *s) { return s->b; }\n",
    );
    edited(&base, "int a;", "long a;").endangers(
        &[
            "f: x -T-> return sizeof(struct s);",
            "g: int g(struct s *s) -> return s->b;",
        ],
        &["bystander"],
    );
}

#[test]
fn a_struct_reaches_a_variable_of_its_own_name() {
    let base = with_bystander(
        "struct s { int a; int b; };\nint f(int x) {\n  struct s *s = 0;\n  if (x)\n    return s->b;\n  return 2;\n}\nint g(int s) {\n  if (s)\n    return sizeof(struct s);\n  return 2;\n}\n",
    );
    edited(&base, "int a;", "long a;").endangers(
        &[
            "f: int f(int x) -> struct s *s = 0;",
            "g: s -T-> return sizeof(struct s);",
        ],
        &["bystander"],
    );
}

#[test]
fn a_struct_reaches_a_parameter_of_its_own_name_in_an_old_style_definition() {
    let base = with_bystander(
        "struct s { int a; int b; };\nint f(x, s)\n  int x;\n  struct s *s;\n{\n  if (x)\n    return s->b;\n  return 2;\n}\n",
    );
    edited(&base, "int a;", "long a;").endangers(&["f: x -T-> return s->b;"], &["bystander"]);
}

#[test]
fn a_chain_of_typedefs_passes_a_change_on() {
    let base = with_bystander(
        "typedef int one;\ntypedef one two;\ntypedef two three;\nint f(int x) {\n  if (x)\n    return (three)x;\n  return 2;\n}\n",
    );
    edited(&base, "typedef int one", "typedef short one")
        .endangers(&["f: x -T-> return (three)x;"], &["bystander"]);
}

#[test]
fn a_type_reaches_the_caller_through_the_called_functions_signature() {
    let header = "typedef int number;\nnumber get(void);\n";
    let source = with_bystander(
        "#include \"get.h\"\nint f(int x) {\n  if (x)\n    return get();\n  return 2;\n}\n",
    );
    Change::between(
        &[("a.c", &source), ("get.h", header)],
        &[
            ("a.c", &source),
            ("get.h", &edit(header, "int number", "short number")),
        ],
    )
    .endangers(&["f: x -T-> return get();"], &["bystander"]);
}

#[test]
fn a_type_reaches_the_users_of_a_variable_that_has_it() {
    let base = with_bystander(
        "typedef int number;\nstatic number level;\nint f(int x) {\n  if (x)\n    return level;\n  return 2;\n}\n",
    );
    edited(&base, "typedef int", "typedef short")
        .endangers(&["f: x -T-> return level;"], &["bystander"]);
}

// Variables

#[test]
fn a_changed_initialiser_endangers_the_uses_of_the_variable() {
    let base = with_bystander(
        "static int level = 1;\nint f(int x) {\n  if (x)\n    return level;\n  return 2;\n}\n",
    );
    edited(&base, "level = 1", "level = 4").endangers(&["f: x -T-> return level;"], &["bystander"]);
}

#[test]
fn a_changed_table_of_functions_endangers_its_uses() {
    let base = with_bystander(
        "static int one(int x) { return x; }\nstatic int two(int x) { return x + x; }\nstatic int (*const table[])(int) = { one, two };\nint f(int x) {\n  if (x)\n    return table[x](x);\n  return 2;\n}\n",
    );
    edited(&base, "{ one, two }", "{ two, one }").endangers(
        &["f: x -T-> return table[x](x);"],
        &["bystander", "one", "two"],
    );
}

#[test]
fn a_macro_in_an_initialiser_endangers_the_uses_of_the_variable() {
    let base = with_bystander(
        "#define START 3\nstatic int level = START;\nint f(int x) {\n  if (x)\n    return level;\n  return 2;\n}\n",
    );
    edited(&base, "START 3", "START 4").endangers(&["f: x -T-> return level;"], &["bystander"]);
}

#[test]
fn the_initial_value_of_a_static_local_endangers_only_its_uses() {
    let base = with_bystander(
        "int f(int x) {\n  static int seen = 1;\n  if (x)\n    return seen;\n  return 2;\n}\n",
    );
    edited(&base, "seen = 1", "seen = 7").endangers(&["f: x -T-> return seen;"], &["bystander"]);
}

#[test]
fn a_declaration_that_a_goto_jumps_over_still_counts_for_its_uses() {
    let base = with_bystander(
        "int f(int x) {\n  if (x)\n    goto out;\n  int level;\n  x = 3;\nout:\n  level = x;\n  return level;\n}\n",
    );
    edited(&base, "int level", "char level").endangers(
        &["f: x = 3; -> level = x;", "f: x -T-> level = x;"],
        &["bystander"],
    );
}

#[test]
fn a_declaration_that_a_switch_jumps_over_still_counts_for_its_uses() {
    let base = with_bystander(
        "int f(int x) {\n  switch (x) {\n    int level;\n  case 1:\n    level = x;\n    return level;\n  }\n  return 2;\n}\n",
    );
    edited(&base, "int level", "char level")
        .endangers(&["f: switch (x) -case 1-> level = x;"], &["bystander"]);
}

#[test]
fn a_declaration_in_a_part_that_is_not_understood_still_counts_for_its_uses() {
    let base = with_bystander(
        "int level = 1;\nint f(int x) {\n  if (x)\n    goto out;\n#if A\n  0;\n  int level;\n  level = 2;\n#endif\nout:\n  ;\n  x = level;\n  return x;\n}\n",
    );
    let change = edited(&base, "#if A", "#if B");
    let found = edges(&change.document);
    assert!(
        found.iter().any(|edge| edge.starts_with("f: x -T-> ")),
        "{found:?}"
    );
    let again = found.iter().map(String::as_str).collect::<Vec<_>>();
    change.endangers(&again, &["bystander"]);
}

// Functions

#[test]
fn a_static_function_that_shadows_a_library_function_endangers_its_callers() {
    let base = with_bystander(
        "int abs(int);\nint f(int x) {\n  if (x)\n    return abs(x);\n  return 2;\n}\n",
    );
    let head = format!("static int abs(int x) {{ return 0; }}\n{base}");
    Change::of(&base, &head).endangers(&["f: x -T-> return abs(x);"], &["bystander"]);
}

#[test]
fn a_renamed_function_endangers_its_entry_and_its_callers() {
    let base = with_bystander(
        "static int old(int x) { return x; }\nint f(int x) {\n  if (x)\n    return old(x);\n  return 2;\n}\n",
    );
    Change::of(&base, &base.replace("old(", "new(")).endangers(
        &[
            "old: entry old -> static int old(int x)",
            "f: x -T-> return old(x);",
        ],
        &["bystander"],
    );
}

#[test]
fn a_function_that_moves_to_another_file_endangers_its_entry_and_its_callers() {
    let moved = "int moved(int x) { return x; }\n";
    let caller = with_bystander(
        "int moved(int);\nint f(int x) {\n  if (x)\n    return moved(x);\n  return 2;\n}\n",
    );
    let other = "int other(int x) { return x; }\n";
    let from = format!("{moved}{other}");
    let to = format!("int last(int x) {{ return x; }}\n{moved}");
    Change::between(
        &[
            ("a.c", &caller),
            ("b.c", &from),
            ("c.c", "int last(int x) { return x; }\n"),
        ],
        &[("a.c", &caller), ("b.c", other), ("c.c", &to)],
    )
    .endangers(
        &[
            "moved: entry moved -> int moved(int x)",
            "f: x -T-> return moved(x);",
        ],
        &["bystander", "other", "last"],
    );
}

#[test]
fn changed_linkage_endangers_the_function_and_its_callers() {
    let base = with_bystander(
        "static int helper(int x) { return x; }\nint f(int x) {\n  if (x)\n    return helper(x);\n  return 2;\n}\n",
    );
    let head = edit(&base, "static int helper", "int helper");
    let callers = "f: x -T-> return helper(x);";
    Change::of(&base, &head).endangers(
        &["helper: entry helper -> static int helper(int x)", callers],
        &["bystander"],
    );
    Change::of(&head, &base).endangers(
        &["helper: entry helper -> int helper(int x)", callers],
        &["bystander"],
    );
}

#[test]
fn an_old_style_definition_is_compared_by_edges() {
    let base = with_bystander(
        "int f(x, y)\n  int x;\n  char *y;\n{\n  if (x)\n    return 1;\n  return 2;\n}\n",
    );
    edited(&base, "return 1", "return 3").endangers(&["f: x -T-> return 1;"], &["bystander"]);
}

#[test]
fn a_parameters_type_in_an_old_style_definition_endangers_its_entry() {
    let base = with_bystander(
        "int f(x, y)\n  int x;\n  char *y;\n{\n  if (x)\n    return 1;\n  return *y;\n}\n",
    );
    edited(&base, "int x;", "short x;").endangers(
        &["f: entry f -> int f(x, y) int x; char *y;"],
        &["bystander"],
    );
}

#[test]
fn of_two_definitions_under_opposite_conditions_only_the_changed_one_is_in_danger() {
    let base = with_bystander(
        "#ifdef WIDE\nint f(int x) {\n  if (x)\n    return 1;\n  return 2;\n}\n#else\nint f(int x) {\n  if (x)\n    return 3;\n  return 4;\n}\n#endif\n",
    );
    edited(&base, "return 4", "return 5").endangers(&["f: x -F-> return 4;"], &["bystander"]);
}

#[test]
fn a_changed_main_is_compared_like_any_function() {
    let base = with_bystander(
        "int main(int argc, char **argv) {\n  if (argc > 1)\n    return 1;\n  return 0;\n}\n",
    );
    edited(&base, "return 1", "return 3")
        .endangers(&["main: argc > 1 -T-> return 1;"], &["bystander"]);
}

#[test]
fn a_removed_function_endangers_its_entry() {
    let base = with_bystander("int f(int x) { return x; }\n");
    Change::of(&base, BYSTANDER).endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn a_new_function_that_nobody_mentions_endangers_nobody() {
    let head = with_bystander("int f(int x) { return x; }\n");
    Change::of(BYSTANDER, &head)
        .endangers(&[], &["bystander"])
        .reaches("f", "mentions");
}

// Includes

const COUNT_HEADER: (&str, &str) = ("count.h", "#define COUNT 3\nint count(void);\n");

#[test]
fn a_new_include_of_a_project_header_endangers_only_who_mentions_its_names() {
    let base = with_bystander(
        "#ifndef COUNT\n#define COUNT 1\n#endif\nint f(int x) {\n  if (x)\n    return COUNT;\n  return 2;\n}\n",
    );
    let head = format!("#include \"count.h\"\n{base}");
    let elsewhere = (
        "b.c",
        "#define COUNT 8\nint elsewhere(void) { return COUNT; }\n",
    );
    for (base, head) in [(&base, &head), (&head, &base)] {
        Change::between(
            &[("a.c", base), COUNT_HEADER, elsewhere],
            &[("a.c", head), COUNT_HEADER, elsewhere],
        )
        .endangers(&["f: x -T-> return COUNT;"], &["bystander", "elsewhere"]);
    }
}

#[test]
fn a_new_include_of_a_system_header_endangers_the_whole_file_and_its_includers() {
    let header = "static inline int inner(int x) { return x; }\n";
    let source = "#include \"inner.h\"\nint f(int x) { return x; }\n";
    let other = ("b.c", BYSTANDER);
    let with = format!("#include <math.h>\n{header}");
    for (base, head) in [(header, with.as_str()), (with.as_str(), header)] {
        Change::between(
            &[("a.c", source), ("inner.h", base), other],
            &[("a.c", source), ("inner.h", head), other],
        )
        .endangers(
            &[
                "inner: entry inner -> static inline int inner(int x)",
                "f: entry f -> int f(int x)",
            ],
            &["bystander"],
        );
    }
}

#[test]
fn another_header_that_defines_the_same_name_otherwise_endangers_its_uses() {
    let base = with_bystander(
        "#include \"one.h\"\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n",
    );
    let head = edit(&base, "one.h", "two.h");
    let (one, two) = (("one.h", "#define N 1\n"), ("two.h", "#define N 2\n"));
    Change::between(&[("a.c", &base), one, two], &[("a.c", &head), one, two])
        .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_new_include_reaches_through_the_macros_of_other_headers() {
    let base = with_bystander(
        "#include \"log.h\"\nint f(int x) {\n  if (x)\n    return LOG;\n  return 2;\n}\n",
    );
    let head = format!("#include \"debug.h\"\n{base}");
    let log = (
        "log.h",
        "#ifdef DEBUG\n#define LOG 1\n#else\n#define LOG 0\n#endif\n",
    );
    let debug = ("debug.h", "#define DEBUG\n");
    Change::between(&[("a.c", &base), log, debug], &[("a.c", &head), log, debug])
        .endangers(&["f: x -T-> return LOG;"], &["bystander"]);
}

#[test]
fn a_condition_around_an_include_makes_the_headers_names_change() {
    let base = with_bystander(
        "#define USE 1\n#if USE\n#include \"count.h\"\n#endif\n#ifndef COUNT\n#define COUNT 1\n#endif\nint f(int x) {\n  if (x)\n    return COUNT;\n  return 2;\n}\n",
    );
    let head = edit(&base, "USE 1", "USE 0");
    Change::between(
        &[("a.c", &base), COUNT_HEADER],
        &[("a.c", &head), COUNT_HEADER],
    )
    .endangers(&["f: x -T-> return COUNT;"], &["bystander"]);
}

#[test]
fn a_condition_around_the_include_of_a_system_header_endangers_the_whole_file() {
    let source =
        "#include \"use.h\"\n#if USE\n#include <count.h>\n#endif\nint f(int x) { return COUNT; }\n";
    let other = ("b.c", BYSTANDER);
    Change::between(
        &[("a.c", source), ("use.h", "#define USE 1\n"), other],
        &[("a.c", source), ("use.h", "#define USE 0\n"), other],
    )
    .endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn a_computed_include_whose_macro_changes_endangers_the_whole_file() {
    let base = "#define HEADER \"one.h\"\n#include HEADER\nint f(int x) { return N; }\n";
    let (one, two) = (("one.h", "#define N 1\n"), ("two.h", "#define N 2\n"));
    let other = ("b.c", BYSTANDER);
    Change::between(
        &[("a.c", base), one, two, other],
        &[("a.c", &edit(base, "one.h", "two.h")), one, two, other],
    )
    .endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn a_macro_that_moves_behind_an_include_endangers_who_depends_on_it() {
    let base = with_bystander(
        "#define BIG 1\n#include \"n.h\"\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n",
    );
    let head = base.replace(
        "#define BIG 1\n#include \"n.h\"\n",
        "#include \"n.h\"\n#define BIG 1\n",
    );
    let header = (
        "n.h",
        "#ifdef BIG\n#define N 9\n#else\n#define N 1\n#endif\n",
    );
    Change::between(&[("a.c", &base), header], &[("a.c", &head), header])
        .endangers(&["f: x -T-> return N;"], &["bystander"]);
}

#[test]
fn a_macro_that_only_a_system_header_reads_endangers_the_whole_file() {
    let base = "#include <assert.h>\nint f(int x) { assert(x); return x; }\n";
    let other = (
        "b.c",
        "#include <assert.h>\nint bystander(int x) { assert(x); return x; }\n",
    );
    for name in ["NDEBUG", "_GNU_SOURCE", "LIBRARY_OPTION"] {
        let head = format!("#define {name} 1\n{base}");
        Change::between(&[("a.c", base), other], &[("a.c", &head), other])
            .endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
        Change::between(&[("a.c", &head), other], &[("a.c", base), other])
            .endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
    }
}

#[test]
fn a_macro_for_a_system_header_that_comes_through_a_project_header_endangers_the_includers() {
    let source =
        "#include \"config.h\"\n#include <assert.h>\nint f(int x) { assert(x); return x; }\n";
    let other = (
        "b.c",
        "#include <assert.h>\nint bystander(int x) { assert(x); return x; }\n",
    );
    Change::between(
        &[("a.c", source), ("config.h", "#define A 1\n"), other],
        &[
            ("a.c", source),
            ("config.h", "#define A 1\n#define NDEBUG\n"),
            other,
        ],
    )
    .endangers(&["f: entry f -> int f(int x)"], &["bystander"]);
}

#[test]
fn an_unused_macro_behind_all_includes_endangers_nothing() {
    let base = format!("#include <assert.h>\n{BYSTANDER}");
    let head = edit(&base, "h>\n", "h>\n#define UNUSED 1\n");
    Change::of(&base, &head).endangers(&[], &["bystander"]);
}

#[test]
fn a_new_header_with_an_include_guard_endangers_nothing_by_its_guard() {
    let base = with_bystander("#include <stdio.h>\n");
    let head = format!("#include \"new.h\"\n{base}");
    let header = (
        "new.h",
        "#ifndef NEW_H\n#define NEW_H\nint brand_new(void);\n#endif\n",
    );
    Change::between(&[("a.c", &base)], &[("a.c", &head), header]).endangers(&[], &["bystander"]);
}

#[test]
fn a_file_included_in_the_middle_of_a_function_endangers_its_entry() {
    let source = "int f(int x) {\n  switch (x) {\n#include \"cases.inc\"\n  }\n  return 2;\n}\n";
    let other = ("b.c", BYSTANDER);
    // Statements at file scope are a remainder of their file, so all of what includes it is in danger.
    Change::between(
        &[("a.c", source), ("cases.inc", "case 1: return 1;\n"), other],
        &[("a.c", source), ("cases.inc", "case 1: return 3;\n"), other],
    )
    .endangers(&["f: entry f -> f as a whole"], &["bystander"]);
}

#[test]
fn a_file_included_in_an_initialiser_endangers_the_uses_of_the_variable() {
    let source = "static int table[] = {\n#include \"table.inc\"\n};\nint f(int x) {\n  if (x)\n    return table[0];\n  return 2;\n}\n";
    let user = "extern int table[];\nint g(int x) {\n  if (x)\n    return table[0];\n  return 2;\n}\nint bystander(int x) { return x; }\n";
    // Text that is no declaration counts as a remainder of its file, so for the whole of what includes it.
    Change::between(
        &[("a.c", source), ("b.c", user), ("table.inc", "1, 2, 3,\n")],
        &[("a.c", source), ("b.c", user), ("table.inc", "1, 2, 4,\n")],
    )
    .endangers(
        &["f: entry f -> int f(int x)", "g: x -T-> return table[0];"],
        &["bystander"],
    );
}

#[test]
fn a_changed_file_that_is_not_c_but_included_endangers_what_includes_it() {
    let source = "#include \"list.def\"\nint f(int x) { return x; }\n";
    let inside =
        "static int table[] = {\n#include \"list.def\"\n};\nint g(int x) { return table[x]; }\n";
    let other = ("b.c", BYSTANDER);
    Change::between(
        &[
            ("a.c", source),
            ("c.c", inside),
            ("list.def", "1, 2, 3,\n"),
            other,
        ],
        &[
            ("a.c", source),
            ("c.c", inside),
            ("list.def", "1, 2, 4,\n"),
            other,
        ],
    )
    .endangers(
        &["f: entry f -> int f(int x)", "g: entry g -> int g(int x)"],
        &["bystander"],
    );
}

// What changes nothing

const PLAIN: &str = "#include <stdio.h>\n#define N 1\nstruct s { int a; };\nstatic int level = N;\nint f(int x) {\n  if (x)\n    return level;\n  return 2;\n}\nint g(struct s *s) { return s->a; }\n";

#[test]
fn a_comment_endangers_nothing() {
    edited(PLAIN, "  if (x)\n", "  /* whether */ if (x) // or not\n").endangers_nothing();
    edited(PLAIN, "#define N 1\n", "#define N /* one */ 1 // only\n").endangers_nothing();
}

#[test]
fn white_space_endangers_nothing() {
    edited(
        PLAIN,
        "  if (x)\n    return level;\n",
        "\tif( x )\n\n\n\t\treturn level ;\n",
    )
    .endangers_nothing();
    edited(PLAIN, "#define N 1\n", "#  define N \\\n  1\n").endangers_nothing();
}

#[test]
fn moved_lines_endanger_nothing() {
    edited(PLAIN, "#define N 1\n", "\n\n\n#define N 1\n\n\n").endangers_nothing();
    Change::of(PLAIN, &format!("/*\n * A notice.\n */\n{PLAIN}")).endangers_nothing();
}

#[test]
fn a_function_that_moves_within_its_file_endangers_nothing() {
    let function = "int g(struct s *s) { return s->a; }\n";
    let head = edit(PLAIN, function, "");
    Change::of(PLAIN, &edit(&head, "int f(", &format!("{function}int f("))).endangers_nothing();
}

#[test]
fn a_function_that_moves_over_a_definition_of_a_macro_it_uses_is_in_danger() {
    let function = "int f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\n";
    let rest =
        "int g(void) { return 0; }\n#undef N\n#define N 2\nint bystander(void) { return 1; }\n";
    Change::of(
        &format!("#define N 1\n{function}{rest}"),
        &format!("#define N 1\n{rest}{function}"),
    )
    .endangers(&["f: x -T-> return N;"], &["bystander", "g"]);
}

#[test]
fn a_struct_that_moves_over_a_pragma_endangers_the_file() {
    let users = "int f(void) { return sizeof(struct s); }\n";
    let moved = "struct s { char a; int b; };\n";
    let other = ("b.c", BYSTANDER);
    Change::between(
        &[
            (
                "a.c",
                &format!("{moved}#pragma pack(1)\nstruct t {{ char a; int b; }};\n{users}"),
            ),
            other,
        ],
        &[
            (
                "a.c",
                &format!("#pragma pack(1)\nstruct t {{ char a; int b; }};\n{moved}{users}"),
            ),
            other,
        ],
    )
    .endangers(&["f: entry f -> int f(void)"], &["bystander"]);
}

#[test]
fn a_renamed_file_endangers_nothing() {
    let header = ("n.h", "#define N 1\n");
    let source = "#include \"n.h\"\nint f(int x) {\n  if (x)\n    return N;\n  return 2;\n}\nstatic int g(void) { return 1; }\n";
    Change::between(&[("old.c", source), header], &[("new.c", source), header]).endangers_nothing();
}

#[test]
fn a_branch_that_no_compiler_reads_endangers_nothing() {
    let base = "#if 0\nint dead(int x) { return 1; }\n#define DEAD 1\n#endif\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(int x) {\n#if 0\n  x = 1;\n#endif\n  return x;\n}\n#ifdef __cplusplus\n}\n#endif\n";
    edited(base, "return 1", "return 2").endangers_nothing();
    edited(base, "DEAD 1", "DEAD 2").endangers_nothing();
    edited(base, "x = 1", "x = 2").endangers_nothing();
    edited(base, "extern \"C\" {", "extern \"C\" { // open").endangers_nothing();
    edited(base, "extern \"C\" {", "namespace n {").endangers_nothing();
}

#[test]
fn a_deleted_file_endangers_its_functions_and_their_callers() {
    let caller = with_bystander(
        "int gone(int);\nint f(int x) {\n  if (x)\n    return gone(x);\n  return 2;\n}\n",
    );
    Change::between(
        &[("a.c", &caller), ("b.c", "int gone(int x) { return x; }\n")],
        &[("a.c", &caller)],
    )
    .endangers(
        &[
            "gone: entry gone -> int gone(int x)",
            "f: x -T-> return gone(x);",
        ],
        &["bystander"],
    );
}

// What needs no mention

#[test]
fn a_new_function_that_acts_unmentioned_reaches_the_program() {
    let other = ("b.c", BYSTANDER);
    for attribute in ["constructor", "__destructor__", "section(\".init_array\")"] {
        let head = format!("__attribute__(({attribute})) static void start(void) {{ }}\n");
        Change::between(
            &[("a.c", "int f(void) { return 1; }\n"), other],
            &[
                ("a.c", &format!("{head}int f(void) {{ return 1; }}\n")),
                other,
            ],
        )
        .endangers(&[], &["bystander", "f"])
        .reaches("start", "program");
    }
}

#[test]
fn a_new_function_that_acts_unmentioned_behind_a_macro_reaches_the_program() {
    let header = (
        "init.h",
        "#define CTOR __attribute__((constructor))\n#define INIT static CTOR\n#define REGISTER(name) __attribute__((section(\"list\"))) static int entry_##name(void)\n",
    );
    let base = with_bystander("#include \"init.h\"\n");
    for function in [
        "CTOR static void start(void) { }\n",
        "INIT void start(void) { }\n",
        "static void CTOR start(void) { }\n",
    ] {
        Change::between(
            &[("a.c", &base), header],
            &[("a.c", &format!("{base}{function}")), header],
        )
        .endangers(&[], &["bystander"])
        .reaches("start", "program");
    }
    let made = format!("{base}REGISTER(start) {{ return 1; }}\n");
    Change::between(&[("a.c", &base), header], &[("a.c", &made), header])
        .endangers(&[], &["bystander"])
        .reaches("REGISTER(start)", "program");
}

#[test]
fn a_constructor_that_is_declared_before_it_is_defined_reaches_the_program() {
    let head = with_bystander(
        "static void start(void) __attribute__((constructor));\nstatic void start(void) { }\n",
    );
    Change::of(BYSTANDER, &head)
        .endangers(&[], &["bystander"])
        .reaches("start", "program");
}

#[test]
fn a_new_variable_in_a_section_reaches_the_program() {
    let head = with_bystander(
        "static int run(void) { return 1; }\nstatic int (*const hook)(void) __attribute__((used, section(\"hooks\"))) = run;\n",
    );
    Change::of(BYSTANDER, &head)
        .endangers(&[], &["bystander"])
        .reaches("hook", "program");
}

#[test]
fn a_weak_alias_or_ifunc_symbol_reaches_the_program() {
    let real = "int real(int x) { return x; }\n";
    let base = with_bystander(real);
    for (name, declaration) in [
        (
            "soft",
            "__attribute__((weak)) int soft(int x) { return x; }\n",
        ),
        (
            "other",
            "int other(int x) __attribute__((alias(\"real\")));\n",
        ),
        (
            "chosen",
            "int chosen(int x) __attribute__((ifunc(\"pick\")));\n",
        ),
    ] {
        Change::of(&base, &format!("{base}{declaration}"))
            .endangers(&[], &["bystander", "real"])
            .reaches(name, "program");
    }
}

#[test]
fn a_function_that_takes_the_place_of_a_librarys_reaches_the_program() {
    for (name, function) in [
        ("malloc", "void *malloc(unsigned long n) { return 0; }\n"),
        ("strdup", "char *strdup(const char *s) { return 0; }\n"),
    ] {
        let head = with_bystander(function);
        Change::of(BYSTANDER, &head)
            .endangers(&[], &["bystander"])
            .reaches(name, "program");
        let internal = with_bystander(&format!("static {function}"));
        Change::of(BYSTANDER, &internal)
            .endangers(&[], &["bystander"])
            .reaches(name, "mentions");
    }
}

#[test]
fn a_remainder_of_a_file_endangers_the_file_and_what_includes_it() {
    let header = "static inline int inner(int x) { return x; }\n";
    let source = "#include \"inner.h\"\nint f(int x) { return x; }\n";
    let other = ("b.c", BYSTANDER);
    for (line, reach) in [
        ("#pragma pack(1)\n", "file"),
        ("#pragma GCC optimize(\"O3\")\n", "file"),
        ("asm(\".globl start\");\n", "program"),
        ("UNKNOWN_MACRO(start)\n", "program"),
        ("UNKNOWN_MACRO(start);\n", "program"),
    ] {
        let head = format!("{line}{header}");
        Change::between(
            &[("a.c", source), ("inner.h", header), other],
            &[("a.c", source), ("inner.h", &head), other],
        )
        .endangers(
            &[
                "inner: entry inner -> static inline int inner(int x)",
                "f: entry f -> int f(int x)",
            ],
            &["bystander"],
        )
        .reaches("inner.h", reach);
    }
}

// Control flow

#[test]
fn a_hidden_jump_makes_the_graph_say_so() {
    let base = with_bystander(
        "#define CHECK(x) do { if (!(x)) return -1; } while (0)\nint f(int x) {\n  CHECK(x);\n  x++;\n  return x;\n}\n",
    );
    edited(&base, "x++;", "x--;").endangers(&["f: CHECK(x); -> x++;"], &["bystander"]);
    edited(&base, "return -1", "return -2")
        .endangers(&["f: int f(int x) -> CHECK(x);"], &["bystander"]);
}

#[test]
fn a_hidden_goto_may_lead_to_every_label() {
    let base = with_bystander(
        "#define TRY(x) if (!(x)) goto fail\nint f(int x) {\n  TRY(x);\n  return 1;\nfail:\n  return 2;\n}\n",
    );
    edited(&base, "return 2", "return 3")
        .endangers(&["f: TRY(x); -jump-> return 2;"], &["bystander"]);
}

#[test]
fn an_unknown_macro_before_a_block_is_a_condition_that_may_hold_or_not() {
    let base = with_bystander("int f(int x) {\n  FOREACH(x) {\n    x++;\n  }\n  return x;\n}\n");
    let change = edited(&base, "x++;", "x--;");
    let found = edges(&change.document);
    assert!(
        !found.is_empty() && found.iter().all(|edge| edge.starts_with("f: ")),
        "{found:?}"
    );
    let into_block = found.iter().any(|edge| edge.ends_with("-> x++;"));
    let around_it = found
        .iter()
        .any(|edge| edge.starts_with("f: int f(int x) ->") || edge.starts_with("f: entry f ->"));
    assert!(into_block || around_it, "{found:?}");
    let again = found.iter().map(String::as_str).collect::<Vec<_>>();
    change.endangers(&again, &["bystander"]);
}

#[test]
fn an_else_that_a_condition_splits_is_still_in_danger() {
    let base = with_bystander(
        "int f(int x) {\n  if (x == 1)\n    x = 5;\n#ifdef EXTRA\n  else if (x == 2)\n    x = 6;\n#endif\n  else\n    x = 7;\n  return x;\n}\n",
    );
    for (old, new) in [
        ("x = 6", "x = 60"),
        ("x = 7", "x = 70"),
        ("x = 5", "x = 50"),
    ] {
        let change = edited(&base, old, new);
        let found = edges(&change.document);
        assert!(
            !found.is_empty() && found.iter().all(|edge| edge.starts_with("f: ")),
            "{old}: {found:?}"
        );
        let again = found.iter().map(String::as_str).collect::<Vec<_>>();
        change.endangers(&again, &["bystander"]);
    }
}

#[test]
fn a_changed_case_endangers_the_case_and_the_default() {
    let base = with_bystander(
        "int f(int x) {\n  switch (x) {\n  case 1:\n    return 10;\n  case 2:\n    return 20;\n  default:\n    return 30;\n  }\n}\n",
    );
    edited(&base, "case 2", "case 3").endangers(
        &[
            "f: switch (x) -case 2-> return 20;",
            "f: switch (x) -default-> return 30;",
        ],
        &["bystander"],
    );
}

#[test]
fn a_case_label_whose_macro_changes_endangers_the_case_and_the_default() {
    let base = with_bystander(
        "#define TWO 2\nint f(int x) {\n  switch (x) {\n  case 1:\n    return 10;\n  case TWO:\n    return 20;\n  default:\n    return 30;\n  }\n}\n",
    );
    edited(&base, "TWO 2", "TWO 3").endangers(
        &[
            "f: switch (x) -case TWO-> return 20;",
            "f: switch (x) -default-> return 30;",
        ],
        &["bystander"],
    );
}

#[test]
fn a_new_case_without_a_default_endangers_the_way_around_the_switch() {
    let base = with_bystander(
        "int f(int x) {\n  switch (x) {\n  case 1:\n    return 10;\n  }\n  return 2;\n}\n",
    );
    edited(
        &base,
        "case 1:\n    return 10;\n",
        "case 1:\n    return 10;\n  case 2:\n    return 20;\n",
    )
    .endangers(&["f: switch (x) -default-> return 2;"], &["bystander"]);
}

#[test]
fn the_second_operand_of_and_endangers_only_who_gets_there() {
    let base = with_bystander(
        "int f(int x, int y) {\n  if (x > 0 && y > 0)\n    return 1;\n  return 2;\n}\n",
    );
    edited(&base, "y > 0", "y > 1").endangers(&["f: x > 0 -T-> y > 0"], &["bystander"]);
}

#[test]
fn the_second_operand_of_or_endangers_only_who_gets_there() {
    let base = with_bystander(
        "int f(int x, int y) {\n  if (x > 0 || y > 0)\n    return 1;\n  return 2;\n}\n",
    );
    edited(&base, "y > 0", "y > 1").endangers(&["f: x > 0 -F-> y > 0"], &["bystander"]);
}

#[test]
fn an_arm_of_a_choice_endangers_only_who_chooses_it() {
    let base = with_bystander("int f(int x) {\n  return x > 0 ? x + 1 : 2;\n}\n");
    edited(&base, ": 2", ": 3").endangers(&["f: x > 0 -F-> 2"], &["bystander"]);
}

const LOOP: &str = "int f(int n) {\n  for (int i = 0; i < n; i++)\n    n -= 2;\n  return n;\n}\nint bystander(int x) { return x; }\n";

#[test]
fn the_first_part_of_a_loops_head_endangers_who_enters_the_loop() {
    edited(LOOP, "i = 0", "i = 1").endangers(&["f: int f(int n) -> int i = 0;"], &["bystander"]);
}

#[test]
fn the_condition_of_a_loop_endangers_who_tests_it() {
    edited(LOOP, "i < n", "i <= n").endangers(&["f: int i = 0; -> i < n"], &["bystander"]);
}

#[test]
fn the_last_part_of_a_loops_head_endangers_who_goes_round() {
    edited(LOOP, "i++", "i += 2").endangers(&["f: n -= 2; -> i++"], &["bystander"]);
}

#[test]
fn a_macro_that_lists_enumerators_endangers_the_whole_file() {
    let base = with_bystander(
        "#define LIST A = 1, B = 2\nenum { LIST };\nint f(int x) {\n  if (x)\n    return B;\n  return 2;\n}\n",
    );
    let repo_head = edit(&base, "B = 2", "B = 3");
    let change = Change::of(&base, &repo_head);
    change.endangers(
        &[
            "bystander: entry bystander -> int bystander(int x)",
            "f: entry f -> int f(int x)",
        ],
        &[],
    );
}

#[test]
fn a_tag_inside_another_struct_endangers_its_uses() {
    let base = with_bystander(
        "struct o { struct in { char a; } i; };\nint f(int x) {\n  if (x)\n    return sizeof(struct in);\n  return 2;\n}\n",
    );
    let head = edit(&base, "char a;", "char a; int z;");
    Change::of(&base, &head).endangers(&["f: x -T-> return sizeof(struct in);"], &["bystander"]);
}

#[test]
fn an_enumerator_inside_a_struct_endangers_its_uses() {
    let base = with_bystander(
        "struct s { enum { A, B } k; };\nint f(int x) {\n  if (x)\n    return B;\n  return 2;\n}\n",
    );
    let head = edit(&base, "{ A, B }", "{ A = 3, B }");
    Change::of(&base, &head).endangers(&["f: x -T-> return B;"], &["bystander"]);
}

#[test]
fn an_attribute_macro_behind_a_struct_endangers_its_uses() {
    let base = with_bystander(
        "#define PACKED\nstruct t { char a; int b; } PACKED;\nint f(int x) {\n  if (x)\n    return sizeof(struct t);\n  return 2;\n}\n",
    );
    let head = edit(
        &base,
        "PACKED\nstruct",
        "PACKED __attribute__((packed))\nstruct",
    );
    Change::of(&base, &head).endangers(&["f: x -T-> return sizeof(struct t);"], &["bystander"]);
}
