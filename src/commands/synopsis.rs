//! The SYNOPSIS of a page of the manual, written as in git's own: every option with its value, and a line for each verb below a verb.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// Dots that do not end a sentence, behind which `man` would leave more room.
const SEVERAL: &str = "...\\&";

/// The section, in the language of `man`. `is_first` is for the page of `git rts` itself, which names no single verb.
pub(super) fn section(command: &Command, is_first: bool) -> String {
    let mut text = String::from(".SH SYNOPSIS\n");
    if is_first {
        let after = [
            roman("<"),
            italic("command"),
            roman("> [<"),
            italic("arguments"),
            roman(">]"),
        ];
        form(&mut text, command, |_| true, &[after.concat()]);
        return text;
    }
    if !command.is_subcommand_required_set() {
        form(&mut text, command, is_no_help, &positionals(command));
    }
    for verb in command.get_subcommands() {
        form(&mut text, verb, is_no_help, &positionals(verb));
    }
    text
}

/// The first page says how to ask for help.
fn is_no_help(option: &Arg) -> bool {
    !matches!(option.get_action(), ArgAction::Help)
}

/// One way to call a command: its name, those of its options that are `shown`, then `after`. Lines are broken between these only.
fn form(text: &mut String, command: &Command, shown: fn(&Arg) -> bool, after: &[String]) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = writeln!(text, ".SY \"{}\"", name.replace('-', "\\-"));
    let options = command.get_arguments();
    let options =
        options.filter(|option| !option.is_positional() && !option.is_hide_set() && shown(option));
    // What every verb has comes behind what is its own.
    let (general, own): (Vec<&Arg>, Vec<&Arg>) = options.partition(|option| option.is_global_set());
    let options = own.into_iter().chain(general).map(option);
    for part in options.chain(after.iter().cloned()) {
        let _ = writeln!(text, "{part}");
    }
    text.push_str(".YS\n");
}

/// For instance `[-j <N> | --jobs <N>]`.
fn option(option: &Arg) -> String {
    let value = value_of(option);
    let short = option.get_short().map(|short| format!("-{short}"));
    let long = option.get_long().map(|long| format!("--{long}"));
    let names = [short, long].into_iter().flatten();
    let names: Vec<String> = names.map(|name| bold(&name) + &value).collect();
    let names = names.join(&roman(" | "));
    match option.is_required_set() {
        true => names,
        false => format!("[{names}]"),
    }
}

/// The value of an option, with the space before it.
fn value_of(option: &Arg) -> String {
    if !option.get_action().takes_values() {
        return String::new();
    }
    let names = option.get_value_names().unwrap_or_default();
    let names = names.iter().map(|name| format!("<{}>", italic(name)));
    let value = roman(" ") + &names.collect::<Vec<_>>().join(&roman(" "));
    match option.get_value_delimiter() {
        Some(delimiter) => format!("{value}[{delimiter}{SEVERAL}]"),
        None => value,
    }
}

/// The words behind the options. What stands behind one that may be left out can only be given with it: `[<BASE> [<HEAD>]]`.
fn positionals(command: &Command) -> Vec<String> {
    let (behind_dashes, words): (Vec<&Arg>, Vec<&Arg>) = command
        .get_positionals()
        .filter(|word| !word.is_hide_set())
        .partition(|word| word.is_last_set());
    let required = words.iter().filter(|word| word.is_required_set());
    let mut parts: Vec<String> = required.map(|word| named(word)).collect();
    let optional = words.iter().rev().filter(|word| !word.is_required_set());
    let nested = optional.fold(String::new(), |inner, word| {
        let inner = match inner.as_str() {
            "" => inner,
            _ => roman(" ") + &inner,
        };
        format!("[{}{inner}]", named(word))
    });
    parts.extend(Some(nested).filter(|nested| !nested.is_empty()));
    let last = behind_dashes.into_iter();
    parts.extend(last.map(|word| format!("[{}{}{}]", bold("--"), roman(" "), named(word))));
    parts
}

fn named(word: &Arg) -> String {
    let names = word.get_value_names().unwrap_or_default();
    let name = names
        .first()
        .map_or(word.get_id().as_str(), |name| name.as_str());
    let several = word
        .get_num_args()
        .is_some_and(|number| number.max_values() > 1);
    let several = if several { SEVERAL } else { "" };
    format!("<{}>{several}", italic(name))
}

fn bold(word: &str) -> String {
    format!("\\fB{}\\fR", roman(word))
}

fn italic(word: &str) -> String {
    format!("\\fI{}\\fR", roman(word))
}

/// A space at which no line is broken, and a hyphen that can be copied to a shell.
fn roman(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace(' ', "\\ ")
}
