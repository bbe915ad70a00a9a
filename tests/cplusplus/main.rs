//! C++ from end to end: nothing of it is read as source, so what a change selects is seen in the compiled code.

#![allow(clippy::unwrap_used, clippy::panic)]

mod discovered;
mod incremental;
mod parity;
#[path = "../test_repo/mod.rs"]
mod test_repo;

use std::collections::BTreeSet;

use test_repo::TestRepo;

const BACKENDS: [&str; 2] = ["llvm", "gcov"];

const SHAPES_H: &str = r#"
#pragma once
#include <string>
struct Shape {
    virtual ~Shape() {}
    virtual int sides() const = 0;
    virtual std::string name() const { return "shape"; }
};
struct Square : Shape {
    int sides() const override { return 4; }
    std::string name() const override;
};
struct Circle : Shape {
    int sides() const override { return 0; }
};
struct Low {};
struct High {};
struct Guard {
    int &left;
    explicit Guard(int &value) : left(value) {}
    ~Guard() { left = 7; }
};
enum Colour { RED = 1, GREEN = 2 };
constexpr int LIMIT = 10;
template <class T> T twice(const T &x) { return x + x; }
template <class T> struct Box {
    T held;
    T open() const { return held; }
};
inline int thrice(int x) { return 3 * x; }
int scaled(int x, int factor = 2);
int level(int x);
const char *kind_of(const Shape &shape);
struct Money {
    int amount;
    bool operator==(const Money &other) const { return amount == other.amount; }
};
extern int first;
"#;

const SHAPES_CPP: &str = r#"
#include "shapes.hpp"
#include <typeinfo>
#include <functional>
static int initial() { volatile int x = 5; return x; }
int first = initial();
std::string Square::name() const { return "square"; }
int scaled(int x, int factor) { return x * factor; }
int level(int x) {
    if (x > LIMIT) throw High();
    if (x < 0) throw Low();
    return x;
}
const char *kind_of(const Shape &shape) { return typeid(shape).name(); }
"#;

const MAIN_CPP: &str = r#"
#include "shapes.hpp"
#include <cstring>
#include <functional>
static int number() { return twice(3) == 6 ? 0 : 1; }
static int text() { return twice(std::string("a")) == "aa" ? 0 : 1; }
static int box() { Box<int> b{4}; return b.open() == 4 ? 0 : 1; }
static int inlined() { return thrice(2) == 6 ? 0 : 1; }
static int square() { Square s; const Shape &x = s; return x.sides() == 4 && x.name() == "square" ? 0 : 1; }
static int circle() { Circle c; const Shape &x = c; return x.sides() == 0 && x.name() == "shape" ? 0 : 1; }
static int kind() { Circle c; return std::strcmp(kind_of(c), "6Circle") == 0 ? 0 : 1; }
static int argument() { return scaled(3) == 6 ? 0 : 1; }
static int high() { try { level(LIMIT + 1); } catch (const High &) { return 0; } catch (...) { return 1; } return 2; }
static int low() { try { level(-1); } catch (const Low &) { return 0; } catch (...) { return 1; } return 2; }
static int destroyed() { int left = 0; { Guard guard(left); } return left == 7 ? 0 : 1; }
static int colour() { return GREEN == 2 ? 0 : 1; }
static int money() { return Money{3} == Money{3} ? 0 : 1; }
static int closure() { auto add = [](int x) { return x + 1; }; std::function<int(int)> f = add; return f(1) == 2 ? 0 : 1; }
static int plain() { return 0; }
int main(int, char **v) {
    struct { const char *name; int (*test)(); } tests[] = {
        {"number", number}, {"text", text}, {"box", box}, {"inlined", inlined}, {"square", square}, {"circle", circle},
        {"kind", kind}, {"argument", argument}, {"high", high}, {"low", low}, {"destroyed", destroyed},
        {"colour", colour}, {"money", money}, {"closure", closure}, {"plain", plain},
    };
    for (auto &one : tests)
        if (!std::strcmp(one.name, v[1])) return one.test();
    return 9;
}
"#;

const ALL: &str = "number text box inlined square circle kind argument high low destroyed colour money closure plain";

const SETTINGS: &str = "[build]\ncommand = \"make -s\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' @\"\nrun = \"./prog {test}\"\n";

const MAKEFILE: &str = "prog: main.o shapes.o\n\tc++ -o $@ main.o shapes.o\n%.o: %.cpp shapes.hpp\n\tc++ -w -O1 -std=c++17 -c -o $@ $<\n";

