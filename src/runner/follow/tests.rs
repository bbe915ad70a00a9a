//! Real processes, followed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::super::needs::{Constraint, Constraints};
use super::super::pool::{self, Limits, Run, run_all};
use super::super::{Interrupt, Judge, Launch, Outcome, shell};
use super::*;

/// A folder that matters, `tree`, beside others that do not.
struct Room {
    _folder: TempDir,
    top: PathBuf,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let top = folder.path().canonicalize().expect("it is there");
        let room = Room {
            _folder: folder,
            top,
        };
        std::fs::create_dir_all(room.tree("d/e")).expect("there is room");
        std::fs::create_dir(room.top.join("outside")).expect("there is room");
        for file in ["a", "b", "c", "d/f", "d/e/g"] {
            std::fs::write(room.tree(file), "1\n").expect("there is room");
        }
        room
    }

    fn tree(&self, name: &str) -> PathBuf {
        self.top.join("tree").join(name)
    }

    fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.top.join(name);
        std::fs::write(&path, text).expect("there is room");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("it is ours");
    }

    fn compile(&self, name: &str, source: &str, options: &[&str]) {
        let file = self.top.join("outside/source.c");
        std::fs::write(&file, source).expect("there is room");
        let output = Command::new("cc")
            .args(["-w", "-o"])
            .arg(self.top.join(name))
            .arg(file)
            .args(options)
            .output()
            .expect("there is a compiler");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn run(&self, number: usize, text: impl AsRef<OsStr>) -> Run {
        Run {
            launch: Launch {
                command: shell::run(text.as_ref()),
                folder: self.tree(""),
                timeout: Some(Duration::from_secs(60)),
                judge: Judge::gnu(),
                ..Launch::default()
            },
            log: self.top.join(format!("outside/log-{number}")),
        }
    }

    /// Follows a shell in the tree.
    fn seen(&self, text: impl AsRef<OsStr>) -> Looked {
        let seen = self.followed(&self.run(0, text), &Outcome::Passed);
        Looked {
            seen: seen.expect("it can be followed"),
            tree: self.tree(""),
        }
    }

    fn followed(&self, run: &Run, expected: &Outcome) -> Option<Seen> {
        let follow = Follow::below(&[&self.tree("")]);
        assert_eq!(follow.obstacle(), None);
        let interrupt = Interrupt::new();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                follow.start(7);
                let finished = pool::run(run, &interrupt);
                let seen = follow.end(7, false);
                let log = std::fs::read_to_string(&run.log).unwrap_or_default();
                assert_eq!(&finished.outcome, expected, "{log}");
                seen
            });
            thread.join().expect("it does not panic")
        })
    }
}

struct Looked {
    seen: Seen,
    tree: PathBuf,
}

