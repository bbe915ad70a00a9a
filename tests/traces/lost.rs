//! Counters that gcc's runtime does not write: a test that lost some is in doubt, and one that lost none is not.

use std::collections::BTreeSet;

use git_rts::recording::Recorded;

use crate::bench::{Bench, Compiler};

const COMPILERS: [Compiler; 2] = [Compiler::Gcc("gcc"), Compiler::Gcc("gcc-11")];

/// What programs here have in common: functions to see, and ways to start themselves again.
const BEGIN: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;
static char *yes[] = {"true", NULL};
extern char **environ;

void before(void) { sink = 1; }
void child(void) { sink = 2; }
void after(void) { sink = 3; }

static void by_shell(const char *self, const char *rest)
{
    char command[5000];
    snprintf(command, sizeof command, "%s %s || true", self, rest);
    system(command);
}
"#;

/// What a run of a program did, with each compiler.
#[track_caller]
fn every_run(body: &str, arguments: &[&str], check: impl Fn(&Recorded, BTreeSet<&str>)) {
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, &format!("{BEGIN}{body}"));
        check_one(&bench, arguments, &check);
    }
}

#[track_caller]
fn check_one(bench: &Bench, arguments: &[&str], check: impl Fn(&Recorded, BTreeSet<&str>)) {
    let recorded = bench.record(arguments);
    let functions = recorded.trace.functions.iter();
    let names = functions.map(|(function, _)| function.name.as_str());
    check(&recorded, names.collect());
}

#[track_caller]
fn is_lost(recorded: &Recorded) {
    assert_eq!(
        recorded.doubt.as_deref(),
        Some("a process of 'program' ended without writing its counters")
    );
}

#[test]
fn a_process_that_ends_uncleanly_beside_others_is_a_doubt() {
    let body = r#"
int main(int argc, char **argv)
{
    if (argc < 3) {
        by_shell(argv[0], argv[1]);
        return 0;
    }
    child();
    if (!strcmp(argv[1], "_exit"))
        _exit(0);
    if (!strcmp(argv[1], "_Exit"))
        _Exit(0);
    if (!strcmp(argv[1], "quick_exit"))
        quick_exit(0);
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "SEGV"))
        raise(SIGSEGV);
    if (!strcmp(argv[1], "KILL"))
        raise(SIGKILL);
    if (!strcmp(argv[1], "pointer")) {
        int (*volatile become)(const char *, char *const *) = execv;
        become("/bin/true", yes);
    }
    return 0;
}
"#;
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, &format!("{BEGIN}{body}"));
        for end in [
            "_exit",
            "_Exit",
            "quick_exit",
            "abort",
            "SEGV",
            "KILL",
            "pointer",
        ] {
            check_one(&bench, &[&format!("{end} again")], |recorded, functions| {
                is_lost(recorded);
                assert!(
                    !functions.contains("child"),
                    "{end}: its counters were not lost"
                );
            });
        }
        check_one(&bench, &["exit again"], |recorded, functions| {
            assert_eq!(recorded.doubt, None);
            assert!(functions.contains("child"));
        });
    }
}

const FORKED: &str = r#"
int main(int argc, char **argv)
{
    before();
    if (fork() == 0) {
        child();
        if (!strcmp(argv[1], "_exit"))
            _exit(0);
        if (!strcmp(argv[1], "abort"))
            abort();
        exit(0);
    }
    wait(NULL);
    after();
    return 0;
}
"#;

#[test]
fn a_forked_child_that_ends_uncleanly_is_a_doubt() {
    for end in ["_exit", "abort"] {
        every_run(FORKED, &[end], |recorded, _| is_lost(recorded));
    }
}

#[test]
fn a_forked_child_that_exits_is_no_doubt() {
    every_run(FORKED, &["exit"], |recorded, functions| {
        assert_eq!(recorded.doubt, None);
        assert!(functions.contains("child") && functions.contains("after"));
    });
}

#[test]
fn a_process_that_can_open_no_file_is_a_doubt() {
    let body = r#"
int main(int argc, char **argv)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    struct rlimit none = {0, files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    if (fork() == 0) {
        child();
        if (!strcmp(argv[1], "_exit"))
            _exit(0);
        exit(0);
    }
    wait(NULL);
    setrlimit(RLIMIT_NOFILE, &files);
    return 0;
}
"#;
    for end in ["_exit", "exit"] {
        every_run(body, &[end], |recorded, functions| {
            is_lost(recorded);
            assert!(!functions.contains("child"), "{end}");
        });
    }
}

