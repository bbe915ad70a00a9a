//! The same tokens in other clothes: comments, white space, line ends.

use crate::choices::Choices;

/// Rewrites a text without touching its tokens.
pub(crate) fn dress(text: &str, choices: &mut Choices<'_>) -> String {
    let mut dressed = String::new();
    for line in text.lines() {
        let directive = line.starts_with('#');
        if directive && !dressed.is_empty() && !dressed.ends_with('\n') {
            dressed.push('\n');
        }
        match choices.below(8) {
            1 => dressed.push_str("/* a comment; with { tokens */ "),
            2 if !directive => dressed.push_str("\t  "),
            3 if dressed.is_empty() || dressed.ends_with('\n') => dressed.push_str("\n\n"),
            _ => {}
        }
        dressed.push_str(line);
        dressed.push_str(match choices.below(6) {
            1 => " // return;\n",
            2 => " /* two\nlines */\n",
            3 | 4 if !directive => " ",
            _ => "\n",
        });
    }
    dressed
}
