//! The widening rules of `trace::widening` in the order of their table, for each a program whose trace lacks an edge without it; `Lines` is tested in `trace::lines`.

use std::collections::BTreeSet;

use crate::bench::{Bench, Compiler};

const CLANGS: [Compiler; 2] = [Compiler::Clang(14), Compiler::Clang(19)];

#[test]
fn code_behind_a_call_that_returns_twice_counts() {
    let source = "#include <setjmp.h>\njmp_buf b;\nint n;\nvoid g(void) { longjmp(b, 1); }\nint f(void) {\n  if (setjmp(b) == 0) {\n    n++;\n    g();\n  } else {\n    n--;\n  }\n  return n;\n}\nint main(void) { return f(); }\n";
    for compiler in CLANGS {
        let bench = Bench::of(compiler, source);
        let edges = bench.edges(&[], "f");
        assert!(edges.contains("setjmp(b) == 0 -F-> n--;"), "{edges:?}");
        assert!(edges.contains("n--; -> return n;"), "{edges:?}");
    }
}

#[test]
fn code_behind_a_fork_counts_in_both_processes() {
    let source = "#include <unistd.h>\n#include <sys/wait.h>\nint n;\nint f(void) {\n  if (fork() == 0)\n    n = 1;\n  else\n    n = wait(0);\n  return 0;\n}\nint main(void) { return f(); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        assert!(edges.contains("fork() == 0 -T-> n = 1;"), "{edges:?}");
        assert!(edges.contains("fork() == 0 -F-> n = wait(0);"), "{edges:?}");
    }
}

#[test]
fn a_computed_goto_crosses_the_edge_to_the_label_that_ran() {
    let source = "int f(int x) {\n  void *t[] = { &&a, &&b };\n  goto *t[x];\na:\n  x = 1;\n  return x;\nb:\n  x = 2;\n  return x;\n}\nint main(void) { return f(1); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        let to = |target: &str| {
            edges
                .iter()
                .any(|edge| edge.ends_with(&format!("> {target}")))
        };
        assert!(to("x = 2;"), "{edges:?}");
        assert!(!to("x = 1;"), "{edges:?}");
    }
}

#[test]
fn both_outcomes_of_a_condition_that_the_compiler_decides_count() {
    let source = "int f(int x) {\n  if (2 ?\n      3 :\n      0)\n    x++;\n  return x;\n}\nint main(void) { return f(1); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        assert!(edges.contains("2 -T-> 3"), "{edges:?}");
    }
}

#[test]
fn an_outcome_that_a_macro_decides_counts_when_its_end_ran() {
    let source = "#define BOTH(x, y) ((x) && (y))\nint f(int x) {\n  if (BOTH(x, x > 1))\n    x++;\n  return x;\n}\nint main(void) { return f(5); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        assert!(edges.contains("BOTH(x, x > 1) -T-> x++;"), "{edges:?}");
    }
}

#[test]
fn where_a_macro_may_jump_an_edge_counts_by_its_target() {
    let source = "#define CHECK(x) if (x) goto end\nint f(int x) {\n  CHECK(x);\n  x = 1;\nend:\n  return x;\n}\nint main(void) { return f(5); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        assert!(edges.contains("CHECK(x); -jump-> return x;"), "{edges:?}");
        assert!(!edges.contains("CHECK(x); -> x = 1;"), "{edges:?}");
    }
}

#[test]
fn code_that_the_preprocessor_left_out_counts_as_the_code_around_it() {
    let source = "int f(int x) {\n#ifdef OTHER\n  x = 1;\n#else\n  x = 2;\n#endif\n  return x;\n}\nint main(void) { return f(5); }\n";
    for compiler in CLANGS {
        let edges = Bench::of(compiler, source).edges(&[], "f");
        let to = |target: &str| {
            edges
                .iter()
                .any(|edge| edge.ends_with(&format!("> {target}")))
        };
        assert!(to("x = 1;") && to("x = 2;"), "{edges:?}");
    }
}

#[test]
fn a_function_that_is_known_only_as_a_whole_is_crossed_as_a_whole() {
    let source = "#define BEGIN {\nint f(int x) {\n  if (x) BEGIN\n    x++; }\n  return x;\n}\nint main(void) { return f(5); }\n";
    for compiler in CLANGS {
        let bench = Bench::of(compiler, source);
        let recorded = bench.record(&[]);
        assert_eq!(bench.words(&recorded)["f"], None);
    }
}

#[test]
fn a_function_without_counters_is_not_among_the_counted() {
    let source = "__attribute__((no_profile_instrument_function)) int f(int x) { return x; }\nint g(int x) { return x; }\nint main(void) { return f(0); }\n";
    let counted = Bench::of(Compiler::Clang(19), source).counted();
    let expected: BTreeSet<String> = ["g", "main"].map(str::to_owned).into();
    assert_eq!(counted, expected);
}

#[test]
fn a_test_that_leaves_no_counters_is_known_by_that() {
    for compiler in [Compiler::Clang(14), Compiler::Gcc("gcc")] {
        let bench = Bench::of(compiler, "int main(void) { return 0; }\n");
        let counted = bench.record(&[]);
        assert!(!counted.is_empty && counted.doubt.is_none());
        std::fs::write(bench.top().join("program"), "#!/bin/sh\nexit 0\n").unwrap();
        assert!(bench.record(&[]).is_empty);
    }
}

#[test]
fn a_library_that_runs_in_a_process_which_forks_is_doubted_too() {
    let library = "int n;\nint f(int (*go)(void)) {\n  if (go() == 0)\n    n = 1;\n  else\n    n = 2;\n  return 0;\n}\n";
    let program = "#include <unistd.h>\n#include <sys/wait.h>\nint f(int (*)(void));\nstatic int go(void) { int child = fork(); if (child) wait(0); return child; }\nint main(void) { return f(go); }\n";
    for compiler in CLANGS {
        let bench = Bench::new(compiler, &[("l.c", library), ("a.c", program)]);
        bench.compile(&["-shared", "-fPIC", "-o", "libl.so", "l.c"]);
        bench.compile(&["-o", "program", "a.c", "-L.", "-ll"]);
        let edges = bench.edges(&[], "f");
        assert!(edges.contains("go() == 0 -T-> n = 1;"), "{edges:?}");
        assert!(edges.contains("go() == 0 -F-> n = 2;"), "{edges:?}");
    }
}

#[test]
fn a_program_for_which_a_library_without_counters_forks_is_doubted_too() {
    let library = "#include <unistd.h>\n#include <sys/wait.h>\nint go(void) { int child = fork(); if (child) wait(0); return child; }\n";
    let program = "int go(void);\nint n;\nint f(void) {\n  if (go() == 0)\n    n = 1;\n  else\n    n = 2;\n  return 0;\n}\nint main(void) { return f(); }\n";
    for compiler in CLANGS {
        let bench = Bench::new(compiler, &[("l.c", library), ("a.c", program)]);
        let status = std::process::Command::new("gcc")
            .args(["-shared", "-fPIC", "-o", "libl.so", "l.c"])
            .current_dir(bench.top())
            .status()
            .unwrap();
        assert!(status.success());
        bench.compile(&["-o", "program", "a.c", "-L.", "-ll"]);
        let edges = bench.edges(&[], "f");
        assert!(edges.contains("go() == 0 -F-> n = 2;"), "{edges:?}");
    }
}
