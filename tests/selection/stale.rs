//! Builds with wrong lists of dependencies: what they pass over is built anew, and what they take in is not.

use crate::test_repo::TestRepo;

const BACKENDS: [&str; 2] = ["llvm", "gcov"];

/// Two tests of which only the second notices that `N` is no longer 1; the Makefile counts its compilations in a file.
struct Project {
    repo: TestRepo,
    room: tempfile::TempDir,
}

impl Project {
    fn recorded(backend: &str, makefile: &str, files: &[(&str, &str)]) -> Self {
        let repo = TestRepo::new();
        let room = tempfile::tempdir().unwrap();
        let count = room.path().join("count");
        repo.git(&["config", "rts.backend", backend]);
        repo.write(
            ".git-rts.toml",
            "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo t1; echo t2\"\nrun = \"./{test}\"\n",
        );
        repo.write("a.h", "#define N 1\n");
        repo.write("t1.c", SOURCE.replace("LIMIT", "2"));
        repo.write("t2.c", SOURCE.replace("LIMIT", "1"));
        for (name, text) in files {
            repo.write(name, text);
        }
        let makefile = makefile.replace("CC ", &format!("@echo $@ >> {}; cc -w ", count.display()));
        repo.write("Makefile", format!("all: t1 t2\n{makefile}"));
        repo.commit_all();
        assert_eq!(repo.rts(&["record"]).status.code(), Some(0), "{backend}");
        let project = Project { repo, room };
        project.made();
        project
    }

    /// What was made since this was last asked.
    fn made(&self) -> Vec<String> {
        let count = self.room.path().join("count");
        let made = std::fs::read_to_string(&count).unwrap_or_default();
        let _ = std::fs::remove_file(count);
        let mut made: Vec<String> = made.lines().map(str::to_owned).collect();
        made.sort();
        made
    }

    /// Commits and runs; answers whether a test failed.
    fn fails(&self) -> bool {
        self.repo.commit_all();
        let output = self.repo.rts(&["run", "HEAD~1"]);
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => false,
            Some(code) if said.contains("failed") => code != 0,
            other => panic!("{other:?}: {said}"),
        }
    }
}

const SOURCE: &str = "#include \"a.h\"\nint main(void) { return N > LIMIT; }\n";

/// Of two programs, the second does not know that it depends on the header.
const FORGETFUL: &str = "t1: t1.c a.h\n\tCC -o t1 t1.c\nt2: t2.c\n\tCC -o t2 t2.c\n";

#[test]
fn a_program_that_a_build_passes_over_is_made_again() {
    for backend in BACKENDS {
        let project = Project::recorded(backend, FORGETFUL, &[]);
        project.repo.write("a.h", "#define N 2\n");
        assert!(project.fails(), "{backend}");
        assert_eq!(project.made(), ["t1", "t1", "t2"], "{backend}");
        // And again, upon a build that was made anew.
        project.repo.write("a.h", "#define N 1\n");
        assert!(!project.fails(), "{backend}");
        project.repo.write("a.h", "#define N 2 \n");
        assert!(project.fails(), "{backend}");
    }
}

#[test]
fn an_object_that_a_build_passes_over_is_made_again() {
    let compile = "t1: t1.o\n\tCC -o t1 t1.o\nt2: t2.o\n\tCC -o t2 t2.o\nt1.o: t1.c a.h\n\tCC -c t1.c\nt2.o: t2.c\n\tRULE\n";
    for backend in BACKENDS {
        for rule in [
            "CC -c t2.c",
            "CC -MMD -c -o ./t2.o t2.c",
            "CC -c -o t2.tmp t2.c; mv t2.tmp t2.o",
            "echo '-c t2.c' > words; CC @words",
        ] {
            let rule = rule.replace("words; CC", "words\n\tCC");
            let project = Project::recorded(backend, &compile.replace("RULE", &rule), &[]);
            project.repo.write("a.h", "#define N 2\n");
            assert!(project.fails(), "{backend}: {rule}");
        }
    }
}

