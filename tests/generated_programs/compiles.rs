//! What a compiler would refuse: an edit that leads there is no edit.

use crate::ast::{CaseOf, Expr, Kind, PARAMETERS, Program, Stmt, What};
use crate::expand::{constant, enumerators};

/// Whether an expanded program is a C program.
pub(crate) fn compiles(program: &Program) -> bool {
    let mut names: Vec<&str> = Vec::new();
    names.extend(
        program
            .functions
            .iter()
            .map(|function| function.name.as_str()),
    );
    names.extend(program.globals.iter().map(|(name, ..)| name.as_str()));
    names.extend(program.enumerators.iter().map(|(name, _)| name.as_str()));
    program.functions.iter().all(|function| {
        let mut checker = Checker {
            program,
            enumerators: enumerators(program),
            scopes: vec![PARAMETERS.iter().map(|name| (*name).to_owned()).collect()],
            labels: Vec::new(),
            defined: Vec::new(),
            loops: 0,
            breakable: 0,
        };
        checker.list(&function.body) && is_unique(&checker.defined)
    }) && is_unique(&names)
}

fn is_unique<T: Ord>(things: &[T]) -> bool {
    let mut sorted: Vec<&T> = things.iter().collect();
    sorted.sort();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

struct Checker<'a> {
    program: &'a Program,
    enumerators: Vec<(String, i32)>,
    scopes: Vec<Vec<String>>,
    /// The labels that a `goto` here can reach.
    labels: Vec<Vec<&'a str>>,
    defined: Vec<&'a str>,
    loops: usize,
    breakable: usize,
}

impl<'a> Checker<'a> {
    fn scoped(&mut self, stmts: &'a [Stmt]) -> bool {
        self.scopes.push(Vec::new());
        let fine = self.list(stmts);
        self.scopes.pop();
        fine
    }

    fn list(&mut self, stmts: &'a [Stmt]) -> bool {
        let labels: Vec<&str> = stmts
            .iter()
            .filter_map(|stmt| match &stmt.kind {
                Kind::Label(label) => Some(label.as_str()),
                _ => None,
            })
            .collect();
        self.defined.extend(&labels);
        self.labels.push(labels);
        let fine = stmts.iter().all(|stmt| self.stmt(stmt));
        self.labels.pop();
        fine
    }

    fn looped(&mut self, stmts: &'a [Stmt]) -> bool {
        self.loops += 1;
        self.breakable += 1;
        let fine = self.scoped(stmts);
        self.loops -= 1;
        self.breakable -= 1;
        fine
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> bool {
        match &stmt.kind {
            Kind::Declare(declaration) => {
                // A compiler would let a variable be initialised with itself; nobody else should.
                let fine = declaration.value.as_ref().is_none_or(|value| {
                    self.expr(value)
                        && !mentions(value, &declaration.name)
                        && (!declaration.is_static || constant(value, &self.enumerators).is_some())
                });
                fine && self.declare(&declaration.name)
            }
            Kind::Expression(value) | Kind::Return(value) => self.expr(value),
            Kind::If(condition, one, two) => {
                self.expr(condition) && self.scoped(one) && self.scoped(two)
            }
            Kind::While(condition, body) | Kind::Do(body, condition) => {
                self.expr(condition) && self.looped(body)
            }
            Kind::For(inner) => {
                self.scopes.push(Vec::new());
                let fine = self.expr(&inner.start)
                    && inner
                        .declares
                        .as_ref()
                        .is_none_or(|name| self.declare(name))
                    && self.expr(&inner.condition)
                    && self.expr(&inner.update)
                    && self.looped(&inner.body);
                self.scopes.pop();
                fine
            }
            Kind::ExpandedHead(inner, is_loop) => {
                self.expr(&inner.start)
                    && self.expr(&inner.condition)
                    && self.expr(&inner.update)
                    && if *is_loop {
                        self.looped(&inner.body)
                    } else {
                        self.scoped(&inner.body)
                    }
            }
            Kind::Switch(value, arms) => {
                let mut values = Vec::new();
                for label in arms.iter().flat_map(|arm| &arm.labels) {
                    match label {
                        CaseOf::Default => values.push(None),
                        CaseOf::Value(text, value) => {
                            let value = value.as_ref();
                            let found = value.and_then(|value| constant(value, &self.enumerators));
                            // A local name would hide the enumerator.
                            if found.is_none() || self.scopes.iter().flatten().any(|n| n == text) {
                                return false;
                            }
                            values.push(found);
                        }
                    }
                }
                self.breakable += 1;
                self.scopes.push(Vec::new());
                let mut fine = is_unique(&values) && self.expr(value);
                let labels: Vec<&str> = arms
                    .iter()
                    .flat_map(|arm| &arm.body)
                    .filter_map(|stmt| match &stmt.kind {
                        Kind::Label(label) => Some(label.as_str()),
                        _ => None,
                    })
                    .collect();
                self.labels.push(labels);
                fine = fine && arms.iter().all(|arm| self.list(&arm.body));
                self.labels.pop();
                self.scopes.pop();
                self.breakable -= 1;
                fine
            }
            Kind::Break => self.breakable > 0,
            Kind::Continue => self.loops > 0,
            Kind::Goto(label) => self.labels.iter().flatten().any(|other| other == label),
            Kind::Block(body) => self.scoped(body),
            Kind::Expanded(inner) => self.stmt(inner),
            Kind::Label(_) | Kind::Directive(_) => true,
            Kind::Macro(..) | Kind::Head(..) | Kind::Preprocessor(..) => false,
        }
    }

    fn declare(&mut self, name: &str) -> bool {
        let parameters = self.scopes.len() == 1 && PARAMETERS.contains(&name);
        let Some(scope) = self.scopes.last_mut() else {
            return false;
        };
        if parameters || scope.iter().any(|other| other == name) {
            return false;
        }
        scope.push(name.to_owned());
        true
    }

    fn is_variable(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|other| other == name)
            || self.program.globals.iter().any(|(other, ..)| other == name)
    }

    fn expr(&self, expr: &Expr) -> bool {
        match &expr.what {
            What::Constant(_) => true,
            What::Name(name) => {
                self.is_variable(name) || self.enumerators.iter().any(|(other, _)| other == name)
            }
            What::Member(name) => self.program.members.iter().any(|(other, ..)| other == name),
            What::Binary(_, left, right) => self.expr(left) && self.expr(right),
            What::Not(inner) | What::Expanded(inner) => self.expr(inner),
            What::Conditional(condition, one, two) => {
                self.expr(condition) && self.expr(one) && self.expr(two)
            }
            What::Assign(name, value) => self.is_variable(name) && self.expr(value),
            What::Call(name, arguments) => {
                let functions = &self.program.functions;
                let fits = match name.as_str() {
                    "emit" => arguments.len() == 1,
                    name => functions.iter().any(|f| f.name == name) && arguments.len() == 2,
                };
                fits && arguments.iter().all(|argument| self.expr(argument))
            }
            What::Macro(..) => false,
        }
    }
}

fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.what {
        What::Name(other) => other == name,
        What::Constant(_) | What::Member(_) => false,
        What::Binary(_, left, right) => mentions(left, name) || mentions(right, name),
        What::Not(inner) | What::Expanded(inner) => mentions(inner, name),
        What::Conditional(condition, one, two) => [condition, one, two]
            .iter()
            .any(|part| mentions(part, name)),
        What::Assign(target, value) => target == name || mentions(value, name),
        What::Call(_, arguments) | What::Macro(_, arguments) => {
            arguments.iter().any(|argument| mentions(argument, name))
        }
    }
}