impl Looked {
    fn names(&self, paths: &BTreeSet<PathBuf>) -> Vec<String> {
        let names = paths.iter().map(|path| path.strip_prefix(&self.tree));
        names
            .map(|name| name.expect("nothing else is told"))
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Without the tree itself, in which every test begins.
    fn touched(&self) -> Vec<String> {
        let mut names = self.names(&self.seen.touched);
        names.retain(|name| !name.is_empty());
        names
    }

    fn missing(&self) -> Vec<String> {
        self.names(&self.seen.missing)
    }

    fn listed(&self) -> Vec<String> {
        self.names(&self.seen.listed)
    }

    fn read(&self) -> Vec<String> {
        self.names(&self.seen.read)
    }
}

#[test]
fn a_shell_that_reads_is_seen_to_read() {
    let looked = Room::new().seen("cat a; cat <b >/dev/null");
    assert_eq!(looked.touched(), ["a", "b"]);
    assert_eq!(looked.read(), ["a", "b"]);
    assert!(looked.missing().is_empty() && looked.listed().is_empty());
}

#[test]
fn to_ask_about_a_file_is_not_to_read_it() {
    let looked = Room::new().seen("test -f a; test -x b; stat c; readlink d/f; true");
    assert_eq!(looked.touched(), ["a", "b", "c", "d/f"]);
    assert!(looked.read().is_empty());
}

#[test]
fn what_is_looked_for_in_vain_is_missing() {
    let room = Room::new();
    symlink("gone/away", room.tree("link")).expect("there is room");
    let looked = room.seen("cat x d/y/z link; test -e d/../w; ! ./v");
    let missing = ["d/y", "d/y/z", "gone", "gone/away", "v", "w", "x"];
    assert_eq!(looked.missing(), missing);
    assert_eq!(looked.touched(), ["link"]);
}

#[test]
fn listing_is_seen() {
    assert_eq!(Room::new().seen("ls d >/dev/null").listed(), ["d"]);
    let looked = Room::new().seen("echo d/e/*");
    assert_eq!(looked.listed(), ["d/e"]);
    assert!(looked.read().is_empty());
    assert_eq!(Room::new().seen("echo *").listed(), [""]);
}

#[test]
fn a_static_program_is_followed() {
    let room = Room::new();
    let source = r#"
        #include <fcntl.h>
        #include <sys/stat.h>
        int main(void) { struct stat s; return open("a", O_RDONLY) < 0 || stat("b", &s) || open("x", O_RDONLY) >= 0; }"#;
    room.compile("outside/p", source, &["-static"]);
    let looked = room.seen("../outside/p");
    assert_eq!(looked.touched(), ["a", "b"]);
    assert_eq!(
        (looked.read(), looked.missing()),
        (vec!["a".to_owned()], vec!["x".to_owned()])
    );
}

#[test]
fn links_are_touched_with_what_they_lead_to() {
    let room = Room::new();
    symlink("a", room.tree("file-link")).expect("there is room");
    symlink("d", room.tree("folder-link")).expect("there is room");
    symlink(room.tree("d/e"), room.top.join("outside/in")).expect("there is room");
    let looked = room.seen("cat file-link folder-link/f ../outside/in/g");
    let touched = [
        "a",
        "d/e/g",
        "d/f",
        "file-link",
        "folder-link",
        "folder-link/f",
    ];
    assert_eq!(looked.touched(), touched);
    assert_eq!(looked.read(), ["a", "d/e/g", "d/f"]);
    // What nobody named is behind a link, unless the system tells its name.
    assert_eq!(looked.names(&looked.seen.behind), ["a", "d/e/g", "d/f"]);
    for text in [
        "cat file-link; cat /proc/self/maps",
        "exec 3<file-link; readlink /proc/$$/fd/3",
    ] {
        let looked = room.seen(format!("{text} >/dev/null"));
        assert!(looked.seen.behind.is_empty(), "{text}");
        assert!(looked.touched().contains(&"a".to_owned()), "{text}");
    }
    // Looking at a link is not looking at what it leads to.
    assert_eq!(room.seen("readlink file-link").touched(), ["file-link"]);
}

#[test]
fn relative_paths_follow_the_working_folder() {
    let looked = Room::new().seen("cd d/e && cat g ../f ../../a && cd / && cat $OLDPWD/../../b");
    assert_eq!(looked.touched(), ["a", "b", "d/e", "d/e/g", "d/f"]);
    assert_eq!(looked.read(), ["a", "b", "d/e/g", "d/f"]);
}

#[test]
fn folders_that_are_open_and_other_calls_are_understood() {
    let room = Room::new();
    let source = r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdio.h>
        #include <unistd.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/xattr.h>
        #include <linux/openat2.h>
        int main(void) {
            char text[9], name[64];
            struct statx s;
            struct open_how how = { .flags = O_RDONLY };
            int d = open("d", O_PATH);
            if (openat(d, "f", O_RDONLY) < 0) return 1;
            if (syscall(SYS_openat2, d, "e/g", &how, sizeof how) < 0) return 2;
            if (statx(AT_FDCWD, "a", 0, STATX_ALL, &s)) return 3;
            getxattr("b", "user.x", text, sizeof text);
            int c = open("c", O_PATH);
            sprintf(name, "/proc/self/fd/%d", c);
            if (open(name, O_RDONLY) < 0) return 4;
            sprintf(name, "/dev/fd/%d/../d/missing", d);
            if (open(name, O_RDONLY) >= 0) return 5;
            if (open("/proc/self/cwd/d/missing", O_RDONLY) >= 0) return 6;
            return open((char *)1, O_RDONLY) >= 0 || open("", O_RDONLY) >= 0;
        }"#;
    room.compile("outside/p", source, &[]);
    let looked = room.seen("../outside/p");
    assert_eq!(looked.touched(), ["a", "b", "c", "d", "d/e/g", "d/f"]);
    assert_eq!(looked.read(), ["c", "d/e/g", "d/f"]);
    assert_eq!(looked.missing(), ["d/missing"]);
}

#[test]
fn programs_and_their_interpreters_are_touched() {
    let room = Room::new();
    room.script("tree/tool", "#!/bin/sh\nshift\ncat c\n");
    room.script(
        "tree/inner",
        &format!("#!{} -x\n", room.tree("tool").display()),
    );
    room.script("tree/outer", "#!/bin/sh\ncat a\n./inner\n");
    room.compile("tree/program", "int main(void) { return 0; }", &[]);
    let looked = room.seen("./outer && ./program");
    assert_eq!(
        looked.touched(),
        ["a", "c", "inner", "outer", "program", "tool"]
    );
    // The shell reads its scripts; the kernel gives it the tool, and the tool ignores 'inner'.
    assert_eq!(looked.read(), ["a", "c", "outer", "tool"]);
    // A descriptor can be executed as well.
    room.compile(
        "outside/p",
        r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <unistd.h>
        int main(void) { char *words[] = { "program", 0 }; return fexecve(open("program", O_PATH | O_CLOEXEC), words, words + 1); }"#,
        &[],
    );
    let looked = room.seen("../outside/p");
    assert_eq!(
        (looked.touched(), looked.read()),
        (vec!["program".to_owned()], vec![])
    );
}

#[test]
fn threads_and_all_kinds_of_children_are_followed() {
    let room = Room::new();
    let source = r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <pthread.h>
        #include <spawn.h>
        #include <unistd.h>
        #include <sys/wait.h>
        extern char **environ;
        static void *reads(void *name) { open(name, O_RDONLY); return 0; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, reads, "a");
            pthread_join(thread, 0);
            int status;
            pid_t child;
            char *words[] = { "cat", "b", 0 };
            if (posix_spawnp(&child, "cat", 0, 0, words, environ)) return 1;
            waitpid(child, &status, 0);
            if (!(child = vfork())) { execlp("cat", "cat", "c", (char *)0); _exit(1); }
            waitpid(child, &status, 0);
            if (!(child = fork())) {
                if (!fork()) { setsid(); if (!fork()) { open("d/f", O_RDONLY); _exit(0); } wait(&status); _exit(0); }
                wait(&status);
                _exit(0);
            }
            waitpid(child, &status, 0);
            return 0;
        }"#;
    room.compile("outside/p", source, &["-pthread"]);
    assert_eq!(room.seen("../outside/p").read(), ["a", "b", "c", "d/f"]);
}

