//! `git rts completions`: what shells need to complete `git rts`, from the same definition as the help.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::generate;

use crate::commands::Cli;
use crate::commands::output::print_raw;
use crate::error::Result;

/// Print what a shell needs to complete `git rts`
///
/// Bash: git rts completions bash > ~/.local/share/bash-completion/completions/git-rts. Zsh: git rts completions zsh > FOLDER/_git-rts, where FOLDER is in $fpath. Fish: git rts completions fish > ~/.config/fish/conf.d/git-rts.fish.
#[derive(Debug, Args)]
pub struct Completions {
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// What the function is made for: in names with a dash, the generator loses the verbs (clap_complete 4.6).
const NAME_IN_BASH: &str = "__git_rts";

/// Git's completion calls this, with the words of the line in its own variables.
const GIT_IN_BASH: &str = r#"
_git_rts() {
    local first=0
    while [[ $first -lt $cword && "${words[first]}" != rts ]]; do ((first++)); done
    # Newer versions of git say where the verb stands.
    first="${__git_cmd_idx:-$first}"
    local -a COMP_WORDS=("git-rts" "${words[@]:first+1}")
    local COMP_CWORD=$((cword - first))
    # Git adds the spaces behind its own words by itself.
    compopt +o nospace 2>/dev/null
    ___git_rts git-rts "$cur" "$prev"
}
"#;

/// Asks for what would complete `git-rts`.
const GIT_IN_FISH: &str = r#"
function __git_rts_complete
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- rts $words)]
    complete -C (string escape -- git-rts $words | string join ' ')" "(commandline -ct)
end
complete -c git -f -n '__fish_git_using_command rts' -a '(__git_rts_complete)'
"#;

/// Zsh's completion of git reads what a verb is about from the second line.
const FIRST_IN_ZSH: &str = "#compdef git-rts\n";

pub(super) fn run(arguments: &Completions) -> Result<()> {
    let mut command = Cli::command();
    let about = command.get_about().map(ToString::to_string);
    let (shell, name) = match arguments.shell {
        Shell::Bash => (clap_complete::Shell::Bash, NAME_IN_BASH),
        Shell::Zsh => (clap_complete::Shell::Zsh, "git-rts"),
        Shell::Fish => (clap_complete::Shell::Fish, "git-rts"),
    };
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    print_raw(&match arguments.shell {
        Shell::Bash => {
            let for_command = |name: &str| format!("-o default {name}\n");
            script.replace(&for_command(NAME_IN_BASH), &for_command("git-rts")) + GIT_IN_BASH
        }
        Shell::Fish => script + GIT_IN_FISH,
        Shell::Zsh => {
            let about = format!("{FIRST_IN_ZSH}#description {}\n", about.unwrap_or_default());
            script.replacen(FIRST_IN_ZSH, &about, 1)
        }
    })
}
