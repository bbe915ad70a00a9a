//! Every kind of statement, with the edges that one run crosses.

use std::collections::BTreeSet;

use crate::bench::{Bench, Compiler, lines, without_entry};

/// A function `f` of one parameter, and a `main` that calls it with its first argument.
fn program(before: &str, body: &str) -> String {
    format!(
        "#include <stdlib.h>\n{before}\nint g(int x) {{ return x; }}\nint f(int x) {{\n{body}\n}}\n\
         int main(int argc, char **argv) {{ f(atoi(argv[1])); return 0; }}\n"
    )
}

/// Clang tells exactly these edges; gcov tells at least these.
#[track_caller]
fn crosses(before: &str, body: &str, argument: &str, expected: &str) {
    let source = program(before, body);
    let expected: BTreeSet<String> = lines(expected);
    for compiler in [
        Compiler::Clang(14),
        Compiler::Clang(19),
        Compiler::Gcc("gcc"),
    ] {
        let edges = Bench::of(compiler, &source).edges(&[argument], "f");
        let edges = without_entry(&edges, "int f(int x)");
        if matches!(compiler, Compiler::Gcc(_)) {
            let missing: Vec<_> = expected.difference(&edges).collect();
            assert!(missing.is_empty(), "gcov lacks {missing:?}");
        } else {
            assert_eq!(edges, expected, "{compiler:?}");
        }
    }
}

#[test]
fn an_if_with_an_else() {
    let body = "  if (x > 1)\n    g(1);\n  else\n    g(2);\n  return 0;";
    crosses(
        "",
        body,
        "5",
        "int f(int x) -> x > 1
         x > 1 -T-> g(1);
         g(1); -> return 0;
         return 0; -> exit",
    );
    crosses(
        "",
        body,
        "0",
        "int f(int x) -> x > 1
         x > 1 -F-> g(2);
         g(2); -> return 0;
         return 0; -> exit",
    );
}

#[test]
fn loops_with_break_and_continue() {
    let body = "  int i;\n  for (i = 0; i < x; i++) {\n    if (i == 1)\n      continue;\n    if (i == 3)\n      break;\n    g(i);\n  }\n  return 0;";
    crosses(
        "",
        body,
        "2",
        "int f(int x) -> i = 0
         i = 0 -> i < x
         i < x -T-> i == 1
         i < x -F-> return 0;
         i == 1 -T-> i++
         i == 1 -F-> i == 3
         i == 3 -F-> g(i);
         g(i); -> i++
         i++ -> i < x
         return 0; -> exit",
    );
    let body = "  while (x > 0) {\n    x--;\n    if (x == 1)\n      break;\n  }\n  do\n    g(x);\n  while (x-- > 5);\n  return 0;";
    crosses(
        "",
        body,
        "2",
        "int f(int x) -> x > 0
         x > 0 -T-> x--;
         x--; -> x == 1
         x == 1 -T-> g(x);
         g(x); -> x-- > 5
         x-- > 5 -F-> return 0;
         return 0; -> exit",
    );
}

#[test]
fn a_switch_with_fall_through_and_default() {
    let body = "  switch (x) {\n  case 1:\n    g(1);\n  case 2:\n    g(2);\n    break;\n  case 3:\n    g(3);\n    break;\n  default:\n    g(4);\n  }\n  return 0;";
    crosses(
        "",
        body,
        "1",
        "int f(int x) -> switch (x)
         switch (x) -case 1-> g(1);
         g(1); -> g(2);
         g(2); -> return 0;
         return 0; -> exit",
    );
    crosses(
        "",
        body,
        "9",
        "int f(int x) -> switch (x)
         switch (x) -default-> g(4);
         g(4); -> return 0;
         return 0; -> exit",
    );
}

