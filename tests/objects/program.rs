//! Random programs of two files, and edits of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proptest::prelude::*;

/// What a function does with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Arithmetic,
    Text,
    Table,
    BiasedTable,
    Switch,
    Pointers,
    ThreadLocal,
    StaticLocal,
    TwoStaticLocals,
    Fraction,
    Texts,
    Global,
    Macro,
    Initialiser,
    StaticHelper,
}

const KINDS: [Kind; 15] = [
    Kind::Arithmetic,
    Kind::Text,
    Kind::Table,
    Kind::BiasedTable,
    Kind::Switch,
    Kind::Pointers,
    Kind::ThreadLocal,
    Kind::StaticLocal,
    Kind::TwoStaticLocals,
    Kind::Fraction,
    Kind::Texts,
    Kind::Global,
    Kind::Macro,
    Kind::Initialiser,
    Kind::StaticHelper,
];

#[derive(Debug, Clone)]
struct Function {
    kind: Kind,
    number: u32,
    /// How it is called, if not by its place.
    name: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Program {
    functions: Vec<Function>,
    noise: Noise,
}

/// Edits that must not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    None,
    /// Comments, other names of locals, another order.
    Moved,
    /// And other line breaks inside of functions.
    Reformatted,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Edit {
    /// The number of a function, wherever it stands: a constant, a text, an initial value, a macro.
    Number(prop::sample::Index),
    /// The numbers of two functions of one kind.
    Trade(prop::sample::Index),
    /// The name of a function.
    Rename(prop::sample::Index),
}

pub(crate) fn programs() -> impl Strategy<Value = Program> {
    let function = (0..KINDS.len(), 2..50u32).prop_map(|(kind, number)| Function {
        kind: KINDS[kind],
        number,
        name: None,
    });
    prop::collection::vec(function, 9..16).prop_map(|functions| Program {
        functions,
        noise: Noise::None,
    })
}

pub(crate) fn edits() -> impl Strategy<Value = Edit> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        3 => index().prop_map(Edit::Number),
        2 => index().prop_map(Edit::Trade),
        1 => index().prop_map(Edit::Rename),
    ]
}

/// Functions keep their borders, so that only the edited one can differ.
const HEADER: &str = "#if defined __clang__\n#define F __attribute__((noinline))\n#else\n#define F __attribute__((noipa))\n#endif\nint use(const char *);\n";

impl Program {
    fn name(&self, place: usize) -> String {
        let given = self.functions[place].name.clone();
        given.unwrap_or_else(|| format!("f{place}"))
    }

    pub(crate) fn with(&self, noise: Noise) -> Self {
        Program {
            functions: self.functions.clone(),
            noise,
        }
    }

    /// The edited program, and the functions that are affected by the edit.
    pub(crate) fn edited(&self, edit: Edit) -> (Self, BTreeSet<String>) {
        let mut edited = self.clone();
        let mut affected = BTreeSet::new();
        match edit {
            Edit::Number(index) => {
                let place = index.index(self.functions.len());
                edited.functions[place].number += 64;
                affected.insert(self.holder(place));
            }
            Edit::Trade(index) => {
                let one = index.index(self.functions.len());
                let other = (0..self.functions.len()).find(|other| self.can_trade(one, *other));
                let Some(other) = other else {
                    return self.edited(Edit::Number(index));
                };
                edited.functions[one].number = self.functions[other].number;
                edited.functions[other].number = self.functions[one].number;
                affected.extend([self.holder(one), self.holder(other)]);
            }
            Edit::Rename(index) => {
                let place = index.index(self.functions.len());
                edited.functions[place].name = Some(format!("renamed{place}"));
                affected.insert(self.name(place));
                affected.insert("main".to_owned());
                for (user, function) in self.functions.iter().enumerate() {
                    if function.kind == Kind::Pointers && self.pointed_to(user) == Some(place) {
                        affected.insert(self.name(user));
                    }
                }
            }
        }
        (edited, affected)
    }

    /// The function that holds the number of another, or its own.
    fn holder(&self, place: usize) -> String {
        match self.functions[place].kind {
            Kind::StaticHelper => format!("helper{place}"),
            _ => self.name(place),
        }
    }

