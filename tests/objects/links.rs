//! What a binary is made of: archives, joined objects, libraries of the build, what is missing or not understood.

use std::fs;
use std::path::{Path, PathBuf};

use git_rts::objects::{Contents, Link, digest};
use tempfile::TempDir;

use crate::build::{PLAIN, Setting, add, compare, compile, link, run};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn contents(name: &str, binary: &Path, link: Option<&Link>) -> Contents {
    let mut contents = Contents::new();
    add(&mut contents, name, &fs::read(binary).unwrap(), link);
    contents
}

fn opaque(contents: &Contents) -> &str {
    contents.binaries["p"].opaque.as_deref().unwrap_or_default()
}

const MAIN: &str = "int f(int); int main(int c,char**v){return f(c);}";

/// A program whose function `f` is in an archive, beside another member that nobody needs.
fn with_archive(folder: &Path, number: u32, other: u32) -> (PathBuf, Link) {
    let f = format!("int f(int x){{return x*{number};}}");
    let unused = format!("int unused(int x){{return x*{other};}}");
    compile(PLAIN, folder, "f.c", &f, &[]);
    compile(PLAIN, folder, "unused.c", &unused, &[]);
    let main = compile(PLAIN, folder, "main.c", MAIN, &[]);
    let _ = fs::remove_file(folder.join("libf.a"));
    run("ar", &words("rc libf.a unused.o f.o"), folder);
    link(PLAIN, folder, &[main, folder.join("libf.a")], &[])
}

#[test]
fn only_members_that_are_linked_count() {
    let folder = TempDir::new().unwrap();
    let made = |number, other| {
        let (binary, link) = with_archive(folder.path(), number, other);
        let contents = contents("p", &binary, Some(&link));
        assert_eq!(opaque(&contents), "");
        contents
    };
    let (before, other, changed) = (made(3, 1), made(3, 2), made(4, 1));
    assert!(compare(&before, &other).is_empty());
    let difference = compare(&before, &changed);
    let affected: Vec<&String> = difference.binaries["p"].affected.keys().collect();
    assert_eq!(affected, ["f"]);
}

#[test]
fn of_two_members_of_one_name_only_the_one_that_is_linked_counts() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let main = compile(PLAIN, top, "main.c", MAIN, &[]);
    let made = |number: u32, other: u32, options: &[&str]| {
        let _ = fs::remove_file(top.join("libf.a"));
        for (name, number) in [("unused", other), ("f", number)] {
            let text = format!("int {name}(int x){{return x*{number};}}");
            compile(PLAIN, top, "same.c", &text, &[]);
            run("ar", &words("qc libf.a same.o"), top);
        }
        let (binary, mut link) = link(PLAIN, top, &[main.clone(), top.join("libf.a")], &[]);
        link.options
            .extend(options.iter().copied().map(str::to_owned));
        contents("p", &binary, Some(&link))
    };
    let (before, other, changed) = (made(3, 1, &[]), made(3, 2, &[]), made(4, 1, &[]));
    assert!(compare(&before, &other).is_empty());
    assert!(!compare(&before, &changed).is_empty());
    // Where functions may be left out, nobody knows who was taken.
    let dropping = ["--gc-sections"];
    let (before, other) = (made(3, 1, &dropping), made(3, 2, &dropping));
    let objects = |contents: &Contents| contents.binaries["p"].objects.len();
    assert_eq!(objects(&before), objects(&made(3, 1, &[])) + 1);
    assert_ne!(before, other);
}

#[test]
fn what_cannot_be_read_makes_the_binary_different_as_a_whole() {
    let folder = TempDir::new().unwrap();
    let (binary, link) = with_archive(folder.path(), 3, 1);
    let unseen = contents("p", &binary, None);
    assert!(opaque(&unseen).contains("nobody saw how it was linked"));
    // The same bytes need no explanation.
    assert!(compare(&unseen, &unseen).is_empty());
    fs::remove_file(folder.path().join("main.o")).unwrap();
    let gone = contents("p", &binary, Some(&link));
    assert!(opaque(&gone).contains("main.o"), "{}", opaque(&gone));
    let (binary, link) = with_archive(folder.path(), 4, 1);
    let known = contents("p", &binary, Some(&link));
    for before in [&unseen, &gone] {
        let difference = compare(before, &known);
        let why = difference.binaries["p"].everybody.clone().unwrap();
        assert!(why.contains("it differs, and "), "{why}");
    }
}

#[test]
fn objects_that_do_not_explain_a_binary_are_not_believed() {
    let folder = TempDir::new().unwrap();
    let (binary, mut link) = with_archive(folder.path(), 3, 1);
    link.inputs
        .retain(|input| input.member.as_deref() != Some("f.o"));
    let contents = contents("p", &binary, Some(&link));
    assert!(opaque(&contents).contains("'f'"), "{}", opaque(&contents));
}