#[test]
fn a_switch_without_a_default() {
    let body =
        "  switch (x) {\n  case 1:\n    g(1);\n    break;\n  case 2:\n    g(2);\n  }\n  return 0;";
    crosses(
        "",
        body,
        "7",
        "int f(int x) -> switch (x)
         switch (x) -default-> return 0;
         return 0; -> exit",
    );
    crosses(
        "",
        body,
        "2",
        "int f(int x) -> switch (x)
         switch (x) -case 2-> g(2);
         g(2); -> return 0;
         return 0; -> exit",
    );
}

#[test]
fn operands_and_arms() {
    let body = "  if (x > 0 && x < 9 || !(x == -1 && g(x)))\n    g(1);\n  return\n    x ?\n    g(2) :\n    g(3);";
    crosses(
        "",
        body,
        "4",
        "int f(int x) -> x > 0
         x > 0 -T-> x < 9
         x < 9 -T-> g(1);
         g(1); -> return x ? g(2) : g(3);
         return x ? g(2) : g(3); -> x
         x -T-> g(2)
         g(2) -> exit",
    );
    crosses(
        "",
        body,
        "-1",
        "int f(int x) -> x > 0
         x > 0 -F-> x == -1
         x == -1 -T-> g(x)
         g(x) -T-> return x ? g(2) : g(3);
         return x ? g(2) : g(3); -> x
         x -T-> g(2)
         g(2) -> exit",
    );
}

#[test]
fn jumps_to_labels() {
    let body = "  if (x)\n    goto end;\n  g(1);\nagain:\n  g(2);\n  if (x++ < 1)\n    goto again;\nend:\n  return 0;";
    crosses(
        "",
        body,
        "1",
        "int f(int x) -> x
         x -T-> return 0;
         return 0; -> exit",
    );
    crosses(
        "",
        body,
        "0",
        "int f(int x) -> x
         x -F-> g(1);
         g(1); -> g(2);
         g(2); -> x++ < 1
         x++ < 1 -T-> g(2);
         x++ < 1 -F-> return 0;
         return 0; -> exit",
    );
}

#[test]
fn a_static_inline_function_of_a_header_and_a_shared_library() {
    for version in [14, 16, 19] {
        let bench = Bench::new(
            Compiler::Clang(version),
            &[
                (
                    "h.h",
                    "static inline int h(int x) {\n  if (x)\n    return 1;\n  return 2;\n}\n",
                ),
                (
                    "l.c",
                    "#include \"h.h\"\nint l(int x) {\n  return h(x - 1);\n}\n",
                ),
                (
                    "a.c",
                    "#include \"h.h\"\nint l(int);\nint main(void) {\n  return h(1) + l(1);\n}\n",
                ),
            ],
        );
        bench.compile(&["-shared", "-fPIC", "-o", "libl.so", "l.c"]);
        bench.compile(&["-o", "program", "a.c", "-L.", "-ll"]);
        let recorded = bench.record(&[]);
        assert_eq!(recorded.doubt, None);
        assert_eq!(recorded.binaries.len(), 2, "{:?}", recorded.binaries);
        let words = bench.words(&recorded);
        let both = words["h"].clone().unwrap();
        assert!(both.contains("x -T-> return 1;") && both.contains("x -F-> return 2;"));
        assert!(words.contains_key("l") && words.contains_key("main"));
    }
}

#[test]
fn whatever_ends_a_program_its_trace_is_there() {
    for end in [
        "abort()",
        "_exit(3)",
        "*(volatile int *)0 = 1",
        "kill(getpid(), 9)",
    ] {
        let source = format!(
            "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\nint f(int x) {{\n  if (x)\n    {end};\n  return 0;\n}}\nint main(void) {{ return f(1); }}\n"
        );
        for version in [14, 19] {
            let bench = Bench::of(Compiler::Clang(version), &source);
            let edges = bench.edges(&[], "f");
            assert!(
                edges.contains(&format!("x -T-> {end};")),
                "{end}: {edges:?}"
            );
        }
    }
}
