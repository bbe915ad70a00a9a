//! The interpreter: what a program answers and prints, and which lines it evaluates on the way.

use std::collections::BTreeMap;

use crate::ast::{
    CaseOf, Declaration, Expr, For, Kind, Operator, PARAMETERS, Program, Stmt, Type, What,
};
use crate::expand::{constant, enumerators};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Bool(bool),
    Case(String),
    Default,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// What begins on the line begins to be evaluated.
    Start(u32),
    /// What begins on the line has decided where control goes.
    Decide(u32, Outcome),
}

/// One call of a function.
#[derive(Debug, Clone)]
pub(crate) struct Activation {
    pub(crate) function: String,
    pub(crate) events: Vec<Event>,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Undefined,
    TooLong,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) result: Result<i32, Stop>,
    pub(crate) emitted: Vec<i32>,
}

pub(crate) struct Execution {
    pub(crate) observed: Observed,
    pub(crate) activations: Vec<Activation>,
}

/// Runs the first function of an expanded program.
pub(crate) fn run(program: &Program, entry: &str, arguments: [i32; 2], fuel: usize) -> Execution {
    let mut machine = Machine {
        program,
        enumerators: enumerators(program),
        globals: program
            .globals
            .iter()
            .map(|(name, kind, value)| (name.clone(), (*kind, kept(*kind, *value))))
            .collect(),
        members: program
            .members
            .iter()
            .map(|(name, kind, value)| (name.clone(), kept(*kind, *value)))
            .collect(),
        statics: BTreeMap::new(),
        emitted: Vec::new(),
        activations: Vec::new(),
        fuel,
        depth: 0,
    };
    let result = machine.call(entry, arguments);
    Execution {
        observed: Observed {
            result,
            emitted: machine.emitted,
        },
        activations: machine.activations,
    }
}

fn kept(kind: Type, value: i32) -> i32 {
    match kind {
        Type::Int => value,
        Type::UnsignedChar => value & 0xff,
    }
}

#[derive(Clone)]
struct Slot {
    name: String,
    kind: Type,
    value: Option<i32>,
    /// Which static variable it stands for.
    is_static: Option<usize>,
}

struct Frame {
    scopes: Vec<Vec<Slot>>,
    activation: usize,
}

enum Flow {
    Next,
    Break,
    Continue,
    Goto(String),
    Return(i32),
}

type Result_<T> = Result<T, Stop>;

struct Machine<'a> {
    program: &'a Program,
    enumerators: Vec<(String, i32)>,
    globals: BTreeMap<String, (Type, i32)>,
    members: BTreeMap<String, i32>,
    statics: BTreeMap<usize, i32>,
    emitted: Vec<i32>,
    activations: Vec<Activation>,
    fuel: usize,
    depth: usize,
}

const DEEPEST: usize = 40;

impl<'a> Machine<'a> {
    fn call(&mut self, name: &str, arguments: [i32; 2]) -> Result_<i32> {
        let function = self
            .program
            .functions
            .iter()
            .find(|function| function.name == name)
            .ok_or(Stop::Undefined)?;
        if self.depth >= DEEPEST {
            return Err(Stop::TooLong);
        }
        self.depth += 1;
        let parameters = PARAMETERS
            .iter()
            .zip(arguments)
            .map(|(name, value)| Slot {
                name: (*name).to_owned(),
                kind: Type::Int,
                value: Some(value),
                is_static: None,
            })
            .collect();
        let mut frame = Frame {
            scopes: vec![parameters],
            activation: self.activations.len(),
        };
        self.activations.push(Activation {
            function: name.to_owned(),
            events: Vec::new(),
        });
        self.start(&frame, function.line)?;
        let flow = self.list(&mut frame, &function.body.iter().collect::<Vec<_>>(), 0)?;
        self.depth -= 1;
        match flow {
            Flow::Return(value) => Ok(value),
            _ => Err(Stop::Undefined),
        }
    }

