//! Arguments for `meson test`, one a line.

use super::without;
use crate::error::Result;

/// Without arguments Meson runs everything, and newer versions fail for a name that no test has; for a suite that is not there all run nothing.
const NOBODY: &str = "--suite=git-rts-nothing\n";

/// The names. Since 1.2 they are patterns, before they were not: what both read in the same way can be told.
pub fn arguments(names: &[&str]) -> Result<String> {
    if names.is_empty() {
        return Ok(NOBODY.to_owned());
    }
    let names = without(
        names,
        &['\n', '[', '*', '?'],
        "Meson may read a pattern in a name",
    )?;
    let argument = |name: &&str| match name.starts_with('-') || name.contains(':') {
        // Of any project.
        true => format!(":{name}\n"),
        false => format!("{name}\n"),
    };
    Ok(names.iter().map(argument).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_arguments_and_no_name_is_no_test() {
        assert_eq!(arguments(&[]).expect("it can"), NOBODY);
        let text = arguments(&["a b", "-x", "#y"]).expect("it can");
        assert_eq!(text, "a b\n:-x\n#y\n");
        assert!(arguments(&["a[1]"]).is_err());
    }
}