#[test]
fn loading_a_library_is_not_reading_it() {
    let room = Room::new();
    room.compile(
        "tree/libx.so",
        "int x(void) { return 0; }",
        &["-shared", "-fPIC"],
    );
    let place = room.tree("");
    let (folder, library) = (place.display().to_string(), room.tree("libx.so"));
    let library = library.display().to_string();
    let source = "int x(void); int main(void) { return x(); }";
    let path = format!("-Wl,-rpath,{folder}");
    room.compile("outside/linked", source, &[&library, &path]);
    let source = r#"
        #include <dlfcn.h>
        int main(int n, char **words) { return !dlopen(words[1], RTLD_NOW); }"#;
    room.compile("outside/loads", source, &["-ldl"]);
    for text in [
        "../outside/linked",
        "../outside/loads ./libx.so",
        "../outside/linked & ../outside/loads ./libx.so; wait",
    ] {
        let looked = room.seen(text);
        assert_eq!(looked.touched(), ["libx.so"], "{text}");
        assert!(looked.read().is_empty(), "{text}");
    }
    for text in [
        "nm -D libx.so",
        "../outside/linked && cat libx.so >/dev/null",
        "cat libx.so >/dev/null; ../outside/linked",
    ] {
        assert_eq!(room.seen(text).read(), ["libx.so"], "{text}");
    }
}