#[test]
fn what_is_compiled_at_the_link_is_not_understood() {
    let folder = TempDir::new().unwrap();
    for compiler in ["gcc", "clang-14", "clang-19"] {
        let setting = Setting { compiler, ..PLAIN };
        let object = compile(
            setting,
            folder.path(),
            "f.c",
            "int f(void){return 1;}",
            &["-flto"],
        );
        let why = digest(&fs::read(object).unwrap()).unwrap_err().to_string();
        assert!(why.contains("link"), "{why}");
    }
}

#[test]
fn objects_for_arm_are_read_too_and_others_are_not() {
    let folder = TempDir::new().unwrap();
    let setting = Setting {
        compiler: "clang-16",
        ..PLAIN
    };
    let program = |text: &str, noise: &str| {
        format!(
            "{noise} int use(const char*); static __thread int t=3; int g=2; double d(double x){{return x*1.7;}} int f(int c){{ static int n; switch(c){{case 0:return use(\"{text}\");case 1:return n++;case 2:return use(\"two\");case 3:return t++;case 4: return g;}} return c; }}"
        )
    };
    let object = |source: &str, target: &str| {
        let target = format!("--target={target}");
        let path = compile(setting, folder.path(), "a.c", source, &[&target]);
        digest(&fs::read(path).unwrap())
    };
    let arm = "aarch64-linux-gnu";
    let before = object(&program("one", ""), arm).unwrap();
    let noisy = object(
        &program("one", "\n\n/* lines */ static const char*unused=\"first\";"),
        arm,
    );
    assert_eq!(before.symbols, noisy.unwrap().symbols);
    let after = object(&program("other", ""), arm).unwrap();
    let differing: Vec<&str> = before
        .symbols
        .iter()
        .filter(|symbol| !after.symbols.contains(symbol))
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(differing, ["f"]);
    let why = object("int f(void){return 1;}", "riscv64-linux-gnu").unwrap_err();
    assert!(why.to_string().contains("machine"), "{why}");
    let why = object("int f(void){return 1;}", "i386-linux-gnu").unwrap_err();
    assert!(why.to_string().contains("64-bit"), "{why}");
}

#[test]
fn what_a_function_catches_counts_with_it() {
    let folder = TempDir::new().unwrap();
    for compiler in ["g++", "clang++-16"] {
        let setting = Setting { compiler, ..PLAIN };
        let object = |caught: &str| {
            let text = format!(
                "int g(int); int f(int x){{try{{return g(x);}}catch({caught}){{return 1;}}}} int h(int x){{return g(x)+1;}}"
            );
            let path = compile(setting, folder.path(), "a.cpp", &text, &[]);
            digest(&fs::read(path).unwrap()).unwrap()
        };
        let (before, after) = (object("int"), object("long"));
        let digests = |name: &str| {
            let mut symbols = before.symbols.iter().chain(&after.symbols);
            let one = symbols.find(|symbol| symbol.name == name).unwrap();
            let other = after.symbols.iter().find(|symbol| symbol.name == name);
            (one.digest, other.unwrap().digest)
        };
        let (one, other) = digests("_Z1hi");
        assert_eq!(one, other, "{compiler}");
        let (one, other) = digests("_Z1fi");
        assert!(
            one != other || before.remainder != after.remainder,
            "{compiler}"
        );
    }
}

#[test]
fn thin_archives_name_files() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    compile(PLAIN, top, "f.c", "int f(int x){return x;}", &[]);
    let main = compile(PLAIN, top, "main.c", MAIN, &[]);
    run("ar", &words("rcT libf.a f.o"), top);
    for linker in ["bfd", "gold"] {
        let chosen = format!("-fuse-ld={linker}");
        let (binary, link) = link(PLAIN, top, &[main.clone(), top.join("libf.a")], &[&chosen]);
        let contents = contents("p", &binary, Some(&link));
        assert_eq!(opaque(&contents), "", "{linker}: {link:#?}");
    }
}

#[test]
fn static_names_that_meet_in_a_joined_object_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let made = |first: u32, second: u32| {
        for (name, number) in [("a", first), ("b", second)] {
            let text = format!(
                "static int n={number}; __attribute__((noinline)) static int helper(int x){{return x/{number}+n++;}} int {name}(int x){{return helper(x)+1;}}"
            );
            compile(PLAIN, top, &format!("{name}.c"), &text, &[]);
        }
        run("ld", &words("-r -o joined.o a.o b.o"), top);
        let main = compile(
            PLAIN,
            top,
            "main.c",
            "int a(int),b(int); int main(int c,char**v){return a(c)+b(c);}",
            &[],
        );
        let (binary, link) = link(PLAIN, top, &[main, top.join("joined.o")], &[]);
        contents("p", &binary, Some(&link))
    };
    let (before, same, traded) = (made(3, 7), made(3, 7), made(7, 3));
    assert!(compare(&before, &same).is_empty());
    assert!(!compare(&before, &traded).is_empty());
}

