//! Random programs that compile and, most of the time, do nothing undefined.

use crate::ast::{
    Arm, CaseOf, Condition, Expr, For, Function, Kind, Macro, MacroBody, Operator, PARAMETERS,
    Program, Stmt, Type, What,
};
use crate::choices::Choices;

pub(crate) const ENUMERATORS: [&str; 3] = ["RED", "GREEN", "BLUE"];
pub(crate) const GLOBALS: [&str; 2] = ["g", "h"];
const LOCALS: [&str; 4] = ["a", "b", "g", "h"];
const MEMBERS: [&str; 2] = ["m", "n"];
const DEEPEST: usize = 3;

/// What the functions and macros of the program are called, and what can be mentioned where.
pub(crate) struct Generator<'c, 'n> {
    pub(crate) choices: &'c mut Choices<'n>,
    /// Functions that may be called.
    pub(crate) callees: Vec<String>,
    scopes: Vec<Vec<String>>,
    loops: usize,
    breakable: usize,
    /// In a function with a label `out`.
    has_out: bool,
    /// What the macro `CHECK` does when its argument holds.
    check: usize,
    fresh: usize,
}

pub(crate) fn program(choices: &mut Choices<'_>) -> Program {
    let count = 1 + choices.below(3);
    let names: Vec<String> = (0..count).map(|index| format!("f{index}")).collect();
    let mut generator = Generator::new(choices, Vec::new());
    let mut program = Program {
        macros: generator.macros(),
        enumerators: vec![
            (ENUMERATORS[0].to_owned(), None),
            (ENUMERATORS[1].to_owned(), None),
            (ENUMERATORS[2].to_owned(), None),
        ],
        globals: Vec::new(),
        members: Vec::new(),
        functions: Vec::new(),
    };
    if generator.choices.one_in(3) {
        program.enumerators[1].1 = Some(3);
    }
    for name in GLOBALS {
        let value = generator.choices.below(4) as i32;
        program.globals.push((name.to_owned(), Type::Int, value));
    }
    for name in MEMBERS {
        let value = generator.choices.below(4) as i32;
        program.members.push((name.to_owned(), Type::Int, value));
    }
    for (index, name) in names.iter().enumerate() {
        generator.callees = names[index + 1..].to_vec();
        let is_static = index > 0 && generator.choices.below(2) == 1;
        let body = generator.body();
        program.functions.push(Function {
            name: name.clone(),
            is_static,
            body,
            line: 0,
        });
    }
    program
}

impl<'c, 'n> Generator<'c, 'n> {
    pub(crate) fn new(choices: &'c mut Choices<'n>, callees: Vec<String>) -> Self {
        Generator {
            choices,
            callees,
            scopes: vec![PARAMETERS.iter().map(|name| (*name).to_owned()).collect()],
            loops: 0,
            breakable: 0,
            has_out: false,
            check: 0,
            fresh: 0,
        }
    }

    fn macros(&mut self) -> Vec<Macro> {
        let define = |name: &str, parameters: &[&str], body: MacroBody| Macro {
            name: name.to_owned(),
            parameters: (!parameters.is_empty())
                .then(|| parameters.iter().map(|name| (*name).to_owned()).collect()),
            body,
        };
        let x = || Expr::name("x");
        self.check = self.choices.below(5);
        let jump = match self.check {
            0 => Stmt::new(Kind::Return(Expr::constant(7))),
            1 => Stmt::new(Kind::Goto("out".to_owned())),
            2 => Stmt::new(Kind::Break),
            3 => Stmt::new(Kind::Continue),
            _ => Stmt::new(Kind::Expression(Expr::assign("g", x()))),
        };
        let guarded = Stmt::new(Kind::If(x(), vec![jump], Vec::new()));
        let captured = Expr::binary(Operator::Add, Expr::name("g"), Expr::constant(1));
        let flag = match self.choices.below(3) {
            0 => MacroBody::Value(Expr::constant(1)),
            1 => MacroBody::Value(Expr::constant(2)),
            _ => MacroBody::Missing,
        };
        let both = if self.choices.below(2) == 0 {
            Operator::And
        } else {
            Operator::Or
        };
        vec![
            define("FLAG", &[], flag),
            define("FIVE", &[], MacroBody::Value(Expr::constant(5))),
            define("NEXT", &[], MacroBody::Value(captured)),
            define(
                "TWICE",
                &["x"],
                MacroBody::Value(Expr::binary(Operator::Add, x(), x())),
            ),
            define(
                "EITHER",
                &["x", "y"],
                MacroBody::Value(Expr::binary(Operator::Or, x(), Expr::name("y"))),
            ),
            define(
                "CHECK",
                &["x"],
                MacroBody::Statement(Stmt::new(Kind::Block(vec![guarded]))),
            ),
            define("LOOP", &["v", "n"], MacroBody::Loop { from: 0, step: 1 }),
            define("WHEN", &["x"], MacroBody::When(x())),
            define("BOTH", &[], MacroBody::Operator(both)),
        ]
    }