    fn burn(&mut self) -> Result_<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::TooLong)?;
        Ok(())
    }

    fn start(&mut self, frame: &Frame, line: u32) -> Result_<()> {
        self.burn()?;
        if line > 0 {
            self.activations[frame.activation]
                .events
                .push(Event::Start(line));
        }
        Ok(())
    }

    fn decided(&mut self, frame: &Frame, line: u32, outcome: Outcome) {
        if line > 0 {
            self.activations[frame.activation]
                .events
                .push(Event::Decide(line, outcome));
        }
    }

    fn scoped(&mut self, frame: &mut Frame, stmts: &'a [Stmt]) -> Result_<Flow> {
        frame.scopes.push(Vec::new());
        let flow = self.list(frame, &stmts.iter().collect::<Vec<_>>(), 0);
        frame.scopes.pop();
        flow
    }

    fn list(&mut self, frame: &mut Frame, stmts: &[&'a Stmt], from: usize) -> Result_<Flow> {
        let mut at = from;
        self.enter(frame, stmts, from);
        while let Some(stmt) = stmts.get(at) {
            match self.stmt(frame, stmt)? {
                Flow::Next => at += 1,
                Flow::Goto(label) => {
                    let target = stmts
                        .iter()
                        .position(|stmt| matches!(&stmt.kind, Kind::Label(l) if *l == label));
                    let Some(target) = target else {
                        return Ok(Flow::Goto(label));
                    };
                    self.enter(frame, stmts, target);
                    at = target;
                }
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// What a jump finds declared: everything before its target, with or without a value, and nothing behind it.
    fn enter(&mut self, frame: &mut Frame, stmts: &[&'a Stmt], at: usize) {
        for (index, stmt) in stmts.iter().enumerate() {
            if let Kind::Declare(declaration) = &stmt.kind {
                let Some(scope) = frame.scopes.last_mut() else {
                    continue;
                };
                if index >= at {
                    scope.retain(|slot| slot.name != declaration.name);
                } else if !scope.iter().any(|slot| slot.name == declaration.name) {
                    let slot = self.slot(declaration, None);
                    if let Some(scope) = frame.scopes.last_mut() {
                        scope.push(slot);
                    }
                }
            }
        }
    }

    fn slot(&mut self, declaration: &'a Declaration, value: Option<i32>) -> Slot {
        let mut is_static = None;
        if declaration.is_static {
            let key = std::ptr::from_ref(declaration) as usize;
            let first = declaration
                .value
                .as_ref()
                .and_then(|value| constant(value, &self.enumerators))
                .unwrap_or(0);
            self.statics
                .entry(key)
                .or_insert(kept(declaration.kind, first));
            is_static = Some(key);
        }
        Slot {
            name: declaration.name.clone(),
            kind: declaration.kind,
            value: value.map(|value| kept(declaration.kind, value)),
            is_static,
        }
    }

    fn stmt(&mut self, frame: &mut Frame, stmt: &'a Stmt) -> Result_<Flow> {
        self.burn()?;
        match &stmt.kind {
            Kind::Declare(declaration) => {
                let mut value = None;
                if let Some(first) = &declaration.value
                    && !declaration.is_static
                {
                    self.start(frame, stmt.line)?;
                    value = Some(self.eval(frame, first)?);
                }
                let slot = self.slot(declaration, value);
                if let Some(scope) = frame.scopes.last_mut() {
                    scope.retain(|other| other.name != slot.name);
                    scope.push(slot);
                }
                Ok(Flow::Next)
            }
            Kind::Expression(value) => {
                self.eval(frame, value)?;
                Ok(Flow::Next)
            }
            Kind::Return(value) => {
                self.start(frame, stmt.line)?;
                Ok(Flow::Return(self.eval(frame, value)?))
            }
            Kind::If(condition, one, two) => {
                let taken = if self.decide(frame, condition)? {
                    one
                } else {
                    two
                };
                self.scoped(frame, taken)
            }
            Kind::While(condition, body) => {
                while self.decide(frame, condition)? {
                    match self.scoped(frame, body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        other => return Ok(other),
                    }
                }
                Ok(Flow::Next)
            }
            Kind::Do(body, condition) => {
                loop {
                    match self.scoped(frame, body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        other => return Ok(other),
                    }
                    if !self.decide(frame, condition)? {
                        break;
                    }
                }
                Ok(Flow::Next)
            }
            Kind::For(inner) => {
                frame.scopes.push(Vec::new());
                let flow = self.for_loop(frame, stmt, inner);
                frame.scopes.pop();
                flow
            }
            Kind::ExpandedHead(inner, true) => {
                self.start(frame, stmt.line)?;
                self.eval(frame, &inner.start)?;
                loop {
                    let holds = self.eval(frame, &inner.condition)? != 0;
                    self.decided(frame, stmt.line, Outcome::Bool(holds));
                    if !holds {
                        return Ok(Flow::Next);
                    }
                    match self.scoped(frame, &inner.body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Ok(Flow::Next),
                        other => return Ok(other),
                    }
                    self.start(frame, stmt.line)?;
                    self.eval(frame, &inner.update)?;
                }
            }
            Kind::ExpandedHead(inner, false) => {
                self.start(frame, stmt.line)?;
                let holds = self.eval(frame, &inner.condition)? != 0;
                self.decided(frame, stmt.line, Outcome::Bool(holds));
                if !holds {
                    return Ok(Flow::Next);
                }
                let flow = self.scoped(frame, &inner.body)?;
                if matches!(flow, Flow::Next) {
                    // In the graph it may be a loop: its end leads back to the head.
                    self.start(frame, stmt.line)?;
                    self.decided(frame, stmt.line, Outcome::Bool(false));
                }
                Ok(flow)
            }
            Kind::Switch(value, arms) => {
                self.start(frame, stmt.line)?;
                let value = self.eval(frame, value)?;
                let mut stmts: Vec<&'a Stmt> = Vec::new();
                let mut found = None;
                let mut default = None;
                for arm in arms {
                    for label in &arm.labels {
                        match label {
                            CaseOf::Default => default = Some(stmts.len()),
                            CaseOf::Value(text, expr) => {
                                let case = expr
                                    .as_ref()
                                    .and_then(|expr| constant(expr, &self.enumerators));
                                if case == Some(value) && found.is_none() {
                                    found = Some((stmts.len(), text.clone()));
                                }
                            }
                        }
                    }
                    stmts.extend(&arm.body);
                }
                let (at, outcome) = match (found, default) {
                    (Some((at, text)), _) => (Some(at), Outcome::Case(text)),
                    (None, default) => (default, Outcome::Default),
                };
                self.decided(frame, stmt.line, outcome);
                let Some(at) = at else {
                    return Ok(Flow::Next);
                };
                frame.scopes.push(Vec::new());
                let flow = self.list(frame, &stmts, at);
                frame.scopes.pop();
                Ok(match flow? {
                    Flow::Break => Flow::Next,
                    other => other,
                })
            }
            Kind::Break => {
                self.start(frame, stmt.line)?;
                Ok(Flow::Break)
            }
            Kind::Continue => {
                self.start(frame, stmt.line)?;
                Ok(Flow::Continue)
            }
            Kind::Goto(label) => Ok(Flow::Goto(label.clone())),
            Kind::Block(body) => self.scoped(frame, body),
            Kind::Directive(holds) => {
                self.start(frame, stmt.line)?;
                self.decided(frame, stmt.line, Outcome::Bool(*holds));
                Ok(Flow::Next)
            }
            Kind::Expanded(inner) => {
                self.start(frame, stmt.line)?;
                self.stmt(frame, inner)
            }
            Kind::Label(_) => Ok(Flow::Next),
            Kind::Macro(..) | Kind::Head(..) | Kind::Preprocessor(..) => Err(Stop::Undefined),
        }
    }

    fn for_loop(&mut self, frame: &mut Frame, stmt: &Stmt, inner: &'a For) -> Result_<Flow> {
        if let Some(name) = &inner.declares {
            self.start(frame, stmt.line)?;
            let value = self.eval(frame, &inner.start)?;
            if let Some(scope) = frame.scopes.last_mut() {
                scope.push(Slot {
                    name: name.clone(),
                    kind: Type::Int,
                    value: Some(value),
                    is_static: None,
                });
            }
        } else {
            self.eval(frame, &inner.start)?;
        }
        while self.decide(frame, &inner.condition)? {
            match self.scoped(frame, &inner.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other => return Ok(other),
            }
            self.eval(frame, &inner.update)?;
        }
        Ok(Flow::Next)
    }

    /// A condition: each operand of `&&` and `||` decides for itself, and then the whole.
    fn decide(&mut self, frame: &mut Frame, expr: &Expr) -> Result_<bool> {
        let holds = match &expr.what {
            What::Not(inner) if is_logical(inner) => {
                self.start(frame, expr.line)?;
                if expr.inner != expr.line {
                    self.start(frame, expr.inner)?;
                }
                !self.decide(frame, inner)?
            }
            _ => self.eval(frame, expr)? != 0,
        };
        self.decided(frame, expr.inner, Outcome::Bool(holds));
        Ok(holds)
    }

    fn eval(&mut self, frame: &mut Frame, expr: &Expr) -> Result_<i32> {
        let begins_with_operand = matches!(expr.what, What::Binary(..) | What::Conditional(..));
        // Without parentheses around the whole, the first operand says that the line begins.
        if !(begins_with_operand && expr.line == expr.inner) {
            self.start(frame, expr.line)?;
        }
        match &expr.what {
            What::Constant(value) => Ok(*value),
            What::Name(name) => self.read(frame, name),
            What::Member(name) => self.members.get(name).copied().ok_or(Stop::Undefined),
            What::Binary(Operator::And, left, right) => {
                Ok((self.decide(frame, left)? && self.decide(frame, right)?).into())
            }
            What::Binary(Operator::Or, left, right) => {
                Ok((self.decide(frame, left)? || self.decide(frame, right)?).into())
            }
            What::Binary(Operator::BothAnd, left, right) => {
                Ok((self.eval(frame, left)? != 0 && self.eval(frame, right)? != 0).into())
            }
            What::Binary(Operator::BothOr, left, right) => {
                Ok((self.eval(frame, left)? != 0 || self.eval(frame, right)? != 0).into())
            }
            What::Binary(operator, left, right) => {
                let left = self.eval(frame, left)?;
                let right = self.eval(frame, right)?;
                Ok(match operator {
                    Operator::Add => left.wrapping_add(right),
                    Operator::Subtract => left.wrapping_sub(right),
                    Operator::Multiply => left.wrapping_mul(right),
                    Operator::Less => (left < right).into(),
                    Operator::Greater => (left > right).into(),
                    Operator::Equal => (left == right).into(),
                    Operator::Unequal => (left != right).into(),
                    _ => right,
                })
            }
            What::Not(inner) => {
                if expr.inner != expr.line {
                    self.start(frame, expr.inner)?;
                }
                Ok((self.eval(frame, inner)? == 0).into())
            }
            What::Conditional(condition, one, two) => {
                let taken = if self.decide(frame, condition)? {
                    one
                } else {
                    two
                };
                self.eval(frame, taken)
            }
            What::Assign(name, value) => {
                if expr.inner != expr.line {
                    self.start(frame, expr.inner)?;
                }
                let value = self.eval(frame, value)?;
                self.write(frame, name, value)
            }
            What::Call(name, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.eval(frame, argument)?);
                }
                match (name.as_str(), values.as_slice()) {
                    ("emit", [value]) => {
                        self.emitted.push(*value);
                        Ok(0)
                    }
                    (name, [one, two]) => self.call(name, [*one, *two]),
                    _ => Err(Stop::Undefined),
                }
            }
            What::Expanded(inner) => self.eval(frame, inner),
            What::Macro(..) => Err(Stop::Undefined),
        }
    }

    fn read(&self, frame: &Frame, name: &str) -> Result_<i32> {
        let local = frame
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.iter().rev().find(|slot| slot.name == name));
        if let Some(slot) = local {
            let value = match slot.is_static {
                Some(key) => self.statics.get(&key).copied(),
                None => slot.value,
            };
            return value.ok_or(Stop::Undefined);
        }
        if let Some((_, value)) = self.globals.get(name) {
            return Ok(*value);
        }
        self.enumerators
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
            .ok_or(Stop::Undefined)
    }

    fn write(&mut self, frame: &mut Frame, name: &str, value: i32) -> Result_<i32> {
        let local = frame
            .scopes
            .iter_mut()
            .rev()
            .find_map(|scope| scope.iter_mut().rev().find(|slot| slot.name == name));
        if let Some(slot) = local {
            let value = kept(slot.kind, value);
            match slot.is_static {
                Some(key) => {
                    self.statics.insert(key, value);
                }
                None => slot.value = Some(value),
            }
            return Ok(value);
        }
        let (kind, global) = self.globals.get_mut(name).ok_or(Stop::Undefined)?;
        *global = kept(*kind, value);
        Ok(*global)
    }
}

fn is_logical(expr: &Expr) -> bool {
    match &expr.what {
        What::Binary(Operator::And | Operator::Or, ..) => true,
        What::Not(inner) => is_logical(inner),
        _ => false,
    }
}
