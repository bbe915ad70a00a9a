//! Sources that the build copies, links to or puts together: what is executed in them counts for the originals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git_rts::trace::{Crossed, FunctionId};

use crate::bench::{Bench, Compiler, lines, without_entry};

const COMPILERS: [Compiler; 3] = [
    Compiler::Clang(14),
    Compiler::Clang(19),
    Compiler::Gcc("gcc"),
];

const HEADER: &str = "static inline int pick(int x) {\n  if (x > 1)\n    return 5;\n  return 6;\n}\nstatic inline int idle(void) {\n  return 1;\n}\n";
/// Compiled without a copy, so that the functions of the header have counters in any case.
const DIRECT: &str = "#include \"x.h\"\nint direct(void) {\n  return pick(1) + idle();\n}\n";
const USER: &str =
    "#include <include/x.h>\nint main(int argc, char **argv) {\n  return pick(argc) == 9;\n}\n";

/// A program that knows the header only as `include/x.h`, which `make` makes.
fn bench(compiler: Compiler, make: impl Fn(&Path)) -> Bench {
    let files = [("x.h", HEADER), ("direct.c", DIRECT), ("a.c", USER)];
    let bench = Bench::new(compiler, &files);
    let top = bench.top();
    std::fs::create_dir(top.join("include")).unwrap();
    make(&top);
    bench.compile(&["-I.", "-o", "program", "a.c", "direct.c"]);
    bench
}

/// The functions that a run entered, by file, and whether only as a whole.
#[track_caller]
fn entered(bench: &Bench, arguments: &[&str]) -> BTreeMap<String, bool> {
    let recorded = bench.record(arguments);
    assert_eq!(recorded.doubt, None);
    let functions = recorded.trace.functions.iter();
    let functions = functions.filter(|(id, _)| !id.is_symbol());
    // That something was made at all has its own mark.
    let functions = functions.filter(|(id, _)| *id != FunctionId::made());
    functions
        .map(|(function, crossed)| {
            let name = format!("{} in {}", function.name, function.file);
            (name, *crossed == Crossed::Whole)
        })
        .collect()
}

#[track_caller]
fn is_exact(bench: &Bench) {
    let edges = bench.edges(&["2", "3"], "pick");
    let edges = without_entry(&edges, "int pick(int x)");
    let taken = "x > 1 -T-> return 5;";
    assert!(edges.contains(taken), "{edges:?}");
    assert!(!edges.contains("x > 1 -F-> return 6;"), "{edges:?}");
    let entered: BTreeSet<String> = entered(bench, &[]).into_keys().collect();
    assert_eq!(entered, lines("pick in x.h\nmain in a.c"));
}

#[test]
fn a_copied_header_is_its_original() {
    for compiler in COMPILERS {
        is_exact(&bench(compiler, |top| {
            std::fs::copy(top.join("x.h"), top.join("include/x.h")).unwrap();
        }));
    }
}

#[test]
fn a_header_behind_a_link_is_its_target() {
    use std::os::unix::fs::symlink;
    for compiler in COMPILERS {
        is_exact(&bench(compiler, |top| {
            symlink("../x.h", top.join("include/x.h")).unwrap();
        }));
        is_exact(&bench(compiler, |top| {
            std::fs::remove_dir(top.join("include")).unwrap();
            symlink(".", top.join("include")).unwrap();
        }));
    }
}

#[test]
fn functions_of_a_header_that_was_changed_on_its_way_are_entered_as_a_whole() {
    for compiler in COMPILERS {
        let bench = bench(compiler, |top| {
            let changed = format!("/* Made from x.h. */\n\n{HEADER}");
            std::fs::write(top.join("include/x.h"), changed).unwrap();
        });
        let expected = [("pick in x.h", true), ("main in a.c", false)];
        let expected = expected.map(|(name, whole)| (name.to_owned(), whole));
        assert_eq!(entered(&bench, &[]), expected.into());
    }
}

#[test]
fn a_renamed_function_may_have_been_any_of_its_original() {
    for compiler in COMPILERS {
        let bench = bench(compiler, |top| {
            let changed = format!(
                "{}\n#define pick choose\n",
                HEADER.replace("pick", "choose")
            );
            std::fs::write(top.join("include/x.h"), changed).unwrap();
        });
        let entered: BTreeSet<String> = entered(&bench, &[]).into_keys().collect();
        let expected = lines("pick in x.h\nidle in x.h\nmain in a.c");
        assert_eq!(entered, expected);
    }
}