    fn body(&mut self) -> Vec<Stmt> {
        self.scopes.truncate(1);
        self.has_out = self.choices.below(2) == 1;
        let mut body = self.list(0);
        let answer = self.expr(1);
        if self.has_out {
            body.push(Stmt::new(Kind::Label("out".to_owned())));
        }
        // What was computed shows, or most edits would go unnoticed.
        for name in GLOBALS {
            let shown = vec![Expr::name(name)];
            let call = What::Call("emit".to_owned(), shown);
            body.push(Stmt::new(Kind::Expression(Expr::new(call))));
        }
        let last = Stmt::new(Kind::Return(answer));
        body.push(last);
        body
    }

    fn list(&mut self, depth: usize) -> Vec<Stmt> {
        let count = 1 + self.choices.below(4);
        let mut list = Vec::new();
        for _ in 0..count {
            list.extend(self.stmts(depth));
        }
        list
    }

    fn scoped(&mut self, depth: usize) -> Vec<Stmt> {
        self.scopes.push(Vec::new());
        let list = self.list(depth);
        self.scopes.pop();
        list
    }

    fn looped(&mut self, depth: usize) -> Vec<Stmt> {
        self.loops += 1;
        self.breakable += 1;
        let body = self.scoped(depth);
        self.loops -= 1;
        self.breakable -= 1;
        body
    }

    fn emit(&mut self) -> Stmt {
        let value = self.expr(1);
        Stmt::new(Kind::Expression(Expr::new(What::Call(
            "emit".to_owned(),
            vec![value],
        ))))
    }

