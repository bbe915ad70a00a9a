//! What compilers, linkers and runtimes do and the sources do not show: who executes what differs is selected all the same.

use crate::foreign::{COMPILED, Case};

/// Returns 0 for `n`, and for `v` whether something is as it was.
const MAIN: &str =
    "int get(void);\nint main(int c, char **v) { return v[1][0] == 'v' && get() != 4; }\n";

#[test]
fn a_macro_that_the_build_takes_from_a_header_reaches_who_uses_it() {
    Case {
        files: &[
            ("version.h", "#define VERSION 4\n"),
            ("main.c", MAIN),
            ("get.c", "int get(void) { return GOT; }\n"),
            (
                "Makefile",
                &format!(
                    "prog: main.o got.o\n\tcc -o $@ main.o got.o\n\
                     got.o: get.c version.h\n\tcc -c -DGOT=$$(sed -n 's/.*VERSION //p' version.h) -o $@ get.c\n{COMPILED}"
                ),
            ),
        ],
        change: ("version.h", "4", "5"),
    }
    .fails();
}

/// A header that only an option brings in.
fn forced() -> Vec<(&'static str, &'static str)> {
    vec![
        ("forced.h", "#define OTHER\n"),
        (
            "main.c",
            "#include <assert.h>\nint k;\nint get(void) { assert(k++ == 0); return 5 - k; }\n\
             int main(int c, char **v) { return v[1][0] == 'v' && get() != 4; }\n",
        ),
        (
            "Makefile",
            "prog: main.c forced.h\n\tcc -include forced.h -o $@ main.c\n",
        ),
    ]
}

#[test]
fn a_header_that_an_option_brings_in_reaches_every_source() {
    let case = Case {
        files: &forced(),
        change: ("forced.h", "OTHER", "NDEBUG"),
    };
    case.fails();
    case.is_selected();
}

#[test]
fn a_pragma_of_such_a_header_reaches_every_source() {
    let mut files = forced();
    files[1].1 = "struct s { char a; int b; };\nint get(void) { return __builtin_offsetof(struct s, b); }\n\
                  int main(int c, char **v) { return v[1][0] == 'v' && get() != 4; }\n";
    let case = Case {
        files: &files,
        change: ("forced.h", "#define OTHER", "#pragma pack(1)"),
    };
    case.fails();
    case.is_selected();
}

#[test]
fn constructors_that_change_places_reach_who_runs_the_program() {
    let double = "__attribute__((constructor)) static void twice(void) { v *= 2; }\n";
    let more = "__attribute__((constructor)) static void more(void) { v += 1; }\n";
    let before = format!("{double}{more}");
    let after = format!("{more}{double}");
    let case = Case {
        files: &[
            (
                "main.c",
                &format!(
                    "static int v = 2;\n{before}int main(int c, char **w) {{ return w[1][0] == 'v' && v != 5; }}\n"
                ),
            ),
            ("Makefile", "prog: main.c\n\tcc -w -o $@ main.c\n"),
        ],
        change: ("main.c", &before, &after),
    };
    case.fails();
    case.is_selected();
}

#[test]
fn a_source_that_is_compiled_through_a_pipe_under_other_names_reaches_who_executes_it() {
    Case {
        files: &[
            ("main.c", MAIN),
            ("part.c", "int part(void) { return 4; }\n"),
            (
                "Makefile",
                &format!(
                    "prog: main.o get.o\n\tcc -o $@ main.o get.o\n\
                     get.o: part.c\n\tsed s/part/get/ part.c | cc -x c -c -o $@ -\n{COMPILED}"
                ),
            ),
        ],
        change: ("part.c", "return 4", "return 5"),
    }
    .fails();
}

#[test]
fn a_linker_that_meets_another_definition_first_reaches_who_executes_it() {
    let repo = Case {
        files: &[
            ("main.c", MAIN),
            ("a_weak.c", "__attribute__((weak)) int get(void) { return 4; }\n"),
            ("b_weak.c", "__attribute__((weak)) int get(void) { return 5; }\n"),
            (
                "Makefile",
                "SOURCES := $(sort $(wildcard *_weak.c))\nprog: main.c $(SOURCES)\n\tcc -o $@ main.c $(SOURCES)\n",
            ),
        ],
        change: ("main.c", "\n", "\n\n"),
    }
    .changed("llvm", 1);
    let output = repo.rts(&["run", "HEAD"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    repo.git(&["mv", "a_weak.c", "z_weak.c"]);
    repo.commit_all();
    let output = repo.rts(&["run", "HEAD~1"]);
    assert_eq!(output.status.code(), Some(100), "{output:?}");
}

/// A program beside which another one counts, by clang.
fn beside(main: &str, run: &str) -> [(&'static str, String); 3] {
    let makefile = "all: prog second\nprog: main.c\n\tcc -w -o $@ main.c\nsecond: second.c\n\tcc -w -o $@ second.c\n";
    let second = "#include <stdlib.h>\nint main(int c, char **v) { if (v[1][0] == 'v') { return atoi(\"3\") - 3; } return 0; }\n";
    let main = format!(
        "#include <stdlib.h>\n#include <unistd.h>\n{main} {{ if (v[1][0] == 'v') {{ {run} }} return 0; }}\n"
    );
    [
        ("main.c", main),
        ("second.c", second.to_owned()),
        ("Makefile", makefile.to_owned()),
    ]
}

#[track_caller]
fn second_program_is_noticed(run: &str) {
    let files = beside("int main(int c, char **v)", run);
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    Case {
        files: &files,
        change: ("second.c", "- 3", "- 2"),
    }
    .fails_with(&["llvm"]);
}

#[test]
fn programs_that_look_alike_to_the_runtime_do_not_count_for_each_other() {
    second_program_is_noticed("execv(\"./second\", v);");
}

#[test]
fn a_program_that_is_told_to_count_elsewhere_is_missed() {
    second_program_is_noticed(
        "return WEXITSTATUS(system(\"LLVM_PROFILE_FILE=/dev/null ./second v\"));",
    );
}

#[test]
fn a_program_that_a_test_builds_is_known_however_often_it_was_recorded() {
    for backend in ["llvm", "gcov"] {
        let repo = Case {
            files: &[
                (
                    "main.c",
                    "#include <stdlib.h>\nint main(int c, char **v) { return v[1][0] == 'v' && system(\"make -s own && ./own\") != 0; }\n",
                ),
                ("own.c", "int main(void) { return 0; }\n"),
                (
                    "Makefile",
                    "prog: main.c\n\tcc -w -o $@ main.c\nown: own.c\n\tcc -w -o $@ own.c\n",
                ),
            ],
            change: ("own.c", "return 0", "return 1"),
        }
        .changed(backend, 2);
        let output = repo.rts(&["run", "HEAD~1"]);
        assert_eq!(output.status.code(), Some(100), "{backend}: {output:?}");
    }
}