#[test]
fn exec_by_name_loses_nothing() {
    let body = r#"
int main(int argc, char **argv)
{
    before();
    if (!strcmp(argv[1], "execv"))
        execv("/bin/true", yes);
    if (!strcmp(argv[1], "execve"))
        execve("/bin/true", yes, environ);
    if (!strcmp(argv[1], "execvp"))
        execvp("true", yes);
    if (!strcmp(argv[1], "execl"))
        execl("/bin/test", "test", "1", "-lt", "2", NULL);
    if (!strcmp(argv[1], "execlp"))
        execlp("test", "test", "1", "-lt", "2", NULL);
    if (!strcmp(argv[1], "execle"))
        execle("/bin/test", "test", "1", "-lt", "2", NULL, environ);
    if (execl("/nonexistent", "x", NULL) == -1)
        after();
    return 0;
}
"#;
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, &format!("{BEGIN}{body}"));
        for how in [
            "execv", "execve", "execvp", "execl", "execlp", "execle", "none",
        ] {
            check_one(&bench, &[how], |recorded, functions| {
                assert_eq!(recorded.doubt, None, "{how}");
                assert!(functions.contains("before"), "{how}");
                assert_eq!(functions.contains("after"), how == "none", "{how}");
            });
        }
    }
}

#[test]
fn a_function_that_became_another_program_is_executed_as_a_whole() {
    let body = r#"
void become(int times)
{
    while (times--)
        execv("/bin/true", yes);
}
int main(int argc, char **argv)
{
    become(argc);
    return 0;
}
"#;
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, &format!("{BEGIN}{body}"));
        let edges = bench.edges(&[], "become");
        let wanted = "times-- -T-> execv(\"/bin/true\", yes);";
        assert!(edges.contains(wanted), "{edges:?}");
    }
}

#[test]
fn children_that_only_exec_are_no_doubt_and_their_parents_go_on() {
    let body = r#"
int main(int argc, char **argv)
{
    const char *how = argv[1];
    before();
    if (!strcmp(how, "system"))
        system("true");
    if (!strcmp(how, "popen"))
        pclose(popen("true", "r"));
    if (!strcmp(how, "posix_spawn")) {
        pid_t process;
        posix_spawn(&process, "/bin/true", NULL, NULL, yes, environ);
        wait(NULL);
    }
    if (!strcmp(how, "fork")) {
        if (fork() == 0) {
            child();
            execv("/bin/true", yes);
            _exit(1);
        }
        wait(NULL);
    }
    if (!strcmp(how, "vfork")) {
        if (vfork() == 0) {
            child();
            execv("/bin/true", yes);
            _exit(1);
        }
        wait(NULL);
    }
    after();
    return 0;
}
"#;
    for compiler in COMPILERS {
        let bench = Bench::of(compiler, &format!("{BEGIN}{body}"));
        for how in ["system", "popen", "posix_spawn", "fork", "vfork"] {
            check_one(&bench, &[how], |recorded, functions| {
                assert_eq!(recorded.doubt, None, "{how}");
                assert!(functions.contains("before"), "{how}");
                assert!(functions.contains("after"), "{how}");
                let has_child = how.ends_with("fork");
                assert_eq!(functions.contains("child"), has_child, "{how}");
            });
        }
    }
}

#[test]
fn exec_that_gcc_does_not_know_by_name_is_a_doubt() {
    let source = format!(
        "{BEGIN}int main(int argc, char **argv) {{ before(); execv(\"/bin/true\", yes); return 1; }}\n"
    );
    for compiler in COMPILERS {
        let bench = Bench::new(compiler, &[("a.c", &source)]);
        bench.compile(&["-std=c99", "-o", "program", "a.c"]);
        let doubt = bench.record(&[]).doubt;
        assert!(doubt.is_some(), "nothing was written before the exec");
    }
}

const LIBRARY: &str = "int n;\nint in_library(void) {\n  return n++;\n}\n";