#[test]
fn a_header_that_the_build_removed_again_is_entered_as_a_whole() {
    for compiler in COMPILERS {
        let bench = bench(compiler, |top| {
            std::fs::copy(top.join("x.h"), top.join("include/x.h")).unwrap();
        });
        std::fs::remove_file(bench.top().join("include/x.h")).unwrap();
        let entered = entered(&bench, &[]);
        assert_eq!(entered.get("pick in x.h"), Some(&true), "{entered:?}");
    }
}

#[test]
fn a_copied_source_is_its_original_under_any_name() {
    let source = "int f(int x) {\n  if (x)\n    return 1;\n  return 0;\n}\n";
    for compiler in COMPILERS {
        let files = [
            ("f.c", source),
            ("a.c", "int f(int);\nint main(void) {\n  return f(0);\n}\n"),
        ];
        let bench = Bench::new(compiler, &files);
        std::fs::create_dir(bench.top().join("out")).unwrap();
        for copy in ["out/f.c", "out/g.c"] {
            std::fs::copy(bench.top().join("f.c"), bench.top().join(copy)).unwrap();
            bench.compile(&["-o", "program", "a.c", copy]);
            let edges = bench.edges(&[], "f");
            assert!(edges.contains("x -F-> return 0;"), "{copy}: {edges:?}");
            assert!(!edges.contains("x -T-> return 1;"), "{copy}: {edges:?}");
        }
    }
}

#[test]
fn of_several_originals_each_counts() {
    let one = "int f(int x) {\n  return x;\n}\n";
    for compiler in COMPILERS {
        let files = [
            ("f.c", one),
            ("g.c", one),
            ("a.c", "int f(int);\nint main(void) {\n  return f(0);\n}\n"),
        ];
        let bench = Bench::new(compiler, &files);
        std::fs::create_dir(bench.top().join("out")).unwrap();
        std::fs::write(bench.top().join("out/h.c"), one).unwrap();
        bench.compile(&["-shared", "-fPIC", "-o", "libf.so", "f.c"]);
        bench.compile(&["-shared", "-fPIC", "-o", "libg.so", "g.c"]);
        bench.compile(&["-o", "program", "a.c", "out/h.c"]);
        let entered: BTreeSet<String> = entered(&bench, &[]).into_keys().collect();
        assert_eq!(entered, lines("f in f.c\nf in g.c\nmain in a.c"));
    }
}

#[test]
fn what_was_put_together_from_several_sources_counts_for_each() {
    let (f, g) = (
        "int f(void) {\n  return 0;\n}\n",
        "int g(void) {\n  return 0;\n}\n",
    );
    for compiler in COMPILERS {
        let files = [
            ("f.c", f),
            ("g.c", g),
            (
                "a.c",
                "int part_f(void);\nint main(void) {\n  return part_f();\n}\n",
            ),
        ];
        let bench = Bench::new(compiler, &files);
        // The compiler knows the function by another name than the source.
        let all = format!("#define f part_f\n{f}{g}");
        std::fs::write(bench.top().join("all.c"), all).unwrap();
        bench.compile(&["-shared", "-fPIC", "-o", "libparts.so", "f.c", "g.c"]);
        bench.compile(&["-o", "program", "a.c", "all.c"]);
        let entered: BTreeSet<String> = entered(&bench, &[]).into_keys().collect();
        assert_eq!(entered, lines("f in f.c\nmain in a.c"));
    }
}

#[test]
fn a_source_that_is_compiled_only_as_a_part_is_known_by_that() {
    let one = "int f(void) {\n  return 0;\n}\n";
    for compiler in COMPILERS {
        let files = [
            ("f.c", one),
            ("a.c", "int f(void);\nint main(void) {\n  return f();\n}\n"),
        ];
        let bench = Bench::new(compiler, &files);
        std::fs::write(bench.top().join("all.c"), format!("int n;\n{one}")).unwrap();
        bench.compile(&["-o", "program", "a.c", "all.c"]);
        let expected = [("f in f.c", true), ("main in a.c", false)];
        let expected = expected.map(|(name, whole)| (name.to_owned(), whole));
        assert_eq!(entered(&bench, &[]), expected.into());
    }
}
