//! Where the items of a crate lie: rustc spreads them over objects, copies some into each that uses them, and makes code of its own.

use crate::{Workspace, names};

const MANIFEST: &str = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[test]
fn a_function_of_which_there_are_copies_now_has_other_addresses() {
    let workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "pub mod a { pub fn get() -> fn(u32) -> u32 { crate::c::h } }\n\
             pub mod b { pub fn get() -> fn(u32) -> u32 { crate::c::h } }\n\
             pub mod c { pub fn h(x: u32) -> u32 { x + 1 } }\n\
             #[test] fn same() { assert!(a::get() as usize == b::get() as usize) }\n\
             #[test] fn other() {}\n",
        ),
    ]);
    workspace.change("src/lib.rs", "pub fn h", "#[inline(always)] pub fn h");
    assert_eq!(workspace.would_run(), names(&["p same"]));
}

const SCRIPT: &str = r##"
use std::process::Command;
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let run = |command: String| assert!(Command::new("sh").arg("-c").arg(command).status().unwrap().success());
    for file in ["a", "b"] {
        run(format!("cc -fPIC -ffunction-sections -fdata-sections -O1 -c -o {out}/{file}.o c/{file}.c"));
    }
    run(format!("ar crs {out}/libq.a {out}/a.o {out}/b.o"));
    println!("cargo:rerun-if-changed=c");
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-lib=static=q");
}
"##;

#[test]
fn two_variables_that_become_one_are_not_the_same() {
    const NAME: &str = "_RNvCs1234_4base5COUNT";
    let own = |users: &str| format!("static int {NAME};\n{users}\n");
    let increment = format!("int inc(void) {{ return ++{NAME}; }}");
    let get = format!("int get(void) {{ return {NAME}; }} int set(int x) {{ return {NAME} = x; }}");
    let workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", MANIFEST),
        ("build.rs", SCRIPT),
        ("c/a.c", &own(&increment)),
        ("c/b.c", &own(&get)),
        (
            "src/lib.rs",
            "extern \"C\" { fn inc() -> i32; fn get() -> i32; }\n\
             #[test] fn counts() { unsafe { inc(); assert_eq!(get(), 0) } }\n",
        ),
    ]);
    let hidden = "__attribute__((visibility(\"hidden\")))";
    let repo = &workspace.repo;
    repo.write("c/a.c", format!("{hidden} int {NAME};\n{increment}\n"));
    repo.write("c/b.c", format!("extern {hidden} int {NAME};\n{get}\n"));
    assert_eq!(workspace.would_run(), names(&["p counts"]));
}

#[test]
fn a_change_of_what_the_compiler_derives_is_no_doubt_in_the_next_run() {
    let workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#[derive(Debug)] pub struct S { pub a: u32 }\n\
             pub fn two() -> u32 { 2 }\n\
             pub fn three() -> u32 { 3 }\n\
             #[test] fn t1() { println!(\"{:?}\", S { a: 1 }) }\n\
             #[test] fn t2() { assert_eq!(two(), 2) }\n\
             #[test] fn t3() { assert_eq!(three(), 3) }\n",
        ),
    ]);
    workspace.change("src/lib.rs", "a: ", "aa: ");
    assert_eq!(workspace.would_run(), names(&["p t1"]));
    workspace.repo.commit_all();
    workspace.rts(&["run", "HEAD~1"]);
    workspace.change("src/lib.rs", "{ 2 }", "{ 7 }");
    assert_eq!(workspace.would_run(), names(&["p t2"]));
}