#[test]
fn an_object_that_is_made_again_and_not_linked_again_is_not_overlooked() {
    // Through an archive, too.
    let program = "t1: t1.c a.h\n\tCC -o t1 t1.c\nt2: | lib.a\n\tCC -o t2 -L. -l:lib.a\nlib.a: t2.o\n\tar rcs lib.a t2.o\nt2.o: t2.c a.h\n\tCC -c t2.c\n";
    let direct = program.replace("| lib.a", "| t2.o");
    let direct = direct.replace("-L. -l:lib.a", "t2.o");
    for backend in BACKENDS {
        for makefile in [program, &direct] {
            let project = Project::recorded(backend, makefile, &[]);
            project.repo.write("a.h", "#define N 2\n");
            assert!(project.fails(), "{backend}");
        }
    }
}

#[test]
fn a_header_behind_another_is_read_by_who_reads_the_other() {
    for backend in BACKENDS {
        let files = [
            ("a.h", "#include \"in side/b.h\"\n"),
            ("in side/b.h", "#define N 1\n"),
        ];
        let makefile = FORGETFUL.replace("a.h", "a.h in\\ side/b.h");
        let project = Project::recorded(backend, &makefile, &files);
        project.repo.write("in side/b.h", "#define N 2\n");
        assert!(project.fails(), "{backend}");
    }
}

#[test]
fn a_header_behind_a_link_is_read_by_who_follows_it() {
    for backend in BACKENDS {
        let files = [("a.h", "#include \"x/b.h\"\n"), ("x/b.h", "#define N 1\n")];
        let project = Project::recorded(backend, FORGETFUL, &files);
        // From the folder behind the link, `..` is not where the link stands.
        let second = SOURCE.replace("a.h", "linked/../b.h");
        project.repo.write("t2.c", second.replace("LIMIT", "1"));
        project.repo.write("x/d/notes", "");
        std::os::unix::fs::symlink("x/d", project.repo.top().join("linked")).unwrap();
        let makefile = std::fs::read_to_string(project.repo.top().join("Makefile")).unwrap();
        project
            .repo
            .write("Makefile", makefile.replace("t1.c a.h", "t1.c a.h x/b.h"));
        assert!(!project.fails(), "{backend}");
        project.repo.write("x/b.h", "#define N 2\n");
        assert!(project.fails(), "{backend}");
    }
}

#[test]
fn a_link_that_leads_to_another_header_is_a_change_of_both() {
    for backend in BACKENDS {
        let files = [("one.h", "#define N 1\n"), ("two.h", "#define N 2\n")];
        let link = |repo: &TestRepo, header: &str| {
            std::fs::remove_file(repo.top().join("a.h")).unwrap();
            std::os::unix::fs::symlink(header, repo.top().join("a.h")).unwrap();
        };
        let project = Project::recorded(backend, FORGETFUL, &files);
        link(&project.repo, "one.h");
        assert!(!project.fails(), "{backend}");
        link(&project.repo, "two.h");
        assert!(project.fails(), "{backend}");
    }
}

#[test]
fn a_compiler_that_is_called_through_another_tells_its_headers() {
    let project = Project::recorded("gcov", FORGETFUL, &[]);
    let wrapper = project.room.path().join("cc");
    std::fs::write(&wrapper, "#!/bin/sh\nexec gcc \"$@\"\n").unwrap();
    let mut mode = std::fs::metadata(&wrapper).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&wrapper, mode).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.room.path().display());
    let run = |base: &str| {
        project.repo.commit_all();
        let mut command = project.repo.rts_command();
        command.args(["run", base]).env("PATH", &path);
        command.output().unwrap()
    };
    project.repo.write("t1.c", SOURCE.replace("LIMIT", "3"));
    assert!(run("HEAD~1").status.success());
    project.made();
    // Only what depends on it: the headers of the other are known.
    project.repo.write("t1.c", SOURCE.replace("LIMIT", "2"));
    assert!(run("HEAD~1").status.success());
    assert_eq!(project.made(), ["t1"]);
    project.repo.write("a.h", "#define N 2\n");
    assert!(!run("HEAD~1").status.success());
    assert_eq!(project.made(), ["t1", "t1", "t2"]);
}

