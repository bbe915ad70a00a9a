//! Random edits of a program.

use crate::ast::{
    Arm, CaseOf, Condition, Expr, Kind, MacroBody, Operator, Program, Stmt, Type, What,
};
use crate::choices::Choices;
use crate::generate::{GLOBALS, Generator};
use crate::visit::{each_expr, each_list, each_macro_expr, each_stmt, lists_in};

const KINDS: usize = 26;

/// Changes something, if there is something of the kind that is chosen.
pub(crate) fn edit(program: &mut Program, choices: &mut Choices<'_>) {
    match choices.below(KINDS) {
        0 | 1 => constant(program, choices),
        2 | 3 => operator(program, choices),
        4 => expression(program, choices),
        5 => negate(program, choices),
        6 | 7 => delete(program, choices),
        8 | 9 => insert(program, choices),
        10 => duplicate(program, choices),
        11 => swap(program, choices),
        12 | 13 => macro_body(program, choices),
        14 => enumerators(program, choices),
        15 => global(program, choices),
        16 | 17 => declaration(program, choices),
        18 => shadow(program, choices),
        19 => block(program, choices),
        20 | 21 => arms(program, choices),
        22 => functions(program, choices),
        23 => name(program, choices),
        24 => condition(program, choices),
        _ => member(program, choices),
    }
}

/// A way through a program that meets everything of a kind.
type Visit<T> = fn(&mut Program, &mut dyn FnMut(&mut T));

/// Acts on the chosen one of the things that `each` visits and `is` accepts.
fn on_one<T>(
    program: &mut Program,
    choices: &mut Choices<'_>,
    each: Visit<T>,
    is: impl Fn(&mut T) -> bool,
    act: impl FnOnce(&mut T, &mut Choices<'_>),
) {
    let mut count = 0;
    each(program, &mut |thing| count += usize::from(is(thing)));
    if count == 0 {
        return;
    }
    let chosen = choices.below(count);
    let mut at = 0;
    let mut act = Some(act);
    each(program, &mut |thing| {
        if is(thing) {
            if at == chosen
                && let Some(act) = act.take()
            {
                act(thing, choices);
            }
            at += 1;
        }
    });
}

fn constant(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_expr,
        |expr| matches!(expr.what, What::Constant(_)),
        change_constant,
    );
}

fn change_constant(expr: &mut Expr, choices: &mut Choices<'_>) {
    if let What::Constant(value) = &mut expr.what {
        *value = match choices.below(4) {
            0 => *value + 1,
            1 => (*value - 1).max(0),
            2 => 0,
            _ => *value + 256,
        };
    }
}

fn operator(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_expr,
        |expr| matches!(expr.what, What::Binary(..)),
        change_operator,
    );
}

fn change_operator(expr: &mut Expr, choices: &mut Choices<'_>) {
    if let What::Binary(operator, left, right) = &mut expr.what {
        *operator = match *operator {
            Operator::And => Operator::Or,
            Operator::Or => Operator::And,
            Operator::Less => Operator::Greater,
            Operator::Greater => Operator::Less,
            Operator::Equal => Operator::Unequal,
            Operator::Unequal => Operator::Equal,
            Operator::Add => Operator::Subtract,
            Operator::Subtract => Operator::Multiply,
            Operator::Multiply => Operator::Add,
            _ => {
                std::mem::swap(left, right);
                return;
            }
        };
        if choices.one_in(4) {
            std::mem::swap(left, right);
        }
    }
}

fn callees(program: &Program) -> Vec<String> {
    // Only the last function is certain not to call back.
    program
        .functions
        .last()
        .filter(|_| program.functions.len() > 1)
        .map(|function| function.name.clone())
        .into_iter()
        .collect()
}

fn expression(program: &mut Program, choices: &mut Choices<'_>) {
    let callees = callees(program);
    on_one(
        program,
        choices,
        each_expr,
        |_| true,
        |expr, choices| *expr = Generator::new(choices, callees).expr(1),
    );
}

fn negate(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_expr,
        |_| true,
        |expr: &mut Expr, choices| {
            if let What::Not(inner) = &expr.what {
                *expr = (**inner).clone();
                return;
            }
            let inner = Box::new(expr.clone());
            expr.what = match choices.below(3) {
                0 => What::Not(inner),
                1 => What::Binary(Operator::And, inner, Box::new(Expr::name("p"))),
                _ => What::Conditional(
                    Box::new(Expr::name("q")),
                    inner,
                    Box::new(Expr::constant(1)),
                ),
            };
        },
    );
}

