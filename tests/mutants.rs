//! Mutants are for compilers, too: nearly all of them must compile.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Mutant, lex_facts, mutants, switched};

const SNIPPET: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIMIT 16
#define SQUARE(x) ((x) * (x) + 1)
#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')

struct pair { const char *name; int value; };

static const int weights[] = { 1, 2, 0x40, 8 };
static struct pair pairs[] = { { "one", 1 }, { "two", 2 }, { NULL, 0 } };
static unsigned flags = 0x3u;

static const char *find(const char *text, char wanted)
{
    const char *end = text + strlen(text);
    for (; text < end; text++) {
        if (*text == wanted)
            return text;
    }
    return NULL;
}

static long distance(const char *from, const char *to)
{
    return to - from;
}

static int classify(int code, unsigned bits)
{
    int result = -1;
    switch (code) {
    case 1: result = bits & 3 ? 1 : 0; break;
    case 'x': result += code << 2; break;
    case 7: { result -= ~code; break; }
    default: result *= 2;
    }
    while (result > LIMIT || (bits ^ flags) != 0) {
        bits >>= 1;
        if (!bits)
            break;
        if (bits % 5 == 1)
            continue;
        --result;
    }
    do { result |= 1; } while (result < 0);
    return result + weights[code & 3];
}

int main(int count, char **arguments)
{
    char buffer[LIMIT + 1] = "";
    double ratio = 1.5 / count;
    struct pair *entry = pairs;
    for (int i = 0; i < count && arguments[i] != NULL; i++)
        snprintf(buffer, sizeof(buffer) - 1, "%d: %s\n", i, arguments[i]);
    while (entry->name && !find(entry->name, 'w'))
        entry++;
    if (IS_DIGIT(buffer[0]) && ratio > 0.5)
        entry->value = SQUARE(entry->value) - 1;
    printf("%ld %d\n", distance(buffer, find(buffer, '\n')), entry->value);
    return classify(count, flags) != 0;
}
"#;

fn compiles(file: &Path, text: &[u8]) -> bool {
    std::fs::write(file, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-fsyntax-only"]).arg(file);
    compiler.output().unwrap().status.success()
}

#[test]
fn nine_of_ten_mutants_compile() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.c");
    let source = SNIPPET.as_bytes();
    assert!(compiles(&file, source));
    let macros = MacroTable::learn(&lex_facts(source).macros);
    let made = mutants(source, &macros);
    assert!(made.len() > 80, "only {} mutants", made.len());
    let broken: Vec<String> = made
        .iter()
        .filter(|mutant| !compiles(&file, &mutant.apply(source)))
        .map(|mutant| mutant.diff(source))
        .collect();
    assert!(broken.len() * 10 <= made.len(), "{}", broken.join("\n"));
}

#[test]
fn every_kind_is_found() {
    let source = SNIPPET.as_bytes();
    let macros = MacroTable::learn(&lex_facts(source).macros);
    let made = mutants(source, &macros);
    for kind in [
        "relational operator",
        "arithmetic operator",
        "bitwise operator",
        "shift",
        "logical operator",
        "compound assignment",
        "increment",
        "negation removed",
        "condition negated",
        "constant",
        "call removed",
        "assignment removed",
        "returned value",
        "break removed",
        "continue",
        "fall through",
    ] {
        assert!(made.iter().any(|mutant| mutant.kind == kind), "{kind}");
    }
}

const COMPUTING: &str = r#"
#include <stdio.h>

static int kind(int x)
{
    switch (x & 3) {
    case 0: return 7;
    case 1: x += 2; break;
    default:
        if (x > 4 && !(x == 6) || x < -1)
            x = x * 3
                - 1; // the rest of it
        else
            x--;
    }
    return x ? x % 5 : -x;
}

int main(void)
{
    int sum = 0;
    for (int i = -3; i < 9; i++) {
        if (i == 5)
            continue;
        sum = sum * 2 + kind(i);
        if (sum > 9000) break; else sum |= 1;
        printf("%s %d\n", i % 2 ? "odd" : "even" " one", sum);
    }
    return sum != 3;
}
"#;

/// What a program of this text prints and how it ends, with a mutant on.
fn behaviour(folder: &Path, text: &[u8], on: usize) -> (String, Option<i32>) {
    let (source, program) = (folder.join("computing.c"), folder.join("computing"));
    std::fs::write(&source, text).unwrap();
    let switch = folder.join("switch.c");
    let asked = "#include <stdlib.h>\nint git_rts_switch(int number) { return atoi(getenv(\"ON\")) == number; }\n";
    std::fs::write(&switch, asked).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-w", "-o"])
        .args([&program, &source, &switch]);
    assert!(compiler.status().unwrap().success());
    run(&program, on)
}

fn run(program: &Path, on: usize) -> (String, Option<i32>) {
    // A mutant may never end.
    let mut command = Command::new("timeout");
    let output = command
        .arg("2")
        .arg(program)
        .env("ON", on.to_string())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let first: String = printed.lines().take(20).collect();
    (first, output.status.code())
}

#[test]
fn a_mutant_that_is_switched_on_does_what_it_does_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = COMPUTING.as_bytes();
    let macros = MacroTable::learn(&lex_facts(source).macros);
    let made = mutants(source, &macros);
    let numbered: Vec<(usize, &Mutant)> = (1..).zip(&made).collect();
    let all = switched(source, &macros, &numbered);
    assert!(
        all.places.len() > 40,
        "only {} are switched",
        all.places.len()
    );
    let plain = behaviour(folder.path(), source, 0);
    assert_eq!(behaviour(folder.path(), &all.text, 0), plain);
    let program = folder.path().join("switched");
    std::fs::rename(folder.path().join("computing"), &program).unwrap();
    for (number, _) in all.places {
        let mutant = &made[number - 1];
        let alone = behaviour(folder.path(), &mutant.apply(source), 0);
        assert_eq!(run(&program, number), alone, "{}", mutant.diff(source));
    }
}

#[test]
fn nearly_all_mutants_of_functions_can_be_switched() {
    let folder = tempfile::tempdir().unwrap();
    let source = SNIPPET.as_bytes();
    let macros = MacroTable::learn(&lex_facts(source).macros);
    let made = mutants(source, &macros);
    let compiling = made.iter().filter(|mutant| {
        let file = folder.path().join("snippet.c");
        compiles(&file, &mutant.apply(source))
    });
    let numbered: Vec<(usize, &Mutant)> = compiling.enumerate().collect();
    let all = switched(source, &macros, &numbered);
    let text = String::from_utf8_lossy(&all.text);
    assert!(compiles(&folder.path().join("all.c"), &all.text), "{text}");
    assert!(all.places.len() * 10 > numbered.len() * 7, "{text}");
}
