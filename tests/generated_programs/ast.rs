//! The C that is generated: as it is written, and as the preprocessor leaves it.

/// An expression with the lines of its first token, with and without the parentheses around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expr {
    pub(crate) what: What,
    pub(crate) line: u32,
    pub(crate) inner: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Constant(i32),
    /// A variable, an enumerator, an object-like macro, or in a macro one of its parameters.
    Name(String),
    /// A member of the one structure.
    Member(String),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Assign(String, Box<Expr>),
    Call(String, Vec<Expr>),
    Macro(String, Vec<Expr>),
    /// What a macro stands for.
    Expanded(Box<Expr>),
}

impl Default for What {
    fn default() -> Self {
        What::Constant(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Less,
    Greater,
    Equal,
    Unequal,
    Comma,
    And,
    Or,
    /// The macro `BOTH`, which is `&&` or `||`.
    Both,
    BothAnd,
    BothOr,
}

#[derive(Debug, Clone)]
pub(crate) struct Stmt {
    pub(crate) kind: Kind,
    pub(crate) line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    UnsignedChar,
}

#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) is_static: bool,
    pub(crate) value: Option<Expr>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Declare(Declaration),
    Expression(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    Do(Vec<Stmt>, Expr),
    For(Box<For>),
    Switch(Expr, Vec<Arm>),
    Break,
    Continue,
    Goto(String),
    Label(String),
    Return(Expr),
    Block(Vec<Stmt>),
    /// A macro with a semicolon.
    Macro(String, Vec<Expr>),
    /// A macro before a block.
    Head(String, Vec<Expr>, Vec<Stmt>),
    /// `#if` around statements.
    Preprocessor(Condition, Vec<Stmt>, Vec<Stmt>),
    /// What is left of an `#if`: which branch it takes.
    Directive(bool),
    /// What a statement macro stands for.
    Expanded(Box<Stmt>),
    /// A loop or a condition whose head is a macro.
    ExpandedHead(Box<For>, bool),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct For {
    /// A declaration, or an expression.
    pub(crate) declares: Option<String>,
    pub(crate) start: Expr,
    pub(crate) condition: Expr,
    pub(crate) update: Expr,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) labels: Vec<CaseOf>,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub(crate) enum CaseOf {
    /// A constant, an enumerator or a macro, and what it stands for.
    Value(String, Option<Expr>),
    Default,
}

#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Defined(String),
    NotDefined(String),
    Above(String, i32),
}

#[derive(Debug, Clone)]
pub(crate) struct Macro {
    pub(crate) name: String,
    /// `None` for a macro without parentheses.
    pub(crate) parameters: Option<Vec<String>>,
    pub(crate) body: MacroBody,
}

#[derive(Debug, Clone)]
pub(crate) enum MacroBody {
    Value(Expr),
    Statement(Stmt),
    /// `for` over its first parameter below its second, or `if` with its first.
    Loop {
        from: i32,
        step: i32,
    },
    When(Expr),
    Operator(Operator),
    /// Not defined at all.
    Missing,
}

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_static: bool,
    pub(crate) body: Vec<Stmt>,
    pub(crate) line: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(crate) macros: Vec<Macro>,
    pub(crate) enumerators: Vec<(String, Option<i32>)>,
    pub(crate) globals: Vec<(String, Type, i32)>,
    pub(crate) members: Vec<(String, Type, i32)>,
    pub(crate) functions: Vec<Function>,
}

pub(crate) const PARAMETERS: [&str; 2] = ["p", "q"];

impl Expr {
    pub(crate) fn new(what: What) -> Self {
        Expr {
            what,
            line: 0,
            inner: 0,
        }
    }

    pub(crate) fn constant(value: i32) -> Self {
        Expr::new(What::Constant(value))
    }

    pub(crate) fn name(name: &str) -> Self {
        Expr::new(What::Name(name.to_owned()))
    }

    pub(crate) fn binary(operator: Operator, left: Expr, right: Expr) -> Self {
        Expr::new(What::Binary(operator, Box::new(left), Box::new(right)))
    }

    pub(crate) fn assign(name: &str, value: Expr) -> Self {
        Expr::new(What::Assign(name.to_owned(), Box::new(value)))
    }
}

impl Stmt {
    pub(crate) fn new(kind: Kind) -> Self {
        Stmt { kind, line: 0 }
    }

    pub(crate) fn declare(name: &str, value: Option<Expr>) -> Self {
        Stmt::new(Kind::Declare(Declaration {
            name: name.to_owned(),
            kind: Type::Int,
            is_static: false,
            value,
        }))
    }
}
