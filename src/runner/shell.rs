//! Words as a shell reads them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The word so that a shell reads exactly it, in quotes unless it is plain.
pub(super) fn quote(word: &OsStr) -> OsString {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        if *byte == b'\'' {
            quoted.extend(b"'\\''");
        } else {
            quoted.push(*byte);
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

/// The command that makes a shell run this text.
pub(super) fn run(text: impl Into<OsString>) -> Vec<OsString> {
    vec!["sh".into(), "-c".into(), text.into()]
}

/// A command with further options, which a shell splits into words.
pub(super) fn with_options(command: Vec<OsString>, options: Option<&str>) -> Vec<OsString> {
    match options {
        None => command,
        Some(options) => {
            let mut text = OsString::from("exec");
            for word in command {
                text.push(" ");
                text.push(quote(&word));
            }
            text.push(" ");
            text.push(options);
            run(text)
        }
    }
}

/// A list of words as a command.
pub(super) fn words<const N: usize>(words: [&OsStr; N]) -> Vec<OsString> {
    words.into_iter().map(OsStr::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(command: &[OsString]) -> Vec<u8> {
        let output = std::process::Command::new(&command[0])
            .args(&command[1..])
            .output()
            .expect("there is a shell");
        output.stdout
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in [
            "",
            "plain",
            "two words",
            "it's",
            "''",
            "$HOME `x` \\",
            "é\t*",
            "a\nb",
            "-n",
            "\"q\"",
        ] {
            let text = format!("printf %s {}", quote(word.as_ref()).to_string_lossy());
            assert_eq!(printed(&run(text)), word.as_bytes(), "{word:?}");
        }
    }

    #[test]
    fn options_are_split_as_a_shell_does_it() {
        let command = words(["printf".as_ref(), "<%s>".as_ref(), "a b".as_ref()]);
        let command = with_options(command, Some("-DX=1 '-DY=two words'"));
        assert_eq!(printed(&command), b"<a b><-DX=1><-DY=two words>");
    }
}
