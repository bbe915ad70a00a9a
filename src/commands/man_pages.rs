//! The manual: a page for `git rts` and one for each verb, made from the same definition as the help.

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::commands::Cli;
use crate::commands::guard::SKIP;
use crate::commands::synopsis;
use crate::config::FILE;
use crate::exit_code::ExitCode;

/// One page.
pub(super) struct Page {
    /// The name of its file.
    pub(super) file: String,
    pub(super) text: String,
}

/// All pages, those of verbs below verbs included.
pub(super) fn pages() -> io::Result<Vec<Page>> {
    // Whoever reads the manual needs no verb that prints it.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = vec![page(&command, true)?];
    let mut waiting: Vec<&Command> = command.get_subcommands().collect();
    while let Some(verb) = waiting.pop() {
        pages.push(page(verb, false)?);
        waiting.extend(verb.get_subcommands());
    }
    Ok(pages)
}

fn page(command: &Command, is_first: bool) -> io::Result<Page> {
    let command = command
        .clone()
        .subcommand_help_heading("COMMANDS")
        .subcommand_value_name("COMMAND");
    let has_verbs = command.has_subcommands();
    let synopsis = synopsis::section(&command, is_first);
    let man = Man::new(command)
        // No date, in a way that keeps what follows in its place.
        .date(r#""""#)
        .source(concat!("git-rts ", env!("CARGO_PKG_VERSION")))
        .manual("git rts");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    text.extend(synopsis.bytes());
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if has_verbs {
        man.render_subcommands_section(&mut text)?;
    }
    let mut more = Roff::new();
    if is_first {
        section(&mut more, "EXIT STATUS", &exit_status());
        section(&mut more, "CONFIGURATION", &configuration());
        section(&mut more, "FILES", &files());
        section(&mut more, "ENVIRONMENT", &environment());
    }
    more.control("SH", ["SEE ALSO"]);
    let others = if is_first { "git(1)" } else { "git-rts(1)" };
    more.text([roman(others)]);
    more.to_writer(&mut text)?;
    Ok(Page {
        file: man.get_filename(),
        text: with_bold_words(&String::from_utf8_lossy(&text)),
    })
}

/// What a section lists: a word, and what is to be said of it.
type Entry = (String, String);

fn section(roff: &mut Roff, title: &str, entries: &[Entry]) {
    roff.control("SH", [title]);
    for (word, what) in entries {
        roff.control("TP", []);
        roff.text([bold(word.as_str())]);
        roff.text([Inline::Roman(what.clone())]);
    }
}

fn exit_status() -> Vec<Entry> {
    ExitCode::ALL
        .map(|code| (format!("{}", code as u8), code.meaning().to_owned()))
        .into()
}

fn entries<const N: usize>(entries: [(&str, &str); N]) -> Vec<Entry> {
    entries
        .map(|(word, what)| (word.to_owned(), what.to_owned()))
        .into()
}

fn configuration() -> Vec<Entry> {
    entries([
        (
            FILE,
            "Settings of the project, at the top of the repository. Most projects need none. `git rts init` writes one that tells of each setting.",
        ),
        (
            "git config rts.*",
            "The same settings for one clone; they have the last word.",
        ),
    ])
}

fn files() -> Vec<Entry> {
    entries([
        (
            ".git/rts/history",
            "What is known of tests, shared by all worktrees.",
        ),
        (
            ".git/rts/build",
            "The copy of the work tree in which tests are built and run. All of `.git/rts` may be removed at any time.",
        ),
    ])
}

fn environment() -> Vec<Entry> {
    entries([
        (
            SKIP,
            "Set to anything but 0, the hooks let everything through, and what was not run is owed.",
        ),
        (
            "NO_COLOR, CLICOLOR_FORCE",
            "Never or always use colours, as `--color` does.",
        ),
        (
            "GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE",
            "Which repository is meant, as for git.",
        ),
        (
            "PATH",
            "Where compilers and the tools that build and test are found.",
        ),
    ])
}

/// Words between backticks are bold: a backtick itself would be printed as a quotation mark.
fn with_bold_words(text: &str) -> String {
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let parts: Vec<&str> = line.split('`').collect();
        let is_paired = parts.len() % 2 == 1;
        for (at, part) in parts.iter().enumerate() {
            result += match at {
                0 => "",
                _ if !is_paired => r"\(ga",
                at if at % 2 == 1 => r"\fB",
                _ => r"\fR",
            };
            result += part;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_backticks_are_bold() {
        assert_eq!(
            with_bold_words("run `git rts` or\n`it`\nnot `this\n"),
            "run \\fBgit rts\\fR or\n\\fBit\\fR\nnot \\(gathis\n"
        );
    }
}