#[test]
fn data_of_a_library_reach_the_program_that_mentions_them() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let made = |number: u32, more: &str, options: &[&str]| {
        let library = format!("int shared={number}; int unrelated(void){{return 2;}} {more}");
        let object = compile(PLAIN, top, "library.c", &library, &[]);
        let (made, how) = link(PLAIN, top, &[object], &["-shared"]);
        let path = top.join("libown.so");
        fs::rename(made, &path).unwrap();
        let main = "extern int shared; int unrelated(void); int look(void){return shared;} int call(void){return unrelated();} int main(void){return look()+call();}";
        let main = compile(PLAIN, top, "main.c", main, &[]);
        let (program, link) = link(PLAIN, top, &[main, path.clone()], options);
        let mut contents = Contents::new();
        add(&mut contents, "p", &fs::read(program).unwrap(), Some(&link));
        add(
            &mut contents,
            "libown.so",
            &fs::read(path).unwrap(),
            Some(&how),
        );
        assert_eq!(opaque(&contents), "");
        contents
    };
    let before = made(3, "", &[]);
    let difference = compare(&before, &made(4, "", &[]));
    let affected: Vec<&String> = difference.binaries["p"].affected.keys().collect();
    assert_eq!(affected, ["look"]);
    assert_eq!(difference.binaries["p"].everybody, None);
    // A new function that nobody mentions reaches nobody.
    let more = made(3, "int fresh(void){return 1;}", &[]);
    assert!(compare(&before, &more).is_empty());
    let moved = made(3, "", &["-Wl,-rpath,/elsewhere"]);
    let why = compare(&before, &moved).binaries["p"].everybody.clone();
    assert!(why.unwrap().contains("loader"));
}

#[test]
fn where_a_program_begins_counts() {
    let folder = TempDir::new().unwrap();
    let text = "int one(void){return 1;} int two(void){return 2;} int main(void){return 0;}";
    let main = compile(PLAIN, folder.path(), "main.c", text, &[]);
    let made = |entry: &str| {
        let option = format!("-Wl,-e,{entry}");
        let (binary, mut link) = link(
            PLAIN,
            folder.path(),
            std::slice::from_ref(&main),
            &[&option],
        );
        link.options.push(format!("-e={entry}"));
        contents("p", &binary, Some(&link))
    };
    assert!(compare(&made("one"), &made("one")).is_empty());
    assert!(!compare(&made("one"), &made("two")).is_empty());
}

#[test]
fn what_does_not_count_may_have_been_executed() {
    let folder = TempDir::new().unwrap();
    let made = |number| {
        let (binary, link) = with_archive(folder.path(), number, 1);
        contents("p", &binary, Some(&link))
    };
    let mut difference = compare(&made(3), &made(4));
    // Compiled without counters, it does not tell when it is executed, whatever is said of its name.
    assert!(difference.certify(["p"], &|_, _| false).is_err());
    let binary = difference.binaries.get_mut("p").unwrap();
    assert!(binary.uncounted.remove("f"));
    let certify = |functions: &str, counted: &str| {
        let (functions, counted) = (words(functions), words(counted));
        let may_have_executed = |_: &str, name: &str| {
            functions.iter().any(|one| one == name) || !counted.iter().any(|one| one == name)
        };
        difference.certify(["p"], &may_have_executed)
    };
    assert_eq!(certify("main", "main f"), Ok(()));
    assert_eq!(
        certify("main f", "main f").unwrap_err().function.unwrap(),
        "f"
    );
    assert_eq!(certify("main", "main").unwrap_err().function.unwrap(), "f");
    assert!(difference.certify(["q"], &|_, _| false).is_err());
}

#[test]
fn damaged_objects_are_refused_or_read_and_never_stop_us() {
    let folder = TempDir::new().unwrap();
    let text = "int use(const char*); static int n[3]={1}; int f(int c){static int k; switch(c){case 0:return use(\"a\");case 1:return k++;case 2:return n[c]++;case 3:return use(\"b\");} return 0;} double d(double x){return x*1.5;}";
    let object = fs::read(compile(PLAIN, folder.path(), "a.c", text, &[])).unwrap();
    assert!(digest(&object).is_ok());
    for length in (0..object.len()).step_by(7) {
        let _ = digest(&object[..length]);
    }
    for place in 0..object.len() {
        for value in [0x00, 0x7f, 0xff] {
            let mut damaged = object.clone();
            damaged[place] = value;
            let _ = digest(&damaged);
            let mut contents = Contents::new();
            add(&mut contents, "p", &damaged, None);
        }
    }
}