fn on_list(
    program: &mut Program,
    choices: &mut Choices<'_>,
    least: usize,
    act: impl FnOnce(&mut Vec<Stmt>, &mut Choices<'_>),
) {
    on_one(program, choices, each_list, |list| list.len() >= least, act);
}

fn delete(program: &mut Program, choices: &mut Choices<'_>) {
    on_list(program, choices, 1, |list, choices| {
        list.remove(choices.below(list.len()));
    });
}

fn insert(program: &mut Program, choices: &mut Choices<'_>) {
    let callees = callees(program);
    on_list(program, choices, 0, |list, choices| {
        let at = choices.below(list.len() + 1);
        let stmts = Generator::new(choices, callees).stmts(2);
        list.splice(at..at, stmts);
    });
}

fn duplicate(program: &mut Program, choices: &mut Choices<'_>) {
    on_list(program, choices, 1, |list, choices| {
        let at = choices.below(list.len());
        let stmt = list[at].clone();
        list.insert(at, stmt);
    });
}

fn swap(program: &mut Program, choices: &mut Choices<'_>) {
    on_list(program, choices, 2, |list, choices| {
        let at = choices.below(list.len() - 1);
        list.swap(at, at + 1);
    });
}

fn macro_body(program: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(program.macros.len());
    let definition = &mut program.macros[at];
    match &mut definition.body {
        MacroBody::Loop { from, step } => match choices.below(2) {
            0 => *from += 1,
            _ => *step += 1,
        },
        MacroBody::Operator(operator) => {
            *operator = match operator {
                Operator::Or => Operator::And,
                _ => Operator::Or,
            };
        }
        MacroBody::Missing => definition.body = MacroBody::Value(Expr::constant(1)),
        MacroBody::Value(_) if definition.name == "FLAG" && choices.one_in(2) => {
            definition.body = MacroBody::Missing;
        }
        MacroBody::Statement(stmt) if choices.below(2) == 0 => {
            if let [list] = lists_in(stmt).as_mut_slice() {
                **list = match choices.below(2) {
                    0 => Vec::new(),
                    _ => vec![Stmt::new(Kind::Return(Expr::constant(9)))],
                };
            }
        }
        _ => {
            let mut count = 0;
            each_macro_expr(definition, &mut |_| count += 1);
            let chosen = choices.below(count.max(1));
            let mut at = 0;
            each_macro_expr(definition, &mut |expr| {
                if at == chosen {
                    match expr.what {
                        What::Constant(_) => change_constant(expr, choices),
                        What::Binary(..) => change_operator(expr, choices),
                        _ => {
                            let other = Expr::name(GLOBALS[choices.below(2)]);
                            *expr = Expr::binary(Operator::Add, expr.clone(), other);
                        }
                    }
                }
                at += 1;
            });
        }
    }
}

fn enumerators(program: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(program.enumerators.len());
    match choices.below(4) {
        0 => program.enumerators[at].1 = Some(choices.below(6) as i32),
        1 => program.enumerators[at].1 = None,
        2 => program.enumerators.insert(at, ("WHITE".to_owned(), None)),
        _ => program.enumerators.swap(0, at),
    }
}

fn global(program: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(program.globals.len());
    match choices.below(3) {
        0 | 1 => program.globals[at].2 += 1,
        _ => program.globals[at].1 = Type::UnsignedChar,
    }
}

fn member(program: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(program.members.len());
    match choices.below(3) {
        0 => program.members[at].2 += 255,
        1 => program.members[at].1 = Type::UnsignedChar,
        _ => program.members.swap(0, at),
    }
}

fn declaration(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_stmt,
        |stmt| matches!(stmt.kind, Kind::Declare(_)),
        |stmt, choices| {
            if let Kind::Declare(declaration) = &mut stmt.kind {
                match choices.below(4) {
                    0 | 1 => {
                        declaration.kind = match declaration.kind {
                            Type::Int => Type::UnsignedChar,
                            Type::UnsignedChar => Type::Int,
                        };
                    }
                    2 => declaration.is_static = !declaration.is_static,
                    _ => {
                        declaration.value = match declaration.value {
                            Some(_) => None,
                            None => Some(Expr::constant(2)),
                        };
                    }
                }
            }
        },
    );
}

