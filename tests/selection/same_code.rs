//! Code that is the same and made of other functions than before: a trace must not outlive that.

use crate::steps::{BACKENDS, is_noticed_by_nobody, is_noticed_by_the_first, project};

/// Two functions that do the same for now.
const TWINS: &str = "static inline int t1(int x) { return x + 2; }\nstatic inline int t2(int x) { return x + 2; }\n";

/// The second of them does something else, which the first test notices.
fn parted() -> String {
    TWINS.replace("t2(int x) { return x + 2", "t2(int x) { return x + 3")
}

#[test]
fn who_is_led_to_another_function_by_a_flag_is_known_to_execute_that() {
    let choice = "#include \"t.h\"\n#if SECOND\n#define CHOSEN t2\n#else\n#define CHOSEN t1\n#endif\nint f(int x) { return CHOSEN(x); }\n";
    // Both are compiled whatever the flag says.
    let other = "#include \"t.h\"\nint other(int x) { return t1(x) + t2(x); }\n";
    let makefile = "FLAGS = -DSECOND=0\nprog: main.c f.c other.c t.h Makefile\n\tcc -w -O2 $(FLAGS) -c f.c\n\tcc -w -O0 -c other.c\n\tcc -w -o prog main.c f.o other.o\n";
    for backend in BACKENDS {
        let files = [("f.c", choice), ("other.c", other), ("t.h", TWINS)];
        let repo = project(backend, makefile, &files);
        repo.write("Makefile", makefile.replace("SECOND=0", "SECOND=1"));
        is_noticed_by_nobody(&repo);
        repo.write("t.h", parted());
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn who_is_led_to_another_function_through_generated_code_is_known_to_execute_that() {
    let makefile = "prog: main.c other.c t.h\n\techo '#include \"t.h\"' > made.c\n\techo 'int f(int x) { return CHOSEN(x); }' >> made.c\n\tcc -w -O2 -c made.c\n\tcc -w -O0 -c other.c\n\tcc -w -o prog main.c made.o other.o\n";
    let other = "#include \"t.h\"\nint other(int x) { return t1(x) + t2(x); }\n";
    let chosen = |text: &str, name: &str| format!("{text}#define CHOSEN {name}\n");
    for backend in BACKENDS {
        let first = chosen(TWINS, "t1");
        let files = [
            ("other.c", other),
            ("t.h", &first),
            (".gitignore", "made.c\n*.o\nprog\n"),
        ];
        let repo = project(backend, makefile, &files);
        repo.write("t.h", chosen(TWINS, "t2"));
        repo.commit_all();
        crate::builds::succeeds(&repo, &["run", "HEAD~1"]);
        repo.write("t.h", chosen(&parted(), "t2"));
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn generated_code_that_is_kept_in_the_tree_is_known_by_its_place_there() {
    let makefile = "prog: main.c\n\tmkdir -p made\n\techo 'int f(int a) { return a * 2; }' > made/f.c\n\tcc -w -o prog main.c made/f.c\n";
    for backend in BACKENDS {
        let repo = project(backend, makefile, &[(".gitignore", "made\nprog\n")]);
        repo.write("f.c", "int f(int a) { return a * 2; }\n");
        repo.write("Makefile", "prog: main.c f.c\n\tcc -w -o prog main.c f.c\n");
        repo.commit_all();
        crate::builds::succeeds(&repo, &["run", "HEAD~1"]);
        repo.write("f.c", "int f(int a) { return a * 3; }\n");
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn generated_code_without_counters_may_be_executed_by_anybody() {
    let makefile = "prog: main.c t.h\n\techo '#include \"t.h\"' > made.c\n\techo 'int f(int a) { return a + N; }' >> made.c\n\t$$(PATH=/usr/bin:/bin command -v gcc) -w -I. -c made.c\n\tcc -w -o prog main.c made.o\n";
    for backend in BACKENDS {
        let files = [
            ("t.h", "#define N 2\n"),
            (".gitignore", "made.c\n*.o\nprog\n"),
        ];
        let repo = project(backend, makefile, &files);
        repo.write("t.h", "#define N 3\n");
        is_noticed_by_the_first(&repo, backend);
    }
}

#[test]
fn a_source_that_takes_the_place_of_another_is_known_though_the_build_made_a_function_of_that_name_too()
 {
    let same = |caller: &str| {
        format!(
            "static int step(int x) {{ return x + 1; }}\nint {caller}(int x) {{ return step(x); }}\n"
        )
    };
    let made = same("g").replace('\n', " ");
    let makefile = format!(
        "prog: main.c f.c a.c\n\techo '{made}' > made.c\n\tcc -w -o prog main.c f.c made.c a.c\n"
    );
    let f = "int g(int);\nint a(int);\nint f(int x) { return a(g(x)); }\n";
    for backend in BACKENDS {
        let files = [
            ("f.c", f),
            ("a.c", &same("a")),
            ("c.c", &same("a")),
            (".gitignore", "made.c\n*.o\nprog\n"),
        ];
        let repo = project(backend, &makefile, &files);
        repo.write("Makefile", makefile.replace(" a.c", " c.c"));
        repo.commit_all();
        crate::builds::succeeds(&repo, &["run", "HEAD~1"]);
        repo.write("c.c", same("a").replace("x + 1", "x + 2"));
        is_noticed_by_the_first(&repo, backend);
    }
}
