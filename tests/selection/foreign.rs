//! What C becomes besides compiled C, and code that does not count: a run selects who executes it.

use crate::test_repo::TestRepo;

const BACKENDS: [&str; 2] = ["llvm", "gcov"];

/// Of the tests `v` and `n` only `v` notices the change.
pub(crate) struct Case<'a> {
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// A file, and what is put in for what.
    pub(crate) change: (&'a str, &'a str, &'a str),
}

impl Case<'_> {
    /// The change makes `v` fail, and a run notices.
    pub(crate) fn fails(&self) {
        self.fails_with(&BACKENDS);
    }

    pub(crate) fn fails_with(&self, backends: &[&str]) {
        for backend in backends {
            let repo = self.changed(backend, 1);
            let output = repo.rts(&["run", "HEAD~1"]);
            assert_eq!(output.status.code(), Some(100), "{backend}: {output:?}");
        }
    }

    /// Nor does a selection that builds nothing overlook it.
    pub(crate) fn is_selected(&self) {
        for backend in BACKENDS {
            let repo = self.changed(backend, 1);
            let output = repo.rts(&["select", "HEAD~1"]);
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                printed.lines().any(|line| line == "v"),
                "{backend}: {output:?}"
            );
        }
    }

    /// A repository with the change, recorded so many times without it.
    pub(crate) fn changed(&self, backend: &str, times: usize) -> TestRepo {
        let repo = TestRepo::new();
        repo.git(&["config", "rts.backend", backend]);
        repo.write(
                ".git-rts.toml",
                "[build]\ncommand = \"make -s\"\n[tests]\nrunner = \"command\"\nlist = \"echo v; echo n\"\nrun = \"./prog {test}\"\n",
            );
        for (name, text) in self.files {
            repo.write(name, text);
        }
        repo.commit_all();
        for _ in 0..times {
            let output = repo.rts(&["record"]);
            assert_eq!(output.status.code(), Some(0), "{backend}: {output:?}");
        }
        let (file, old, new) = self.change;
        let text = std::fs::read_to_string(repo.top().join(file)).unwrap();
        assert!(text.contains(old), "{text}");
        repo.write(file, text.replacen(old, new, 1));
        repo.commit_all();
        repo
    }
}

pub(crate) const COMPILED: &str = "%.o: %.c\n\tcc -w -O1 -c -o $@ $<\n";

#[test]
fn a_header_that_is_linked_as_it_is_reaches_who_reads_it() {
    Case {
        files: &[
            ("kern.h", "#define WIDTH 4\n"),
            (
                "main.c",
                "extern const char _binary_kern_h_start[];\nint get(void) { return _binary_kern_h_start[14]; }\n\
                 int main(int c, char **v) { return v[1][0] == 'v' && get() != '4'; }\n",
            ),
            (
                "Makefile",
                &format!("prog: main.o kern.o\n\tcc -o $@ main.o kern.o\nkern.o: kern.h\n\tld -r -b binary -o $@ kern.h\n{COMPILED}"),
            ),
        ],
        change: ("kern.h", "4", "5"),
    }
    .fails();
}

#[test]
fn a_header_of_which_assembler_is_made_reaches_who_uses_that() {
    Case {
        files: &[
            ("kern.h", "#define WIDTH 4\n"),
            (
                "main.c",
                "extern int width;\nint get(void) { return width; }\n\
                 int main(int c, char **v) { return v[1][0] == 'v' && get() != 4; }\n",
            ),
            (
                "Makefile",
                &format!(
                    "prog: main.o gen.o\n\tcc -o $@ main.o gen.o\n\
                     gen.S: kern.h\n\t(echo '.data'; echo '.globl width'; sed -n 's/.*WIDTH /width: .long /p' kern.h) >$@\n\
                     gen.o: gen.S\n\tcc -c -o $@ gen.S\n{COMPILED}"
                ),
            ),
        ],
        change: ("kern.h", "4", "5"),
    }
    .fails();
}

#[test]
fn data_that_another_language_reads_reach_who_executes_it() {
    Case {
        files: &[
            ("table.c", "int table[2] = {1, 2};\n"),
            (
                "main.c",
                "int get(void);\nint main(int c, char **v) { return v[1][0] == 'v' && get() != 2; }\n",
            ),
            (
                "r.rs",
                "#![no_std]\nextern \"C\" { static table: [i32; 2]; }\n\
                 #[no_mangle] pub extern \"C\" fn get() -> i32 { unsafe { table[1] } }\n\
                 #[panic_handler] fn p(_: &core::panic::PanicInfo) -> ! { loop {} }\n",
            ),
            (
                "Makefile",
                &format!(
                    "prog: main.o table.o r.o\n\tcc -o $@ main.o table.o r.o\n\
                     r.o: r.rs\n\trustc -O -C panic=abort --crate-type lib --emit obj -o $@ $<\n{COMPILED}"
                ),
            ),
        ],
        change: ("table.c", "2}", "5}"),
    }
    .fails();
}

