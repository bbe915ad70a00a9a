//! One fact each: kinds of symbols, sections and links that a random program does not have.

use std::collections::BTreeMap;

use git_rts::objects::{BinaryDifference, Change};

use crate::build::{Counting, PLAIN, Setting, build, compare};

const SETTINGS: [Setting; 3] = [
    PLAIN,
    Setting {
        compiler: "clang-16",
        ..PLAIN
    },
    Setting {
        compiler: "gcc",
        level: "-O2",
        position: "-fno-pic",
        counting: Counting::Yes,
    },
];

type Files<'a> = &'a [(&'a str, &'a str)];

/// What differs between two programs, for each of several compilers.
fn differences(before: Files<'_>, after: Files<'_>) -> Vec<BinaryDifference> {
    let differences = SETTINGS.iter().map(|setting| {
        let contents = |files: Files<'_>| {
            let owned = files
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
            build(
                *setting,
                &owned.collect::<BTreeMap<_, _>>(),
                &["-fno-inline"],
            )
        };
        let mut found = compare(&contents(before), &contents(after));
        found.binaries.remove("p").unwrap()
    });
    differences.collect()
}

fn assert_affected(before: Files<'_>, after: Files<'_>, expected: &[&str]) {
    for difference in differences(before, after) {
        let affected: Vec<&String> = difference.affected.keys().collect();
        assert_eq!(affected, expected, "{difference:#?}");
        assert_eq!(difference.everybody, None, "{difference:#?}");
    }
}

fn assert_everybody(before: Files<'_>, after: Files<'_>, why: &str) {
    for difference in differences(before, after) {
        let found = difference.everybody.clone().unwrap_or_default();
        assert!(found.contains(why), "{difference:#?}");
    }
}

const NOINLINE: &str = "__attribute__((noinline, noclone))";

#[test]
fn a_weak_name_that_gets_a_definition_affects_who_mentions_it() {
    let main = "int hook(void) __attribute__((weak)); int other(void){return 4;} int ask(void){ return hook ? hook() : 1; } int main(void){return ask()+other();}";
    assert_affected(
        &[("main.c", main)],
        &[("main.c", main), ("hook.c", "int hook(void){return 2;}")],
        &["ask"],
    );
}

#[test]
fn static_functions_of_one_name_are_not_taken_for_each_other() {
    let file = |name: &str, number: u32| {
        format!(
            "{NOINLINE} static int helper(int x){{return x*{number}+x/5;}} int {name}(int x){{return helper(x)+1;}}"
        )
    };
    let main = "int a(int),b(int); int main(int c,char**v){return a(c)+b(c);}";
    assert_affected(
        &[
            ("a.c", &file("a", 3)),
            ("b.c", &file("b", 7)),
            ("main.c", main),
        ],
        &[
            ("a.c", &file("a", 7)),
            ("b.c", &file("b", 3)),
            ("main.c", main),
        ],
        &["helper"],
    );
}

#[test]
fn static_data_of_one_name_are_not_taken_for_each_other() {
    let file = |name: &str, number: u32| {
        format!("static int table[9]={{1,{number}}}; int {name}(int x){{return table[x]++;}}")
    };
    let main = "int a(int),b(int); int main(int c,char**v){return a(c)+b(c);}";
    assert_affected(
        &[
            ("a.c", &file("a", 3)),
            ("b.c", &file("b", 7)),
            ("main.c", main),
        ],
        &[
            ("a.c", &file("a", 7)),
            ("b.c", &file("b", 3)),
            ("main.c", main),
        ],
        &["a", "b"],
    );
}

#[test]
fn a_text_that_is_copied_piece_by_piece_is_understood() {
    let main = |text: &str| {
        format!(
            "{NOINLINE} void take(const char*p){{static const char*volatile kept;kept=p;}} int copy(void){{char s[]=\"{text}\";take(s);return s[1];}} int other(void){{char s[]=\"uvwxy\";take(s);return s[1];}} int main(void){{return copy()+other();}}"
        )
    };
    let (before, after) = (main("abcde"), main("abcdf"));
    assert_affected(&[("main.c", &before)], &[("main.c", &after)], &["copy"]);
    assert_affected(&[("main.c", &before)], &[("main.c", &before)], &[]);
}

#[test]
fn one_static_local_is_not_two() {
    let two = "int f(int x){ if(x>3){static int n; n+=x; return n;} static int n; return n-=x; } int main(int c,char**v){return f(c);}";
    let one = "int f(int x){ static int n; if(x>3){n+=x; return n;} return n-=x; } int main(int c,char**v){return f(c);}";
    for difference in differences(&[("main.c", two)], &[("main.c", one)]) {
        assert!(difference.affected.contains_key("f"), "{difference:#?}");
    }
}

