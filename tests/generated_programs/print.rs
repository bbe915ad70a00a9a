//! A program as text, every operand on a line of its own, so that a line says what was evaluated.

use crate::ast::{
    CaseOf, Condition, Expr, Function, Kind, Macro, MacroBody, Operator, PARAMETERS, Program, Stmt,
    Type, What,
};

/// Prints a program and notes in it on which line everything begins.
pub(crate) fn print(program: &mut Program) -> String {
    let mut printer = Printer::default();
    for definition in &mut program.macros {
        printer.define(definition);
    }
    if !program.enumerators.is_empty() {
        printer.put("enum color {");
        for (name, value) in &program.enumerators {
            match value {
                Some(value) => printer.put(&format!("{name} = {value},")),
                None => printer.put(&format!("{name},")),
            };
        }
        printer.put("};");
    }
    printer.put("void emit(int value);");
    for (name, kind, value) in &program.globals {
        printer.put(&format!("{} {name} = {value};", word(*kind)));
    }
    if !program.members.is_empty() {
        printer.put("struct pair {");
        for (name, kind, _) in &program.members {
            printer.put(&format!("{} {name};", word(*kind)));
        }
        printer.put("};");
        let values: Vec<String> = program
            .members
            .iter()
            .map(|(_, _, value)| value.to_string())
            .collect();
        printer.put(&format!("struct pair s = {{ {} }};", values.join(", ")));
    }
    let mut prototypes: Vec<String> = program.functions.iter().map(signature).collect();
    prototypes.sort();
    for prototype in prototypes {
        printer.put(&format!("{prototype};"));
    }
    for function in &mut program.functions {
        function.line = printer.put(&signature(function));
        printer.put("{");
        printer.list(&mut function.body);
        printer.put("}");
    }
    printer.text
}

fn signature(function: &Function) -> String {
    let [one, two] = PARAMETERS;
    let linkage = if function.is_static { "static " } else { "" };
    format!("{linkage}int {}(int {one}, int {two})", function.name)
}

fn word(kind: Type) -> &'static str {
    match kind {
        Type::Int => "int",
        Type::UnsignedChar => "unsigned char",
    }
}

#[derive(Default)]
struct Printer {
    text: String,
    lines: u32,
    /// Inside a `#define`: everything on one line, which no execution ever sees.
    inline: bool,
}

impl Printer {
    /// Puts a token and answers its line.
    fn put(&mut self, token: &str) -> u32 {
        self.text.push_str(token);
        if self.inline {
            self.text.push(' ');
            return 0;
        }
        self.text.push('\n');
        self.lines += 1;
        self.lines
    }

    fn define(&mut self, definition: &mut Macro) {
        if matches!(definition.body, MacroBody::Missing) {
            return;
        }
        self.inline = true;
        let parameters = match &definition.parameters {
            Some(parameters) => format!("({})", parameters.join(", ")),
            None => String::new(),
        };
        self.put(&format!("#define {}{parameters}", definition.name));
        match &mut definition.body {
            MacroBody::Value(expr) => {
                self.expr(expr, false);
            }
            MacroBody::Statement(stmt) => self.stmt(stmt),
            MacroBody::Loop { from, step } => {
                self.put(&format!("for (v = {from}; v < (n); v = v + {step})"));
            }
            MacroBody::When(expr) => {
                self.put("if (");
                self.expr(expr, true);
                self.put(")");
            }
            MacroBody::Operator(operator) => {
                self.put(sign(*operator));
            }
            MacroBody::Missing => {}
        }
        self.inline = false;
        self.text.push('\n');
        self.lines += 1;
    }