#[test]
fn a_build_that_takes_everything_in_is_not_made_anew() {
    for backend in BACKENDS {
        let makefile = "t1: t1.o\n\tCC -o t1 t1.o\nt2: t2.o\n\tCC -o t2 t2.o\n%.o: %.c a.h\n\tCC -c -o $@ $<\nt2.o: b.h\n";
        let second = format!("#include \"b.h\"\n{}", SOURCE.replace("LIMIT", "1"));
        let files = [("b.h", "\n"), ("t2.c", second.as_str())];
        let project = Project::recorded(backend, makefile, &files);
        project.repo.write("b.h", "#define B 1\n");
        assert!(!project.fails(), "{backend}");
        assert_eq!(project.made(), ["t2", "t2.o"], "{backend}");
        project.repo.write("a.h", "#define N 2\n");
        assert!(project.fails(), "{backend}");
        assert_eq!(project.made(), ["t1", "t1.o", "t2", "t2.o"], "{backend}");
        project.repo.write("t1.c", SOURCE.replace("LIMIT", "3"));
        project.fails();
        assert_eq!(project.made(), ["t1", "t1.o"], "{backend}");
    }
}

#[test]
fn what_was_made_before_a_build_failed_is_not_made_anew() {
    for backend in BACKENDS {
        let makefile = "t1: t1.c a.h\n\tCC -o t1 t1.c\nt2: t2.c a.h\n\tCC -o t2 t2.c\n";
        let project = Project::recorded(backend, makefile, &[]);
        project.repo.write("a.h", "#define N 1 + 0\n");
        project.repo.write("t2.c", "#include \"a.h\"\nint main(\n");
        assert!(!project.repo.rts(&["run", "HEAD"]).status.success());
        project.made();
        project.repo.write("t2.c", SOURCE.replace("LIMIT", "1"));
        assert!(!project.fails(), "{backend}");
        assert_eq!(project.made(), ["t2"], "{backend}");
    }
}

#[test]
fn a_header_compiled_in_advance_is_read_by_all_who_may_use_it() {
    for backend in BACKENDS {
        let program = SOURCE.replace("#include \"a.h\"\n", "");
        let second = program.replace("LIMIT", "1");
        let makefile = "t1: t1.c a.h\n\tCC -o t1 t1.c\nt2: t2.c | a.h.gch\n\tCC -include a.h -o t2 t2.c\na.h.gch: a.h\n\tCC -x c-header a.h -o a.h.gch\n";
        let project = Project::recorded(backend, makefile, &[("t2.c", &second)]);
        project.repo.write("a.h", "#define N 2\n");
        assert!(project.fails(), "{backend}");
    }
}

#[test]
fn notes_that_are_damaged_or_gone_are_not_believed() {
    for damage in ["printf x >> $F", "rm $F", ": > $F"] {
        let project = Project::recorded("llvm", FORGETFUL, &[]);
        let damage = format!(
            "F=$(find .git/rts/build -name compilers.inputs); test -n \"$F\" && {{ {damage}; }}"
        );
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &damage]);
        let done = shell.current_dir(project.repo.top()).status().unwrap();
        assert!(done.success(), "{damage}");
        project.repo.write("a.h", "#define N 2\n");
        assert!(project.fails(), "{damage}");
    }
}

