//! Arguments of `cargo test`, a line for each binary with tests that are selected.

use std::collections::BTreeMap;

use super::{cannot_name, without};
use crate::error::Result;

/// The lines. Where nothing is selected there is none, and whoever calls cargo for each line calls it for nothing.
pub fn lines(names: &[&str]) -> Result<String> {
    let letters = ['\n', '\'', '"', '\\', '$', '`', '*', '?', '['];
    let names = without(names, &letters, "a shell may read more than a word")?;
    let mut calls: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        let (binary, path) = match name.split_once(' ') {
            Some((_, path)) if path.contains(' ') => {
                return Err(cannot_name(name, "cargo knows no such test"));
            }
            Some((binary, path)) => (binary, Some(path)),
            None => (name, None),
        };
        match path {
            Some("--doc") => drop(calls.entry(format!("-p {binary} --doc")).or_default()),
            path => calls.entry(target(binary)).or_default().extend(path),
        }
    }
    let line = |(target, paths): (String, Vec<&str>)| match paths.is_empty() {
        true => format!("{target}\n"),
        false => format!("{target} -- --exact {}\n", paths.join(" ")),
    };
    Ok(calls.into_iter().map(line).collect())
}

/// The words by which cargo knows a binary that nextest calls `package::kind/name`.
pub fn target(binary: &str) -> String {
    let Some((package, target)) = binary.split_once("::") else {
        return format!("-p {binary} --lib");
    };
    match target.split_once('/') {
        Some((kind, name)) => format!("-p {package} --{kind} {name}"),
        None => format!("-p {package} --test {target}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_binary_has_a_line() {
        let names = [
            "one t::a",
            "one t::b",
            "one::cli c",
            "one::bin/x d",
            "one --doc",
            "one::own",
        ];
        assert_eq!(
            lines(&names).expect("it can"),
            "-p one --bin x -- --exact d\n-p one --doc\n-p one --lib -- --exact t::a t::b\n-p one --test cli -- --exact c\n-p one --test own\n"
        );
        assert_eq!(lines(&[]).expect("it can"), "");
        assert!(lines(&["one a b"]).is_err());
    }
}
