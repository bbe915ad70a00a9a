//! What git tells a pre-push hook: a line for each ref, with what it is here and what it is there.

use crate::error::{Error, Result};

/// One ref of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// The name here, as it was given.
    pub local: String,
    /// What is pushed; nothing, if the ref is to be deleted.
    pub new: Option<String>,
    /// What is there now; nothing, if the ref is new.
    pub old: Option<String>,
}

/// Reads the lines.
pub fn parse(text: &str) -> Result<Vec<PushedRef>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(line).collect()
}

fn line(line: &str) -> Result<PushedRef> {
    // From the end: what is pushed may be given as an expression such as 'HEAD@{1 day ago}'.
    let mut words = line.rsplitn(4, ' ');
    let (old, _remote, new, local) = (words.next(), words.next(), words.next(), words.next());
    let is_id = |word: &&str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (local, new.filter(is_id), old.filter(is_id)) {
        (Some(local), Some(new), Some(old)) => Ok(PushedRef {
            local: local.to_owned(),
            new: unless_zero(new),
            old: unless_zero(old),
        }),
        _ => Err(Error::new(format!("cannot read what is pushed: '{line}'"))
            .hint("a pre-push hook gets lines 'LOCAL-REF ID REMOTE-REF ID' from git")),
    }
}

/// Git writes zeros for what is not there.
fn unless_zero(id: &str) -> Option<String> {
    id.bytes().any(|byte| byte != b'0').then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: &str = "0000000000000000000000000000000000000000";
    const ONE: &str = "1111111111111111111111111111111111111111";

    #[test]
    fn each_kind_of_line_is_understood() {
        let text = format!(
            "refs/heads/a {ONE} refs/heads/a {ZERO}\n(delete) {ZERO} refs/heads/b {ONE}\nHEAD@{{1 day ago}} {ONE} refs/heads/c {ONE}\n\n"
        );
        let refs = parse(&text).expect("it is git's");
        assert_eq!(refs[0].new.as_deref(), Some(ONE));
        assert_eq!(refs[0].old, None);
        assert_eq!(
            (refs[1].new.as_ref(), refs[1].old.as_deref()),
            (None, Some(ONE))
        );
        assert_eq!(refs[2].local, "HEAD@{1 day ago}");
        assert_eq!(parse("").expect("nothing is pushed"), []);
        assert!(parse("a b c d").is_err());
    }
}
