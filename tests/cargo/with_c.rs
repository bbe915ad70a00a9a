//! C in a Cargo project, and build scripts that read sources: what becomes of them is seen in the compiled code alone.

use crate::{Workspace, names};

const SCRIPT: &str = r##"
use std::process::Command;
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let run = |command: String| assert!(Command::new("sh").arg("-c").arg(command).status().unwrap().success());
    run(format!("cc -O1 -fPIC -c c/foo.c -o {out}/foo.o && rm -f {out}/libfoo.a && ar rc {out}/libfoo.a {out}/foo.o"));
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=foo");
    let header = std::fs::read_to_string("c/width.h").unwrap();
    let width = header.split_whitespace().last().unwrap();
    std::fs::write(format!("{out}/made.rs"), format!("pub const WIDTH: i32 = {width};")).unwrap();
}
"##;

const LIBRARY: &str = r#"
include!(concat!(env!("OUT_DIR"), "/made.rs"));
extern "C" { static table: [i32; 2]; static pointer: *const i32; }
pub fn text() -> &'static str { include_str!("../c/text.h") }
#[test]
fn data() { assert_eq!(unsafe { table[1] }, 2) }
#[test]
fn behind() { assert_eq!(unsafe { *pointer }, 7) }
#[test]
fn width() { assert_eq!(WIDTH, 4) }
#[test]
fn included() { assert!(text().contains("hello")) }
"#;

#[test]
fn c_that_rust_reads_reaches_who_executes_that() {
    let workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2021\"\n",
        ),
        ("build.rs", SCRIPT),
        (
            "c/foo.c",
            "int table[2] = {1, 2};\nstatic int seven = 7;\nint *pointer = &seven;\n",
        ),
        ("c/width.h", "#define WIDTH 4\n"),
        ("c/text.h", "#define TEXT \"hello\"\n"),
        ("src/lib.rs", LIBRARY),
    ]);
    for (file, from, to, test) in [
        ("c/foo.c", "2}", "5}", "p data"),
        ("c/foo.c", "= 7", "= 8", "p behind"),
        ("c/width.h", "4", "5", "p width"),
        ("c/text.h", "hello", "hallo", "p included"),
    ] {
        workspace.change(file, from, to);
        let selected = workspace.would_run();
        assert!(selected.contains(test), "{file}: {selected:?}");
        // Who knows nothing but the source cannot tell.
        let (printed, _) = workspace.rts(&["select", "HEAD"]);
        assert!(printed.contains(test), "{file}: {printed}");
        workspace.restore();
    }
}

#[test]
fn c_with_a_main_beside_rust_is_nothing_to_it() {
    let workspace = Workspace::recorded(&[
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2021\"\n",
        ),
        ("data/example.c", "int main(void) { return 0; }\n"),
        (
            "src/lib.rs",
            "pub fn one() -> i32 { 1 }\npub fn two() -> i32 { 2 }\n#[test]\nfn of_one() { assert_eq!(one(), 1) }\n#[test]\nfn of_two() { assert_eq!(two(), 2) }\n",
        ),
    ]);
    workspace.change("src/lib.rs", "{ 1 }", "{ 3 - 2 }");
    assert_eq!(workspace.would_run(), names(&["p of_one"]));
}

#[test]
fn build_scripts_run_again_wherever_cargo_keeps_them() {
    const BUILD: &str = "fn main() {\n    println!(\"cargo:rerun-if-changed=build.rs\");\n    let text = std::fs::read_to_string(\"src/table.rs\").unwrap();\n    \
        println!(\"cargo:rustc-env=TABLE={}\", text.trim());\n}\n";
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    for setting in [
        "build-dir = \"elsewhere\"".to_owned(),
        format!("target = \"{target}\""),
    ] {
        let workspace = Workspace::recorded(&[
            (
                "Cargo.toml",
                "[package]\nname = \"p\"\nedition = \"2021\"\n",
            ),
            (".cargo/config.toml", &format!("[build]\n{setting}\n")),
            (".gitignore", "/elsewhere\n"),
            ("build.rs", BUILD),
            ("src/table.rs", "// 1\n"),
            (
                "src/lib.rs",
                "mod table;\n#[test]\nfn one() { assert_eq!(env!(\"TABLE\"), \"// 1\") }\n",
            ),
        ]);
        workspace.change("src/table.rs", "1", "2");
        assert_eq!(workspace.would_run(), names(&["p one"]), "{setting}");
    }
}
