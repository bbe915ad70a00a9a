//! Where a build file changes, everything is built anew; but an object that would be made of the same is not compiled again.

use std::os::unix::fs::PermissionsExt;

use crate::test_repo::TestRepo;

/// Two tests, each of an object of its own; a compiler that notes what it is called for stands in front of the real one.
struct Project {
    repo: TestRepo,
    room: tempfile::TempDir,
}

const SETTINGS: &str = "[build]\ncommand = \"make\"\n[tests]\nrunner = \"command\"\nlist = \"echo t1; echo t2\"\nrun = \"./{test}\"\n[coverage]\nbackend = \"llvm\"\n";

const MAKEFILE: &str = "all: t1 t2\nt1: t1.o\n\tcc -o t1 t1.o\nt2: t2.o\n\tcc -o t2 t2.o\n%.o: %.c made.h\n\tcc FLAGS -I. -Ifirst -Isecond -c -o $@ $<\nmade.h: made.in\n\tcp made.in made.h\n";

const T1: &str = "int main(void) { return 0; }\n";
const T2: &str = "#include <a.h>\nint main(void) { return N != 1; }\n";

impl Project {
    fn recorded(files: &[(&str, &str)]) -> Self {
        Self::recorded_with(files, &["t1.c", "t2.c"])
    }