#[test]
fn a_tool_that_reads_what_it_executes_only_executes_it() {
    let room = Room::new();
    room.compile(
        "tree/libx.so",
        "int x(void) { return 0; }",
        &["-shared", "-fPIC"],
    );
    let source = "#include <stdio.h>\nint x(void); int main(int n, char **w) { return n > 1 ? !fopen(w[1], \"r\") : x(); }";
    let library = [room.tree("libx.so").into_os_string(), "-Wl,-rpath,".into()];
    let mut path = library[1].clone();
    path.push(room.tree(""));
    let options = [library[0].to_str(), path.to_str()].map(|word| word.expect("it is plain"));
    room.compile("tree/p", source, &options);
    let looked = room.seen("valgrind -q ./p");
    assert_eq!(looked.read(), [""; 0]);
    assert_eq!(looked.touched(), ["libx.so", "p"]);
    room.compile(
        "tree/other.so",
        "int y(void) { return 0; }",
        &["-shared", "-fPIC"],
    );
    assert_eq!(room.seen("valgrind -q ./p other.so").read(), ["other.so"]);
    assert_eq!(
        room.seen("cat libx.so >/dev/null; valgrind -q ./p").read(),
        ["libx.so"]
    );
}

#[test]
fn writing_is_not_looking() {
    let room = Room::new();
    let looked = room.seen("echo 2 >a; echo 2 >new; exec 3>d/f");
    assert_eq!(
        (looked.read(), looked.touched()),
        (vec![], vec!["d".into()])
    );
    assert!(looked.missing().is_empty());
    // What is added to was there.
    let looked = room.seen("echo 2 >>c; echo >>newer");
    assert_eq!(
        (looked.touched(), looked.read()),
        (vec!["c".to_owned()], vec![])
    );
    assert_eq!(looked.missing(), ["newer"]);
    // Who writes notices what is in the way, what is not there, and a folder that is not there.
    let looked =
        room.seen("mkdir n; unlink b; ! mkdir a; ! rmdir m; ln -s x s; chmod +x d/e/g; mkdir -p d");
    assert_eq!(looked.touched(), ["a", "b", "d", "d/e/g"]);
    assert_eq!(looked.missing(), ["m", "n", "s"]);
    let looked = room.seen("! echo 2 >k/l/x 2>/dev/null");
    assert_eq!(looked.missing(), ["k", "k/l"]);
    room.compile(
        "outside/p",
        r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(void) { truncate("h", 0); open("i", O_TRUNC | O_WRONLY); return rename("c", "d/e/c") || rename("d/e/c", "c") || !link("c", "d/f"); }"#,
        &[],
    );
    let looked = room.seen("../outside/p");
    assert_eq!(looked.touched(), ["c", "d", "d/e", "d/e/c", "d/f"]);
    assert_eq!(looked.missing(), ["h", "i"]);
    // Whatever way something is made, its folder must be there.
    for text in [
        "echo 2 >>d/e/new",
        "set -C; echo 2 >d/e/new",
        "mkdir d/e/new",
        "ln -s x d/e/new",
        "ln c d/e/new",
        "mkfifo d/e/new",
        "rm $(mktemp d/e/XXXXXX)",
        "mv -n c d/e/new; mv d/e/new c",
    ] {
        let looked = room.seen(text);
        let touched = looked.touched();
        assert!(touched.contains(&"d/e".to_owned()), "{text}: {touched:?}");
        let _ = room.seen("rm -rf d/e/new");
    }
    room.compile(
        "outside/s",
        r#"
        #include <sys/socket.h>
        #include <sys/un.h>
        int main(void) {
            struct sockaddr_un place = { AF_UNIX, "d/e/socket" }, other = { AF_UNIX, "nobody" }, abstract = { AF_UNIX, "" };
            int one = socket(AF_UNIX, SOCK_STREAM, 0), two = socket(AF_UNIX, SOCK_STREAM, 0);
            return bind(one, (void *)&place, sizeof place) || !connect(two, (void *)&other, sizeof other) || bind(two, (void *)&abstract, sizeof(short));
        }"#,
        &[],
    );
    let looked = room.seen("../outside/s");
    assert_eq!(looked.touched(), ["d/e"]);
    assert_eq!(looked.missing(), ["d/e/socket", "nobody"]);
    // Who does not replace looks at what is there.
    let looked = room.seen("mv -n c d/f");
    assert!(looked.touched().contains(&"d/f".to_owned()));
    // What is moved is read later, under a name that nobody knows.
    let looked = room.seen("mv c ../outside/c; mv d ../outside/d");
    assert_eq!(looked.read(), ["c", "d/e/g", "d/f"]);
}