#[test]
fn static_locals_that_trade_places_are_noticed() {
    let program = |first: &str, second: &str| {
        format!(
            "int use(const char*s){{return s[0];}} int f(int x){{ if(x>3){{static const char*volatile p=\"{first}\"; return use(p);}} static const char*volatile p=\"{second}\"; return use(p)+1; }} int main(int c,char**v){{return f(c);}}"
        )
    };
    for difference in differences(
        &[("main.c", &program("one", "two"))],
        &[("main.c", &program("two", "one"))],
    ) {
        assert!(difference.affected.contains_key("f"), "{difference:#?}");
    }
}

#[test]
fn what_changes_in_data_is_followed_through_data() {
    let program = |number: u32| {
        format!(
            "struct s{{int n; struct s*next;}}; struct s last={{{number},0}}; struct s first={{1,&last}}; static struct s*volatile table[]={{&first,0}}; int walk(void){{return table[0]->next->n;}} int not(void){{return 3;}} int main(void){{return walk()+not();}}"
        )
    };
    assert_affected(
        &[("main.c", &program(5))],
        &[("main.c", &program(6))],
        &["walk"],
    );
}

#[test]
fn a_constructor_that_changes_or_appears_is_everybodys() {
    let program = |body: &str| format!("volatile int g; {body} int main(void){{return g;}}");
    let none = program("");
    let one = program("__attribute__((constructor)) static void begin(void){g=4;}");
    let other = program("__attribute__((constructor)) static void begin(void){g=5;}");
    let last = program("__attribute__((destructor)) static void begin(void){g=4;}");
    assert_everybody(&[("main.c", &none)], &[("main.c", &one)], "loaded");
    assert_everybody(&[("main.c", &one)], &[("main.c", &other)], "loaded");
    assert_everybody(&[("main.c", &one)], &[("main.c", &last)], "loaded");
}

#[test]
fn the_order_of_constructors_counts_and_that_of_other_objects_does_not() {
    let begin = |name: &str, value: u32| {
        format!("extern int g; __attribute__((constructor)) void {name}(void){{g={value};}}")
    };
    let main = ("main.c", "int g; int main(void){return g;}");
    let (one, two) = (begin("one", 1), begin("two", 2));
    // Objects are linked in the order of their names.
    assert_everybody(
        &[("a.c", &one), ("b.c", &two), main],
        &[("a.c", &two), ("b.c", &one), main],
        "what runs when it is loaded",
    );
    let (one, two) = ("int one(void){return 1;}", "int two(void){return 2;}");
    assert_affected(
        &[("a.c", one), ("b.c", two), main],
        &[("a.c", two), ("b.c", one), main],
        &[],
    );
}

#[test]
fn a_section_that_lists_things_belongs_to_who_mentions_its_ends() {
    let register = |name: &str, value: u32| {
        format!("static int {name} __attribute__((section(\"checks\"),used))={value};")
    };
    let main = (
        "main.c",
        "extern int __start_checks[],__stop_checks[]; int sum(void){int s=0; for(int*p=__start_checks;p<__stop_checks;p++)s+=*p; return s;} int other(int c){return c*3;} int main(int c,char**v){return sum()+other(c);}",
    );
    let (one, two, three) = (register("one", 1), register("two", 2), register("two", 3));
    assert_affected(
        &[("a.c", &one), main],
        &[("a.c", &one), ("b.c", &two), main],
        &["sum"],
    );
    assert_affected(
        &[("a.c", &one), ("b.c", &two), main],
        &[("a.c", &one), ("b.c", &three), main],
        &["sum"],
    );
    assert_affected(
        &[("a.c", &one), ("b.c", &two), main],
        &[("a.c", &two), ("b.c", &one), main],
        &["sum"],
    );
}

#[test]
fn an_alias_differs_with_what_it_stands_for() {
    let program = |number: u32| {
        format!(
            "int real(int x){{return x*{number};}} int also(int) __attribute__((alias(\"real\"))); int main(int c,char**v){{return also(c);}}"
        )
    };
    for difference in differences(&[("main.c", &program(3))], &[("main.c", &program(5))]) {
        for name in ["real", "also"] {
            assert_eq!(difference.symbols.get(name), Some(&Change::Changed));
            assert!(difference.affected.contains_key(name), "{difference:#?}");
        }
    }
}

#[test]
fn who_chooses_a_function_at_load_is_everybodys() {
    let program = |number: u32| {
        format!(
            "static int one(void){{return 1;}} static int two(void){{return 2;}} volatile int which={number}; static void*choose(void){{return which>{number}?(void*)one:(void*)two;}} int f(void) __attribute__((ifunc(\"choose\"))); int main(void){{return f();}}"
        )
    };
    assert_everybody(
        &[("main.c", &program(3))],
        &[("main.c", &program(5))],
        "loaded",
    );
}