    /// The same, where these are compiled for the first build.
    fn recorded_with(files: &[(&str, &str)], compiled: &[&str]) -> Self {
        let repo = TestRepo::new();
        let room = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let real = std::env::split_paths(&path).map(|folder| folder.join("clang"));
        let real = real.into_iter().find(|clang| clang.exists()).unwrap();
        let clang = room.path().join("clang");
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {}/calls\nexec {} \"$@\"\n",
            room.path().display(),
            real.display()
        );
        std::fs::write(&clang, script).unwrap();
        std::fs::set_permissions(&clang, std::fs::Permissions::from_mode(0o755)).unwrap();
        let project = Project { repo, room };
        let repo = &project.repo;
        repo.write(".git-rts.toml", SETTINGS);
        repo.write("Makefile", MAKEFILE.replace("FLAGS", "-g"));
        repo.write("second/a.h", "#include <made.h>\n");
        repo.write("made.in", "#define N 1\n");
        repo.write("t1.c", T1);
        repo.write("t2.c", T2);
        for (name, text) in files {
            repo.write(name, text);
        }
        repo.commit_all();
        assert_eq!(project.run("record").0, Some(0));
        assert_eq!(project.compiled(), compiled);
        project
    }

    fn run(&self, command: &str) -> (Option<i32>, String) {
        let path = std::env::var("PATH").unwrap();
        let output = self
            .repo
            .rts_command()
            .args(command.split(' '))
            .env("PATH", format!("{}:{path}", self.room.path().display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }

    /// The sources that were compiled since this was last asked.
    fn compiled(&self) -> Vec<String> {
        self.calls().0
    }

    /// The sources that were compiled since this was last asked, and those that were only preprocessed.
    fn calls(&self) -> (Vec<String>, Vec<String>) {
        let file = self.room.path().join("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        let (mut compiled, mut preprocessed) = (Vec::new(), Vec::new());
        for call in calls.lines() {
            let words: Vec<&str> = call.split(' ').collect();
            let names = words.iter().filter_map(|word| word.rsplit('/').next());
            let mut sources = names.filter(|name| ["t1.c", "t2.c"].contains(name));
            let calls = match words.contains(&"-E") {
                true => &mut preprocessed,
                false => &mut compiled,
            };
            if words.contains(&"-c") {
                calls.extend(sources.next().map(str::to_owned));
            }
        }
        compiled.sort();
        preprocessed.sort();
        (compiled, preprocessed)
    }

    /// Changes files and runs what is affected; answers what was compiled for that, and whether a test failed.
    fn changed(&self, files: &[(&str, &str)]) -> (Vec<String>, bool) {
        for (name, text) in files {
            self.repo.write(name, text);
        }
        self.repo.commit_all();
        let (code, said) = self.run("run HEAD~1");
        assert!(code == Some(0) || said.contains("failed"), "{said}");
        (self.compiled(), code != Some(0))
    }
}

/// The Makefile with a word more, so that everything is built anew.
fn makefile(flags: &str) -> String {
    format!("{}# And more.\n", MAKEFILE.replace("FLAGS", flags))
}

#[test]
fn only_what_changed_is_compiled_where_everything_is_built_anew() {
    let project = Project::recorded(&[]);
    let none: [&str; 0] = [];
    let (compiled, fails) = project.changed(&[("Makefile", &makefile("-g"))]);
    assert_eq!((compiled, fails), (none.map(str::to_owned).to_vec(), false));
    // Again, upon objects that were taken over.
    let other = "int main(void) { return 1; }\n";
    let (compiled, fails) = project.changed(&[("t1.c", other), ("new.txt", "")]);
    assert_eq!((compiled, fails), (vec!["t1.c".to_owned()], true));
    let (compiled, fails) = project.changed(&[("t1.c", T1), ("Makefile", &makefile("-g -O1"))]);
    assert_eq!(compiled, ["t1.c", "t2.c"]);
    assert!(!fails);
}

#[test]
fn a_preprocessor_is_asked_only_where_something_else_may_be_found() {
    let none: [&str; 0] = [];
    for (what, header, after, asked) in [
        ("nothing", "#include <made.h>\n", "new.txt", &none[..]),
        ("a name", "#include <made.h>\n", "first/made.h.in", &none),
        (
            "a macro",
            "#define H <made.h>\n#include H\n",
            "new.txt",
            &["t2.c"],
        ),
        (
            "what is not included",
            "#if 0\n#include <other.h>\n#endif\n#include <made.h>\n",
            "first/other.h",
            &["t2.c"],
        ),
    ] {
        let project = Project::recorded(&[("second/a.h", header)]);
        project.repo.write(after, "");
        project.repo.commit_all();
        assert_eq!(project.run("run HEAD~1").0, Some(0), "{what}");
        let (compiled, preprocessed) = project.calls();
        assert_eq!(compiled, none, "{what}");
        assert_eq!(preprocessed, asked, "{what}");
    }
}

#[test]
fn a_header_of_two_names_is_compiled_as_two_once_it_is_two() {
    let once = "#pragma once\n#ifdef N\n#define M 2\n#else\n#define N 1\n#endif\n";
    let project = Project::recorded(&[
        (
            "second/a.h",
            "#include \"b.h\"\n#include \"c.h\"\n#ifdef M\n#undef N\n#define N M\n#endif\n",
        ),
        ("second/b.h", once),
        ("second/c.h", once),
    ]);
    let link = project.repo.top().join("second/c.h");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("b.h", &link).unwrap();
    assert!(!project.changed(&[("Makefile", &makefile("-g"))]).1);
    std::fs::remove_file(&link).unwrap();
    let (compiled, fails) = project.changed(&[("second/c.h", once), ("new.txt", "")]);
    assert!(fails, "{compiled:?}");
}

#[test]
fn who_asks_for_a_header_is_compiled_if_the_answer_is_another() {
    let asks = "#if __has_include(<other.h>)\n#define N 2\n#else\n#define N 1\n#endif\n";
    let project = Project::recorded(&[("second/a.h", asks)]);
    let (compiled, fails) = project.changed(&[("new.txt", "")]);
    assert!(compiled.is_empty() && !fails, "{compiled:?}");
    for folder in ["first", "second"] {
        let (compiled, fails) = project.changed(&[(&format!("{folder}/other.h"), "")]);
        assert!(fails, "{folder}");
        assert_eq!(compiled, ["t2.c"], "{folder}");
        project
            .repo
            .git(&["rm", "-q", &format!("{folder}/other.h")]);
        assert!(!project.changed(&[]).1, "{folder}");
    }
}

#[test]
fn an_object_that_would_be_made_of_something_else_is_compiled() {
    let again = makefile("-g");
    let again = ("Makefile", again.as_str());
    let flags = makefile("-g -DN=2");
    let asking = MAKEFILE.replace("FLAGS", "'-DHAS(x)=__has_include(x)'");
    let linking = MAKEFILE.replace("FLAGS", "-g").replace(
        "%.o: %.c made.h",
        "first/v.h:\n\tmkdir -p first; ln -sf $(CURDIR)/include/v.h first/v.h\n%.o: %.c made.h first/v.h",
    );
    let named = MAKEFILE
        .replace("FLAGS", "-g")
        .replace("t2.o", "t2.o f.so.o");
    let again_named = format!("{named}# And more.\n");
    let here = MAKEFILE.replace("FLAGS", "'-DP=\"$(CURDIR)\"'");
    let there = MAKEFILE.replace("FLAGS", "'-DP=\"/tree\"'");
    let again_named = ("Makefile", again_named.as_str());
    for (what, before, after) in [
        (
            "a header that lies in front of another",
            vec![],
            vec![("first/a.h", "#define N 2\n")],
        ),
        (
            "a header that is made of something else",
            vec![],
            vec![again, ("made.in", "#define N 2\n")],
        ),
        (
            "another flag",
            vec![("second/a.h", "#ifndef N\n#define N 1\n#endif\n")],
            vec![("Makefile", flags.as_str())],
        ),
        (
            "a file that is asked for",
            vec![(
                "second/a.h",
                "#if __has_include(<other.h>)\n#define N 2\n#else\n#define N 1\n#endif\n",
            )],
            vec![("other.h", "")],
        ),
        (
            "a file that the assembler reads",
            vec![
                ("data", "1"),
                (
                    "t2.c",
                    "__asm__(\".data\\n.globl d\\nd: .incbin \\\"data\\\"\\n.byte 0\\n.text\\n\");\nextern char d;\nint main(void) { return d != '1'; }\n",
                ),
            ],
            vec![again, ("data", "2")],
        ),
        (
            "a file that the assembler reads, in other letters",
            vec![
                ("data", "1"),
                (
                    "t2.c",
                    "__asm__(\".data\\n.globl d\\nd: .INCBIN \\\"data\\\"\\n.byte 0\\n.text\\n\");\nextern char d;\nint main(void) { return d != '1'; }\n",
                ),
            ],
            vec![again, ("data", "2")],
        ),
        (
            "a file that an option asks for",
            vec![
                ("Makefile", asking.as_str()),
                (
                    "t2.c",
                    "int main(void) {\n#if HAS(\"other.h\")\nreturn 1;\n#endif\nreturn 0; }\n",
                ),
            ],
            vec![("other.h", "")],
        ),
        (
            "a header behind a link that the build makes",
            vec![
                ("Makefile", linking.as_str()),
                ("include/v.h", "#define N 1\n"),
                ("second/a.h", "#include \"v.h\"\n"),
            ],
            vec![("include/v.h", "#define N 2\n"), ("new.txt", "")],
        ),
        (
            "a source that is named like a library",
            vec![
                ("Makefile", named.as_str()),
                ("f.so.c", "#include <a.h>\nint f(void) { return N; }\n"),
                (
                    "t2.c",
                    "int f(void);\nint main(void) { return f() != 1; }\n",
                ),
            ],
            vec![
                again_named,
                ("f.so.c", "#include <a.h>\nint f(void) { return N + 1; }\n"),
            ],
        ),
        (
            "a header in front, where the text begins with a mark",
            vec![(
                "t2.c",
                "\u{feff}#include <a.h>\nint main(void) { return N != 1; }\n",
            )],
            vec![("first/a.h", "#define N 2\n")],
        ),
        (
            "a header in front, behind what looks like a comment",
            vec![(
                "t2.c",
                "#define S \"a\\\\\nn /* \"\n#include <a.h>\nint main(void) { return N != 1; }\n",
            )],
            vec![("first/a.h", "#define N 2\n")],
        ),
        (
            "a file that is asked for and was a folder",
            vec![
                ("first/f.h/file", ""),
                (
                    "second/a.h",
                    "#if __has_include(\"f.h\")\n#define N 2\n#else\n#define N 1\n#endif\n",
                ),
            ],
            vec![("first/f.h", "")],
        ),
        (
            "an option that only looks the same",
            vec![
                ("Makefile", here.as_str()),
                (
                    "t2.c",
                    "int main(void) { return sizeof P == sizeof \"/tree\"; }\n",
                ),
            ],
            vec![("Makefile", there.as_str())],
        ),
        (
            "a link that leads elsewhere",
            vec![("one.h", "#define N 1\n"), ("two.h", "#define N 2\n")],
            vec![again],
        ),
    ] {
        let project = Project::recorded(&before);
        if what.starts_with("a link") {
            let link = project.repo.top().join("second/a.h");
            let lead = |to: &str| {
                std::fs::remove_file(&link).unwrap();
                std::os::unix::fs::symlink(to, &link).unwrap();
            };
            lead("../one.h");
            assert!(!project.changed(&[]).1);
            lead("../two.h");
        }
        if what.contains("was a folder") {
            std::fs::remove_dir_all(project.repo.top().join("first/f.h")).unwrap();
        }
        let (compiled, fails) = project.changed(&after);
        let is_other = what.contains("named like");
        assert!(is_other || compiled.contains(&"t2.c".to_owned()), "{what}");
        // Where macros make the question, sources do not tell who asks.
        assert!(fails || what.contains("option asks"), "{what}");
    }
}

#[test]
fn an_object_is_taken_over_as_a_file_of_its_own() {
    // Two objects made under one name, one after the other.
    let makefile = "V=1\nall: t1 t2\nt1.o:\n\tcc -DV=$(V) -c -o x.o t1.c\n\tln -f x.o one.o\n\tcc -DV=2 -c -o x.o t1.c\n\tln -f x.o two.o\nt1: t1.o\n\tcc -o t1 one.o\nt2: t1.o t1\n\tcc -c -o t2.o t2.c\n\tcc -o t2 two.o\n";
    let project = Project::recorded_with(
        &[
            ("Makefile", makefile),
            ("t1.c", "int main(void) { return V > 2; }\n"),
            ("t2.c", "int t2;\n"),
        ],
        &["t1.c", "t1.c", "t2.c"],
    );
    let (_, fails) = project.changed(&[("Makefile", &makefile.replace("V=1", "V=3"))]);
    assert!(fails);
}

#[test]
fn what_lies_outside_of_the_workshop_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("t1.o");
    let makefile = format!(
        "all: t1 t2\nt1: t1.c\n\tcc -c -o {0} t1.c\n\tcc -o t1 {0}\nt2: t2.c made.h\n\tcc -I. -Isecond -c -o t2.o t2.c\n\tcc -o t2 t2.o\nmade.h: made.in\n\tcp made.in made.h\n",
        outside.display()
    );
    let project = Project::recorded(&[("Makefile", &makefile)]);
    let (compiled, fails) = project.changed(&[("Makefile", &format!("{makefile}# And more.\n"))]);
    assert_eq!((compiled, fails), (vec!["t1.c".to_owned()], false));
    assert!(outside.metadata().unwrap().len() > 0);
}

#[test]
fn what_a_test_makes_of_an_object_that_is_gone_is_not_taken_for_new() {
    let makefile =
        "MAKEFLAGS += -r\nall: ;\n%: %.o\n\tcc -o $@ $<\n%.o: %.c\n\tcc -I. -c -o $@ $<\n";
    let settings = SETTINGS.replace("./{test}", "make -s {test} && ./{test}");
    let project = Project::recorded(&[
        (".git-rts.toml", &settings),
        ("Makefile", makefile),
        (
            "t2.c",
            "#include \"v.h\"\nint main(void) { return N != 1; }\n",
        ),
        ("v.h", "#define N 1\n"),
    ]);
    let (_, fails) = project.changed(&[("v.h", "#define N 2\n")]);
    assert!(fails);
}

#[test]
fn what_is_built_beside_the_tree_is_built_anew() {
    let makefile = "V=1\nall: t1 t2\nt1: t1.c\n\tcc -c -o t1.o t1.c\n\tcc -o t1 t1.o\nt2: t2.c ../b/a.h\n\tcc -I../b -c -o t2.o t2.c\n\tcc -o t2 t2.o\n../b/a.h:\n\tmkdir -p ../b\n\techo '#define N $(V)' > ../b/a.h\n";
    let project = Project::recorded(&[("Makefile", makefile)]);
    let (_, fails) = project.changed(&[("Makefile", &makefile.replace("V=1", "V=2"))]);
    assert!(fails);
}

#[test]
fn a_header_outside_behind_a_link_of_the_tree_is_one_from_outside() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("v.h"), "#define N 1\n").unwrap();
    let project = Project::recorded(&[]);
    let link = project.repo.top().join("ext");
    std::os::unix::fs::symlink(outside.path(), link).unwrap();
    let source = "#include \"ext/v.h\"\nint main(void) { return N != 1; }\n";
    assert!(!project.changed(&[("t2.c", source)]).1);
    std::fs::write(outside.path().join("v.h"), "#define N 2\n").unwrap();
    assert!(project.changed(&[("Makefile", &makefile("-g"))]).1);
}