#[test]
fn each_of_many_tests_has_its_own() {
    let room = Room::new();
    let count = 60;
    let runs: Vec<Run> = (0..count)
        .map(|test| {
            std::fs::write(room.tree(&format!("t{test}")), "").expect("there is room");
            room.run(
                test,
                format!("cat t{test}; (cat t{test} & cat no{test}; wait) | cat"),
            )
        })
        .collect();
    let free = Constraint {
        processors: 1,
        ..Constraint::default()
    };
    let constraints = Constraints {
        tests: vec![free; count],
    };
    let limits = Limits {
        jobs: 4,
        failures: None,
    };
    let follow = Follow::below(&[&room.tree("")]);
    let mut all = vec![None; count];
    run_all(
        &runs,
        &constraints,
        limits,
        &Interrupt::new(),
        |test| follow.start(test),
        |test, _| follow.end(test, false),
        |test, seen| all[test] = seen,
    );
    for (test, seen) in all.into_iter().enumerate() {
        let seen = seen.expect("it can be followed");
        assert_eq!(seen.read, BTreeSet::from([room.tree(&format!("t{test}"))]));
        assert_eq!(
            seen.missing,
            BTreeSet::from([room.tree(&format!("no{test}"))])
        );
    }
}

#[test]
fn what_serves_many_tests_counts_for_all_of_them() {
    let room = Room::new();
    let follow = Follow::below(&[&room.tree("")]);
    let interrupt = Interrupt::new();
    let serve = "(exec >/dev/null 2>&1; while ! [ -e ../outside/ask ]; do sleep 0.01; done; cat a; echo >../outside/done) &";
    let mut server = room.run(0, serve);
    server.launch.prepares = true;
    let client = room.run(
        1,
        "cat b; echo >../outside/ask; while ! [ -e ../outside/done ]; do sleep 0.01; done",
    );
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            follow.start(0);
            assert!(pool::run(&server, &interrupt).outlived);
            follow.end(0, true).expect("it can be followed").read
        });
        let before = thread.join().expect("it does not panic");
        assert!(before.is_empty());
        let thread = scope.spawn(|| {
            follow.start(1);
            pool::run(&client, &interrupt);
            follow.end(1, false).expect("it can be followed").read
        });
        let during = thread.join().expect("it does not panic");
        assert_eq!(during, BTreeSet::from([room.tree("a"), room.tree("b")]));
    });
}

#[test]
fn whoever_is_killed_leaves_nobody_waiting() {
    let room = Room::new();
    let mut run = room.run(
        0,
        "trap '' TERM; while :; do test -e a; test -e b; done & while :; do cat c; done",
    );
    run.launch.timeout = Some(Duration::from_millis(300));
    let begin = Instant::now();
    let seen = room
        .followed(&run, &Outcome::TimedOut)
        .expect("it can be followed");
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(seen.touched.contains(&room.tree("a")));
    assert_eq!(room.seen("cat a").read(), ["a"]);
}

#[test]
fn a_filter_of_the_tests_own_works_beside_ours() {
    let room = Room::new();
    let source = r#"
        #include <errno.h>
        #include <fcntl.h>
        #include <stddef.h>
        #include <unistd.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        int main(void) {
            struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = { 4, filter };
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 2;
            return open("a", O_RDONLY) < 0 || syscall(SYS_getppid) != -1;
        }"#;
    room.compile("outside/p", source, &[]);
    assert_eq!(room.seen("../outside/p").read(), ["a"]);
}