#[test]
fn common_symbols_differ_by_their_size() {
    let program = |size: u32| {
        format!(
            "char pool[{size}] __attribute__((common)); int first(void){{return pool[0];}} int none(void){{return 1;}} int main(void){{return first()+none();}}"
        )
    };
    assert_affected(
        &[("main.c", &program(10))],
        &[("main.c", &program(20))],
        &["first"],
    );
}

#[test]
fn of_several_weak_definitions_the_order_counts() {
    let weak = |number: u32| format!("__attribute__((weak)) int w(void){{return {number};}}");
    let main = ("main.c", "int w(void); int main(void){return w();}");
    let (one, two) = (weak(1), weak(2));
    assert_everybody(
        &[("a.c", &one), ("b.c", &two), main],
        &[("a.c", &two), ("b.c", &one), main],
        "several definitions",
    );
}

#[test]
fn a_copy_more_of_the_same_constant_is_no_difference() {
    let table = |first: &str| format!("__attribute__((weak)) const int table[2]={{{first},2}};");
    let user = "extern const int table[2]; int use(int x){return table[x&1];} int main(int c,char**v){return use(c);}";
    let main = format!("{} {user}", table("1"));
    let copy = |first: &str, more: &str| format!("{} {more} int unused;", table(first));
    let one = [("a.c", main.as_str())];
    let (same, other) = (copy("1", ""), copy("3", ""));
    assert_affected(&one, &[one[0], ("b.c", &same)], &[]);
    assert_affected(&[one[0], ("b.c", &same)], &one, &[]);
    for difference in differences(&one, &[one[0], ("b.c", &other)]) {
        assert!(
            difference.everybody.is_some() || difference.affected.contains_key("use"),
            "{difference:#?}"
        );
    }
    // What it points to has a name that each object may give to something else.
    let pointing =
        |value: u32| format!("static int own={value}; __attribute__((weak)) int*pointer=&own; ");
    let first = pointing(1) + "int use(void){return *pointer;} int main(void){return use();}";
    let second = pointing(2) + "int unused;";
    for difference in differences(&[("a.c", &first)], &[("a.c", &first), ("0.c", &second)]) {
        assert!(difference.affected.contains_key("use"), "{difference:#?}");
    }
}

#[test]
fn what_is_not_loaded_is_nothing_to_the_program() {
    let note = |value: u32| {
        format!(
            ".section .note.own,\"\",@progbits\n.globl own_note\n.type own_note,@object\nown_note:\n .long {value}\n.size own_note,4\n.section .note.GNU-stack,\"\",@progbits\n"
        )
    };
    let main = ("main.c", "int main(void){return 0;}");
    let (one, two) = (note(1), note(2));
    for difference in differences(&[("note.s", &one), main], &[("note.s", &two), main]) {
        assert_eq!(difference.everybody, None, "{difference:#?}");
        assert!(difference.symbols.is_empty(), "{difference:#?}");
    }
    // Where it stands is a number that code can use.
    let marker = |place: u32| {
        format!(
            ".section .meta,\"\",@progbits\n.zero {place}\n.globl marker\nmarker:\n.section .note.GNU-stack,\"\",@progbits\n"
        )
    };
    let user = (
        "main.c",
        "extern char marker; int id(void){return (int)(long)&marker;} int main(void){return id();}",
    );
    let (four, eight) = (marker(4), marker(8));
    for difference in differences(&[("note.s", &four), user], &[("note.s", &eight), user]) {
        assert!(difference.affected.contains_key("id"), "{difference:#?}");
    }
}

#[test]
fn in_assembler_a_section_counts_as_one() {
    let program = |number: u32| {
        format!(
            ".text\n.globl one\none:\n mov ${number},%eax\n ret\n.globl two\ntwo:\n mov $2,%eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n"
        )
    };
    let main = (
        "main.c",
        "int one(void),two(void); int main(void){return one()+two();}",
    );
    assert_affected(
        &[("a.s", &program(1)), main],
        &[("a.s", &program(5)), main],
        &["one", "two"],
    );
}

#[test]
fn a_function_that_moves_to_another_file_counts_as_changed() {
    // The same names may mean other static things there.
    let f = "static int n=1; int f(void){return n++;}";
    let g = "static int n=2; int g(void){return n--;}";
    let both = format!("{g} int f(void){{return n++;}}");
    let main = (
        "main.c",
        "int f(void),g(void); int main(void){return f()+g();}",
    );
    for difference in differences(&[("a.c", f), ("b.c", g), main], &[("b.c", &both), main]) {
        assert!(difference.affected.contains_key("f"), "{difference:#?}");
        assert!(!difference.affected.contains_key("g"), "{difference:#?}");
    }
}

#[test]
fn thread_local_data_are_followed() {
    let program = |number: u32| {
        format!(
            "__thread int t={number}; int f(void){{return t++;}} int g(int c){{return c+1;}} int main(int c,char**v){{return f()+g(c);}}"
        )
    };
    assert_affected(
        &[("main.c", &program(3))],
        &[("main.c", &program(4))],
        &["f"],
    );
}