#[test]
fn exec_writes_what_libraries_counted_and_a_crash_loses_it() {
    let program = format!(
        "{BEGIN}int in_library(void);\nint main(int argc, char **argv) {{\n  in_library();\n  if (argc == 1)\n    execv(\"/bin/true\", yes);\n  if (fork() == 0) {{\n    in_library();\n    _exit(0);\n  }}\n  wait(NULL);\n  return 0;\n}}\n"
    );
    for compiler in COMPILERS {
        let bench = Bench::new(compiler, &[("l.c", LIBRARY), ("a.c", &program)]);
        bench.compile(&["-shared", "-fPIC", "-o", "libl.so", "l.c"]);
        bench.compile(&["-o", "program", "a.c", "-L.", "-ll"]);
        check_one(&bench, &[], |recorded, functions| {
            assert_eq!(recorded.doubt, None);
            assert!(functions.contains("in_library"));
        });
        check_one(&bench, &["fork"], |recorded, _| is_lost(recorded));
    }
}

#[test]
fn a_library_that_is_opened_and_closed_is_no_doubt() {
    let program = format!(
        "#include <dlfcn.h>\n{BEGIN}int main(int argc, char **argv) {{\n  void *library = dlopen(\"libl.so\", RTLD_NOW);\n  int (*f)(void) = dlsym(library, \"in_library\");\n  f();\n  if (argc > 1)\n    dlclose(library);\n  if (fork() == 0)\n    exit(0);\n  wait(NULL);\n  return 0;\n}}\n"
    );
    for compiler in COMPILERS {
        let bench = Bench::new(compiler, &[("l.c", LIBRARY), ("a.c", &program)]);
        bench.compile(&["-shared", "-fPIC", "-o", "libl.so", "l.c"]);
        bench.compile(&["-o", "program", "a.c", "-ldl"]);
        for arguments in [&[][..], &["close"]] {
            check_one(&bench, arguments, |recorded, functions| {
                assert_eq!(recorded.doubt, None);
                assert!(functions.contains("in_library"));
            });
        }
    }
}

#[test]
fn a_process_without_the_environment_of_its_test_is_a_doubt() {
    let body = r#"
int main(int argc, char **argv)
{
    char command[5000];
    if (argc == 1)
        return 0;
    if (!strcmp(argv[1], "cleared")) {
        clearenv();
        return 0;
    }
    if (!strcmp(argv[1], "other"))
        return setenv("GCOV_PREFIX", "/nonexistent", 1);
    snprintf(command, sizeof command, "env -i %s", argv[0]);
    return system(command);
}
"#;
    for how in ["cleared", "other", "started"] {
        every_run(body, &[how], |recorded, _| is_lost_or_empty(recorded, how));
    }
}

#[track_caller]
fn is_lost_or_empty(recorded: &Recorded, how: &str) {
    let doubt = recorded.doubt.as_deref().unwrap_or_default();
    if how == "started" {
        let expected = "ended without writing its counters";
        assert!(doubt.contains(expected), "{how}: {doubt}");
    } else {
        assert!(recorded.is_empty, "{how}");
    }
}

#[test]
fn counters_that_do_not_fit_are_a_doubt() {
    let body = r#"
int main(void)
{
    struct rlimit none = {0, 0};
    if (fork() == 0) {
        /* Like a full disk. */
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &none);
        child();
        exit(0);
    }
    wait(NULL);
    return 0;
}
"#;
    every_run(body, &[], |recorded, _| {
        let doubt = recorded.doubt.as_deref().unwrap_or_default();
        assert!(doubt.contains("counters could not be written"), "{doubt}");
    });
}

#[test]
fn a_program_that_starts_processes_behind_the_back_of_fork_is_a_doubt() {
    let body =
        "int main(void) { if (_Fork() == 0) { child(); _exit(0); } wait(NULL); return 0; }\n";
    every_run(body, &[], |recorded, _| {
        let doubt = recorded.doubt.as_deref().unwrap_or_default();
        assert!(
            doubt.contains("in a way that gcov cannot follow"),
            "{doubt}"
        );
    });
}

#[test]
fn a_program_that_was_linked_without_the_mark_is_a_doubt() {
    for compiler in COMPILERS {
        let bench = Bench::new(compiler, &[("a.c", "int main(void) { return 0; }\n")]);
        bench.compile(&[
            "-nostdlib",
            "-o",
            "program",
            "/usr/lib/x86_64-linux-gnu/crt1.o",
            "a.c",
            "-lgcov",
            "-lgcc",
            "-lc",
        ]);
        let doubt = bench.record(&[]).doubt;
        assert!(doubt.is_some_and(|doubt| doubt.contains("linked in a way that hides")));
    }
}