/// A declaration of its own for a name that the block uses, or one less.
fn shadow(program: &mut Program, choices: &mut Choices<'_>) {
    on_list(program, choices, 0, |list, choices| {
        let declared = list
            .iter()
            .position(|stmt| matches!(stmt.kind, Kind::Declare(_)));
        if let Some(at) = declared
            && choices.below(2) == 1
        {
            list.remove(at);
            return;
        }
        let name = *choices.among(&["a", "b", "g", "h", "p"]);
        let value = (choices.below(3) == 1).then(|| Expr::constant(1));
        list.insert(0, Stmt::declare(name, value));
    });
}

/// Braces around statements, or no longer.
fn block(program: &mut Program, choices: &mut Choices<'_>) {
    on_list(program, choices, 1, |list, choices| {
        let at = choices.below(list.len());
        if let Kind::Block(inner) = &mut list[at].kind {
            let inner = std::mem::take(inner);
            list.splice(at..=at, inner);
            return;
        }
        let end = at + 1 + choices.below(list.len() - at);
        let inner: Vec<Stmt> = list.drain(at..end).collect();
        list.insert(at, Stmt::new(Kind::Block(inner)));
    });
}

fn arms(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_stmt,
        |stmt| matches!(stmt.kind, Kind::Switch(..)),
        |stmt, choices| {
            let Kind::Switch(_, arms) = &mut stmt.kind else {
                return;
            };
            let at = choices.below(arms.len());
            let label = |choices: &mut Choices<'_>| match choices.below(6) {
                0 => CaseOf::Default,
                1 => CaseOf::Value("FIVE".to_owned(), None),
                2 => CaseOf::Value("GREEN".to_owned(), None),
                value => CaseOf::Value((value - 2).to_string(), None),
            };
            match choices.below(6) {
                0 if !arms.is_empty() => match arms[at].body.last().map(|stmt| &stmt.kind) {
                    Some(Kind::Break) => {
                        arms[at].body.pop();
                    }
                    _ => arms[at].body.push(Stmt::new(Kind::Break)),
                },
                1 if arms.len() > 1 => {
                    arms.remove(at);
                }
                2 if arms.len() > 1 => arms.swap(0, at),
                3 if !arms.is_empty() => {
                    let label = label(choices);
                    arms[at].labels.push(label);
                }
                4 if !arms.is_empty() => {
                    arms[at].labels.pop();
                }
                _ => {
                    let labels = vec![label(choices)];
                    let body = Generator::new(choices, Vec::new()).stmts(3);
                    arms.insert(at, Arm { labels, body });
                }
            }
        },
    );
}

fn functions(program: &mut Program, choices: &mut Choices<'_>) {
    let at = choices.below(program.functions.len());
    match choices.below(3) {
        0 => program.functions.swap(0, at),
        1 => program.functions[at].is_static = at > 0 && !program.functions[at].is_static,
        _ => {
            // Calls now reach the other function.
            let last = program.functions.len() - 1;
            let name = program.functions[last].name.clone();
            let other = std::mem::replace(&mut program.functions[at].name, name);
            program.functions[last].name = other;
        }
    }
}

fn name(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_expr,
        |expr| matches!(expr.what, What::Name(_) | What::Assign(..)),
        |expr, choices| {
            if let What::Name(name) | What::Assign(name, _) = &mut expr.what {
                *name = (*choices.among(&["p", "g", "h", "a", "b"])).to_owned();
            }
        },
    );
}

fn condition(program: &mut Program, choices: &mut Choices<'_>) {
    on_one(
        program,
        choices,
        each_stmt,
        |stmt| matches!(stmt.kind, Kind::Preprocessor(..)),
        |stmt, choices| {
            if let Kind::Preprocessor(condition, one, two) = &mut stmt.kind {
                match choices.below(4) {
                    0 => *condition = Condition::Defined("FLAG".to_owned()),
                    1 => *condition = Condition::NotDefined("FLAG".to_owned()),
                    2 => *condition = Condition::Above("FLAG".to_owned(), 0),
                    _ => std::mem::swap(one, two),
                }
            }
        },
    );
}
