//! Operators that people take for one another.

/// The kind of change and the operator in the other's place.
pub(super) fn other(operator: &[u8]) -> Option<(&'static str, &'static str)> {
    let (kind, other) = match operator {
        b"<" => (RELATIONAL, "<="),
        b"<=" => (RELATIONAL, "<"),
        b">" => (RELATIONAL, ">="),
        b">=" => (RELATIONAL, ">"),
        b"==" => (RELATIONAL, "!="),
        b"!=" => (RELATIONAL, "=="),
        b"+" => (ARITHMETIC, "-"),
        b"-" => (ARITHMETIC, "+"),
        b"*" => (ARITHMETIC, "/"),
        b"/" => (ARITHMETIC, "*"),
        b"%" => (ARITHMETIC, "/"),
        b"&" => (BITWISE, "|"),
        b"|" => (BITWISE, "&"),
        b"^" => (BITWISE, "|"),
        b"<<" => (SHIFT, ">>"),
        b">>" => (SHIFT, "<<"),
        b"&&" => (LOGICAL, "||"),
        b"||" => (LOGICAL, "&&"),
        b"+=" => (ASSIGNMENT, "-="),
        b"-=" => (ASSIGNMENT, "+="),
        b"*=" => (ASSIGNMENT, "/="),
        b"/=" => (ASSIGNMENT, "*="),
        b"%=" => (ASSIGNMENT, "/="),
        b"&=" => (ASSIGNMENT, "|="),
        b"|=" => (ASSIGNMENT, "&="),
        b"^=" => (ASSIGNMENT, "|="),
        b"<<=" => (ASSIGNMENT, ">>="),
        b">>=" => (ASSIGNMENT, "<<="),
        b"++" => (INCREMENT, "--"),
        b"--" => (INCREMENT, "++"),
        _ => return None,
    };
    Some((kind, other))
}

const RELATIONAL: &str = "relational operator";
pub(super) const ARITHMETIC: &str = "arithmetic operator";
const BITWISE: &str = "bitwise operator";
const SHIFT: &str = "shift";
const LOGICAL: &str = "logical operator";
const ASSIGNMENT: &str = "compound assignment";
const INCREMENT: &str = "increment";