    fn list(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn block(&mut self, stmts: &mut [Stmt]) {
        self.put("{");
        self.list(stmts);
        self.put("}");
    }

    /// A branch of an `if`: without braces where C needs none.
    fn branch(&mut self, stmts: &mut [Stmt]) {
        match stmts {
            [stmt]
                if matches!(
                    stmt.kind,
                    Kind::Expression(_) | Kind::Return(_) | Kind::Break | Kind::Goto(_)
                ) =>
            {
                self.stmt(stmt);
            }
            stmts => self.block(stmts),
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        stmt.line = if self.inline { 0 } else { self.lines + 1 };
        match &mut stmt.kind {
            Kind::Declare(declaration) => {
                let word = word(declaration.kind);
                let class = if declaration.is_static { "static " } else { "" };
                self.put(&format!("{class}{word} {}", declaration.name));
                if let Some(value) = &mut declaration.value {
                    self.put("=");
                    self.expr(value, false);
                }
                self.put(";");
            }
            Kind::Expression(expr) => {
                self.expr(expr, true);
                self.put(";");
            }
            Kind::If(condition, one, two) => {
                self.put("if (");
                self.expr(condition, true);
                self.put(")");
                self.branch(one);
                if !two.is_empty() {
                    self.put("else");
                    self.branch(two);
                }
            }
            Kind::While(condition, body) => {
                self.put("while (");
                self.expr(condition, true);
                self.put(")");
                self.block(body);
            }
            Kind::Do(body, condition) => {
                self.put("do");
                self.block(body);
                self.put("while (");
                self.expr(condition, true);
                self.put(");");
            }
            Kind::For(inner) => {
                self.put("for (");
                if let Some(name) = &inner.declares {
                    stmt.line = self.put(&format!("int {name}"));
                    self.put("=");
                    self.expr(&mut inner.start, false);
                } else {
                    self.expr(&mut inner.start, true);
                }
                self.put(";");
                self.expr(&mut inner.condition, true);
                self.put(";");
                self.expr(&mut inner.update, true);
                self.put(")");
                self.block(&mut inner.body);
            }
            Kind::Switch(value, arms) => {
                self.put("switch (");
                self.expr(value, true);
                self.put(")");
                self.put("{");
                for arm in arms {
                    for label in &arm.labels {
                        match label {
                            CaseOf::Value(value, _) => self.put(&format!("case {value}:")),
                            CaseOf::Default => self.put("default:"),
                        };
                    }
                    self.put(";");
                    self.list(&mut arm.body);
                }
                self.put("}");
            }
            Kind::Break => {
                self.put("break;");
            }
            Kind::Continue => {
                self.put("continue;");
            }
            Kind::Goto(label) => {
                self.put(&format!("goto {label};"));
            }
            Kind::Label(label) => {
                self.put(&format!("{label}:"));
                self.put(";");
            }
            Kind::Return(value) => {
                self.put("return");
                self.expr(value, true);
                self.put(";");
            }
            Kind::Block(body) => self.block(body),
            Kind::Macro(name, arguments) => {
                self.put(name);
                self.arguments(arguments);
                self.put(";");
            }
            Kind::Head(name, arguments, body) => {
                self.put(name);
                self.arguments(arguments);
                self.block(body);
            }
            Kind::Preprocessor(condition, one, two) => {
                let line = match condition {
                    Condition::Defined(name) => format!("#ifdef {name}"),
                    Condition::NotDefined(name) => format!("#ifndef {name}"),
                    Condition::Above(name, value) => format!("#if {name} > {value}"),
                };
                self.put(&line);
                self.list(one);
                if !two.is_empty() {
                    self.put("#else");
                    self.list(two);
                }
                self.put("#endif");
            }
            Kind::Directive(_) | Kind::Expanded(_) | Kind::ExpandedHead(..) => {}
        }
    }

    fn arguments(&mut self, arguments: &mut [Expr]) {
        self.put("(");
        for (index, argument) in arguments.iter_mut().enumerate() {
            if index > 0 {
                self.put(",");
            }
            self.expr(argument, false);
        }
        self.put(")");
    }

    /// An expression, in parentheses if it needs them and they are not there already.
    fn expr(&mut self, expr: &mut Expr, bare: bool) {
        let leaf = matches!(
            expr.what,
            What::Constant(_) | What::Name(_) | What::Member(_) | What::Call(..) | What::Macro(..)
        );
        if !bare && !leaf {
            expr.line = self.put("(");
        }
        let inner = self.lines + 1;
        match &mut expr.what {
            What::Constant(value) => {
                self.put(&value.to_string());
            }
            What::Name(name) => {
                self.put(name);
            }
            What::Member(name) => {
                self.put(&format!("s.{name}"));
            }
            What::Binary(operator, left, right) => {
                self.expr(left, false);
                self.put(sign(*operator));
                self.expr(right, false);
            }
            What::Not(argument) => {
                self.put("!");
                self.expr(argument, false);
            }
            What::Conditional(condition, one, two) => {
                self.expr(condition, false);
                self.put("?");
                self.expr(one, false);
                self.put(":");
                self.expr(two, false);
            }
            What::Assign(name, value) => {
                self.put(name);
                self.put("=");
                self.expr(value, false);
            }
            What::Call(name, arguments) | What::Macro(name, arguments) => {
                self.put(name);
                self.arguments(arguments);
            }
            What::Expanded(_) => {}
        }
        if !bare && !leaf {
            self.put(")");
        }
        if self.inline {
            (expr.line, expr.inner) = (0, 0);
        } else {
            expr.inner = inner;
            if bare || leaf {
                expr.line = inner;
            }
        }
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Less => "<",
        Operator::Greater => ">",
        Operator::Equal => "==",
        Operator::Unequal => "!=",
        Operator::Comma => ",",
        Operator::And => "&&",
        Operator::Or => "||",
        Operator::Both | Operator::BothAnd | Operator::BothOr => "BOTH",
    }
}