/// The project, recorded with a back end.
fn recorded(backend: &str) -> TestRepo {
    recorded_with("shapes.hpp", backend)
}

/// The same, with another name for its header.
fn recorded_with(header: &str, backend: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "rts.backend", backend]);
    repo.write(".git-rts.toml", SETTINGS.replace('@', ALL));
    repo.write("Makefile", MAKEFILE.replace("shapes.hpp", header));
    repo.write(header, SHAPES_H);
    repo.write("shapes.cpp", SHAPES_CPP.replace("shapes.hpp", header));
    repo.write("main.cpp", MAIN_CPP.replace("shapes.hpp", header));
    repo.commit_all();
    let output = repo.rts(&["record"]);
    assert_eq!(output.status.code(), Some(0), "{backend}: {output:?}");
    repo
}

/// Puts in one text for another.
fn change(repo: &TestRepo, file: &str, old: &str, new: &str) {
    let text = std::fs::read_to_string(repo.top().join(file)).unwrap();
    assert!(text.contains(old), "'{old}' is not in {file}");
    repo.write(file, text.replacen(old, new, 1));
}

fn would_run(repo: &TestRepo) -> BTreeSet<String> {
    let output = repo.rts(&["run", "HEAD", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn a_change_selects_who_executes_what_is_compiled_from_it() {
    // What is changed, and who executes it; nobody else is selected but where `*` says that all are.
    let changes = [
        // Templates are compiled where they are used, each kind for itself.
        (
            "shapes.hpp",
            "return x + x;",
            "return x + x + x;",
            "number text",
        ),
        (
            "shapes.hpp",
            "{ return held; }",
            "{ return held + T(1); }",
            "box",
        ),
        ("shapes.hpp", "return 3 * x", "return 3 * x + 1", "inlined"),
        // Reached through a table of virtual functions alone.
        ("shapes.hpp", "return 4;", "return 5;", "square"),
        ("shapes.cpp", "\"square\"", "\"quadrat\"", "square"),
        ("shapes.hpp", "\"shape\"", "\"form\"", "circle"),
        // One more row in the tables moves the others, for who does not know the type.
        (
            "shapes.hpp",
            "virtual int sides() const = 0;",
            "virtual int corners() const { return 1; }\n    virtual int sides() const = 0;",
            "kind",
        ),
        (
            "shapes.cpp",
            "int level(int x) {",
            "int level(int x) {\n    if (x == 99) return 1;",
            "high low",
        ),
        // The code stays the same: what is caught stands in a table beside it.
        (
            "main.cpp",
            "catch (const High &)",
            "catch (const Low &)",
            "high",
        ),
        ("shapes.hpp", "left = 7;", "left = 8;", "destroyed"),
        ("shapes.hpp", "factor = 2", "factor = 3", "argument"),
        ("shapes.hpp", "GREEN = 2", "GREEN = 3", "colour"),
        ("shapes.hpp", "LIMIT = 10", "LIMIT = 12", "high low"),
        (
            "shapes.hpp",
            "amount == other.amount",
            "amount != other.amount",
            "money",
        ),
        ("main.cpp", "return x + 1;", "return x + 2;", "closure"),
        // What runs before main is everybody's.
        ("shapes.cpp", "x = 5;", "x = 6;", "*"),
        // A comment is nobody's.
        ("shapes.hpp", "#pragma once", "#pragma once // once", ""),
    ];
    for backend in BACKENDS {
        let repo = recorded(backend);
        for (file, old, new, tests) in changes {
            change(&repo, file, old, new);
            let tests = if tests == "*" { ALL } else { tests };
            let wanted: BTreeSet<String> = tests.split_whitespace().map(str::to_owned).collect();
            let selected = would_run(&repo);
            assert!(
                selected.is_superset(&wanted),
                "{backend} {new}: {selected:?}"
            );
            let is_everybodys = wanted.contains("plain");
            assert_eq!(
                selected.contains("plain"),
                is_everybodys,
                "{backend} {new}: {selected:?}"
            );
            repo.git(&["checkout", "--quiet", "."]);
        }
    }
}

#[test]
fn why_names_functions_as_their_source_does() {
    let repo = recorded("llvm");
    change(&repo, "shapes.hpp", "return x + x;", "return x + x + x;");
    repo.commit_all();
    let output = repo.rts(&["run", "HEAD~1"]);
    assert_eq!(output.status.code(), Some(100), "{output:?}");
    let output = repo.rts(&["why", "number", "HEAD~1"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("'number()'"), "{told}");
}
