//! What recording costs: `cargo bench --bench recording`.
//!
//! The CPU time of programs that count against the same programs without counters, and what `git rts record` adds to each
//! test beyond running it. Clang, gcc and GNU time must be there.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use git_rts::masquerade::CLANG_FLAGS;

/// Each program is timed this often, and the best time counts.
const RUNS: usize = 5;
const TRIVIAL_TESTS: usize = 300;

fn main() {
    println!("| program | compiler | plain | counting | ratio |");
    println!("|---|---|---|---|---|");
    for (name, source) in [("words", WORDS), ("sieve", SIEVE), ("tree", TREE)] {
        let gcc = ["--coverage", "-fprofile-abs-path"];
        for (compiler, flags) in [("clang", &CLANG_FLAGS[..]), ("gcc", &gcc[..])] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            std::fs::write(folder.path().join("p.c"), source).expect("there is room");
            let plain = seconds(folder.path(), compiler, &[]);
            let counting = seconds(folder.path(), compiler, flags);
            println!(
                "| {name} | {compiler} -O2 | {plain:.2} s | {counting:.2} s | {:.2} |",
                counting / plain
            );
        }
    }
    println!();
    println!("| tests | back end | added to each test |");
    println!("|---|---|---|");
    for backend in ["llvm", "gcov"] {
        println!("| {TRIVIAL_TESTS} | {backend} | {} |", added(backend));
    }
}

/// The best user time of a program.
fn seconds(folder: &Path, compiler: &str, flags: &[&str]) -> f64 {
    let status = Command::new(compiler)
        .args(["-O2", "-w", "-o", "p", "p.c"])
        .args(flags)
        .current_dir(folder)
        .status()
        .expect("the compiler is installed");
    assert!(status.success(), "{compiler}");
    let run = || -> f64 {
        let output = Command::new("/usr/bin/time")
            .args(["-f", "%U", "./p"])
            .env("LLVM_PROFILE_FILE", folder.join("%c%m-%p.profraw"))
            .env("GCOV_PREFIX", folder)
            .current_dir(folder)
            .output()
            .expect("GNU time is installed");
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().last().unwrap_or_default();
        last.parse().expect("a number of seconds")
    };
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

/// What a recording says that it took, less what its tests took, for each test.
fn added(backend: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path();
    let names: String = (0..TRIVIAL_TESTS).fold(String::new(), |mut names, number| {
        let _ = writeln!(names, "t{number}");
        names
    });
    let settings = "[build]\ncommand = \"cc -o p p.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat list\"\nrun = \"exec ./p {test}\"\n";
    for (name, text) in [
        (".git-rts.toml", settings),
        ("list", &names),
        ("p.c", "int main(void) { return 0; }\n"),
    ] {
        std::fs::write(top.join(name), text).expect("there is room");
    }
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(top)
            .stdin(Stdio::null())
            .output()
            .expect("it can be run");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    run("git", &["init", "--quiet"]);
    run("git", &["add", "-A"]);
    let said = run(
        env!("CARGO_BIN_EXE_git-rts"),
        &["record", "--backend", backend],
    );
    let line = said.lines().find(|line| line.starts_with("built in"));
    let words: Vec<&str> = line.unwrap_or_default().split([' ', '(', ',']).collect();
    let spans = words.windows(2).filter_map(|pair| {
        let number: f64 = pair[0].parse().ok()?;
        let unit = match pair[1] {
            "ms" => 0.001,
            "s" => 1.0,
            "min" => 60.0,
            _ => return None,
        };
        Some(number * unit)
    });
    let numbers: Vec<f64> = spans.collect();
    match numbers[..] {
        [_, ran, tests] => format!("{:.1} ms", 1000.0 * (ran - tests) / TRIVIAL_TESTS as f64),
        _ => format!("unknown: {said}"),
    }
}

/// Counts words in a text that it makes.
const WORDS: &str = r#"
#include <stdio.h>
#include <string.h>
static unsigned table[4096];
static unsigned hash(const char *s, int n) { unsigned h = 5381; for (int i = 0; i < n; i++) h = h * 33 + (unsigned char)s[i]; return h; }
static int is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int main(void) {
    static char text[1 << 20];
    unsigned seed = 1, total = 0;
    for (int i = 0; i < (int)sizeof text; i++) { seed = seed * 1103515245 + 12345; int c = (seed >> 16) % 30; text[i] = c < 26 ? 'a' + c : c == 26 ? '\n' : ' '; }
    for (int round = 0; round < 40; round++)
        for (int i = 0; i < (int)sizeof text;) {
            int start = i;
            while (i < (int)sizeof text && is_letter(text[i])) i++;
            if (i > start) { table[hash(text + start, i - start) % 4096]++; total++; } else i++;
        }
    printf("%u %u\n", total, table[7]);
    return 0;
}
"#;

/// Finds prime numbers.
const SIEVE: &str = r#"
#include <stdio.h>
#include <string.h>
static char composite[2000000];
int main(void) {
    int count = 0;
    for (int round = 0; round < 12; round++) {
        memset(composite, 0, sizeof composite);
        count = 0;
        for (int i = 2; i < (int)sizeof composite; i++) {
            if (composite[i]) continue;
            count++;
            for (long j = (long)i * i; j < (long)sizeof composite; j += i) composite[j] = 1;
        }
    }
    printf("%d\n", count);
    return 0;
}
"#;

/// Builds and searches a tree, by functions that call themselves.
const TREE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct node { unsigned key; struct node *left, *right; };
static struct node *insert(struct node *n, unsigned key) {
    if (!n) { n = calloc(1, sizeof *n); n->key = key; return n; }
    if (key < n->key) n->left = insert(n->left, key);
    else if (key > n->key) n->right = insert(n->right, key);
    return n;
}
static int depth(struct node *n) { if (!n) return 0; int l = depth(n->left), r = depth(n->right); return 1 + (l > r ? l : r); }
static int find(struct node *n, unsigned key) { while (n && n->key != key) n = key < n->key ? n->left : n->right; return n != 0; }
int main(void) {
    struct node *root = 0;
    unsigned seed = 7, found = 0;
    for (int i = 0; i < 300000; i++) { seed = seed * 1664525 + 1013904223; root = insert(root, seed); }
    for (int i = 0; i < 600000; i++) { seed = seed * 1664525 + 1013904223; found += find(root, seed); }
    printf("%d %u\n", depth(root), found);
    return 0;
}
"#;
