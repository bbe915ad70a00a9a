//! A filter expression for `cargo nextest run -E`.

use std::collections::BTreeMap;

use super::{cannot_name, without};
use crate::error::Result;

/// What nextest is told, and what it cannot be told.
pub struct Expression<'a> {
    /// Where nothing is selected, it is the expression that fits no test.
    pub text: String,
    /// Packages whose documentation holds tests that are selected: nextest does not run these.
    pub documented: Vec<&'a str>,
    /// Binaries with a harness of their own: nextest runs of them what they list, and that may be nothing.
    pub harnessed: Vec<&'a str>,
}

/// The expression for some tests.
pub fn expression<'a>(names: &[&'a str]) -> Result<Expression<'a>> {
    let names = without(
        names,
        &['\n', '(', ')', ',', '\\', '&', '|'],
        "nextest may read an expression in a name",
    )?;
    let mut binaries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut documented = Vec::new();
    let mut harnessed = Vec::new();
    for name in names {
        match name.split_once(' ') {
            Some((package, "--doc")) => documented.push(package),
            Some((_, path)) if path.contains(' ') => {
                return Err(cannot_name(name, "nextest knows no such test"));
            }
            Some((binary, path)) => binaries.entry(binary).or_default().push(path),
            None => {
                binaries.entry(name).or_default();
                harnessed.push(name);
            }
        }
    }
    let terms = binaries.into_iter().map(|(binary, paths)| {
        let paths = paths.iter().map(|path| format!("test(={path})"));
        let paths: Vec<String> = paths.collect();
        match paths.as_slice() {
            [] => format!("binary_id(={binary})"),
            [one] => format!("(binary_id(={binary}) & {one})"),
            several => format!("(binary_id(={binary}) & ({}))", several.join(" | ")),
        }
    });
    let terms: Vec<String> = terms.collect();
    let text = match terms.is_empty() {
        true => "none()\n".to_owned(),
        false => format!("{}\n", terms.join(" | ")),
    };
    Ok(Expression {
        text,
        documented,
        harnessed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_binaries() {
        let names = [
            "one t::a",
            "one t::b",
            "one::cli c",
            "one::own",
            "one --doc",
        ];
        let told = expression(&names).expect("it can");
        assert_eq!(
            told.text,
            "(binary_id(=one) & (test(=t::a) | test(=t::b))) | (binary_id(=one::cli) & test(=c)) | binary_id(=one::own)\n"
        );
        assert_eq!(told.documented, ["one"]);
        assert_eq!(told.harnessed, ["one::own"]);
    }

    #[test]
    fn no_name_is_no_test() {
        assert_eq!(expression(&[]).expect("it can").text, "none()\n");
        assert!(expression(&["one a(b)"]).is_err());
    }
}