#[test]
fn a_function_that_does_not_count_is_not_known_by_another_of_its_name() {
    Case {
        files: &[
            (
                "a.c",
                "static __attribute__((noinline)) int check(int x) { return x * 3; }\nint a(int x) { return check(x); }\n",
            ),
            (
                "b.c",
                "__attribute__((noinline, no_profile_instrument_function)) static int check(int x) { return x + 3; }\n\
                 int b(int x) { return check(x); }\n",
            ),
            (
                "main.c",
                "int a(int);\nint b(int);\nint main(int c, char **v) { return v[1][0] == 'v' ? b(c) != 5 : a(2) != 6; }\n",
            ),
            (
                "Makefile",
                &format!("prog: main.o a.o b.o\n\tcc -o $@ main.o a.o b.o\n{COMPILED}"),
            ),
        ],
        change: ("b.c", "x + 3", "x + 4"),
    }
    .fails();
}

#[test]
fn a_function_that_a_linker_is_told_to_begin_with_reaches_every_test() {
    Case {
        files: &[
            (
                "main.c",
                "static int value;\n\
                 __attribute__((no_profile_instrument_function)) void begin(void) { value = 1; }\n\
                 void (*const nobody)(void) = begin;\n\
                 int main(int c, char **v) { return v[1][0] == 'v' && value != 1; }\n",
            ),
            (
                "Makefile",
                &format!("prog: main.o\n\tcc -Wl,-init,begin -o $@ main.o\n{COMPILED}"),
            ),
        ],
        change: ("main.c", "value = 1", "value = 2"),
    }
    .fails();
}

#[test]
fn data_that_are_found_by_name_reach_who_asks_through_what_they_mention() {
    Case {
        files: &[
            (
                "plug.c",
                "static int table[3] = {1, 2, 3};\nstruct { const int *table; } desc = {table};\n",
            ),
            (
                "main.c",
                "#include <dlfcn.h>\n#include <stddef.h>\nint main(int c, char **v)\n{\n    if (v[1][0] != 'v')\n        return 0;\n\
                     void *plug = dlopen(\"./plug.so\", RTLD_NOW);\n    int **desc = plug ? dlsym(plug, \"desc\") : NULL;\n    return !desc || desc[0][1] != 2;\n}\n",
            ),
            (
                "Makefile",
                &format!(
                    "all: prog plug.so\nprog: main.o\n\tcc -o $@ main.o -ldl\nplug.so: plug.c\n\tcc -O1 -fPIC -shared -o $@ plug.c\n{COMPILED}"
                ),
            ),
        ],
        change: ("plug.c", "2, 3", "5, 3"),
    }
    .fails();
}

#[test]
fn a_variable_that_the_c_library_looks_at_reaches_every_test() {
    Case {
        files: &[
            (
                "main.c",
                "#include <argp.h>\nstatic char text[] = \"prog 1.0\";\nconst char *argp_program_version = text;\nstatic struct argp argp;\n\
                 int main(int c, char **v) { return argp_parse(&argp, c, v, 0, 0, 0); }\n",
            ),
            ("v", "test \"$(./prog.bin --version)\" = \"prog 1.0\"\n"),
            ("n", "./prog.bin\n"),
            ("prog", "#!/bin/sh\nsh ./$1\n"),
            (
                "Makefile",
                &format!("prog.bin: main.o\n\tcc -o $@ main.o\n\tchmod +x prog\n{COMPILED}"),
            ),
        ],
        change: ("main.c", "prog 1.0", "prog 1.1"),
    }
    .fails();
}

#[test]
fn a_function_that_a_macro_gives_another_name_is_not_taken_for_left_out_of_the_build() {
    let repo = TestRepo::new();
    repo.write(
        ".git-rts.toml",
        "[build]\ncommand = \"make -s\"\n[tests]\nrunner = \"command\"\nlist = \"echo v\"\nrun = \"./prog # {test}\"\n",
    );
    repo.write("name.h", "#define quiet(x) quiet_here(x)\n");
    let quiet = "#include \"name.h\"\nint quiet(int x) { return x + 3; }\n";
    repo.write("b.c", quiet);
    repo.write(
        "main.c",
        "#include \"name.h\"\nint quiet(int);\nint main(int c, char **v) { return quiet(c) != 4; }\n",
    );
    // Compiled past our compilers: what it counts is nothing, and its symbol is not the name in the source.
    repo.write(
        "Makefile",
        format!("prog: main.o b.o\n\tcc -o $@ main.o b.o\nb.o: b.c\n\t/usr/bin/gcc -c -o $@ $<\n{COMPILED}"),
    );
    repo.commit_all();
    let recorded = repo.rts(&["record"]);
    assert_eq!(recorded.status.code(), Some(0), "{recorded:?}");
    repo.write("b.c", quiet.replace('3', "4"));
    let output = repo.rts(&["select", "HEAD", "--witness", "source,files"]);
    assert_eq!(output.stdout, b"v\n", "{output:?}");
}

#[test]
fn a_library_that_a_linker_made_without_the_compiler_reaches_who_loads_it() {
    Case {
        files: &[
            ("part.c", "int part(int x) { return x > 3 ? x + 1 : x; }\n"),
            (
                "main.c",
                "int part(int);\nint main(int c, char **v) { return v[1][0] == 'v' && part(5) != 6; }\n",
            ),
            (
                "Makefile",
                &format!(
                    "prog: main.o libpart.so\n\tcc -o $@ main.o ./libpart.so\n\
                     libpart.so: part.c\n\tcc -fPIC -c -o part.o part.c\n\tld -shared -o $@ part.o\n{COMPILED}"
                ),
            ),
        ],
        change: ("part.c", "x + 1", "x + 2"),
    }
    // gcc's runtime is then missed when the program is linked.
    .fails_with(&["llvm"]);
}
