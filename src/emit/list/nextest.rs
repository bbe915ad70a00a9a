//! A filter expression for `cargo nextest run -E`.

use std::collections::BTreeMap;

use super::{cannot_name, without};
use crate::error::Result;

/// The expression, and the packages whose documentation holds tests that are selected: nextest does not run these.
///
/// Where nothing is selected, it is the expression that fits no test.
pub fn expression<'a>(names: &[&'a str]) -> Result<(String, Vec<&'a str>)> {
    let names = without(
        names,
        &['\n', '(', ')', ',', '\\', '&', '|'],
        "nextest may read an expression in a name",
    )?;
    let mut binaries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut documented = Vec::new();
    for name in names {
        match name.split_once(' ') {
            Some((package, "--doc")) => documented.push(package),
            Some((_, path)) if path.contains(' ') => {
                return Err(cannot_name(name, "nextest knows no such test"));
            }
            Some((binary, path)) => binaries.entry(binary).or_default().push(path),
            // A harness of the project's own names its tests itself.
            None => drop(binaries.entry(name).or_default()),
        }
    }
    if binaries.is_empty() {
        return Ok(("none()\n".to_owned(), documented));
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
    Ok((format!("{}\n", terms.join(" | ")), documented))
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
        let (text, documented) = expression(&names).expect("it can");
        assert_eq!(
            text,
            "(binary_id(=one) & (test(=t::a) | test(=t::b))) | (binary_id(=one::cli) & test(=c)) | binary_id(=one::own)\n"
        );
        assert_eq!(documented, ["one"]);
    }

    #[test]
    fn no_name_is_no_test() {
        assert_eq!(expression(&[]).expect("it can").0, "none()\n");
        assert!(expression(&["one a(b)"]).is_err());
    }
}
