//! The preprocessor: macros give way to what they stand for, `#if` to the branch that it takes.

use crate::ast::{
    Arm, CaseOf, Condition, Expr, For, Kind, Macro, MacroBody, Operator, Program, Stmt, What,
};

/// Expands a program, or answers nothing if a macro is used that does not fit.
pub(crate) fn expand(program: &Program) -> Option<Program> {
    let expander = Expander {
        macros: &program.macros,
    };
    let mut expanded = program.clone();
    for function in &mut expanded.functions {
        function.body = expander.list(&function.body, &[])?;
    }
    Some(expanded)
}

/// The arguments of the macro around, by parameter.
type Arguments<'a> = &'a [(String, Expr)];

struct Expander<'a> {
    macros: &'a [Macro],
}

impl Expander<'_> {
    fn find(&self, name: &str) -> Option<&Macro> {
        self.macros.iter().find(|definition| {
            definition.name == name && !matches!(definition.body, MacroBody::Missing)
        })
    }

    fn bind(
        &self,
        definition: &Macro,
        given: &[Expr],
        around: Arguments<'_>,
    ) -> Option<Vec<(String, Expr)>> {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        if parameters.len() != given.len() {
            return None;
        }
        parameters
            .iter()
            .zip(given)
            .map(|(name, value)| Some((name.clone(), self.expr(value, around)?)))
            .collect()
    }

    fn expr(&self, expr: &Expr, around: Arguments<'_>) -> Option<Expr> {
        let boxed = |inner: &Expr| Some(Box::new(self.expr(inner, around)?));
        let what = match &expr.what {
            What::Name(name) => {
                if let Some((_, value)) = around.iter().find(|(parameter, _)| parameter == name) {
                    return Some(value.clone());
                }
                match self.find(name).map(|found| &found.body) {
                    Some(MacroBody::Value(body)) => What::Expanded(Box::new(self.expr(body, &[])?)),
                    Some(_) => return None,
                    None => What::Name(name.clone()),
                }
            }
            What::Binary(Operator::Both, left, right) => {
                let operator = match self.find("BOTH")?.body {
                    MacroBody::Operator(Operator::Or) => Operator::BothOr,
                    _ => Operator::BothAnd,
                };
                What::Binary(operator, boxed(left)?, boxed(right)?)
            }
            What::Binary(operator, left, right) => {
                What::Binary(*operator, boxed(left)?, boxed(right)?)
            }
            What::Not(inner) => What::Not(boxed(inner)?),
            What::Conditional(condition, one, two) => {
                What::Conditional(boxed(condition)?, boxed(one)?, boxed(two)?)
            }
            What::Assign(name, value) => What::Assign(name.clone(), boxed(value)?),
            What::Call(name, arguments) => {
                let arguments: Option<Vec<Expr>> = arguments
                    .iter()
                    .map(|argument| self.expr(argument, around))
                    .collect();
                What::Call(name.clone(), arguments?)
            }
            What::Macro(name, given) => {
                let definition = self.find(name)?;
                let arguments = self.bind(definition, given, around)?;
                match &definition.body {
                    MacroBody::Value(body) => {
                        What::Expanded(Box::new(self.expr(body, &arguments)?))
                    }
                    _ => return None,
                }
            }
            other => other.clone(),
        };
        Some(Expr { what, ..*expr })
    }

    fn list(&self, stmts: &[Stmt], around: Arguments<'_>) -> Option<Vec<Stmt>> {
        let mut expanded = Vec::new();
        for stmt in stmts {
            if let Kind::Preprocessor(condition, one, two) = &stmt.kind {
                let holds = self.holds(condition);
                expanded.push(Stmt {
                    kind: Kind::Directive(holds),
                    line: stmt.line,
                });
                // What is not compiled must be in order all the same: an edit may bring it back.
                let (taken, other) = if holds { (one, two) } else { (two, one) };
                self.list(other, around)?;
                expanded.extend(self.list(taken, around)?);
            } else {
                expanded.push(self.stmt(stmt, around)?);
            }
        }
        Some(expanded)
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Defined(name) => self.find(name).is_some(),
            Condition::NotDefined(name) => self.find(name).is_none(),
            Condition::Above(name, value) => match self.find(name).map(|found| &found.body) {
                Some(MacroBody::Value(Expr {
                    what: What::Constant(defined),
                    ..
                })) => defined > value,
                _ => 0 > *value,
            },
        }
    }

    fn stmt(&self, stmt: &Stmt, around: Arguments<'_>) -> Option<Stmt> {
        let expr = |inner: &Expr| self.expr(inner, around);
        let list = |inner: &[Stmt]| self.list(inner, around);
        let kind = match &stmt.kind {
            Kind::Declare(declaration) => {
                let mut declaration = declaration.clone();
                if let Some(value) = &mut declaration.value {
                    *value = expr(value)?;
                }
                Kind::Declare(declaration)
            }
            Kind::Expression(value) => Kind::Expression(expr(value)?),
            Kind::If(condition, one, two) => Kind::If(expr(condition)?, list(one)?, list(two)?),
            Kind::While(condition, body) => Kind::While(expr(condition)?, list(body)?),
            Kind::Do(body, condition) => Kind::Do(list(body)?, expr(condition)?),
            Kind::For(inner) => Kind::For(Box::new(For {
                declares: inner.declares.clone(),
                start: expr(&inner.start)?,
                condition: expr(&inner.condition)?,
                update: expr(&inner.update)?,
                body: list(&inner.body)?,
            })),
            Kind::Switch(value, arms) => {
                let arms: Option<Vec<Arm>> = arms
                    .iter()
                    .map(|arm| {
                        let labels = arm.labels.iter().map(|label| self.case(label)).collect();
                        Some(Arm {
                            labels,
                            body: list(&arm.body)?,
                        })
                    })
                    .collect();
                Kind::Switch(expr(value)?, arms?)
            }
            Kind::Return(value) => Kind::Return(expr(value)?),
            Kind::Block(body) => Kind::Block(list(body)?),
            Kind::Macro(name, given) => {
                let definition = self.find(name)?;
                let arguments = self.bind(definition, given, around)?;
                match &definition.body {
                    MacroBody::Statement(body) => {
                        Kind::Expanded(Box::new(self.stmt(body, &arguments)?))
                    }
                    _ => return None,
                }
            }
            Kind::Head(name, given, body) => {
                let definition = self.find(name)?;
                let arguments = self.bind(definition, given, around)?;
                let body = list(body)?;
                self.head(definition, &arguments, body)?
            }
            other => other.clone(),
        };
        Some(Stmt {
            kind,
            line: stmt.line,
        })
    }

    fn head(&self, definition: &Macro, arguments: Arguments<'_>, body: Vec<Stmt>) -> Option<Kind> {
        match &definition.body {
            MacroBody::Loop { from, step } => {
                let [(_, variable), (_, bound)] = arguments else {
                    return None;
                };
                let What::Name(name) = &variable.what else {
                    return None;
                };
                let read = Expr::name(name);
                let step = Expr::binary(Operator::Add, read.clone(), Expr::constant(*step));
                let inner = For {
                    declares: None,
                    start: Expr::assign(name, Expr::constant(*from)),
                    condition: Expr::binary(Operator::Less, read, bound.clone()),
                    update: Expr::assign(name, step),
                    body,
                };
                Some(Kind::ExpandedHead(Box::new(inner), true))
            }
            MacroBody::When(condition) => {
                let inner = For {
                    condition: self.expr(condition, arguments)?,
                    body,
                    ..For::default()
                };
                Some(Kind::ExpandedHead(Box::new(inner), false))
            }
            _ => None,
        }
    }

    fn case(&self, label: &CaseOf) -> CaseOf {
        match label {
            CaseOf::Default => CaseOf::Default,
            CaseOf::Value(text, _) => {
                let value = match text.parse() {
                    Ok(number) => Some(Expr::constant(number)),
                    Err(_) => self.expr(&Expr::name(text), &[]),
                };
                CaseOf::Value(text.clone(), value)
            }
        }
    }
}

/// The value of an expression that the compiler can evaluate.
pub(crate) fn constant(expr: &Expr, enumerators: &[(String, i32)]) -> Option<i32> {
    match &expr.what {
        What::Constant(value) => Some(*value),
        What::Name(name) => enumerators
            .iter()
            .find(|(enumerator, _)| enumerator == name)
            .map(|(_, value)| *value),
        What::Expanded(inner) => constant(inner, enumerators),
        What::Binary(operator, left, right) => {
            let (left, right) = (constant(left, enumerators)?, constant(right, enumerators)?);
            match operator {
                Operator::Add => Some(left.wrapping_add(right)),
                Operator::Subtract => Some(left.wrapping_sub(right)),
                Operator::Multiply => Some(left.wrapping_mul(right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The enumerators with the values that C gives them.
pub(crate) fn enumerators(program: &Program) -> Vec<(String, i32)> {
    let mut next = 0;
    program
        .enumerators
        .iter()
        .map(|(name, value)| {
            let value = value.unwrap_or(next);
            next = value + 1;
            (name.clone(), value)
        })
        .collect()
}