    fn can_trade(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.functions[one], &self.functions[other]);
        one.kind == other.kind && one.number != other.number
    }

    /// The earlier function of the same file that a table of pointers holds.
    fn pointed_to(&self, place: usize) -> Option<usize> {
        place.checked_sub(2)
    }

    pub(crate) fn sources(&self) -> BTreeMap<String, String> {
        let mut sources = BTreeMap::new();
        for file in 0..2 {
            let mut text = HEADER.to_owned();
            let mut places: Vec<usize> = (file..self.functions.len()).step_by(2).collect();
            for place in &places {
                writeln!(text, "int {}(int);", self.name(*place)).unwrap();
            }
            if self.noise != Noise::None {
                places.reverse();
                text.push_str("/* A comment\n that moves\n all lines. */\n\n");
            }
            for place in places {
                text.push_str(&self.function(place));
            }
            sources.insert(format!("file{file}.c"), text);
        }
        let mut main = HEADER.to_owned();
        let mut calls = String::new();
        for place in 0..self.functions.len() {
            writeln!(main, "int {}(int);", self.name(place)).unwrap();
            write!(calls, " + {}(c)", self.name(place)).unwrap();
        }
        if self.noise != Noise::None {
            main.push_str("\n\n// moved\n");
        }
        writeln!(main, "int use(const char *s) {{ return s[1]; }}").unwrap();
        writeln!(main, "int main(int c, char **v) {{ return 0{calls}; }}").unwrap();
        sources.insert("main.c".to_owned(), main);
        sources
    }

    fn function(&self, place: usize) -> String {
        let Function { kind, number, .. } = self.functions[place];
        let name = self.name(place);
        let k = number;
        let before = match kind {
            Kind::Table => format!("static const int t{place}[8] = {{1, {k}, 3, 4, 9}};"),
            Kind::BiasedTable => format!("static int w{place}[26] = {{3, {k}}};"),
            Kind::Pointers => match self.pointed_to(place) {
                Some(other) => format!(
                    "static int (*const p{place}[])(int) = {{{}, {name}}};",
                    self.name(other)
                ),
                None => String::new(),
            },
            Kind::ThreadLocal => format!("static __thread int v{place} = {k};"),
            Kind::Texts => {
                format!("static const char *const n{place}[] = {{\"first {k}\", \"second\"}};")
            }
            Kind::Global => format!("int g{place} = {k};"),
            Kind::Macro => format!("#define M{place} ({k} + 1)"),
            Kind::StaticHelper => {
                format!("F static int helper{place}(int y) {{ return y * {k} + y / 3; }}")
            }
            _ => String::new(),
        };
        let body = match kind {
            Kind::Arithmetic => format!("return x * {k} + (x >> 3);"),
            Kind::Text => format!("return use(\"text {k}\") + x;"),
            Kind::Table => format!("return t{place}[x & 7] + x;"),
            Kind::BiasedTable => format!("return w{place}[x - 'a']++;"),
            Kind::Switch => format!(
                "switch (x) {{ case 0: x = use(\"zero\"); break; case 1: x += {k}; break; case 2: x = use(\"two\") * 5; break; case 3: x ^= 77; break; case 4: x = use(\"zero\") - 3; break; case 5: x = -x; break; }} return x * 3;"
            ),
            Kind::Pointers => match self.pointed_to(place) {
                Some(_) => format!("return x > {k} ? p{place}[x & 1](x - 1) : x;"),
                None => format!("return x - {k};"),
            },
            Kind::ThreadLocal => format!("return v{place} += x;"),
            Kind::StaticLocal => format!("static int count = {k}; return count += x;"),
            Kind::TwoStaticLocals => format!(
                "if (x > 3) {{ static int count = 0; count += {k}; return count; }} static int count = 0; return count -= x;"
            ),
            Kind::Fraction => format!("return (int)(x * {k}.25 + 0.5);"),
            Kind::Texts => format!("return use(n{place}[x & 1]);"),
            Kind::Global => format!("return g{place} + x;"),
            Kind::Macro => format!("return x * M{place};"),
            Kind::Initialiser => {
                format!(
                    "int a[12] = {{1, {k}, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}; a[x & 7] += x; return a[x & 3];"
                )
            }
            Kind::StaticHelper => format!("return helper{place}(x) - 1;"),
        };
        let body = if self.noise != Noise::None {
            let renamed = body.replace("x ", "elsewhere ").replace("(x", "(elsewhere");
            let renamed = renamed
                .replace("[x", "[elsewhere")
                .replace("x)", "elsewhere)");
            let renamed = renamed
                .replace("x;", "elsewhere;")
                .replace("-x", "-elsewhere");
            match self.noise {
                Noise::Reformatted => renamed.replace("; ", "; /* so */\n\n  "),
                _ => renamed,
            }
        } else {
            body
        };
        let x = if self.noise != Noise::None {
            "elsewhere"
        } else {
            "x"
        };
        format!("{before}\nF int {name}(int {x}) {{ {body} }}\n")
    }
}