    /// A statement, or two that belong together.
    pub(crate) fn stmts(&mut self, depth: usize) -> Vec<Stmt> {
        let simple = 6;
        let count = if depth < DEEPEST { 16 } else { simple };
        let kind = match self.choices.below(count) {
            0 => return vec![self.emit()],
            1 => {
                let name = self.variable();
                let value = self.expr(1);
                Kind::Expression(Expr::assign(&name, value))
            }
            2 => return self.declaration(),
            3 => return self.jump(),
            4 => Kind::Expression(self.expr(2)),
            5 if self.check == 1 && !self.has_out => return vec![self.emit()],
            5 if self.check == 2 && self.breakable == 0 => return vec![self.emit()],
            5 if self.check == 3 && self.loops == 0 => return vec![self.emit()],
            5 => {
                let argument = self.expr(1);
                Kind::Macro("CHECK".to_owned(), vec![argument])
            }
            6 | 7 => {
                let condition = self.expr(2);
                let one = self.scoped(depth + 1);
                let two = match self.choices.below(2) {
                    0 => Vec::new(),
                    _ => self.scoped(depth + 1),
                };
                Kind::If(condition, one, two)
            }
            8 => return self.counted(depth),
            9 => {
                let name = self.name("i");
                self.scopes.push(vec![name.clone()]);
                let bound = Expr::constant(1 + self.choices.below(3) as i32);
                let mut condition = Expr::binary(Operator::Less, Expr::name(&name), bound);
                if self.choices.one_in(3) {
                    condition = Expr::binary(Operator::And, condition, self.expr(1));
                }
                let body = self.looped(depth + 1);
                self.scopes.pop();
                let next = Expr::binary(Operator::Add, Expr::name(&name), Expr::constant(1));
                Kind::For(Box::new(For {
                    start: Expr::constant(0),
                    condition,
                    update: Expr::assign(&name, next),
                    body,
                    declares: Some(name),
                }))
            }
            10 => self.switch(depth),
            11 => Kind::Block(self.scoped(depth + 1)),
            12 => {
                let condition = match self.choices.below(3) {
                    0 => Condition::Defined("FLAG".to_owned()),
                    1 => Condition::NotDefined("FLAG".to_owned()),
                    _ => Condition::Above("FLAG".to_owned(), 1),
                };
                // Not a block in C; names that only one branch declares are not mentioned behind it.
                let one = self.scoped(depth + 1);
                let two = match self.choices.below(2) {
                    0 => Vec::new(),
                    _ => self.scoped(depth + 1),
                };
                Kind::Preprocessor(condition, one, two)
            }
            13 => {
                let argument = self.expr(2);
                let body = self.scoped(depth + 1);
                Kind::Head("WHEN".to_owned(), vec![argument], body)
            }
            14 => {
                let name = self.name("v");
                self.declare(&name);
                let bound = Expr::constant(1 + self.choices.below(3) as i32);
                let body = self.looped(depth + 1);
                let arguments = vec![Expr::name(&name), bound];
                return vec![
                    Stmt::declare(&name, None),
                    Stmt::new(Kind::Head("LOOP".to_owned(), arguments, body)),
                ];
            }
            _ => {
                self.fresh += 1;
                let label = format!("l{}", self.fresh);
                let condition = self.expr(1);
                let jump = Stmt::new(Kind::Goto(label.clone()));
                let mut list = vec![Stmt::new(Kind::If(condition, vec![jump], Vec::new()))];
                list.extend(self.stmts(depth + 1));
                list.push(Stmt::new(Kind::Label(label)));
                return list;
            }
        };
        vec![Stmt::new(kind)]
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn declare(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.to_owned());
        }
    }

    fn declaration(&mut self) -> Vec<Stmt> {
        let name = (*self.choices.among(&LOCALS)).to_owned();
        let here = self.scopes.last();
        if here.is_some_and(|scope| scope.contains(&name)) {
            return vec![self.emit()];
        }
        let value = self.expr(1);
        self.declare(&name);
        match self.choices.below(4) {
            0 => vec![
                Stmt::declare(&name, None),
                Stmt::new(Kind::Expression(Expr::assign(&name, value))),
            ],
            1 => {
                let constant = Expr::constant(self.choices.below(4) as i32);
                let mut stmt = Stmt::declare(&name, Some(constant));
                if let Kind::Declare(declaration) = &mut stmt.kind {
                    declaration.is_static = true;
                }
                vec![stmt]
            }
            _ => vec![Stmt::declare(&name, Some(value))],
        }
    }

    fn jump(&mut self) -> Vec<Stmt> {
        let jump = match self.choices.below(4) {
            0 if self.breakable > 0 => Kind::Break,
            1 if self.loops > 0 => Kind::Continue,
            2 if self.has_out => Kind::Goto("out".to_owned()),
            3 => Kind::Return(self.expr(1)),
            _ => return vec![self.emit()],
        };
        let condition = self.expr(1);
        vec![Stmt::new(Kind::If(
            condition,
            vec![Stmt::new(jump)],
            Vec::new(),
        ))]
    }

    /// `while` or `do` with a counter of its own.
    fn counted(&mut self, depth: usize) -> Vec<Stmt> {
        let name = self.name("w");
        let first = Expr::constant(1 + self.choices.below(3) as i32);
        self.declare(&name);
        let less = Expr::binary(Operator::Subtract, Expr::name(&name), Expr::constant(1));
        let counts = Expr::assign(&name, less);
        let mut condition = Expr::binary(Operator::Greater, counts, Expr::constant(0));
        if self.choices.one_in(3) {
            condition = Expr::binary(Operator::And, condition, self.expr(1));
        }
        let is_do = self.choices.below(2) == 1;
        let body = self.looped(depth + 1);
        let kind = if is_do {
            Kind::Do(body, condition)
        } else {
            Kind::While(condition, body)
        };
        vec![Stmt::declare(&name, Some(first)), Stmt::new(kind)]
    }

    fn switch(&mut self, depth: usize) -> Kind {
        let value = self.expr(1);
        let mut left = vec!["0", "1", "2", "FIVE", "RED", "GREEN", "BLUE"];
        if self.choices.below(2) == 0 {
            left.retain(|label| label.parse::<i32>().is_ok() || *label == "FIVE");
        } else {
            left.retain(|label| label.parse::<i32>().is_err());
        }
        let count = 1 + self.choices.below(3);
        let mut arms = Vec::new();
        self.breakable += 1;
        self.scopes.push(Vec::new());
        let mut has_default = false;
        for _ in 0..count {
            let mut labels = Vec::new();
            if !has_default && self.choices.one_in(4) {
                has_default = true;
                labels.push(CaseOf::Default);
            } else if !left.is_empty() {
                let at = self.choices.below(left.len());
                labels.push(CaseOf::Value(left.remove(at).to_owned(), None));
            }
            self.scopes.push(Vec::new());
            let mut body = self.list(depth + 1);
            self.scopes.pop();
            if self.choices.below(2) == 0 {
                body.push(Stmt::new(Kind::Break));
            }
            arms.push(Arm { labels, body });
        }
        self.scopes.pop();
        self.breakable -= 1;
        Kind::Switch(value, arms)
    }

    fn variable(&mut self) -> String {
        let mut names: Vec<String> = GLOBALS.iter().map(|name| (*name).to_owned()).collect();
        let locals = self.scopes.iter().flatten();
        // Counters are left alone, or loops would never end.
        names.extend(
            locals
                .filter(|name| !name.starts_with(['w', 'i', 'v']))
                .cloned(),
        );
        self.choices.among(&names).clone()
    }

    /// An expression; the first choices are the simplest.
    pub(crate) fn expr(&mut self, depth: usize) -> Expr {
        let kinds = if depth == 0 { 5 } else { 14 };
        match self.choices.below(kinds) {
            0 => Expr::constant(self.choices.below(6) as i32),
            1 | 2 => {
                let mut names: Vec<String> =
                    GLOBALS.iter().map(|name| (*name).to_owned()).collect();
                names.extend(self.scopes.iter().flatten().cloned());
                Expr::name(&self.choices.among(&names).clone())
            }
            3 => match self.choices.below(4) {
                0 => Expr::name(ENUMERATORS[self.choices.below(3)]),
                1 => Expr::name("FIVE"),
                2 => Expr::name("NEXT"),
                _ => Expr::new(What::Member((*self.choices.among(&MEMBERS)).to_owned())),
            },
            4 => Expr::constant(self.choices.below(300) as i32),
            5 | 6 => {
                let operator = *self.choices.among(&[
                    Operator::Add,
                    Operator::Subtract,
                    Operator::Multiply,
                    Operator::Less,
                    Operator::Greater,
                    Operator::Equal,
                    Operator::Unequal,
                    Operator::Comma,
                ]);
                Expr::binary(operator, self.expr(depth - 1), self.expr(depth - 1))
            }
            7 => Expr::binary(Operator::And, self.expr(depth - 1), self.expr(depth - 1)),
            8 => Expr::binary(Operator::Or, self.expr(depth - 1), self.expr(depth - 1)),
            9 => Expr::new(What::Not(Box::new(self.expr(depth - 1)))),
            10 => Expr::new(What::Conditional(
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
            )),
            11 => {
                let arguments = vec![self.expr(depth - 1), self.expr(depth - 1)];
                if self.callees.is_empty() {
                    return Expr::new(What::Macro("EITHER".to_owned(), arguments));
                }
                let callee = self.choices.among(&self.callees).clone();
                Expr::new(What::Call(callee, arguments))
            }
            12 => match self.choices.below(3) {
                0 => Expr::new(What::Macro("TWICE".to_owned(), vec![self.expr(depth - 1)])),
                1 => Expr::new(What::Macro(
                    "EITHER".to_owned(),
                    vec![self.expr(depth - 1), self.expr(depth - 1)],
                )),
                _ => Expr::binary(Operator::Both, self.expr(depth - 1), self.expr(depth - 1)),
            },
            _ => {
                let name = self.variable();
                Expr::assign(&name, self.expr(depth - 1))
            }
        }
    }
}