/// Runs the user's own build in the work tree.
fn make(repo: &TestRepo) {
    let mut make = std::process::Command::new("make");
    let output = make.arg("-s").current_dir(repo.top()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_a_build_in_the_work_tree_left_is_not_taken_for_up_to_date() {
    const MAKEFILE: &str = "t1: t1.o\n\tCC -o t1 t1.o\nt1.o: t1.c a.h\n\tCC -c t1.c\nt2: t2.o lib.a\n\tCC -o t2 t2.o lib.a\n\
         t2.o: t2.c a.h\n\tCC -c t2.c\nlib.a: t1.o\n\tar rcs lib.a t1.o\n";
    for backend in BACKENDS {
        let project = Project::recorded(backend, MAKEFILE, &[]);
        let repo = &project.repo;
        let version = repo.rts(&["diff", "HEAD", "--format", "json"]).stdout;
        make(repo);
        assert!(repo.top().join("t1.o").exists() && repo.top().join("lib.a").exists());
        // Nobody tracks it, and nobody needs to ignore it.
        let with_objects = repo.rts(&["diff", "HEAD", "--format", "json"]).stdout;
        assert_eq!(with_objects, version, "{backend}");
        repo.write("t2.c", SOURCE.replace("LIMIT", "0"));
        let output = repo.rts(&["run"]);
        assert_eq!(output.status.code(), Some(100), "{backend}: {output:?}");
        repo.write("t2.c", SOURCE.replace("LIMIT", "1"));
        assert_eq!(repo.rts(&["run"]).status.code(), Some(0), "{backend}");
    }
}

#[test]
fn a_source_that_a_build_in_the_work_tree_made_is_made_again() {
    const MAKEFILE: &str = "t1: t1.c a.h\n\tCC -o t1 t1.c\nt2: t2.c z.h\n\tCC -include z.h -o t2 t2.c\nz.h: in.txt\n\tcp in.txt z.h\n";
    for backend in BACKENDS {
        let project = Project::recorded(backend, MAKEFILE, &[("in.txt", "\n")]);
        let repo = &project.repo;
        make(repo);
        repo.write(
            "in.txt",
            "#define main(x) main(x) { return 1; } int other(x)\n",
        );
        let output = repo.rts(&["run"]);
        assert_eq!(output.status.code(), Some(100), "{backend}: {output:?}");
    }
}

#[test]
fn a_build_that_lacks_a_compiled_file_which_git_does_not_know_says_so() {
    let project = Project::recorded("llvm", FORGETFUL, &[]);
    let repo = &project.repo;
    let mut compiler = std::process::Command::new("cc");
    let object = ["-c", "-o", "extra.o", "t1.c"];
    let made = compiler.args(object).current_dir(repo.top()).status();
    assert!(made.unwrap().success());
    repo.write(
        "Makefile",
        "all: t1 t2\nt1 t2: extra.o\n\tcc -o $@ extra.o\n",
    );
    let output = repo.rts(&["run"]);
    assert_eq!(output.status.code(), Some(101), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("left out of the copy"), "{said}");
    assert!(said.contains("here 'extra.o'; 'git add'"), "{said}");
    // Nor does it have those that git ignores.
    repo.write(".gitignore", "*.o\n");
    let output = repo.rts(&["run"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("here 'extra.o'; 'git add'"), "{said}");
    std::fs::remove_file(repo.top().join(".gitignore")).unwrap();
    // Those that git knows are in the copy, and count nothing.
    repo.git(&["add", "extra.o"]);
    let output = repo.rts(&["run"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let doubt = "will always be selected, for each of them: it left no counters; 'extra.o' is in the repository";
    assert!(said.contains(doubt), "{said}");
    assert!(said.contains("2 tests, such as '"), "{said}");
}

#[test]
fn a_compiler_complains_of_the_file_in_the_work_tree() {
    let project = Project::recorded("llvm", FORGETFUL, &[]);
    let repo = &project.repo;
    repo.write("t1.c", "int main(void) { return }\n");
    repo.write("Makefile", "t1: t1.c\n\tcc -o t1 $(CURDIR)/t1.c\n");
    let output = repo.rts(&["run"]);
    assert_eq!(output.status.code(), Some(101), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("hint: t1.c:1:25: error:"), "{said}");
}