#[test]
fn a_repository_that_was_moved_takes_nothing_over() {
    let project = Project::recorded(&[]);
    let room = tempfile::tempdir().unwrap();
    let moved = room.path().join("moved");
    std::fs::rename(project.repo.top(), &moved).unwrap();
    std::fs::write(moved.join("made.in"), "#define N 2\n").unwrap();
    std::fs::write(moved.join("Makefile"), makefile("-g")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let run = project
        .repo
        .rts_command()
        .arg("run")
        .current_dir(&moved)
        .env("PATH", format!("{}:{path}", project.room.path().display()))
        .output();
    std::fs::rename(&moved, project.repo.top()).unwrap();
    let run = run.unwrap();
    assert_eq!(run.status.code(), Some(100), "{run:?}");
    assert_eq!(project.compiled(), ["t1.c", "t2.c"]);
}

#[test]
fn a_list_for_make_is_written_for_what_is_taken_over() {
    let rule = "cc -MT $@ -MD -MP -MF $@.tmp -I. -Isecond -c -o $@ $< && mv $@.tmp $@.d";
    let text = MAKEFILE.replace("cc FLAGS -I. -Ifirst -Isecond -c -o $@ $<", rule);
    let project = Project::recorded(&[("Makefile", &text)]);
    let (compiled, fails) = project.changed(&[("Makefile", &format!("{text}# And more.\n"))]);
    assert!(compiled.is_empty() && !fails, "{compiled:?}");
    let list = project.repo.top().join(".git/rts/build/main/tree/t2.o.d");
    assert!(
        std::fs::read_to_string(list)
            .unwrap()
            .contains("second/a.h")
    );
}

#[test]
fn an_object_that_was_changed_in_place_is_compiled() {
    let patch = "cp -p $@ $@.old && printf 2 | dd of=$@ bs=1 seek=$$(grep -abo MARK0 $@ | head -n 1 | sed 's/:.*//') conv=notrunc 2>&1 && touch -r $@.old $@ && rm $@.old";
    let text = MAKEFILE.replace("FLAGS", "-g");
    let patched = text.replace("-o $@ $<", &format!("-o $@ $< && {patch}"));
    let source = "volatile char mark[] = \"MARK0\";\nint main(void) { return mark[0] == 'M'; }\n";
    let project = Project::recorded(&[("Makefile", &text), ("t1.c", T1)]);
    assert!(
        !project
            .changed(&[("Makefile", &patched), ("t1.c", source), ("t2.c", source)])
            .1
    );
    let (compiled, fails) = project.changed(&[("Makefile", &text)]);
    assert_eq!(
        (compiled, fails),
        (vec!["t1.c".to_owned(), "t2.c".to_owned()], true)
    );
}

#[test]
fn a_header_from_anywhere_that_asks_by_a_macro_has_its_user_compiled() {
    let outside = tempfile::tempdir().unwrap();
    let header = outside.path().join("asks.h");
    let asks = "#if __has_include(CONF)\n#define N 2\n#else\n#define N 1\n#endif\n";
    std::fs::write(&header, asks).unwrap();
    let source = format!(
        "#define CONF <conf.h>\n#include \"{}\"\nint main(void) {{ return N != 1; }}\n",
        header.display()
    );
    let project = Project::recorded(&[("t2.c", &source)]);
    let (compiled, _) = project.changed(&[("first/conf.h", "")]);
    assert_eq!(compiled, ["t2.c"]);
}
