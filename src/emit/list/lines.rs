//! One test after the other, for shells and scripts.

use super::without;
use crate::error::Result;

/// A test a line.
pub fn plain(names: &[&str]) -> Result<String> {
    let names = without(names, &['\n'], "a line cannot hold a line break")?;
    Ok(names.iter().map(|name| format!("{name}\n")).collect())
}

/// Each test ends with a NUL, for `xargs -0`.
pub fn null(names: &[&str]) -> Result<String> {
    let names = without(names, &['\0'], "a name cannot hold a NUL")?;
    Ok(names.iter().map(|name| format!("{name}\0")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_whatever_has_no_line_break() {
        assert_eq!(plain(&["a b", "#c"]).expect("it can"), "a b\n#c\n");
        assert_eq!(plain(&[]).expect("it can"), "");
        assert!(plain(&["a\nb"]).is_err());
        assert_eq!(null(&["a\nb", "c"]).expect("it can"), "a\nb\0c\0");
        assert!(null(&["a\0b"]).is_err());
    }
}