#[test]
fn who_is_traced_is_followed() {
    let room = Room::new();
    let source = r#"
        #include <fcntl.h>
        #include <unistd.h>
        #include <sys/ptrace.h>
        #include <sys/wait.h>
        int main(void) {
            int status, stops = 0;
            pid_t child = fork();
            if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(19); _exit(open("a", O_RDONLY) < 0); }
            waitpid(child, &status, 0);
            for (;;) {
                ptrace(PTRACE_SYSCALL, child, 0, 0);
                waitpid(child, &status, 0);
                if (WIFEXITED(status)) return WEXITSTATUS(status) || stops < 3;
                stops++;
            }
        }"#;
    room.compile("outside/p", source, &["-include", "signal.h"]);
    assert_eq!(room.seen("../outside/p").read(), ["a"]);
}

#[test]
fn a_signal_that_breaks_into_a_call_is_told() {
    let room = Room::new();
    let source = r#"
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        #include <sys/stat.h>
        #include <sys/time.h>
        static volatile int heard;
        static void hear(int signal) { heard++; }
        int main(void) {
            struct sigaction action = { .sa_handler = hear };
            struct itimerval often = { { 0, 500 }, { 0, 500 } };
            struct stat s;
            int broken = 0, calls = 0;
            sigaction(SIGALRM, &action, 0);
            setitimer(ITIMER_REAL, &often, 0);
            while (heard < 1000) {
                calls += 2;
                broken += stat("a", &s) && errno == EINTR;
                int file = open("b", O_RDONLY);
                broken += file < 0 && errno == EINTR;
                close(file);
            }
            printf("%d of %d calls, %d signals\n", broken, calls, heard);
            return broken ? 77 : 0;
        }"#;
    room.compile("outside/p", source, &[]);
    let looked = room.seen("../outside/p; test $? != 77 || echo >../outside/broken");
    assert_eq!(looked.read(), ["b"]);
    let is_broken = room.top.join("outside/broken").exists();
    assert!(!is_broken || looked.seen.disturbed);
    assert!(!room.seen("cat a").seen.disturbed);
}

#[test]
fn names_are_bytes() {
    let room = Room::new();
    let name = OsStr::from_bytes(b"\xff\xfe name");
    std::fs::write(room.tree("").join(name), "").expect("there is room");
    let looked = room.seen(OsStr::from_bytes(b"cat '\xff\xfe name' '\xfd'; true"));
    assert_eq!(looked.seen.read, BTreeSet::from([room.tree("").join(name)]));
    let missing = room.tree("").join(OsStr::from_bytes(b"\xfd"));
    assert_eq!(looked.seen.missing, BTreeSet::from([missing]));
}

#[test]
fn what_cannot_be_followed_is_not_known() {
    let room = Room::new();
    let rings = r#"
        #include <unistd.h>
        #include <sys/syscall.h>
        int main(void) { syscall(SYS_io_uring_setup, 0, 0); return 0; }"#;
    room.compile("outside/rings", rings, &[]);
    let root = r#"
        #include <unistd.h>
        int main(void) { chroot("/"); return 0; }"#;
    room.compile("outside/root", root, &[]);
    for program in ["rings", "root"] {
        let run = room.run(0, format!("../outside/{program}; cat a"));
        assert_eq!(room.followed(&run, &Outcome::Passed), None, "{program}");
    }
    let follow = Follow::below(&[&room.tree("")]);
    assert_eq!(follow.end(0, false), None, "nothing was started");
}

#[test]
fn one_thread_can_serve_two_runs() {
    let room = Room::new();
    let interrupt = Interrupt::new();
    for file in ["a", "b"] {
        let follow = Follow::below(&[&room.tree("")]);
        follow.start(0);
        pool::run(&room.run(0, format!("cat {file}")), &interrupt);
        let seen = follow.end(0, false).expect("it can be followed");
        assert_eq!(seen.read, BTreeSet::from([room.tree(file)]));
        // What this thread does itself is nobody's.
        assert!(std::fs::read(room.tree("c")).is_ok());
    }
}
