//! Ways through a program: every statement list and every expression in it.

use crate::ast::{Expr, Kind, Macro, MacroBody, Program, Stmt, What};

pub(crate) fn each_list(program: &mut Program, act: &mut dyn FnMut(&mut Vec<Stmt>)) {
    for function in &mut program.functions {
        list(&mut function.body, act);
    }
}

fn list(stmts: &mut Vec<Stmt>, act: &mut dyn FnMut(&mut Vec<Stmt>)) {
    act(stmts);
    for stmt in stmts {
        for inner in lists_in(stmt) {
            list(inner, act);
        }
    }
}

pub(crate) fn lists_in(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match &mut stmt.kind {
        Kind::If(_, one, two) | Kind::Preprocessor(_, one, two) => vec![one, two],
        Kind::While(_, body) | Kind::Do(body, _) | Kind::Block(body) | Kind::Head(_, _, body) => {
            vec![body]
        }
        Kind::For(inner) => vec![&mut inner.body],
        Kind::Switch(_, arms) => arms.iter_mut().map(|arm| &mut arm.body).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn each_stmt(program: &mut Program, act: &mut dyn FnMut(&mut Stmt)) {
    each_list(program, &mut |list| list.iter_mut().for_each(&mut *act));
}

/// The expressions of the functions, not those of the macros.
pub(crate) fn each_expr(program: &mut Program, act: &mut dyn FnMut(&mut Expr)) {
    each_stmt(program, &mut |stmt| {
        for expr in exprs_in(stmt) {
            inside(expr, act);
        }
    });
}

pub(crate) fn each_macro_expr(definition: &mut Macro, act: &mut dyn FnMut(&mut Expr)) {
    match &mut definition.body {
        MacroBody::Value(expr) | MacroBody::When(expr) => inside(expr, act),
        MacroBody::Statement(stmt) => in_stmt(stmt, act),
        _ => {}
    }
}

fn in_stmt(stmt: &mut Stmt, act: &mut dyn FnMut(&mut Expr)) {
    for expr in exprs_in(stmt) {
        inside(expr, act);
    }
    for inner in lists_in(stmt) {
        for stmt in inner {
            in_stmt(stmt, act);
        }
    }
}

fn exprs_in(stmt: &mut Stmt) -> Vec<&mut Expr> {
    match &mut stmt.kind {
        Kind::Declare(declaration) => declaration.value.iter_mut().collect(),
        Kind::Expression(expr)
        | Kind::If(expr, ..)
        | Kind::While(expr, _)
        | Kind::Do(_, expr)
        | Kind::Switch(expr, _)
        | Kind::Return(expr) => vec![expr],
        Kind::For(inner) => vec![&mut inner.start, &mut inner.condition, &mut inner.update],
        Kind::Macro(_, arguments) | Kind::Head(_, arguments, _) => arguments.iter_mut().collect(),
        _ => Vec::new(),
    }
}

fn inside(expr: &mut Expr, act: &mut dyn FnMut(&mut Expr)) {
    act(expr);
    match &mut expr.what {
        What::Binary(_, left, right) => {
            inside(left, act);
            inside(right, act);
        }
        What::Not(inner) | What::Assign(_, inner) => inside(inner, act),
        What::Conditional(condition, one, two) => {
            inside(condition, act);
            inside(one, act);
            inside(two, act);
        }
        What::Call(_, arguments) | What::Macro(_, arguments) => {
            arguments
                .iter_mut()
                .for_each(|argument| inside(argument, act));
        }
        _ => {}
    }
}
